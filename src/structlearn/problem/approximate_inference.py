"""Approximations of the log loss for structures whose sums over outputs are intractable.

The core takes a loss as value(θ) − ⟨θ, μ(gold)⟩ with the gradient p − μ(gold), from any source of
value and p. For a pseudo-likelihood the value depends on the gold output.
"""

from __future__ import annotations

from typing import Any

from ..array_types import Vector
from .python_inference import PythonInference


class PseudoLikelihood(PythonInference):
    """Each label given its neighbours' gold labels, instead of the sum over all outputs."""

    def infer(self, i: int, theta: Vector, temperature: float) -> tuple[float, Any, Vector]:
        """Return (value, None, gradient) of score(gold) − ε · log pseudo-likelihood."""
        gold = self._problem.gold
        if temperature == 0 or gold is None:
            return super().infer(i, theta, temperature)
        scores = self._problem.as_arguments(i, theta)
        value, p = self._problem.structure.pseudo_infer(
            gold.outputs[i], temperature=temperature, **scores
        )
        return value, *self._flat(i, p, sparse=False)


class LoopySums(PythonInference):
    """Bethe's approximation of the log-partition, with the beliefs of loopy message passing."""

    def infer(self, i: int, theta: Vector, temperature: float) -> tuple[float, Any, Vector]:
        """Return (value, None, beliefs)."""
        if temperature == 0:
            return super().infer(i, theta, temperature)
        scores = self._problem.as_arguments(i, theta)
        value, p = self._problem.structure.loopy_infer(temperature=temperature, **scores)
        return value, *self._flat(i, p, sparse=False)


#: The alternatives to exact sums.
LIKELIHOODS: dict[str, type[PythonInference]] = {"pseudo": PseudoLikelihood, "loopy": LoopySums}
