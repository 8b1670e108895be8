"""ufal.chu_liu_edmonds: a compiled Chu-Liu/Edmonds (from TurboParser), any number of roots."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from ufal.chu_liu_edmonds import chu_liu_edmonds

__all__ = ["argmax", "prepare"]

Array = npt.NDArray[np.float64]


def prepare(arc: Array) -> Array:
    """Return the scores in its layout [word, head], with NaN for missing arcs."""
    scores = arc.T.copy()
    scores[0] = np.nan
    np.fill_diagonal(scores, np.nan)
    return scores


def argmax(scores: list[Array]) -> list[list[int]]:
    """Return the heads of each sentence, the root's own entry first."""
    return [chu_liu_edmonds(table)[0] for table in scores]
