"""Where a sequence of labels uses one of several selections, told label by label."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from .alphabet import Alphabet
from .automaton import Automaton
from .construction import by_position, explore
from .selections import Chunk, Label, Part, Selection

__all__ = ["Events", "NoEvents", "Sequences", "counted"]

#: From the position, the symbols before it and its own to whether a selection is used there.
Test = Callable[[int, tuple[int, ...], int], bool]


class Sequences(NamedTuple):
    """The sequences of symbols that the outputs of a structure are read as.

    Attributes
    ----------
    alphabet : Alphabet
    length : int or None
        The number of positions; None: symbols are segments, whose number is not known.
    windows : mapping of str to int
        How many symbols, in a row, each part of a block is about.
    """

    alphabet: Alphabet
    length: int | None = None
    windows: Mapping[str, int] = {}


class NoEvents(Exception):
    """A selection is not one of labels in a row."""


class Events:
    """Tells of each position whether any of the selections is used there.

    Parameters
    ----------
    selections : sequence of Selection
    sequences : Sequences

    Attributes
    ----------
    memory : int
        How many symbols before the position have to be known.
    places : bool
        Whether the position has to be known.

    Raises
    ------
    NoEvents
        If a sequence of labels does not tell.
    """

    def __init__(self, selections: Sequence[Selection], sequences: Sequences) -> None:
        self.sequences = sequences
        self.memory, self.places = 0, False
        self._sets: list[frozenset[int]] = []
        self._chunks: list[frozenset[int]] = []
        self._tests = [self._test(selection) for selection in selections]

    def __call__(self, t: int, before: tuple[int, ...], symbol: int) -> bool:
        """Tell whether a selection is used at position t.

        Parameters
        ----------
        before : tuple of int
            The last ``memory`` symbols before, or as many as there are.
        """
        return any(test(t, before, symbol) for test in self._tests)

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
            return lambda t, before, symbol: symbol in among
        self.memory = max(self.memory, 1)

        def begins(t: int, before: tuple[int, ...], symbol: int) -> bool:
            return symbol in among and alphabet.begins(before[-1] if before else None, symbol)

        return begins

    def _part(self, part: Part) -> Test:
        windows, length = self.sequences.windows, self.sequences.length
        if windows.get(part.block) != len(part.outcome):
            raise NoEvents
        if part.block not in ("start", "end"):
            return self._row(part.outcome, part)
        (among,) = self._symbols(part.outcome)
        if part.block == "start":
            self.memory = max(self.memory, 1)
            return lambda t, before, symbol: not before and symbol in among
        if length is None:
            raise NoEvents
        self.places = True
        return lambda t, before, symbol: t == length - 1 and symbol in among

    def _row(self, labels: Sequence[Any], selection: Label | Part) -> Test:
        """Return the test for labels in a row, the last one at the position."""
        *earlier, among = self._symbols(labels)
        memory = len(earlier)
        self.memory = max(self.memory, memory)
        places = None
        if selection.at is not None:
            length = self.sequences.length
            if length is None:
                raise NoEvents
            positions = max(length - memory, 0)
            places = {memory + _checked(place, positions, selection) for place in selection.places}
            self.places = True

        def used(t: int, before: tuple[int, ...], symbol: int) -> bool:
            if symbol not in among or (places is not None and t not in places):
                return False
            last = before[len(before) - memory :] if memory else ()
            return len(before) >= memory and all(
                one in some for one, some in zip(last, earlier, strict=True)
            )

        return used

    def _symbols(self, labels: Sequence[Any]) -> list[frozenset[int]]:
        found = list(map(self.sequences.alphabet.numbers, labels))
        self._sets += found
        return found


def counted(
    events: Sequence[Events],
    start: Any,
    step: Callable[[Any, list[bool]], Any],
    accepts: Callable[[Any], bool],
) -> Automaton:
    """Return the automaton whose states change with events alone.

    Parameters
    ----------
    step : callable
        From a state and whether each of the events takes place to the next state; None: no way
        goes on.
    """
    sequences = events[0].sequences
    memory = max(one.memory for one in events)

    def onward(t: int, state: Any, symbol: int) -> Any:
        inner, before = state
        following = step(inner, [one(t, before, symbol) for one in events])
        if following is None:
            return None
        return following, (*before, symbol)[-memory:] if memory else ()

    def trait(symbol: int) -> Any:
        return tuple(one.trait(symbol) for one in events)

    length = sequences.length
    n_symbols = len(sequences.alphabet)
    if any(one.places for one in events):
        assert length is not None
        return by_position(
            length, (start, ()), onward, lambda state: accepts(state[0]), n_symbols, trait
        )
    return explore(
        (start, ()),
        lambda state, symbol: onward(-1, state, symbol),
        lambda state: accepts(state[0]),
        n_symbols,
        trait,
    )


def _checked(place: Any, positions: int, selection: Any) -> int:
    whole = hasattr(place, "__index__") and not isinstance(place, bool)
    if not whole or not -positions <= place < positions:
        block = selection.block if isinstance(selection, Part) else "label"
        raise ValueError(
            f"a constraint names the position {place!r}; {block} has positions of shape "
            f"{(positions,)}"
        )
    return int(place) % positions
