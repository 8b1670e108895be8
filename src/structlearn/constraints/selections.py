"""Selections: the labels, chunks and other parts that constraints name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, repr=False)
class Label:
    """A label: at one place, at several, or wherever it occurs.

    Attributes
    ----------
    label : object
        An index; in an estimator the name of a class, in a task the label itself.
    at : int, tuple, list of them, or None
        The position (in a grid a pair), counted from the end if negative. In a segmentation a place
        has the label of the segment that covers it. None: every occurrence, of positions or of
        segments.
    """

    label: Any
    at: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", _plain(self.label))
        object.__setattr__(self, "at", _hashable(self.at))

    @property
    def places(self) -> tuple[Any, ...]:
        """The places it names."""
        return _listed_places(self.at)

    def __str__(self) -> str:
        return f"label {self.label!r}{_place(self.at)}"

    def __repr__(self) -> str:
        return f"Label({self.label!r}{_at(self.at)})"


@dataclass(frozen=True, repr=False)
class Chunk:
    """A chunk of a type; with labels not in BIO, IOBES or BILOU, a run of equal labels.

    ``Chunk("PER")`` is B-PER with the I-PER that follow it. The rules of conlleval decide where
    chunks begin and end (:func:`structlearn.metrics.chunks`). With labels without such tags
    ``Chunk("Street")`` is a run of the label Street; in a segmentation each segment is a chunk.

    Attributes
    ----------
    type : object
        The type of the chunk, the text after the hyphen; without tags the label.
    """

    type: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "type", _plain(self.type))

    def __str__(self) -> str:
        return f"chunk {self.type!r}"

    def __repr__(self) -> str:
        return f"Chunk({self.type!r})"


@dataclass(frozen=True, init=False, repr=False)
class Part:
    """Parts of a block by their outcome: ``Part("transition", "B", "I")``.

    Attributes
    ----------
    block : str
        The block's name.
    outcome : tuple
        The labels. In a block with several sites per position, the site may come first, counted
        from 1: ``Part("segment", 2, "O")`` is a segment of length 2. Empty if parts of the block
        have no labels: ``Part("arc", at=(0, 2))``, ``Part("pair", at=(1, 1))``.
    at : int, tuple, list of them, or None
        The position; None: all of them.
    """

    block: str
    outcome: tuple[Any, ...]
    at: Any = None

    def __init__(self, block: str, *outcome: Any, at: Any = None) -> None:
        if not isinstance(block, str):
            raise ValueError('a part needs a block and labels, as in Part("transition", 0, 1)')
        object.__setattr__(self, "block", block)
        object.__setattr__(self, "outcome", tuple(map(_plain, outcome)))
        object.__setattr__(self, "at", _hashable(at))

    @property
    def places(self) -> tuple[Any, ...]:
        """The places it names."""
        return _listed_places(self.at)

    def __str__(self) -> str:
        labels = f" {' -> '.join(map(repr, self.outcome))}" if self.outcome else ""
        return f"{self.block}{labels}{_place(self.at)}"

    def __repr__(self) -> str:
        named = ", ".join(map(repr, (self.block, *self.outcome)))
        return f"Part({named}{_at(self.at)})"


Selection = Label | Chunk | Part


def selected(parts: Any) -> tuple[Selection, ...]:
    """Return selections; a bare label stands for :class:`Label`."""
    if not parts:
        raise ValueError("a constraint needs at least one label or part")
    return tuple(p if isinstance(p, (Label, Chunk, Part)) else Label(p) for p in parts)


def is_many(at: Any) -> bool:
    """Tell whether several places are given."""
    return isinstance(at, frozenset)


def _plain(label: Any) -> Any:
    """Return a label as a plain Python value."""
    return label.item() if hasattr(label, "item") else label


def _hashable(at: Any) -> Any:
    """Return one place unchanged, several as a frozenset."""
    if hasattr(at, "tolist"):
        at = at.tolist()
    if isinstance(at, (list, set, range)):
        return frozenset(_plain(p) if hasattr(p, "__index__") else _pair(p) for p in at)
    return at


def _pair(place: Any) -> Any:
    return tuple(place) if hasattr(place, "__iter__") and not isinstance(place, str) else place


def _listed_places(at: Any) -> tuple[Any, ...]:
    if at is None:
        return ()
    return tuple(sorted(at)) if is_many(at) else (at,)


def _place(at: Any) -> str:
    if at is None:
        return ""
    return f" at {sorted(at)}" if is_many(at) else f" at {at}"


def _at(at: Any) -> str:
    if at is None:
        return ""
    return f", at={sorted(at)}" if is_many(at) else f", at={at}"
