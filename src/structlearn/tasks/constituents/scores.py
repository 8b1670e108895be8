"""Predicted trees against gold ones: brackets as evalb counts them, tags, speed."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from typing import Any

from ...metrics.brackets import BracketCounts, bracket_scores, brackets_by_label
from ...metrics.scores import Scores
from ...text.trees import Tree
from .model import ConstituencyModel

#: The length up to which parsers are traditionally compared.
_SHORT = 40


def score_trees(
    model: ConstituencyModel, gold: Sequence[Tree], gold_tags: bool, threads: int
) -> tuple[BracketCounts, list[tuple[float, Tree]]]:
    """Parse the words of gold trees; return the counts of all, and the trees with their scores."""
    words = [tree.words for tree in gold]
    tags = [tree.tags for tree in gold] if gold_tags else model.tag(words, threads)
    best = model.parse(list(zip(words, tags, strict=True)), threads)
    pairs = ((tree, found) for tree, (_, found) in zip(gold, best, strict=True))
    return bracket_scores(*_compared(pairs)), best


def _compared(pairs: Iterable[tuple[Tree, Tree]]) -> tuple[list[Any], list[Any], list[Any]]:
    """Return the spans of gold trees, those of predicted ones, and the gold tags."""
    both = list(pairs)
    return [a.spans() for a, _ in both], [b.spans() for _, b in both], [a.tags for a, _ in both]


def evaluate_trees(
    model: ConstituencyModel, gold: Sequence[Tree], gold_tags: bool, threads: int
) -> tuple[dict[str, Any], dict[str, Scores]]:
    """Return the scores by name, and those of each label."""
    begin = time.perf_counter()
    counts, best = score_trees(model, gold, gold_tags, threads)
    seconds = max(time.perf_counter() - begin, 1e-9)
    pairs = [(tree, found) for tree, (_, found) in zip(gold, best, strict=True)]
    short = bracket_scores(*_compared(p for p in pairs if len(p[0].tags) <= _SHORT))
    by_label = brackets_by_label(*_compared(pairs))
    right = [x == y for a, b in pairs for x, y in zip(a.tags, b.tags, strict=True)]
    result = {
        **_ratios(counts, ""),
        **_ratios(short, f"_{_SHORT}"),
        "by_label": {label: scores.as_dict() for label, scores in by_label.items()},
        "tag_accuracy": sum(right) / len(right),
        "gold_tags": gold_tags,
        "sentences": counts.sentences,
        f"sentences_{_SHORT}": short.sentences,
        "tokens": len(right),
        "sentences_per_second": counts.sentences / seconds,
        "tokens_per_second": len(right) / seconds,
    }
    if model.grammar is not None:
        result["underivable"] = sum(score == -math.inf for score, _ in best)
    return result, by_label


def _ratios(counts: BracketCounts, ending: str) -> dict[str, float | None]:
    ratios = {name: getattr(counts, name) for name in ("f1", "precision", "recall", "exact_match")}
    return {name + ending: x if counts.sentences else None for name, x in ratios.items()}
