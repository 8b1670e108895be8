"""Dependency trees: every word has one head, the root or another word, without cycles."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...array_types import Array, Integers
from ...exceptions import CapabilityError
from ...threads import n_threads
from ..batches import ask_each, read_batch, takes_batches
from ..hypergraph import Hyperedges
from ..native import NativeStructure
from ..open_labels import allowed_labels, is_open
from ..others import differing
from ..parts import Block, Parts, part_of
from ..programs.rows import RowBuilder
from ..score_arrays import as_scores, rank_of
from .heads import all_heads, check_tree, inner_siblings, read_heads
from .projective_edges import projective_edges
from .tree_counts import count_arborescences, count_projective
from .tree_program import arborescence_rows


class Arborescence(NativeStructure):
    """A tree over the words 1..n of a sentence, with arcs from head to word, below the root 0.

    The score of a tree is Σ_m arc[head of m, m], for labelled arcs Σ_m arc[head of m, m, label of
    m], and the sibling scores if given.

    Score blocks
    ------------
    arc : (n + 1, n + 1), or (n + 1, n + 1, R) for labelled arcs
        ``arc[h, m]`` scores the arc h → m. The diagonal and column 0 are never read (they may be
        NaN); their marginals are 0.
    sibling : (n + 1, n + 1, n + 1), projective trees only
        ``sibling[h, s, m]`` scores word m with head h, where s is the nearest word between h and m
        that also has head h, or h itself if there is none. Read where h ≤ s < m or m < s ≤ h.

    An output is the (n,) array of heads of words 1..n; for arcs with labels, (heads, labels).

    Parameters
    ----------
    projective : bool, default=False
        No two arcs cross, and none spans the root's: each word and all below it are an interval.
    single_root : bool, default=True
        Whether exactly one word has head 0. This is enforced exactly, not by a large constant.
    labelled : bool, optional
        For learners: whether outputs are (heads, labels). Default: like the training outputs.
        Queries go by the shape of ``arc``.

    Notes
    -----
    argmax is Chu-Liu/Edmonds on a dense matrix in O(n²), or Eisner's chart in O(n³), also with
    siblings. Ties are broken in a fixed but unspecified way. The k best take k n searches, or, for
    projective trees, one chart and O(n²) for each; sums O(n³); counts O(n³) for each of
    O(n log n) primes. All of these, sampling and the integer program support siblings for
    projective trees.

    Grandparents have no block: a score for each chain of two arcs would need a chart of O(n⁴).
    :class:`~structlearn.tasks.DependencyParser` scores siblings and grandparents together
    (``order=2``) over the few heads that its pruner leaves for a word, exactly if
    ``projective=True``; for other scores of pairs of arcs write the parts as a program
    (:meth:`as_program`) or as hyperedges.

    References
    ----------
    J. Edmonds (1967), Optimum branchings. H. N. Gabow & R. E. Tarjan (1984), Efficient algorithms
    for a family of matroid intersection problems. R. Zmigrod, T. Vieira & R. Cotterell (2020),
    Please mind the root. J. Eisner (1996), Three new probabilistic models for dependency parsing.
    R. McDonald & F. Pereira (2006), Online learning of approximate dependency parsing algorithms.
    L. Huang & D. Chiang (2005), Better k-best parsing.

    Examples
    --------
    >>> import numpy as np
    >>> arc = np.zeros((3, 3))
    >>> arc[0, 2], arc[2, 1] = 2.0, 1.0
    >>> Arborescence().argmax(arc=arc)
    array([2, 0])
    """

    label_block = "arc"
    judges_outputs = True
    _label_rank = 3

    def __init__(
        self, projective: bool = False, single_root: bool = True, labelled: bool | None = None
    ) -> None:
        self.projective = bool(projective)
        self.single_root = bool(single_root)
        self.labelled = labelled if labelled is None else bool(labelled)
        self._core = _core.arborescence(self.projective, self.single_root)

    @property
    def method(self) -> str:  # type: ignore[override]
        """The name of the search."""
        return "eisner" if self.projective else "chu-liu-edmonds"

    def blocks(self, n_labels: int) -> dict[str, Block]:
        """Return the blocks in the order of the core."""
        blocks = {"arc": Block((n_labels,) if self.labelled else ())}
        if self.projective:
            blocks["sibling"] = Block((), optional=True)
        return blocks

    # -- for learners ---------------------------------------------------------------------------

    @property
    def has_labels(self) -> bool:  # type: ignore[override]
        """Whether outputs have labels, for learners."""
        return bool(self.labelled)

    @classmethod
    def from_examples(cls, X: Any, y: Any) -> Arborescence:
        """Return a structure for labelled trees if y has labels."""
        return cls(labelled=_have_labels(y))

    def for_examples(self, X: Any, y: Any) -> Arborescence:
        """Return a structure with ``labelled`` set by the outputs."""
        if self.labelled is not None:
            return self
        return Arborescence(self.projective, self.single_root, _have_labels(y))

    def labels_of(self, y: Any) -> list[Any]:
        """Return the labels of words 1..n; none if trees have no labels."""
        return list(_pair(y)[1]) if self.labelled else []

    def relabel(self, y: Any, labels: Any) -> Any:
        """Return the tree with other labels."""
        return (read_heads(_pair(y)[0]), np.asarray(labels)) if self.labelled else y

    def n_places(self, n_sites: int) -> int:
        """Return the number of words."""
        return math.isqrt(n_sites) - 1

    def site_shape(self, block: str, n_sites: int) -> tuple[int, ...]:
        """Return (n + 1, n + 1), with a third axis for siblings."""
        axes = 2 if block == "arc" else 3
        size = round(n_sites ** (1 / axes))
        if size**axes != n_sites or size < 2:
            raise ValueError(
                f"{block} has features for {n_sites} places, which is not (n + 1)^{axes} for a "
                "sentence of n >= 1 words"
            )
        return (size,) * axes

    def _gold_rows(
        self, outputs: Sequence[Any], labels: Integers, ptr: Integers
    ) -> tuple[Integers, Integers]:
        rows: list[Integers] = []
        ends = [0]
        for i, y in enumerate(outputs):
            is_known = not self.labelled or ptr[i + 1] > ptr[i]
            try:
                heads = read_heads(_pair(y)[0] if self.labelled else y)
                check_tree(heads, projective=self.projective, single_root=self.single_root)
            except ValueError as error:
                raise ValueError(f"example {i}: {error}") from None
            row = [heads, labels[ptr[i] : ptr[i + 1]]] if self.labelled else [heads]
            rows += row if is_known else []
            ends.append(ends[-1] + (sum(map(len, row)) if is_known else 0))
        return np.concatenate([np.empty(0, dtype=np.int64), *rows]), np.array(ends, dtype=np.int64)

    def _read_outcomes(
        self,
        flat: Integers,
        ptr: Integers,
        outcomes: tuple[int, ...],
    ) -> list[Any]:
        rows = self._read(flat, ptr)
        if not outcomes:
            return rows
        if outcomes[0] == 1:
            return [(y, np.zeros_like(y)) for y in rows]
        return [(y[: len(y) // 2], y[len(y) // 2 :]) for y in rows]

    def output_costs(
        self, y: Any, table: Array, missed: Array, weights: Array | float, **scores: Any
    ) -> tuple[Parts, float]:
        """Return the cost of a tree: Σ over words of 1, minus 1 for each right arc.

        With labels, an arc is right with its label; costs other than Hamming's give δ(gold label,
        label) under the right head and ``missed`` under a wrong one. Unknown labels cost nothing
        under the right head.
        """
        arc = np.zeros(np.shape(scores["arc"]))
        heads, labels = _pair(y) if self.labelled else (y, [0] * len(y))
        heads = read_heads(heads, len(arc) - 1)
        weight = np.broadcast_to(weights, heads.shape)
        constant = 0.0
        for m, (h, k) in enumerate(zip(heads.tolist(), labels, strict=True), start=1):
            allowed = allowed_labels(k, len(table))
            most = float(missed[allowed].max())
            right = table[allowed].min(axis=0) - most
            arc[h, m] = weight[m - 1] * (right if self.labelled else right[0])
            constant += float(weight[m - 1]) * most
        return {"arc": arc}, constant

    def agreement(self, gold: Any, predicted: Any) -> tuple[int, int]:
        """Return the number of right arcs (with their labels, if any), and of all arcs."""
        if not self.labelled:
            return int((np.asarray(gold) == predicted).sum()), len(gold)
        right = np.asarray(gold[0]) == predicted[0]
        for m, k in enumerate(gold[1]):
            label = int(predicted[1][m])
            if isinstance(k, (set, frozenset)):
                right[m] &= label in k
            else:
                right[m] &= is_open(k) or k == label
        return int(right.sum()), len(right)

    def allowed(self, y: Any, shape: tuple[int, ...]) -> npt.NDArray[np.bool_]:
        """Return the arcs of y, each with the labels that it may have: all for None or −1."""
        table = np.zeros(shape, dtype=bool)
        heads, labels = _pair(y)
        for m, (h, k) in enumerate(zip(read_heads(heads).tolist(), labels, strict=True), start=1):
            table[h, m] = allowed_labels(k, shape[-1])
        return table

    # -- outputs and parts ----------------------------------------------------------------------

    def places(self, y: Any, **scores: Any) -> tuple[Integers, ...]:
        """Return the arcs of words 1..n: heads, words and, if there are any, labels."""
        heads, *labels = _pair(y) if self.labelled else (y,)
        words = np.arange(1, len(heads) + 1)
        return (read_heads(heads), words, *(np.asarray(k, dtype=np.int64) for k in labels))

    def _is_batch(self, arguments: Mapping[str, Any]) -> bool:
        arc = arguments.get("arc")
        if not isinstance(arc, (list, tuple)) or len(arc) == 0:
            return isinstance(arc, (list, tuple))
        # n + 1 matrices of n + 1 rows that are not square are one example with labels.
        if rank_of(arc[0]) != 2:
            return rank_of(arc[0]) > 2
        rows, columns = np.shape(arc[0])
        return not rows == len(arc) != columns

    def _argmax_batch(
        self, theta: Mapping[str, Any], n: int, n_jobs: int | None
    ) -> tuple[list[Any], Array]:
        outputs, values = super()._argmax_batch(theta, n, n_jobs)
        return [_split(y, a) for y, a in zip(outputs, theta["arc"], strict=True)], values

    def _positions(self, name: str, theta: Mapping[str, Any]) -> tuple[int, ...]:
        shape: tuple[int, ...] = theta["arc"].shape
        return shape if name == "arc" else (shape[0],) * 3

    def _read_output(self, y: Any, arc: Array) -> tuple[Any, Any]:
        """Return the heads and the labels of an output (None without labels), checked."""
        n = len(arc) - 1
        if arc.ndim == 2:
            heads, labels = read_heads(y, n), None
        else:
            first, second = _pair(y)
            heads, labels = read_heads(first, n), np.asarray(second)
            if labels.shape != (n,) or labels.dtype.kind not in "iu":
                raise ValueError(f"labels must be {n} whole numbers, got {second!r}")
            if labels.min() < 0 or labels.max() >= arc.shape[2]:
                raise ValueError(f"labels must be among 0..{arc.shape[2] - 1}: {labels.tolist()}")
        check_tree(heads, projective=self.projective, single_root=self.single_root)
        return heads, labels

    def _places(self, y: Any, theta: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parts of an output as an index into each block."""
        heads, labels = self._read_output(y, theta["arc"])
        words = np.arange(1, len(heads) + 1)
        places: dict[str, Any] = {
            "arc": (heads, words) if labels is None else (heads, words, labels)
        }
        if "sibling" in theta:
            places["sibling"] = (heads, inner_siblings(heads), words)
        return places

    def _encode(self, y: Any, theta: Mapping[str, Any], by_position: bool) -> Parts:
        parts: Parts = {}
        for name, places in self._places(y, theta).items():
            parts[name] = np.zeros(theta[name].shape)
            parts[name][places] = 1.0
        return parts

    def decode(self, parts: Any) -> Any:
        """Return the tree whose arcs have count one; a list for a list of parts."""
        arc = part_of(parts, "arc")
        arcs = np.argwhere(arc)
        order = np.argsort(arcs[:, 1], kind="stable")
        arcs = arcs[order]
        n = len(arc) - 1
        if not np.isin(arc, (0.0, 1.0)).all() or arcs[:, 1].tolist() != list(range(1, n + 1)):
            raise ValueError(
                "these parts are not an output: each word must have one arc of count 1"
            )
        heads = arcs[:, 0].copy()
        check_tree(heads, projective=self.projective, single_root=self.single_root)
        return heads if arc.ndim == 2 else (heads, arcs[:, 2].copy())

    def score(self, y: Any, **scores: Any) -> Any:
        """Return the score of y, −∞ if a part of it is forbidden; a list for a batch."""
        theta = self._one(scores)
        return float(sum(theta[name][at].sum() for name, at in self._places(y, theta).items()))

    def outputs(self, **scores: Any) -> Iterator[Any]:
        """Iterate over all trees, with all labels."""
        shape = np.shape(scores["arc"])
        trees = all_heads(shape[0] - 1, projective=self.projective, single_root=self.single_root)
        if len(shape) == 2:
            yield from trees
            return
        for heads in trees:
            for labels in itertools.product(range(shape[2]), repeat=len(heads)):
                yield heads, np.array(labels)

    def _others(
        self, y: Any, theta: Parts, topology: Mapping[str, Any]
    ) -> Iterator[dict[str, Any]] | None:
        if self.projective:
            return None
        arc = theta["arc"]
        index = np.arange(arc.size).reshape(*arc.shape[:2], -1)
        used = np.flatnonzero(self.encode(y, **theta)["arc"])
        word = used // index.shape[2] % len(arc)
        return differing(
            theta, "arc", ((index[:, m].ravel(), int(k)) for m, k in zip(word, used, strict=True))
        )

    def _local_entropy(
        self, theta: dict[str, Any], topology: Mapping[str, Any], temperature: float
    ) -> float:
        # A word has one arc: subtract the arc in the best tree, whose score is then 0.
        arc = theta["arc"]
        used = np.nonzero(self.encode(self.argmax(**theta), **theta)["arc"])
        best = np.zeros(len(arc))
        best[used[1]] = arc[used]
        shift = best[:, np.newaxis] if arc.ndim == 3 else best
        return super()._local_entropy({**theta, "arc": arc - shift}, topology, temperature)

    def edges(self, **scores: Any) -> Hyperedges | None:
        """Return Eisner's chart for projective trees; others have no dynamic program."""
        if not self.projective:
            return None
        shapes = {name: np.shape(a) for name, a in scores.items()}
        return projective_edges(shapes, single_root=self.single_root)

    def program_rows(self, theta: Parts, **topology: Any) -> RowBuilder:
        """Return the rows: flows from the root to every word, or those of Eisner's chart."""
        if self.projective:
            return super().program_rows(theta, **topology)
        shapes = {name: a.shape for name, a in theta.items()}
        return arborescence_rows(shapes, single_root=self.single_root)

    @takes_batches
    def count(self, *, n_jobs: int | None = None, **scores: Any) -> Any:
        """Return the number of trees with a finite score, as an exact integer."""
        batch = read_batch(self, scores)
        if batch is not None:  # within one example, threads share the work
            return ask_each(partial(self.count, n_jobs=n_jobs), batch.examples())
        theta = self._one(scores)
        threads = n_threads(n_jobs)
        ways = np.isfinite(theta["arc"]).reshape(*theta["arc"].shape[:2], -1).sum(axis=2)
        if not self.projective:
            return count_arborescences(ways, single_root=self.single_root, threads=threads)
        pairs = np.isfinite(theta["sibling"]) if "sibling" in theta else None
        return count_projective(ways, pairs, single_root=self.single_root, threads=threads)

    def sample(
        self,
        n: int,
        *,
        temperature: float = 1.0,
        random_state: Any = None,
        n_jobs: int | None = None,
        **scores: Any,
    ) -> Any:
        """Draw n trees from P(y) ∝ exp(score(y)/ε): an (n, words) array of heads.

        Arcs with labels give a list of (heads, labels). The same ``random_state`` gives the same
        trees. At ε = 0 all are the argmax.
        """
        drawn = super().sample(
            n, temperature=temperature, random_state=random_state, n_jobs=n_jobs, **scores
        )
        arc = scores["arc"]
        if np.ndim(arc) == 2 or isinstance(drawn, list):
            return drawn
        return [_split(row, np.asarray(arc)) for row in drawn]

    def _stack(self, outputs: list[Any]) -> Any:
        return outputs if isinstance(outputs[0], tuple) else np.array(outputs)

    def _scores(self, scores: Mapping[str, Any]) -> Parts:
        """Return the scores as arrays, 0 in entries that are never read."""
        cleaned = dict(scores)
        if not self.projective and scores.get("sibling") is not None:
            raise CapabilityError(
                "the best non-projective tree with scores of siblings is NP-hard to find. What "
                "works: Arborescence(projective=True), or arcs alone"
            )
        if scores.get("arc") is not None:
            arc = as_scores("arc", scores["arc"])
            if arc.ndim in (2, 3) and arc.shape[0] == arc.shape[1]:
                arc = arc.copy()
                arc[:, :1] = 0.0
                arc[np.arange(len(arc)), np.arange(len(arc))] = 0.0
            cleaned["arc"] = arc
        if scores.get("sibling") is not None:
            sibling = as_scores("sibling", scores["sibling"])
            if sibling.ndim == 3 and len(set(sibling.shape)) == 1:
                sibling = np.where(_read_pairs(len(sibling)), sibling, 0.0)
            cleaned["sibling"] = sibling
        return super()._scores(cleaned)


def _pair(y: Any) -> tuple[Any, Any]:
    """Return the heads and the labels of an output."""
    try:
        heads, labels = y
        if len(heads) == len(labels):
            return heads, labels
    except (TypeError, ValueError):
        pass
    raise ValueError(f"an output with labels is (heads, labels), one of each per word, got {y!r}")


def _have_labels(y: Any) -> bool:
    """Tell whether outputs are (heads, labels), from the first."""
    try:
        first = next(iter(y))
        return len(first) == 2 and np.ndim(first[0]) == 1
    except (TypeError, StopIteration):
        raise ValueError("y must be a list of trees: heads, or (heads, labels)") from None


def _read_pairs(size: int) -> npt.NDArray[np.bool_]:
    """Return which sibling scores are read."""
    h, s, m = np.ogrid[:size, :size, :size]
    return ((h <= s) & (s < m)) | ((m < s) & (s <= h) & (m > 0))


def _split(y: Integers, arc: Array) -> Any:
    """Return a row of the core as an output: heads, with the labels if arcs have them."""
    n = len(arc) - 1
    if arc.ndim == 2:
        return y
    return y[:n], (y[n:] if len(y) > n else np.zeros(n, dtype=np.int64))
