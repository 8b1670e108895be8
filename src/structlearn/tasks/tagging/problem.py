"""The problems of taggers: rows of features, the weights that exist, gold labels."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...estimators.outputs import class_weights
from ...features.rows import Examples, FeatureRows
from ...losses.costs import as_cost
from ...problem.array_problem import ArrayProblem
from ...problem.gold import GoldOutputs
from ...problem.online_state import OnlineState
from ...scoring.layout import SeenOutcomes, WeightLayout, observed_outcomes
from ...structures.base import Structure
from .integer_state import IntegerState, fits_integers
from .weights import TokenWeights

__all__ = ["LabelProblem", "TokenProblem", "pair_rows", "seen_pairs"]

Vector = npt.NDArray[np.float64]

#: Of the perceptron in whole numbers, which has 16 bits for a label.
_MOST_LABELS = 4096
#: Options of online learners with which a step is not a whole number.
_NOT_UNIT = ("margin", "temperature", "beam", "least")
#: One run lays out the sentences, and those beside it wait.
_READING = threading.Lock()


class LabelProblem(ArrayProblem):
    """Sentences as rows of features that a text was turned into.

    Parameters
    ----------
    structure : Structure
    labels : list of str
    layout : WeightLayout
        Which weights there are (:func:`~structlearn.tasks.tagging.weights.label_layout`).
    rows : mapping of str to FeatureRows
        Those of the blocks that have features.
    gold : GoldOutputs
    class_weight, sample_weight
        As in the estimators.
    """

    def __init__(
        self,
        structure: Structure,
        labels: list[str],
        layout: WeightLayout,
        rows: Mapping[str, FeatureRows],
        gold: GoldOutputs,
        class_weight: Any = None,
        sample_weight: Vector | None = None,
    ) -> None:
        names = np.array(labels, dtype=object)
        by_class = class_weights(class_weight, names, gold, sample_weight)
        if by_class is not None:
            sample_weight = by_class if sample_weight is None else sample_weight * by_class
        super().__init__(
            structure,
            Examples(len(gold.ptr) - 1, dict(rows)),
            layout,
            gold,
            as_cost("hamming"),
            sample_weight,
            names,
        )
        self.name = "a tagger"


class _Labellings(Sequence[Any]):
    """The labels of each sentence, made when they are asked for; None: unknown."""

    def __init__(self, labels: npt.NDArray[np.int64], ptr: npt.NDArray[np.int64]) -> None:
        self._labels, self._ptr = labels, ptr

    def __len__(self) -> int:
        return len(self._ptr) - 1

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self)))]
        i = range(len(self))[i]
        labels = self._labels[self._ptr[i] : self._ptr[i + 1]]
        return [None if k < 0 else k for k in labels.tolist()] if (labels < 0).any() else labels


class TokenProblem(LabelProblem):
    """Tokens with their labels, a chain a sentence.

    Parameters
    ----------
    weights : TokenWeights
        Those that there are.
    arrays : dict of str to array
        The tokens in terms of the features, as ``_core.TokenRows.arrays`` gives them.
    class_weight, sample_weight
        As in the estimators.
    """

    def __init__(
        self,
        weights: TokenWeights,
        arrays: dict[str, Any],
        class_weight: Any = None,
        sample_weight: Vector | None = None,
    ) -> None:
        vocabulary, labels = weights.inventory.vocabulary, weights.labels
        sentence, self.gold_numbers = arrays["sentence"], arrays["label"]
        values = arrays["value"] if len(arrays["value"]) else None
        features = FeatureRows(
            sentence, vocabulary.size, values, arrays["begin"], arrays["feature"]
        )
        rows = {"label": features}
        if weights.pairs is not None:
            rows["transition"] = pair_rows(arrays, vocabulary.pair_size)
        known = self.gold_numbers.astype(np.int64)
        self.order, self.n_labels = weights.order, len(labels)
        self._batch: _core.IntegerBatch | None = None
        gold = GoldOutputs(_Labellings(known, sentence), known, sentence)
        super().__init__(
            weights.structure, labels, weights.layout, rows, gold, class_weight, sample_weight
        )

    # -- the perceptron in whole numbers ----------------------------------------------------------

    @property
    def suits_integers(self) -> bool:
        """Whether all steps of the perceptron are whole numbers."""
        return (
            self.order == 1
            and list(self.examples.blocks) == ["label"]
            and self.examples.blocks["label"].values is None
            and self.sample_weight is None
            and bool((self.gold_numbers >= 0).all())
            and self.n_labels <= _MOST_LABELS
        )

    def online_state(self, options: dict[str, Any], start: OnlineState | None = None) -> Any:
        """Return whole numbers for the perceptron, which give the same bits in less time."""
        unit = options["step"] == "unit" and not any(options[k] for k in _NOT_UNIT)
        if not unit or not self.suits_integers or not fits_integers(start):
            return super().online_state(options, start)
        blocks = self.layout.present()
        label = blocks["label"]
        real: Any = b"" if label.real is None else label.real
        masks = (blocks[name].mask for name in ("start", "end", "transition"))
        tables = (b"" if mask is None else mask for mask in masks)
        native = _core.IntegerPerceptron(self.n_labels, label.row_ptr, label.column, real, *tables)
        return IntegerState(native, average=bool(options["average"]), start=start)

    def online_pass(
        self, options: dict[str, Any], state: Any, order: npt.NDArray[np.int64]
    ) -> tuple[Any, dict[str, float]]:
        """Make a pass over the sentences, in whole numbers where the state has them."""
        if not isinstance(state, IntegerState):
            return super().online_pass(options, state, order)
        with _READING:
            if self._batch is None:
                # Laid out for the one way they are used, once for all runs.
                rows: Any = self.examples.blocks["label"]
                read = state.native.read
                self._batch = read(rows.site_ptr, rows.indptr, rows.indices, self.gold_numbers)
        return state, state.make_pass(self._batch, order)


def pair_rows(arrays: dict[str, Any], n_features: int) -> FeatureRows:
    """Return the features of label pairs, and one more that every pair has: the table."""
    begin = arrays["pair_begin"]
    feature = np.insert(arrays["pair_feature"], begin[1:], n_features).astype(np.int32)
    return FeatureRows(
        arrays["pair_sentence"], n_features + 1, None, begin + np.arange(len(begin)), feature
    )


def seen_pairs(arrays: dict[str, Any], n_features: int, n_labels: int) -> SeenOutcomes:
    """Return the label pairs that each feature of pairs was seen with."""
    # Tokens that have one before them in their sentence, in the order of the pairs.
    later = np.ones(len(arrays["label"]), dtype=bool)
    later[arrays["sentence"][:-1]] = False
    at = np.flatnonzero(later)
    label = arrays["label"].astype(np.int64)
    known = (label[at] >= 0) & (label[at - 1] >= 0)
    outcome = (label[at - 1] * n_labels + label[at])[known]
    rows = pair_rows(arrays, n_features)
    row_ptr, column, real = observed_outcomes(rows, n_labels**2, np.flatnonzero(known), outcome)
    return SeenOutcomes(row_ptr, column, n_labels**2, real)
