"""Predicted trees against gold ones: brackets as evalb counts them, tags, speed."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

from ...metrics.brackets import BracketCounts, bracket_counts, counted_brackets
from ...text.trees import Tree
from .model import ConstituencyModel

__all__ = ["evaluate_trees", "label_scores", "label_table", "score_trees"]

#: The length up to which parsers are traditionally compared.
_SHORT = 40


def score_trees(
    model: ConstituencyModel, gold: Sequence[Tree], gold_tags: bool, threads: int
) -> tuple[BracketCounts, list[Tree]]:
    """Parse the words of gold trees; return the counts of all, and the trees."""
    words = [tree.words for tree in gold]
    tags = [tree.tags for tree in gold] if gold_tags else model.tag(words, threads)
    trees = model.parse(list(zip(words, tags, strict=True)), threads)
    total = BracketCounts()
    for a, b in zip(gold, trees, strict=True):
        total = total.plus(bracket_counts(a.spans(), b.spans(), a.tags))
    return total, trees


def evaluate_trees(
    model: ConstituencyModel, gold: Sequence[Tree], gold_tags: bool, threads: int
) -> tuple[dict[str, Any], list[Tree]]:
    """Return the scores by name, and the predicted trees."""
    begin = time.perf_counter()
    counts, trees = score_trees(model, gold, gold_tags, threads)
    seconds = max(time.perf_counter() - begin, 1e-9)
    short = BracketCounts()
    right = tokens = 0
    for a, b in zip(gold, trees, strict=True):
        tags = a.tags
        if len(tags) <= _SHORT:
            short = short.plus(bracket_counts(a.spans(), b.spans(), tags))
        right += sum(x == y for x, y in zip(tags, b.tags, strict=True))
        tokens += len(tags)
    result = {
        "f1": counts.f1,
        "precision": counts.precision,
        "recall": counts.recall,
        "exact_match": counts.exact / counts.sentences,
        f"f1_{_SHORT}": short.f1 if short.sentences else None,
        f"precision_{_SHORT}": short.precision if short.sentences else None,
        f"recall_{_SHORT}": short.recall if short.sentences else None,
        f"exact_match_{_SHORT}": short.exact / short.sentences if short.sentences else None,
        "by_label": label_scores(gold, trees),
        "tag_accuracy": right / tokens,
        "gold_tags": gold_tags,
        "sentences": counts.sentences,
        f"sentences_{_SHORT}": short.sentences,
        "tokens": tokens,
        "sentences_per_second": counts.sentences / seconds,
        "tokens_per_second": tokens / seconds,
    }
    if model.grammar is not None:
        result["underivable"] = _underivable(model, trees)
    return result, trees


def _underivable(model: ConstituencyModel, trees: Sequence[Tree]) -> int:
    """Return how many sentences got a flat tree because the grammar derives none."""
    assert model.grammar is not None
    flat = [tree for tree in trees if len(set(tree.spans())) <= 1]
    return sum(model.grammar.log_partition(t.words, t.tags) == -math.inf for t in flat)


def label_scores(gold: Sequence[Tree], trees: Sequence[Tree]) -> dict[str, dict[str, float]]:
    """Return precision, recall, F1 and number of gold brackets by label, most frequent first."""
    matched: Counter[str] = Counter()
    wanted: Counter[str] = Counter()
    found: Counter[str] = Counter()
    for a, b in zip(gold, trees, strict=True):
        tags = a.tags
        one, other = counted_brackets(a.spans(), tags), counted_brackets(b.spans(), tags)
        for counter, brackets in ((wanted, one), (found, other), (matched, one & other)):
            for (_, _, label), times in brackets.items():
                counter[label] += times
    scores = {}
    for label in sorted({*wanted, *found}, key=lambda k: (-wanted[k], k)):
        counts = BracketCounts(matched[label], wanted[label], found[label])
        scores[label] = {
            "precision": counts.precision,
            "recall": counts.recall,
            "f1": counts.f1,
            "gold": wanted[label],
        }
    return scores


def label_table(gold: Sequence[Tree], trees: Sequence[Tree]) -> str:
    """Return the scores by label as lines of text."""
    lines = [f"{'label':<10} {'precision':>9} {'recall':>9} {'F1':>9} {'gold':>7}"]
    for label, s in label_scores(gold, trees).items():
        lines.append(
            f"{label:<10} {100 * s['precision']:>9.2f} {100 * s['recall']:>9.2f} "
            f"{100 * s['f1']:>9.2f} {s['gold']:>7}"
        )
    return "\n".join(lines)
