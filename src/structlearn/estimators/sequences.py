"""scikit-learn's tools on sequences: transformers token by token, and held-out predictions.

scikit-learn expects a table with one row per example. Here an example is a sequence of rows.
"""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from typing import Any


class PerToken(BaseEstimator):  # type: ignore[misc]
    """Applies a transformer of rows to sequences: it sees the tokens of all as one table.

    Parameters
    ----------
    transformer : transformer of scikit-learn
        Cloned; the fitted one is ``transformer_``.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from structlearn import CRF
    >>> from structlearn.datasets import load_digit_words
    >>> from structlearn.estimators import PerToken
    >>> words = load_digit_words(40, random_state=0)
    >>> model = make_pipeline(PerToken(StandardScaler()), CRF(C=0.1)).fit(words.X, words.y)
    >>> [len(row) for row in model.predict(words.X[:2])] == [len(row) for row in words.X[:2]]
    True
    """

    def __init__(self, transformer: Any) -> None:
        self.transformer = transformer

    def fit(self, X: Any, y: Any = None) -> PerToken:
        """Fit the transformer to the tokens of all sequences.

        Parameters
        ----------
        X : list of sequences
            Arrays or sparse matrices with one row per token, or lists of whatever the transformer
            takes: dictionaries for ``DictVectorizer``, strings for ``TfidfVectorizer``.
        y : list of sequences of labels, optional
            For transformers that use labels.
        """
        rows, lengths = _table(X)
        labels = None if y is None else [label for row in y for label in row]
        if labels is not None and len(labels) != sum(lengths):
            raise ValueError(f"X has {sum(lengths)} tokens, y has {len(labels)} labels")
        self.transformer_ = clone(self.transformer)
        if labels is None:
            self.transformer_.fit(rows)
        else:
            self.transformer_.fit(rows, labels)
        return self

    def transform(self, X: Any) -> list[Any]:
        """Return the transformed sequences: arrays or sparse matrices with one row per token."""
        check_is_fitted(self, "transformer_")
        rows, lengths = _table(X)
        if not sum(lengths):
            raise ValueError("X has no tokens")
        made = self.transformer_.transform(rows)
        if sparse.issparse(made):
            made = made.tocsr()
        if made.shape[0] != sum(lengths):
            raise ValueError(
                f"{type(self.transformer_).__name__} made {made.shape[0]} rows of {sum(lengths)} "
                "tokens: it must return one row per token"
            )
        return [made[a:b] for a, b in pairwise(accumulate(lengths, initial=0))]

    def fit_transform(self, X: Any, y: Any = None) -> list[Any]:
        """Return the result of ``fit(X, y).transform(X)``."""
        return self.fit(X, y).transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the transformer's column names."""
        check_is_fitted(self, "transformer_")
        return self.transformer_.get_feature_names_out(input_features)


def _table(X: Any) -> tuple[Any, list[int]]:
    """Return the tokens of all sequences as one table, and their lengths."""
    sequences = list(X)
    lengths = [x.shape[0] if hasattr(x, "shape") else len(x) for x in sequences]
    if any(sparse.issparse(x) for x in sequences):
        return sparse.vstack(sequences, format="csr"), lengths
    nonempty = [x for x, n in zip(sequences, lengths, strict=True) if n]
    if nonempty and all(hasattr(x, "shape") for x in nonempty):
        return np.concatenate([np.asarray(x) for x in nonempty]), lengths
    return [token for x in sequences for token in x], lengths


def cross_val_predict(
    model: Any, X: Any, y: Any, *, cv: Any = 5, method: str = "predict"
) -> list[Any]:
    """Predict each example by a model fitted without it.

    scikit-learn's function of this name returns one array, which cannot hold sequences of different
    lengths. Here it is a list, in the order of ``X``.

    Parameters
    ----------
    model : estimator or task
        Cloned for each fold.
    X, y : list
        Examples and their outputs.
    cv : int, splitter of scikit-learn, or iterable of (train, test), default=5
        Folds are contiguous; every example must be tested once.
    method : str, default="predict"
        Or "predict_marginals", "confidence" and so on.

    Returns
    -------
    list
        One prediction for each example.

    Examples
    --------
    >>> from structlearn import CRF
    >>> from structlearn.estimators import cross_val_predict
    >>> X, y = [[["w=fish"]], [["w=fish"], ["w=sleep"]]] * 4, [["N"], ["N", "V"]] * 4
    >>> [row.tolist() for row in cross_val_predict(CRF(), X, y, cv=2)] == y
    True
    """
    from sklearn.model_selection import check_cv

    inputs, outputs = list(X), list(y)
    if len(inputs) != len(outputs):
        raise ValueError(f"X has {len(inputs)} examples, y has {len(outputs)}")
    predictions: list[Any] = [None] * len(inputs)
    tested = np.zeros(len(inputs), dtype=int)
    for train, test in check_cv(cv).split(inputs):
        fitted = clone(model).fit([inputs[i] for i in train], [outputs[i] for i in train])
        for i, answer in zip(test, getattr(fitted, method)([inputs[i] for i in test]), strict=True):
            predictions[i] = answer
        tested[test] += 1
    if (tested != 1).any():
        place = int(np.flatnonzero(tested != 1)[0])
        raise ValueError(f"cv tests example {place} {tested[place]} times instead of once")
    return predictions
