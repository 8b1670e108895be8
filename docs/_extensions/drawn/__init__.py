"""The pictures of the guide, drawn from what the library computes.

Each function returns an SVG whose colours are the page's: ``currentColor`` and the classes of
``_static/site.css``.
"""

from __future__ import annotations

from collections.abc import Callable

from .chains import factors, fish_sleep, fish_sleep_augmented, fish_sleep_best, viterbi_step
from .curves import cutting_planes, losses
from .layers import source_map
from .scenes import dependencies, grid_cut, shared_blocks, slack_bars

__all__ = ["PICTURES"]

#: What ``{picture} name`` draws.
PICTURES: dict[str, Callable[[], str]] = {
    draw.__name__: draw
    for draw in (
        fish_sleep,
        fish_sleep_best,
        fish_sleep_augmented,
        viterbi_step,
        factors,
        shared_blocks,
        slack_bars,
        losses,
        cutting_planes,
        grid_cut,
        dependencies,
        source_map,
    )
}
