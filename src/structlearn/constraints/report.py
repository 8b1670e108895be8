"""A report on compiled constraints: masks, automata, or rows of a program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..printing import joined_lines
from .counting import Constraint


def automata_in_words(sizes: Sequence[int]) -> str:
    """Describe the number of automata and their sizes."""
    if not sizes:
        return "nothing to keep to"
    if len(sizes) == 1:
        return f"automaton of {sizes[0]} states"
    return f"{len(sizes)} automata of {' + '.join(map(str, sizes))} states"


@dataclass
class ConstraintReport:
    """How each constraint was compiled for one input.

    Attributes
    ----------
    masked : list of (Constraint, int)
        Those that became −∞ scores, with the number of parts that they forbid.
    automata : list of (Constraint, list of int)
        Those that became finite automata, with the states of each.
    rows : list of (Constraint, int)
        Those that became rows of the integer program, with their number.
    sums : str
        For a large product of automata: how precise its sums are, or why there are none.
    """

    masked: list[tuple[Constraint, int]] = field(default_factory=list)
    automata: list[tuple[Constraint, list[int]]] = field(default_factory=list)
    rows: list[tuple[Constraint, int]] = field(default_factory=list)
    sums: str = ""

    @property
    def needs_program(self) -> bool:
        """Whether the integer program is needed."""
        return bool(self.rows)

    def __str__(self) -> str:
        lines = [f"mask       {constraint}: {n} parts" for constraint, n in self.masked]
        for constraint, sizes in self.automata:
            states = " + ".join(map(str, sizes)) if len(sizes) < 8 else str(sum(sizes))
            of = "" if len(sizes) == 1 else f" in {len(sizes)} automata"
            lines.append(f"automaton  {constraint}: {states} states{of}")
        lines += [f"rows       {constraint}: {n} rows" for constraint, n in self.rows]
        lines += [f"sums       {self.sums}"] if self.sums else []
        return joined_lines(lines)
