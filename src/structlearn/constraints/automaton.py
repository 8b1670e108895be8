"""Finite automata over label numbers: the sequences of labels that a constraint allows."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ..drawing.picture import Picture

    #: The next state by state and class; −1 if there is none.
    Table = Sequence[Sequence[int]]


class Automaton:
    """A deterministic automaton over the labels 0..K−1; immutable.

    Reading starts in ``start``. A label t leads from state s to ``next[s, t]``; −1 rejects the
    sequence. A sequence is accepted if its last state is accepting. On segmentations one label is
    read for each segment.

    Parameters
    ----------
    next : (S, K) or (L, S, K) array of whole numbers
        The next state; with three axes, one table per position, for sequences of L labels.
    start : int
    accepting : (S,) array of bool

    Examples
    --------
    At most one label 1:

    >>> once = Automaton([[0, 1], [1, -1]], start=0, accepting=[True, True])
    >>> once.accepts([0, 1, 0]), once.accepts([1, 1])
    (True, False)
    """

    __slots__ = (
        "_by_position",
        "_classes",
        "_layers",
        "_memory",
        "accepting_states",
        "n_states",
        "start",
    )

    #: For each state, whether it accepts.
    accepting_states: tuple[bool, ...]
    n_states: int
    start: int
    _classes: tuple[int, ...]
    _layers: tuple[Table, ...]
    _by_position: bool
    _memory: memoryview | None

    def __init__(self, next: Any, start: int, accepting: Any) -> None:
        layers = next.tolist() if hasattr(next, "tolist") else next
        accepting = accepting.tolist() if hasattr(accepting, "tolist") else accepting
        by_position = bool(layers) and bool(layers[0]) and hasattr(layers[0][0], "__len__")
        if not by_position:
            layers = [layers]
        try:
            sizes = {len(row) for table in layers for row in table}
        except TypeError:
            raise ValueError("next must have two axes or three: (S, K) or (L, S, K)") from None
        if len(sizes) != 1 or any(len(table) != len(accepting) for table in layers):
            raise ValueError(
                "next must have a row for each state of accepting, and a column for each label"
            )
        states = range(-1, len(accepting))
        if not all(_is_whole(s) and s in states for table in layers for row in table for s in row):
            raise ValueError(f"the next state must be among 0..{len(accepting) - 1}, or -1")
        if not _is_whole(start) or start not in states[1:]:
            raise ValueError(f"start must be among 0..{len(accepting) - 1}, got {start!r}")
        self._hold(layers, by_position, range(sizes.pop()), int(start), accepting)

    @classmethod
    def of_classes(
        cls,
        tables: Sequence[Table],
        classes: Sequence[int],
        start: int,
        accepting: Sequence[bool],
        by_position: bool = False,
    ) -> Automaton:
        """Return an automaton over classes of labels: the labels of a class are equivalent.

        Parameters
        ----------
        tables : sequence of rows of next states by class
            One table, or with ``by_position`` one for each position.
        classes : sequence of K int
            The class of each label.
        """
        made = cls.__new__(cls)
        made._hold(tables, by_position, classes, start, accepting)
        return made

    def _hold(
        self,
        layers: Sequence[Table],
        by_position: bool,
        classes: Sequence[int],
        start: int,
        accepting: Sequence[bool],
    ) -> None:
        put = object.__setattr__
        put(self, "_layers", tuple(layers))
        put(self, "_by_position", by_position)
        put(self, "_classes", tuple(classes))
        put(self, "_memory", None)
        put(self, "start", start)
        put(self, "accepting_states", tuple(map(bool, accepting)))
        put(self, "n_states", len(self.accepting_states))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("an automaton does not change")

    # -- its tables -----------------------------------------------------------------------------

    @property
    def n_labels(self) -> int:
        """K, the number of labels."""
        return len(self._classes)

    @property
    def length(self) -> int | None:
        """L, the length of the sequences that it reads; None: any length."""
        return len(self._layers) if self._by_position else None

    @property
    def classes(self) -> tuple[int, ...]:
        """The class of each label; labels of a class lead to the same states."""
        return self._classes

    def table(self, position: int = 0) -> Table:
        """Return the next state by state and class, at a position."""
        return self._layers[position if self._by_position else 0]

    @property
    def memory(self) -> memoryview:
        """``next`` in row order, as a read-only buffer of int32 in its own shape."""
        if self._memory is None:
            shape: tuple[int, ...] = (self.n_states, self.n_labels)
            if self._by_position:
                shape = (len(self._layers), *shape)
            wide = ([row[c] for c in self._classes] for table in self._layers for row in table)
            cells = array("i", chain.from_iterable(wide))
            view = memoryview(cells).toreadonly().cast("B")
            object.__setattr__(self, "_memory", view.cast("i", shape) if cells else view)
        assert self._memory is not None
        return self._memory

    @property
    def next(self) -> npt.NDArray[np.int32]:
        """The next states: (S, K), or (L, S, K) if they vary with the position."""
        import numpy as np

        states = np.frombuffer(self.memory, dtype=np.int32) if self.memory.nbytes else np.empty(0)
        length = self.length
        shape = (self.n_states, self.n_labels)
        return states.astype(np.int32, copy=False).reshape(
            shape if length is None else (length, *shape)
        )

    @property
    def accepting(self) -> npt.NDArray[np.bool_]:
        """Whether each state accepts, (S,)."""
        import numpy as np

        accepting = np.array(self.accepting_states, dtype=np.bool_)
        accepting.setflags(write=False)
        return accepting

    # -- reading --------------------------------------------------------------------------------

    def run(self, labels: Sequence[int]) -> list[int]:
        """Return the visited states, the first one included; −1 once the sequence is rejected."""
        layers = self._layers
        if self._by_position and len(labels) != len(layers):
            raise ValueError(f"{len(labels)} labels for an automaton of {len(layers)} positions")
        state, states = self.start, [self.start]
        for t, label in enumerate(labels):
            if state >= 0:
                state = layers[t if self._by_position else 0][state][self._classes[label]]
            states.append(state)
        return states

    def accepts(self, labels: Sequence[int]) -> bool:
        """Tell whether a sequence of labels is accepted."""
        last = self.run(labels)[-1]
        return last >= 0 and self.accepting_states[last]

    def draw(self, labels: Sequence[Any] | None = None) -> Picture:
        """Draw its states and transitions.

        Parameters
        ----------
        labels : sequence of K labels, optional
            Written on the transitions; their numbers by default.
        """
        from ..drawing.automata import draw_automata

        return draw_automata([self], range(self.n_labels) if labels is None else labels)

    # -- as a value -----------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Automaton):
            return NotImplemented
        return (
            self.start == other.start
            and self.accepting_states == other.accepting_states
            and self.n_labels == other.n_labels
            and self.length == other.length
            and self.memory == other.memory
        )

    def __hash__(self) -> int:
        return hash((self.start, self.accepting_states, self.n_labels, self.length))

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self._layers, self._classes, self.start, self.accepting_states, self._by_position)
        return Automaton.of_classes, parts

    def __repr__(self) -> str:
        places = "" if self.length is None else f", {self.length} positions"
        return f"Automaton({self.n_states} states, {self.n_labels} labels{places})"


def _is_whole(value: Any) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, bool)
