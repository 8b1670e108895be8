"""The pictures of the guide, drawn from results of the library.

Each function returns an SVG in the page's colours: ``currentColor`` and the classes of
``_static/site.css``.
"""

from __future__ import annotations

from collections.abc import Callable

from .chains import factors, fish_sleep, fish_sleep_augmented, fish_sleep_best, viterbi_step
from .curves import cutting_planes, losses
from .layers import source_map
from .scenes import dependencies, grid_cut, shared_blocks, slack_bars

__all__ = ["PICTURES"]

#: The pictures by name, for ``{picture} name``.
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
