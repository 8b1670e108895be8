"""Segmentations, compared: what each is scored by, by name."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from ...models.decisions import compared
from ...text.corpus import Corpus
from .model import SegmentModel

__all__ = ["comparison"]


def comparison(model: SegmentModel, corpus: Corpus) -> Callable[[int, Any], Any]:
    """Return what compares segmentations of a corpus, segment by segment.

    The runner-up is the segments that the other segmentation has in the place of one.
    """

    def compare(s: int, best: Any) -> Any:
        words = corpus.cells(s, 1 if model.format == "conllu" else 0)
        segments = model.segments(best)
        scored = _scored(model, corpus, s)
        difference = compared(scored, best, words, lambda part: segments[part][:2])

        def against(part: int, rival: Any) -> Any:
            begin, end, _ = segments[part]
            others = None
            if rival is not None:
                others = [one for one in model.segments(rival) if one[0] < end and begin < one[1]]
            told = {"position": begin, "token": " ".join(words[begin:end])}
            return {**told, "label": segments[part], "runner_up": others}, difference(part, rival)

        return against

    return compare


def _scored(
    model: SegmentModel, corpus: Corpus, s: int
) -> Callable[[Any], dict[tuple[Any, str], float]]:
    """Return a function from a segmentation to what it is scored by: (place, name) to score."""
    named, n = model.labels, len(model.labels)
    start, end, transition = (
        array("d", bytes(model.arrays[name])) for name in ("start", "end", "transition")
    )
    known: dict[tuple[int, int, int], list[tuple[str, float]]] = {}

    def scored(output: Any) -> dict[tuple[Any, str], float]:
        starts = [t for t, k in enumerate(output) if k >= 0]
        places = list(pairwise([*starts, len(output)]))
        labels = [output[t] for t in starts]
        found = {
            (places[0], f"first label {named[labels[0]]}"): start[labels[0]],
            (places[-1], f"last label {named[labels[-1]]}"): end[labels[-1]],
        }
        for place, (a, b) in zip(places[1:], pairwise(labels), strict=True):
            found[place, f"labels {named[a]} {named[b]}"] = transition[a * n + b]
        for place, k in zip(places, labels, strict=True):
            segment = (*place, k)
            if segment not in known:
                (known[segment],) = model.core.explain(corpus.core, s, [segment])
            for name, weight in known[segment]:
                found[place, name] = found.get((place, name), 0.0) + weight
        return found

    return scored
