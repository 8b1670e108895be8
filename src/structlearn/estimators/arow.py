"""Adaptive regularisation of weights."""

from __future__ import annotations

import math
from typing import Any

from .model import StructuredModel, store_parameters

__all__ = ["AROW"]


class AROW(StructuredModel):
    """A passive-aggressive learner that knows how sure it is of each weight.

    With ŷ the best output after adding the costs, ℓ = Δ(y, ŷ) + s(ŷ) − s(y),
    δ = φ(x, y) − φ(x, ŷ) and Σ the variances of the weights, 1 at first, each mistake (ℓ > 0) gives
    w ← w + ℓ/(δᵀΣδ + r) Σδ and 1/Σ_j ← 1/Σ_j + δ_j²/r: the diagonal form, as CRFsuite has it (its
    gamma/variance is r). A preset of :class:`StructuredModel` with margin 1 and temperature 0,
    which describes the parameters and attributes that are not below. A ``sample_weight`` divides r.

    Parameters
    ----------
    r : float, default=10.0
        Larger is more cautious: shorter steps, variances that shrink more slowly.
    cost : {"hamming", "hamming-mean", "zero-one"}, (K, K) array or Cost, default="hamming"
    max_iter : int, default=10
        Passes over the data.
    average : bool, default=True
        Average the weights over all steps; the paper does not.
    beam : int, optional
        Search with a beam of this width, in training and prediction, where exact inference is too
        dear (a :class:`Chain` of high order; structures that inherit from :class:`BeamSearch`).
        Nothing then proves that an output is the best one.
    update_at : {"early", "max-violation", "end"}, default="early"
        Where to update with a beam, if the output is wrong: on the prefixes at which the gold one
        leaves the beam; on those where it is outscored by most; on whole outputs. The last may
        update on an output that scores less than the gold one, and then need not learn at all:
        ``history_`` counts them as ``invalid_updates``.

    References
    ----------
    K. Crammer, A. Kulesza & M. Dredze (2009), Adaptive regularization of weight vectors.
    """

    r: float
    margin = 1.0
    temperature = 0.0
    C = 1.0
    l1 = 0.0
    solver = "arow"
    step = "decaying"
    tol = 0.0

    def __init__(
        self,
        structure: Any = "chain",
        *,
        r: float = 10.0,
        cost: Any = "hamming",
        max_iter: int = 10,
        average: bool = True,
        beam: int | None = None,
        update_at: str = "early",
        shuffle: bool = True,
        min_count: int = 0,
        all_possible_states: bool = False,
        all_possible_transitions: bool = True,
        boundaries: bool = True,
        hierarchy: Any = None,
        forbid: Any = None,
        constraints: Any = None,
        time_limit: float | None = None,
        class_weight: Any = None,
        warm_start: bool = False,
        checkpoint: Any = None,
        callbacks: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        store_parameters(self, locals())

    def _check_parameters(self) -> None:
        if not isinstance(self.r, (int, float)) or not (math.isfinite(self.r) and self.r > 0):
            raise ValueError(f"r must be a finite number > 0, got {self.r!r}")
        super()._check_parameters()

    @property
    def _rate(self) -> float:  # type: ignore[override]
        return self.r
