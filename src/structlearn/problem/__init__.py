"""Examples, gold outputs and a cost as one object: all that a learner sees.

A learner needs four operations — infer(i, w, γ, ε), scatter(i, v, a): w += a·A_iᵀv, dot(i, θ, v),
sqnorm(i, v) = ‖A_iᵀv‖² — and, for batch methods, the sum of losses with its gradient. It knows
neither the structure nor the features.
"""

from ..scoring.cone import WeightCone as WeightCone
from .parts import PartVector
from .problem import Problem

__all__ = [
    "PartVector",
    "Problem",
]
