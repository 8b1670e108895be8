"""Constraints on the labels that a trained model gives, as automata of the core."""

from __future__ import annotations

from collections.abc import Sequence

from .. import _core

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

#: Lists of constraints whose automata are remembered.
_MOST = 32


class ConstraintMemory:
    """Automata that were asked for before, with what the core has worked out of them.

    Parameters
    ----------
    labels : int
        How many labels the model has.
    max_length : int
        The longest of its segments; 0: it labels tokens.
    """

    def __init__(self, labels: int, max_length: int = 0) -> None:
        self._labels, self._max_length = labels, max_length
        self._made: dict[tuple[Any, ...], Any] = {}

    def automata(self, own: Sequence[str], given: Any, sequences: Any) -> Any:
        """Return the core's automata of the model's own constraints and of more; None without any.

        Parameters
        ----------
        own : list of str
        given : list of Constraint, str, or None
        sequences : Sequences
            What the constraints speak of.
        """
        if given is None and not own:
            return None
        from ..constraints.automata import automata_of
        from ..constraints.text import read_constraints

        more = read_constraints(given)
        key = (*own, *more)
        if key not in self._made:
            if len(self._made) >= _MOST:
                self._made.clear()
            automata = [one.automaton for one in automata_of([*read_constraints(own), *more],
                                                             sequences)]  # fmt: skip
            self._made[key] = _core.LabelConstraints(automata, self._labels, self._max_length)
        return self._made[key]

    def __reduce__(self) -> tuple[Any, ...]:
        return ConstraintMemory, (self._labels, self._max_length)  # they are made again


def token_sequences(labels: Sequence[str]) -> Any:
    """Return how constraints read the labels of tokens."""
    from ..constraints.alphabet import Alphabet
    from ..constraints.events import Sequences

    return Sequences(Alphabet(labels), None, {"label": 1, "start": 1, "end": 1, "transition": 2})


def segment_sequences(labels: Sequence[str]) -> Any:
    """Return how constraints read the labels of segments."""
    from ..constraints.alphabet import Alphabet
    from ..constraints.events import Sequences

    windows = {"segment": 1, "start": 1, "transition": 2}
    return Sequences(Alphabet(labels, segments=True), None, windows)
