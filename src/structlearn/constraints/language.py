"""What constraints are made of: selections of parts, and what must hold for them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = [
    "Constraint",
    "Count",
    "EachAtMostOnce",
    "IfThen",
    "Label",
    "Part",
    "at_least",
    "at_most",
    "each_at_most_once",
    "exactly",
    "forbid",
    "if_then",
    "require",
]


@dataclass(frozen=True)
class Label:
    """A label: at one place, at some of them, or wherever it occurs.

    Attributes
    ----------
    label : object
        An index; in an estimator the name of a class.
    at : int, tuple, list of them, or None
        The position (in a grid a pair), counted from the end where it is negative. At a place, a
        segmentation has the label of the segment that covers it. None: every occurrence counts —
        positions, or, of a segmentation, segments.
    """

    label: Any
    at: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", _hashable(self.at))

    @property
    def places(self) -> tuple[Any, ...]:
        """The places it names."""
        return _listed_places(self.at)

    def __str__(self) -> str:
        return f"label {self.label!r}{_place(self.at)}"


@dataclass(frozen=True, init=False)
class Part:
    """Parts of a block by their outcome: ``Part("transition", "B", "I")``.

    Attributes
    ----------
    block : str
        The block's name.
    outcome : tuple
        The labels; of a block with several sites per position, the site may come first, counted
        from 1: ``Part("segment", 2, "O")`` is a segment of length 2. Empty where parts of the block
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
        object.__setattr__(self, "outcome", tuple(outcome))
        object.__setattr__(self, "at", _hashable(at))

    @property
    def places(self) -> tuple[Any, ...]:
        """The places it names."""
        return _listed_places(self.at)

    def __str__(self) -> str:
        labels = f" {' -> '.join(map(repr, self.outcome))}" if self.outcome else ""
        return f"{self.block}{labels}{_place(self.at)}"


Selection = Label | Part


class Constraint:
    """What every constraint can be asked."""

    def selections(self) -> tuple[Selection, ...]:
        """Return all selections of parts that it speaks of."""
        raise AssertionError


@dataclass(frozen=True)
class Count(Constraint):
    """Between ``lower`` and ``upper`` of the selected parts are used."""

    parts: tuple[Selection, ...]
    lower: float = 0
    upper: float = math.inf

    def selections(self) -> tuple[Selection, ...]:
        """Return the selections that are counted."""
        return self.parts

    @property
    def forbids(self) -> bool:
        """Whether none of the parts may be used."""
        return self.upper <= 0

    @property
    def place(self) -> Any:
        """The one place whose label it demands, or None where it is no such demand."""
        places = {part.at if isinstance(part, Label) else None for part in self.parts}
        if self.lower != 1 or self.upper < 1 or len(places) != 1:
            return None
        place = places.pop()
        return None if _is_many(place) else place

    def __str__(self) -> str:
        named = ", ".join(map(str, self.parts))
        if self.forbids:
            return f"forbid {named}"
        if self.place is not None:
            return f"require {' or '.join(map(str, self.parts))}"
        if self.lower == self.upper:
            return f"exactly {self.lower:g} of {named}"
        if self.lower <= 0:
            return f"at most {self.upper:g} of {named}"
        if self.upper == math.inf:
            return f"at least {self.lower:g} of {named}"
        return f"{self.lower:g} to {self.upper:g} of {named}"


@dataclass(frozen=True)
class IfThen(Constraint):
    """Each part of ``condition`` is used at most as often as those of ``consequence`` together.

    For parts that are 0 or 1: where any of the first is used, one of the second is too.
    """

    condition: tuple[Selection, ...]
    consequence: tuple[Selection, ...]

    def selections(self) -> tuple[Selection, ...]:
        """Return the selections of both sides."""
        return self.condition + self.consequence

    @property
    def names_places(self) -> bool:
        """Whether it is about labels at places, which may be a matter of single parts."""
        return all(isinstance(s, Label) and s.at is not None for s in self.selections())

    def __str__(self) -> str:
        first, second = (" or ".join(map(str, s)) for s in (self.condition, self.consequence))
        return f"if {first}, then {second}"


@dataclass(frozen=True)
class EachAtMostOnce(Constraint):
    """Each of the labels (None: of all) occurs at most once."""

    labels: tuple[Any, ...] | None = None

    def selections(self) -> tuple[Selection, ...]:
        """Return the labels that are named."""
        return tuple(Label(k) for k in self.labels or ())

    def __str__(self) -> str:
        some = "" if self.labels is None else f" of {', '.join(map(repr, self.labels))}"
        return f"each label{some} at most once"


def forbid(*parts: Any) -> Constraint:
    """None of these parts. A bare label stands for :class:`Label`."""
    return Count(_selections(parts), 0, 0)


def require(*parts: Any) -> Constraint:
    """One of these parts; with ``Label(k, at=t)``: the label at t is k (or another one named)."""
    return Count(_selections(parts), 1)


def at_most(n: int, *parts: Any) -> Constraint:
    """At most n of these parts."""
    return Count(_selections(parts), 0, _number(n))


def at_least(n: int, *parts: Any) -> Constraint:
    """At least n of these parts."""
    return Count(_selections(parts), _number(n))


def exactly(n: int, *parts: Any) -> Constraint:
    """Exactly n of these parts."""
    return Count(_selections(parts), _number(n), _number(n))


def if_then(condition: Any, consequence: Any) -> Constraint:
    """If any part of the condition is used, one of the consequence is; lists mean "any of"."""
    return IfThen(_selections(_listed(condition)), _selections(_listed(consequence)))


def each_at_most_once(*labels: Any) -> Constraint:
    """Each label at most once; without arguments all of them."""
    return EachAtMostOnce(tuple(labels) or None)


def _selections(parts: Any) -> tuple[Selection, ...]:
    if not parts:
        raise ValueError("a constraint needs at least one label or part")
    return tuple(p if isinstance(p, (Label, Part)) else Label(p) for p in parts)


def _listed(parts: Any) -> Any:
    return parts if isinstance(parts, (list, tuple, set, frozenset)) else (parts,)


def _number(n: Any) -> int:
    if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n < 0:
        raise ValueError(f"the count of a constraint must be a whole number >= 0, got {n!r}")
    return int(n)


def _is_many(at: Any) -> bool:
    return isinstance(at, frozenset)


def _hashable(at: Any) -> Any:
    """Return a place as it is, several as a frozenset."""
    if isinstance(at, (list, set, range, np.ndarray)):
        return frozenset(tuple(p) if isinstance(p, (list, np.ndarray)) else p for p in at)
    return at


def _listed_places(at: Any) -> tuple[Any, ...]:
    if at is None:
        return ()
    return tuple(sorted(at)) if _is_many(at) else (at,)


def _place(at: Any) -> str:
    if at is None:
        return ""
    return f" at {sorted(at)}" if _is_many(at) else f" at {at}"
