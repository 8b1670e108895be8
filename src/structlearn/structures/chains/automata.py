"""Automata over label indices, in the form that structures read.

An automaton is any object with the attributes ``next`` (states, labels) or (positions, states,
labels), ``start`` and ``accepting`` (states,): deterministic, −1 if there is no next state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ...array_types import Integers


class AutomatonLike(Protocol):
    """The attributes of an automaton that structures read."""

    @property
    def next(self) -> Any:
        """The next state for each state and label."""

    @property
    def start(self) -> int:
        """The state before the first label."""

    @property
    def accepting(self) -> Any:
        """Whether each state accepts."""


class _Automaton(NamedTuple):
    next: npt.NDArray[np.int32]
    start: int
    accepting: npt.NDArray[np.bool_]


def checked(automata: Iterable[AutomatonLike]) -> tuple[_Automaton, ...]:
    """Return automata with arrays of the right types; the core checks the rest."""
    converted = []
    for automaton in automata:
        try:
            table = np.ascontiguousarray(automaton.next, dtype=np.int32)
            accepting = np.ascontiguousarray(automaton.accepting, dtype=bool)
            converted.append(_Automaton(table, int(automaton.start), accepting))
        except (AttributeError, TypeError, ValueError) as error:
            raise ValueError(f"{automaton!r} is not an automaton: {error}") from None
        if table.ndim not in (2, 3) or accepting.shape != table.shape[-2:-1]:
            raise ValueError(
                "an automaton has next of shape (states, labels) or (positions, states, labels) "
                f"and accepting of shape (states,), got {table.shape} and {accepting.shape}"
            )
    return tuple(converted)


def automata_row(automata: Sequence[_Automaton]) -> Integers:
    """Return the row of integers that encodes an example's automata for the core."""
    row: list[Any] = [[len(automata)]]
    for a in automata:
        positions = len(a.next) if a.next.ndim == 3 else 0
        row += [[*a.next.shape[-2:], positions, a.start], a.accepting, a.next.ravel()]
    return np.concatenate(row).astype(np.int64)


def read_row(row: Integers) -> tuple[_Automaton, ...]:
    """Return the automata encoded by :func:`automata_row`."""
    automata, at = [], 1
    for _ in range(int(row[0]) if len(row) else 0):
        states, labels, positions, start = map(int, row[at : at + 4])
        at += 4
        accepting = row[at : at + states] != 0
        at += states
        shape = (positions, states, labels) if positions else (states, labels)
        size = max(positions, 1) * states * labels
        automata.append(
            _Automaton(row[at : at + size].reshape(shape).astype(np.int32), start, accepting)
        )
        at += size
    return tuple(automata)


def accepts(automaton: _Automaton, labels: Iterable[tuple[int, int]]) -> bool:
    """Tell whether an automaton accepts labels, each given with its position."""
    state = automaton.start
    for position, k in labels:
        table = automaton.next if automaton.next.ndim == 2 else automaton.next[position]
        state = int(table[state, k])
        if state < 0:
            return False
    return bool(automaton.accepting[state])


def joint_steps(
    automata: Sequence[_Automaton], state: tuple[int, ...], position: int, n_labels: int
) -> Iterator[tuple[tuple[int, ...], Integers]]:
    """Iterate over the joint states reachable from one by a label, each with its labels."""
    if not automata:
        yield (), np.arange(n_labels)
        return
    tables = (a.next if a.next.ndim == 2 else a.next[position] for a in automata)
    after = np.stack([table[s] for table, s in zip(tables, state, strict=True)])
    (alive,) = np.nonzero((after >= 0).all(axis=0))
    targets, which = np.unique(after[:, alive], axis=1, return_inverse=True)
    for n, target in enumerate(targets.T.tolist()):
        yield tuple(target), alive[np.ravel(which) == n]
