"""Dependency trees as arcs over a line of words."""

from __future__ import annotations

from collections.abc import Sequence

from ..printing import escape
from .palette import themed
from .picture import Picture, text_width

__all__ = ["ArcDrawing", "draw_arcs"]

Arc = tuple[int, int, str]  # head, word, relation

_GAP = 16.0  # between words
_LEVEL = 24.0  # height of an arc over the next one
_BEND = 45.0  # the widest half of an arc without a straight piece
_PORT = 7.0  # between the ends of arcs at a word
_STYLE = themed(
    "svg.arcs",
    """
svg.arcs{background:var(--paper)}
.arcs text{font:11px system-ui,sans-serif;text-anchor:middle;fill:var(--soft);paint-order:stroke;
stroke:var(--paper);stroke-width:4px;stroke-linejoin:round}
.arcs .w{font-size:15px;fill:var(--ink)}
.arcs path{fill:none;stroke:var(--edge);stroke-width:1.3;stroke-linejoin:round}
.arcs .wrong path{stroke:var(--wrong)} .arcs .wrong text{fill:var(--wrong);font-weight:600}
.arcs .missed path{stroke:var(--gold);stroke-dasharray:5 3}
.arcs .missed text{fill:var(--gold);font-weight:600}
""",
)


class ArcDrawing(Picture):
    """A picture of one tree, or of a predicted and a gold one."""


def draw_arcs(
    words: Sequence[str],
    tree: Sequence[tuple[int, str]],
    gold: Sequence[tuple[int, str]] | None = None,
    tags: Sequence[str] | None = None,
) -> ArcDrawing:
    """Draw a dependency tree as arcs from heads to words.

    Parameters
    ----------
    words : sequence of n str
    tree : sequence of n (head, relation)
        Heads are numbered from 1; 0 is the root, drawn as an arrow from above.
    gold : the same, optional
        The correct tree: arcs of ``tree`` that are not in it are red, and missing ones are drawn
        below the words, dashed and green.
    tags : sequence of n str, optional
        Written under the words.

    Returns
    -------
    ArcDrawing
        Displayed by notebooks; ``drawing.svg`` is the SVG text. Size O(n), time O(n²).

    Examples
    --------
    >>> from structlearn.drawing.arcs import draw_arcs
    >>> draw_arcs(["Fish", "sleep"], [(2, "nsubj"), (0, "root")]).svg[:4]
    '<svg'
    """
    n = len(words)
    for name, other in (("tree", tree), ("gold", gold), ("tags", tags)):
        if other is not None and len(other) != n:
            raise ValueError(f"{n} words, but {name} has {len(other)}")
    above = _arcs(tree, "tree")
    wanted = above if gold is None else _arcs(gold, "gold")
    below = [arc for arc in wanted if arc not in set(above)]
    widths = [
        max(text_width(word, 15), text_width(tags[i], 11) if tags else 0.0, 12.0)
        for i, word in enumerate(words)
    ]
    widths = _widened(widths, above + below)
    x, centre = _GAP, []
    for width in widths:
        centre.append(x + width / 2)
        x += width + _GAP
    high, low = _levels(above), _levels(below)
    top = round(16 + _LEVEL * max(high.values(), default=1))
    bottom = top + (36 if tags else 22)
    height = bottom + (16 + _LEVEL * max(low.values()) if low else 4)

    right = set(wanted)
    groups = [
        ("right", [arc for arc in above if arc in right], high, top, -1),
        ("wrong", [arc for arc in above if arc not in right], high, top, -1),
        ("missed", below, low, bottom, 1),
    ]
    ends = {**_ports(above, centre, -1), **_ports(below, centre, 1)}
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="arcs" width="{x:.0f}" '
        f'height="{height:.0f}" viewBox="0 0 {x:.0f} {height:.0f}" role="img" '
        f'aria-label="{escape(" ".join(words))}">'
        f"<style>{_STYLE}</style>"
    ]
    for kind, arcs, levels, base, way in groups:
        if arcs:
            shapes = [_arc(arc, levels[arc], ends[arc, way], base, way) for arc in arcs]
            lines, labels = ("".join(part) for part in zip(*shapes, strict=True))
            out.append(f'<g class="{kind}"><path d="{lines}"/>{labels}</g>')
    out.append(_row("w", words, centre, top + 16))
    if tags:
        out.append(_row("t", tags, centre, top + 30))
    return ArcDrawing("".join([*out, "</svg>"]))


