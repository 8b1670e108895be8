"""Costs of wrong outputs: Δ(y*, y) = ⟨c, μ(y)⟩ + c₀, affine in the parts of y.

The cost belongs to the loss, not to the structure: loss-augmented inference is plain inference with
γc added to the scores (Daumé, §17.5). The one cost that is not affine, zero-one, has a
coordinate of its own and needs the second-best output.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..array_types import Vector
from ..features.arrays import as_floats
from ..structures.base import Structure
from ..structures.open_labels import allowed_labels, is_open
from ..structures.parts import Parts


class Cost:
    """Base class of costs. Your own cost defines :meth:`parts`."""

    #: True for the one cost that is not affine in the parts.
    zero_one = False

    def parts(self, structure: Structure, y: Any, **scores: Any) -> tuple[Parts, float]:
        """Return (c by block, c₀) for the gold output y: Δ(y, y') = ⟨c, μ(y')⟩ + c₀."""
        raise TypeError(f"{type(self).__name__} must define parts(structure, y, **scores)")

    def label_table(self, n_labels: int) -> Vector | None:
        """Return δ(gold, predicted) if the cost is a sum over labelled sites, else None."""
        return None

    @property
    def weighs_sites(self) -> bool:
        """Whether :meth:`site_weights` differs from 1."""
        return False

    def site_weights(self, labels: Any, example: int) -> Vector | float:
        """Return the weight of each site of one example, for costs with a label table.

        ``labels`` are the gold labels by the user's names: None if unknown, a
        frozenset for one of several.
        """
        return 1.0

    def __call__(self, gold: Any, predicted: Any) -> float:
        """Return Δ(gold, predicted) for outputs that are sequences of label indices."""
        y, z = np.atleast_1d(gold), np.atleast_1d(predicted)
        if y.shape != z.shape:
            raise ValueError(f"the outputs have different shapes: {y.shape} and {z.shape}")
        if self.zero_one:
            return float(not np.array_equal(y, z))
        names, flat = np.unique(np.concatenate([y.ravel(), z.ravel()]), return_inverse=True)
        table = self._table_of(names)
        if table is None:
            raise TypeError(f"{type(self).__name__} is not a sum over labels; use parts()")
        a, b = flat[: y.size], flat[y.size :]
        return float((table[a, b] * self.site_weights(y.ravel().tolist(), 0)).sum())

    def _table_of(self, names: npt.NDArray[Any]) -> Vector | None:
        """Return δ between these labels; costs that distinguish labels need their indices."""
        return self.label_table(len(names))


class _SiteCost(Cost):
    """A cost that is a sum over sites of δ(gold label, label), weighted.

    If the gold label is one of a set, δ is the minimum over the set: 0 for every label in it,
    unless the table defines it otherwise. Unknown labels (None) cost nothing.
    """

    def __init__(self, weights: Any, normalize: bool) -> None:
        self.weights = weights
        self.normalize = normalize

    @property
    def weighs_sites(self) -> bool:
        """Whether positions have weights, or the cost is a mean."""
        return self.normalize or self.weights is not None

    def site_weights(self, labels: Any, example: int) -> Vector | float:
        """Return the weight of each site; 1/L if the cost is a mean."""
        scale = 1.0 / len(labels) if self.normalize else 1.0
        if self.weights is None:
            return scale
        if callable(self.weights):
            values = self.weights(labels)
        elif isinstance(self.weights, Mapping):
            values = [self._weight_of(k) for k in labels]
        else:
            values = self.weights[example]
        weights = as_floats(values, "the weights of the positions")
        if weights.shape != (len(labels),) or not (np.isfinite(weights) & (weights >= 0)).all():
            raise ValueError(
                f"example {example}: position weights must be {len(labels)} finite numbers >= 0"
            )
        return weights * scale

    def _weight_of(self, label: Any) -> float:
        """Return the weight of a label; of a set of labels, their mean."""
        if isinstance(label, frozenset):
            return float(np.mean([self.weights.get(k, 1.0) for k in label]))
        return float(self.weights.get(label, 1.0))

    def parts(self, structure: Structure, y: Any, **scores: Any) -> tuple[Parts, float]:
        """Return the cost of each label at each site."""
        if structure.judges_outputs:
            return self._judged(structure, y, scores)
        if not structure.has_labels or structure.label_block not in scores:
            raise ValueError(
                f"{type(self).__name__} counts wrong labels, and the outputs of {structure!r} have "
                "none: use cost='zero-one', or a Cost with parts()"
            )
        labels = list(structure.labels_of(y))
        table = self.label_table(np.shape(scores[structure.label_block])[-1])
        assert table is not None
        costs = np.zeros((len(labels), len(table)))
        for row, k in zip(costs, labels, strict=True):
            row[:] = table[allowed_labels(k, len(table))].min(axis=0)
        gold_names = [_gold_name(k, len(table)) for k in labels]
        costs[[k is None for k in gold_names]] = 0.0
        weights = np.broadcast_to(self.site_weights(gold_names, 0), (len(labels),))
        return structure.label_costs(costs * weights[:, np.newaxis], **scores), 0.0

    def _judged(
        self, structure: Structure, y: Any, scores: Mapping[str, Any]
    ) -> tuple[Parts, float]:
        """Return the cost of an output that is more than labels."""
        labels = list(structure.labels_of(y)) if structure.has_labels else [0] * len(y)
        n_labels = np.shape(scores[structure.label_block])[-1] if structure.has_labels else 1
        table = self.label_table(n_labels)
        assert table is not None
        return structure.output_costs(
            y, table, self.missed(table), self.site_weights(labels, 0), **scores
        )

    def missed(self, table: Vector) -> Vector:
        """Return the cost, by gold label, of a place that is wrong in more than its label."""
        most: Vector = table.max(axis=1)
        return most


def _gold_name(label: Any, n_labels: int) -> Any:
    """Return an index, a frozenset of several, or None: sets of one or of all are simplified."""
    if isinstance(label, (set, frozenset)) and 1 < len(label) < n_labels:
        return frozenset(label)
    if isinstance(label, (set, frozenset)) and len(label) == 1:
        return int(next(iter(label)))
    return None if is_open(label) else int(label)


class Hamming(_SiteCost):
    """The number of wrong labels, Σ_l 1[y_l ≠ ŷ_l] (Daumé, eq. 17.17).

    Parameters
    ----------
    normalize : bool, default=False
        Divide by the length (``cost="hamming-mean"``).
    weights : callable, mapping or sequence, optional
        Weights of positions: a function of the gold labels, a mapping from label to weight (a set
        of labels has their mean), or one array per training example.
    """

    def __init__(
        self,
        *,
        normalize: bool = False,
        weights: Callable[[Any], Any] | Mapping[Any, float] | Sequence[Any] | None = None,
    ) -> None:
        super().__init__(weights, normalize)

    def label_table(self, n_labels: int) -> Vector:
        """Return 1 off the diagonal."""
        return 1.0 - np.eye(n_labels)

    def missed(self, table: Vector) -> Vector:
        """Return 1: a word with the wrong head is wrong, with any label."""
        return np.ones(len(table))


class LabelCost(_SiteCost):
    """A full table δ(gold, predicted), summed over positions.

    Parameters
    ----------
    table : array-like of shape (K, K)
        ``table[gold, predicted]`` ≥ 0, in the order of the model's ``classes_``.
    normalize, weights
        As for :class:`Hamming`.
    """

    def __init__(self, table: Any, *, normalize: bool = False, weights: Any = None) -> None:
        super().__init__(weights, normalize)
        self.table = as_floats(table, "the label cost")
        shape = self.table.shape
        if self.table.ndim != 2 or shape[0] != shape[1]:
            raise ValueError(f"a label cost must be a square table, got shape {shape}")
        if not np.isfinite(self.table).all() or (self.table < 0).any():
            raise ValueError("the entries of a label cost must be finite and >= 0")

    def label_table(self, n_labels: int) -> Vector:
        """Return the table."""
        if self.table.shape[0] != n_labels:
            raise ValueError(
                f"the label cost is {self.table.shape}, but there are {n_labels} labels"
            )
        return self.table

    def _table_of(self, names: npt.NDArray[Any]) -> Vector:
        if not np.issubdtype(names.dtype, np.integer):
            raise ValueError("a label cost compares label indices, not their names")
        if names.min() < 0 or names.max() >= len(self.table):
            raise ValueError(f"labels must be among 0..{len(self.table) - 1}: {names}")
        between: Vector = self.table[np.ix_(names, names)]
        return between


class ZeroOne(Cost):
    """1 for any output but the gold one, for structures with a second-best output.

    At ε > 0 the loss is ε log(1 + exp(γ/ε) R), with R the odds against the gold output. In
    :class:`~structlearn.losses.StructuredLoss` its error is at most about 1e-9 ε for any γ/ε,
    besides the rounding of the scores: if R is too small for the difference of log Z and the gold
    score, the other outputs alone are summed, which takes one pass per place of the output, or one
    over its dynamic program. Sums that are themselves inexact (loopy messages) have the error of
    their difference. Learners only use the difference and refuse ε < γ/12, where its rounding
    errors would show.
    """

    zero_one = True


def as_cost(cost: Any) -> Cost:
    """Return the cost for a name, a (K, K) table or an object."""
    if isinstance(cost, Cost):
        return cost
    if isinstance(cost, str):
        named: dict[str, Callable[[], Cost]] = {
            "hamming": Hamming,
            "hamming-mean": lambda: Hamming(normalize=True),
            "zero-one": ZeroOne,
        }
        if cost in named:
            return named[cost]()
        raise ValueError(
            f"cost must be one of {sorted(named)}, a (K, K) array or a Cost; got {cost!r}"
        )
    if hasattr(cost, "parts"):
        return cost  # type: ignore[no-any-return]
    return LabelCost(cost)
