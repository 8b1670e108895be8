"""Problems of taggers in arrays: rows of features, the weights that exist, gold labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...estimators.outputs import class_weights
from ...features.rows import Examples, FeatureRows
from ...losses.costs import as_cost
from ...problem.array_problem import ArrayProblem
from ...problem.gold import GoldOutputs
from ...scoring.layout import SeenOutcomes, WeightLayout, observed_outcomes
from ...structures.base import Structure
from .weights import TokenWeights

Vector = npt.NDArray[np.float64]


class LabelProblem(ArrayProblem):
    """Sentences as rows of features that a text was turned into.

    Parameters
    ----------
    structure : Structure
    labels : list of str
    layout : WeightLayout
        Which weights there are (:func:`~structlearn.tasks.tagging.label_layout.label_layout`).
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

    def __init__(
        self,
        labels: npt.NDArray[np.int64],
        ptr: npt.NDArray[np.int64],
        sets: Sequence[frozenset[int]],
    ) -> None:
        self._labels, self._ptr = labels, ptr
        self._open = [None, *sets]

    def __len__(self) -> int:
        return len(self._ptr) - 1

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self)))]
        i = range(len(self))[i]
        labels = self._labels[self._ptr[i] : self._ptr[i + 1]]
        if not (labels < 0).any():
            return labels
        return [self._open[-1 - k] if k < 0 else k for k in labels.tolist()]


class TokenArrays(LabelProblem):
    """Tokens with their labels, a chain a sentence, as rows of features.

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
        sentence = arrays["sentence"]
        values = arrays["value"] if len(arrays["value"]) else None
        features = FeatureRows(
            sentence, vocabulary.size, values, arrays["begin"], arrays["feature"]
        )
        rows = {"label": features}
        if weights.pairs is not None:
            rows["transition"] = pair_rows(arrays, vocabulary.pair_size)
        known, sets = gold_labels(arrays)
        table = np.zeros((len(sets), len(labels)), dtype=bool)
        for s, members in enumerate(sets):
            table[s, list(members)] = True
        gold = GoldOutputs(_Labellings(known, sentence, sets), known, sentence, table)
        super().__init__(
            weights.structure, labels, weights.layout, rows, gold, class_weight, sample_weight
        )


def gold_labels(
    arrays: dict[str, Any],
) -> tuple[npt.NDArray[np.int64], list[frozenset[int]]]:
    """Return the label of each token, as :class:`GoldOutputs` has them, and the sets of labels."""
    known = arrays["label"].astype(np.int64)
    number: dict[frozenset[int], int] = {}
    members, begin = arrays["set_label"].tolist(), arrays["set_begin"].tolist()
    for token, a, b in zip(arrays["set_token"].tolist(), begin, begin[1:], strict=False):
        known[token] = -2 - number.setdefault(frozenset(members[a:b]), len(number))
    return known, list(number)


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
