"""Examples, gold outputs and a cost as one object: all that a learner sees.

A learner needs four operations — infer(i, w, γ, ε), scatter(i, v, a): w += a·A_iᵀv, dot(i, θ, v),
sqnorm(i, v) = ‖A_iᵀv‖² — and, for batch methods, the sum of losses with its gradient. It knows
neither the structure nor the features.
"""

from ..scoring.cone import WeightCone as WeightCone
from ..structures.threads import n_threads
from .array_problem import ArrayProblem
from .digest import problem_digest
from .gold import GoldOutputs
from .parts import PartVector
from .problem import Problem
from .reader import OutputReader

__all__ = [
    "ArrayProblem",
    "GoldOutputs",
    "OutputReader",
    "PartVector",
    "Problem",
    "n_threads",
    "problem_digest",
]
