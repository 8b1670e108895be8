"""A model over arrays and lists of features: reading X and naming outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..array_types import Vector
from ..features.encoder import is_empty
from ..fitting.example_weights import check_sample_weight
from ..models.calibration import Calibration
from ..models.model import Model
from ..models.ranking import label_pairs
from ..models.scored_inputs import ScoredInputs
from ..problem.gold import GoldOutputs
from ..structures.base import Structure
from .columns import Columns, read_labels
from .outputs import as_outputs, read_outputs, reread
from .stored.files import StoredEstimator

#: From the number of an example, its scores and the difference of two outputs' parts to the named
#: contributions to the difference of their scores.
Contributions = Callable[[int, dict[str, Any], dict[str, Vector]], dict[str, float]]


class ArrayModel(Model, StoredEstimator, BaseEstimator):  # type: ignore[misc]
    """A fitted estimator: a structure and the scores of examples.

    A subclass defines ``_inputs``, ``_sites``, ``_label_weights`` and ``_pair_weights``.
    """

    structure_: Structure
    classes_: npt.NDArray[Any]
    calibration_: Calibration | None = None
    #: The column names of each block, if its features came with names.
    _columns: Columns

    @property
    def _is_multiclass(self) -> bool:
        """Whether each example is one site with one label, by the estimator's parameters."""
        structure = getattr(self, "structure", None)
        if isinstance(structure, str):
            return structure == "multiclass"
        return isinstance(structure, Structure) and structure.single_site

    def _hold_columns(self, columns: Columns, label: str, n_features: int | None) -> None:
        """Store the columns of X: their names, and the number of those that score labels."""
        for name in ("feature_names_in_", "n_features_in_", "calibration_"):  # of the previous fit
            self.__dict__.pop(name, None)
        self._columns = columns
        if label in columns:
            self.feature_names_in_ = columns[label]
        if n_features is not None:
            self.n_features_in_ = n_features

    def _fitted(self) -> Any:
        check_is_fitted(self)
        return self

    def _keep_calibration(self, calibration: Calibration | None) -> None:
        self.calibration_ = calibration

    # -- reading --------------------------------------------------------------------------------

    def _inputs(self, X: Any, **reading: Any) -> ScoredInputs:
        """Return the examples of X, checked against the data seen by fit."""
        raise AssertionError

    def _sites(self, inputs: ScoredInputs) -> list[int]:
        """Return the number of labelled sites of each example."""
        raise AssertionError

    def _without_empty(self, X: Any) -> tuple[Any, list[int]]:
        X, gaps = reread(X), []
        if self._no_output() is not None and isinstance(X, (list, tuple)):
            block = self.structure_.label_block
            gaps = [i for i, x in enumerate(X) if _has_no_rows(x, block)]
            left_out = set(gaps)
            X = [x for i, x in enumerate(X) if i not in left_out] if gaps else X
        return X, gaps

    def _is_nothing(self, X: Any) -> bool:
        return is_empty(X)

    def _read_outputs(self, inputs: ScoredInputs, y: Any, *, unseen: bool = False) -> GoldOutputs:
        if self.structure_.single_site:
            y = read_labels(self, y)
        return read_outputs(self.structure_, y, self.classes_, self._sites(inputs), unseen=unseen)

    def _with_gold(self, X: Any, y: Any, **reading: Any) -> tuple[ScoredInputs, list[Any]]:
        nonempty, gaps = self._without_empty(X)
        if gaps:
            left_out = set(gaps)
            y = [output for i, output in enumerate(as_outputs(y)) if i not in left_out]
        inputs = self._inputs(nonempty, **reading)
        return inputs, list(self._read_outputs(inputs, y, unseen=True).outputs)

    def _right(self, inputs: Any, outputs: list[Any], gold: Any) -> list[list[bool | None]]:
        right: list[list[bool | None]] = inputs.judged(gold, outputs)
        return right

    # -- names ----------------------------------------------------------------------------------

    def _name(self, output: Any) -> Any:
        """Return an output with the labels' own names."""
        if not self.structure_.has_labels:
            return output
        structure = self.structure_
        return structure.relabel(output, self.classes_[structure.labels_of(output)])

    def _named(self, inputs: Any, i: int, output: Any) -> Any:
        return self._name(output)

    def _all_named(self, inputs: Any, outputs: list[Any]) -> Any:
        if self.structure_.single_site:
            return self.classes_[np.array(outputs, dtype=np.int64)]
        return list(map(self._name, outputs))

    def _no_output(self) -> Any:
        return self.structure_.empty_output(self.classes_[:0])

    def _no_parts(self) -> dict[str, Vector]:
        blocks = self.structure_.blocks(len(self.classes_))
        return {name: np.empty((0, *b.inner, *b.outcomes)) for name, b in blocks.items()}

    def _is_empty(self, output: Any) -> bool:
        return self._no_output() is not None and len(output) == 0

    # -- answers in the shapes of scikit-learn ---------------------------------------------------

    def predict(self, X: Any, *, constraints: Any = None) -> Any:  # type: ignore[override]
        """Return the best output of each example.

        Parameters
        ----------
        constraints : list of Constraint, or str, optional
            Hard constraints on these outputs, in addition to those of the estimator. The other
            queries take them too.

        Returns
        -------
        list of outputs
            With labels as in ``classes_``; an array for multiclass. Nothing for no examples, and an
            empty output for a sequence without positions.
        """
        outputs = super().predict(X, constraints=constraints)
        return outputs if len(outputs) else self._all_named(None, [])

    def predict_marginals(  # type: ignore[override]
        self,
        X: Any,
        *,
        temperature: float | None = None,
        block: str | None = "label",
        constraints: Any = None,
    ) -> list[Any]:
        """Return the probability of each part of each example.

        Parameters
        ----------
        temperature : float, optional
            Of the distribution P(output) ∝ exp(score / temperature). By default the model's own
            (:attr:`temperature_`), with a warning if it has none.
        block : str or None, default="label"
            The block to return, "label" for the one that scores labels: arrays of shape (L, K) for
            a chain, (L, max_length, K) for the segments of a segmentation, the last axis as in
            ``classes_``. None: a dictionary of all blocks.
        constraints : list of Constraint, or str, optional
            As for :meth:`predict`.
        """
        self._fitted()
        name = self.structure_.label_block if block == "label" else block

        def answer(inputs: ScoredInputs) -> list[Any]:
            return inputs.block_marginals(self._at(temperature), name, self.n_threads)

        def empty() -> Any:
            parts = self._no_parts()
            return parts if name is None else parts[name]

        return self._ask(X, answer, empty, {"constraints": constraints})

    def predict_proba(  # type: ignore[override]
        self, X: Any, y: Any = None, *, temperature: float | None = None, constraints: Any = None
    ) -> Any:
        """Return the probability of an output.

        Parameters
        ----------
        y : list of outputs, optional
            The outputs in question; default the predicted ones. If labels are None or sets, the
            probability is that of all outputs that they allow.
        constraints : list of Constraint, or str, optional
            As for :meth:`predict`.

        Returns
        -------
        array of shape (n,)
            exp((score(y) − log Z)/ε). For multiclass without ``y``: the (n, K) probabilities.
        """
        self._fitted()
        if y is None and self.structure_.single_site:
            p = self.predict_marginals(X, temperature=temperature, constraints=constraints)
            return np.array(p).reshape(-1, len(self.classes_))
        values = super().predict_proba(X, y, temperature=temperature, constraints=constraints)
        return np.array(values, dtype=np.float64)

    def _log_probabilities(
        self, X: Any, y: Any, temperature: float | None, reading: dict[str, Any]
    ) -> list[float]:
        self._fitted()
        if y is not None:
            y = as_outputs(read_labels(self, y) if self.structure_.single_site else y)
            if y and is_empty(X):
                self._inputs(X)  # raises the error for an empty X
        return super()._log_probabilities(X, y, temperature, reading)

    def _best_scores(self, inputs: Any, temperature: float) -> list[float]:
        scores: list[float] = inputs.score(inputs.solve(self.n_threads).outputs)
        return scores

    def _scores_of(self, inputs: Any, outputs: list[Any], temperature: float) -> list[float]:
        gold = list(self._read_outputs(inputs, outputs).outputs)
        scores: list[float] = inputs.open_scores(gold, temperature)
        return scores

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of labels that are predicted correctly.

        For dependency trees the share of arcs (UAS, LAS), for constituents bracket F1.

        Unknown labels, None, are left out; if y has a set of labels, any of them is right. A label
        not seen in training is never predicted, so it counts as wrong.
        """
        self._fitted()
        inputs = self._inputs(reread(X))
        gold = self._read_outputs(inputs, y, unseen=True)
        predicted = inputs.solve(self.n_threads).outputs
        checked = check_sample_weight(sample_weight, len(predicted))
        weights = np.ones(len(predicted)) if checked is None else checked
        right = total = 0.0
        for i, output in enumerate(predicted):
            counted = self.structure_.agreement(gold.outputs[i], output)
            if counted is not None:
                right += weights[i] * counted[0]
                total += weights[i] * counted[1]
                continue
            if not self.structure_.has_labels:
                right += weights[i] * float(np.array_equal(output, gold.outputs[i]))
                total += weights[i]
                continue
            is_known = gold.labels[gold.ptr[i] : gold.ptr[i + 1]] != -1
            labels = np.asarray(self.structure_.labels_of(output))
            right += weights[i] * float((gold.permits(i, labels) & is_known).sum())
            total += weights[i] * float(is_known.sum())
        if total == 0:
            raise ValueError("score needs at least one known label in y")
        return float(right / total)

    # -- what was learned -----------------------------------------------------------------------

    #: Whether negative weights are evidence against a label; logarithms of probabilities are not.
    _two_sided = True

    def _label_weights(self) -> tuple[Vector, Sequence[str]]:
        """Return the (K, d) weights of features for labels, and the names of the features."""
        raise AssertionError

    def _pair_weights(self) -> dict[str, Vector]:
        """Return the weights of "start", "end" and "transition" (pairs), as far as they exist."""
        raise AssertionError

    def _heaviest(self, n: int) -> dict[Any, list[tuple[str, float]]]:
        weights, names = self._label_weights()
        classes = self.classes_.tolist() if self.structure_.has_labels else [None]
        return {
            label: heaviest(row, names, n, two_sided=self._two_sided)
            for label, row in zip(classes, weights, strict=True)
        }

    def _pairs(self) -> Any:
        blocks = self._pair_weights()
        if not blocks:
            return super()._pairs()
        tables = (blocks.get(name) for name in ("start", "transition", "end"))
        lists = (None if table is None else table.ravel().tolist() for table in tables)
        return label_pairs(self.classes_.tolist(), *lists)

    def _contributions(self, inputs: Any) -> Contributions:
        """Return a function that breaks down the score difference of two outputs.

        Here by part: the score of a label at a position, or of a pair of labels.
        """
        names = list(map(str, self.classes_))
        blocks = self.structure_.blocks(len(names))

        def contributions(i: int, scores: dict[str, Any], parts: dict[str, Vector]) -> Any:
            contribution: dict[str, float] = {}
            for block, difference in parts.items():
                for place in map(tuple, np.argwhere(difference)):
                    sites = difference.ndim - len(blocks[block].outcomes)
                    labels = " ".join(names[k] for k in place[sites:])
                    where = "".join(f" at {t}" for t in place[:sites])
                    score = float(np.asarray(scores[block])[place] * difference[place])
                    contribution[f"{block} {labels}{where}"] = score
            return contribution

        return contributions

    def _comparison(self, inputs: Any) -> Any:
        """Compare position by position if outputs are labels of positions."""
        structure, contributions = inputs.structure, self._contributions(inputs)

        def named(output: Any, part: int | None) -> Any:
            if part is None or output is None:
                return None if output is None else self._name(output)
            return self.classes_[structure.labels_of(output)[part]].item()

        def compare(i: int, best: Any) -> Any:
            scores = inputs.scores_of(i)
            mine = structure.encode(best, **scores)

            def against(part: int | None, rival: Any) -> Any:
                labels = {"label": named(best, part), "runner_up": named(rival, part)}
                if rival is None:
                    return {"position": part, **labels}, []
                theirs = structure.encode(rival, **scores)
                parts = {name: np.asarray(mine[name] - theirs[name], float) for name in mine}
                return {"position": part, **labels}, contributions(i, scores, parts).items()

            return against

        return compare

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags

        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        # A classifier only if y has one label per example: splitters then stratify by it.
        if self._is_multiclass:
            tags.estimator_type = "classifier"
            tags.classifier_tags = ClassifierTags()
        else:
            tags.input_tags.two_d_array = False  # a list of examples, each with its own rows
        return tags


def heaviest(
    weights: Vector, names: Sequence[str], n: int, *, two_sided: bool = True
) -> list[tuple[str, float]]:
    """Return (name, weight) of the n largest nonzero weights of a label.

    Parameters
    ----------
    two_sided : bool
        Rank by absolute value.
    """
    finite = np.where(np.isfinite(weights), weights, 0.0)
    order = np.argsort(-(np.abs(finite) if two_sided else weights), kind="stable")[:n]
    return [(names[j], float(finite[j])) for j in order.tolist() if finite[j]]


def _has_no_rows(example: Any, block: str) -> bool:
    """Tell whether an example has no positions; with several blocks, by that of the labels."""
    if isinstance(example, Mapping) and not hasattr(example, "shape"):  # some matrices are mappings
        example = example.get(block)
    if isinstance(example, (list, tuple)):
        return not example
    shape: tuple[int, ...] = getattr(example, "shape", None) or ()
    return len(shape) in (2, 3) and shape[0] == 0  # three axes: segments by start and length
