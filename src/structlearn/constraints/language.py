"""The functions that make constraints."""

from __future__ import annotations

from typing import Any

from .counting import Constraint, Count, EachAtMostOnce, IfThen
from .ordering import Contiguous, Matches, NotAdjacent, Precedes
from .selections import Chunk, selected

__all__ = [
    "at_least",
    "at_most",
    "contiguous",
    "each_at_most_once",
    "exactly",
    "forbid",
    "if_then",
    "matches",
    "not_adjacent",
    "precedes",
    "require",
]


def forbid(*parts: Any) -> Constraint:
    """None of these parts. A bare label stands for :class:`Label`."""
    return Count(selected(parts), 0, 0)


def require(*parts: Any) -> Constraint:
    """One of these parts; ``Label(k, at=t)``: the label at t is k, or another one named."""
    return Count(selected(parts), 1)


def at_most(n: int, *parts: Any) -> Constraint:
    """At most n of these parts: ``at_most(2, "V")``, ``at_most(1, Chunk("PER"))``."""
    return Count(selected(parts), 0, _number(n))


def at_least(n: int, *parts: Any) -> Constraint:
    """At least n of these parts."""
    return Count(selected(parts), _number(n))


def exactly(n: int, *parts: Any) -> Constraint:
    """Exactly n of these parts."""
    return Count(selected(parts), _number(n), _number(n))


def each_at_most_once(*labels: Any) -> Constraint:
    """Each label (or :class:`Chunk`) at most once; without arguments all labels."""
    return EachAtMostOnce(_named(labels))


def if_then(condition: Any, consequence: Any) -> Constraint:
    """If any part of the condition is used, one of the consequence is; lists mean "any of"."""
    return IfThen(selected(_listed(condition)), selected(_listed(consequence)))


def precedes(first: Any, second: Any) -> Constraint:
    """No part of the first stands after one of the second; lists mean "any of".

    ``precedes("Title", "Author")``: every title is before every author, if there are both.
    A chunk's place is where it begins.
    """
    return Precedes(selected(_listed(first)), selected(_listed(second)))


def not_adjacent(first: Any, second: Any = None) -> Constraint:
    """The two labels or chunks are never neighbours, in either order; one alone: not repeated.

    Chunks are neighbours if one begins where the other ends.
    """
    pair = (first,) if second is None else (first, second)
    left, *right = selected(pair)
    return NotAdjacent(left, right[0] if right else left)


def contiguous(*labels: Any) -> Constraint:
    """Each of these labels forms at most one unbroken run; without arguments all but O.

    With labels in BIO, IOBES or BILOU: at most one chunk of each type; B-X B-X are
    two chunks. On segmentations each segment is a run, so each label has at most one segment.
    """
    return Contiguous(_named(labels))


def matches(pattern: str) -> Constraint:
    """The labels of the whole sequence match a regular expression over labels.

    ``matches("Number Street+ (City | Place)? State? Zip{0,1}")``. Labels are separated by blanks;
    ``|``, ``*``, ``+``, ``?``, ``{m,n}``, ``.`` and groups are those of regular expressions,
    ``[A B]`` is any of these labels, ``[^A B]`` any but these, ``B-*`` any that begins with
    ``B-``; names with other signs need quotes. On segmentations a label is read once for each
    segment. O is a label like any other.
    """
    return Matches(pattern)


def _named(labels: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """Return the labels as plain Python values, chunks unchanged; None if there are none."""
    named = selected(labels) if labels else ()
    bare = tuple(k if isinstance(k, Chunk) else getattr(k, "label", k) for k in named)
    if any(getattr(k, "at", None) is not None or hasattr(k, "block") for k in named):
        raise ValueError(f"labels and chunks are expected here, got {named}")
    return bare or None


def _listed(parts: Any) -> tuple[Any, ...]:
    if isinstance(parts, (list, tuple, set, frozenset)):
        return tuple(parts)
    return (parts,)


def _number(n: Any) -> int:
    if not hasattr(n, "__index__") or isinstance(n, bool) or n < 0:
        raise ValueError(f"the count of a constraint must be a whole number >= 0, got {n!r}")
    return int(n)
