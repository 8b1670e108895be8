"""Which constraints a dynamic program honours, and which need an integer program."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..printing import joined_lines
from .counting import Constraint

__all__ = ["ConstraintReport"]


@dataclass
class ConstraintReport:
    """How each constraint is honoured for one input.

    Attributes
    ----------
    masked : list of (Constraint, int)
        Those that became −∞ scores, with the number of parts that they forbid.
    rows : list of (Constraint, int)
        Those that became rows of the integer program, with their number.
    """

    masked: list[tuple[Constraint, int]] = field(default_factory=list)
    rows: list[tuple[Constraint, int]] = field(default_factory=list)

    @property
    def needs_program(self) -> bool:
        """Whether the dynamic program alone is not enough."""
        return bool(self.rows)

    def __str__(self) -> str:
        lines = [f"mask   {constraint}: {n} parts" for constraint, n in self.masked]
        lines += [f"rows   {constraint}: {n} rows" for constraint, n in self.rows]
        return joined_lines(lines)
