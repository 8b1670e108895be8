"""Dependency trees as arcs over a line of words."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from .picture import Picture

__all__ = ["ArcDrawing", "draw_arcs"]

Arc = tuple[int, int, str]  # head, word, relation

_CHARACTER = 7.6  # width of a letter, roughly
_GAP = 22.0  # between words
_LEVEL = 26.0  # height of an arc over the next one
_STYLE = """
svg.arcs{--ink:#1b1f24;--soft:#68707a;--arc:#3c4650;--paper:#fff;--wrong:#c8321e;--gold:#1d7d46;
background:var(--paper)}
@media (prefers-color-scheme:dark){svg.arcs{--ink:#e6e9ef;--soft:#9aa4b2;--arc:#aab4c0;
--paper:#14171c;--wrong:#f08a80;--gold:#5fcf97}}
.arcs text{font:10px sans-serif;text-anchor:middle}
.arcs .w{font-size:14px;fill:var(--ink)}
.arcs .t{fill:var(--soft)}
.arcs path{fill:none;stroke-width:1.3}
.arcs path.right{stroke:var(--arc)}.arcs path.wrong{stroke:var(--wrong)}
.arcs path.missed{stroke:var(--gold);stroke-dasharray:5 3}
.arcs .l{paint-order:stroke;stroke:var(--paper);stroke-width:3px}
.arcs .l.right{fill:var(--arc)}.arcs .l.wrong{fill:var(--wrong)}.arcs .l.missed{fill:var(--gold)}
""".replace("\n", "")


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
        Heads count from 1; 0 is the root, drawn as an arrow from above.
    gold : the same, optional
        What the tree should be: arcs of ``tree`` that are not in it are red, and those that are
        missing stand dashed and green below the words.
    tags : sequence of n str, optional
        Written under the words.

    Returns
    -------
    ArcDrawing
        Shown by notebooks; ``drawing.svg`` is the text. Size O(n), time O(n²).

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
    below = [] if gold is None else [a for a in _arcs(gold, "gold") if a not in set(above)]
    wanted = None if gold is None else set(_arcs(gold, "gold"))

    widths = [
        max(_CHARACTER * len(word), 6.0 * len(tags[i]) if tags else 0.0, 12.0)
        for i, word in enumerate(words)
    ]
    widths = _widened(widths, above + below)
    x, centre = _GAP, []
    for width in widths:
        centre.append(x + width / 2)
        x += width + _GAP
    high, low = _levels(above), _levels(below)
    top = 14 + _LEVEL * max(high.values(), default=1)
    bottom = top + (34 if tags else 22)
    height = bottom + (10 + _LEVEL * max(low.values()) if low else 6)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="arcs" width="{x:.0f}" '
        f'height="{height:.0f}" viewBox="0 0 {x:.0f} {height:.0f}" role="img" '
        f'aria-label="{escape(" ".join(words))}">'
        f"<style>{_STYLE}</style>"
    ]
    for arc in above:
        kind = "right" if wanted is None or arc in wanted else "wrong"
        out += _arc(arc, high[arc], centre, top, -1, kind)
    for arc in below:
        out += _arc(arc, low[arc], centre, bottom, 1, "missed")
    for i, word in enumerate(words):
        out.append(f'<text class="w" x="{centre[i]:.1f}" y="{top + 16:.1f}">{escape(word)}</text>')
        if tags:
            out.append(
                f'<text class="t" x="{centre[i]:.1f}" y="{top + 29:.1f}">{escape(tags[i])}</text>'
            )
    out.sort(key=lambda shape: shape.startswith("<text"))  # relations over lines
    return ArcDrawing("".join([*out, "</svg>"]))


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
    """Return how high each arc goes: above all that it spans or shares a stretch with."""
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


def _widened(widths: list[float], arcs: Sequence[Arc]) -> list[float]:
    """Make room for the relations of arcs between neighbours."""
    widths = list(widths)
    for arc in arcs:
        left, right = _ends(arc)
        if right - left == 1:
            needed = 6.0 * len(arc[2]) + 8.0
            have = widths[left - 1] / 2 + widths[right - 1] / 2 + _GAP - 12
            if needed > have:
                widths[left - 1] += (needed - have) / 2
                widths[right - 1] += (needed - have) / 2
    return widths


def _arc(
    arc: Arc, level: int, centre: Sequence[float], base: float, way: int, kind: str
) -> list[str]:
    """Return the path of an arc, its arrow head at the word, and its relation."""
    head, word, label = arc
    y = base + way * _LEVEL * level
    end = centre[word - 1]
    if head == 0:
        path = f"M{end:.1f},{y:.1f}V{base + way * 4:.1f}"
        middle, text = end, y
    else:
        # Arcs leave a head a little aside, so that those of both sides stay apart.
        aside = 5.0 if word > head else -5.0
        start = centre[head - 1] + aside
        bend = min(14.0, abs(end - start) / 2) * (1 if end > start else -1)
        path = (
            f"M{start:.1f},{base:.1f}L{start:.1f},{y - way * 10:.1f}"
            f"Q{start:.1f},{y:.1f} {start + bend:.1f},{y:.1f}"
            f"H{end - bend:.1f}"
            f"Q{end:.1f},{y:.1f} {end:.1f},{y - way * 10:.1f}"
            f"V{base + way * 4:.1f}"
        )
        middle, text = (start + end) / 2, y
    tip = base + way * 1
    arrow = (
        f'<path class="{kind}" style="stroke-dasharray:none" '
        f'd="M{end - 3:.1f},{tip + way * 6:.1f}L{end:.1f},{tip:.1f}L{end + 3:.1f},'
        f'{tip + way * 6:.1f}"/>'
    )
    return [
        f'<path class="{kind}" d="{path}"/>{arrow}',
        f'<text class="l {kind}" x="{middle:.1f}" y="{text + 3.5:.1f}">{escape(label)}</text>',
    ]
