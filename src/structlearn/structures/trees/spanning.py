"""Spanning trees: n nodes, connected by n − 1 undirected edges."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ..batches import holds_interpreter, takes_batches
from ..native import NativeStructure
from ..parts import Array, Block, Parts, part_of
from ..programs.rows import RowBuilder
from ..score_arrays import as_scores, rank_of
from .arborescence import Arborescence
from .heads import all_heads
from .tree_counts import count_arborescences
from .tree_program import spanning_rows

__all__ = ["SpanningTree"]


class SpanningTree(NativeStructure):
    """n − 1 edges that connect n nodes; an undirected tree.

    Score block: ``edge`` (n, n), symmetric. Only ``edge[i, j]`` with i < j is read, and only there
    are marginals and counts other than 0, so that ⟨edge, μ(y)⟩ is the score; the rest may be
    anything. The output is an (n − 1, 2) array of edges i < j in ascending order.

    argmax is Prim's algorithm in O(n²), as good as Kruskal's where every edge exists. A spanning
    tree is an arborescence below node 0, so log_partition, marginals, kbest and sample are those of
    :class:`Arborescence` (the matrix-tree theorem in O(n³)).

    References
    ----------
    R. C. Prim (1957), Shortest connection networks and some generalizations. G. Kirchhoff (1847).

    Examples
    --------
    >>> import numpy as np
    >>> SpanningTree().argmax(edge=np.array([[0.0, 3, 1], [3, 0, 2], [1, 2, 0]]))
    array([[0, 1],
           [1, 2]])
    >>> SpanningTree().count(edge=np.zeros((4, 4)))
    16
    """

    method = "prim"
    label_block = "edge"
    has_labels = False
    judges_outputs = True
    _label_rank = 3

    def __init__(self) -> None:
        self._core = _core.spanning_tree()

    def blocks(self, n_labels: int) -> dict[str, Block]:
        """Return the one block: pairs of nodes."""
        return {"edge": Block(())}

    # -- for learners ---------------------------------------------------------------------------

    def n_places(self, n_sites: int) -> int:
        """Return the number of edges."""
        return math.isqrt(n_sites) - 1

    def site_shape(self, block: str, n_sites: int) -> tuple[int, ...]:
        """Return (n, n)."""
        size = math.isqrt(n_sites)
        if size * size != n_sites:
            raise ValueError(
                f"edge has features for {n_sites} places, which is not a square number"
            )
        return (size, size)

    def _gold_rows(
        self, outputs: Sequence[Any], labels: npt.NDArray[np.int64], ptr: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
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
        """Return the number of edges of y that are missing: n − 1, less 1 for each it has."""
        costs = np.zeros(np.shape(scores["edge"]))
        edges = self._edges(y, len(costs))
        weight = np.broadcast_to(np.asarray(weights) * missed[0], len(edges))
        costs[tuple(edges.T)] = -weight
        return {"edge": costs}, float(weight.sum())

    def agreement(self, gold: Any, predicted: Any) -> tuple[int, int]:
        """Return the number of edges that are right, and of all."""
        n = len(gold) + 1
        both = set(map(tuple, self._edges(gold, n).tolist()))
        return len(both & set(map(tuple, self._edges(predicted, n).tolist()))), n - 1

    # -- outputs and parts ----------------------------------------------------------------------

    def _is_batch(self, arguments: Mapping[str, Any]) -> bool:
        edge = arguments.get("edge")
        return isinstance(edge, (list, tuple)) and (len(edge) == 0 or rank_of(edge[0]) == 2)

    @takes_batches
    def argmax(self, *, n_jobs: int | None = None, **scores: Any) -> Any:
        """Return the best tree; a list of them for a batch."""
        found = super().argmax(n_jobs=n_jobs, **scores)
        return found if isinstance(found, list) else found.reshape(-1, 2)

    @takes_batches
    def solve(self, *, n_jobs: int | None = None, **scores: Any) -> Any:
        """Return the best tree with its value and a certificate: a :class:`Solution`."""
        found = super().solve(n_jobs=n_jobs, **scores)
        if isinstance(found, list):
            return found
        return found._replace(output=found.output.reshape(-1, 2))

    @takes_batches
    def kbest(self, n: int, *, n_jobs: int | None = None, **scores: Any) -> Any:
        """Return up to n trees as (score, edges), best first, no repeats."""
        found = super().kbest(n, n_jobs=n_jobs, **scores)
        if found and isinstance(found[0], list):
            return [[(value, y.reshape(-1, 2)) for value, y in one] for one in found]
        return [(value, y.reshape(-1, 2)) for value, y in found]

    def _read(self, flat: npt.NDArray[np.int64], ptr: npt.NDArray[np.int64]) -> list[Any]:
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
        if "edge" in scores and rank_of(scores["edge"]) == 2 and np.shape(scores["edge"]) == (1, 1):
            # One tree without edges: rows of length 0 cannot be told apart.
            return self._stack([self.argmax(**scores)] * n)
        return super().sample(
            n, temperature=temperature, random_state=random_state, n_jobs=n_jobs, **scores
        )

    def _read_samples(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        return rows.reshape(len(rows), -1, 2)

    def _positions(self, name: str, theta: Mapping[str, Any]) -> tuple[int, ...]:
        return tuple(theta["edge"].shape)

    def _edges(self, y: Any, n: int) -> npt.NDArray[np.int64]:
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

    def _encode(self, y: Any, theta: Mapping[str, Any], by_position: bool) -> Parts:
        counts = np.zeros(theta["edge"].shape)
        counts[tuple(self._edges(y, len(counts)).T)] = 1.0
        return {"edge": counts}

    def decode(self, parts: Any) -> Any:
        """Return the edges whose counts are one; a list for a list of parts."""
        counts = part_of(parts, "edge")
        if not np.isin(counts, (0.0, 1.0)).all():
            raise ValueError("these parts are not an output: every count must be 0 or 1")
        edges = np.argwhere(counts)
        if (edges[:, 0] >= edges[:, 1]).any():
            raise ValueError(
                "these parts are not an output: edges are counted at [i, j] with i < j"
            )
        return self._edges(edges, len(counts))

    def score(self, y: Any, **scores: Any) -> Any:
        """Return the score of y, −∞ where an edge of it is forbidden; a list for a batch."""
        edge = self._one(scores)["edge"]
        return float(edge[tuple(self._edges(y, len(edge)).T)].sum())

    def outputs(self, **scores: Any) -> Iterator[npt.NDArray[np.int64]]:
        """Iterate over all spanning trees."""
        n = len(scores["edge"])
        for heads in all_heads(n - 1):
            edges = np.column_stack((heads, np.arange(1, n)))
            edges.sort(axis=1)
            yield edges[np.lexsort((edges[:, 1], edges[:, 0]))]

    def infer_others(
        self, y: Any, *, temperature: float = 1.0, **scores: Any
    ) -> tuple[float, Parts]:
        """Return (ε log Σ exp(score/ε), its gradient by block) over all trees but y, ε > 0."""
        edge = self._scores(scores)["edge"]
        if len(edge) == 1:
            return -math.inf, {}
        value, p = _BELOW_NODE_0.infer_others(
            _heads(self._edges(y, len(edge))), temperature=temperature, arc=edge + edge.T
        )
        return value, {"edge": np.triu(p["arc"] + p["arc"].T)} if p else {}

    def _local_entropy(
        self, theta: dict[str, Any], topology: Mapping[str, Any], temperature: float
    ) -> float:
        edge = theta["edge"]
        if len(edge) == 1:
            return 0.0
        return _BELOW_NODE_0.entropy(temperature=temperature, arc=edge + edge.T)  # type: ignore[no-any-return]

    def program_rows(self, theta: Parts, **topology: Any) -> RowBuilder:
        """Return the rows: flows from node 0 to every other."""
        return spanning_rows({name: a.shape for name, a in theta.items()})

    @holds_interpreter
    def count(self, *, n_jobs: int | None = None, **scores: Any) -> Any:
        """Return the number of trees with a finite score, as an exact integer."""
        edge = self._one(scores)["edge"]
        ways = np.triu(np.isfinite(edge), 1).astype(np.int64)
        return 1 if len(ways) == 1 else count_arborescences(ways + ways.T, single_root=False)

    def _scores(self, scores: Mapping[str, Any]) -> Parts:
        """Return the scores as an array, 0 where they are never read."""
        if scores.get("edge") is not None:
            edge = as_scores("edge", scores["edge"])
            if edge.ndim == 2 and edge.shape[0] == edge.shape[1]:
                edge = edge.copy()
                edge[np.tril_indices(len(edge))] = 0.0
            scores = {**scores, "edge": edge}
        return super()._scores(scores)


#: A spanning tree is an arborescence below node 0.
_BELOW_NODE_0 = Arborescence(single_root=False)


def _heads(edges: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the head of each node but 0, where the edges are led away from node 0."""
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
