"""Probabilities of arcs and the best few trees, under a parser of order 1.

The scores of arcs with their relations are sums over all trees away: the matrix-tree theorem, or
inside–outside for projective trees. Arcs that the pruner leaves out have probability 0. With
siblings and grandparents (order 2) there are no exact sums.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ...exceptions import CapabilityError
from ...structures.trees.arborescence import Arborescence
from ...text.corpus import Corpus
from .model import ParserModel

__all__ = ["ArcScores", "kbest_trees", "marginals_of", "probability_of"]


class ArcScores:
    """The scores of a sentence's arcs: (n + 1, n + 1, R), −∞ for those that are left out.

    Parameters
    ----------
    sentence : int
        Of the corpus.
    tags : list
        As the native parser takes them.
    """

    def __init__(self, model: ParserModel, corpus: Corpus, tags: list[Any], sentence: int) -> None:
        if model.order != 1:
            raise CapabilityError(
                "a parser of order 2 scores pairs of arcs: over non-projective trees there are no "
                "exact sums of them, and over projective ones they are not built. What works: "
                "predict, and with order=1 marginals and the k best trees"
            )
        heads, words, labels = model.core.arcs(corpus._core, tags, model.lemmas, sentence)
        n = corpus._core.length(sentence) + 1
        self.head = np.frombuffer(heads, np.uint16).astype(np.intp)
        self.word = np.frombuffer(words, np.uint16).astype(np.intp)
        self.label = np.frombuffer(labels, np.float64).reshape(len(self.head), -1)
        self.arc = np.full((n, n), -np.inf)
        top = self.label.max(axis=1)
        sums = np.exp(self.label - top[:, np.newaxis]).sum(axis=1)
        self.arc[self.head, self.word] = top + np.log(sums)
        self.structure = Arborescence(model.projective)

    def dense(self) -> npt.NDArray[np.float64]:
        """Return the scores of all arcs with all relations."""
        out = np.full((*self.arc.shape, self.label.shape[1]), -np.inf)
        out[self.head, self.word] = self.label
        return out


def marginals_of(
    scores: ArcScores, names: list[str], least: float
) -> list[dict[tuple[int, str], float]]:
    """Return P(head, relation) of each word, those of at least ``least``.

    P(h → m, r) = P(h → m) · softmax over relations of the arc's scores.
    """
    p = scores.structure.marginals(arc=scores.arc)["arc"][scores.head, scores.word]
    shares = np.exp(scores.label - scores.arc[scores.head, scores.word][:, np.newaxis])
    found: list[dict[tuple[int, str], float]] = [{} for _ in range(len(scores.arc) - 1)]
    joint = p[:, np.newaxis] * shares
    for arc, label in np.argwhere(joint >= max(least, 1e-300)).tolist():
        place = (int(scores.head[arc]), names[label])
        found[scores.word[arc] - 1][place] = min(1.0, float(joint[arc, label]))
    return found


def kbest_trees(
    scores: ArcScores, names: list[str], k: int
) -> list[tuple[float, list[tuple[int, str]]]]:
    """Return the k best trees with their scores, best first."""
    found = scores.structure.kbest(k, arc=scores.dense())
    return [
        (value, [(int(h), names[r]) for h, r in zip(heads, labels, strict=True)])
        for value, (heads, labels) in found
    ]


def probability_of(
    scores: ArcScores, names: list[str], tree: list[tuple[int, str]] | None = None
) -> float:
    """Return P(tree | sentence); by default of the best tree."""
    total = scores.structure.log_partition(arc=scores.arc)
    dense = scores.dense()
    if tree is None:
        return min(1.0, math.exp(scores.structure.solve(arc=dense).value - total))
    if len(tree) != len(scores.arc) - 1:
        raise ValueError(f"the sentence has {len(scores.arc) - 1} words, the tree {len(tree)}")
    index = {name: r for r, name in enumerate(names)}
    heads = np.array([head for head, _ in tree], dtype=np.intp)
    if any(name not in index for _, name in tree):
        return 0.0  # a relation that the model does not have
    labels = np.array([index[name] for _, name in tree], dtype=np.intp)
    return min(1.0, math.exp(scores.structure.score((heads, labels), arc=dense) - total))
