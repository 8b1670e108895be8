"""The trace of an algorithm: its steps as plain data."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

#: The most options of a trace, which holds those of every step: more are not worth looking at.
MOST_OPTIONS = 200_000


@dataclass
class Trace:
    """The steps of one run of an algorithm.

    Attributes
    ----------
    algorithm : str
        Its name.
    steps : list of dict
        Plain data: numbers, strings, lists and dictionaries. Each has a ``kind``; the other keys
        are described by the function that makes the trace.
    answer : object
        The output, as plain data.
    value : float
        Its score; for sums the log-partition, for learners the objective.
    about : dict
        Facts about the whole run: sizes, capacities, marginals.
    """

    algorithm: str
    steps: list[dict[str, Any]]
    answer: Any
    value: float
    about: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the trace as plain data; −∞ and ∞, which JSON lacks, become "-inf" and "inf"."""
        record: dict[str, Any] = plain(vars(self))
        return record

    def to_json(self) -> str:
        """Return the trace as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)


def plain(value: Any) -> Any:
    """Return a value with arrays as lists, and numbers that JSON lacks as strings."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value


def check_size(options: int) -> None:
    """Refuse a trace that would be too large to look at."""
    if options > MOST_OPTIONS:
        raise ValueError(
            f"a trace of {options:,} options is too large; the limit is {MOST_OPTIONS:,}. Trace a "
            "smaller example"
        )
