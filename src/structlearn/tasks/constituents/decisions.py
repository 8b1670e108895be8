"""Why a parser prefers its tree to the runner-up."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from .model import ConstituencyModel, spans_of
from .naming import SpanNames

__all__ = ["explain"]

Spans = list[tuple[int, int, int]]

_PLACES = ("first under", "in the middle under", "last under")


def explain(model: ConstituencyModel, inputs: Any, threads: int) -> list[list[dict[str, Any]]]:
    """Return what puts the best tree of each sentence before the second best.

    Returns
    -------
    list of list of dict
        One, or none where there is no other tree: position (None), label and runner_up (trees),
        margin, contributions: (name, value), the largest (by its absolute value) first. They are
        what the features of the spans and splits in which the trees differ, and the pairs of labels
        above each other, add to the margin; of a counted grammar the rules.
    """
    rows: list[list[dict[str, Any]]] = []
    for i, ranked in enumerate(inputs.kbest(2, threads)):
        rows.append([])
        if len(ranked) < 2:
            continue
        (score, best), (less, rival) = ranked
        trees = [list(spans_of(output)) for output in (best, rival)]
        words, tags = inputs.source[i]
        if model.grammar is not None:
            added = model.grammar.difference(words, tags, *trees)
        else:
            added = _added(model, words, tags, trees)
        by_size = sorted(added.items(), key=lambda part: (-abs(part[1]), part[0]))
        rows[-1].append(
            {
                "position": None,
                "label": model.tree(inputs, i, best),
                "runner_up": model.tree(inputs, i, rival),
                "margin": score - less,
                "contributions": [(name, value) for name, value in by_size if value],
            }
        )
    return rows


def _added(
    model: ConstituencyModel, words: list[str], tags: list[str], trees: list[Spans]
) -> dict[str, float]:
    """Return what adds to the difference of the scores of two trees."""
    labels = ["+".join(chain) for chain in model.labels]
    symbols = [*labels, *model.tags, "other tag"]
    names = SpanNames(words, tags, labels)
    (mine, my_pairs), (theirs, their_pairs) = (model.core.parts(words, tags, t) for t in trees)
    found: dict[str, float] = defaultdict(float)
    both = {site[:5] for site in mine} & {site[:5] for site in theirs}
    for sites, before, sign in ((mine, "", 1.0), (theirs, "runner-up: ", -1.0)):
        for *where, _, weights in sites:
            if tuple(where) not in both:
                for name, weight in zip(names.named(*where), weights, strict=True):
                    found[before + name] += sign * weight
    for pairs, sign in ((my_pairs, 1.0), (their_pairs, -1.0)):
        for place, symbol, parent, weight in pairs:
            above = "on top" if place == len(_PLACES) else f"{_PLACES[place]} {labels[parent]}"
            found[f"{symbols[symbol]} {above}"] += sign * weight
    return found
