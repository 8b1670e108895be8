"""What a benchmark is, and the list of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from .timing import Timing

__all__ = ["REGISTRY", "Context", "Result", "Row", "benchmark"]


@dataclass(frozen=True)
class Context:
    """How to run.

    Attributes
    ----------
    quick : bool
        Smaller problems and fewer repetitions: a look, not a measurement.
    repeats : int or None
        Repetitions, where the default of a benchmark is not wanted.
    cores : list of int
        The cores there were before the process was pinned to one.
    """

    quick: bool = False
    repeats: int | None = None
    cores: tuple[int, ...] = ()

    def times(self, full: int, quick: int) -> int:
        """Return how often to repeat."""
        return self.repeats or (quick if self.quick else full)


@dataclass
class Row:
    """One comparison: a quantity of ours, the same of a rival, and their ratio.

    Attributes
    ----------
    case : str
        What was done.
    rival : str
        Who did it beside us; empty where the figure stands alone.
    ours, theirs : float
        In ``unit``; smaller is better. The best of the repetitions for times.
    ratio : float or None
        theirs / ours: above 1 we are ahead.
    ratio_median, ratio_cpu : float or None
        The same of the medians, and of processor time.
    target : str
        What we want to reach, as text; empty where there is none.
    met : bool or None
        Whether it is reached.
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
        """Return the row of two timings; ``at_least`` is wanted by the clock and of the CPU."""
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
        """Return the row of two plain figures; the target is a ratio or a limit to stay below."""
        ratio = theirs / ours if theirs is not None and ours else None
        row = Row(case, rival, unit, ours, theirs, ratio)
        if below is not None:
            row.target, row.met = f"< {below:g} {unit}", ours < below
        elif at_least is not None and ratio is not None:
            row.target, row.met = f">= {at_least:g}x", ratio >= at_least
        return row


@dataclass
class Result:
    """What a benchmark found.

    Attributes
    ----------
    rows : list of Row
        The comparisons.
    details : dict
        Sizes, limits, every figure that has no rival.
    notes : list of str
        Lines to print under the table.
    skipped : list of str
        Rivals and data that are not here.
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
    """Add a function to the list under its own name."""
    REGISTRY[function.__name__] = function
    return function
