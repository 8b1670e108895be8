"""A first-order chain over strings as plain weights: what other libraries can be given."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

__all__ = ["StringWeights"]


class StringWeights(
    namedtuple(
        "StringWeights",
        "labels attributes row_ptr column weight transition start end",
        defaults=(b"", b""),
    )
):
    """Weights of a chain whose tokens have strings.

    Attributes
    ----------
    labels, attributes : list of str
        Each name once.
    row_ptr, column : buffers of uint32
        Attribute a has weights for the labels ``column[row_ptr[a]:row_ptr[a + 1]]``.
    weight : buffer of float64
        The weights of attributes with labels.
    transition : buffer of float64
        The weight of each label (column) after each other (row).
    start, end : buffers of float64
        Those of the first and last label; empty if there are none.
    """

    __slots__ = ()
    labels: Sequence[str]
    attributes: Sequence[str]
    row_ptr: Any
    column: Any
    weight: Any
    transition: Any
    start: Any
    end: Any
