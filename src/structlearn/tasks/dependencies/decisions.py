"""Dependency trees, compared: what each is scored by, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...models.decisions import compared
from ...models.inputs import NativeInputs
from .model import ParserModel
from .naming import ArcNames, arc_names


def comparison(model: ParserModel, inputs: NativeInputs) -> Callable[[int, Any], Any]:
    """Return what compares trees, arc by arc."""
    corpus, tags = inputs.source.corpus, inputs.source.tags
    names = arc_names(corpus, tags)

    def compare(s: int, best: Any) -> Any:
        given = (corpus.core, tags, model.lemmas, s)
        words, arcs = inputs.source.words[s], model.arcs(best)
        scored = _scored(model, given, names[s], words)
        difference = compared(scored, best, words, lambda m: (m, m + 1))

        def against(m: int, rival: Any) -> Any:
            other = None if rival is None else model.arcs(rival)[m]
            told = {"position": m, "token": words[m], "label": arcs[m], "runner_up": other}
            return told, difference(m, rival)

        return against

    return compare


def _scored(
    model: ParserModel, given: tuple[Any, Any, bool, int], named: ArcNames, words: list[str]
) -> Callable[[Any], dict[Any, dict[str, float]]]:
    """Return a function from a tree to what it is scored by: place and name to score.

    What an arc is scored by is at its word; pairs of arcs say where they are.
    """
    shown = ["ROOT", *(f"{m} {word}" for m, word in enumerate(words, 1)), "nothing"]  # of −1

    def scored(output: Any) -> dict[Any, dict[str, float]]:
        n = len(output) // 2
        heads, labels = list(output[:n]), list(output[n:])
        found: dict[Any, dict[str, float]] = {None: {}}
        for m, row in enumerate(model.core.reasons(*given, heads, labels)):
            arc: dict[str, float] = {}
            found[m, m + 1] = arc
            for name, weight in row:
                feature = named.named(name, heads[m], m + 1)
                arc[feature] = arc.get(feature, 0.0) + weight
        pairs = found[None]
        siblings, grandparents = model.core.pairs(*given, heads)
        for head, before, word, weight in siblings:
            first = "nothing" if before == head else shown[before]
            pair = f"under {shown[head]}: {first}, then {shown[word]}"
            pairs[pair] = pairs.get(pair, 0.0) + weight  # before the head, and after it
        for above, head, word, weight in grandparents:
            pairs[f"{shown[word]} under {shown[head]} under {shown[above]}"] = weight
        return found

    return scored
