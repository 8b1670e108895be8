"""Dependency trees: every word has one head, the root or another word, without cycles."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .base import Block, Parts, paired
from .heads import all_heads, check_tree, inner_siblings, read_heads
from .native import NativeStructure, examples_of

__all__ = ["Arborescence"]


class Arborescence(NativeStructure):
    """A tree over the words 1..n of a sentence, with arcs from head to word, below the root 0.

    The score of a tree is Σ_m arc[head of m, m], for labelled arcs Σ_m arc[head of m, m, label
    of m], and the sibling scores where they are given.

    Score blocks
    ------------
    arc : (n + 1, n + 1), or (n + 1, n + 1, R) for labelled arcs
        ``arc[h, m]`` scores the arc h → m. The diagonal and column 0 are never read (they may be
        NaN); their marginals are 0.
    sibling : (n + 1, n + 1, n + 1), projective trees only
        ``sibling[h, s, m]`` scores word m with head h, where s is the nearest word between h and m
        that also has head h, or h itself where there is none. Read where h ≤ s < m or m < s ≤ h.

    An output is the (n,) array of heads of words 1..n; for arcs with labels, (heads, labels).

    Parameters
    ----------
    projective : bool, default=False
        No two arcs cross, and none spans the root's: each word and all below it are an interval.
    single_root : bool, default=True
        Exactly one word has head 0. This is settled exactly, not by a large constant.

    Notes
    -----
    argmax is Chu-Liu/Edmonds on a dense matrix in O(n²), or Eisner's chart in O(n³). Of equally
    good trees any one may be given, always the same.

    References
    ----------
    J. Edmonds (1967), Optimum branchings. H. N. Gabow & R. E. Tarjan (1984), Efficient algorithms
    for a family of matroid intersection problems. R. Zmigrod, T. Vieira & R. Cotterell (2020),
    Please mind the root. J. Eisner (1996), Three new probabilistic models for dependency parsing.

    Examples
    --------
    >>> import numpy as np
    >>> arc = np.zeros((3, 3))
    >>> arc[0, 2], arc[2, 1] = 2.0, 1.0
    >>> Arborescence().argmax(arc=arc)
    array([2, 0])
    """

    label_block = "arc"

    def __init__(self, projective: bool = False, single_root: bool = True) -> None:
        self.projective = bool(projective)
        self.single_root = bool(single_root)
        self._core = _core.arborescence(self.projective, self.single_root)

    @property
    def method(self) -> str:  # type: ignore[override]
        """The name of the search."""
        return "eisner" if self.projective else "chu-liu-edmonds"

    def blocks(self, n_labels: int) -> dict[str, Block]:
        """Return the blocks in the order of the core."""
        blocks = {"arc": Block((n_labels,))}
        if self.projective:
            blocks["sibling"] = Block((), optional=True)
        return blocks

    # -- outputs and parts ----------------------------------------------------------------------

    def _is_batch(self, arc: Any) -> bool:
        return isinstance(arc, (list, tuple)) and (len(arc) == 0 or np.ndim(arc[0]) >= 2)

    def _argmax_batch(
        self, theta: Mapping[str, Any], n: int, n_jobs: int | None
    ) -> tuple[list[Any], npt.NDArray[np.float64]]:
        outputs, values = super()._argmax_batch(theta, n, n_jobs)
        return [_split(y, a) for y, a in zip(outputs, theta["arc"], strict=True)], values

    def _positions(self, name: str, theta: Mapping[str, Any]) -> tuple[int, ...]:
        shape: tuple[int, ...] = theta["arc"].shape
        return shape if name == "arc" else (shape[0],) * 3

    def _read_output(self, y: Any, arc: npt.NDArray[np.float64]) -> tuple[Any, Any]:
        """Return the heads and the labels of an output (None without), checked."""
        n = len(arc) - 1
        if arc.ndim == 2:
            heads, labels = read_heads(y, n), None
        else:
            try:
                first, second = y
            except (TypeError, ValueError):
                raise ValueError(f"an output with labels is (heads, labels), got {y!r}") from None
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
        if isinstance(parts, (list, tuple)):
            return [self.decode(one) for one in parts]
        arc = np.asarray(parts["arc"], dtype=np.float64)
        found = np.argwhere(arc)
        order = np.argsort(found[:, 1], kind="stable")
        found = found[order]
        n = len(arc) - 1
        if not np.isin(arc, (0.0, 1.0)).all() or found[:, 1].tolist() != list(range(1, n + 1)):
            raise ValueError("these parts are no output: each word must have one arc of count 1")
        heads = found[:, 0].copy()
        check_tree(heads, projective=self.projective, single_root=self.single_root)
        return heads if arc.ndim == 2 else (heads, found[:, 2].copy())

    def score(self, y: Any, **scores: Any) -> Any:
        """Return the score of y, −∞ where a part of it is forbidden; a list for a batch."""
        batch, theta, n = self._convert(scores)
        if batch:
            return [self.score(one, **s) for one, s in paired(y, examples_of(theta, n))]
        theta = self._one(theta)
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


def _split(y: npt.NDArray[np.int64], arc: npt.NDArray[np.float64]) -> Any:
    """Return a row of the core as an output: heads, with the labels where arcs have them."""
    n = len(arc) - 1
    if arc.ndim == 2:
        return y
    return y[:n], (y[n:] if len(y) > n else np.zeros(n, dtype=np.int64))
