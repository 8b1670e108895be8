"""Finite automata: a circle for each state, an arrow for each transition."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ..printing import escape
from .palette import themed
from .picture import Picture, text_width

_RADIUS, _DOWN, _GAP = 17.0, 92.0, 34.0
_SIZE = 12.0  # of letters on arrows
_MOST_STATES, _MOST_AUTOMATA, _MOST_LETTERS = 60, 8, 26
_STYLE = themed(
    "svg.automata",
    """
svg.automata{background:var(--paper)}
.automata text{font:13px system-ui,sans-serif;text-anchor:middle;fill:var(--ink)}
.automata .title{text-anchor:start;font-weight:600}
.automata .soft{text-anchor:start;fill:var(--soft);font-size:12px}
.automata .on{font-size:12px;paint-order:stroke;stroke:var(--paper);stroke-width:4px}
.automata circle{fill:var(--card);stroke:var(--edge);stroke-width:1.3}
.automata circle.accepts{stroke:var(--best);stroke-width:2}
.automata circle.inner{fill:none;stroke:var(--best);stroke-width:1.1}
.automata path{fill:none;stroke:var(--edge);stroke-width:1.3}
.automata path.head{fill:var(--edge);stroke:none}
""",
)


class _State(NamedTuple):
    column: int
    row: float
    name: str
    accepts: bool


class _Way(NamedTuple):
    begin: int
    end: int
    text: str


def draw_automata(
    automata: Sequence[Any], labels: Sequence[Any], titles: Sequence[str] | None = None
) -> Picture:
    """Draw automata one below the other.

    Parameters
    ----------
    automata : sequence of Automaton
    labels : sequence of K labels
        Written on the arrows; a long list is written as its complement.
    titles : sequence of str, optional
        Written above each.

    Returns
    -------
    Picture
        Accepting states have a double circle. A missing arrow means that the sequence is not
        accepted. If an automaton varies with the position, each column is a position.
    """
    names = titles if titles is not None else [""] * len(automata)
    parts: list[str] = []
    width, top = 200.0, 8.0
    for automaton, title in list(zip(automata, names, strict=True))[:_MOST_AUTOMATA]:
        if title:
            parts.append(f'<text class="title" x="14" y="{top + 16:.1f}">{escape(title)}</text>')
            width = max(width, 40 + text_width(title, 14))
            top += 22
        drawn, across, down = _drawn(automaton, [str(k) for k in labels], top)
        parts += drawn
        width, top = max(width, across), top + down
    hidden = len(automata) - _MOST_AUTOMATA
    if hidden > 0:
        parts.append(f'<text class="soft" x="14" y="{top + 16:.1f}">… {hidden} more</text>')
        top += 26
    return Picture(
        f'<svg xmlns="http://www.w3.org/2000/svg" class="automata" width="{width:.0f}" '
        f'height="{top + 8:.0f}" viewBox="0 0 {width:.0f} {top + 8:.0f}" role="img">'
        f"<style>{_STYLE}</style>{''.join(parts)}</svg>"
    )


def _drawn(automaton: Any, labels: list[str], top: float) -> tuple[list[str], float, float]:
    """Return the elements of one automaton, and its width and height."""
    states, ways, hidden = _graph(automaton, labels)
    between = [_RADIUS * 2 + _GAP] * (max(state.column for state in states) + 1)
    loops = {way.begin: way.text for way in ways if way.begin == way.end}
    for way in ways:
        a, b = states[way.begin].column, states[way.end].column
        wide = text_width(way.text, _SIZE)
        if abs(a - b) == 1:
            between[min(a, b)] = max(between[min(a, b)], wide + 2 * _RADIUS + 26)
        elif way.begin == way.end:  # half of it on each side
            between[a] = max(between[a], wide / 2 + 2 * _RADIUS + 20)
            if a:
                between[a - 1] = max(between[a - 1], wide / 2 + 2 * _RADIUS + 20)
    first = 46.0 + max(0.0, *(text_width(text, _SIZE) / 2 - 40 for text in loops.values()), 0.0)
    xs = [first + sum(between[:column]) for column in range(len(between))]
    places = [(xs[s.column], s.row * _DOWN) for s in states]
    x, y = places[0]
    parts = [_arrow(x - _RADIUS - 22, y, x - _RADIUS, y)]
    texts: list[str] = []
    loops_at = frozenset(loops)
    heights = [y for _, y in places]
    highest, lowest = min(heights) - _RADIUS, max(heights) + _RADIUS
    for way in ways:
        line, (x, y) = _way(way, states, places, loops_at)
        parts.append(line)
        texts.append(f'<text class="on" x="{x:.1f}" y="{y:.1f}">{escape(way.text)}</text>')
        highest, lowest = min(highest, y - _SIZE), max(lowest, y + 4)
    for state, (x, y) in zip(states, places, strict=True):
        kind = ' class="accepts"' if state.accepts else ""
        parts.append(f'<circle{kind} cx="{x:.1f}" cy="{y:.1f}" r="{_RADIUS:.0f}"/>')
        if state.accepts:
            parts.append(
                f'<circle class="inner" cx="{x:.1f}" cy="{y:.1f}" r="{_RADIUS - 3.5:.1f}"/>'
            )
        parts.append(f'<text x="{x:.1f}" y="{y + 4.5:.1f}">{escape(state.name)}</text>')
    across, down = xs[-1] + between[-1] + 20, lowest - highest + 22
    if hidden:
        parts.append(
            f'<text class="soft" x="14" y="{lowest + 18:.1f}">… {hidden} more states</text>'
        )
        down += 20
    moved = f'<g transform="translate(0 {top + 6 - highest:.1f})">'
    return [moved, *parts, *texts, "</g>"], across, down


def _graph(automaton: Any, labels: list[str]) -> tuple[list[_State], list[_Way], int]:
    """Return states with their columns, the transitions, and the number of states left out."""
    length = automaton.length
    numbers: dict[tuple[int, int], int] = {(0, automaton.start): 0}
    order = [(0, automaton.start)]
    edges: dict[tuple[int, int], list[str]] = {}
    hidden: set[tuple[int, int]] = set()
    for number, (t, state) in enumerate(order):  # it grows
        if length is not None and t == length:
            continue
        row = automaton.table(t)[state]
        for label, c in zip(labels, automaton.classes, strict=True):
            if row[c] < 0:
                continue
            target = (0 if length is None else t + 1, row[c])
            if target not in numbers:
                if len(order) >= _MOST_STATES:
                    hidden.add(target)
                    continue
                numbers[target] = len(order)
                order.append(target)
            edges.setdefault((number, numbers[target]), []).append(label)
    columns = _columns(len(order), edges)
    height: dict[int, int] = {}
    for number in range(len(order)):
        height[columns[number]] = height.get(columns[number], 0) + 1
    tallest = max(height.values())
    used: dict[int, int] = {}
    states = []
    for number, (t, state) in enumerate(order):
        column = columns[number]
        row = used.get(column, 0)
        used[column] = row + 1
        at = row + (tallest - height[column]) / 2
        ends = length is None or t == length
        states.append(_State(column, at, str(state), ends and automaton.accepting_states[state]))
    if length is None:
        left_out = automaton.n_states - len(order)
    else:
        left_out = len(hidden)
    ways = [_Way(a, b, _written(names, labels)) for (a, b), names in edges.items()]
    return states, ways, left_out


def _columns(n: int, edges: Iterable[tuple[int, int]]) -> list[int]:
    """Return the column of each state: its longest path from the start, without cycles."""
    onward: list[list[int]] = [[] for _ in range(n)]
    for a, b in edges:
        onward[a].append(b)
    done: list[int] = []
    open_, seen = {0}, {0}
    stack = [(0, iter(onward[0]))]
    back: set[tuple[int, int]] = set()
    while stack:
        state, targets = stack[-1]
        for target in targets:
            if target in open_:
                back.add((state, target))
            elif target not in seen:
                seen.add(target)
                open_.add(target)
                stack.append((target, iter(onward[target])))
                break
        else:
            open_.discard(state)
            done.append(state)
            stack.pop()
    columns = [0] * n
    for state in reversed(done):  # no transition leads to an earlier state
        for target in onward[state]:
            if (state, target) not in back:
                columns[target] = max(columns[target], columns[state] + 1)
    return columns


def _written(some: list[str], every: list[str]) -> str:
    """Return a set of labels in a few letters: their names, or those of the complement."""
    names = list(dict.fromkeys(some))
    others = [k for k in dict.fromkeys(every) if k not in names]
    if not others:
        return "any"
    text = ", ".join(names)
    without = "any but " + ", ".join(others)
    if len(without) < len(text):
        text = without
    if len(text) <= _MOST_LETTERS:
        return text
    return f"{text[: _MOST_LETTERS - 1]}…"


def _over(way: _Way, states: list[_State]) -> bool:
    return states[way.end].column - states[way.begin].column > 1


def _under(way: _Way, states: list[_State]) -> bool:
    return states[way.end].column < states[way.begin].column


def _way(
    way: _Way,
    states: list[_State],
    places: list[tuple[float, float]],
    loops: frozenset[int],
) -> tuple[str, tuple[float, float]]:
    """Return an arrow, and the place of its text."""
    (x1, y1), (x2, y2) = places[way.begin], places[way.end]
    if way.begin == way.end:
        line = (
            f'<path d="M{x1 - 8:.1f} {y1 - _RADIUS + 2:.1f} C{x1 - 20:.1f} {y1 - 44:.1f} '
            f'{x1 + 20:.1f} {y1 - 44:.1f} {x1 + 8:.1f} {y1 - _RADIUS + 2:.1f}"/>'
        ) + _head(x1 + 8, y1 - _RADIUS + 1, 7.0, 14.0)
        return line, (x1, y1 - 39)
    first, last = sorted((states[way.begin].column, states[way.end].column))
    between = [n for n, s in enumerate(states) if first < s.column < last]
    loop = 36.0 if loops.intersection(between) else 0.0
    heights = [places[n][1] for n in between]
    down = y2 - y1
    # The control point of the curve: in the middle of the straight line, or beside it.
    cx, cy = (x1 + x2) / 2, (y1 + y2) / 2
    if _over(way, states):
        cy = 2 * (min([y1, y2, *heights]) - 22 - loop - 9.0 * (last - first)) - cy
    elif _under(way, states):
        cy = 2 * (max([y1, y2, *heights]) + 16 + 9.0 * (last - first)) - cy
    elif first == last:
        cx += 60.0 if down > 0 else -60.0
    bend = (cx, cy) != ((x1 + x2) / 2, (y1 + y2) / 2)
    bx, by = _towards(x1, y1, cx if bend else x2, cy if bend else y2, _RADIUS)
    ex, ey = _towards(x2, y2, cx if bend else x1, cy if bend else y1, _RADIUS + 1)
    line = f'<path d="M{bx:.1f} {by:.1f} Q{cx:.1f} {cy:.1f} {ex:.1f} {ey:.1f}"/>'
    line += _head(ex, ey, ex - cx, ey - cy)
    tx, ty = (bx + 2 * cx + ex) / 4, (by + 2 * cy + ey) / 4
    below = _under(way, states)
    return line, (tx, ty + (15 if below else -5 if bend or abs(down) < 1 else 0))


def _arrow(x1: float, y1: float, x2: float, y2: float) -> str:
    line = f'<path d="M{x1:.1f} {y1:.1f} L{x2:.1f} {y2:.1f}"/>'
    return line + _head(x2, y2, x2 - x1, y2 - y1)


def _head(x: float, y: float, dx: float, dy: float) -> str:
    """Return the head of an arrow that ends here and comes from the opposite direction."""
    long = (dx**2 + dy**2) ** 0.5 or 1.0
    ux, uy = dx / long, dy / long
    bx, by = x - 9 * ux, y - 9 * uy
    return (
        f'<path class="head" d="M{x:.1f} {y:.1f} L{bx - 4 * uy:.1f} {by + 4 * ux:.1f} '
        f'L{bx + 4 * uy:.1f} {by - 4 * ux:.1f} Z"/>'
    )


def _towards(x: float, y: float, to_x: float, to_y: float, by: float) -> tuple[float, float]:
    long = ((to_x - x) ** 2 + (to_y - y) ** 2) ** 0.5 or 1.0
    return x + by * (to_x - x) / long, y + by * (to_y - y) / long
