"""Counts of what a server does, in the text format of Prometheus.

Each process of a server counts for itself and puts its counts into a folder now and then; whichever
of them is asked shows the sum of all, those of processes that have ended included.
"""

from __future__ import annotations

import json
import os
import sys
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_POWERS = (1, 2, 4, 8, 16, 32, 64)
#: Name -> kind, help, and the upper bounds of a histogram.
_KINDS: dict[str, tuple[str, str, tuple[float, ...]]] = {
    "requests_total": ("counter", "Requests, by path and status.", ()),
    "request_seconds": ("histogram", "Time from the head of a request to its answer.", _SECONDS),
    "inputs_total": ("counter", "Sentences and texts that were answered, by model.", ()),
    "batch_queries": ("histogram", "Requests that were answered together.", _POWERS),
    "model_loads_total": ("counter", "Models read from files, by model and result.", ()),
    "queue_queries": ("gauge", "Requests that wait for a thread.", ()),
    "workers": ("gauge", "Processes that answer.", ()),
}
_Key = tuple[str, tuple[tuple[str, str], ...]]


class Metrics:
    """The counts of one process, and the sum of all.

    Parameters
    ----------
    folder : str, optional
        Where the processes of a server put their counts.
    """

    def __init__(self, folder: str | None = None) -> None:
        self._folder = folder
        self._values: dict[_Key, float] = defaultdict(float)
        self._written: dict[_Key, float] | None = None

    def count(self, name: str, amount: float = 1, **labels: str) -> None:
        """Add to a counter."""
        self._values[name, tuple(sorted(labels.items()))] += amount

    def observe(self, name: str, value: float, **labels: str) -> None:
        """Add a value to a histogram."""
        bounds = _KINDS[name][2]
        place = bisect_left(bounds, value)
        bound = f"{bounds[place]:g}" if place < len(bounds) else "+Inf"
        self.count(f"{name}_bucket", 1, **labels, le=bound)
        self.count(f"{name}_sum", value, **labels)

    def gauge(self, name: str, value: float) -> None:
        """Set a gauge."""
        self._values[name, ()] = value

    def write(self) -> None:
        """Put the counts into the folder, if they have changed."""
        if self._folder is None or self._written == self._values:
            return
        path = os.path.join(self._folder, f"{os.getpid()}.json")
        with open(f"{path}.part", "w", encoding="utf-8") as file:
            json.dump(
                [[name, labels, value] for (name, labels), value in self._values.items()], file
            )
        os.replace(f"{path}.part", path)
        self._written = dict(self._values)

    def text(self) -> str:
        """Return the sum over all processes."""
        total: dict[_Key, float] = defaultdict(float)
        for values in (self._values, *self._others()):
            for key, value in values.items():
                total[key] += value
        lines = []
        for name, (kind, about, bounds) in _KINDS.items():
            full = f"structlearn_{name}"
            lines += [f"# HELP {full} {about}", f"# TYPE {full} {kind}"]
            if kind == "histogram":
                lines += _histogram(name, full, bounds, total)
            else:
                rows = sorted(
                    (labels, value) for (key, labels), value in total.items() if key == name
                )
                lines += [f"{full}{_labels(labels)} {value:.17g}" for labels, value in rows]
        return "\n".join(lines) + "\n"

    def _others(self) -> Iterable[Mapping[_Key, float]]:
        """Yield the counts that other processes have written; gauges of living ones alone."""
        if self._folder is None:
            return
        for name in os.listdir(self._folder):
            process = name.removesuffix(".json")
            if not process.isdigit() or int(process) == os.getpid():
                continue
            with suppress(OSError, ValueError):
                with open(os.path.join(self._folder, name), encoding="utf-8") as file:
                    rows: list[Any] = json.load(file)
                lives = _is_alive(int(process))
                yield {
                    (key, tuple(map(tuple, labels))): value
                    for key, labels, value in rows
                    if lives or _KINDS.get(key, ("",))[0] != "gauge"
                }


def _histogram(
    name: str, full: str, bounds: tuple[float, ...], total: Mapping[_Key, float]
) -> list[str]:
    lines = []
    sums = sorted((labels, value) for (key, labels), value in total.items() if key == f"{name}_sum")
    for labels, value in sums:
        reached = 0.0
        for bound in (*(f"{b:g}" for b in bounds), "+Inf"):
            with_bound = tuple(sorted((*labels, ("le", bound))))
            reached += total.get((f"{name}_bucket", with_bound), 0.0)
            lines.append(f"{full}_bucket{_labels((*labels, ('le', bound)))} {reached:.17g}")
        lines.append(f"{full}_sum{_labels(labels)} {value:.17g}")
        lines.append(f"{full}_count{_labels(labels)} {reached:.17g}")
    return lines


def _labels(labels: Iterable[tuple[str, str]]) -> str:
    pairs = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels)
    return f"{{{pairs}}}" if pairs else ""


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _is_alive(process: int) -> bool:
    if sys.platform == "win32":  # os.kill would end it, whatever the signal
        import ctypes

        windows, wait_only, still_running = ctypes.windll.kernel32, 0x100000, 0x102
        if not (handle := windows.OpenProcess(wait_only, False, process)):
            return False
        running: bool = windows.WaitForSingleObject(handle, 0) == still_running
        windows.CloseHandle(handle)
        return running
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return True
