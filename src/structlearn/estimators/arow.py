"""Adaptive regularisation of weights."""

from __future__ import annotations

from ..fitting.learner_registry import AROWParameters
from .model import StructuredModel

__all__ = ["AROW"]


class AROW(AROWParameters, StructuredModel):
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
