"""One input in one call: medians and tails, and a fresh process up to its first labels."""

from __future__ import annotations

import gc
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from ..calls import (
    ADDRESS,
    MARGINALS,
    PIPELINE,
    SEGMENTS,
    TAGGER,
    Call,
    Calls,
    addresses,
    pipelines,
    quantile,
    taggers,
)  # fmt: skip
from ..registry import Context, Result, Row, benchmark

__all__ = ["in_turn", "one_call"]

ROOT = Path(__file__).resolve().parents[2]
RIVALS = {PIPELINE: "ufal.udpipe"}
#: The most microseconds, and the required speed relative to the rival.
AT_MOST = {TAGGER: 15.0, ADDRESS: 25.0, PIPELINE: 1200.0}
AT_LEAST = {ADDRESS: 53 / 25, MARGINALS: 2.0, PIPELINE: 1.0}
#: The number of other calls for each annotated text.
RARER = 10


def in_turn(calls: dict[str, tuple[Call, list[Any], int]], n: int) -> dict[str, list[float]]:
    """Return the sorted seconds of n calls, each followed by a call of another kind.

    A call comes with its inputs, and the factor by which it is rarer than others.
    """
    times: dict[str, list[float]] = {name: [] for name in calls}
    for call, inputs, _ in calls.values():
        for x in inputs:
            call(x)
    gc.collect()
    gc.disable()
    try:
        for i in range(n):
            for name, (call, inputs, step) in calls.items():
                if i % step:
                    continue
                x = inputs[i // step % len(inputs)]
                start = time.perf_counter()
                call(x)
                times[name].append(time.perf_counter() - start)
    finally:
        gc.enable()
    return {name: sorted(row) for name, row in times.items()}


@benchmark
def one_call(context: Context) -> Result:
    """One input in one call: addresses by usaddress' model, twelve words, a text; a fresh start."""
    result = Result()
    calls = taggers(200 if context.quick else 3000)
    calls.update(pipelines(result))
    calls.update(addresses(result))
    both: dict[str, tuple[Call, list[Any], int]] = {}
    for side, functions in (("", calls.ours), ("rival's ", calls.theirs)):
        for name, call in functions.items():
            both[side + name] = call, calls.inputs[name], RARER if name == PIPELINE else 1
    times = in_turn(both, 500 if context.quick else 20_000)
    for name in (ADDRESS, MARGINALS, TAGGER, SEGMENTS, PIPELINE):
        if name in times:
            result.rows += _rows(name, times[name], times.get(f"rival's {name}"))
    result.details = {name: _summary(row) for name, row in times.items()}
    _fresh_processes(result, calls, 5 if context.quick else 100)
    return result


def _rows(name: str, ours: list[float], theirs: list[float] | None) -> list[Row]:
    """Return the medians and the 99th percentiles of a call."""
    rows = []
    for share, what in ((0.5, "median"), (0.99, "p99")):
        mine = quantile(ours, share) * 1e6
        other = quantile(theirs, share) * 1e6 if theirs else None
        rival = RIVALS.get(name, "python-crfsuite") if theirs else ""
        rows.append(Row(f"{name}: {what}", rival, "us", mine, other, other and other / mine))
    first, aims = rows[0], []
    if name in AT_MOST:
        aims.append((f"<= {AT_MOST[name]:g} us", first.ours <= AT_MOST[name]))
    if name in AT_LEAST and first.ratio is not None:
        aims.append((f">= {AT_LEAST[name]:.3g}x", first.ratio >= AT_LEAST[name]))
    if aims:
        first.target = ", ".join(text for text, _ in aims)
        first.met = all(reached for _, reached in aims)
    return rows


def _summary(times: list[float]) -> dict[str, float]:
    shares = {"median": 0.5, "p99": 0.99, "p99.9": 0.999}
    return {name: quantile(times, share) * 1e6 for name, share in shares.items()} | {
        "calls": len(times)
    }


def _fresh_processes(result: Result, calls: Calls, n: int) -> None:
    """Add structlearn-core's size on disk, and its time from Python's start to the first labels.

    It is installed alone in a separate environment, into which python-crfsuite's module is copied:
    both start the same Python, and load usaddress' model.
    """
    if ADDRESS not in calls.theirs:
        return
    import pycrfsuite
    import usaddress

    sys.path.insert(0, str(ROOT / "tools"))
    from check_wheel import INSTALLED, build, install, installed_megabytes

    x = f"x = {calls.inputs[ADDRESS][0]!r}"
    model = repr(usaddress.MODEL_PATH)
    with tempfile.TemporaryDirectory() as folder:
        python, environment = install(folder, [build("core")], fetch=False)
        (packages,) = Path(folder).glob("lib/python*/site-packages")
        size = installed_megabytes(packages / "structlearn")
        result.rows.append(Row.amounts("structlearn-core, installed", "", size, None,
                                       unit="MB", below=INSTALLED))  # fmt: skip
        rival = Path(pycrfsuite.__file__).parent
        shutil.copytree(rival, packages / rival.name)
        programs = {
            "ours": f"{x}\nfrom structlearn.io import read_crfsuite\n"
            f"print(read_crfsuite({model}).predict_single(x))",
            "theirs": f"{x}\nimport pycrfsuite\ntagger = pycrfsuite.Tagger()\n"
            f"tagger.open({model})\nprint(tagger.tag(x))",
        }
        times: dict[str, list[float]] = {name: [] for name in programs}
        for i in range(n + 1):
            printed = set()
            for name, program in programs.items():
                start = time.perf_counter()
                done = subprocess.run(
                    [python, "-c", program], env=environment, capture_output=True, check=True
                )
                if i:  # the first start writes bytecode
                    times[name].append(time.perf_counter() - start)
                printed.add(done.stdout)
            if len(printed) > 1:
                raise AssertionError(f"python-crfsuite has other labels: {printed}")
    ours, theirs = sorted(times["ours"]), sorted(times["theirs"])
    for share, what in ((0.5, "median"), (0.99, "p99")):
        mine, other = quantile(ours, share) * 1e3, quantile(theirs, share) * 1e3
        case = f"fresh process to the first labels: {what}"
        row = Row(case, "python-crfsuite", "ms", mine, other, other / mine)
        if what == "median":
            row.target, row.met = ">= 0.67x", mine <= 1.5 * other
        result.rows.append(row)
