"""Equivalent structures: a chain as a tree, a grid as a graph, spanning trees as arcs."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzz.metamorphic.instances import STRUCTURES, Instance
from fuzz.metamorphic.relation import relation
from fuzz.metamorphic.removed import Change, Changed, demand_change
from fuzz.metamorphic.tables import pair_tables
from fuzz.metamorphic.twins import Twin
from structlearn.structures import (
    Arborescence,
    Chain,
    Constituency,
    Exhaustive,
    Grammar,
    Graph,
    Grid,
    Lattice,
    Multiclass,
    SemiMarkov,
    Tree,
)

__all__: list[str] = []

Rng = np.random.Generator
Parts = dict[str, Any]


def _with_ends(scores: Parts) -> Any:
    """Return the label scores of a chain with its start and end scores added."""
    label = scores["label"].copy()
    label[0] += scores.get("start", 0.0)
    label[-1] += scores.get("end", 0.0)
    return label


def _chain_parts(scores: Parts, label: Any, transition: Any) -> Parts:
    """Return the expected counts of a chain from those of labels and pairs."""
    counts = {"label": label, "start": label[0], "end": label[-1], "transition": transition}
    return {name: counts[name] for name in scores}


def _as_path(it: Instance, rng: Rng) -> Twin:
    """A chain as a tree, a graph or a grid that is a path."""
    label, pairs = _with_ends(it.scores), pair_tables(it.scores)
    length, kind = len(label), int(rng.integers(4))
    if kind == 3:
        return Twin(
            Grid(),
            {"label": label[np.newaxis], "right": pairs[np.newaxis]},
            lambda y: y[0],
            lambda p: _chain_parts(it.scores, p["label"][0], p["right"][0]),
        )
    path = np.arange(length)
    # A tree below the first or the last node; edges read the label of the parent first.
    structure = (Tree(path - 1), Tree(np.append(path[1:], -1)),
                 Graph(np.column_stack([path[:-1], path[1:]])))[kind]  # fmt: skip
    turned = kind == 1
    return Twin(
        structure,
        {"label": label, "edge": pairs.swapaxes(1, 2) if turned else pairs},
        parts=lambda p: _chain_parts(
            it.scores, p["label"], p["edge"].swapaxes(1, 2) if turned else p["edge"]
        ),
    )


def _as_segments(it: Instance, rng: Rng) -> Twin:
    """A chain as segments of one position each."""
    rest = {name: a for name, a in it.scores.items() if name != "label"}

    def back(p: Parts) -> Parts:
        return {**{k: v for k, v in p.items() if k != "segment"}, "label": p["segment"][:, 0]}

    return Twin(
        SemiMarkov(1),
        {"segment": it.scores["label"][:, np.newaxis], **rest},
        lambda y: np.array([k for _, _, k in y], dtype=int),
        back,
    )


def _of_higher_order(it: Instance, rng: Rng) -> Twin:
    """A chain of higher order than its scores need."""
    order = it.structure.order
    name = f"transition{order}"

    def renamed(blocks: Parts, old: str, new: str) -> Parts:
        return {new if key == old else key: a for key, a in blocks.items()}

    return Twin(Chain(order + 1), renamed(it.scores, "transition", name),
                parts=lambda p: renamed(p, name, "transition"))  # fmt: skip


def _as_trellis(it: Instance, rng: Rng) -> Twin:
    """A chain as paths through a lattice: node 1 + t·K + k for label k at position t."""
    label, pairs = _with_ends(it.scores), pair_tables(it.scores)
    length, n = label.shape
    steps = 1 + np.arange(length * n).reshape(length, n)
    last = length * n + 1
    first = [(0, v) for v in steps[0]]
    inner = [(u, v) for t in range(length - 1) for u in steps[t] for v in steps[t + 1]]
    edges = [*first, *inner, *((v, last) for v in steps[-1])]
    scores = [label[0], (pairs + label[1:, np.newaxis]).ravel(), np.zeros(n)]

    def back(p: Parts) -> Parts:
        counts = p["edge"][n:-n].reshape(pairs.shape)
        labels = np.concatenate([p["edge"][np.newaxis, :n], counts.sum(axis=1)])
        return _chain_parts(it.scores, labels, counts)

    def output(y: Any) -> Any:
        return (np.array([edges[e][1] for e in y[:-1]], dtype=int) - 1) % n

    return Twin(Lattice(edges), {"edge": np.concatenate(scores)}, output, back)


def _enumerated(it: Instance, rng: Rng) -> Twin | None:
    """All outputs, one after another."""
    return None if it.large else Twin(Exhaustive(it.structure), it.scores)


def _by_edges(it: Instance, rng: Rng) -> Twin | None:
    """The structure's own loops, and its hyperedges in the general engine."""
    assert it.case is not None
    return None if it.case.mirror is None else Twin(it.case.mirror, it.scores)


def _one_class(it: Instance, rng: Rng) -> Twin:
    """A class as a chain of one position, as one node, or as one of parallel edges."""
    label = it.scores["label"]
    kind = int(rng.integers(3))
    if kind == 2:
        return Twin(Lattice([(0, 1)] * len(label)), {"edge": label}, lambda y: int(y[0]),
                    lambda p: {"label": p["edge"]})  # fmt: skip
    structure = Chain() if kind else Graph(np.zeros((0, 2), dtype=int))
    return Twin(structure, {"label": label[np.newaxis]}, lambda y: int(y[0]),
                lambda p: {"label": p["label"][0]})  # fmt: skip


