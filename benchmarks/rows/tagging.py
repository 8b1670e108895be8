"""Tagging from file to file: ``structlearn train`` and ``predict`` against CRFsuite's scripts.

Whole processes including their start, run in turn.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import rivals
from ..data import data_folder
from ..registry import Context, Result, Row, benchmark
from ..timing import Timing

__all__ = ["tagger_labelling", "tagger_start", "tagger_threads", "tagger_training"]

HERE = Path(__file__).resolve().parent.parent
TEMPLATES = HERE / "templates" / "crfsuite.txt"
RIVAL = HERE / "rivals" / "crfsuite_files.py"
PASSES = 10


def structlearn(*arguments: Any) -> list[str]:
    """Return the command line of one of our commands."""
    script = Path(sys.executable).with_name("structlearn")
    start = [str(script)] if script.exists() else [sys.executable, "-m", "structlearn"]
    return [*start, *map(str, arguments)]


def crfsuite(*arguments: Any) -> list[str]:
    """Return the command line of CRFsuite's script."""
    return [sys.executable, str(RIVAL), *map(str, arguments)]


def run(command: Sequence[str], cores: Sequence[int] | None = None) -> dict[str, float]:
    """Run a command; return wall and processor seconds and MB of memory."""
    pinned = ["taskset", "-c", ",".join(map(str, cores))] if cores else []
    done = subprocess.run(
        [*pinned, sys.executable, str(HERE / "measure.py"), *command],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[:4])} failed: {done.stderr.strip()}")
    figures: dict[str, float] = json.loads(done.stderr.strip().splitlines()[-1])
    return figures


def interleave(
    commands: Mapping[str, Sequence[str]],
    repeats: int,
    cores: Mapping[str, Sequence[int]] | None = None,
) -> tuple[dict[str, Timing], dict[str, float]]:
    """Run the commands in turn; return their times and the least memory of each."""
    timings = {name: Timing() for name in commands}
    memory: dict[str, float] = {}
    for _ in range(repeats):
        for name, command in commands.items():
            figures = run(command, (cores or {}).get(name))
            timings[name].add(figures["wall"], figures["cpu"])
            memory[name] = min(memory.get(name, float("inf")), figures["memory"])
    return timings, memory


