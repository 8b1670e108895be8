"""Why a tagger of segments cuts a sentence as it does."""

from __future__ import annotations

from array import array
from collections import defaultdict
from itertools import pairwise
from typing import Any

from ...models.inputs import NativeInputs
from ...text.corpus import Corpus
from .model import SegmentModel

__all__ = ["explain"]

Segment = tuple[int, int, int]


def explain(
    model: SegmentModel, inputs: NativeInputs, temperature: float, threads: int
) -> list[list[dict[str, Any]]]:
    """Return for each segment of each best segmentation what decided it.

    It is compared with the best segmentation that does not have this segment: the margin is the
    difference of their scores, a sum over the features of the segments, and over the pairs of
    labels, in which they differ.

    Returns
    -------
    list of list of dict
        position, token (the words), label (start, end, type), runner_up (the segments that the
        other segmentation has there), probability, margin, contributions: (name, value).
    """
    outputs = inputs.solve(threads).outputs
    probabilities = inputs.certainties(outputs, temperature, threads)
    rivals = inputs.rivals(threads)
    return [
        _explain_sentence(model, inputs.source, *row)
        for row in zip(range(len(inputs)), outputs, probabilities, rivals, strict=True)
    ]


def _explain_sentence(
    model: SegmentModel,
    corpus: Corpus,
    sentence: int,
    output: Any,
    probabilities: list[float],
    rivals: list[list[int]],
) -> list[dict[str, Any]]:
    words = corpus.cells(sentence, 1 if model.format == "conllu" else 0)
    parts = _Parts(model, corpus, sentence, words)
    best = _numbered(output)
    decisions = []
    for (begin, end, k), p, rival in zip(best, probabilities, rivals, strict=True):
        if not rival:
            continue  # there is no other segmentation
        other = _numbered(rival)
        ranked = parts.difference(best, other, begin, end)
        decisions.append(
            {
                "position": begin,
                "token": " ".join(words[begin:end]),
                "label": (begin, end, model.labels[k]),
                "runner_up": [
                    (a, b, model.labels[j]) for a, b, j in other if a < end and begin < b
                ],
                "probability": p,
                "margin": float(sum(value for _, value in ranked)),
                "contributions": ranked,
            }
        )
    return decisions


def _numbered(output: Any) -> list[Segment]:
    """Return (start, end, number of the label) of the segments of an output."""
    starts = [t for t, k in enumerate(output) if k >= 0]
    return [(a, b, output[a]) for a, b in pairwise([*starts, len(output)])]


class _Parts:
    """What the segmentations of a sentence are scored by, by name."""

    def __init__(self, model: SegmentModel, corpus: Corpus, sentence: int, words: list[str]):
        self._model, self._words = model, words
        self._given = (corpus.core, sentence)
        self._known: dict[Segment, list[tuple[str, float]]] = {}
        self._tables = {
            name: array("d", bytes(model.arrays[name])) for name in ("start", "end", "transition")
        }

    def difference(
        self, mine: list[Segment], theirs: list[Segment], begin: int, end: int
    ) -> list[tuple[str, float]]:
        """Return what adds to the difference of two scores, the largest first."""
        found: dict[str, float] = defaultdict(float)
        begin, end = _stretch(set(mine) ^ set(theirs), begin, end)
        for segments, sign in ((set(mine) - set(theirs), 1.0), (set(theirs) - set(mine), -1.0)):
            for a, b, k in sorted(segments):
                # Features of segments elsewhere are told apart.
                where = "" if a < end and begin < b else f"at {self._words[a]!r}: "
                for name, weight in self._features((a, b, k)):
                    shown = where + name
                    if sign < 0 and shown not in found:
                        shown = f"runner-up: {shown}"
                    found[shown] += sign * weight
        for segmentation, sign in ((mine, 1.0), (theirs, -1.0)):
            for name, score in self._pairs([k for _, _, k in segmentation]):
                found[name] += sign * score
        ranked = sorted(found.items(), key=lambda part: (-abs(part[1]), part[0]))
        return [(name, value) for name, value in ranked if value]

    def _features(self, segment: Segment) -> list[tuple[str, float]]:
        if segment not in self._known:
            (self._known[segment],) = self._model.core.explain(*self._given, [segment])
        return self._known[segment]

    def _pairs(self, labels: list[int]) -> list[tuple[str, float]]:
        named, tables, n = self._model.labels, self._tables, len(self._model.labels)
        found = [(f"first label {named[labels[0]]}", tables["start"][labels[0]])]
        found.append((f"last label {named[labels[-1]]}", tables["end"][labels[-1]]))
        for a, b in pairwise(labels):
            found.append((f"labels {named[a]} {named[b]}", tables["transition"][a * n + b]))
        return found


def _stretch(segments: set[Segment], begin: int, end: int) -> tuple[int, int]:
    """Return the stretch around a segment in which two segmentations overlap without a break."""
    while True:
        touched = [(a, b) for a, b, _ in segments if a < end and begin < b]
        wider = min([begin, *(a for a, _ in touched)]), max([end, *(b for _, b in touched)])
        if wider == (begin, end):
            return begin, end
        begin, end = wider
