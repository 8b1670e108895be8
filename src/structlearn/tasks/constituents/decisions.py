"""Trees of constituents, compared as a whole: what each is scored by, by name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from ...models.decisions import compared
from .model import ConstituencyModel, spans_of
from .naming import SpanNames

_PLACES = ("first under", "in the middle under", "last under")


def comparison(model: ConstituencyModel, inputs: Any) -> Callable[[int, Any], Any]:
    """Return what compares trees.

    By the features of their spans and splits and the pairs of labels above each other; of a counted
    grammar by its rules.
    """

    def compare(i: int, best: Any) -> Any:
        words, tags = inputs.source[i]
        scored = _scored(model, words, tags)
        difference = compared(scored, best, words, lambda part: None)

        def against(part: None, rival: Any) -> Any:
            trees = [model.tree(inputs, i, y) for y in (best, rival)]
            told = {"position": None, "label": trees[0], "runner_up": trees[1]}
            return told, difference(part, rival)

        return against

    return compare


def _scored(
    model: ConstituencyModel, words: list[str], tags: list[str]
) -> Callable[[Any], dict[Any, dict[str, float]]]:
    """Return a function from a tree to what it is scored by: name to score, at no place."""
    labels = ["+".join(chain) for chain in model.labels]
    symbols = [*labels, *model.tags, "other tag"]
    names = SpanNames(words, tags, labels)

    def scored(output: Any) -> dict[Any, dict[str, float]]:
        found: defaultdict[str, float] = defaultdict(float)
        spans = list(spans_of(output))
        if model.grammar is not None:
            for rule, score in model.grammar.rules(words, tags, spans):
                found[rule] += score
            return {None: found}
        sites, pairs = model.core.parts(words, tags, spans)
        for *where, _, weights in sites:
            for name, weight in zip(names.named(*where), weights, strict=True):
                found[name] += weight
        for place, symbol, parent, weight in pairs:
            above = "on top" if place == len(_PLACES) else f"{_PLACES[place]} {labels[parent]}"
            found[f"{symbols[symbol]} {above}"] += weight
        return {None: found}

    return scored
