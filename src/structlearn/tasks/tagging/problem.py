"""Problems of taggers in arrays: rows of features, the weights that exist, gold labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ... import _core
from ...estimators.forbidding import put_masks
from ...estimators.outputs import class_weights
from ...features.rows import Examples, FeatureRows
from ...io.weight_tables import packed_table
from ...losses.costs import as_cost
from ...problem.array_problem import ArrayProblem
from ...problem.gold import GoldOutputs
from ...scoring.layout import WeightBlock, WeightLayout, observed_outcomes
from ...structures.base import Structure
from ...structures.chains.chain import Chain

__all__ = ["LabelProblem", "TokenArrays", "Weighted", "pair_rows", "seen_labels", "seen_pairs"]

Vector = npt.NDArray[np.float64]


class Weighted(NamedTuple):
    """Rows of features and the outcomes that each feature has weights for.

    Attributes
    ----------
    rows : FeatureRows
    row_ptr, column, real : arrays
        As :class:`~structlearn.scoring.layout.WeightBlock` has them.
    """

    rows: FeatureRows
    row_ptr: Any
    column: Any
    real: Any = None


class LabelProblem(ArrayProblem):
    """Sentences as rows of features that a text was turned into.

    Parameters
    ----------
    structure : Structure
    labels : list of str
    blocks : mapping of str to Weighted
        The blocks that have features; the others have one weight for each outcome.
    gold : GoldOutputs
    forbid : mapping of str to list
        What is forbidden, as in the estimators. Gold labels must respect it; the caller checks
        that, because only the caller can name the line of the file.
    class_weight, sample_weight
        As in the estimators.
    """

    def __init__(
        self,
        structure: Structure,
        labels: list[str],
        blocks: Mapping[str, Weighted],
        gold: GoldOutputs,
        forbid: Mapping[str, Any],
        class_weight: Any = None,
        sample_weight: Vector | None = None,
    ) -> None:
        weights: dict[str, WeightBlock | None] = {}
        specs = structure.blocks(len(labels))
        for name, spec in specs.items():
            if name in blocks:
                rows, row_ptr, column, real = blocks[name]
                weights[name] = WeightBlock(
                    spec.outcomes,
                    rows.n_features,
                    shared=False,
                    row_ptr=row_ptr,
                    column=column,
                    real=real,
                )
            else:
                weights[name] = WeightBlock(spec.outcomes, 1, shared=True)
        names = np.array(labels, dtype=object)
        put_masks(forbid, weights, {name: spec.inner for name, spec in specs.items()}, names)
        by_class = class_weights(class_weight, names, gold, sample_weight)
        if by_class is not None:
            sample_weight = by_class if sample_weight is None else sample_weight * by_class
        examples = Examples(len(gold.ptr) - 1, {name: b.rows for name, b in blocks.items()})
        super().__init__(
            structure,
            examples,
            WeightLayout(weights),
            gold,
            as_cost("hamming"),
            sample_weight,
            names,
        )
        self.name = "a tagger"

    def rows(self, name: str, w: Vector) -> tuple[Any, Any, Vector]:
        """Return row pointers, columns and weights of a block that has features."""
        block = self.layout.blocks[name]
        assert block is not None
        return block.row_ptr, block.column, w[block.offset : block.offset + block.size]

    def table(self, name: str, w: Vector) -> Vector:
        """Return the weights of a block without features, −∞ where something is forbidden."""
        block = self.layout.blocks[name]
        assert block is not None
        values = w[block.offset : block.offset + block.size]
        return values.copy() if block.mask is None else values + block.mask.ravel()


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


class TokenArrays(LabelProblem):
    """Tokens with their labels, a chain a sentence, as rows of features.

    Parameters
    ----------
    labels : list of str
    arrays : dict of str to array
        The tokens, as ``_core.TokenRows.arrays`` gives them.
    order : int
        Of the chain.
    forbid : mapping of str to list
        As :class:`~structlearn.tasks.tagging.token_problem.TokenProblem` has it.
    n_features, n_pairs : int
        Features of labels, and of label pairs.
    observed : buffers
        The labels that each feature has weights for: row pointers, labels, and which of them are
        real.
    class_weight, sample_weight
        As in the estimators.
    pairs : tuple of arrays, optional
        Which weights features of label pairs have, as :func:`seen_pairs` gives them; by default
        those of the pairs that are in the rows.
    """

    def __init__(
        self,
        labels: list[str],
        arrays: dict[str, Any],
        order: int,
        forbid: Mapping[str, Any],
        n_features: int,
        n_pairs: int,
        observed: tuple[Any, Any, Any],
        class_weight: Any = None,
        sample_weight: Vector | None = None,
        pairs: Any = None,
    ) -> None:
        sentence = arrays["sentence"]
        values = arrays["value"] if len(arrays["value"]) else None
        features = FeatureRows(sentence, n_features, values, arrays["begin"], arrays["feature"])
        rows, columns, real = observed
        entries = np.frombuffer(rows, np.uint32), np.frombuffer(columns, np.uint32)
        filled = np.frombuffer(real, np.uint8) if len(real) else None
        blocks = {"label": Weighted(features, *entries, filled)}
        if n_pairs and order > 0:
            rows_of_pairs = pair_rows(arrays, n_pairs)
            if pairs is None:
                pairs = seen_pairs(arrays, rows_of_pairs, len(labels))
            blocks["transition"] = Weighted(rows_of_pairs, *pairs)
        known = arrays["label"].astype(np.int64)
        self.order, self.n_labels = order, len(labels)
        structure = Chain(order=order)
        pair_block = str(structure.pair_block)
        named = {pair_block if name == "transition" else name: k for name, k in forbid.items()}
        gold = GoldOutputs(_Labellings(known, sentence), known, sentence)
        super().__init__(structure, labels, blocks, gold, named, class_weight, sample_weight)

    def model_arrays(
        self, keys: Any, pair_keys: Any, w: Vector, prune: float
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the arrays of a model with these weights, and which features they kept, by table.

        Parameters
        ----------
        keys, pair_keys : buffers
            Of the features, and of those of label pairs.
        prune : float
            Leave out weights up to this size.
        """
        arrays: dict[str, Any] = {}
        kept: dict[str, Any] = {}
        tables: dict[str, list[Any]] = {
            "state": [keys, *self.rows("label", w), self.n_labels, prune]
        }
        names = ["start", "end", *(f"transition{m}" for m in range(1, self.order + 1))]
        for name in names:
            block = "transition" if name == f"transition{self.order}" else name
            if block not in self.examples.blocks:
                arrays[name] = self.table(block, w)
                continue
            # Label pairs have features: the table is the last of them, which every pair has.
            row_ptr, column, values = self.rows(block, w)
            last = int(row_ptr[-2])
            table = np.zeros(self.n_labels**2)
            table[column[last:]] = values[last:]
            mask = self.layout.blocks[block].mask  # type: ignore[union-attr]
            arrays[name] = table if mask is None else table + mask.ravel()
            rows = (row_ptr[:-1], column[:last], values[:last])
            tables["pair"] = [pair_keys, *map(np.ascontiguousarray, rows), self.n_labels**2, prune]
        for table_name, given in tables.items():
            packed, kept[table_name] = packed_table(table_name, *given)
            arrays.update(packed)
        return arrays, kept

    def weights_of(self, model: Any) -> Vector:
        """Return the weights of an earlier model, whose features come first in the vocabulary."""
        w = np.zeros(self.n_weights)
        _, row_ptr, column, values = (np.asarray(x) for x in model.unpacked())
        label = self.layout.blocks["label"]
        assert label is not None
        rows = np.repeat(np.arange(len(row_ptr) - 1, dtype=np.int64), np.diff(row_ptr))
        w[np.searchsorted(label._positions(), rows * self.n_labels + column)] = values
        for name, block in self.layout.present().items():
            if name != "label":
                stored = f"transition{self.order}" if name == "transition" else name
                table = np.frombuffer(bytes(model.arrays[stored]))
                if len(table):
                    w[block.offset : block.offset + block.size] = np.where(
                        np.isfinite(table), table, 0.0
                    )
        return w


