"""Calls that arrive at random, at half of the capacity: tails and memory."""

from __future__ import annotations

import ctypes
import random
import sys
import threading
import time
from array import array
from typing import Any

from .. import memory
from ..calls import ADDRESS, PIPELINE, TAGGER, Call, Calls, addresses, pipelines, quantile, taggers
from ..environment import pin
from ..registry import Context, Result, Row, benchmark
from .one_call import in_turn

__all__ = ["arrivals", "arrivals_on_threads"]

#: The limit of tails, as a multiple of a quiet call's median, and of the growth in megabytes.
P99, P999, GROWTH = 3.0, 10.0, 2.0
#: Seconds until memory is first measured: every thread has its workspace by then.
SETTLED = 5.0


def _wake_at_once() -> None:
    """Make threads started from now on sleep exactly as long as they ask; Linux adds 50 us."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(29, ctypes.c_ulong(1), 0, 0, 0)


def on_threads(work: Any, threads: int) -> None:
    """Call a function on all threads, with the number of the thread."""
    workers = [threading.Thread(target=work, args=(i,)) for i in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def capacity(call: Call, inputs: list[Any], threads: int, seconds: float = 2.0) -> float:
    """Return the calls per second of threads that sleep as briefly as possible before each call.

    A call that arrives wakes a thread, and the time for that is part of the capacity.
    """
    counts = [0] * threads
    until = time.perf_counter() + seconds

    def work(number: int) -> None:
        while time.perf_counter() < until:
            time.sleep(1e-6)
            call(inputs[counts[number] % len(inputs)])
            counts[number] += 1

    on_threads(work, threads)
    return sum(counts) / seconds


def arrive(
    call: Call, inputs: list[Any], rate: float, threads: int, seconds: float
) -> tuple[list[float], list[float], float]:
    """Return the sorted seconds of calls that arrive at random at a total rate.

    All threads call one model, and each sleeps until its next call is due. Returns the times of
    calls including their waiting, the times since the calls were due, and the megabytes by which
    the process has grown since it settled.
    """
    dues, calls, waits = [], [], []
    for number in range(threads):
        rng, due, row = random.Random(number), 0.0, array("d")
        while (due := due + rng.expovariate(rate / threads)) < seconds:
            row.append(due)
        dues.append(row)
        calls.append(array("d", bytes(8 * len(row))))
        waits.append(array("d", bytes(8 * len(row))))
    begin = time.perf_counter() + 0.05

    def work(number: int) -> None:
        took, waited = calls[number], waits[number]
        for i, due in enumerate(dues[number]):
            wait = begin + due - time.perf_counter()
            if wait > 0:
                time.sleep(wait)
            start = time.perf_counter()
            call(inputs[i % len(inputs)])
            end = time.perf_counter()
            took[i], waited[i] = end - start, end - begin - due

    settled: list[float | None] = []
    watch = threading.Timer(min(SETTLED, seconds / 2), lambda: settled.append(memory.current()))
    watch.start()
    on_threads(work, threads)
    watch.join()
    grown = (memory.current() or 0.0) - (settled[0] or 0.0)
    return sorted(t for row in calls for t in row), sorted(t for row in waits for t in row), grown


def _measured(context: Context, threads: int) -> Result:
    result = Result()
    calls = Calls()
    calls.update(taggers(200 if context.quick else 3000))
    calls.update(pipelines(result, rival=False))
    calls.update(addresses(result))
    seconds = 1.0 if context.quick else 60.0
    if threads > 1:
        pin(list(context.cores))
    try:
        for name in (ADDRESS, TAGGER, PIPELINE):
            if name in calls.ours:
                _add_rows(result, name, calls.ours[name], calls.inputs[name], threads, seconds)
        if ADDRESS in calls.theirs:
            their, inputs = calls.theirs[ADDRESS], calls.inputs[ADDRESS]
            _measure(result, f"python-crfsuite, {ADDRESS}", their, inputs, threads, seconds / 4)
        for name in (ADDRESS, TAGGER):
            if name in calls.ours:
                median = result.details[name]["quiet median"] * 1e-6
                _measure(
                    result, f"a loop as long as {name}", _loop(median), [0], threads, seconds / 4
                )
    finally:
        pin(list(context.cores[-1:]))
    return result


def _loop(seconds: float) -> Call:
    """Return a call that counts for so long, and does nothing else: what the system adds to it."""
    n = 1000
    best = min(_counted(n) for _ in range(200))
    return lambda _: _count(round(n * seconds / best))


def _count(n: int) -> None:
    for _ in range(n):
        pass


def _counted(n: int) -> float:
    begin = time.perf_counter()
    _count(n)
    return time.perf_counter() - begin


def _add_rows(
    result: Result, name: str, call: Call, inputs: list[Any], threads: int, seconds: float
) -> None:
    figures = _measure(result, name, call, inputs, threads, seconds)
    median = figures["quiet median"]
    for what, limit in (("p99", P99), ("p99.9", P999)):
        took = figures["in the call"][what]
        row = Row(f"{name}: {what}", "its quiet median", "us", took, median, median / took)
        row.target, row.met = f">= {1 / limit:.2g}x", took <= limit * median
        result.rows.append(row)
    result.rows.append(
        Row.amounts(f"{name}: memory added", "", figures["MB added"], None, unit="MB", below=GROWTH)
    )


def _measure(
    result: Result, name: str, call: Call, inputs: list[Any], threads: int, seconds: float
) -> dict[str, Any]:
    """Return the figures of a call alone and at half of its capacity, in microseconds."""
    quiet = in_turn({name: (call, inputs, 1)}, 2000)[name]
    _wake_at_once()
    most = capacity(call, inputs, threads)
    took, waited, grown = arrive(call, inputs, most / 2, threads, seconds)
    shares = {"median": 0.5, "p99": 0.99, "p99.9": 0.999}
    figures: dict[str, Any] = {
        "quiet median": quantile(quiet, 0.5) * 1e6,
        "capacity": most,
        "calls": len(took),
        "in the call": {k: quantile(took, share) * 1e6 for k, share in shares.items()},
        "since it was due": {k: quantile(waited, share) * 1e6 for k, share in shares.items()},
        "MB added": grown,
    }
    result.details[name] = figures
    times = {k: x / figures["quiet median"] for k, x in figures["in the call"].items()}
    due = ", ".join(f"{k} {v:.1f}" for k, v in figures["since it was due"].items())
    result.notes.append(
        f"{name}: {len(took) / seconds:.0f} calls a second; p99 {times['p99']:.2f}, p99.9 "
        f"{times['p99.9']:.2f} times the quiet median of {figures['quiet median']:.1f} us; "
        f"since a call was due: {due} us"
    )
    return figures


@benchmark
def arrivals(context: Context) -> Result:
    """Calls that arrive at random for 60 s at half of the capacity, on one thread: tails."""
    return _measured(context, 1)


@benchmark
def arrivals_on_threads(context: Context) -> Result:
    """The same on four threads that call one model, on all cores."""
    return _measured(context, 4)
