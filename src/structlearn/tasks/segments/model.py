"""A trained recogniser of segments as data: what it is made of, how it is stored and asked."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping

from ... import _core
from ...exceptions import LineError
from ...io.container import Tensor, check_dtype
from ...text.corpus import Corpus
from ...text.segment_templates import SegmentTemplates
from ..tagging.model import LabelModel

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

__all__ = ["SegmentModel"]

#: Array of the model -> what its items are.
_DTYPES = {
    "segment.slots": "U64",
    "segment.weight": "F32",
    "segment.outcome": "U32",
    "start": "F64",
    "end": "F64",
    "transition": "F64",
}


class SegmentModel(LabelModel):
    """All that finding segments needs: the labels are "O", then the types, sorted.

    Attributes
    ----------
    max_length : int
        Tokens of the longest segment.
    """

    task = "segments"
    called = "for segments"
    _templates = SegmentTemplates

    def __init__(self, *, max_length: int, **common: Any) -> None:
        super().__init__(**common)
        self.max_length = max_length
        labels = self.labels
        if labels[:1] != ["O"] or len(set(labels)) != len(labels):
            raise ValueError("the labels are not 'O' and types, each once")
        features = self.templates.compile_segments(self.format, self.n_columns)
        self.core = _core.SegmentModel(features, len(labels), max_length, self.arrays)
        #: How a label is written at the first token of a segment, and at the others.
        self.first = ["O", *(f"B-{label}" for label in labels[1:])]
        self.later = ["O", *(f"I-{label}" for label in labels[1:])]

    # -- files ----------------------------------------------------------------------------------

    def _content(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return what a model file holds."""
        description, tensors = self._common_content()
        for name, data in self.arrays.items():
            tensors[name] = Tensor(_DTYPES[name], data)
        return {**description, "max_length": self.max_length}, tensors

    @classmethod
    def _build(
        cls,
        name: str,
        d: dict[str, Any],
        tensors: dict[str, Tensor],
        functions: Mapping[str, Callable[[str], Any]] | None,
    ) -> SegmentModel:
        arrays: dict[str, Any] = {}
        for key, dtype in _DTYPES.items():
            check_dtype(key, tensors[key], dtype)
            arrays[key] = tensors[key].data
        common = cls._common(d, tensors, functions)
        return cls(**common, arrays=arrays, max_length=int(d["max_length"]))

    # -- labelling ------------------------------------------------------------------------------

    def label_corpus(self, corpus: Corpus, threads: int = 1) -> list[list[str]]:
        """Return the labels of the tokens of each sentence, in IOB2."""
        return [self.written(segments) for segments in self.segment_corpus(corpus, threads)]

    def written(self, segments: list[tuple[int, int, int]]) -> list[str]:
        """Return segments as labels of tokens, in IOB2."""
        row: list[str] = []
        for start, end, k in segments:
            row.append(self.first[k])
            row.extend([self.later[k]] * (end - start - 1))
        return row

    def segment_corpus(self, corpus: Corpus, threads: int = 1) -> list[list[tuple[int, int, int]]]:
        """Return the segments of each sentence: start, end and the number of the label."""
        try:
            numbers = array("i", self.core.predict(corpus._core, threads))
        except LineError as error:
            raise error.in_file(corpus.path or "the corpus") from None
        out: list[list[tuple[int, int, int]]] = []
        at = 0
        for s in range(len(corpus)):
            n = corpus._core.length(s)
            out.append(_segments(numbers[at : at + n]))
            at += n
        return out

    def kbest(
        self, corpus: Corpus, sentence: int, n: int
    ) -> list[tuple[float, list[tuple[int, int, int]]]]:
        """Return the n best segmentations of one sentence with their scores, best first."""
        found = self.core.kbest(corpus._core, sentence, n)
        return [(score, _segments(labels)) for score, labels in found]

    def marginals(
        self, corpus: Corpus, sentence: int, least: float
    ) -> dict[tuple[int, int, str], float]:
        """Return P(segment | sentence) where it is at least ``least``, start by start."""
        n_labels, width = len(self.labels), self.max_length
        p = array("d", self.core.marginals(corpus._core, sentence, self.temperature or 1.0))
        found = {}
        for i, probability in enumerate(p):
            if probability >= least:
                site, k = divmod(i, n_labels)
                start, d = divmod(site, width)
                found[start, start + d + 1, self.labels[k]] = probability
        return found


def _segments(labels: Any) -> list[tuple[int, int, int]]:
    """Return (start, end, label) of a row with a label where a segment begins, and −1 within."""
    starts = [t for t, k in enumerate(labels) if k >= 0]
    return [(a, b, labels[a]) for a, b in zip(starts, [*starts[1:], len(labels)], strict=True)]
