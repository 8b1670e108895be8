"""Weights by maximum likelihood: of pixels alone, and of pixels given their neighbours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

__all__ = ["fit_alone", "fit_pseudo"]

Floats = npt.NDArray[np.float32]
Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

#: Rows of a product of matrices that are worked out at once.
_CHUNK = 8192


def fit_alone(
    X: Floats, y: Integers, n_classes: int, decay: float, max_iter: int, report: Any = None
) -> Array:
    """Return (F, K) weights of the multinomial logistic model of single pixels.

    Minimises the mean of −log softmax(x·W)[y] plus decay/2·|W|² by L-BFGS; O(n·F·K) a step.
    """
    n, width = X.shape

    def objective(flat: Array) -> tuple[float, Array]:
        W = flat.reshape(width, n_classes)
        single = W.astype(np.float32)
        value, gradient = 0.0, np.zeros_like(W)
        for at in range(0, n, _CHUNK):
            rows, gold = X[at : at + _CHUNK], y[at : at + _CHUNK]
            loss, residual = _softmax_loss((rows @ single).astype(np.float64), gold)
            value += loss
            gradient += rows.T @ residual.astype(np.float32)
        return value / n + 0.5 * decay * float(flat @ flat), (gradient / n + decay * W).ravel()

    return _descend(objective, np.zeros(width * n_classes), None, max_iter, report).reshape(
        width, n_classes
    )


def fit_pseudo(
    label: Array, near: Array, y: Integers, prior: Array, decay: float, max_iter: int = 50
) -> Array:
    """Return weights ≥ 0 of the pair features by pseudo-likelihood, the labels' scores given.

    The probability of a pixel's class given its neighbours' is softmax over k of label[k] +
    near[k]·p, with near[k] the pair features summed over the neighbours of class k: convex in p.

    Parameters
    ----------
    label : (n, K) array
        Scores of the classes of pixels.
    near : (n, K, P) array
    prior : (P,) array
        Where the weights are drawn to, by decay/2·|p − prior|².

    References
    ----------
    J. Besag (1975), Statistical analysis of non-lattice data.
    """

    def objective(p: Array) -> tuple[float, Array]:
        loss, residual = _softmax_loss(label + near @ p, y)
        gradient = np.einsum("nk,nkp->p", residual, near)
        off = p - prior
        return loss / len(y) + 0.5 * decay * float(off @ off), gradient / len(y) + decay * off

    return _descend(objective, prior, [(0.0, None)] * len(prior), max_iter, None)


def _softmax_loss(scores: Array, gold: Integers) -> tuple[float, Array]:
    """Return the sum of the log losses, and its gradient by the scores."""
    rows = np.arange(len(gold))
    scores = scores - scores.max(axis=1, keepdims=True)
    p = np.exp(scores)
    total = p.sum(axis=1, keepdims=True)
    loss = float((np.log(total[:, 0]) - scores[rows, gold]).sum())
    p /= total
    p[rows, gold] -= 1.0
    return loss, p


def _descend(
    objective: Callable[[Array], tuple[float, Array]],
    start: Array,
    bounds: Any,
    max_iter: int,
    report: Any,
) -> Array:
    steps = 0

    def counted(_: Array) -> None:
        nonlocal steps
        steps += 1
        if report is not None:
            report(steps)

    found = minimize(
        objective,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        callback=counted,
        options={"maxiter": max_iter, "ftol": 1e-6, "gtol": 1e-5},
    )
    best: Array = found.x
    return best