class Files:
    """CoNLL-2000 as plain files in a folder of its own."""

    def __init__(self, folder: str, context: Context) -> None:
        source = data_folder()
        assert source is not None
        self.folder = Path(folder)
        share = 20 if context.quick else 1
        for name in ("train", "test"):
            text = gzip.decompress((source / "conll2000" / f"{name}.txt.gz").read_bytes()).decode()
            sentences = text.strip().split("\n\n")
            subset = sentences[: len(sentences) // share]
            (self.folder / f"{name}.txt").write_text("\n\n".join(subset) + "\n\n", encoding="utf-8")

    def __truediv__(self, name: str) -> Path:
        return self.folder / name


def has_corpus(result: Result) -> bool:
    """Return whether CoNLL-2000 is present; if not, note it in the result."""
    folder = data_folder()
    if folder is None or not (folder / "conll2000").is_dir():
        result.skipped.append("conll2000 (not in STRUCTLEARN_DATA nor in ../shared/data)")
        return False
    return True


def _train(files: Files) -> list[str]:
    return structlearn(
        "train", "tagger", files / "train.txt", "--model", files / "ours.model",
        "--features", TEMPLATES, "--max-iter", PASSES, "--quiet",
    )  # fmt: skip


def f1_of(gold: Path, labelled: Path) -> float:
    """Return the chunk F1 of a labelled file, in percent."""
    from structlearn.metrics import chunk_f1
    from structlearn.text import read_corpus

    return 100 * chunk_f1(read_corpus(gold).column(2), read_corpus(labelled).column(2))


@benchmark
def tagger_training(context: Context) -> Result:
    """Averaged perceptron, 10 passes over CoNLL-2000: from the file to the saved model."""
    result = Result()
    if not has_corpus(result):
        return result
    has_rival = rivals.load("crfsuite", result.skipped) is not None
    with tempfile.TemporaryDirectory() as folder:
        files = Files(folder, context)
        commands = {"ours": _train(files)}
        if has_rival:
            arguments = (files / "train.txt", files / "theirs.model", PASSES)
            commands["theirs"] = crfsuite("train", *arguments)
            commands["all at once"] = crfsuite("train_at_once", *arguments)
        timings, memory = interleave(commands, context.times(5, 1))
        run(structlearn("predict", files / "ours.model", files / "test.txt",
                        "--output", files / "ours.txt"))  # fmt: skip
        result.details["ours"] = {
            **timings["ours"].summary(),
            "memory": memory["ours"],
            "f1": f1_of(files / "test.txt", files / "ours.txt"),
        }
        if has_rival:
            run(crfsuite("tag", files / "theirs.model", files / "test.txt", files / "theirs.txt"))
            result.details["crfsuite"] = {
                **timings["theirs"].summary(),
                "memory": memory["theirs"],
                "f1": f1_of(files / "test.txt", files / "theirs.txt"),
            }
            result.rows = [
                Row.times("train: file to model", "crfsuite ap, sentence by sentence",
                          timings["ours"], timings["theirs"], unit="s", at_least=15),
                Row.times("train: file to model", "crfsuite ap, all features first",
                          timings["ours"], timings["all at once"], unit="s", at_least=15),
                Row.amounts("peak memory", "crfsuite ap, sentence by sentence", memory["ours"],
                            memory["theirs"], unit="MB"),
                Row.amounts("peak memory", "crfsuite ap, all features first", memory["ours"],
                            memory["all at once"], unit="MB", at_least=3),
            ]  # fmt: skip
        scores = ", ".join(f"{k} {v['f1']:.2f}" for k, v in result.details.items())
        result.notes.append(f"chunk F1 on the test set: {scores}")
    return result


@benchmark
def tagger_labelling(context: Context) -> Result:
    """CoNLL-2000's test set 20 times over: from the file to the labelled file."""
    result = Result()
    if not has_corpus(result):
        return result
    has_rival = rivals.load("crfsuite", result.skipped) is not None
    with tempfile.TemporaryDirectory() as folder:
        files = Files(folder, context)
        test = (files / "test.txt").read_text(encoding="utf-8")
        for times in (20, 40):
            (files / f"test{times}.txt").write_text(test * times, encoding="utf-8")
        run(_train(files))

        def label(times: int) -> list[str]:
            return structlearn("predict", files / "ours.model", files / f"test{times}.txt",
                               "--output", files / "ours.txt")  # fmt: skip

        commands = {"ours": label(20), "ours twice": label(40)}
        if has_rival:
            run(crfsuite("train", files / "train.txt", files / "theirs.model", PASSES))
            commands["theirs"] = crfsuite(
                "tag", files / "theirs.model", files / "test20.txt", files / "theirs.txt"
            )
        timings, memory = interleave(commands, context.times(5, 1))
        tokens = 20 * sum(1 for line in test.splitlines() if line)
        # The second half of the long file: the steady state, without start and loading.
        seconds = timings["ours twice"].best - timings["ours"].best
        processor = min(timings["ours twice"].cpu) - min(timings["ours"].cpu)
        result.details = {
            "tokens": tokens,
            "ours": {**timings["ours"].summary(), "memory": memory["ours"]},
            "tokens_per_second": tokens / timings["ours"].best,
            "tokens_per_second_steady": tokens / max(seconds, 1e-9),
            "tokens_per_cpu_second_steady": tokens / max(processor, 1e-9),
        }
        result.notes.append(
            f"{tokens / timings['ours'].best / 1e6:.2f} M tokens/s with start and loading; steady "
            f"state {tokens / max(seconds, 1e-9) / 1e6:.2f} M by the clock, "
            f"{tokens / max(processor, 1e-9) / 1e6:.2f} M a CPU second (target 0.8 M)"
        )
        if has_rival:
            result.details["crfsuite"] = timings["theirs"].summary()
            result.rows = [
                Row.times("predict: file to file, 20 x test", "crfsuite", timings["ours"],
                          timings["theirs"], unit="s", at_least=20),
            ]  # fmt: skip
    return result


def _core_alone(folder: Path, files: Files) -> list[str]:
    """Return a command that labels a sentence with only structlearn-core installed."""
    sys.path.insert(0, str(HERE.parent / "tools"))
    from check_wheel import build, install

    python, _ = install(str(folder), [build("core")], fetch=False)
    code = f"import structlearn; structlearn.load({str(files / 'ours.model')!r})"
    return [python, "-c", f"{code}.predict([[('He', 'PRP'), ('sleeps', 'VBZ')]])"]


@benchmark
def tagger_start(context: Context) -> Result:
    """Start a process, load CoNLL-2000's model, label one sentence."""
    result = Result()
    if not has_corpus(result):
        return result
    has_rival = rivals.load("crfsuite", result.skipped) is not None
    with tempfile.TemporaryDirectory() as folder:
        files = Files(folder, context)
        first = (files / "test.txt").read_text(encoding="utf-8").split("\n\n")[0]
        (files / "one.txt").write_text(first + "\n\n", encoding="utf-8")
        run(_train(files))
        api = (
            "from structlearn.tasks import Tagger; "
            f"t = Tagger.load({str(files / 'ours.model')!r}); "
            "t.predict([[('He', 'PRP'), ('sleeps', 'VBZ')]])"
        )
        commands = {
            "ours": structlearn("predict", files / "ours.model", files / "one.txt",
                                "--output", files / "out.txt"),
            "from Python": [sys.executable, "-c", api],
            "core": _core_alone(files / "core", files),
        }  # fmt: skip
        if has_rival:
            run(crfsuite("train", files / "train.txt", files / "theirs.model", PASSES))
            commands["theirs"] = crfsuite("one", files / "theirs.model", files / "one.txt")
        timings, _ = interleave(commands, context.times(25, 3))
        result.details = {name: timing.summary() for name, timing in timings.items()}
        if has_rival:
            result.rows = [
                Row.times("structlearn predict, one sentence", "pycrfsuite in a fresh Python",
                          timings["ours"], timings["theirs"], at_least=1),
                Row.times("Tagger.load(...).predict", "pycrfsuite in a fresh Python",
                          timings["from Python"], timings["theirs"], at_least=1),
                Row.times("the same, structlearn-core alone", "pycrfsuite in a fresh Python",
                          timings["core"], timings["theirs"], at_least=1 / 1.5),
            ]  # fmt: skip
    return result


@benchmark
def tagger_threads(context: Context) -> Result:
    """Two threads against one: CRF training and labelling, file to file."""
    result = Result()
    if not has_corpus(result):
        return result
    if len(context.cores) < 2:
        result.skipped.append("two threads (the machine has one core)")
        return result
    cores = {"one": context.cores[-1:], "two": context.cores[:2]}
    with tempfile.TemporaryDirectory() as folder:
        files = Files(folder, context)
        test = (files / "test.txt").read_text(encoding="utf-8")
        for times in (40, 160):
            (files / f"long{times}.txt").write_text(test * times, encoding="utf-8")
        run(_train(files))

        def training(threads: int) -> list[str]:
            return structlearn(
                "train", "tagger", files / "train.txt", "--model", files / f"crf{threads}.model",
                "--features", TEMPLATES, "--learner", "crf", "--max-iter", 20, "--no-names",
                "--quiet", "--threads", threads,
            )  # fmt: skip

        def labelling(times: int) -> Callable[[int], list[str]]:
            return lambda threads: structlearn(
                "predict", files / "ours.model", files / f"long{times}.txt", "--output",
                files / f"out{threads}.txt", "--threads", threads,
            )  # fmt: skip

        for case, command, aim in (
            ("CRF training, 20 iterations", training, 1.6),
            ("labelling 1.9 million tokens", labelling(40), 1.7),
            ("labelling 7.6 million tokens", labelling(160), 1.7),
        ):
            timings, _ = interleave(
                {"two": command(2), "one": command(1)}, context.times(3, 1), cores
            )
            row = Row.amounts(case, "the same on one thread", timings["two"].best,
                              timings["one"].best, unit="s", at_least=aim)  # fmt: skip
            row.ratio_median = timings["one"].median / timings["two"].median
            result.rows.append(row)
        same = (files / "crf1.model").read_bytes() == (files / "crf2.model").read_bytes()
        same = same and (files / "out1.txt").read_bytes() == (files / "out2.txt").read_bytes()
        result.details["same bytes"] = same
        result.notes.append(f"model and labels byte for byte the same on one and two: {same}")
    return result
