"""A trained recogniser of segments as data: what it is made of, how it is stored and asked."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping

from ... import _core
from ...exceptions import LineError
from ...io.container import Tensor, check_dtype
from ...text.corpus import Corpus, column_names
from ...text.segment_templates import SegmentTemplates
from ..stored_model import StoredModel
from ..stored_templates import read_templates, stored_templates

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

    from ..tagging.learned import LearnedWeights

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


class SegmentModel(StoredModel):
    """All that labelling needs.

    Attributes
    ----------
    templates : SegmentTemplates
    format : {"columns", "conllu"}
        Of the files it was trained on.
    n_columns, target : int
        Columns of these files, and the number of the column with the labels, from 0.
    labels : list of str
        "O", then the types of the segments, sorted.
    max_length : int
        Tokens of the longest segment.
    arrays : dict of str to buffer
        The weights.
    temperature : float or None
        Of calibrated probabilities; None: not calibrated.
    training : dict
        How it came about.
    """

    task = "segments"
    called = "for segments"
    calls_functions = True

    def __init__(
        self,
        templates: SegmentTemplates,
        format: str,
        n_columns: int,
        target: int,
        labels: list[str],
        max_length: int,
        arrays: dict[str, Any],
        temperature: float | None = None,
        training: dict[str, Any] | None = None,
    ) -> None:
        self.templates = templates
        self.format = format
        self.n_columns = n_columns
        self.target = target
        self.labels = labels
        self.max_length = max_length
        self.arrays = arrays
        self.temperature = temperature
        self.training = training or {}
        if labels[:1] != ["O"] or len(set(labels)) != len(labels):
            raise ValueError("the labels are not 'O' and types, each once")
        if format not in ("columns", "conllu"):
            raise ValueError(f"there is no format {format!r}")
        if not 0 <= target < n_columns:
            raise ValueError(f"there is no column {target + 1}")
        if temperature is not None and not 0 < temperature < float("inf"):
            raise ValueError(f"a temperature of {temperature}")
        self.core = _core.SegmentModel(
            templates.compile_segments(format, n_columns), len(labels), max_length, arrays
        )
        #: How a label is written at the first token of a segment, and at the others.
        self.first = ["O", *(f"B-{label}" for label in labels[1:])]
        self.later = ["O", *(f"I-{label}" for label in labels[1:])]

    @property
    def target_name(self) -> str:
        """The name of the column with the labels."""
        return column_names(self.format, self.n_columns)[self.target]

    @staticmethod
    def pack(
        keys: Any, learned: LearnedWeights, n_labels: int, prune: float = 0.0
    ) -> dict[str, Any]:
        """Return the arrays of a model."""
        packed = _core.pack_weights(
            keys, learned.row_ptr, learned.column, learned.state, n_labels, prune
        )
        tables = (learned.start, learned.end, learned.transitions[0])
        return dict(zip(_DTYPES, (*packed[:3], *tables), strict=True))

    # -- files ----------------------------------------------------------------------------------

    def _content(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return what a model file holds."""
        description, tensors = stored_templates(self.templates)
        for name, data in self.arrays.items():
            tensors[name] = Tensor(_DTYPES[name], data)
        description.update(
            task=self.task,
            format=self.format,
            n_columns=self.n_columns,
            target=self.target,
            labels=self.labels,
            max_length=self.max_length,
            temperature=self.temperature,
            training=self.training,
        )
        return description, tensors

    def _functions(self) -> Mapping[str, Callable[[str], Any]]:
        return self.templates.functions

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
        temperature = d["temperature"]
        return cls(
            templates=read_templates(SegmentTemplates, d, tensors, functions),
            format=str(d["format"]),
            n_columns=int(d["n_columns"]),
            target=int(d["target"]),
            labels=list(map(str, d["labels"])),
            max_length=int(d["max_length"]),
            arrays=arrays,
            temperature=None if temperature is None else float(temperature),
            training=dict(d["training"]),
        )

    # -- labelling ------------------------------------------------------------------------------

    def label_corpus(self, corpus: Corpus, threads: int = 1) -> list[list[str]]:
        """Return the labels of the tokens of each sentence, in IOB2."""
        out: list[list[str]] = []
        for segments in self.segment_corpus(corpus, threads):
            row: list[str] = []
            for start, end, k in segments:
                row.append(self.first[k])
                row.extend([self.later[k]] * (end - start - 1))
            out.append(row)
        return out

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
            starts = [t for t in range(n) if numbers[at + t] >= 0]
            ends = [*starts[1:], n]
            out.append([(a, b, numbers[at + a]) for a, b in zip(starts, ends, strict=True)])
            at += n
        return out

    def marginals(
        self, corpus: Corpus, sentence: int, least: float
    ) -> dict[tuple[int, int, str], float]:
        """Return P(segment | sentence) of the segments of one sentence that have at least so much.

        They come start by start, then by length.
        """
        n_labels, width = len(self.labels), self.max_length
        p = array("d", self.core.marginals(corpus._core, sentence, self.temperature or 1.0))
        found = {}
        for i, probability in enumerate(p):
            if probability >= least:
                site, k = divmod(i, n_labels)
                start, d = divmod(site, width)
                found[start, start + d + 1, self.labels[k]] = probability
        return found
