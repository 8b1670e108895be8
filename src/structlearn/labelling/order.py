"""Doubt: how little a tagger knows of each text, and the order in which texts are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import Any

import numpy as np
import numpy.typing as npt

#: What texts are ordered by -> what it is.
DOUBTS = {
    "tokens": "the entropy of the labels, divided by the number of tokens: the doubt that a token "
    "of work takes away",
    "margin": "how close the second best output comes to the best one: its probability divided by "
    "that of the best",
    "whole": "1 - the probability of the best output: long texts first",
}
#: All orders: doubt, as the file has the texts, by chance.
ORDERS = (*DOUBTS, "plain", "random")


def doubts(
    tagger: Any, sentences: Sequence[Sequence[Any]], by: str = "tokens"
) -> npt.NDArray[np.float64]:
    """Return the doubt of a tagger with a log loss about each sentence.

    Parameters
    ----------
    tagger : Tagger
        Its probabilities are taken as they are, at temperature 1.
    sentences : sequence of sequences of tokens
    by : {"tokens", "margin", "whole"}
        What doubt is: see :data:`DOUBTS`.
    """
    if by not in DOUBTS:
        raise ValueError(f"by must be one of {', '.join(DOUBTS)}, got {by!r}")
    rows = [list(sentence) for sentence in sentences]
    if by == "tokens":
        entropies = tagger.entropy(rows, temperature=1.0)
        sizes = [max(1, len(sentence)) for sentence in rows]
        means: npt.NDArray[np.float64] = np.maximum(0.0, np.array(entropies)) / np.array(sizes)
        return means
    if by == "margin":
        ranked = tagger.predict_kbest(rows, 2)
        return np.array([_closeness([score for score, _ in one]) for one in ranked])
    return 1 - np.array(tagger.predict_proba(rows, temperature=1.0), dtype=np.float64)


def _closeness(scores: Sequence[float]) -> float:
    """Return the probability of the second best output divided by that of the best."""
    return exp(scores[1] - scores[0]) if len(scores) > 1 else 0.0
