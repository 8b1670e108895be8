"""Constraints on how often labels and other parts are used."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from .alphabet import Alphabet
from .automaton import Automaton
from .events import Events, Sequences, counted
from .selections import Chunk, Label, Selection, is_many


class Constraint:
    """The interface of all constraints."""

    def selections(self) -> tuple[Selection, ...]:
        """Return all selections of parts in the constraint."""
        return ()

    def check(self, alphabet: Alphabet) -> None:
        """Refuse unknown labels and chunks."""
        for selection in self.selections():
            if isinstance(selection, Label):
                alphabet.numbers(selection.label)
            elif isinstance(selection, Chunk):
                alphabet.chunk(selection.type)

    def simple(self, alphabet: Alphabet) -> list[Constraint]:
        """Return equivalent constraints, each about as few labels as possible."""
        return [self]

    def automaton(self, sequences: Sequences) -> Automaton:
        """Return the automaton that accepts the sequences obeying the constraint.

        Raises
        ------
        NoEvents
            If it is not about labels in a row.
        TooManyStates
            If it has no small automaton.
        """
        raise AssertionError


@dataclass(frozen=True, repr=False)
class Count(Constraint):
    """Between ``lower`` and ``upper`` of the selected parts are used."""

    parts: tuple[Selection, ...]
    lower: float = 0
    upper: float = math.inf

    def selections(self) -> tuple[Selection, ...]:
        """Return the selections that are counted."""
        return self.parts

    def automaton(self, sequences: Sequences) -> Automaton:
        """Return the automaton that counts up to the bounds."""
        lower, upper = self.lower, self.upper

        def step(n: int, events: list[int]) -> int | None:
            n += events[0]
            if n > upper:
                return None
            return n if upper < math.inf else min(n, math.ceil(lower))

        events = Events(self.parts, sequences)
        return counted([events], 0, step, lambda n: lower <= n <= upper)

    @property
    def forbids(self) -> bool:
        """Whether none of the parts may be used."""
        return self.upper <= 0

    @property
    def place(self) -> Any:
        """The one place whose label it prescribes; None if it is not such a constraint."""
        places = {part.at if isinstance(part, Label) else None for part in self.parts}
        if self.lower != 1 or self.upper < 1 or len(places) != 1:
            return None
        place = places.pop()
        return None if is_many(place) else place

    def __str__(self) -> str:
        named = ", ".join(map(str, self.parts))
        if self.forbids:
            return f"forbid {named}"
        if self.place is not None:
            return f"require {' or '.join(map(str, self.parts))}"
        if self.lower == self.upper:
            return f"exactly {self.lower:.0f} of {named}"
        if self.lower <= 0:
            return f"at most {self.upper:.0f} of {named}"
        if self.upper == math.inf:
            return f"at least {self.lower:.0f} of {named}"
        return f"{self.lower:.0f} to {self.upper:.0f} of {named}"

    def __repr__(self) -> str:
        named = written(self.parts)
        if self.forbids:
            return f"forbid({named})"
        if (self.lower, self.upper) == (1, math.inf):
            return f"require({named})"
        if self.upper == math.inf:
            return f"at_least({self.lower:.0f}, {named})"
        if self.lower == self.upper:
            return f"exactly({self.lower:.0f}, {named})"
        if self.lower <= 0:
            return f"at_most({self.upper:.0f}, {named})"
        return f"Count({self.parts!r}, {self.lower}, {self.upper})"


@dataclass(frozen=True, repr=False)
class IfThen(Constraint):
    """Each part of ``condition`` is used at most as often as those of ``consequence`` together.

    For parts that are 0 or 1: if any of the first is used, one of the second is too.
    """

    condition: tuple[Selection, ...]
    consequence: tuple[Selection, ...]

    def selections(self) -> tuple[Selection, ...]:
        """Return the selections of both sides."""
        return self.condition + self.consequence

    def automaton(self, sequences: Sequences) -> Automaton:
        """Return the automaton that remembers which side has been used."""

        def step(seen: tuple[bool, bool], events: list[int]) -> tuple[bool, bool]:
            then = seen[1] or events[1] > 0
            return (seen[0] or events[0] > 0) and not then, then

        sides = [Events(side, sequences) for side in (self.condition, self.consequence)]
        return counted(sides, (False, False), step, lambda seen: not seen[0])

    @property
    def names_places(self) -> bool:
        """Whether it is about labels at places, so that a mask may express it."""
        return all(isinstance(s, Label) and s.at is not None for s in self.selections())

    def __str__(self) -> str:
        first, second = (" or ".join(map(str, s)) for s in (self.condition, self.consequence))
        return f"if {first}, then {second}"

    def __repr__(self) -> str:
        sides = (self.condition, self.consequence)
        first, second = (written(s) if len(s) == 1 else f"[{written(s)}]" for s in sides)
        return f"if_then({first}, {second})"


@dataclass(frozen=True, repr=False)
class EachAtMostOnce(Constraint):
    """Each of the labels or chunks (None: all labels) occurs at most once."""

    labels: tuple[Any, ...] | None = None

    def selections(self) -> tuple[Selection, ...]:
        """Return the labels that are named."""
        return tuple(k if isinstance(k, Chunk) else Label(k) for k in self.labels or ())

    def simple(self, alphabet: Alphabet) -> list[Constraint]:
        """Return one count for each label."""
        named = self.selections() or map(Label, dict.fromkeys(alphabet.labels))
        return [Count((selection,), 0, 1) for selection in named]

    def __str__(self) -> str:
        scope = "" if self.labels is None else f" of {', '.join(map(repr, self.labels))}"
        return f"each label{scope} at most once"

    def __repr__(self) -> str:
        return f"each_at_most_once({written(self.selections())})"


def written(selections: tuple[Selection, ...]) -> str:
    """Return selections as Python arguments; a bare label is written without Label()."""
    return ", ".join(
        repr(s.label if isinstance(s, Label) and s.at is None else s) for s in selections
    )
