"""Adaptive regularisation of weights."""

from __future__ import annotations

from ..fitting.learner_registry import AROWParameters
from .model import StructuredModel


class AROW(AROWParameters, StructuredModel):
    """A passive-aggressive learner that keeps a confidence for each weight.

    With ŷ the best output after adding the costs, ℓ = Δ(y, ŷ) + s(ŷ) − s(y), δ = φ(x, y) − φ(x, ŷ)
    and Σ the variances of the weights, 1 at first, each mistake (ℓ > 0) gives w ← w + ℓ/(δᵀΣδ + r)
    Σδ and 1/Σ_j ← 1/Σ_j + δ_j²/r: the diagonal form, as in CRFsuite (whose gamma/variance is r). A
    preset of :class:`StructuredModel` with margin 1 and temperature 0, which describes the
    parameters and attributes not listed here. A ``sample_weight`` divides r.

    Parameters
    ----------
    r : float, default=10.0
        Larger is more cautious: shorter steps, variances that shrink more slowly.
    cost : {"hamming", "hamming-mean", "zero-one"}, (K, K) array or Cost, default="hamming"
    max_iter : int, default=10
        Passes over the data.
    average : bool, default=True
        Average the weights over all steps; the paper does not.
    {learning}

    References
    ----------
    K. Crammer, A. Kulesza & M. Dredze (2009), Adaptive regularization of weight vectors.
    """
