"""What the linear relaxation of a program gives, and how much of it is whole."""

from __future__ import annotations

from typing import Any, NamedTuple

from ...array_types import Integers
from ..parts import Parts


class Relaxation(NamedTuple):
    """The solution of a program without "whole number": the linear relaxation.

    Attributes
    ----------
    parts : dict of arrays
        The parts, by block; between whole numbers where the relaxation is not tight.
    value : float
        Its objective; no output scores more than this.
    integral : bool
        Whether every part is a whole number: then it is the best output.
    fractional : dict of index arrays
        By block, the indices of the parts that are no whole numbers, one per row.
    output : object
        The best output where ``integral``, else None.
    """

    parts: Parts
    value: float
    integral: bool
    fractional: dict[str, Integers]
    output: Any

    def __str__(self) -> str:
        n = sum(a.size for a in self.parts.values())
        between = sum(len(a) for a in self.fractional.values())
        found = "integral: the best output" if self.integral else f"{between} of {n} fractional"
        return f"relaxation of value {self.value:.6g}, {found}"
