"""How each constraint is honoured: by a mask, by automata, or by rows of a program."""

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
    automata : list of (Constraint, list of int)
        Those that became finite automata, with the states of each.
    rows : list of (Constraint, int)
        Those that became rows of the integer program, with their number.
    """

    masked: list[tuple[Constraint, int]] = field(default_factory=list)
    automata: list[tuple[Constraint, list[int]]] = field(default_factory=list)
    rows: list[tuple[Constraint, int]] = field(default_factory=list)

    @property
    def needs_program(self) -> bool:
        """Whether dynamic programs are not enough."""
        return bool(self.rows)

    def __str__(self) -> str:
        lines = [f"mask       {constraint}: {n} parts" for constraint, n in self.masked]
        for constraint, sizes in self.automata:
            states = " + ".join(map(str, sizes)) if len(sizes) < 8 else str(sum(sizes))
            of = "" if len(sizes) == 1 else f" in {len(sizes)} automata"
            lines.append(f"automaton  {constraint}: {states} states{of}")
        lines += [f"rows       {constraint}: {n} rows" for constraint, n in self.rows]
        return joined_lines(lines)
