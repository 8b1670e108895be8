"""Segmentations: a sequence cut into labelled segments (semi-Markov chains)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...array_types import Array, Integers
from ..batches import holds_interpreter
from ..entropies import entropy_of_choices
from ..native import NativeStructure
from ..open_labels import allowed_labels
from ..others import differing
from ..parts import Block, Parts, part_of
from ..programs.rows import RowBuilder
from ..score_arrays import as_scores
from .segment_program import segment_rows
from .segments import OpenSegments, Segment, labels_at, read_segments, rows_per_position


class SemiMarkov(NativeStructure):
    """A sequence of L positions cut into labelled segments of at most ``max_length`` positions.

    An output is a list of segments (start, end, label), end exclusive, that cover 0..L without
    gaps. Its score is Σ segment[start, end − start − 1, label] + Σ transition[label before, label]
    + start[first label] + end[last label].

    Every query costs O(L · max_length · K + L · K²): the sum up to a position is computed once and
    shared by all segments that start there. Ties: argmax gives, from the end backwards, the first
    label, then the shortest segment. With ``max_length=1`` it is ``Chain(order=1)``.

    Score blocks
    ------------
    segment : (L, max_length, K)
        ``segment[i, d − 1, k]`` scores the segment of length d and label k that starts at i.
        Entries with i + d > L are never read (they may be NaN); their marginals are 0.
    transition : (K, K), shared by all positions, or (L − 1, K, K)
        ``transition[label before, label]``; by position, ``transition[i − 1]`` is for a segment
        that starts at i. May be left out.
    start, end : (K,)
        Scores of the first and of the last segment's label.

    Parameters
    ----------
    max_length : int
        The longest segment. More than L is allowed.

    References
    ----------
    S. Sarawagi & W. W. Cohen (2004), Semi-Markov conditional random fields for information
    extraction.

    Examples
    --------
    Three positions; a segment of length 2 with label 1 is worth more than two single ones:

    >>> import numpy as np
    >>> segment = np.zeros((3, 2, 2))
    >>> segment[0, 0, 0] = 1.0
    >>> segment[1, 1, 1] = 3.0
    >>> SemiMarkov(2).argmax(segment=segment)
    [(0, 1, 0), (1, 3, 1)]
    >>> SemiMarkov(2).count(segment=segment)
    16
    """

    method = "segment viterbi"
    label_block = "segment"
    _label_rank = 3

    def __init__(self, max_length: int) -> None:
        if not isinstance(max_length, (int, np.integer)) or isinstance(max_length, bool):
            raise ValueError(f"max_length must be a whole number >= 1, got {max_length!r}")
        if not 1 <= max_length < 2**31:
            raise ValueError(f"max_length must be a whole number >= 1, got {max_length!r}")
        self.max_length = int(max_length)
        self._core = _core.semimarkov(self.max_length)

    @classmethod
    def from_examples(cls, X: Any, y: Any) -> SemiMarkov:
        """Return a structure whose ``max_length`` is the number of feature rows per position."""
        return cls(rows_per_position(X, y, cls.label_block))

    def blocks(self, n_labels: int) -> dict[str, Block]:
        """Return the blocks in the order of the core."""
        return {
            "segment": Block((n_labels,), inner=(self.max_length,)),
            "start": Block((n_labels,), shared=True, optional=True, boundary=True),
            "end": Block((n_labels,), shared=True, optional=True, boundary=True),
            "transition": Block((n_labels, n_labels), shared=True, optional=True),
        }

    # -- outputs and parts ----------------------------------------------------------------------

    def _read(self, flat: Integers, ptr: Integers) -> list[list[Segment]]:
        return _core.segments(flat, ptr)

    def _read_samples(self, rows: Integers) -> list[list[Segment]]:
        return _core.segments(rows.ravel(), np.arange(len(rows) + 1) * rows.shape[1])

    def _stack(self, outputs: list[Any]) -> list[Any]:
        return outputs

    def _rows(self, outputs: Sequence[Any], labels: Integers, ptr: Integers) -> Integers:
        rows: Integers = labels.copy()
        for i, y in enumerate(outputs):
            try:
                self._check_lengths(y)
            except ValueError as error:
                raise ValueError(f"example {i}: {error}") from None
            if ptr[i] == ptr[i + 1]:
                continue
            for start, end, _ in y:
                rows[ptr[i] + start + 1 : ptr[i] + end] = -1
        return rows

    def _check_lengths(self, segments: Sequence[Segment]) -> None:
        for start, end, _ in segments:
            if end - start > self.max_length:
                raise ValueError(
                    f"the segment from {start} to {end} has length {end - start}, "
                    f"max_length is {self.max_length}"
                )

    def labels_of(self, y: Any) -> list[Any]:
        """Return the label of each position, that of the segment covering it."""
        return [k for start, end, k in read_segments(y) for _ in range(end - start)]

    def relabel(self, y: Any, labels: Any) -> list[Segment]:
        """Return the segments with the labels of their first positions."""
        return labels_at(read_segments(y), labels)

    def empty_output(self, labels: Any) -> list[Segment]:
        """Return no segments."""
        return []

    def label_costs(self, costs: Array, **scores: Any) -> Parts:
        """Return the cost of each segment: the sum over the positions it covers."""
        segment = np.zeros(np.shape(scores["segment"]))
        total = np.concatenate((np.zeros((1, costs.shape[1])), costs.cumsum(axis=0)))
        for d in range(1, min(self.max_length, len(segment)) + 1):
            segment[: len(segment) - d + 1, d - 1] = total[d:] - total[:-d]
        return {"segment": segment}

    def allowed(self, y: Any, shape: tuple[int, ...]) -> npt.NDArray[np.bool_]:
        """Return the segments of y, each with the labels that it may have: all for None or −1.

        y may be an ``OpenSegments``, too.
        """
        segments = y if isinstance(y, OpenSegments) else read_segments(y)
        self._check_lengths(segments)
        table = np.zeros(shape, dtype=bool)
        for start, end, k in segments:
            table[start, end - start - 1] = allowed_labels(k, shape[-1])
        return table

    def _positions(self, name: str, theta: Mapping[str, Any]) -> tuple[int, ...]:
        length, width, n_labels = theta["segment"].shape
        if name == "segment":
            return (length, width, n_labels)
        return (n_labels,) if name in ("start", "end") else (length - 1, n_labels, n_labels)

    def _places(self, y: Any, theta: Mapping[str, Any], by_position: bool) -> dict[str, Any]:
        """Return the parts of an output as an index into each block."""
        segments = read_segments(y)
        length, _, n_labels = theta["segment"].shape
        if segments[-1][1] != length:
            raise ValueError(
                f"the output covers {segments[-1][1]} positions, the input has {length}"
            )
        self._check_lengths(segments)
        starts, ends, labels = (np.array(column) for column in zip(*segments, strict=True))
        if not np.issubdtype(labels.dtype, np.integer):
            raise ValueError(f"labels must be whole numbers, got {labels.tolist()}")
        if not (labels.min() >= 0 and labels.max() < n_labels):
            raise ValueError(f"labels must be among 0..{n_labels - 1}: {labels.tolist()}")
        places: dict[str, Any] = {}
        for name, table in theta.items():
            if name == "segment":
                places[name] = (starts, ends - starts - 1, labels)
            elif name == "transition":
                pairs = (labels[:-1], labels[1:])
                places[name] = (starts[1:] - 1, *pairs) if by_position or table.ndim == 3 else pairs
            else:
                places[name] = labels[[0 if name == "start" else -1]]
        return places

    def _encode(self, y: Any, theta: Mapping[str, Any], by_position: bool) -> Parts:
        parts: Parts = {}
        for name, places in self._places(y, theta, by_position).items():
            shape = self._positions(name, theta) if by_position else theta[name].shape
            parts[name] = np.zeros(shape)
            np.add.at(parts[name], places, 1.0)
        return parts

    def decode(self, parts: Any) -> Any:
        """Return the segments whose counts are one, from the block; a list for a list."""
        segment = part_of(parts, "segment")
        segments = [(i, i + d + 1, k) for i, d, k in np.argwhere(segment).tolist()]
        covered = [0, *(end for _, end, _ in segments)]
        whole = [start for start, _, _ in segments] == covered[:-1] and covered[-1] == len(segment)
        if not (whole and np.isin(segment, (0.0, 1.0)).all()):
            raise ValueError(
                "these parts are not an output: each position must be in exactly one segment of "
                "count 1"
            )
        return segments

    def score(self, y: Any, **scores: Any) -> Any:
        """Return the score of y, −∞ if a part of it is forbidden; a list for a batch."""
        theta = self._one(scores)
        places = self._places(y, theta, by_position=False)
        return float(sum(table[places[name]].sum() for name, table in theta.items()))

    def outputs(self, **scores: Any) -> Iterator[list[Segment]]:
        """Iterate over all segmentations with all labels."""
        length, _, n_labels = np.shape(scores["segment"])

        def cuts(start: int) -> Iterator[list[tuple[int, int]]]:
            if start == length:
                yield []
            for end in range(start + 1, min(start + self.max_length, length) + 1):
                for later in cuts(end):
                    yield [(start, end), *later]

        for spans in cuts(0):
            for labels in itertools.product(range(n_labels), repeat=len(spans)):
                yield [(*span, k) for span, k in zip(spans, labels, strict=True)]

    def program_rows(self, theta: Parts, **topology: Any) -> RowBuilder:
        """Return the rows: where a segment ends, another one starts."""
        return segment_rows({name: self._positions(name, theta) for name in theta})

    def _others(
        self, y: Any, theta: Parts, topology: Mapping[str, Any]
    ) -> Iterator[dict[str, Any]]:
        shape = theta["segment"].shape
        starts = np.arange(theta["segment"].size).reshape(shape)
        places = (
            (starts[start:end].ravel(), int(starts[start, end - start - 1, int(k)]))
            for start, end, k in read_segments(y)
        )
        return differing(theta, "segment", places)

    def _local_entropy(
        self, theta: dict[str, Any], topology: Mapping[str, Any], temperature: float
    ) -> float:
        p = self.marginals(temperature=temperature, **self._centred_segments(theta, topology))
        segment = p["segment"]
        # The first label; then each segment's length given its label, and the next label given the
        # last.
        arrived = segment.sum(axis=1)
        entropy = entropy_of_choices(arrived[:1])
        entropy += entropy_of_choices(segment.transpose(0, 2, 1).reshape(-1, segment.shape[1]))
        if "transition" in theta:
            return entropy + entropy_of_choices(p["transition"].reshape(-1, segment.shape[2]))
        return entropy + entropy_of_choices(arrived[1:])

    def _centred_segments(
        self, theta: dict[str, Any], topology: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return scores minus one constant per position: a segment of length d has exactly d."""
        value = self.solve(**theta, **topology).value
        digits, exponent = math.frexp(value / len(theta["segment"]))
        rate = math.ldexp(round(math.ldexp(digits, 24)), exponent - 24)  # 24 binary digits
        lengths = np.arange(1, theta["segment"].shape[1] + 1)
        return {**theta, "segment": theta["segment"] - (rate * lengths)[:, np.newaxis]}

    # -- counting -------------------------------------------------------------------------------

    @holds_interpreter
    def count(self, **scores: Any) -> Any:
        """Return the number of segmentations with a finite score, as an exact integer."""
        theta = self._one(scores)
        with np.errstate(over="ignore", invalid="ignore"):
            approximate = self._count_paths(theta, np.float64)
        if approximate < 2**53:  # floating point is exact up to here
            return int(approximate)
        return int(self._count_paths(theta, object))

    def _count_paths(self, theta: Mapping[str, Any], dtype: Any) -> Any:
        length, _, n_labels = theta["segment"].shape
        legal = {name: np.isfinite(a).astype(dtype) for name, a in theta.items()}
        every = np.ones(n_labels, dtype=dtype)
        pairs = legal.get("transition", np.ones((n_labels, n_labels), dtype=dtype))
        ended = np.zeros((length + 1, n_labels), dtype=dtype)
        for i in range(length):
            table = pairs if pairs.ndim == 2 or i == 0 else pairs[i - 1]
            arrived = legal.get("start", every) if i == 0 else ended[i] @ table
            for d in range(1, min(self.max_length, length - i) + 1):
                ended[i + d] += arrived * legal["segment"][i, d - 1]
        return (ended[length] * legal.get("end", every)).sum()

    def _scores(self, scores: Mapping[str, Any]) -> Parts:
        """Return the scores as arrays, 0 in entries that are never read."""
        segment = scores.get("segment")
        if segment is not None:
            segment = as_scores("segment", segment)
            if segment.ndim == 3:
                segment = segment.copy()
                length, width = segment.shape[:2]
                segment[np.add.outer(np.arange(length), np.arange(width)) >= length] = 0.0
            scores = {**scores, "segment": segment}
        return super()._scores(scores)
