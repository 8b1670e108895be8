"""Interleaved timing: A B A B ..., so that a noisy moment affects both alike."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Timing", "interleave"]


@dataclass
class Timing:
    """Seconds per call for each repetition, by the clock and in processor time."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def add(self, wall: float, cpu: float | None) -> None:
        """Add one repetition."""
        self.wall.append(wall)
        if cpu is not None:
            self.cpu.append(cpu)

    @property
    def best(self) -> float:
        """The shortest time by the clock."""
        return min(self.wall)

    @property
    def median(self) -> float:
        """The median time by the clock."""
        return statistics.median(self.wall)

    def summary(self) -> dict[str, Any]:
        """Return the figures for a report."""
        return {
            "best": self.best,
            "median": self.median,
            "cpu_best": min(self.cpu) if self.cpu else None,
            "repetitions": len(self.wall),
        }


def interleave(
    calls: Mapping[str, Callable[[], Any]],
    *,
    repeats: int,
    number: int | Mapping[str, int] = 1,
) -> dict[str, Timing]:
    """Time the calls in turn, ``repeats`` times over, after one warm-up of each.

    Parameters
    ----------
    calls : mapping of name to callable
        Functions without arguments; their results are discarded inside the timed span.
    number : int or mapping of name to int
        Calls per repetition, for calls too short for the clock.
    """
    timings = {name: Timing() for name in calls}
    counts = {name: number if isinstance(number, int) else number[name] for name in calls}
    for call in calls.values():
        call()
    enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        for _ in range(repeats):
            for name, call in calls.items():
                loop = range(counts[name])
                cpu, wall = time.process_time(), time.perf_counter()
                for _ in loop:
                    call()
                wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
                timings[name].add(wall / counts[name], cpu / counts[name])
    finally:
        if enabled:
            gc.enable()
    return timings
