"""Relations on blocks: omitted or zero; one table for all places or one for each."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzz.metamorphic.instances import STRUCTURES, Instance
from fuzz.metamorphic.label_symmetries import label_axes
from fuzz.metamorphic.relation import relation
from fuzz.metamorphic.removed import Changed, demand_change
from fuzz.metamorphic.twins import Twin

Rng = np.random.Generator


def pair_tables(scores: dict[str, Any]) -> Any:
    """Return the tables of neighbours in a chain of order 1, one for each pair."""
    length, n_labels = scores["label"].shape
    shape = (length - 1, n_labels, n_labels)
    return np.broadcast_to(scores.get("transition", 0.0), shape).copy()


def _sites(it: Instance, name: str) -> tuple[int, ...] | None:
    """Return the number of uses of a shareable block; None if it is used once."""
    if name.startswith("transition"):
        length = len(it.scores["segment" if "segment" in it.scores else "label"])
        axes = label_axes(it.structure, name, None)
        return (max(length - axes + 1, 0),)
    if name == "edge":
        ends = getattr(it.structure, "_ends", None)
        return (len(it.scores["label"]) - 1 if ends is None else len(ends),)
    if name in ("right", "down"):
        height, width, _ = it.scores["label"].shape
        return (height, width - 1) if name == "right" else (height - 1, width)
    return None


def _zeros(it: Instance, rng: Rng) -> Twin:
    """All blocks, with zeros for those omitted."""
    n = it.scores[it.structure.label_block].shape[-1]
    missing = {}
    for name, block in it.structure.blocks(n).items():
        if name not in it.scores and block.optional and not name.startswith("potts"):
            sites = _sites(it, name) if rng.random() < 0.5 else None
            missing[name] = np.zeros((*(sites or ()), *block.outcomes))
    missing.pop("clique", None)
    return Twin(it.structure, {**it.scores, **missing},
                parts=lambda p: {name: p[name] for name in it.scores})  # fmt: skip


@relation(
    "left out = zeros",
    {name: Changed(STRUCTURES[name], (_zeros,))
     for name in ("chains of order 0", "chains of order 1", "chains of order 2",
                  "chains of order 3", "segments", "trees", "graphs", "grids")},
    claim="to rounding; outputs up to ties",
)  # fmt: skip
def left_out(subject: Changed, rng: Rng) -> None:
    """A block of zeros adds nothing."""
    demand_change(subject, rng)


def _repeated(it: Instance, rng: Rng) -> Twin:
    """Each shared table repeated for every place; a number repeated for every pair."""
    scores = dict(it.scores)
    for name, block in it.scores.items():
        sites = _sites(it, name)
        if sites is not None and block.ndim == label_axes(it.structure, name, block):
            scores[name] = np.broadcast_to(block, (*sites, *block.shape)).copy()
    return Twin(it.structure, scores)


@relation(
    "one table for all = one for each",
    {name: Changed(STRUCTURES[name], (_repeated,))
     for name in ("chains of order 1", "chains of order 2", "chains of order 3", "segments",
                  "trees", "graphs", "grids", "enumeration")},
    claim="to rounding; outputs up to ties",
)  # fmt: skip
def repeated(subject: Changed, rng: Rng) -> None:
    """A shared table, and the same table for each place: gradients add up."""
    demand_change(subject, rng)
