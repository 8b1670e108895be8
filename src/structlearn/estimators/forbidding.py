"""Forbidden labels and transitions, as masks over the weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ..scoring.layout import WeightBlock


def put_masks(
    forbid: Any,
    blocks: dict[str, WeightBlock | None],
    inner: Mapping[str, tuple[int, ...]],
    classes: npt.NDArray[Any],
) -> None:
    """Set −∞ for whatever the constraints rule out.

    Parameters
    ----------
    forbid : dict or None
        Block name to a list of its forbidden outcomes.
    blocks : dict of str to WeightBlock or None
        Their masks are set.
    inner : mapping of str to tuple of int
        Where a position has more than one site in a block: their shape.
    """
    if not forbid:
        return
    index = {k: i for i, k in enumerate(classes.tolist())}
    for name, entries in dict(forbid).items():
        block = blocks.get(name)
        if block is None:
            raise ValueError(
                f"forbid names the block {name!r}; there is "
                f"{sorted(n for n, b in blocks.items() if b is not None)}"
            )
        shape = inner[name]
        block.mask = np.zeros((*shape, *block.outcomes))
        for entry in entries:
            labels = entry if isinstance(entry, (tuple, list)) else (entry,)
            place: tuple[Any, ...] = (slice(None),) * len(shape)
            if shape and len(labels) == len(shape) + len(block.outcomes):
                # The site of a position comes first, counted from 1: the length of a segment.
                numbers, labels = labels[: len(shape)], labels[len(shape) :]
                if any(k not in range(1, n + 1) for k, n in zip(numbers, shape, strict=True)):
                    raise ValueError(
                        f"forbid[{name!r}] has the entry {entry!r}; lengths are from 1 to "
                        f"{', '.join(map(str, shape))}"
                    )
                place = tuple(k - 1 for k in numbers)
            unknown = [k for k in labels if k not in index]
            if unknown or len(labels) != len(block.outcomes):
                raise ValueError(
                    f"forbid[{name!r}] has the entry {entry!r}; "
                    f"expected {len(block.outcomes)} of the classes {classes.tolist()}"
                )
            place += tuple(index[k] for k in labels)
            block.mask[place] = -np.inf
