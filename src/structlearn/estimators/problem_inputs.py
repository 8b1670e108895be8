"""The examples of an array problem, as the inputs of a model's queries."""

from __future__ import annotations

from typing import Any

from ..array_types import Vector
from ..models.inputs import Solutions
from ..models.scored_inputs import ScoredInputs
from ..problem.array_problem import ArrayProblem
from ..structures.base import Structure
from .preparation import label_sites


class ProblemInputs(ScoredInputs):
    """Examples of a problem; the core scores and searches all of them at once if possible.

    Parameters
    ----------
    problem : ArrayProblem
    weights : array
    beam : int or None
        The beam width; None for exact search.
    """

    problem: ArrayProblem

    def __init__(self, problem: ArrayProblem, weights: Vector, beam: int | None) -> None:
        self.problem = problem
        self._prepare(problem.structure, problem.n_examples, weights, beam)

    def _prepare(self, structure: Structure, n: int, weights: Vector, beam: int | None) -> None:
        def score(part: range) -> list[dict[str, Any]]:
            return self.problem.scores_between(part.start, part.stop, weights)

        super().__init__(structure, score, n)
        self._weights, self._beam = weights, beam

    def sites(self) -> list[int]:
        """Return the number of labelled sites of each example."""
        return label_sites(self.structure, self.problem.examples)

    def solve(self, threads: int = 1) -> Solutions:
        """Return the best outputs, or the best of the beam."""
        return Solutions(self.problem.argmax_all(self._weights, threads, self._beam))
