"""What a search finds: an output with its value and a certificate."""

from __future__ import annotations

from typing import Any, NamedTuple


class Solution(NamedTuple):
    """An output with what is known about it.

    Attributes
    ----------
    output : object
        The output itself.
    value : float
        Its score.
    exact : bool
        Whether it is proven to be the best.
    bound : float
        No output scores more than this.
    method : str
        The algorithm that found it.
    states : int
        States of the product of automata that proved it; 0: no constraint is an automaton.
    """

    output: Any
    value: float
    exact: bool
    bound: float
    method: str
    states: int = 0

    def __repr__(self) -> str:
        shown = self._fields if self.states else self._fields[:-1]
        return f"Solution({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    def _repr_html_(self) -> str:
        from ..drawing.solutions import solution_html

        return solution_html(self)
