"""``structlearn serve`` under load and attack, and when a worker dies or a model changes."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import structlearn
from structlearn.datasets import make_treebank
from structlearn.tasks import Tagger

from ..calls import TEXTS
from ..environment import pin
from ..registry import Context, Result, Row, benchmark
from .running_text import ENGLISH

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["server"]

ROOT = Path(__file__).resolve().parents[2]
CONNECTIONS, WORKERS = 64, 2
#: The limit of the 99th percentile, as a multiple of a quiet request, and the megabytes an attack
#: may take.
P99, GROWTH = 10.0, 120.0


@benchmark
def server(context: Context) -> Result:
    """Two workers: 64 connections for 60 s, then half of that rate; attacks; a kill, new models."""
    result = Result()
    missing = [name for name in ("starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        result.skipped.append(f"{', '.join(missing)} (pip install 'structlearn-core[serve]')")
        return result
    with _all_cores(context), tempfile.TemporaryDirectory() as folder:
        _load(result, 3.0 if context.quick else 60.0)
        files, sentences = _taggers(Path(folder))
        _attack(result, files, sentences, Path(folder))
        _kill_and_replace(result, files, sentences, Path(folder))
    return result


@contextmanager
def _all_cores(context: Context) -> Iterator[None]:
    pin(list(context.cores))
    try:
        yield
    finally:
        pin(list(context.cores[-1:]))


def _load(result: Result, seconds: float) -> None:
    """Add the throughput of annotating two short sentences, and the tails at half of it."""
    from tests.serve.running import in_processes

    body = json.dumps({"text": TEXTS[0]}).encode()
    options: dict[str, Any] = {"workers": WORKERS, "queue": 1000, "no_access_log": True}
    with in_processes(f"nlp={ROOT / ENGLISH}", **options) as process:

        def ask(seconds: float, rate: float, connections: int) -> dict[str, Any]:
            numbers = map(str, (process.client.port, seconds, rate, connections))
            port, *others = numbers
            command = [sys.executable, "-m", "benchmarks.http_load", port, "/v1/annotate", *others]
            done = subprocess.run(command, cwd=ROOT, input=body, capture_output=True, check=True)
            figures: dict[str, Any] = json.loads(done.stdout)
            return figures

        ask(1.0, 0, CONNECTIONS)
        quiet = ask(min(5.0, seconds), 0, 1)
        most = ask(seconds, 0, CONNECTIONS)
        half = ask(seconds, most["rate"] / 2, CONNECTIONS)
    result.details["load"] = {"quiet": quiet, "most": most, "half": half}
    case = f"{CONNECTIONS} connections"
    row = Row(f"{case}: requests that fail", "", "", most["errors"] + half["errors"], target="0")
    row.met = row.ours == 0
    limit = P99 * quiet["median"]
    result.rows += [
        row,
        Row("one connection: median", "", "ms", quiet["median"] * 1e3),
        Row("half of the most: median", "", "ms", half["median"] * 1e3),
        Row("half of the most: p99", "one connection: median", "ms", half["p99"] * 1e3,
            quiet["median"] * 1e3, quiet["median"] / half["p99"],
            target=f">= {1 / P99:g}x", met=half["p99"] <= limit),
    ]  # fmt: skip
    result.notes.append(
        f"{case}, each asking again at once: {most['rate']:.0f} requests a second for "
        f"{seconds:.0f} s, p99 {most['p99'] * 1e3:.1f} ms; then {half['rate']:.0f} a second at "
        f"random times, p99.9 {half['p99.9'] * 1e3:.1f} ms"
    )


def _taggers(folder: Path) -> tuple[dict[str, Path], list[list[str]]]:
    """Return two versions of a tagger in files, and sentences."""
    bank = make_treebank(120, random_state=0)
    files = {}
    for name, change in (("one", str), ("two", str.lower)):
        rows = [[(w, change(t)) for w, t in zip(s.words, s.tags, strict=True)] for s in bank]
        files[name] = folder / f"{name}.model"
        Tagger("pos", max_iter=2).fit(rows).save(files[name])
    return files, [list(s.words) for s in bank]


def _attack(
    result: Result, files: dict[str, Path], sentences: list[list[str]], folder: Path
) -> None:
    """Add the number of refused attacks, and their memory."""
    from tests.serve.attacks import REFUSALS, TOKEN, attack
    from tests.serve.running import in_processes

    tokens = folder / "tokens"
    tokens.write_text(TOKEN + "\n")
    options: dict[str, Any] = {"workers": WORKERS, "token_file": tokens, "timeout": 3}
    with in_processes(f"tags={files['one']}", no_access_log=True, **options) as process:
        statuses, grown = attack(process, {"inputs": sentences[:2]})
    for name, (_, n, _) in REFUSALS.items():
        answered = {k: v for k, v in statuses[name].items() if k is not None}
        refused = sum(v for status, v in answered.items() if 400 <= status < 600)
        counts = ", ".join(f"{k}: {v}" for k, v in sorted(answered.items()))
        row = Row(f"refused: {name}, of {n}", "", "", n - sum(answered.values()) + refused)
        row.target, row.met = f"{n} ({counts})", row.ours == n
        result.rows.append(row)
    result.rows.append(
        Row.amounts("memory that attacks and 1,000 idle connections take", "", grown, None,
                    unit="MB", below=GROWTH)
    )  # fmt: skip
    result.details["attacks"] = {k: {str(s): n for s, n in v.items()} for k, v in statuses.items()}


def _kill_and_replace(
    result: Result, files: dict[str, Path], sentences: list[list[str]], folder: Path
) -> None:
    """Add lost requests and wrong answers when a worker is killed and the model's file replaced."""
    from tests.serve.attacks import kill_and_replace
    from tests.serve.running import in_processes

    path, log = folder / "tags.model", folder / "log"
    shutil.copy(files["one"], path)
    expected = {
        name: structlearn.load(str(file)).predict(sentences) for name, file in files.items()
    }
    with in_processes(f"tags={path}", workers=WORKERS, log=log) as process:
        seen = kill_and_replace(process, path, log, files, sentences, expected)
    result.details["a killed worker, a model replaced four times"] = seen
    case = "a worker killed, a model replaced"
    for what in ("wrong", "lost elsewhere"):
        row = Row(f"{case}: answers {what}", "", "", seen[what], target="0", met=seen[what] == 0)
        result.rows.append(row)
    result.notes.append(
        f"{case} four times: {seen['answers']} answers, {seen['lost']} requests lost in the "
        f"killed worker, both models seen: {seen['files seen'] == 2}"
    )
