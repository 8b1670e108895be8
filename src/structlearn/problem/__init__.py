"""Learning problems: examples, gold outputs and a cost as one object for the learners.

A learner needs four operations — infer(i, w, γ, ε), scatter(i, v, a): w += a·A_iᵀv, dot(i, θ, v),
sqnorm(i, v) = ‖A_iᵀv‖² — and, for batch methods, the sum of losses with its gradient. It knows
neither the structure nor the features. Names are imported when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from ..scoring.cone import WeightCone as WeightCone
    from .parts import PartVector
    from .problem import Problem as Problem  # a module has the name too

_HOMES = {"PartVector": "parts", "Problem": "problem", "WeightCone": ".scoring.cone"}

__all__ = [
    "PartVector",
    "Problem",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
