"""An automaton as rows of an integer program: a flow from its start to an accepting state.

A flow of one unit passes through the states. Its share that reads class c in state s at
position i is a helper column; over all states these add up to the parts with such a label at i::

    Σ_s flow[i, s, c] = Σ_{k in c} label[i, k],     flow into a state = flow out of it.

The automaton is deterministic, so integral parts determine the flow: helpers need not be integers.
On segmentations flow[i, d, s, c] leads from position i to i + d.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..array_types import Array, Integers
from .automaton import Automaton

Columns = Integers


class FlowRows(NamedTuple):
    """Equations, with helper columns after all others.

    Attributes
    ----------
    row, column : (n,) arrays of int
    value : (n,) array of float
        The coefficients.
    n_rows, n_helpers : int
    """

    row: Columns
    column: Columns
    value: Array
    n_rows: int
    n_helpers: int


def flow_rows(automaton: Automaton, parts: Columns, first: int) -> FlowRows:
    """Return the rows that make an automaton accept the labels.

    Parameters
    ----------
    parts : (L, D, K) array of int
        The column of the part with label k that begins at i and is d + 1 long; D is 1 on chains.
    first : int
        The number of the first helper column.
    """
    length, longest, _ = parts.shape
    classes = np.array(automaton.classes)
    useful = _useful(automaton, length, longest)
    entries: list[tuple[int, int, float]] = []
    nodes: dict[tuple[int, int], int] = {}
    n_rows = helpers = 0

    def node(position: int, state: int) -> int | None:
        """Return the row that balances the flow of a state at a position."""
        nonlocal n_rows
        if position in (0, length):
            return None
        if (position, state) not in nodes:
            nodes[position, state] = n_rows
            n_rows += 1
        return nodes[position, state]

    for i in range(length):
        table = automaton.table(i)
        for d in range(min(longest, length - i)):
            for c in range(int(classes.max(initial=-1)) + 1):
                link = n_rows
                n_rows += 1
                entries += [(link, k, -1.0) for k in parts[i, d, classes == c].tolist()]
                for state in useful[i]:
                    target = table[state][c]
                    if target not in useful[i + d + 1]:
                        continue
                    column = first + helpers
                    helpers += 1
                    entries.append((link, column, 1.0))
                    for row, sign in ((node(i, state), -1.0), (node(i + d + 1, target), 1.0)):
                        if row is not None:
                            entries.append((row, column, sign))
    return FlowRows(
        np.array([row for row, _, _ in entries], dtype=np.int64),
        np.array([column for _, column, _ in entries], dtype=np.int64),
        np.array([value for _, _, value in entries]),
        n_rows,
        helpers,
    )


def _useful(automaton: Automaton, length: int, longest: int) -> list[set[int]]:
    """Return the states at each position that are on a path from the start to acceptance."""
    reached: list[set[int]] = [set() for _ in range(length + 1)]
    reached[0].add(automaton.start)
    for i in range(length):
        table = automaton.table(i)
        targets = {t for state in reached[i] for t in table[state] if t >= 0}
        for d in range(min(longest, length - i)):
            reached[i + d + 1] |= targets
    reached[length] = {s for s in reached[length] if automaton.accepting_states[s]}
    for i in reversed(range(length)):
        table = automaton.table(i)
        ahead = set[int]().union(*reached[i + 1 : i + 1 + longest])
        reached[i] = {s for s in reached[i] if not ahead.isdisjoint(table[s])}
    return reached
