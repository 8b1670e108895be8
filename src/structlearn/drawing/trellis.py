"""The trellis of a chain: a column for each position, a row for each label, paths through it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..printing import escape
from .palette import themed
from .picture import Picture

__all__ = ["draw_trellis"]

_ACROSS, _DOWN = 118.0, 54.0
_LEFT, _TOP = 26.0, 40.0
_HALF = 27.0  # of a node's width
_LETTER = 7.6
_MOST = 600  # nodes; longer chains are cut, with a note
_STYLE = themed(
    "svg.trellis",
    """
svg.trellis{background:var(--paper)}
.trellis text{font:13px system-ui,sans-serif;text-anchor:middle;fill:var(--ink)}
.trellis .soft{fill:var(--soft);font-size:12px}
.trellis .row{text-anchor:start;font-weight:600}
.trellis .key{text-anchor:start;font-size:12px}
.trellis rect{fill:var(--paper);stroke:var(--edge);stroke-width:1.2}
.trellis rect.best{fill:var(--card);stroke:var(--best);stroke-width:2}
.trellis line{stroke:var(--line);stroke-width:1.1}
.trellis line.best{stroke:var(--best);stroke-width:3}
.trellis line.other{stroke:var(--wrong);stroke-width:2.4;stroke-dasharray:6 4}
.trellis rect.other{stroke:var(--wrong);stroke-width:2;stroke-dasharray:6 4}
.trellis text.best{fill:var(--best);font-weight:600}.trellis text.other{fill:var(--wrong)}
""",
)


def draw_trellis(
    trellis: Any,
    words: Sequence[str] | None = None,
    labels: Sequence[str] | None = None,
    other: Sequence[int] | None = None,
    names: tuple[str, str] = ("best path", "other path"),
) -> Picture:
    """Draw α, the back-pointers and the best path of a chain.

    Parameters
    ----------
    trellis : Trellis
        The result of :func:`structlearn.structures.trellis`: ``alpha`` (L, K), ``back`` (L, K) and
        ``path`` (L,).
    words : sequence of L str, optional
        Written above the columns, which are numbered otherwise.
    labels : sequence of K str, optional
        Written before the rows.
    other : sequence of L int, optional
        A second path, dashed: the gold one, or the loss-augmented one.
    names : pair of str
        Names of the two paths, in the key under the drawing.

    Returns
    -------
    Picture
        A thin line is a back-pointer, the best way to reach a node. A node shows its α.
    """
    length, n_labels = trellis.alpha.shape
    words = list(words) if words is not None else [str(t + 1) for t in range(length)]
    labels = list(labels) if labels is not None else [str(k) for k in range(n_labels)]
    _check("words", len(words), length)
    _check("labels", len(labels), n_labels)
    if other is not None:
        _check("other", len(other), length)
        if not all(0 <= k < n_labels for k in other):
            raise ValueError(f"labels of `other` lie from 0 to {n_labels - 1}")
    columns = max(1, min(length, _MOST // max(n_labels, 1)))
    left = _LEFT + _LETTER * max(len(name) for name in labels) + _HALF
    xs = [left + t * _ACROSS for t in range(columns)]
    ys = [_TOP + k * _DOWN + 16 for k in range(n_labels)]
    lines, nodes = [], []
    best, second = _steps(trellis.path, columns), _steps(other, columns)
    for t in range(1, columns):
        for k in range(n_labels):
            before = int(trellis.back[t, k])
            if before >= 0 and trellis.alpha[t, k] > float("-inf"):
                lines.append(_line("", xs, ys, t, before, k))
    for kind, steps in (("best", best), ("other", second)):
        lines += [_line(kind, xs, ys, t, *step) for t, step in enumerate(steps, 1)]
    for t in range(columns):
        for k in range(n_labels):
            kind = "best" if trellis.path[t] == k else ""
            if other is not None and other[t] == k and not kind:
                kind = "other"
            nodes.append(
                f'<rect class="{kind}" x="{xs[t] - _HALF:.1f}" y="{ys[k] - 13:.1f}" '
                f'width="{2 * _HALF:.0f}" height="26" rx="7"/>'
            )
            nodes.append(_text(kind, xs[t], ys[k] + 4.5, _number(trellis.alpha[t, k])))
    for t in range(columns):
        nodes.append(_text("", xs[t], 20, words[t]))
    for k, name in enumerate(labels):
        nodes.append(_text("row", 10, ys[k] + 4.5, name))
    bottom = ys[-1] + 40
    nodes.append(_text("key best", 10, bottom, f"━ {names[0]}"))
    if other is not None:
        nodes.append(_text("key other", 24 + 7.4 * (len(names[0]) + 2), bottom, f"╍ {names[1]}"))
    width = xs[-1] + _HALF + 16
    if columns < length:
        nodes.append(_text("soft", width + 20, ys[0] + 4, f"… {length - columns} more"))
        width += 80
    width = max(width, 60 + 7.4 * (len(names[0]) + len(names[1]) + 8))
    height = bottom + 14
    return Picture(
        f'<svg xmlns="http://www.w3.org/2000/svg" class="trellis" width="{width:.0f}" '
        f'height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" role="img">'
        f"<style>{_STYLE}</style>{''.join(lines)}{''.join(nodes)}</svg>"
    )


def _check(name: str, given: int, wanted: int) -> None:
    if given != wanted:
        raise ValueError(f"{name} has {given} entries, the trellis {wanted}")


def _steps(path: Any, shown: int) -> list[tuple[int, int]]:
    if path is None:
        return []
    return [(int(path[t - 1]), int(path[t])) for t in range(1, shown)]


def _line(kind: str, xs: list[float], ys: list[float], t: int, before: int, after: int) -> str:
    return (
        f'<line class="{kind}" x1="{xs[t - 1] + _HALF:.1f}" y1="{ys[before]:.1f}" '
        f'x2="{xs[t] - _HALF:.1f}" y2="{ys[after]:.1f}"/>'
    )


def _text(kind: str, x: float, y: float, text: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'


def _number(value: float) -> str:
    if value == float("-inf"):
        return "−∞"
    return f"{value:.4g}".replace("-", "−")
