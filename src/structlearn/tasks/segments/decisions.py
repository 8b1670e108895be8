"""Segmentations, compared: what each is scored by, by name."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

from ...models.decisions import compared
from ...text.corpus import Corpus
from .model import SegmentModel


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
) -> Callable[[Any], dict[Any, dict[str, float]]]:
    """Return a function from a segmentation to what it is scored by: place and name to score."""
    named, n = model.labels, len(model.labels)
    start, end, transition = (
        array("d", bytes(model.arrays[name])) for name in ("start", "end", "transition")
    )

    @cache
    def at(place: tuple[int, int], k: int, before: int, last: bool) -> dict[str, float]:
        """Return the scores of a segment; the label before is −1 if it is the first one."""
        found = {}
        if before < 0:
            found[f"first label {named[k]}"] = start[k]
        else:
            found[f"labels {named[before]} {named[k]}"] = transition[before * n + k]
        if last:
            found[f"last label {named[k]}"] = end[k]
        for name, weight in model.core.explain(corpus.core, s, [(*place, k)])[0]:
            found[name] = found.get(name, 0.0) + weight
        return found

    def scored(output: Any) -> dict[Any, dict[str, float]]:
        starts = [t for t, k in enumerate(output) if k >= 0]
        places = list(pairwise([*starts, len(output)]))
        labels = [output[t] for t in starts]
        before = [-1, *labels]
        return {
            place: at(place, k, b, place[1] == len(output))
            for place, k, b in zip(places, labels, before, strict=False)
        }

    return scored
