"""Spanning trees: n nodes, connected by n − 1 undirected edges."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import _core
from ...array_types import Array, Integers
from ..batches import holds_interpreter, takes_batches
from ..native import NativeStructure
from ..parts import Block, Parts, part_of
from ..programs.rows import RowBuilder
from ..score_arrays import as_scores, rank_of
from .arborescence import Arborescence
from .heads import all_heads
from .tree_counts import count_arborescences
from .tree_program import spanning_rows

if TYPE_CHECKING:
    from ..programs.program import Program


class SpanningTree(NativeStructure):
    """n − 1 edges that connect n nodes; an undirected tree.

    The output is an (n − 1, 2) array of edges i < j in ascending order. If every edge may be used,
    argmax is Prim's algorithm in O(n²); on a list of E edges it is Kruskal's in O(E log E), with
    ties going to the first edge in the list. A spanning tree is an arborescence below node 0, so
    log_partition, marginals, kbest and sample are those of :class:`Arborescence` (the matrix-tree
    theorem in O(n³)).

    Score blocks
    ------------
    edge : (n, n), symmetric, or (E,)
        Of a matrix only ``edge[i, j]`` with i < j is read, and only there are marginals and counts
        nonzero, so that ⟨edge, μ(y)⟩ is the score; the rest may be anything. With ``edges``, one
        score for each of them: there are no other edges.
    edges : (E, 2) whole numbers, no scores
        The two nodes of each edge, if not all edges exist; nodes are 0 to the largest one named. If
        the structure was made with edges, they need not be given again; in a batch they are the
        same for all or one array per example.

    Parameters
    ----------
    edges : array-like of shape (E, 2), optional
        The edges, if they are the same for all inputs.

    References
    ----------
    R. C. Prim (1957), Shortest connection networks and some generalizations. J. B. Kruskal (1956),
    On the shortest spanning subtree of a graph and the traveling salesman problem. G. Kirchhoff
    (1847).

    Examples
    --------
    >>> import numpy as np
    >>> SpanningTree().argmax(edge=np.array([[0.0, 3, 1], [3, 0, 2], [1, 2, 0]]))
    array([[0, 1],
           [1, 2]])
    >>> SpanningTree().count(edge=np.zeros((4, 4)))
    16
    >>> ring = SpanningTree([[0, 1], [1, 2], [2, 3], [3, 0]])
    >>> ring.argmax(edge=[4.0, 1.0, 3.0, 2.0])
    array([[0, 1],
           [0, 3],
           [2, 3]])
    """

    method = "prim"
    label_block = "edge"
    has_labels = False
    judges_outputs = True
    topology = ("edges",)
    _topology_rank = 2

    def __init__(self, edges: Any = None) -> None:
        self._ends: Integers | None = None
        if edges is not None:
            self._ends = self._as_topology("edges", edges).copy()
            self._ends.setflags(write=False)
        self._core = _core.spanning_tree(_NO_EDGES if self._ends is None else self._ends)
        if self._ends is not None:
            self._core.check({"edge": np.zeros(len(self._ends))})

    def __getstate__(self) -> dict[str, Any]:
        return {"edges": self._ends}

    def __repr__(self) -> str:
        return f"SpanningTree({'' if self._ends is None else f'<{len(self._ends)} edges>'})"

    @property
    def _label_rank(self) -> int:  # type: ignore[override]
        return 3 if self._ends is None else 2

    def _as_topology(self, name: str, value: Any) -> Integers:
        edges = super()._as_topology(name, value)
        if edges.shape[1] != 2 or not len(edges):
            raise ValueError(
                f"edges has shape {edges.shape}, expected (E, 2): the two nodes of each edge, at "
                "least one"
            )
        return edges

    def blocks(self, n_labels: int) -> dict[str, Block]:
        """Return the one block: pairs of nodes."""
        return {"edge": Block(())}

    # -- for learners ---------------------------------------------------------------------------

    def n_places(self, n_sites: int) -> int:
        """Return the number of edges of a tree."""
        return math.isqrt(n_sites) - 1 if self._ends is None else int(self._ends.max())

    def site_shape(self, block: str, n_sites: int) -> tuple[int, ...]:
        """Return (n, n), or (E,) if the structure was made with edges."""
        if self._ends is not None:
            return (n_sites,)
        size = math.isqrt(n_sites)
        if size * size != n_sites:
            raise ValueError(
                f"edge has features for {n_sites} places, which is not a square number; features "
                "of a list of edges need a structure made with them: SpanningTree(edges)"
            )
        return (size, size)

    def _gold_rows(
        self, outputs: Sequence[Any], labels: Integers, ptr: Integers
    ) -> tuple[Integers, Integers]:
        rows = []
        for i, y in enumerate(outputs):
            try:
                rows.append(self._edges(y, len(y) + 1).ravel())
            except ValueError as error:
                raise ValueError(f"example {i}: {error}") from None
        ends = np.concatenate(([0], np.cumsum([len(row) for row in rows])))
        return np.concatenate([np.empty(0, dtype=np.int64), *rows]), ends.astype(np.int64)

    def output_costs(
        self, y: Any, table: Array, missed: Array, weights: Array | float, **scores: Any
    ) -> tuple[Parts, float]:
        """Return the number of edges of y that are missing: n − 1, minus 1 for each present."""
        theta = self._one(scores)
        costs = np.zeros(theta["edge"].shape)
        places = self._places(y, theta)
        weight = np.broadcast_to(np.asarray(weights) * missed[0], len(places[0]))
        costs[places] = -weight
        return {"edge": costs}, float(weight.sum())

    def agreement(self, gold: Any, predicted: Any) -> tuple[int, int]:
        """Return the number of right edges, and of all edges."""
        n = len(gold) + 1
        both = set(map(tuple, self._edges(gold, n).tolist()))
        return len(both & set(map(tuple, self._edges(predicted, n).tolist()))), n - 1

    # -- outputs and parts ----------------------------------------------------------------------

    def _is_batch(self, arguments: Mapping[str, Any]) -> bool:
        edge = arguments.get("edge")
        if not isinstance(edge, (list, tuple)):
            return False
        listed = self._ends is not None or arguments.get("edges") is not None
        return len(edge) == 0 or rank_of(edge[0]) == (1 if listed else 2)

    @takes_batches
    def argmax(self, *, n_jobs: int | None = None, **scores: Any) -> Any:
        """Return the best tree; a list of them for a batch."""
        if scores.get("edges") is not None and not self._is_batch(scores):
            scores["edges"] = self._as_topology("edges", scores["edges"])
        trees = super().argmax(n_jobs=n_jobs, **scores)
        return trees if isinstance(trees, list) else trees.reshape(-1, 2)

    @takes_batches
    def solve(self, *, n_jobs: int | None = None, **scores: Any) -> Any:
        """Return the best tree with its value and a certificate: a :class:`Solution`."""
        solution = super().solve(n_jobs=n_jobs, **scores)
        listed = self._ends is not None or scores.get("edges") is not None
        method = "kruskal" if listed else "prim"
        if isinstance(solution, list):
            return [s._replace(method=method) for s in solution]
        return solution._replace(output=solution.output.reshape(-1, 2), method=method)

    @takes_batches
    def kbest(self, n: int, *, n_jobs: int | None = None, **scores: Any) -> Any:
        """Return up to n trees as (score, edges), best first, no repeats."""
        trees = super().kbest(n, n_jobs=n_jobs, **scores)
        if trees and isinstance(trees[0], list):
            return [[(value, y.reshape(-1, 2)) for value, y in listed] for listed in trees]
        return [(value, y.reshape(-1, 2)) for value, y in trees]

    def _read(self, flat: Integers, ptr: Integers) -> list[Any]:
        return [y.reshape(-1, 2) for y in super()._read(flat, ptr)]

    def sample(
        self,
        n: int,
        *,
        temperature: float = 1.0,
        random_state: Any = None,
        n_jobs: int | None = None,
        **scores: Any,
    ) -> Any:
        """Draw n trees from P(y) ∝ exp(score(y)/ε): an (n, nodes − 1, 2) array."""
        edge: Any = scores.get("edge")
        if rank_of(edge) == 2 and np.shape(edge) == (1, 1):
            # One tree without edges: rows of length 0 cannot be counted.
            return self._stack([self.argmax(**scores)] * n)
        return super().sample(
            n, temperature=temperature, random_state=random_state, n_jobs=n_jobs, **scores
        )

    def _read_samples(self, rows: Integers) -> Integers:
        return rows.reshape(len(rows), -1, 2)

    def _positions(self, name: str, theta: Mapping[str, Any]) -> tuple[int, ...]:
        return tuple(theta["edge"].shape)

    def _edges(self, y: Any, n: int) -> Integers:
        """Return the edges of an output, the smaller node first, checked."""
        try:
            edges = np.asarray(y).reshape(-1, 2)
            whole = edges.astype(np.int64)
        except (TypeError, ValueError):
            raise ValueError(f"an output is an array of edges (i, j), got {y!r}") from None
        if len(whole) != n - 1 or (whole != edges).any():
            raise ValueError(f"a spanning tree of {n} nodes has {n - 1} edges, got {y!r}")
        if len(whole) and (whole.min() < 0 or whole.max() >= n):
            raise ValueError(f"nodes must be among 0..{n - 1}: {whole.tolist()}")
        part = list(range(n))
        for i, j in whole.tolist():
            if part[i] == part[j]:
                raise ValueError(f"the edges are not a tree: ({i}, {j}) closes a cycle")
            old, new = part[i], part[j]
            part = [new if k == old else k for k in part]
        return np.sort(whole, axis=1)

    def _listed(self, theta: Mapping[str, Any]) -> Integers | None:
        """Return the existing edges, the smaller node first; None if all exist."""
        edges = theta.get("edges")
        if edges is None:
            edges = self._ends
        return None if edges is None else np.sort(self._as_topology("edges", edges), axis=1)

    def _n_nodes(self, theta: Mapping[str, Any]) -> int:
        listed = self._listed(theta)
        return len(theta["edge"]) if listed is None else int(listed.max()) + 1

    def _places(self, y: Any, theta: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the parts of an output as an index into the block."""
        listed, n = self._listed(theta), self._n_nodes(theta)
        edges = self._edges(y, n)
        if listed is None:
            return tuple(edges.T)
        key, wanted = listed @ (n, 1), edges @ (n, 1)
        order = np.argsort(key)
        places = order[np.minimum(np.searchsorted(key[order], wanted), len(key) - 1)]
        if (key[places] != wanted).any():
            i, j = edges[key[places] != wanted][0].tolist()
            raise ValueError(f"edge ({i}, {j}) of the tree is not among the edges")
        return (places,)

    def _matrix(self, theta: Mapping[str, Any]) -> Array:
        """Return the scores of edges i < j as a matrix, −∞ for edges that do not exist."""
        listed, n = self._listed(theta), self._n_nodes(theta)
        if listed is None:
            return np.asarray(theta["edge"])
        matrix = np.full((n, n), -np.inf)
        matrix[tuple(listed.T)] = theta["edge"]
        matrix[np.tril_indices(n)] = 0.0
        return matrix

    def _of_arcs(self, arc: Array, theta: Mapping[str, Any]) -> Array:
        """Return the counts of edges from those of arcs below node 0."""
        listed, both = self._listed(theta), np.triu(arc + arc.T)
        edge: Array = both if listed is None else both[tuple(listed.T)]
        return edge

    def _encode(self, y: Any, theta: Mapping[str, Any], by_position: bool) -> Parts:
        counts = np.zeros(theta["edge"].shape)
        counts[self._places(y, theta)] = 1.0
        return {"edge": counts}

    def decode(self, parts: Any) -> Any:
        """Return the edges whose counts are one; a list for a list of parts.

        Counts of a list of edges need a structure made with these edges.
        """
        counts = part_of(parts, "edge")
        if not np.isin(counts, (0.0, 1.0)).all():
            raise ValueError("these parts are not an output: every count must be 0 or 1")
        if counts.ndim == 1:
            if self._ends is None or len(self._ends) != len(counts):
                raise ValueError(
                    f"counts of {len(counts)} edges: decode them by SpanningTree(edges), which "
                    "knows what they connect"
                )
            used = np.sort(self._ends[counts == 1], axis=1)
            used = used[np.lexsort((used[:, 1], used[:, 0]))]
            return self._edges(used, int(self._ends.max()) + 1)
        edges = np.argwhere(counts)
        if (edges[:, 0] >= edges[:, 1]).any():
            raise ValueError(
                "these parts are not an output: edges are counted at [i, j] with i < j"
            )
        return self._edges(edges, len(counts))

    def score(self, y: Any, **scores: Any) -> Any:
        """Return the score of y, −∞ if an edge of it is forbidden; a list for a batch."""
        theta = self._one(scores)
        return float(theta["edge"][self._places(y, theta)].sum())

    def outputs(self, **scores: Any) -> Iterator[Integers]:
        """Iterate over all spanning trees."""
        n, listed = self._n_nodes(scores), self._listed(scores)
        exist = None if listed is None else set(map(tuple, listed.tolist()))
        for heads in all_heads(n - 1):
            edges = np.column_stack((heads, np.arange(1, n)))
            edges.sort(axis=1)
            if exist is None or exist.issuperset(map(tuple, edges.tolist())):
                yield edges[np.lexsort((edges[:, 1], edges[:, 0]))]

    def infer_others(
        self, y: Any, *, temperature: float = 1.0, **scores: Any
    ) -> tuple[float, Parts]:
        """Return (ε log Σ exp(score/ε), its gradient by block) over all trees but y, ε > 0."""
        theta = {**self._scores(scores), **self._topology(scores)}
        edge = self._matrix(theta)
        if len(edge) == 1:
            return -math.inf, {}
        value, p = _BELOW_NODE_0.infer_others(
            _heads(self._edges(y, len(edge))), temperature=temperature, arc=edge + edge.T
        )
        return value, {"edge": self._of_arcs(p["arc"], theta)} if p else {}

    def _local_entropy(
        self, theta: dict[str, Any], topology: Mapping[str, Any], temperature: float
    ) -> float:
        edge = self._matrix({**theta, **topology})
        if len(edge) == 1:
            return 0.0
        return _BELOW_NODE_0.entropy(temperature=temperature, arc=edge + edge.T)  # type: ignore[no-any-return]

    def as_program(self, **scores: Any) -> Program:
        """Return the integer program whose solutions are the trees (eq. 17.33-34)."""
        edges = scores.pop("edges", None)
        if edges is not None:  # that structure decodes its solutions
            return SpanningTree(edges).as_program(**scores)
        return super().as_program(**scores)

    def program_rows(self, theta: Parts, **topology: Any) -> RowBuilder:
        """Return the rows: flows from node 0 to every other."""
        arguments = {**theta, **topology}
        return spanning_rows(theta["edge"].shape, self._n_nodes(arguments), self._listed(arguments))

    @holds_interpreter
    def count(self, **scores: Any) -> Any:
        """Return the number of trees with a finite score, as an exact integer."""
        ways = np.triu(np.isfinite(self._matrix(self._one(scores))), 1).astype(np.int64)
        return 1 if len(ways) == 1 else count_arborescences(ways + ways.T, single_root=False)

    def _scores(self, scores: Mapping[str, Any]) -> Parts:
        """Return the scores as an array, 0 in entries that are never read."""
        if scores.get("edge") is not None:
            edge = as_scores("edge", scores["edge"])
            if edge.ndim == 2 and edge.shape[0] == edge.shape[1]:
                edge = edge.copy()
                edge[np.tril_indices(len(edge))] = 0.0
            scores = {**scores, "edge": edge}
        return super()._scores(scores)


_NO_EDGES = np.empty((0, 2), np.int64)
#: A spanning tree is an arborescence below node 0.
_BELOW_NODE_0 = Arborescence(single_root=False)


def _heads(edges: Integers) -> Integers:
    """Return the head of each node but 0, with the edges directed away from node 0."""
    near: dict[int, list[int]] = {}
    for i, j in edges.tolist():
        near.setdefault(i, []).append(j)
        near.setdefault(j, []).append(i)
    heads = np.full(len(edges) + 1, -1, dtype=np.int64)
    open_nodes = [0]
    while open_nodes:
        i = open_nodes.pop()
        for j in near[i]:
            if j != heads[i]:
                heads[j] = i
                open_nodes.append(j)
    return heads[1:]