def _row(kind: str, texts: Sequence[str], centre: Sequence[float], y: float) -> str:
    """Return texts side by side."""
    cells = "".join(
        f'<tspan x="{x:.0f}">{escape(text)}</tspan>' for text, x in zip(texts, centre, strict=True)
    )
    return f'<text class="{kind}" y="{y:.0f}">{cells}</text>'


def _arcs(tree: Sequence[tuple[int, str]], name: str) -> list[Arc]:
    arcs = [(int(head), word, label) for word, (head, label) in enumerate(tree, 1)]
    for head, word, _ in arcs:
        if not 0 <= head <= len(arcs) or head == word:
            raise ValueError(f"{name}: the head of word {word} is {head}")
    return arcs


def _ends(arc: Arc) -> tuple[int, int]:
    head, word, _ = arc
    return (min(head, word), max(head, word)) if head else (word, word)


def _levels(arcs: Sequence[Arc]) -> dict[Arc, int]:
    """Return the height of each arc, above all arcs it spans or overlaps."""
    levels: dict[Arc, int] = {}
    for arc in sorted(arcs, key=lambda a: (_ends(a)[1] - _ends(a)[0], a)):
        if arc[0] == 0:
            continue
        left, right = _ends(arc)
        under = [
            level
            for other, level in levels.items()
            if _ends(other)[0] < right and left < _ends(other)[1]
        ]
        levels[arc] = 1 + max(under, default=0)
    most = max(levels.values(), default=0)
    levels.update({arc: most + 1 for arc in arcs if arc[0] == 0})
    return levels


def _ports(
    arcs: Sequence[Arc], centre: Sequence[float], way: int
) -> dict[tuple[Arc, int], tuple[float, float]]:
    """Return the x of both ends of each arc, side by side at a word so that none cross.

    From left to right: arcs to the left, shortest first; the root's; arcs to the right, longest
    first.
    """
    at: list[list[tuple[int, Arc]]] = [[] for _ in range(len(centre) + 1)]
    for arc in arcs:
        head, word, _ = arc
        at[word].append((0 if not head else head - word, arc))
        if head:
            at[head].append((word - head, arc))
    where: dict[tuple[Arc, int], float] = {}
    for word, ends in enumerate(at):
        # Distances −1, −2, …, then 0, then …, 2, 1.
        ends.sort(key=lambda end: (end[0] > 0, end[0] == 0, -end[0]))
        for i, (_, arc) in enumerate(ends):
            where[arc, word] = centre[word - 1] + _PORT * (i - (len(ends) - 1) / 2)
    return {(arc, way): (where[arc, arc[0] or arc[1]], where[arc, arc[1]]) for arc in arcs}


def _widened(widths: list[float], arcs: Sequence[Arc]) -> list[float]:
    """Widen gaps between words for the relations of short arcs and for the ends of arcs."""
    widths = list(widths)
    for arc in arcs:
        left, right = _ends(arc)
        if right - left == 1:
            needed = text_width(arc[2], 11) + 2 * _PORT
            have = widths[left - 1] / 2 + widths[right - 1] / 2 + _GAP
            if needed > have:
                widths[left - 1] += (needed - have) / 2
                widths[right - 1] += (needed - have) / 2
    for word in range(1, len(widths) + 1):
        here = sum(word in arc[:2] for arc in arcs)
        widths[word - 1] = max(widths[word - 1], _PORT * here)
    return widths


def _arc(arc: Arc, level: int, ends: tuple[float, float], base: float, way: int) -> tuple[str, str]:
    """Return the line of an arc with an arrow head at the word, and its relation."""
    head, _, label = arc
    start, end = map(round, ends)
    high = round(way * _LEVEL * level)
    if head == 0:
        line = f"M{end} {base + high}V{base}"
    else:
        # Wide arcs are straight on top: a curve would rise too late to pass over others.
        bend = round(min(abs(end - start) / 2, _BEND)) * (1 if end > start else -1)
        line = f"M{start} {base}q0 {high} {bend} {high}H{end - bend}q{bend} 0 {bend} {-high}"
    tip = f"m-3 {6 * way} 3 {-6 * way} 3 {6 * way}"
    text = base + high + (-4 if way < 0 else 12)
    return (
        (line + tip).replace(" -", "-"),
        f'<text x="{(start + end) / 2:.0f}" y="{text}">{escape(label)}</text>',
    )
