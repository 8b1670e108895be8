"""Classes of pixels, each by itself, as a learning problem: logistic models, pseudo-likelihood."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ... import _core
from ...array_types import Array, Integers
from ...problem import Problem
from ...problem.inexact import Inexact
from ...scoring.cone import WeightCone


class Pixels(NamedTuple):
    """Some pixels, or superpixels, of known class.

    Attributes
    ----------
    features : (n, F) or (n, K, P) array
        Two axes: each class has F weights of its own. Three: features of the classes, which share
        P weights.
    fixed : (n, K) array
        Scores of the classes that no weight changes.
    gold : (n,) array of int
        The classes.
    weight : (n,) array
        Multiplies their losses.
    """

    features: Array
    fixed: Array
    gold: Integers
    weight: Array


class PixelProblem(Problem):
    """The log loss of softmax(fixed + features · w) for groups of pixels.

    With the features of a pixel's own this is the logistic model of single pixels. With the pair
    features of its neighbours, summed by their gold classes, the losses add up to minus the log
    pseudo-likelihood of the images (J. Besag 1975, Statistical analysis of non-lattice data).

    Parameters
    ----------
    groups : list of Pixels
        One after another: examples of the problem, each with the sum of its losses.
    n_weights : int
    cone : WeightCone, optional
        Where the weights have to be.
    """

    name = "classes of pixels"

    def __init__(
        self, groups: list[Pixels], n_weights: int, cone: WeightCone | None = None
    ) -> None:
        self._groups = groups
        inference = _Softmax(groups)
        layouts = [[group.fixed.shape] for group in groups]
        bare = _core.Problem(inference, _Scorer(groups), n_weights, layouts)
        rows = [np.arange(len(g.gold)) * g.fixed.shape[1] + g.gold for g in groups]
        ptr = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
        gold = {"ptr": ptr, "part": np.concatenate(rows).astype(np.uint32)}
        # Not a sum over the segmentations of an image: solvers that need those are not for this.
        super().__init__(bare.labelled(inference, gold, {}, None), cone=cone, likelihood="pseudo")

    def specification(self) -> dict[str, Any]:
        """Return what the objective depends on: features, scores and gold classes."""
        return {**super().specification(), "groups": [list(group) for group in self._groups]}


class _Scorer:
    """Features times weights, and the transpose, as the core calls them."""

    def __init__(self, groups: list[Pixels]) -> None:
        self._groups = groups

    def score(self, i: int, w: Array) -> Array:
        """Return the scores of the classes of the pixels."""
        features = self._groups[i].features
        table = w.reshape(features.shape[1], -1) if features.ndim == 2 else w
        scores: Array = (features @ table).ravel()
        return scores

    def gather(self, i: int, index: npt.NDArray[np.uint32] | None, value: Array) -> Array:
        """Return the sums over parts of their features times these values."""
        features, fixed = self._groups[i].features, self._groups[i].fixed
        if index is not None:
            value = np.bincount(index, value, minlength=fixed.size).astype(np.float64)
        sums: Array
        if features.ndim == 2:
            sums = features.T @ value.reshape(fixed.shape)
        else:
            sums = value @ features.reshape(fixed.size, -1)
        return sums.ravel()


class _Softmax:
    """The classes of each pixel by itself; what no weight changes is in its values."""

    threads_allowed = True
    inexact = Inexact()

    def __init__(self, groups: list[Pixels]) -> None:
        self._groups = groups

    def infer(
        self, i: int, theta: Array, temperature: float
    ) -> tuple[float, npt.NDArray[np.uint32] | None, Array]:
        """Return value and gradient so that value − θ[gold] is the weighted loss."""
        _, fixed, gold, weight = self._groups[i]
        theta = theta.reshape(fixed.shape)
        rows = np.arange(len(gold))
        scores = fixed + theta
        best = scores.argmax(axis=1)
        scores -= scores[rows, best][:, np.newaxis]
        losses, known = -scores[rows, gold], float(theta[rows, gold].sum())
        if temperature == 0:
            at = np.concatenate((rows * fixed.shape[1] + best, rows * fixed.shape[1] + gold))
            p = np.concatenate((weight, 1.0 - weight))
            return float(losses @ weight) + known, at.astype(np.uint32), p
        p = np.exp(scores / temperature)
        total = p.sum(axis=1)
        losses += temperature * np.log(total)
        p *= (weight / total)[:, np.newaxis]
        p[rows, gold] += 1.0 - weight
        return float(losses @ weight) + known, None, p.ravel()
