"""Campaigns: a target is run on many inputs in a separate process, and failures are reported.

Input number i of a target follows from the seed and i alone. The number is written into shared
memory before the input is read, so that a crash or a hang of the process can be traced to it.
"""

from __future__ import annotations

import ctypes
import gc
import mmap
import os
import pickle
import random
import resource
import struct
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from fuzz.readers import Target

#: Limits of processor seconds for an input, and of waiting seconds before the process is killed.
SLOW, HUNG = 1.0, 300.0
#: Limits of bytes that reading may take temporarily, and by which the process may grow.
MEMORY, LEAK = 1 << 30, 64 << 20


@dataclass
class Outcome:
    """The outcome of fuzzing a target.

    Attributes
    ----------
    inputs, accepted : int
        The number of inputs read, and of those read without an error.
    findings : list of str
        Failures, with the number of the input.
    """

    target: str
    inputs: int = 0
    accepted: int = 0
    seconds: float = 0.0
    findings: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        rate = self.inputs / max(self.seconds, 1e-9)
        return (
            f"{self.target:<18} {self.inputs:>9,} inputs, {self.accepted:>9,} accepted, "
            f"{rate:>8,.0f} a second, {len(self.findings)} findings"
        )


def input_of(target: Target, seed: int, number: int) -> object:
    """Return input number ``number``."""
    return target.make(random.Random(seed * 1_000_003 + number))


def _pages(column: int) -> int:
    """Return the bytes of this process: its address space (0), or its resident memory (1)."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[column]) * resource.getpagesize()


def _held() -> int:
    """Return the bytes in use: freed memory is returned to the system first."""
    gc.collect()
    with suppress(OSError, AttributeError):  # other C libraries have no such call
        ctypes.CDLL(None).malloc_trim(0)
    return _pages(1)


def _save(target: Target, seed: int, number: int, folder: Path | None) -> None:
    """Save the input of a finding."""
    if folder is None:
        return
    data = input_of(target, seed, number)
    content = data if isinstance(data, bytes) else pickle.dumps(data)
    (folder / target.name).mkdir(parents=True, exist_ok=True)
    (folder / target.name / f"{seed}-{number}").write_bytes(content)


def _child(
    target: Target, seed: int, first: int, last: int, until: float, shared: mmap.mmap
) -> None:
    """Read inputs; report findings, one per line and one for each place in the source."""
    with suppress(Exception):
        target.check(input_of(target, seed, first))  # triggers late imports
    used = _pages(1)
    most = _pages(0) + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    accepted, settled = 0, 0
    reported: set[str] = set()
    for number in range(first, last):
        struct.pack_into("<qqd", shared, 0, number, accepted, time.monotonic())
        begin = time.process_time()
        wrong = ""
        try:
            accepted += target.check(input_of(target, seed, number))
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{os.path.basename(place.filename)}:{place.lineno}"
            wrong = f"{type(error).__name__} at {where}: {str(error)[:200]!r}"
            if (type(error).__name__ + where) in reported:
                wrong = ""
            reported.add(type(error).__name__ + where)
        took = time.process_time() - begin
        if took > SLOW and not wrong:
            wrong = f"took {took:.1f} s"
        if wrong:
            print(f"{number} {wrong}", flush=True)
            if len(reported) > 20:
                break
        if number - first == 2000:
            settled = _held()
        if number % 256 == 0 and time.monotonic() > until:
            number += 1
            break
    else:
        number = last
    if settled and (grown := _held() - max(settled, used)) > LEAK:
        print(f"-1 grew by {grown >> 20} MB", flush=True)
    struct.pack_into("<qqd", shared, 0, number, accepted, 0.0)


def run(
    name: str,
    make: Callable[[], Target],
    *,
    seed: int = 0,
    first: int = 0,
    inputs: int = 1_000_000,
    seconds: float = float("inf"),
    folder: Path | None = None,
) -> Outcome:
    """Fuzz a target with ``inputs`` inputs from number ``first`` on, for at most ``seconds``."""
    begin = time.monotonic()
    until, last = begin + seconds, first + inputs
    outcome, at = Outcome(name), first
    target = make()
    while at < last and time.monotonic() < until:
        shared = mmap.mmap(-1, 24)
        read, write = os.pipe()
        struct.pack_into("<qqd", shared, 0, at, 0, time.monotonic() + 600)
        pid = os.fork()
        if pid == 0:
            os.dup2(write, 1)
            os.close(read)
            try:
                _child(target, seed, at, last, until, shared)
            except BaseException:
                traceback.print_exc()
                os._exit(99)
            sys.stdout.flush()
            os._exit(0)
        os.close(write)
        status, hung = _watched(pid, shared)
        lines = os.read(read, 1 << 16).decode(errors="replace").splitlines()
        os.close(read)
        number, accepted, _ = struct.unpack_from("<qqd", shared, 0)
        outcome.accepted += accepted
        for line in lines:
            place, _, what = line.partition(" ")
            outcome.findings.append(f"{name}, input {place}: {what}")
            if int(place) >= 0:
                _save(target, seed, int(place), folder)
        if status == 0:
            outcome.inputs += number - at
            break
        what = "hung" if hung else f"ended the process, status {status}"
        outcome.findings.append(f"{name}, input {number}: {what}")
        _save(target, seed, number, folder)
        outcome.inputs += number + 1 - at
        at = number + 1
        if len(outcome.findings) > 20:
            break
    outcome.seconds = time.monotonic() - begin
    return outcome


def _watched(pid: int, shared: mmap.mmap) -> tuple[int, bool]:
    """Wait for a process; kill it if it spends too long on one input."""
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return status, False
        _, _, since = struct.unpack_from("<qqd", shared, 0)
        if since and time.monotonic() - since > HUNG:
            os.kill(pid, 9)
            return os.waitpid(pid, 0)[1], True
        time.sleep(0.05)
