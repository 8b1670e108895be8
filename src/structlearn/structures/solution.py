"""The result of a search: an output with its value and a certificate."""

from __future__ import annotations

from typing import Any, NamedTuple


class Solution(NamedTuple):
    """An output with its value and a certificate.

    Attributes
    ----------
    output : object
        The output itself.
    value : float
        Its score.
    exact : bool
        Whether it is proven to be the best.
    bound : float
        An upper bound of the score of every output.
    method : str
        The algorithm that found it.
    states : int
        The number of states of the product of automata that proved it; 0 without automata.
    """

    output: Any
    value: float
    exact: bool
    bound: float
    method: str
    states: int = 0

    def __repr__(self) -> str:
        fields = self._fields if self.states else self._fields[:-1]
        return f"Solution({', '.join(f'{name}={getattr(self, name)!r}' for name in fields)})"

    def _repr_html_(self) -> str:
        from ..drawing.solutions import solution_html

        return solution_html(self)
