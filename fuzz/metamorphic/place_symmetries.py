"""Symmetries of places: words, nodes, edges and pixels in another order."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzz.metamorphic.instances import Instance
from fuzz.metamorphic.twins import Twin
from structlearn.structures import Arborescence, Graph, Lattice, SpanningTree, Tree

Rng = np.random.Generator


def words(it: Instance, rng: Rng) -> Twin:
    """Words of a dependency tree in another order: any, or from right to left if projective.

    The root is on the left of all words, and the order of its children counts for siblings: it has
    one child then.
    """
    if "sibling" in it.scores:
        it = Instance(Arborescence(projective=True, single_root=True), it.scores)
    n = len(it.scores["arc"]) - 1
    order = np.arange(n, 0, -1) if it.structure.projective else 1 + rng.permutation(n)
    order = np.concatenate([[0], order])
    new = np.argsort(order)

    def output(y: Any) -> Any:
        heads, labels = y if isinstance(y, tuple) else (y, None)
        moved = np.zeros_like(heads)
        moved[order[1:] - 1] = order[heads]
        if labels is None:
            return moved
        names = np.zeros_like(labels)
        names[order[1:] - 1] = labels
        return moved, names

    return Twin(
        it.structure,
        {k: v[np.ix_(*[order] * (3 if k == "sibling" else 2))] for k, v in it.scores.items()},
        output,
        lambda p: {k: v[np.ix_(*[new] * (3 if k == "sibling" else 2))] for k, v in p.items()},
        original=it,
    )


def nodes(it: Instance, rng: Rng) -> Twin:
    """Nodes of a tree of labels, of a graph or of a spanning tree in another order."""
    if isinstance(it.structure, SpanningTree):
        return _spanning_nodes(it, rng)
    n = len(it.scores["label"])
    order = rng.permutation(n)
    new = np.argsort(order)
    scores = {**it.scores, "label": it.scores["label"][order]}
    if isinstance(it.structure, Tree):
        old = it.structure.parents
        parents = np.where(old[order] < 0, -1, new[old[order]])
        # Edge e belongs to the e-th node that is not the root.
        before = np.cumsum(old >= 0) - 1
        edges = before[order[parents >= 0]]
        structure: Any = Tree(parents)
    else:
        ends = it.structure._ends
        edges = rng.permutation(len(ends))
        structure = Graph(new[ends[edges]])
    for name in ("edge", "potts"):
        if name in scores and scores[name].ndim == (3 if name == "edge" else 1):
            scores[name] = scores[name][edges]

    def back(p: dict[str, Any]) -> dict[str, Any]:
        restored = {**p, "label": p["label"][new]}
        for name in ("edge", "potts"):
            if name in p and p[name].ndim == (3 if name == "edge" else 1):
                restored[name] = p[name][np.argsort(edges)]
        return restored

    return Twin(structure, scores, lambda y: y[new], back)


def _spanning_nodes(it: Instance, rng: Rng) -> Twin:
    order = rng.permutation(len(it.scores["edge"]))
    new = np.argsort(order)
    edge = it.scores["edge"][np.ix_(order, order)]

    def back(p: dict[str, Any]) -> dict[str, Any]:
        whole = (p["edge"] + p["edge"].T)[np.ix_(new, new)]
        return {"edge": np.triu(whole, 1)}

    def output(y: Any) -> Any:
        return np.array(sorted(map(sorted, order[y].tolist())), dtype=int).reshape(-1, 2)

    return Twin(it.structure, {"edge": edge}, output, back)


def ends_turned(it: Instance, rng: Rng) -> Twin:
    """A graph with some of its edges reversed."""
    ends = it.structure._ends
    table = it.scores.get("edge")
    if table is None or table.ndim == 2:
        turned = np.full(len(ends), rng.random() < 0.5)
    else:
        turned = rng.random(len(ends)) < 0.5

    def flipped(blocks: dict[str, Any]) -> dict[str, Any]:
        mirrored = dict(blocks)
        if "edge" in mirrored and mirrored["edge"].ndim == 3:
            across = mirrored["edge"].swapaxes(1, 2)
            mirrored["edge"] = np.where(turned[:, None, None], across, mirrored["edge"])
        elif "edge" in mirrored and turned.all() and len(turned):
            mirrored["edge"] = mirrored["edge"].T
        return mirrored

    structure = Graph(np.where(turned[:, None], ends[:, ::-1], ends))
    return Twin(structure, flipped(it.scores), parts=flipped)


def pixels(it: Instance, rng: Rng) -> Twin:
    """A grid mirrored at its diagonal, or left to right."""
    diagonal = rng.random() < 0.5
    swapped = {"right": "down", "down": "right", "potts_right": "potts_down",
               "potts_down": "potts_right"}  # fmt: skip

    def turned(blocks: dict[str, Any]) -> dict[str, Any]:
        mirrored = {}
        for name, block in blocks.items():
            placed = block.ndim == 3 if name == "label" else block.ndim in (4, 2)
            if name in ("right", "down"):
                placed = block.ndim == 4
            if diagonal:
                mirrored[swapped.get(name, name)] = block.swapaxes(0, 1) if placed else block
                continue
            block = block[:, ::-1] if placed else block
            mirrored[name] = block.swapaxes(-1, -2) if name == "right" else block
        return mirrored

    return Twin(it.structure, turned(it.scores), lambda y: y.T if diagonal else y[:, ::-1], turned)


def pairs(it: Instance, rng: Rng) -> Twin:
    """Both sides of a matching in another order."""
    n, m = it.scores["pair"].shape
    rows, columns = rng.permutation(n), rng.permutation(m)

    def output(y: Any) -> Any:
        moved = np.zeros_like(y)
        moved[rows] = columns[y]
        return moved

    return Twin(it.structure, {"pair": it.scores["pair"][np.ix_(rows, columns)]}, output)


def edges_of_lattice(it: Instance, rng: Rng) -> Twin:
    """Edges of a lattice in another order, or paths from the target to the source."""
    table, (source, target) = it.structure.table, (it.structure.source, it.structure.target)
    order = rng.permutation(len(table))
    table, back = table[order], np.argsort(order)
    turned = rng.random() < 0.5
    if turned:
        table, source, target = table[:, ::-1], target, source
    return Twin(
        Lattice(table, source, target),
        {"edge": it.scores["edge"][order]},
        lambda y: order[y[::-1] if turned else y],
        lambda p: {"edge": p["edge"][back]},
    )
