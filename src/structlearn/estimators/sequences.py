"""scikit-learn's tools on sequences: transformers token by token, and held-out predictions.

scikit-learn takes a table, a row for each example. Here an example is a sequence of rows.
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
    """Makes a transformer of rows one of sequences: it sees the tokens of all as one table.

    Parameters
    ----------
    transformer : transformer of scikit-learn
        It is cloned; the fitted one is ``transformer_``.

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
            Arrays or sparse matrices of a row for each token, or lists of what the transformer
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
        """Return the sequences, transformed: arrays or sparse matrices of a row for each token."""
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
                "tokens: it has to give a row for each"
            )
        return [made[a:b] for a, b in pairwise(accumulate(lengths, initial=0))]

    def fit_transform(self, X: Any, y: Any = None) -> list[Any]:
        """Return what ``fit(X, y).transform(X)`` does."""
        return self.fit(X, y).transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the transformer's names of columns."""
        check_is_fitted(self, "transformer_")
        return self.transformer_.get_feature_names_out(input_features)


def _table(X: Any) -> tuple[Any, list[int]]:
    """Return the tokens of all sequences as one table, and how many each has."""
    sequences = list(X)
    lengths = [x.shape[0] if hasattr(x, "shape") else len(x) for x in sequences]
    if any(sparse.issparse(x) for x in sequences):
        return sparse.vstack(sequences, format="csr"), lengths
    kept = [x for x, n in zip(sequences, lengths, strict=True) if n]
    if kept and all(hasattr(x, "shape") for x in kept):
        return np.concatenate([np.asarray(x) for x in kept]), lengths
    return [token for x in sequences for token in x], lengths


def cross_val_predict(
    model: Any, X: Any, y: Any, *, cv: Any = 5, method: str = "predict"
) -> list[Any]:
    """Predict each example by a model that was fitted without it.

    scikit-learn's function of this name puts predictions into one array, which sequences of
    several lengths do not fit in. Here they are a list, in the order of ``X``.

    Parameters
    ----------
    model : estimator or task
        It is cloned for each fold.
    X, y : list
        Examples and their outputs.
    cv : int, splitter of scikit-learn, or iterable of (train, test), default=5
        Folds are contiguous; every example has to be tested once.
    method : str, default="predict"
        "predict_marginals", "confidence" and so on are possible too.

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
    found: list[Any] = [None] * len(inputs)
    tested = np.zeros(len(inputs), dtype=int)
    for train, test in check_cv(cv).split(inputs):
        fitted = clone(model).fit([inputs[i] for i in train], [outputs[i] for i in train])
        for i, one in zip(test, getattr(fitted, method)([inputs[i] for i in test]), strict=True):
            found[i] = one
        tested[test] += 1
    if (tested != 1).any():
        place = int(np.flatnonzero(tested != 1)[0])
        raise ValueError(f"cv tests example {place} {tested[place]} times: each has to be once")
    return found
