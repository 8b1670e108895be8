"""Multi-label classification as a graph over the labels."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from ..array_types import Array, Integers
from ..features.encoder import is_empty
from ..fitting.example_weights import check_sample_weight, refuse_no_weight
from ..fitting.parameters import Declared, Switch, parameter
from ..models.model import Model
from ..structures.base import Structure
from ..structures.graphs.graph import Graph
from ..structures.trees.tree import Tree
from .array_model import heaviest
from .crf import CRF
from .label_graph import as_tree, label_edges
from .model import StructuredModel
from .stored.files import StoredEstimator


class MultiLabelClassifier(
    Declared,
    ClassifierMixin,  # type: ignore[misc]
    Model,
    StoredEstimator,
    BaseEstimator,  # type: ignore[misc]
):
    """Several yes-or-no labels per example, predicted jointly.

    score(y) = Σ_l ⟨w_l, x⟩ y_l + scores of label pairs.

    Each label is a node with its own weights for every feature, each edge has a 2 × 2 table of
    scores. On a tree, or a graph of small treewidth, inference is exact with every learner.

    Parameters
    ----------
    estimator : StructuredModel, optional
        The learner: :class:`CRF`, :class:`StructuredSVM`, :class:`StructuredPerceptron` and so on,
        with their parameters; ``structure`` is filled in. Default ``CRF(solver="lbfgs")``.
    graph : {"tree", "full", "none"} or array-like of shape (E, 2), default="tree"
        Which pairs of labels interact. "tree": the tree of largest mutual information (Chow & Liu),
        whose inference is native and O(L). "full": every pair, exact up to some twenty labels.
        "none": labels are independent given x.
    intercept : bool, default=True
        One bias weight per label.

    Attributes
    ----------
    estimator_ : StructuredModel
        The fitted learner, on the examples from :meth:`as_examples`.
    edges_ : array of shape (E, 2)
        The pairs of labels that interact.
    interactions_ : array of shape (E,)
        θ(0,0) + θ(1,1) − θ(0,1) − θ(1,0) of each: positive if the labels tend to occur together.
    classes_ : array of shape (L,)
        The numbers of the labels, 0 to L − 1.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the columns of X, if it was a data frame.

    References
    ----------
    C. Chow & C. Liu (1968), Approximating discrete probability distributions with dependence trees;
    N. Ghamrawi & A. McCallum (2005), Collective multi-label classification.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0., 1.], [1., 0.], [1., 1.], [0., 0.]])
    >>> Y = np.array([[0, 0, 1], [1, 1, 0], [1, 1, 1], [0, 0, 0]])
    >>> MultiLabelClassifier(CRF(C=100.0)).fit(X, Y).predict(X)
    array([[0, 0, 1],
           [1, 1, 0],
           [1, 1, 1],
           [0, 0, 0]])
    """

    estimator: Any = parameter(default=None, kw_only=False)
    graph: Any = "tree"
    intercept: bool = parameter(default=True, check=Switch())

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MultiLabelClassifier:
        """Learn from examples and their labels.

        Parameters
        ----------
        X : array, data frame or sparse matrix of shape (n, d)
        y : array or sparse matrix of shape (n, L)
            1 where an example has a label, else 0.
        sample_weight : array of shape (n,), optional
            Multiplies each example's loss; ≥ 0.
        """
        return self._fit(X, y, sample_weight, StructuredModel.fit)

    def _fit(
        self, X: Any, y: Any, sample_weight: Any, learn: Callable[..., Any]
    ) -> MultiLabelClassifier:
        """Learn; ``learn`` fits the learner to examples, here or on a cluster."""
        self._check_parameters()
        _check_indicators(y)
        probe: Any = copy.copy(self)  # scikit-learn sets attributes on the estimator
        X, y = validate_data(probe, X, y, accept_sparse="csr", dtype=np.float64, multi_output=True)
        labels = _as_indicators(y)
        weights = check_sample_weight(sample_weight, len(labels))
        refuse_no_weight(weights)
        learner = CRF(solver="lbfgs") if self.estimator is None else self.estimator
        edges = label_edges(self.graph, labels, weights)
        learner = clone(learner)
        learner.set_params(structure=_structure(edges, labels.shape[1]), all_possible_states=True)
        examples = self._make_examples(X, edges, labels.shape[1])
        learn(learner, examples, list(labels), sample_weight=weights)
        self.edges_ = edges
        self.classes_ = np.arange(labels.shape[1])
        self.estimator_ = learner
        self.n_features_in_ = probe.n_features_in_
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(probe, "feature_names_in_"):
            self.feature_names_in_ = probe.feature_names_in_
        return self

    # -- files ----------------------------------------------------------------------------------

    def _learned(self, writer: Any) -> dict[str, Any]:
        from .stored.multi_label import write_classifier

        return write_classifier(self, writer)

    def _relearn(self, d: dict[str, Any], reader: Any) -> None:
        from .stored.multi_label import read_classifier

        read_classifier(self, d, reader)

    def _check_parameters(self) -> None:
        self._check_declared()
        if not (self.estimator is None or isinstance(self.estimator, StructuredModel)):
            raise ValueError(f"estimator must be a StructuredModel, got {self.estimator!r}")

    # -- examples -------------------------------------------------------------------------------

    def as_examples(self, X: Any) -> list[dict[str, Any]]:
        """Return the learner's examples: each node has its own copy of the features.

        O(n · L · non-zeros of a row): the features of an example are repeated for every label.
        """
        check_is_fitted(self)
        return self._make_examples(X, self.edges_, len(self.classes_))

    def _make_examples(self, X: Any, edges: Integers, n_labels: int) -> list[dict[str, Any]]:
        rows = sparse.csr_matrix(X, dtype=np.float64)
        if self.intercept:
            rows = sparse.csr_matrix(sparse.hstack([rows, np.ones((rows.shape[0], 1))]))
        rows.sort_indices()
        width = rows.shape[1]
        offsets = np.arange(n_labels, dtype=np.int64) * width
        pairs = _edge_rows(edges, n_labels)
        examples = []
        for i in range(rows.shape[0]):
            at = slice(rows.indptr[i], rows.indptr[i + 1])
            index, value = rows.indices[at].astype(np.int64), rows.data[at]
            matrix = sparse.csr_matrix(
                (
                    np.tile(value, n_labels),
                    (offsets[:, np.newaxis] + index).ravel(),
                    np.arange(n_labels + 1) * len(index),
                ),
                shape=(n_labels, n_labels * width),
            )
            examples.append({"label": matrix, **pairs})
        return examples

    @property
    def interactions_(self) -> Array:
        """The gain in score if two labels are equal, edge by edge."""
        check_is_fitted(self)
        coef = self.estimator_.coef_
        if not len(self.edges_) or coef["edge"].shape[:2] != (2, 2):
            return np.zeros(len(self.edges_))
        table = coef["edge"]
        gains: Array = table[0, 0] + table[1, 1] - table[0, 1] - table[1, 0]
        return gains

    # -- the model ------------------------------------------------------------------------------

    @property
    def n_threads(self) -> int:
        """Number of threads of the learner."""
        return int(self.estimator_.n_threads)

    @property
    def calibration_(self) -> Any:  # type: ignore[override]
        """Calibration on held-out examples; None if there was none."""
        return self.estimator_.calibration_

    @property
    def _loss_temperature(self) -> float | None:
        temperature: float | None = self.estimator_._loss_temperature
        return temperature

    def _keep_calibration(self, calibration: Any) -> None:
        self.estimator_._keep_calibration(calibration)

    def _fitted(self) -> Any:
        check_is_fitted(self)
        return self.estimator_

    def _read(self, X: Any) -> list[dict[str, Any]]:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return self.as_examples(X)

    def _inputs(self, X: Any, **reading: Any) -> Any:
        return self.estimator_._inputs(self._read(X), **reading)

    def _is_nothing(self, X: Any) -> bool:
        return is_empty(X)

    def _with_gold(self, X: Any, y: Any, **reading: Any) -> Any:
        _check_indicators(y)
        return self._fitted()._with_gold(self._read(X), list(_as_indicators(y)), **reading)

    def _right(self, inputs: Any, outputs: list[Any], gold: Any) -> list[list[bool | None]]:
        right: list[list[bool | None]] = self.estimator_._right(inputs, outputs, gold)
        return right

    def _named(self, inputs: Any, i: int, output: Any) -> Integers:
        named: Integers = self.estimator_.classes_[output]
        return named

    def _scores_of(self, inputs: Any, outputs: list[Any], temperature: float) -> list[float]:
        scores: list[float] = self.estimator_._scores_of(inputs, outputs, temperature)
        return scores

    def _named_parts(self, inputs: Any, i: int, parts: Any) -> Array:
        """Return P(y_l = 1 | x) of every label."""
        values = self.estimator_.classes_.tolist()
        if 1 not in values:
            return np.zeros(len(self.classes_))
        p: Array = parts["label"][..., values.index(1)]
        return p

    def predict(self, X: Any) -> Integers:  # type: ignore[override]
        """Return the best labels of each example together: an (n, L) array of 0 and 1."""
        labels: Integers = np.array(super().predict(X), dtype=np.int64)
        return labels.reshape(-1, len(self.classes_))

    def predict_proba(  # type: ignore[override]
        self, X: Any, y: Any = None, *, temperature: float | None = None
    ) -> Array:
        """Return P(y_l = 1 | x) of every label, an (n, L) array; with y, of all labels jointly.

        The most probable joint labels (:meth:`predict`) need not be those that are more probable
        than not one by one.

        Parameters
        ----------
        y : array or sparse matrix of shape (n, L), optional
            As for :meth:`fit`; the result is then an array of shape (n,).
        temperature : float, optional
            As for :meth:`predict_marginals`.
        """
        if y is not None:
            return np.array(super().predict_proba(X, y, temperature=temperature), dtype=np.float64)
        on: Array = np.array(self.predict_marginals(X, temperature=temperature), np.float64)
        return on.reshape(-1, len(self.classes_))

    def _log_probabilities(
        self, X: Any, y: Any, temperature: float | None, reading: dict[str, Any]
    ) -> list[float]:
        rows = None if y is None else list(_as_indicators(y))
        return super()._log_probabilities(X, rows, temperature, reading)

    # -- what was learned -----------------------------------------------------------------------

    def _feature_names(self) -> list[str]:
        """Return the names of a label's features; the intercept is the last."""
        named = getattr(self, "feature_names_in_", None)
        names = [f"feature {j}" for j in range(self.n_features_in_)]
        names = names if named is None else list(map(str, named))
        return [*names, "intercept"] if self.intercept else names

    def _heaviest(self, n: int) -> dict[Any, list[tuple[str, float]]]:
        """Return weights for having a label, minus those for not having it."""
        names, values = self._feature_names(), self.estimator_.classes_.tolist()
        coef = self.estimator_.coef_["label"].reshape(len(values), len(self.classes_), len(names))
        weights = coef[values.index(1)] - coef[values.index(0)] if len(values) == 2 else 0 * coef[0]
        return {k: heaviest(weights[k], names, n) for k in self.classes_.tolist()}

    def _pairs(self) -> list[tuple[int, int, float]]:
        """Return the gain in score if the labels of a pair are equal."""
        pairs = zip(self.edges_.tolist(), self.interactions_.tolist(), strict=True)
        return [(a, b, weight) for (a, b), weight in pairs]

    def _decisions(self, inputs: Any) -> list[list[dict[str, Any]]]:
        """Return the deciding contributions; positions are labels, 1 if an example has one."""
        decisions: list[list[dict[str, Any]]] = self.estimator_._decisions(inputs)
        names = self._feature_names()
        for decision in (d for row in decisions for d in row):
            decision["contributions"] = [
                (_feature_name(name, names), value) for name, value in decision["contributions"]
            ]
        return decisions

    # -- judging --------------------------------------------------------------------------------

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of examples whose labels are all right (subset accuracy)."""
        from sklearn.metrics import accuracy_score

        return float(accuracy_score(y, self.predict(X), sample_weight=sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        tags.target_tags.two_d_labels = True
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        return tags


def _feature_name(name: str, names: list[str]) -> str:
    """Return a label's feature by its original name: each label has a copy of all features."""
    if not name.startswith("feature "):
        return name
    label, j = divmod(int(name.removeprefix("feature ")), len(names))
    return f"{names[j]} (label {label})"