def seen_labels(vocabulary: _core.Vocabulary) -> tuple[Any, Any]:
    """Return the labels that each feature of a frozen vocabulary has: row pointers, labels."""
    buffers = vocabulary.row_ptr(), vocabulary.column()
    row_ptr, column = (np.frombuffer(buffer, np.uint32) for buffer in buffers)
    return row_ptr, column


def pair_rows(arrays: dict[str, Any], n_features: int) -> FeatureRows:
    """Return the features of label pairs, and one more that every pair has: the table."""
    begin = arrays["pair_begin"]
    feature = np.insert(arrays["pair_feature"], begin[1:], n_features).astype(np.int32)
    return FeatureRows(
        arrays["pair_sentence"], n_features + 1, None, begin + np.arange(len(begin)), feature
    )


def seen_pairs(arrays: dict[str, Any], rows: FeatureRows, n_labels: int) -> Any:
    """Return the label pairs that each feature was seen with: row pointers, columns, real ones."""
    # Tokens that have one before them in their sentence, in the order of the pairs.
    later = np.ones(len(arrays["label"]), dtype=bool)
    later[arrays["sentence"][:-1]] = False
    at = np.flatnonzero(later)
    label = arrays["label"].astype(np.int64)
    known = (label[at] >= 0) & (label[at - 1] >= 0)
    outcome = (label[at - 1] * n_labels + label[at])[known]
    return observed_outcomes(rows, n_labels**2, np.flatnonzero(known), outcome)
