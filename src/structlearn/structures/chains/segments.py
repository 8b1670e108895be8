"""Lists of segments (start, end, label) that cover a sequence, and their labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

#: Start, end (exclusive) and label.
Segment = tuple[int, int, Any]


class OpenSegments(list[Segment]):
    """Segments of which some make up an output, nobody knows which; each may have several labels.

    They stand for all outputs that are made of them, where labels are known in part.
    """


def read_segments(y: Any) -> list[Segment]:
    """Return the segments as tuples; raise ``ValueError`` unless they are contiguous from 0."""
    segments: list[Segment] = []
    at = 0
    for item in y.tolist() if isinstance(y, np.ndarray) else y:
        try:
            start, end, label = item
            first, last = int(start), int(end)
        except (TypeError, ValueError):
            raise ValueError(f"a segment is (start, end, label), got {item!r}") from None
        if first != start or last != end or first != at or last <= first:
            raise ValueError(
                f"the segment {tuple(item)!r} must start at {at}, where the one before ends, and "
                "end after that: segments cover the sequence without gaps"
            )
        segments.append((first, last, label))
        at = last
    if not segments:
        raise ValueError("the output has no segments")
    return segments


def labels_at(segments: list[Segment], labels: Any) -> list[Segment]:
    """Return the segments with the labels of their first positions."""
    starts = [start for start, _, _ in segments]
    picked = np.asarray(labels)[starts].tolist()
    return [(start, end, k) for (start, end, _), k in zip(segments, picked, strict=True)]


def rows_per_position(X: Any, y: Any, block: str) -> int:
    """Return the number of feature rows per position, from the first example and its output."""
    try:
        example, output = next(iter(X)), next(iter(y))
    except (TypeError, StopIteration):
        raise ValueError("X must be a list of examples and y one of their outputs") from None
    features: Any = example.get(block) if isinstance(example, Mapping) else example
    shape: tuple[int, ...] = getattr(features, "shape", ())
    if len(shape) == 3:
        return int(shape[1])
    try:
        n_rows = int(shape[0]) if shape else len(features)
    except TypeError:
        raise ValueError(f"example 0 has no features for the block {block!r}") from None
    try:
        length = read_segments(output)[-1][1]
    except (TypeError, ValueError) as error:
        raise ValueError(f"example 0: {error}") from None
    if n_rows == 0 or n_rows % length:
        raise ValueError(
            f"example 0: {block} has {n_rows} rows of features, not a multiple of its {length} "
            "positions; one row is needed for each position and length"
        )
    return n_rows // length
