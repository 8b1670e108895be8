"""How many of several selections a sequence of labels uses, told label by label."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from .alphabet import Alphabet
from .automaton import Automaton
from .construction import by_position, explore
from .selections import Chunk, Label, Part, Selection

#: From how many symbols stand before, how many after, the symbols before and a symbol to whether a
#: selection is used there.
Test = Callable[[int, int, tuple[int, ...], int], bool]

#: Blocks of the first and the last label.
_ENDS = ("start", "end")
#: More symbols than any place is from the end.
_MANY = 1 << 60


class Sequences(NamedTuple):
    """The sequences of symbols that the outputs of a structure are read as.

    Attributes
    ----------
    alphabet : Alphabet
    length : int or None
        The number of positions; None: any. A place that a sequence does not have is never used,
        and of segments places are not known at all.
    windows : mapping of str to int
        How many symbols, in a row, each part of a block is about.
    """

    alphabet: Alphabet
    length: int | None = None
    windows: Mapping[str, int] = {}


class NoEvents(Exception):
    """A selection is not one of labels in a row."""


class Events:
    """Tells of each position how many of the selected parts are used there.

    A part that two selections mean is one part. A label, the chunk that begins with it and the pair
    that it ends are three.

    Parameters
    ----------
    selections : sequence of Selection
    sequences : Sequences

    Attributes
    ----------
    memory : int
        How many symbols before the position have to be known.
    first, last : int
        How far from the beginning and from the end places matter; 0: nowhere.

    Raises
    ------
    NoEvents
        If a sequence of labels does not tell.
    """

    def __init__(self, selections: Sequence[Selection], sequences: Sequences) -> None:
        self.sequences = sequences
        self.memory = self.first = self.last = 0
        self._sets: list[frozenset[int]] = []
        self._chunks: list[frozenset[int]] = []
        #: By kind of part, of which a position has one.
        self._tests: dict[str, list[Test]] = {}
        for selection in selections:
            self._tests.setdefault(_kind(selection), []).append(self._test(selection))

    def __call__(self, t: int, left: int, before: tuple[int, ...], symbol: int) -> int:
        """Return how many of the selected parts are used at position t.

        Parameters
        ----------
        left : int
            How many positions come after it.
        before : tuple of int
            The last ``memory`` symbols before, or as many as there are.
        """
        kinds = self._tests.values()
        return sum(any(test(t, left, before, symbol) for test in kind) for kind in kinds)

    def trait(self, symbol: int) -> Any:
        """Return what makes a difference of a symbol."""
        traits = self.sequences.alphabet.traits
        among = tuple(symbol in one for one in self._sets)
        return among, tuple(traits(symbol) if symbol in one else None for one in self._chunks)

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
        """Return the test for labels in a row, the last one at the position."""
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
                one in some for one, some in zip(last, earlier, strict=True)
            )

        return used

    def _places(self, selection: Label | Part, memory: int) -> tuple[set[int], set[int]]:
        """Return the places of a selection, from the beginning and from the end."""
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
        found = list(map(self.sequences.alphabet.numbers, labels))
        self._sets += found
        return found


def counted(
    events: Sequence[Events],
    start: Any,
    step: Callable[[Any, list[int]], Any],
    accepts: Callable[[Any], bool],
) -> Automaton:
    """Return the automaton whose states change with events alone.

    Parameters
    ----------
    step : callable
        From a state and how often each of the events takes place to the next state; None: no way
        goes on.
    """
    sequences = events[0].sequences
    length, n_symbols = sequences.length, len(sequences.alphabet)
    memory = max(one.memory for one in events)
    first = max(one.first for one in events)
    last = max(one.last for one in events)

    def trait(symbol: int) -> Any:
        return tuple(one.trait(symbol) for one in events)

    def after(t: int, left: int, inner: Any, before: tuple[int, ...], symbol: int) -> Any:
        """Return the state after a symbol, and the symbols that are remembered; None: no way."""
        following = step(inner, [one(t, left, before, symbol) for one in events])
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

    # Of any length: the last symbols wait until it is known how far from the end they are.
    def onward(state: Any, symbol: int) -> Any:
        t, inner, before, waiting = state
        waiting = (*waiting, symbol)
        if len(waiting) <= last:
            return t, inner, before, waiting
        found = after(t, _MANY, inner, before, waiting[0])
        return found and (min(t + 1, first), *found, waiting[1:])

    def ends(state: Any) -> bool:
        t, inner, before, waiting = state
        for n, symbol in enumerate(waiting):
            found = after(t + n, len(waiting) - 1 - n, inner, before, symbol)
            if found is None:
                return False
            inner, before = found
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
