"""Labels on the nodes of any graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...array_types import Array, Integers
from ...exceptions import CapabilityError
from ..parts import Block, Parts
from ..programs.program import Program
from ..programs.rows import RowBuilder
from ..score_arrays import rank_of
from .pair_model import Cliques, PairGroup, PairModel, checked_strength, unequal_counts
from .pairwise import SUBMODULAR, PairwiseStructure


class Graph(PairwiseStructure):
    """N labels out of K on the nodes of a graph, with scores on its edges.

    The score of y is Σ_v label[v, y_v] + Σ_e edge[e, y_p, y_q] − Σ_e potts[e]·[y_p ≠ y_q], (p, q) =
    edges[e]. Finding the best y is NP-hard in general; ``solve`` reports the method and the
    quality. Exact: elimination if the treewidth w is small, O(N·K^(w+1)); one minimum cut for two
    labels whose pairs are submodular; "ilp" always. Ties: a cut gives the labelling with the first
    label wherever any of them has it; elimination gives the first label at the node eliminated
    last, and so on.

    Score blocks
    ------------
    label : (N, K)
    edge : (K, K), shared by all edges, or (E, K, K)
        Reads [label of edges[e, 0], label of edges[e, 1]]. May be left out.
    potts : a number, or (E,)
        The loss of an edge whose ends have different labels. Its parts count −1 for each such edge.
        With strengths ≥ 0, α-expansion finds a labelling within a factor of two of the best, for
        any number of labels. May be left out.
    edges : (E, 2) whole numbers, no scores
        The two nodes of each edge. If the structure was made with edges, they need not be given
        again; in a batch they are one array for all or one per example.

    clique : (K,), shared by all cliques, or (C, K)
        Added if all nodes of a clique have label k (P^n Potts). With a tolerance τ it is added in
        part, max(0, 1 − m / max(1, τ·n)) of it if m of n nodes have other labels (robust P^n). May
        be left out. Cuts and moves need scores ≥ 0; programs take any, but no tolerance; there are
        no sums.
    cliques : list of lists of nodes, no scores
        The node groups that ``clique`` scores; they come with the example.

    Parameters
    ----------
    edges : array-like of shape (E, 2), optional
        The graph, if it is the same for all inputs.
    method : str
        The search method, see :meth:`solve`.
    damping : float
        The share of its old value that a message keeps in loopy sums.
    tolerance : float
        The share of a clique's nodes, at most a half, that may have other labels before nothing is
        added; 0: none may.

    References
    ----------
    Y. Boykov, O. Veksler & R. Zabih (2001), Fast approximate energy minimization via graph cuts;
    V. Kolmogorov (2006), Convergent tree-reweighted message passing; P. Kohli, P. Kumar & P. Torr
    (2007), P³ & beyond: solving energies with higher order cliques; P. Kohli, L. Ladický & P. Torr
    (2008), Robust higher order potentials for enforcing label consistency.

    Examples
    --------
    A triangle whose corners prefer equal labels:

    >>> import numpy as np
    >>> graph = Graph([[0, 1], [1, 2], [2, 0]])
    >>> label = np.array([[2., 0.], [0., 1.], [0., 0.]])
    >>> graph.argmax(label=label, edge=np.eye(2))
    array([0, 0, 0])
    >>> graph.solve(label=label, edge=np.eye(2)).method
    'minimum cut'
    """

    topology = ("edges", "cliques")
    _label_axes = ("N", "K")
    _label_rank = 2

    def __init__(
        self,
        edges: Any = None,
        method: str = "auto",
        damping: float = 0.0,
        tolerance: float = 0.0,
    ) -> None:
        super().__init__(method, damping)
        if not 0 <= tolerance <= 0.5:
            raise ValueError(f"tolerance must be from 0 to 0.5, got {tolerance!r}")
        self.tolerance = float(tolerance)
        self._ends: Integers | None = None  # "edges" is the method for dynamic programs
        if edges is not None:
            self._ends = _as_edges(edges).copy()
            self._ends.setflags(write=False)

    def __repr__(self) -> str:
        n_edges = "" if self._ends is None else f"<{len(self._ends)} edges>, "
        tolerance = f", tolerance={self.tolerance!r}" if self.tolerance else ""
        return f"Graph({n_edges}method={self.method!r}, damping={self.damping!r}{tolerance})"

    def blocks(self, n_labels: int) -> dict[str, Block]:
        """Return the blocks."""
        return {
            "label": Block((n_labels,)),
            "edge": Block((n_labels, n_labels), shared=True, optional=True),
            "potts": Block((), optional=True),
            "clique": Block((n_labels,), optional=True),
        }

    def submodular_rows(self, n_labels: int) -> dict[str, Array | None]:
        """Return the conditions for exact cuts: Potts strengths and rewards of cliques ≥ 0, and
        submodular pairs of two labels.

        With more labels, pairs are Potts terms alone, for which α-expansion needs no truncation.
        """
        pair = SUBMODULAR[np.newaxis] if n_labels == 2 else None
        return {"edge": pair, "potts": np.ones(1), "clique": np.eye(n_labels)}

    def _edges_of(self, theta: Mapping[str, Any]) -> Integers:
        own = theta.get("edges")
        if own is not None:
            return _as_edges(own)
        if self._ends is None:
            raise ValueError(
                "the edges are missing: give them to Graph(edges), or with the example as edges"
            )
        return self._ends

    def _is_listed(self, name: str, value: Any) -> bool:
        if name not in self.topology or not isinstance(value, (list, tuple)):
            return super()._is_listed(name, value)
        if name == "edges":
            return len(value) > 0 and rank_of(value[0]) == 2
        # Groups are ragged lists: an example's contain nodes, a batch's contain groups.
        return len(value) > 0 and not any(map(_is_clique, value))

    def _cliques_of(self, theta: Mapping[str, Any]) -> Cliques:
        groups = theta.get("cliques")
        if groups is None:
            raise ValueError("clique scores need the cliques: cliques=[[nodes], ...]")
        return groups if isinstance(groups, Cliques) else Cliques(groups, self.tolerance)

    def _read_cliques(self, theta: Mapping[str, Any]) -> tuple[Cliques, Array] | None:
        """Return the cliques with a row of scores each, checked."""
        scores = theta.get("clique")
        if scores is None:
            return None
        n_nodes, n_labels = theta["label"].shape
        cliques = self._cliques_of(theta)
        outside = np.flatnonzero((cliques.members < 0) | (cliques.members >= n_nodes))
        if len(outside):
            c = int(np.searchsorted(cliques.start, outside[0], side="right")) - 1
            raise ValueError(
                f"clique {c} is {cliques.rows[c].tolist()}, but there are {n_nodes} nodes"
            )
        shapes = ((n_labels,), (len(cliques), n_labels))
        if scores.shape not in shapes:
            raise ValueError(
                f"clique has shape {scores.shape}, expected {shapes[0]} or {shapes[1]}"
            )
        if np.isneginf(scores).any():
            raise ValueError("clique contains -inf; its scores are finite")
        return cliques, np.ascontiguousarray(np.broadcast_to(scores, shapes[1]))

    def _model(self, theta: Mapping[str, Any]) -> PairModel:
        label, table = theta["label"], theta.get("edge")
        n_nodes, n_labels = label.shape
        edges = self._edges_of(theta)
        if len(edges) and not (edges.min() >= 0 and edges.max() < n_nodes):
            e = int(np.flatnonzero(((edges < 0) | (edges >= n_nodes)).any(axis=1))[0])
            raise ValueError(f"edge {e} is {edges[e].tolist()}, but there are {n_nodes} nodes")
        same = np.flatnonzero(edges[:, 0] == edges[:, 1])
        if len(same):
            raise ValueError(f"edge {same[0]} goes from node {edges[same[0], 0]} to itself")
        shapes = ((n_labels, n_labels), (len(edges), n_labels, n_labels))
        if table is not None and table.shape not in shapes:
            raise ValueError(f"edge has shape {table.shape}, expected {shapes[0]} or {shapes[1]}")
        strength = checked_strength("potts", theta.get("potts"), (len(edges),))
        group = PairGroup(len(edges), table, strength)
        return PairModel(label, [group], edges, cliques=self._read_cliques(theta))

    def core_topology(self, example: Mapping[str, Any], sites: tuple[int, ...]) -> Integers:
        """Return edges, and cliques if there are any, each preceded by its number."""
        try:
            edges = self._edges_of(example)
            row = [np.array([len(edges)]), edges.ravel()]
            if example.get("cliques") is not None:
                cliques = self._cliques_of(example)
                row += [np.array([len(cliques)]), cliques.start, cliques.members]
        except ValueError:  # reported when the example is read
            return np.empty(0, dtype=np.int64)
        return np.concatenate(row).astype(np.int64)

    def _encoded(self, y: Any, theta: dict[str, Any]) -> Parts:
        parts = super()._encoded(y, theta)
        if "clique" in theta:
            labels = self._labels(y, theta)
            parts["clique"] = self._cliques_of(theta).agreed(labels, theta["label"].shape[1])
        return parts

    def _spread(self, node: Array, pair: Array, theta: Mapping[str, Any]) -> Parts:
        parts = {"label": node, "edge": pair}
        if "potts" in theta:
            parts["potts"] = unequal_counts(pair)
        return {name: parts[name] for name in theta if name in parts}

    def position_shapes(self, theta: Parts) -> dict[str, tuple[int, ...]]:
        """Return the shapes of :meth:`encode_by_position` for scores of these shapes."""
        shapes = {name: a.shape for name, a in theta.items() if name not in self.topology}
        if "edge" in shapes and len(shapes["edge"]) == 2:
            shapes["edge"] = (len(self._edges_of(theta)), *shapes["edge"])
        if "potts" in shapes:
            shapes["potts"] = (len(self._edges_of(theta)),)
        if "clique" in shapes and len(shapes["clique"]) == 1:
            shapes["clique"] = (len(self._cliques_of(theta)), *shapes["clique"])
        return shapes

    def as_program(self, **scores: Any) -> Program:
        """Return the integer program whose solutions are the outputs; Potts terms as tables."""
        if scores.get("potts") is not None and not self._is_batch(scores):
            read = self._read(scores)
            topology = {name: read.pop(name) for name in self.topology if name in read}
            scores = {**self.program_scores(read, **topology), **topology}
        return super().as_program(**scores)

    def program_scores(self, theta: Parts, **topology: Any) -> Parts:
        """Return the scores with Potts terms as tables."""
        if "potts" not in theta:
            return super().program_scores(theta, **topology)
        tables = self._model({**theta, **topology}).tables
        remaining = {name: a for name, a in theta.items() if name not in ("potts", "edge", "label")}
        return {"label": theta["label"], "edge": tables, **remaining}

    def program_rows(self, theta: Parts, **topology: Any) -> RowBuilder:
        """Return the rows of the local polytope: the labels of a pair equal those of its nodes."""
        edges = self._edges_of({**theta, **topology})
        self._model({**theta, **topology})
        n_labels = theta["label"].shape[1]
        shapes: dict[str, tuple[int, ...]] = {"label": theta["label"].shape}
        if "edge" in theta:
            shapes["edge"] = (len(edges), n_labels, n_labels)
        if "clique" in theta:
            cliques = self._cliques_of(topology)
            if (cliques.slack > 1).any():
                raise CapabilityError(
                    "cliques with a tolerance > 0 have no program. What works: "
                    'method="auto", "cut", "expansion" or "swap"'
                )
            shapes["clique"] = (len(cliques), n_labels)
        build = RowBuilder(shapes)
        label = build.parts["label"]
        build.add((label, 1), equal=1, name="one label at node {0}")
        if "edge" in theta and len(edges):
            build.continuous("edge")
            pair = build.parts["edge"]
            for nodes, table in ((edges[:, 0], pair), (edges[:, 1], pair.transpose(0, 2, 1))):
                build.add(
                    (table, 1),
                    (label[nodes], -1),
                    rows=2,
                    equal=0,
                    name="edge {0} has label {1} where its node has",
                )
        if "clique" in theta:
            build.continuous("clique")
            for earned, nodes in zip(build.parts["clique"], cliques.rows, strict=True):
                # 1 if all agree, else 0.
                together = np.repeat(earned[np.newaxis], len(nodes), axis=0)
                build.add(
                    (together, 1), (label[nodes], -1), rows=2, upper=0, name="clique of node {0}"
                )
                build.add(
                    (earned[:, np.newaxis], 1),
                    (label[nodes].T, -1),
                    lower=1 - len(nodes),
                    name="clique with label {0}",
                )
        return build


def _is_clique(group: Any) -> bool:
    """Tell whether this is one group of nodes, not an example's list of groups."""
    return not isinstance(group, Cliques) and len(group) > 0 and np.ndim(group[0]) == 0


def _as_edges(edges: Any) -> Integers:
    array = np.asarray(edges)
    if array.size == 0:
        array = np.empty((0, 2), dtype=np.int64)
    if not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"edges must be whole numbers, got {array.dtype}")
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(f"edges must have shape (E, 2), got {array.shape}")
    return np.ascontiguousarray(array, dtype=np.int64)
