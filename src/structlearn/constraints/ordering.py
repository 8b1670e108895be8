"""Constraints on the order of labels: one run, before, next to, a pattern."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

from .alphabet import Alphabet
from .automaton import Automaton
from .construction import explore
from .counting import Constraint, written
from .events import Events, Sequences, counted
from .pattern import Pattern
from .selections import Chunk, Label, Part, Selection


@dataclass(frozen=True, repr=False)
class Contiguous(Constraint):
    """Each of the labels or chunks (None: all but O) forms at most one unbroken run."""

    labels: tuple[Any, ...] | None = None

    def __post_init__(self) -> None:
        for label in self.labels or ():
            if isinstance(label, Part) or (isinstance(label, Label) and label.at is not None):
                raise ValueError(f"contiguous takes labels and chunks, got {label!r}")

    def selections(self) -> tuple[Selection, ...]:
        """Return the labels and chunks that are named."""
        return tuple(k if isinstance(k, (Label, Chunk)) else Label(k) for k in self.labels or ())

    def check(self, alphabet: Alphabet) -> None:
        """Refuse names that are neither labels nor types of chunks."""
        for simple in self.simple(alphabet):
            Constraint.check(simple, alphabet)

    def simple(self, alphabet: Alphabet) -> list[Constraint]:
        """Return one constraint for each label or type; an unknown label is read as a type."""
        named: list[Selection] = list(self.selections())
        if not named:
            named = [Chunk(type) for type in alphabet.types]
        for i, item in enumerate(named):
            if isinstance(item, Label) and alphabet.chunked and alphabet.find(item.label) is None:
                named[i] = Chunk(item.label)
        return [Contiguous((item,)) for item in named]

    def automaton(self, sequences: Sequences) -> Automaton:
        """Return the automaton that remembers whether the run has begun or ended."""
        (run,) = self.selections()
        alphabet = sequences.alphabet
        of_chunks = isinstance(run, Chunk)
        if isinstance(run, Chunk):
            among = alphabet.chunk(run.type)
        else:
            assert isinstance(run, Label)
            among = alphabet.numbers(run.label)

        def begins(before: int, symbol: int) -> bool:
            return alphabet.segments or (of_chunks and alphabet.begins(before, symbol))

        # A state is the last symbol of the run; −1 before it, −2 after it.
        def step(last: int, symbol: int) -> int | None:
            if symbol not in among:
                return -1 if last == -1 else -2
            if last == -2 or (last >= 0 and begins(last, symbol)):
                return None
            return symbol

        def trait(symbol: int) -> Any:
            return symbol in among and (True, alphabet.traits(symbol))

        return explore(-1, step, lambda state: True, len(alphabet), trait)

    def __str__(self) -> str:
        if self.labels is None:
            return "each label in one run"
        return f"{', '.join(map(str, self.selections()))} in one run"

    def __repr__(self) -> str:
        return f"contiguous({written(self.selections())})"


@dataclass(frozen=True, repr=False)
class Precedes(Constraint):
    """None of ``first`` stands after one of ``second``; a chunk stands where it begins."""

    first: tuple[Selection, ...]
    second: tuple[Selection, ...]

    def selections(self) -> tuple[Selection, ...]:
        """Return the selections of both sides."""
        return self.first + self.second

    def automaton(self, sequences: Sequences) -> Automaton:
        """Return the automaton that remembers whether the second has occurred."""
        sides = [Events(side, sequences) for side in (self.first, self.second)]

        def step(seen: bool, events: list[int]) -> bool | None:
            return None if seen and events[0] else seen or events[1] > 0

        return counted(sides, False, step, lambda seen: True)

    def __str__(self) -> str:
        first, second = (" or ".join(map(str, s)) for s in (self.first, self.second))
        return f"{first} before {second}"

    def __repr__(self) -> str:
        sides = (self.first, self.second)
        first, second = (written(s) if len(s) == 1 else f"[{written(s)}]" for s in sides)
        return f"precedes({first}, {second})"


@dataclass(frozen=True, repr=False)
class NotAdjacent(Constraint):
    """The two labels or chunks never stand next to each other, in either order."""

    first: Selection
    second: Selection

    def __post_init__(self) -> None:
        for item in (self.first, self.second):
            if isinstance(item, Part) or (isinstance(item, Label) and item.at is not None):
                raise ValueError(f"not_adjacent takes labels and chunks, got {item!r}")

    def selections(self) -> tuple[Selection, ...]:
        """Return both."""
        return self.first, self.second

    def pairs(self, alphabet: Alphabet) -> list[tuple[int, int]]:
        """Return the pairs of neighbours that it rules out, in order."""
        pairs: set[tuple[int, int]] = set()
        for left, right in ((self.first, self.second), (self.second, self.first)):
            for a, b in product(_symbols(left, alphabet), _symbols(right, alphabet)):
                border = alphabet.type_of(a) != alphabet.type_of(b) or alphabet.begins(a, b)
                # The labels of one chunk are neighbours; a chunk is not its own neighbour.
                if border or not (isinstance(left, Chunk) or isinstance(right, Chunk)):
                    pairs.add((a, b))
        return sorted(pairs)

    def automaton(self, sequences: Sequences) -> Automaton:
        """Return the automaton that remembers the last symbol."""
        alphabet = sequences.alphabet
        after: list[set[int]] = [set() for _ in alphabet.labels]
        before: list[set[int]] = [set() for _ in alphabet.labels]
        for a, b in self.pairs(alphabet):
            after[a].add(b)
            before[b].add(a)

        def step(last: int, symbol: int) -> int | None:
            return None if last >= 0 and symbol in after[last] else symbol

        def trait(symbol: int) -> Any:
            return frozenset(after[symbol]), frozenset(before[symbol])

        return explore(-1, step, lambda last: True, len(alphabet), trait)

    def __str__(self) -> str:
        return f"{self.first} not next to {self.second}"

    def __repr__(self) -> str:
        named = (self.first,) if self.first == self.second else (self.first, self.second)
        return f"not_adjacent({written(named)})"


@dataclass(frozen=True, repr=False)
class Matches(Constraint):
    """The whole sequence of labels matches a regular expression."""

    pattern: str

    def __post_init__(self) -> None:
        Pattern(self.pattern)  # syntax errors at once

    def check(self, alphabet: Alphabet) -> None:
        """Refuse unknown labels; the error points at their place in the pattern."""
        Pattern(self.pattern).check(alphabet)

    def automaton(self, sequences: Sequences) -> Automaton:
        """Return the automaton of the pattern."""
        return Pattern(self.pattern).automaton(sequences.alphabet)

    def __str__(self) -> str:
        return f"matches {self.pattern!r}"

    def __repr__(self) -> str:
        return f"matches({self.pattern!r})"


def _symbols(selection: Selection, alphabet: Alphabet) -> frozenset[int]:
    if isinstance(selection, Chunk):
        return alphabet.chunk(selection.type)
    assert isinstance(selection, Label)
    return alphabet.numbers(selection.label)