def _edge_rows(edges: Integers, n_labels: int) -> dict[str, Any]:
    """Return the features of the edges, the same for all examples: one column per edge."""
    if n_labels == 1:
        return {}
    tree = as_tree(edges, n_labels)
    if tree is None:
        return {"edge": sparse.identity(len(edges), format="csr")}
    # Edges that only connect the components of a forest have no features, and so no scores.
    is_edge = tree.numbers >= 0
    columns = max(len(edges), 1)
    matrix = sparse.csr_matrix(
        (np.ones(is_edge.sum()), (np.flatnonzero(is_edge), tree.numbers[is_edge])),
        shape=(n_labels - 1, columns),
    )
    return {"edge": matrix}


def _check_indicators(y: Any) -> None:
    """Refuse lists of labels, which do not make an array."""
    if isinstance(y, (list, tuple)) and len({np.size(row) for row in y}) > 1:
        raise ValueError(
            "y must have one column per label, 1 where an example has it; for lists of labels use "
            "sklearn.preprocessing.MultiLabelBinarizer"
        )


def _as_indicators(Y: Any) -> Integers:
    """Return Y as an (n, L) array of 0 and 1; refuse anything else."""
    dense = Y.toarray() if sparse.issparse(Y) else np.asarray(Y)
    if dense.ndim != 2:
        raise ValueError(
            f"Y must have shape (n, L), 1 where an example has a label, got {dense.shape}. Only "
            "binary classification is supported, one column per label; the type of the target is "
            f"{type_of_target(Y)!r}. For one label per example use structure='multiclass'"
        )
    wrong = np.argwhere((dense != 0) & (dense != 1))
    if len(wrong):
        i, k = wrong[0].tolist()
        raise ValueError(
            f"example {i}, label {k}: Y is {dense[i, k]!r}; it must be 0 or 1 "
            f"(Y looks like {type_of_target(Y)!r})"
        )
    return dense.astype(np.int64)


def _structure(edges: Integers, n_labels: int) -> Structure:
    tree = as_tree(edges, n_labels)
    return Graph(edges) if tree is None else Tree(tree.parents)
