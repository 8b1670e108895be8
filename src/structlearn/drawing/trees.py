"""Constituent trees as SVG: one tree, or a gold one above and a predicted one below the words."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..printing import escape
from .palette import themed
from .picture import Picture, text_width

__all__ = ["TreeDrawing", "draw_tree", "draw_trees"]

_LEVEL = 40  # pixels from a node to the next above it
_LINE = 18
_GAP = 16  # between words
_MARGIN = 16

_STYLE = themed(
    "svg.tree",
    """
svg.tree{background:var(--paper)}
.tree text{font:14px system-ui,sans-serif;text-anchor:middle;fill:var(--ink);paint-order:stroke;
stroke:var(--paper);stroke-width:5px;stroke-linejoin:round}
.tree .tag{font-size:12px;fill:var(--soft)}
.tree .word{font-weight:600}
.tree text.gold{fill:var(--gold);font-weight:600}
.tree text.wrong{fill:var(--wrong);font-weight:600}
.tree .note{font-size:12px;text-anchor:start;fill:var(--soft)}
.tree path{fill:none;stroke:var(--edge);stroke-width:1.2;stroke-linejoin:round}
.tree path.gold{stroke:var(--gold)} .tree path.wrong{stroke:var(--wrong)}
""",
)


class TreeDrawing(Picture):
    """A picture of one tree, or of a gold and a predicted one."""


class _Placed:
    """A node with its place: centred over its children, one level above the highest."""

    def __init__(self, label: str, x: float, level: int, begin: int, end: int, below: list[Any]):
        self.label = label
        self.x = x
        self.level = level
        self.span = (begin, end, label)
        self.below = below


def _place(tree: Any, centres: list[float]) -> tuple[list[_Placed], int]:
    """Return the nodes above the tags, children before parents, and their height."""
    placed: list[_Placed] = []
    done: list[_Placed | int] = []  # nodes and words without a parent so far
    at = 0
    stack: list[tuple[Any, bool]] = [(tree, False)]
    while stack:
        node, finished = stack.pop()
        if node.word is not None:
            done.append(at)
            at += 1
        elif not finished:
            stack.append((node, True))
            stack += [(child, False) for child in reversed(node.children)]
        else:
            below = done[len(done) - len(node.children) :]
            del done[len(done) - len(node.children) :]
            xs = [centres[b] if isinstance(b, int) else b.x for b in below]
            levels = [0 if isinstance(b, int) else b.level for b in below]
            first, last = below[0], below[-1]
            begin = first if isinstance(first, int) else first.span[0]
            end = last + 1 if isinstance(last, int) else last.span[1]
            placed.append(
                _Placed(node.label or "·", (xs[0] + xs[-1]) / 2, max(levels) + 1, begin, end, below)
            )
            done.append(placed[-1])
    return placed, max((p.level for p in placed), default=0)


def draw_tree(tree: Any) -> str:
    """Return one tree as SVG."""
    return _draw(tree, None)


def draw_trees(gold: Any, predicted: Any) -> str:
    """Return the gold tree above the words and the predicted one below them, as SVG.

    Nodes in the gold tree only are green, those in the predicted tree only are red.
    """
    if gold.words != predicted.words:
        raise ValueError("the two trees have different words")
    return _draw(gold, predicted)


def _widths(trees: list[Any]) -> list[float]:
    """Return the width of each word's place: for the word, its tags, and the labels above it."""
    words = trees[0].words
    widths = [
        max(text_width(word, 15), *(text_width(tree.tags[t], 12) for tree in trees)) + _GAP
        for t, word in enumerate(words)
    ]
    for tree in trees:
        for begin, end, label in reversed(tree.spans()):  # inner ones first
            missing = text_width(label, 14) + _GAP / 2 - sum(widths[begin:end])
            for t in range(begin, end):
                widths[t] += max(0.0, missing) / (end - begin)
    return widths


