"""The solution of a program's linear relaxation, and how much of it is integral."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...array_types import Integers
from ..parts import Parts


class Relaxation(NamedTuple):
    """The solution of a program without integrality: the linear relaxation.

    Attributes
    ----------
    parts : dict of arrays
        The parts, by block; fractional if the relaxation is not tight.
    value : float
        Its objective; an upper bound of the score of every output.
    integral : bool
        Whether every part is an integer: then it is the best output.
    fractional : dict of index arrays
        By block, the indices of the fractional parts, one per row.
    output : object
        The best output if ``integral``, else None.
    """

    parts: Parts
    value: float
    integral: bool
    fractional: dict[str, Integers]
    output: Any

    def __str__(self) -> str:
        n = sum(a.size for a in self.parts.values())
        between = sum(len(a) for a in self.fractional.values())
        status = "integral: the best output" if self.integral else f"{between} of {n} fractional"
        return f"relaxation of value {self.value:.6g}, {status}"
