"""A segmentation as an integer program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..programs.rows import RowBuilder


def segment_rows(shapes: Mapping[str, tuple[int, ...]]) -> RowBuilder:
    """Return the rows of a semi-Markov chain with these blocks, transitions by position.

    Segments are the edges of a path from position 0 to L: at each position, as many end as start,
    label by label through the transition between them. The relaxation is tight.
    """
    build = RowBuilder(shapes)
    segment = build.parts["segment"]
    length, width = segment.shape[:2]
    for start in range(length):
        build.forbid(segment[start, length - start :])

    def starting(at: int) -> Any:
        """(K, lengths) columns of the segments that start here."""
        return segment[at, : length - at].T

    def ending(at: int) -> Any:
        """(K, lengths) columns of the segments that end before this position."""
        lengths = np.arange(1, min(width, at) + 1)
        return segment[at - lengths, lengths - 1].T

    build.add((starting(0), 1), rows=0, equal=1, name="one segment starts at position 0")
    for name, columns in (("start", starting(0)), ("end", ending(length))):
        if name in shapes:
            build.continuous(name)
            build.add((columns, 1), (build.parts[name], -1), equal=0, name=name + " is label {0}")
    pairs = build.parts.get("transition")
    if pairs is not None:
        build.continuous("transition")
    for at in range(1, length):
        if pairs is None:
            build.add(
                (ending(at), 1),
                (starting(at), -1),
                rows=0,
                equal=0,
                name=f"where a segment ends, one starts: position {at}",
            )
            continue
        build.add(
            (ending(at), 1),
            (pairs[at - 1], -1),
            equal=0,
            name=f"a segment with label {{0}} ends before position {at}",
        )
        build.add(
            (starting(at), 1),
            (pairs[at - 1].T, -1),
            equal=0,
            name=f"a segment with label {{0}} starts at position {at}",
        )
    return build
