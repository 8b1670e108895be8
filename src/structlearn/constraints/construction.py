"""Minimal automata built from a step function between states of any kind."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from .automaton import Automaton

if TYPE_CHECKING:
    State = TypeVar("State", bound=Hashable)

#: The most states of one automaton; larger ones are left to the integer program.
MOST_STATES = 4096

_DEAD = -1


class TooManyStates(ValueError):
    """An automaton would have more than MOST_STATES states."""

    def __init__(self, constraint: str = "a constraint") -> None:
        super().__init__(f"{constraint} needs an automaton of more than {MOST_STATES:,} states")


def divide(n_symbols: int, trait: Callable[[int], Hashable]) -> tuple[list[int], list[int]]:
    """Return the class of each symbol, and one symbol per class; equal traits make a class."""
    numbers: dict[Hashable, int] = {}
    classes: list[int] = []
    examples: list[int] = []
    for symbol in range(n_symbols):
        number = numbers.setdefault(trait(symbol), len(numbers))
        if number == len(examples):
            examples.append(symbol)
        classes.append(number)
    return classes, examples


def explore(
    start: State,
    step: Callable[[State, int], State | None],
    accepts: Callable[[State], bool],
    n_symbols: int,
    trait: Callable[[int], Hashable],
) -> Automaton:
    """Return the minimal automaton of the sequences that lead from a start to an accepting state.

    Parameters
    ----------
    step : callable
        From a state and a symbol to the next state; None rejects.
    trait : callable
        What ``step`` reads of a symbol; symbols with equal traits lead to the same states.
    """
    classes, symbols = divide(n_symbols, trait)
    numbers = {start: 0}
    states = [start]
    table: list[list[int]] = []
    for state in states:  # grows
        row = []
        for symbol in symbols:
            following = step(state, symbol)
            if following is None:
                row.append(_DEAD)
                continue
            number = numbers.setdefault(following, len(states))
            if number == len(states):
                if number == MOST_STATES:
                    raise TooManyStates
                states.append(following)
            row.append(number)
        table.append(row)
    return minimal(table, classes, list(map(accepts, states)))


def by_position(
    length: int,
    start: State,
    step: Callable[[int, State, int], State | None],
    accepts: Callable[[State], bool],
    n_symbols: int,
    trait: Callable[[int], Hashable],
) -> Automaton:
    """Return the automaton of the sequences of one length, with the fewest states at each position.

    As :func:`explore`; ``step`` also takes the position, from 0.
    """
    classes, symbols = divide(n_symbols, trait)
    layers: list[dict[State, list[State | None]]] = []
    reached = {start: 0}
    for t in range(length):
        layers.append({s: [step(t, s, symbol) for symbol in symbols] for s in reached})
        following = [s for row in layers[-1].values() for s in row if s is not None]
        reached = dict.fromkeys(following, 0)
        if len(reached) > MOST_STATES:
            raise TooManyStates
    # From the end: equal rows make one state; states that cannot reach the end are dropped.
    numbers: dict[Any, int] = {s: 0 if accepts(s) else _DEAD for s in reached}
    tables: list[list[tuple[int, ...]]] = []
    for layer in reversed(layers):
        rows: dict[tuple[int, ...], int] = {}
        before = {}
        for state, targets in layer.items():
            row = tuple(_DEAD if s is None else numbers[s] for s in targets)
            dead = all(target == _DEAD for target in row)
            before[state] = _DEAD if dead else rows.setdefault(row, len(rows))
        tables.append(list(rows))
        numbers = before
    if numbers[start] == _DEAD:
        return _nothing(classes, length)
    most = max([1, *map(len, tables)])
    nowhere = (_DEAD,) * len(symbols)
    padded = [[*table, *[nowhere] * (most - len(table))] for table in reversed(tables)]
    accepting = [s == 0 for s in range(most)]
    return Automaton.of_classes(padded, classes, numbers[start], accepting, by_position=True)


def _nothing(classes: Sequence[int], length: int | None) -> Automaton:
    """Return an automaton that accepts nothing."""
    table = [(_DEAD,) * (max(classes, default=-1) + 1)]
    times = 1 if length is None else length
    return Automaton.of_classes([table] * times, classes, 0, [False], length is not None)


def minimal(
    table: Sequence[Sequence[int]], classes: Sequence[int], accepting: Sequence[bool]
) -> Automaton:
    """Return the automaton with the fewest states that accepts the same.

    All states must be reachable from the first one, the start. Hopcroft's algorithm (J. E.
    Hopcroft, An n log n algorithm for minimizing states in a finite automaton, 1971), with one
    extra dead state; then classes of labels with equal transitions are joined.
    """
    dead = len(table)
    n_classes = max(classes, default=-1) + 1
    rows = [[dead if s == _DEAD else s for s in row] for row in table]
    rows.append([dead] * n_classes)
    block = _stable_blocks(rows, [*accepting, False], n_classes)
    lost = block[dead]  # the block of all states that accept nothing
    if block[0] == lost:
        return _nothing([0] * len(classes), None)
    # Numbers in the order of a breadth-first search: equal automata have equal tables.
    member = {b: s for s, b in reversed(list(enumerate(block)))}
    numbers = {block[0]: 0}
    order = [block[0]]
    table_rows: list[list[int]] = []
    for b in order:  # grows
        row = []
        for target in rows[member[b]]:
            if block[target] == lost:
                row.append(_DEAD)
                continue
            number = numbers.setdefault(block[target], len(order))
            if number == len(order):
                order.append(block[target])
            row.append(number)
        table_rows.append(row)
    columns: dict[tuple[int, ...], int] = {}
    merged = [columns.setdefault(column, len(columns)) for column in zip(*table_rows, strict=True)]
    joined = [merged[c] for c in classes]
    accepts = [bool(accepting[member[b]]) for b in order]
    rows_of_classes = [list(row) for row in zip(*columns, strict=True)]
    return Automaton.of_classes([rows_of_classes or table_rows], joined, 0, accepts)


def _stable_blocks(
    rows: Sequence[Sequence[int]], accepting: Sequence[bool], n_classes: int
) -> list[int]:
    """Return the block of each state: the coarsest partition that every label respects."""
    sources: list[list[list[int]]] = [[[] for _ in rows] for _ in range(n_classes)]
    for state, row in enumerate(rows):
        for c, target in enumerate(row):
            sources[c][target].append(state)
    block = [int(ok) for ok in accepting]
    blocks = [{s for s, b in enumerate(block) if b == k} for k in (0, 1)]
    waiting = {(k, c) for k in (0, 1) for c in range(n_classes)}
    while waiting:
        k, c = waiting.pop()
        leading = {source for state in blocks[k] for source in sources[c][state]}
        touched: dict[int, set[int]] = {}
        for state in leading:
            touched.setdefault(block[state], set()).add(state)
        for old, inside in touched.items():
            if len(inside) == len(blocks[old]):
                continue
            new = len(blocks)
            outside = blocks[old] - inside
            smaller, larger = sorted((inside, outside), key=len)
            blocks[old] = larger
            blocks.append(smaller)
            for state in smaller:
                block[state] = new
            waiting.update((new, d) for d in range(n_classes))
            # Waiting pairs of the old block stay, now for its larger half, and the other half is
            # added. Otherwise the smaller half is enough (Hopcroft).
    return block
