"""The registry of benchmarks, and their results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from .timing import Timing

__all__ = ["REGISTRY", "Context", "Result", "Row", "benchmark"]


@dataclass(frozen=True)
class Context:
    """Settings of a run.

    Attributes
    ----------
    quick : bool
        Smaller problems and fewer repetitions: a trial, not a measurement.
    repeats : int or None
        Repetitions, instead of a benchmark's default.
    cores : list of int
        The available cores before the process was pinned to one.
    """

    quick: bool = False
    repeats: int | None = None
    cores: tuple[int, ...] = ()

    def times(self, full: int, quick: int) -> int:
        """Return the number of repetitions."""
        return self.repeats or (quick if self.quick else full)


@dataclass
class Row:
    """One comparison: our figure, a rival's, and their ratio.

    Attributes
    ----------
    case : str
        The work done.
    rival : str
        The other program; empty if there is none.
    ours, theirs : float
        In ``unit``; smaller is better. The best of the repetitions for times.
    ratio : float or None
        theirs / ours; above 1 we are ahead.
    ratio_median, ratio_cpu : float or None
        The same for the medians, and for processor time.
    target : str
        The target as text; empty if there is none.
    met : bool or None
        Whether the target is met.
    """

    case: str
    rival: str
    unit: str
    ours: float
    theirs: float | None = None
    ratio: float | None = None
    ratio_median: float | None = None
    ratio_cpu: float | None = None
    target: str = ""
    met: bool | None = None

    @staticmethod
    def times(
        case: str,
        rival: str,
        ours: Timing,
        theirs: Timing,
        *,
        unit: str = "ms",
        at_least: float | None = None,
    ) -> Row:
        """Return the row of two timings; ``at_least`` must be met by the clock and by CPU time."""
        scale = {"s": 1.0, "ms": 1e3, "us": 1e6}[unit]
        ratio = theirs.best / ours.best
        cpu = min(theirs.cpu) / min(ours.cpu) if ours.cpu and theirs.cpu else None
        return Row(
            case,
            rival,
            unit,
            ours.best * scale,
            theirs.best * scale,
            ratio,
            theirs.median / ours.median,
            cpu,
            f">= {at_least:g}x" if at_least else "",
            min(ratio, cpu or ratio) >= at_least if at_least else None,
        )

    @staticmethod
    def amounts(
        case: str,
        rival: str,
        ours: float,
        theirs: float | None,
        *,
        unit: str,
        at_least: float | None = None,
        below: float | None = None,
    ) -> Row:
        """Return the row of two plain figures; the target is a ratio or an upper limit."""
        ratio = theirs / ours if theirs is not None and ours else None
        row = Row(case, rival, unit, ours, theirs, ratio)
        if below is not None:
            row.target, row.met = f"< {below:g} {unit}", ours < below
        elif at_least is not None and ratio is not None:
            row.target, row.met = f">= {at_least:g}x", ratio >= at_least
        return row


@dataclass
class Result:
    """The result of a benchmark.

    Attributes
    ----------
    rows : list of Row
        The comparisons.
    details : dict
        Sizes, limits, and figures without a rival.
    notes : list of str
        Lines to print under the table.
    skipped : list of str
        Missing rivals and data.
    """

    rows: list[Row] = field(default_factory=list)
    details: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Return plain lists and dictionaries, for JSON."""
        return asdict(self)


Benchmark = Callable[[Context], Result]

#: All benchmarks by name, in the order of their definition.
REGISTRY: dict[str, Benchmark] = {}


def benchmark(function: Benchmark) -> Benchmark:
    """Register a function under its own name."""
    REGISTRY[function.__name__] = function
    return function
