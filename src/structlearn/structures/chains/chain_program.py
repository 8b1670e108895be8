"""A chain as an integer program: the variables z of eq. 17.33 and their rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ...array_types import Integers
from ..programs.rows import RowBuilder

if TYPE_CHECKING:
    from .chain import Chain


def chain_rows(chain: Chain, shapes: Mapping[str, tuple[int, ...]]) -> RowBuilder:
    """Return the rows of a chain with these blocks, shared ones repeated by position.

    The widest windows present carry the path: neighbours agree on the labels they share, so the
    relaxation is tight. Lower orders and labels are their sums.
    """
    build = RowBuilder(shapes)
    label = build.parts["label"]
    build.add((label, 1), equal=1, name="one label at position {0}")
    for name, at in (("start", 0), ("end", -1)):
        if name in shapes:
            build.continuous(name)
            build.add((build.parts[name], 1), (label[at], -1), equal=0, name=name + " is label {0}")
    tables = {}
    for name in shapes:
        if name.startswith("transition"):
            build.continuous(name)
            if len(build.parts[name]):
                tables[chain._transition_order(name)] = build.parts[name]
    if not tables:
        return build
    top = max(tables)
    windows = tables.pop(top)
    last = len(windows) - 1
    # z[t, a0 … am] and z[t + 1, a1 … am+1] agree on a1 … am.
    build.add(
        (np.transpose(windows[:-1], (0, *range(2, top + 2), 1)), 1),
        (windows[1:], -1),
        rows=top + 1,
        equal=0,
        name="the windows at positions {0} and the next agree",
    )
    build.add(
        (windows, 1),
        (label[: last + 1], -1),
        rows=2,
        equal=0,
        name="label {1} at position {0} is that of its window",
    )
    for place in range(1, top + 1):
        build.add(
            (_front(windows[last], place, 1), 1),
            (label[last + place], -1),
            equal=0,
            name=f"label {{0}} at position {last + place} is that of its window",
        )
    for order, table in tables.items():
        for t in range(len(table)):
            window = min(t, last)
            build.add(
                (_front(windows[window], t - window, order + 1), 1),
                (table[t], -1),
                rows=order + 1,
                equal=0,
                name=f"the order-{order} window at position {t} is part of a larger one",
            )
    return build


def _front(window: Integers, first: int, n: int) -> Integers:
    """Return a window's table with n axes from ``first`` on moved to the front."""
    wanted = range(first, first + n)
    return np.transpose(window, (*wanted, *(a for a in range(window.ndim) if a not in wanted)))
