"""Loopy sum-product on a grid in NumPy: all messages of a direction at once, as logarithms."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["beliefs"]

Array = npt.NDArray[np.float64]


def _log_sum(x: Array) -> Array:
    top = x.max(axis=-2)
    total: Array = top + np.log(np.exp(x - top[..., np.newaxis, :]).sum(axis=-2))
    return total


def beliefs(label: Array, table: Array, max_rounds: int, tolerance: float) -> tuple[Array, int]:
    """Return the beliefs (H, W, K) and the number of rounds; each recomputes every message.

    Parameters
    ----------
    label : (H, W, K) array
        Scores of labels.
    table : (K, K) array
        Scores of neighbours, right and down.
    """
    shape = label.shape
    # The messages to each pixel from the left, the right, above and below.
    heard = {side: np.zeros(shape) for side in ("left", "right", "up", "down")}
    for rounds in range(1, max_rounds + 1):  # noqa: B007
        total = label + sum(heard.values())
        new = {side: np.zeros(shape) for side in heard}
        for side, mine, theirs, back, scores in (
            ("left", np.s_[:, 1:], np.s_[:, :-1], "right", table),
            ("right", np.s_[:, :-1], np.s_[:, 1:], "left", table.T),
            ("up", np.s_[1:], np.s_[:-1], "down", table),
            ("down", np.s_[:-1], np.s_[1:], "up", table.T),
        ):
            sender = (total - heard[back])[theirs]
            message = _log_sum(sender[..., :, np.newaxis] + scores)
            new[side][mine] = message - message.max(axis=-1, keepdims=True)
        change = max(np.abs(np.exp(new[s]) - np.exp(heard[s])).max() for s in heard)
        heard = new
        if change <= tolerance:
            break
    total = label + sum(heard.values())
    p = np.exp(total - total.max(axis=-1, keepdims=True))
    return p / p.sum(axis=-1, keepdims=True), rounds
