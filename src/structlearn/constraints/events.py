"""Counts of the selected parts at each position of a label sequence."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from .alphabet import Alphabet
from .automaton import Automaton
from .construction import by_position, explore
from .selections import Chunk, Label, Part, Selection

#: A test of whether a selection is used at a position, from: the number of symbols before it, the
#: number after it, the previous symbols, and the symbol.
Test = Callable[[int, int, tuple[int, ...], int], bool]

#: The blocks of the first and the last label.
_ENDS = ("start", "end")
#: More than any place's distance from the end.
_MANY = 1 << 60


class Sequences(NamedTuple):
    """How a structure's outputs are read as sequences of symbols.

    Attributes
    ----------
    alphabet : Alphabet
    length : int or None
        The number of positions; None: any. A place beyond the end is never used; segmentations have
        no known places.
    windows : mapping of str to int
        The number of consecutive symbols in each part of a block.
    """

    alphabet: Alphabet
    length: int | None = None
    windows: Mapping[str, int] = {}


class NoEvents(Exception):
    """A selection is not about labels in a row."""


class Events:
    """Counts how many of the selected parts are used at a position.

    A part in two selections counts once. A label, the chunk that begins with it and the pair that
    it ends are three parts.

    Parameters
    ----------
    selections : sequence of Selection
    sequences : Sequences

    Attributes
    ----------
    memory : int
        The number of previous symbols needed.
    first, last : int
        How far from the beginning and from the end places matter; 0: not at all.

    Raises
    ------
    NoEvents
        If a selection is not about labels in a row.
    """

    def __init__(self, selections: Sequence[Selection], sequences: Sequences) -> None:
        self.sequences = sequences
        self.memory = self.first = self.last = 0
        self._sets: list[frozenset[int]] = []
        self._chunks: list[frozenset[int]] = []
        #: By kind of part; a position has one part of each kind.
        self._tests: dict[str, list[Test]] = {}
        for selection in selections:
            self._tests.setdefault(_kind(selection), []).append(self._test(selection))

    def __call__(self, t: int, left: int, before: tuple[int, ...], symbol: int) -> int:
        """Return how many of the selected parts are used at position t.

        Parameters
        ----------
        left : int
            The number of positions after it.
        before : tuple of int
            The last ``memory`` symbols before it, or as many as there are.
        """
        kinds = self._tests.values()
        return sum(any(test(t, left, before, symbol) for test in kind) for kind in kinds)

    def trait(self, symbol: int) -> Any:
        """Return everything about a symbol that the tests depend on."""
        traits = self.sequences.alphabet.traits
        among = tuple(symbol in members for members in self._sets)
        return among, tuple(traits(symbol) if symbol in chunk else None for chunk in self._chunks)

    # -- selections -----------------------------------------------------------------------------

    def _test(self, selection: Selection) -> Test:
        if isinstance(selection, Chunk):
            return self._chunk(selection)
        if isinstance(selection, Label):
            return self._row((selection.label,), selection)
        return self._part(selection)

    def _chunk(self, chunk: Chunk) -> Test:
        alphabet = self.sequences.alphabet
        among = alphabet.chunk(chunk.type)
        self._chunks.append(among)
        if alphabet.segments:
            return lambda t, left, before, symbol: symbol in among
        self.memory = max(self.memory, 1)

        def begins(t: int, left: int, before: tuple[int, ...], symbol: int) -> bool:
            return symbol in among and alphabet.begins(before[-1] if before else None, symbol)

        return begins

    def _part(self, part: Part) -> Test:
        if self.sequences.windows.get(part.block) != len(part.outcome):
            raise NoEvents
        if part.block not in _ENDS:
            return self._row(part.outcome, part)
        (among,) = self._symbols(part.outcome)
        if part.block == "start":
            self.memory = max(self.memory, 1)
            return lambda t, left, before, symbol: not before and symbol in among
        self._need_places()
        self.last = max(self.last, 1)
        return lambda t, left, before, symbol: left == 0 and symbol in among

    def _row(self, labels: Sequence[Any], selection: Label | Part) -> Test:
        """Return the test for consecutive labels that end at the position."""
        *earlier, among = self._symbols(labels)
        memory = len(earlier)
        self.memory = max(self.memory, memory)
        everywhere = selection.at is None
        places, from_end = self._places(selection, memory)

        def used(t: int, left: int, before: tuple[int, ...], symbol: int) -> bool:
            if symbol not in among or not (everywhere or t in places or left in from_end):
                return False
            last = before[len(before) - memory :] if memory else ()
            return len(before) >= memory and all(
                label in allowed for label, allowed in zip(last, earlier, strict=True)
            )

        return used

    def _places(self, selection: Label | Part, memory: int) -> tuple[set[int], set[int]]:
        """Return the places of a selection, counted from the beginning and from the end."""
        if selection.at is None:
            return set(), set()
        self._need_places()
        length = self.sequences.length
        places, from_end = set(), set()
        for place in selection.places:
            _check(place, None if length is None else max(length - memory, 0), selection)
            if place >= 0:
                places.add(int(place) + memory)
            else:
                from_end.add(-1 - int(place))
        self.first = max([self.first, *(t + 1 for t in places)])
        self.last = max([self.last, *(left + 1 for left in from_end)])
        return places, from_end

    def _need_places(self) -> None:
        if self.sequences.alphabet.segments:
            raise NoEvents

    def _symbols(self, labels: Sequence[Any]) -> list[frozenset[int]]:
        symbols = list(map(self.sequences.alphabet.numbers, labels))
        self._sets += symbols
        return symbols


def counted(
    events: Sequence[Events],
    start: Any,
    step: Callable[[Any, list[int]], Any],
    accepts: Callable[[Any], bool],
) -> Automaton:
    """Return the automaton whose state changes only with events.

    Parameters
    ----------
    step : callable
        From a state and the count of each of the events to the next state; None
        rejects.
    """
    sequences = events[0].sequences
    length, n_symbols = sequences.length, len(sequences.alphabet)
    memory = max(e.memory for e in events)
    first = max(e.first for e in events)
    last = max(e.last for e in events)

    def trait(symbol: int) -> Any:
        return tuple(e.trait(symbol) for e in events)

    def after(t: int, left: int, inner: Any, before: tuple[int, ...], symbol: int) -> Any:
        """Return the state after a symbol, and the remembered symbols; None: rejected."""
        following = step(inner, [e(t, left, before, symbol) for e in events])
        if following is None:
            return None
        return following, (*before, symbol)[-memory:] if memory else ()

    if not first and not last:
        return explore(
            (start, ()),
            lambda state, symbol: after(0, _MANY, *state, symbol),
            lambda state: accepts(state[0]),
            n_symbols,
            trait,
        )
    if length is not None:
        return by_position(
            length,
            (start, ()),
            lambda t, state, symbol: after(t, length - 1 - t, *state, symbol),
            lambda state: accepts(state[0]),
            n_symbols,
            trait,
        )

    # For any length: the last symbols wait until their distance from the end is known.
    def onward(state: Any, symbol: int) -> Any:
        t, inner, before, waiting = state
        waiting = (*waiting, symbol)
        if len(waiting) <= last:
            return t, inner, before, waiting
        reached = after(t, _MANY, inner, before, waiting[0])
        return reached and (min(t + 1, first), *reached, waiting[1:])

    def ends(state: Any) -> bool:
        t, inner, before, waiting = state
        for n, symbol in enumerate(waiting):
            reached = after(t + n, len(waiting) - 1 - n, inner, before, symbol)
            if reached is None:
                return False
            inner, before = reached
        return accepts(inner)

    return explore((0, start, (), ()), onward, ends, n_symbols, trait)


def _kind(selection: Selection) -> str:
    if isinstance(selection, Chunk):
        return "chunk"
    if isinstance(selection, Part) and (len(selection.outcome) > 1 or selection.block in _ENDS):
        return selection.block
    return "label"


def _check(place: Any, positions: int | None, selection: Any) -> None:
    whole = hasattr(place, "__index__") and not isinstance(place, bool)
    if not whole or not (positions is None or -positions <= place < positions):
        block = selection.block if isinstance(selection, Part) else "label"
        shape = "" if positions is None else f"; {block} has positions of shape {(positions,)}"
        raise ValueError(f"a constraint names the position {place!r}{shape}")
