"""Probabilities of labelled spans and the best few trees of a sentence.

A tree has one derivation in the chart, so inside–outside sums over derivations are sums over trees:
P(tree | sentence) = exp(score − log Σ exp(scores of all trees)).
"""

from __future__ import annotations

import math

from ...text.trees import Tree, tree_from_spans
from .model import ConstituencyModel

TYPE_CHECKING = False  # importing typing costs more than parsing a sentence
if TYPE_CHECKING:
    from .treebank import Sentence

    #: Probability by (begin, end, label).
    Spans = dict[tuple[int, int, str], float]

__all__ = ["kbest_trees", "probability_of_best", "span_marginals"]


def kbest_trees(
    model: ConstituencyModel, words: list[str], tags: list[str], k: int
) -> list[tuple[float, Tree]]:
    """Return (score, tree) of the k best trees, best first."""
    if model.grammar is not None:
        return model.grammar.kbest(words, tags, k)
    return [
        (score, tree_from_spans(words, tags, [(i, j, model.labels[x]) for i, j, x in spans]))
        for score, spans in model.core.kbest(words, tags, k)
    ]


def span_marginals(
    model: ConstituencyModel, words: list[str], tags: list[str], least: float
) -> Spans:
    """Return P(a node with this label covers this span), those of at least ``least``."""
    found: Spans = {}
    if model.grammar is not None:
        found = model.grammar.marginals(words, tags)
    else:
        for i, j, x, p in model.core.marginals(words, tags, 0.0)[1]:
            for label in dict.fromkeys(model.labels[x]):  # a unary chain has each of its labels
                found[i, j, label] = found.get((i, j, label), 0.0) + p
    return {
        span: min(1.0, p)
        for span, p in sorted(found.items(), key=lambda s: (s[0][0], -s[0][1], s[0][2]))
        if p >= least and p > 0 and span[2]
    }


def probability_of_best(model: ConstituencyModel, words: list[str], tags: list[str]) -> float:
    """Return P(best tree | words)."""
    best = kbest_trees(model, words, tags, 1)[0][0]
    if model.grammar is not None:
        if best == -math.inf:  # the grammar derives nothing: the flat tree is a makeshift
            return 0.0
        return min(1.0, math.exp(best - model.grammar.log_partition(words, tags)))
    return min(1.0, math.exp(best - model.core.marginals(words, tags, 2.0)[0]))


def check_length(model: ConstituencyModel, sentence: Sentence) -> None:
    """Refuse a sentence whose chart would take gigabytes."""
    if len(sentence.words) > model.longest:
        raise sentence.place.error(
            f"has {len(sentence.words)} words; at most {model.longest} can be parsed: split it"
        )