def _draw(upper: Any, lower: Any) -> str:
    words = upper.words
    tags = [upper.tags] if lower is None else [upper.tags, lower.tags]
    centres, x = [], float(_MARGIN)
    for width in _widths([upper] if lower is None else [upper, lower]):
        centres.append(x + width / 2)
        x += width
    above, height = _place(upper, centres)
    below, depth = ([], 0) if lower is None else _place(lower, centres)
    word_line = _MARGIN + height * _LEVEL + 2 * _LINE
    both = Counter(n.span for n in above) & Counter(n.span for n in below)
    shapes = _Shapes()
    for nodes, up, kind in ((above, True, "gold"), (below, False, "wrong")):
        left = Counter(both)
        for node in nodes:
            style = ""
            if lower is not None:
                style = "" if left[node.span] > 0 else kind
                left[node.span] -= 1
            _node(shapes, node, centres, word_line, up, style)
    for t, word in enumerate(words):
        shapes.text("word", centres[t], word_line, word)
        shapes.text("tag", centres[t], word_line - _LINE, tags[0][t])
        if lower is not None and tags[0][t] != tags[1][t]:
            shapes.text("tag wrong", centres[t], word_line + _LINE, tags[1][t])
    total = word_line + _MARGIN + (depth * _LEVEL + 2 * _LINE if lower is not None else 0)
    if lower is not None:
        shapes.text("note", _MARGIN, _MARGIN + 2, "gold")
        shapes.text("note", _MARGIN, total - 6, "predicted")
    width = x + _MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="tree" width="{width:.0f}" '
        f'height="{total:.0f}" viewBox="0 0 {width:.0f} {total:.0f}" role="img" '
        f'aria-label="{escape(" ".join(words))}">'
        f"<style>{_STYLE}</style>{shapes}</svg>"
    )


class _Shapes:
    """Lines, and texts over them, grouped by kind: this keeps pages of trees small."""

    def __init__(self) -> None:
        self._lines: dict[str, list[str]] = {}
        self._texts: dict[tuple[str, int], list[tuple[int, str]]] = {}

    def line(self, kind: str, path: str) -> None:
        self._lines.setdefault(kind, []).append(path)

    def text(self, kind: str, x: float, y: float, text: str) -> None:
        self._texts.setdefault((kind, round(y)), []).append((round(x), escape(text)))

    def __str__(self) -> str:
        lines = "".join(f'<path class="{k}" d="{"".join(v)}"/>' for k, v in self._lines.items())
        texts = []
        for (kind, y), words in self._texts.items():
            opened = f'<text class="{kind}" y="{y}"'
            if len(words) == 1:
                texts.append(f'{opened} x="{words[0][0]}">{words[0][1]}</text>')
            else:
                inner = "".join(f'<tspan x="{x}">{text}</tspan>' for x, text in words)
                texts.append(f"{opened}>{inner}</text>")
        return (lines + "".join(texts)).replace(' class=""', "")


def _node(
    shapes: _Shapes, node: _Placed, centres: list[float], word_line: float, up: bool, style: str
) -> None:
    def height(level: int) -> float:
        away = level * _LEVEL + _LINE
        return word_line - away if up else word_line + away

    y = height(node.level)
    gap = 5 if up else -14  # between a label and its line towards the words
    top = f"L{node.x:.0f} {y + gap:.0f}"
    line = ""
    for child in node.below:
        level = 0 if isinstance(child, int) else child.level
        x = centres[child] if isinstance(child, int) else child.x
        turn, end = (height(k) + (-14 if up else 4) for k in (node.level - 1, level))
        # Slanted for one level, then straight down to the child, so that lines never cross. One
        # line goes up from a child and down to the next.
        if not line:
            line = f"M{x:.0f} {end:.0f}" + (f"V{turn:.0f}" if end != turn else "") + top
        else:
            line += f"L{x:.0f} {turn:.0f}" + (f"V{end:.0f}" if end != turn else "")
            shapes.line(style, line)
            line = ""
    shapes.line(style, line)
    shapes.text(style, node.x, y, node.label)
