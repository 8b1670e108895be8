"""Labels on the nodes of a given tree (message passing)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ... import _core
from ...array_types import Integers
from ..batches import holds_interpreter
from ..entropies import centred, entropy_of_choices
from ..native import NativeStructure
from ..others import differing_labels
from ..parts import Block, Parts, part_of
from ..programs.rows import RowBuilder


class Tree(NativeStructure):
    """N labels out of K on the nodes of a tree, with scores on its edges.

    The score of y is Σ_v label[v, y_v] + Σ_e edge[e, y_parent, y_child], edge e being the one above
    the e-th node that is not the root. Max- and sum-product message passing, up the tree and down
    again, cost O(N·K²). Ties: argmax gives the first label at the root, then, from the root down,
    the first label compatible with the parent's.

    Score blocks
    ------------
    label : (N, K)
    edge : (K, K), shared by all edges, or (N − 1, K, K)
        Reads [parent label, child label]. May be left out.
    parents : (N,) whole numbers, no scores
        The parent of each node, −1 at the root. There is exactly one root: the trees of a forest
        are separate examples. Nodes may be numbered in any order. If the structure was made with
        parents, it need not be given again; in a batch it is one for all or one per example.

    Parameters
    ----------
    parents : array-like of shape (N,), optional
        The tree, if it is the same for all inputs.

    References
    ----------
    J. Pearl (1988), Probabilistic reasoning in intelligent systems.

    Examples
    --------
    A root with two children; children prefer the label of their parent:

    >>> import numpy as np
    >>> tree = Tree([-1, 0, 0])
    >>> label = np.array([[0., 0.], [2., 0.], [0., 1.]])
    >>> tree.argmax(label=label, edge=np.eye(2) * 1.5)
    array([0, 0, 0])
    >>> Tree().argmax(label=label, edge=np.eye(2) * 0.5, parents=[-1, 0, 1])
    array([0, 0, 1])
    """

    method = "message passing"
    topology = ("parents",)
    _label_rank = 2

    def __init__(self, parents: Any = None) -> None:
        self.parents: Integers | None = None
        if parents is not None:
            self.parents = self._as_topology("parents", parents).copy()
            self.parents.setflags(write=False)
        self._core = _core.tree(np.empty(0, np.int64) if self.parents is None else self.parents)
        if self.parents is not None:
            self._core.check({"label": np.zeros((len(self.parents), 1))})

    @property
    def pair_block(self) -> str | None:
        """The block of label pairs."""
        return "edge"

    def blocks(self, n_labels: int) -> dict[str, Block]:
        """Return the blocks in the order of the core."""
        return {
            "label": Block((n_labels,)),
            "edge": Block((n_labels, n_labels), shared=True, optional=True),
        }

    # -- outputs and parts ----------------------------------------------------------------------

    def _positions(self, name: str, theta: Mapping[str, Any]) -> tuple[int, ...]:
        n_nodes, n_labels = theta["label"].shape
        if name == "label":
            return (n_nodes, n_labels)
        return (n_nodes - 1, n_labels, n_labels)

    def _pairs(self, theta: Mapping[str, Any]) -> tuple[Integers, ...]:
        """Return (parent, child) of each edge."""
        parents = theta.get("parents", self.parents)
        assert parents is not None
        children = np.flatnonzero(parents >= 0)
        return parents[children], children

    def joined(self, place: Any, other: Any, **scores: Any) -> tuple[str, int, bool] | None:
        """Return the edge between a parent and its child."""
        parents = np.asarray(scores.get("parents", self.parents))
        children = np.flatnonzero(parents >= 0)
        for a, b, turned in ((place, other, False), (other, place, True)):
            if parents[b] == a:
                return "edge", int(np.searchsorted(children, b)), turned
        return None

    def _check_output(self, y: Any, theta: Mapping[str, Any]) -> Integers:
        n_nodes, n_labels = theta["label"].shape
        labels = np.asarray(y)
        if labels.shape != (n_nodes,):
            raise ValueError(f"the output has shape {labels.shape}, the tree {n_nodes} nodes")
        if not np.issubdtype(labels.dtype, np.integer):
            raise ValueError(f"labels must be whole numbers, got dtype {labels.dtype}")
        if not (labels.min() >= 0 and labels.max() < n_labels):
            raise ValueError(f"labels must be among 0..{n_labels - 1}: {labels}")
        return labels.astype(np.int64, copy=False)

    def _places(self, y: Any, theta: Mapping[str, Any], by_position: bool) -> dict[str, Any]:
        """Return the parts of an output as an index into each block."""
        labels = self._check_output(y, theta)
        places: dict[str, Any] = {"label": (np.arange(len(labels)), labels)}
        if "edge" in theta:
            parent, child = self._pairs(theta)
            pair = (labels[parent], labels[child])
            spread = by_position or theta["edge"].ndim == 3
            places["edge"] = (np.arange(len(child)), *pair) if spread else pair
        return places

    def _encode(self, y: Any, theta: Mapping[str, Any], by_position: bool) -> Parts:
        places = self._places(y, theta, by_position)
        parts: Parts = {}
        for name in (name for name in theta if name in places):
            shape = self._positions(name, theta) if by_position else theta[name].shape
            parts[name] = np.zeros(shape)
            np.add.at(parts[name], places[name], 1.0)
        return parts

    def decode(self, parts: Any) -> Any:
        """Return the labels whose counts are one, from the ``label`` block; a list for a list."""
        label = part_of(parts, "label")
        if not (np.isin(label, (0.0, 1.0)).all() and (label.sum(axis=1) == 1).all()):
            raise ValueError(
                "these parts are not an output: each node must have exactly one label of count 1"
            )
        labels: Integers = label.argmax(axis=1)
        return labels

    def score(self, y: Any, **scores: Any) -> Any:
        """Return the score of y, −∞ if a part of it is forbidden; a list for a batch."""
        theta = self._one(scores)
        places = self._places(y, theta, by_position=False)
        return float(sum(theta[name][where].sum() for name, where in places.items()))

    def outputs(self, **scores: Any) -> Iterator[Integers]:
        """Iterate over all K^N labellings."""
        n_nodes, n_labels = np.shape(scores["label"])
        for y in itertools.product(range(n_labels), repeat=n_nodes):
            yield np.array(y, dtype=np.int64)

    def program_rows(self, theta: Parts, **topology: Any) -> RowBuilder:
        """Return the rows: the labels of a pair equal those of its nodes (tight on trees)."""
        build = RowBuilder({name: self._positions(name, theta) for name in theta})
        label = build.parts["label"]
        build.add((label, 1), equal=1, name="one label at node {0}")
        if "edge" in theta:
            build.continuous("edge")
            pair = build.parts["edge"]
            parent, child = self._pairs(self._one({**theta, **topology}))
            for nodes, table in ((parent, pair), (child, pair.transpose(0, 2, 1))):
                build.add(
                    (table, 1),
                    (label[nodes], -1),
                    rows=2,
                    equal=0,
                    name="edge {0} has label {1} where its node has",
                )
        return build

    def _others(
        self, y: Any, theta: Parts, topology: Mapping[str, Any]
    ) -> Iterator[dict[str, Any]]:
        return differing_labels(theta, "label", self.labels_of(y))

    def _local_entropy(
        self, theta: dict[str, Any], topology: Mapping[str, Any], temperature: float
    ) -> float:
        scores = {**centred(theta, {"label": 1, "edge": 2}), **topology}
        p = self.marginals(temperature=temperature, **scores)
        if "edge" not in theta:
            return entropy_of_choices(p["label"])
        # The root's label, and then each label given that of its parent.
        _, child = self._pairs(self._one(scores))
        root = _root(child, len(p["label"]))
        pairs = p["edge"].reshape(-1, p["label"].shape[1])
        return entropy_of_choices(p["label"][[root]]) + entropy_of_choices(pairs)

    # -- counting -------------------------------------------------------------------------------

    @holds_interpreter
    def count(self, **scores: Any) -> Any:
        """Return the number of labellings with a finite score, as an exact integer."""
        theta = self._one(scores)
        with np.errstate(over="ignore", invalid="ignore"):
            approximate = self._count_labellings(theta, np.float64)
        if approximate < 2**53:  # floating point is exact up to here
            return int(approximate)
        return int(self._count_labellings(theta, object))

    def _count_labellings(self, theta: Mapping[str, Any], dtype: Any) -> Any:
        ways = np.isfinite(theta["label"]).astype(dtype)
        n_nodes, n_labels = ways.shape
        table = theta.get("edge", np.zeros((n_labels, n_labels)))
        legal = np.broadcast_to(np.isfinite(table), (max(n_nodes - 1, 0), n_labels, n_labels))
        parent, child = self._pairs(theta)
        for e in _leaves_first(parent, child, n_nodes):
            ways[parent[e]] = ways[parent[e]] * (legal[e].astype(dtype) @ ways[child[e]])
        return ways[_root(child, n_nodes)].sum()


def _leaves_first(parent: Integers, child: Integers, n_nodes: int) -> list[int]:
    """Return the edges in an order in which those below a node precede the one above it."""
    below: list[list[int]] = [[] for _ in range(n_nodes)]
    for e, v in enumerate(parent.tolist()):
        below[v].append(e)
    nodes = child.tolist()
    order = list(below[_root(child, n_nodes)])
    for e in order:  # grows
        order.extend(below[nodes[e]])
    return order[::-1]


def _root(child: Integers, n_nodes: int) -> int:
    return int(np.setdiff1d(np.arange(n_nodes), child)[0])
