"""The rounds of cutting planes for inspection: constraints with their outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..array_types import Array
from ..learners.base import Training
from ..learners.cutting_planes import Round
from ..problem import PartVector, Problem
from ..problem.array_problem import ArrayProblem
from ..problem.reader import OutputReader


class Constraint(NamedTuple):
    """A constraint that a round added.

    Attributes
    ----------
    example : int
        The example whose working set it joined.
    output : object
        The most violated output.
    violation : float
        Δ(y, output) − ξ − (F(y) − F(output)), by the previous weights.
    """

    example: int
    output: Any
    violation: float


class CuttingPlaneRound:
    """One round: the solution of the restricted problem, then the most violated constraints.

    Attributes
    ----------
    iteration : int
        From 1.
    n_constraints : int
        The number of constraints of the restricted problem.
    slack : array
        ξ at its solution: one per example for "n-slack"; for "one-slack" a single one, divided by
        the sum of the examples' weights.
    violation : float
        The largest violation found, added or not.
    primal, dual, gap : float
        ½‖w‖² + C·Σ loss at the solution, the value of the restricted problem, their difference.
    constraints : list of Constraint
        The constraints it added; empty for "one-slack", whose constraints join all examples.
    """

    def __init__(self, seen: Round, outputs: _Outputs) -> None:
        self._seen = seen
        self._outputs = outputs
        self.iteration = seen.iteration
        self.n_constraints = seen.constraints_before
        self.slack: Array = seen.slack
        self.violation = seen.violation
        self.primal = seen.primal
        self.dual = seen.dual
        self.gap = seen.primal - seen.dual

    @property
    def constraints(self) -> list[Constraint]:
        """The constraints that the round added, in the order of the examples."""
        seen = self._seen
        return [
            Constraint(int(i), self._outputs(int(i), int(place)), float(violation))
            for i, place, violation in zip(seen.examples, seen.places, seen.violations, strict=True)
        ]

    def __repr__(self) -> str:
        return (
            f"CuttingPlaneRound({self.iteration}: {self.n_constraints} constraints, adds "
            f"{len(self._seen.examples)}, violation {self.violation:.4g}, primal "
            f"{self.primal:.6g}, dual {self.dual:.6g})"
        )


class _Outputs:
    """The outputs in the working sets, read on demand."""

    def __init__(self, reader: OutputReader, sets: dict[str, Any], name: Any) -> None:
        self._reader, self._sets, self._name = reader, sets, name

    def __call__(self, example: int, place: int) -> Any:
        sets = self._sets
        a = sets["atom_ptr"][example] + place
        part = slice(sets["part_ptr"][a], sets["part_ptr"][a + 1])
        difference = PartVector(sets["part"][part], sets["value"][part])
        return self._name(self._reader.output(example, difference))


def read_rounds(
    problem: Problem, training: Training, name: Callable[[Any], Any]
) -> list[CuttingPlaneRound]:
    """Return the rounds of a training, with outputs in the labels' own names."""
    assert isinstance(problem, ArrayProblem)
    outputs = _Outputs(problem.output_reader(), training.state.sets, name)
    return [CuttingPlaneRound(seen, outputs) for seen in training.rounds]
