"""A trained recogniser of segments as data: what it is made of, how it is stored and asked."""

from __future__ import annotations

import itertools

from ... import _core
from ...io.container import Tensor, checked_arrays
from ...models.inputs import NativeInputs
from ...models.label_constraints import segment_sequences
from ...text.corpus import Corpus
from ..tagging.model import LabelModel

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

#: Array of the model -> what its items are.
_DTYPES: dict[str, str] = dict(_core.segment_arrays())


class SegmentModel(LabelModel):
    """All that finding segments needs: the labels are "O", then the types, sorted.

    Attributes
    ----------
    max_length : int
        Tokens of the longest segment.
    """

    task = "segments"
    called = "for segments"
    pair_table = "transition"

    def __init__(self, *, max_length: int, **common: Any) -> None:
        super().__init__(**common)
        self.max_length = max_length
        features = self.templates.compile(self.format, self.n_columns)
        self.columns_needed = int(features.columns_needed)
        self.core = _core.SegmentModel(features, self.labels, max_length, self.arrays)
        #: How a label is written at the first token of a segment, and at the others.
        self.first = self.written_as[: len(self.labels)]
        self.later = self.written_as[len(self.labels) :]
        self.under()  # refuse constraints that mean nothing

    @property
    def sequences(self) -> Any:
        """The labels of segments, one for each."""
        return segment_sequences(self.labels)

    @property
    def written_as(self) -> list[str]:
        """How the labels of tokens are written, by number."""
        return list(self.core.written)

    @property
    def kind(self) -> str:
        """What it scores."""
        return f"segments of up to {self.max_length} tokens"

    @property
    def n_weights(self) -> int:
        """How many of its weights are not 0."""
        return len(memoryview(self.arrays["segment.weight"]).cast("B")) // 4

    # -- files ----------------------------------------------------------------------------------

    def _content(self, precision: str = "float32") -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return what a model file holds."""
        description, tensors = self._common_content()
        for name, data in self.arrays.items():
            tensors[name] = Tensor(_DTYPES[name], data)
        return {**description, "max_length": self.max_length}, tensors

    @classmethod
    def _build(
        cls, name: str, d: dict[str, Any], tensors: dict[str, Tensor], given: dict[str, Any]
    ) -> SegmentModel:
        arrays = checked_arrays(tensors, _DTYPES)
        common = cls._common(d, tensors, given)
        return cls(**common, arrays=arrays, max_length=int(d["max_length"]))

    # -- labelling ------------------------------------------------------------------------------

    def inputs(self, corpus: Corpus, constraints: Any = None) -> NativeInputs:
        """Return the sentences of a corpus, to be asked about.

        ``constraints`` come beside those of the model.
        """
        return self._asked(self.core.inputs(corpus.core), corpus, constraints)

    def label_corpus(self, corpus: Corpus, threads: int = 1) -> list[list[str]]:
        """Return the labels of the tokens of each sentence, in IOB2."""
        return list(map(self.written, self.inputs(corpus).solve(threads).outputs))

    def written(self, numbers: Any) -> list[str]:
        """Return the labels of the tokens of a segmentation, in IOB2."""
        labels = []
        for begin, end, label in self.segments(numbers):
            k = self.labels.index(label)
            labels += [self.first[k], *[self.later[k]] * (end - begin - 1)]
        return labels

    def segments(self, numbers: Any) -> list[tuple[int, int, str]]:
        """Return (start, end, label) of a row with a number where a segment begins, −1 within."""
        starts = [t for t, k in enumerate(numbers) if k >= 0]
        return [
            (a, b, self.labels[numbers[a]]) for a, b in itertools.pairwise([*starts, len(numbers)])
        ]
