"""Gaussian emissions of a hidden Markov model.

Statistics are additive: ``+`` joins those of two parts of the data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..array_types import Array, Integers

#: A feature whose standard deviation is at most this share of its mean counts as constant: the
#: variation is rounding error.
_ROUNDING = 64 * np.finfo(np.float64).eps


@dataclass
class Moments:
    """Weight, mean and scatter Σ w (x − mean)(x − mean)ᵀ of the vectors of each label."""

    weight: Array
    mean: Array
    scatter: Array

    @classmethod
    def of(cls, values: Array, labels: Integers, weights: Array, n_labels: int) -> Moments:
        """Collect the moments of vectors (rows) by label (indices)."""
        d = values.shape[1]
        moments = cls(np.zeros(n_labels), np.zeros((n_labels, d)), np.zeros((n_labels, d, d)))
        for k in range(n_labels):
            mine = (labels == k) & (weights > 0)
            if not mine.any():
                continue
            x, w = values[mine], weights[mine]
            moments.weight[k] = w.sum()
            mean = w @ x / w.sum()
            centred = x - mean  # before squaring: large means would swallow variances
            rounding = w @ centred / w.sum()  # error of the mean: a constant feature becomes 0
            moments.mean[k] = mean + rounding
            centred -= rounding
            moments.scatter[k] = (centred * w[:, np.newaxis]).T @ centred
        return moments

    def __add__(self, other: Moments) -> Moments:
        # Chan, Golub & LeVeque (1983): avoids differences of large sums.
        weight = self.weight + other.weight
        share = np.divide(other.weight, weight, out=np.zeros_like(weight), where=weight > 0)
        gap = other.mean - self.mean
        outer = gap[:, :, np.newaxis] * gap[:, np.newaxis, :]
        return Moments(
            weight,
            self.mean + share[:, np.newaxis] * gap,
            self.scatter + other.scatter + (self.weight * share)[:, np.newaxis, np.newaxis] * outer,
        )


class GaussianEmissions:
    """P(x | label) = Normal(mean_k, Σ_k), with covariances shrunk towards each other.

    With n_k vectors of label k, S_k their scatter, d features that are not constant, N vectors in
    all and T the variances of the data as a whole:

        W   = (Σ_k S_k + diag(T)) / (N + 1)                   (shared by the labels)
        Σ_k = (1 − ρ)·(S_k + d·W) / (n_k + d) + ρ·diag(W).

    A label seen once gets the shared covariance, a frequent one its own. Scaling a feature, or
    adding a constant to it, changes no posterior. A constant feature (one that varies only by
    rounding) has variance 1 and the same mean for every label, and so has no effect.

    Parameters
    ----------
    moments : Moments
    shrinkage : float
        ρ, from 0 to 1; 1 is one diagonal covariance shared by all labels.

    Attributes
    ----------
    means : array of shape (K, d)
    covariances : array of shape (K, d, d)
    """

    def __init__(self, moments: Moments, *, shrinkage: float) -> None:
        weight, size = moments.weight, moments.mean.shape[1]
        total = weight.sum()
        self._origin = weight @ moments.mean / total
        self.means = np.where(weight[:, np.newaxis] > 0, moments.mean, self._origin)
        within = moments.scatter.sum(axis=0)
        between = weight @ (self.means - self._origin) ** 2
        variance = (np.diag(within) + between) / total
        constant = np.sqrt(variance) <= _ROUNDING * np.abs(self._origin)
        self.means[:, constant] = self._origin[constant]
        d = max(1, int((~constant).sum()))
        shared = (within + np.diag(variance)) / (total + 1.0)
        seen = weight[:, np.newaxis, np.newaxis] + d
        self.covariances: Array = (1.0 - shrinkage) * (moments.scatter + d * shared) / seen
        self.covariances += shrinkage * np.diag(np.diag(shared))
        self.covariances[:, constant, :] = 0.0
        self.covariances[:, :, constant] = 0.0
        self.covariances[:, constant, constant] = 1.0
        if not np.isfinite(self.covariances).all():
            raise ValueError("the features of X are too large: their squares overflow")
        try:
            factors = np.linalg.cholesky(self.covariances)
        except np.linalg.LinAlgError:
            raise ValueError(
                "a covariance is singular: features depend on each other; raise shrinkage"
            ) from None
        self._whiten = np.linalg.inv(factors)
        self._centres = np.einsum("kij,kj->ki", self._whiten, self.means - self._origin)
        half_log_det = np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)
        self._constant: Array = -half_log_det - 0.5 * size * np.log(2.0 * np.pi)

    def scores(self, values: Array) -> Array:
        """Return log P(x | label), one row per vector."""
        values = values - self._origin
        scores = np.empty((len(values), len(self.means)))
        for k, (whiten, centre) in enumerate(zip(self._whiten, self._centres, strict=True)):
            # One product per vector: BLAS rounds differently for different numbers of rows.
            white = np.matmul(whiten, values[:, :, np.newaxis])[:, :, 0]
            scores[:, k] = self._constant[k] - 0.5 * ((white - centre) ** 2).sum(axis=1)
        return scores