def _one_position(it: Instance, rng: Rng) -> Twin | None:
    """Independent positions: a single one is a class."""
    if len(it.scores["label"]) > 1:
        return Twin(Chain(1), it.scores)
    return Twin(Multiclass(), {"label": _with_ends(it.scores)[0]}, lambda y: np.array([y]),
                lambda p: _chain_parts(it.scores, p["label"][np.newaxis], None))  # fmt: skip


def _tree_as_graph(it: Instance, rng: Rng) -> Twin:
    parents = it.structure.parents
    children = np.flatnonzero(parents >= 0)
    return Twin(Graph(np.column_stack([parents[children], children])), it.scores)


def _grid_as_graph(it: Instance, rng: Rng) -> Twin:
    """A grid as a graph; strengths as tables, or the other way round."""
    height, width, n = it.scores["label"].shape
    nodes = np.arange(height * width).reshape(height, width)
    edges, tables = [], []
    for name, a, b in (("right", nodes[:, :-1], nodes[:, 1:]), ("down", nodes[:-1], nodes[1:])):
        table = np.zeros((*a.shape, n, n))
        table += it.scores.get(name, 0.0)
        strength = it.scores.get(f"potts_{name}")
        if strength is not None:
            table -= strength[..., np.newaxis, np.newaxis] * (1 - np.eye(n))
        edges.append(np.column_stack([a.ravel(), b.ravel()]))
        tables.append(table.reshape(-1, n, n))
    scores = {"label": it.scores["label"].reshape(-1, n), "edge": np.concatenate(tables)}
    return Twin(
        Graph(np.concatenate(edges)),
        scores,
        lambda y: y.reshape(height, width),
        lambda p: {"label": p["label"].reshape(height, width, n)},
    )


def _strengths_as_tables(it: Instance, rng: Rng) -> Twin | None:
    """Potts strengths of a graph as tables of its edges."""
    if "potts" not in it.scores:
        return None
    n = it.scores["label"].shape[1]
    edge = -it.scores["potts"][:, np.newaxis, np.newaxis] * (1 - np.eye(n))
    return Twin(it.structure, {"label": it.scores["label"], "edge": edge},
                parts=lambda p: {"label": p["label"]})  # fmt: skip


def _binary_spans(it: Instance, rng: Rng) -> Twin | None:
    """Binary trees with a label on each span as the trees of a grammar with all rules."""
    span = it.scores["span"].copy()
    n, _, labels = span.shape
    if labels == 1:
        return None
    span[..., 0] = -np.inf
    k = labels - 1
    rules = np.argwhere(np.ones((k, k, k)))
    scores = {"word": np.zeros((n, k)), "binary": np.zeros(len(rules)), "span": span[..., 1:]}
    return Twin(
        Constituency(Grammar(k, rules)),
        scores,
        lambda y: [(i, j, label + 1) for i, j, label in y],
        lambda p: {"span": np.pad(p["span"], [(0, 0), (0, 0), (1, 0)])},
        original=Instance(it.structure, {"span": span}),
    )


def _one_root(it: Instance, rng: Rng) -> Twin:
    """A tree that may have several roots, but only one word that can be a root."""
    arc = it.scores["arc"].copy()
    arc[0] = np.where(np.arange(len(arc)) == rng.integers(1, len(arc)), arc[0].T, -np.inf).T
    scores = {**it.scores, "arc": arc}
    projective = it.structure.projective
    return Twin(Arborescence(projective, False), scores,
                original=Instance(Arborescence(projective, True), scores))  # fmt: skip


def _as_arcs(it: Instance, rng: Rng) -> Twin | None:
    """Spanning trees as dependency trees below node 0."""
    edge = it.scores["edge"]
    if len(edge) < 2:
        return None

    def output(heads: Any) -> Any:
        pairs = sorted((min(h, m), max(h, m)) for m, h in enumerate(heads.tolist(), start=1))
        return np.array(pairs)

    return Twin(Arborescence(single_root=False), {"arc": edge}, output,
                lambda p: {"edge": np.triu(p["arc"] + p["arc"].T, 1)})  # fmt: skip


OTHERS: dict[str, tuple[Change, ...]] = {
    "classes": (_one_class,),
    "chains of order 0": (_one_position, _by_edges, _as_segments, _as_trellis),
    "chains of order 1": (_as_path, _as_segments, _as_trellis, _of_higher_order, _by_edges,
                          _enumerated),
    "chains of order 2": (_of_higher_order, _by_edges, _enumerated),
    "chains of order 3": (_of_higher_order, _by_edges, _enumerated),
    "segments": (_by_edges, _enumerated),
    "trees": (_tree_as_graph, _enumerated),
    "spans": (_by_edges, _binary_spans, _enumerated),
    "grammars": (_by_edges,),
    "projective arcs": (_by_edges, _one_root, _enumerated),
    "arcs": (_one_root, _enumerated),
    "spanning trees": (_as_arcs, _enumerated),
    "lattices": (_enumerated,),
    "graphs": (_strengths_as_tables, _enumerated),
    "grids": (_grid_as_graph, _enumerated),
}  # fmt: skip


@relation(
    "one structure as another",
    {name: Changed(STRUCTURES[name], changes) for name, changes in OTHERS.items()},
    claim="to rounding; outputs up to ties",
)
def as_another(subject: Changed, rng: Rng) -> None:
    """Structures whose outputs are the same give the same answers."""
    demand_change(subject, rng)
