"""The one loss, of margin γ and temperature ε:

    L = infer(θ + γc, ε).value + γc₀ − clamp,   gradient over parts p − p_clamp,

with clamp = ⟨θ, μ(y*)⟩, or, if labels are unknown (None, or a set of possible labels), the same
infer with the excluded labels at −∞.

========  ===========  ========================================
γ margin  ε temperat.  what it is
========  ===========  ========================================
0         0            structured perceptron
1         0            structured hinge (SVM)
0         1            log loss (CRF)
1         1            softmax-margin
any       any          the family in between
========  ===========  ========================================
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..features.arrays import as_floats
from ..structures.base import Structure
from ..structures.checks import check_temperature
from ..structures.open_labels import is_open
from ..structures.parts import Parts
from .costs import as_cost
from .zero_one import zero_one_sums


class StructuredLoss:
    """The loss of scores θ for a gold output, and its gradient over parts.

    Parameters
    ----------
    cost : str, array or Cost, default="hamming"
        Used if the margin is not zero.
    margin : float, default=0
        γ: the share of the cost by which an output must be beaten.
    temperature : float, default=0
        ε: at 0 the loss depends on the worst output only, above it on all.

    Examples
    --------
    The slack of "Fish Sleep", gold (N, V), in the CS 159 lectures:

    >>> import numpy as np
    >>> from structlearn.structures import Chain
    >>> hinge = StructuredLoss(margin=1)
    >>> scores = dict(label=np.array([[2., 1.], [1., 0.]]), start=np.array([1., -1.]),
    ...               transition=np.array([[-2., 1.], [2., -2.]]))
    >>> hinge(Chain(), [0, 1], **scores)[0]
    1.0
    """

    def __init__(
        self, cost: Any = "hamming", *, margin: float = 0.0, temperature: float = 0.0
    ) -> None:
        check_temperature(temperature)
        if not math.isfinite(margin) or margin < 0:
            raise ValueError(f"margin must be a finite number >= 0, got {margin!r}")
        self.cost = as_cost(cost)
        self.margin = float(margin)
        self.temperature = float(temperature)

    def __call__(self, structure: Structure, y: Any, **scores: Any) -> tuple[float, Parts]:
        """Return (loss, gradient by block) of the scores for the gold output y."""
        theta: dict[str, Any] = {
            name: value if name in structure.topology else as_floats(value, name)
            for name, value in scores.items()
        }
        unknown = structure.has_labels and any(map(is_open, structure.labels_of(y)))
        if unknown:
            clamp, known = structure.infer(
                temperature=self.temperature, **rule_out(structure, y, theta)
            )
        else:
            clamp, known = structure.score(y, **theta), structure.encode(y, **theta)
            if clamp == -math.inf:
                raise ValueError("the gold output is forbidden: one of its parts scores -inf")
        if self.margin and self.cost.zero_one:
            if unknown:
                raise ValueError(
                    "the zero-one cost needs all labels of the gold output to be known"
                )
            return self._zero_one(structure, y, theta, clamp, known)
        constant = 0.0
        if self.margin:
            c, constant = self.cost.parts(structure, y, **theta)
            theta = {n: a + self.margin * c[n] if n in c else a for n, a in theta.items()}
        value, p = structure.infer(temperature=self.temperature, **theta)
        value += self.margin * constant
        return value - clamp, {name: p[name] - known[name] for name in p}

    def _zero_one(
        self, structure: Structure, y: Any, theta: Any, gold: float, known: Parts
    ) -> tuple[float, Parts]:
        if self.temperature == 0:
            other = structure.runner_up(y, **theta)
            if other is None or other[0] + self.margin <= gold:
                return 0.0, {name: np.zeros_like(a) for name, a in known.items()}
            p = structure.encode(other[1], **theta)
            return other[0] + self.margin - gold, {name: p[name] - known[name] for name in p}
        return zero_one_sums(
            structure, y, theta, gold, known, margin=self.margin, temperature=self.temperature
        )

    def __repr__(self) -> str:
        return (
            f"StructuredLoss({type(self.cost).__name__}, margin={self.margin}, "
            f"temperature={self.temperature})"
        )


def rule_out(structure: Structure, y: Any, theta: dict[str, Any]) -> dict[str, Any]:
    """Return the scores with −∞ for every label that the known labels exclude."""
    block = structure.label_block
    allowed = structure.allowed(y, theta[block].shape)
    return {**theta, block: np.where(allowed, theta[block], -np.inf)}


def perceptron_loss() -> StructuredLoss:
    """Return the perceptron loss: γ = 0, ε = 0."""
    return StructuredLoss()


def hinge_loss(cost: Any = "hamming") -> StructuredLoss:
    """Return the structured hinge: γ = 1, ε = 0 (eq. 17.22)."""
    return StructuredLoss(cost, margin=1.0)


def log_loss() -> StructuredLoss:
    """Return the log loss of a CRF: γ = 0, ε = 1."""
    return StructuredLoss(temperature=1.0)


def softmax_margin_loss(cost: Any = "hamming") -> StructuredLoss:
    """Return the softmax-margin loss: γ = 1, ε = 1."""
    return StructuredLoss(cost, margin=1.0, temperature=1.0)
