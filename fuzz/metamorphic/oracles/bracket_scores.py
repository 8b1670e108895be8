"""Labelled brackets as evalb compares them with the parameters of Collins.

A bracket is a label over the words that remain without punctuation, by the gold tags.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Bracket = tuple[str, tuple[int, ...]]
DELETED_TAGS = (",", ":", "``", "''", ".")
DELETED_LABELS = ("", "TOP", "S1", "ROOT")


def brackets(tree: Any, gold_tags: Sequence[str]) -> list[Bracket]:
    """Return the brackets of a tree, those without a word and the outermost names left out."""
    spans: list[Bracket] = []
    place = 0

    def walk(node: Any) -> tuple[int, ...]:
        nonlocal place
        if node.word is not None:
            place += 1
            return () if gold_tags[place - 1] in DELETED_TAGS else (place - 1,)
        words = tuple(word for child in node.children for word in walk(child))
        if words and node.label not in DELETED_LABELS:
            spans.append(("ADVP" if node.label == "PRT" else node.label, words))
        return words

    walk(tree)
    return spans


def bracket_scores(gold: Sequence[Any], predicted: Sequence[Any]) -> dict[str, float]:
    """Return f1, precision, recall and exact_match of trees, and the accuracy of their tags."""
    matched = n_gold = n_predicted = exact = right = words = 0
    for truth, guess in zip(gold, predicted, strict=True):
        tags = [leaf.label for leaf in truth.leaves()]
        a, b = brackets(truth, tags), brackets(guess, tags)
        n_gold, n_predicted = n_gold + len(a), n_predicted + len(b)
        exact += sorted(a) == sorted(b)
        for bracket in b:  # each gold one counts once
            if bracket in a:
                a.remove(bracket)
                matched += 1
        words += len(tags)
        right += sum(x == y.label for x, y in zip(tags, guess.leaves(), strict=True))
    precision = matched / n_predicted if n_predicted else 0.0
    recall = matched / n_gold if n_gold else 0.0
    both = precision + recall
    return {
        "f1": 2 * precision * recall / both if both else 0.0, "precision": precision,
        "recall": recall, "exact_match": exact / len(gold), "tag_accuracy": right / words,
    }  # fmt: skip
