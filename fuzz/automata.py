"""Small automata over labels, drawn at random."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class Automaton(NamedTuple):
    """A deterministic automaton, in the form that structures read."""

    next: npt.NDArray[np.int32]
    start: int
    accepting: npt.NDArray[np.bool_]


def draw_automata(
    rng: np.random.Generator, n_labels: int, length: int, most: int = 3
) -> list[Automaton]:
    """Draw up to ``most`` automata, of any kind."""
    return [draw_automaton(rng, n_labels, length) for _ in range(int(rng.integers(0, most + 1)))]


def draw_automaton(rng: np.random.Generator, n_labels: int, length: int) -> Automaton:
    """Draw a count, runs of a label, an order of labels, or a meaningless table."""
    kind = int(rng.integers(0, 5))
    labels = rng.random(n_labels) < 0.5
    if kind == 0:
        return _count(rng, labels, length)
    if kind == 1:
        return _contiguous(int(rng.integers(n_labels)), n_labels)
    if kind == 2:
        return _precedes(rng, n_labels)
    positions = length if kind == 3 else 0
    return _any(rng, n_labels, positions)


def _count(rng: np.random.Generator, labels: npt.NDArray[np.bool_], length: int) -> Automaton:
    """Return an automaton that accepts a number of labels between two bounds."""
    lower, upper = sorted(rng.integers(0, min(length, 3) + 1, size=2).tolist())
    if rng.random() < 0.5:  # no upper bound: labels beyond the lower one are not counted
        table = np.array([[min(s + k, lower) for k in labels] for s in range(lower + 1)])
        return Automaton(table.astype(np.int32), 0, np.arange(lower + 1) == lower)
    table = np.array([[s + k if s + k <= upper else -1 for k in labels] for s in range(upper + 1)])
    return Automaton(table.astype(np.int32), 0, np.arange(upper + 1) >= lower)


def _contiguous(label: int, n_labels: int) -> Automaton:
    """Return an automaton that accepts at most one run of a label."""
    table = np.array([[0], [2], [2]]).repeat(n_labels, axis=1)
    table[:, label] = 1, 1, -1
    return Automaton(table.astype(np.int32), 0, np.ones(3, dtype=bool))


def _precedes(rng: np.random.Generator, n_labels: int) -> Automaton:
    """Return an automaton that accepts no label after another one."""
    first, second = rng.integers(0, n_labels, size=2)
    table = np.array([[0], [1]]).repeat(n_labels, axis=1)
    table[0, second] = 1
    table[1, first] = -1
    return Automaton(table.astype(np.int32), 0, np.ones(2, dtype=bool))


def _any(rng: np.random.Generator, n_labels: int, positions: int) -> Automaton:
    """Return a random table; some of its states may be dead ends."""
    states = int(rng.integers(1, 5))
    shape = (positions, states, n_labels) if positions else (states, n_labels)
    table = rng.integers(0, states, size=shape)
    table[rng.random(shape) < rng.choice([0.0, 0.1, 0.3])] = -1
    accepting = rng.random(states) < 0.7
    return Automaton(table.astype(np.int32), int(rng.integers(states)), accepting)
