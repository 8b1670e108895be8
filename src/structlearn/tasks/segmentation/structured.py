"""Weights of pixels and of their neighbours learned together, by whole segmentations."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from .model import in_parallel
from .scenes import Scene

__all__ = ["learn_together"]

Array = npt.NDArray[np.float64]

#: Images a step; the same whatever the number of threads.
_BATCH = 4
_RATE = 0.05
_PAIR_RATE = 0.1


def learn_together(
    scenes: Sequence[Scene],
    label: Array,
    pair: Array,
    *,
    margin: float,
    decay: float,
    passes: int,
    threads: int,
    seed: int,
    after_pass: Callable[[int, float, Array, Array], bool],
) -> None:
    """Descend on the structured hinge (margin > 0) or the perceptron's loss (margin 0).

    Loss of an image: max_y [score(y) + margin·wrong(y)] − max over y that agree with the known
    pixels of score(y), divided by its pixels; wrong counts known pixels only, so that void ones are
    hidden variables (Yu & Joachims 2009). Steps of AdaGrad on batches of images; weights of
    pairs are projected to be at least 0, which keeps every search a cut or a series of cuts. The
    weights handed out are means, later steps counting more (Shamir & Zhang 2013).

    Parameters
    ----------
    label, pair : arrays
        Where to begin, and where weights of labels are drawn to by decay.
    after_pass : callable
        Told the pass from 1, the share of pixels wrong in the searches, and the mean weights;
        whether to end.
    """
    rng = np.random.default_rng(seed)
    weights, strengths = label.copy(), pair.copy()
    squares, pair_squares = np.full_like(label, 1e-10), np.full_like(pair, 1e-10)
    mean, pair_mean = label.copy(), pair.copy()
    steps = 0
    for number in range(1, passes + 1):
        order = rng.permutation(len(scenes))
        wrong = total = 0
        for at in range(0, len(order), _BATCH):
            batch = [scenes[e] for e in order[at : at + _BATCH]]
            single = weights.astype(np.float32)

            def one(scene: Scene, w: npt.NDArray[np.float32] = single) -> tuple[Array, Array, int]:
                return _gradient(scene, w, strengths, margin)  # noqa: B023

            found = in_parallel(one, batch, threads)
            gradient, pair_gradient = decay * (weights - label), np.zeros_like(strengths)
            for scene, (by_label, by_pair, errors) in zip(batch, found, strict=True):
                gradient += by_label / len(batch)
                pair_gradient += by_pair / len(batch)
                wrong += errors
                total += int(scene.known.sum())
            squares += gradient**2
            pair_squares += pair_gradient**2
            weights = weights - _RATE * gradient / np.sqrt(squares)
            strengths = np.maximum(
                0.0, strengths - _PAIR_RATE * pair_gradient / np.sqrt(pair_squares)
            )
            steps += 1
            share = min(1.0, 3.0 / (steps + 2.0))
            mean += share * (weights - mean)
            pair_mean += share * (strengths - pair_mean)
        if after_pass(number, wrong / max(total, 1), mean.copy(), pair_mean.copy()):
            return


def _gradient(
    scene: Scene, weights: npt.NDArray[np.float32], strengths: Array, margin: float
) -> tuple[Array, Array, int]:
    """Return the subgradient by both kinds of weights, and the number of wrong known pixels."""
    rows, sites = scene.rows(), scene.sites
    scores = (rows @ weights).astype(np.float64)
    strength = sites.pairs @ strengths
    gold = scene.completed(scores, strength)
    if margin:
        scene.add_cost(scores, margin)
    found = sites.best(scores, strength)
    differ = np.flatnonzero(found != gold)
    signs = np.zeros((len(differ), weights.shape[1]), dtype=np.float32)
    at = np.arange(len(differ))
    signs[at, found[differ]] = 1.0
    signs[at, gold[differ]] -= 1.0
    by_label = (rows[differ].T @ signs).astype(np.float64)
    first, second = sites.ends.T
    apart = (gold[first] != gold[second]).astype(np.float64) - (found[first] != found[second])
    by_pair = apart @ sites.pairs
    pixels = sites.spread(found).ravel()
    errors = int((pixels != scene.gold)[scene.known].sum())
    return by_label / scene.n_pixels, by_pair / scene.n_pixels, errors
