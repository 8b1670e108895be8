"""Labels on a grid as coloured squares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..printing import escape
from .palette import themed
from .picture import Picture

__all__ = ["draw_grid"]

#: Distinct for readers with any colour vision: M. Okabe and K. Ito (2008), Color universal design.
COLOURS = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#d55e00",
    "#f0e442",
    "#5b5f66",
)
_MOST = 128  # squares along a side; a larger grid is thinned out
_STYLE = themed(
    "svg.grid",
    """
svg.grid{background:var(--paper)}
.grid text{font:12px system-ui,sans-serif;fill:var(--ink)}
.grid .wrong{fill:none;stroke:var(--ink);stroke-width:1.4}
""",
)


def draw_grid(labels: Any, gold: Any | None = None, names: Sequence[str] | None = None) -> Picture:
    """Draw an (H, W) array of labels; squares that differ from ``gold`` have a frame.

    Parameters
    ----------
    labels : (H, W) int array
    gold : (H, W) int array, optional
    names : sequence of str, optional
        The labels' names, for the key under the grid.

    Returns
    -------
    Picture
        Neighbours in a row with the same label are one rectangle: size O(changes of label).
    """
    rows = [[int(k) for k in row] for row in labels]
    if not rows or not rows[0]:
        raise ValueError("an empty grid cannot be drawn")
    height, width = len(rows), len(rows[0])
    other = None if gold is None else [[int(k) for k in row] for row in gold]
    if other is not None and (len(other), len(other[0])) != (height, width):
        raise ValueError(
            f"the labels are {height} × {width}, gold is {len(other)} × {len(other[0])}"
        )
    step = -(-max(height, width) // _MOST)
    rows = [row[::step] for row in rows[::step]]
    other = None if other is None else [row[::step] for row in other[::step]]
    size = max(3.0, min(24.0, 420.0 / max(len(rows), len(rows[0]))))
    shapes = []
    for i, row in enumerate(rows):
        begin = 0
        for j in range(1, len(row) + 1):
            if j == len(row) or row[j] != row[begin]:
                shapes.append(_square(row[begin], begin, i, j - begin, size))
                begin = j
    if other is not None:
        shapes += [
            f'<rect class="wrong" x="{j * size + 0.7:.1f}" y="{i * size + 0.7:.1f}" '
            f'width="{size - 1.4:.1f}" height="{size - 1.4:.1f}"/>'
            for i, row in enumerate(rows)
            for j, k in enumerate(row)
            if k != other[i][j]
        ]
    present = sorted({k for row in rows for k in row} | {k for row in other or [] for k in row})
    x, y = 0.0, len(rows) * size + 10
    across = max(len(rows[0]) * size, 160.0)
    for k in present:
        name = names[k] if names is not None and 0 <= k < len(names) else str(k)
        room = 30 + 7.4 * len(name)
        if x and x + room > across:
            x, y = 0.0, y + 20
        shapes.append(
            f'<rect fill="{_colour(k)}" x="{x:.1f}" y="{y:.1f}" width="12" height="12" rx="2"/>'
        )
        shapes.append(f'<text x="{x + 17:.1f}" y="{y + 10.5:.1f}">{escape(name)}</text>')
        x += room
    if step > 1:
        y += 20
        shapes.append(
            f'<text x="0" y="{y + 10.5:.1f}">one square in {step} × {step} is shown</text>'
        )
    total = y + 18
    return Picture(
        f'<svg xmlns="http://www.w3.org/2000/svg" class="grid" width="{across:.0f}" '
        f'height="{total:.0f}" viewBox="0 0 {across:.0f} {total:.0f}" role="img">'
        f"<style>{_STYLE}</style>{''.join(shapes)}</svg>"
    )


def _square(label: int, x: int, y: int, across: int, size: float) -> str:
    # Slightly too wide: renderers leave hairlines between squares that only touch.
    return (
        f'<rect fill="{_colour(label)}" x="{x * size:.1f}" y="{y * size:.1f}" '
        f'width="{across * size + 0.4:.1f}" height="{size + 0.4:.1f}"/>'
    )


def _colour(label: int) -> str:
    return "#ffffff00" if label < 0 else COLOURS[label % len(COLOURS)]
