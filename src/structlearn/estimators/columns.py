"""Number and names of the columns of X, checked as scikit-learn does.

An (n, d) array is identified by the number of its columns, a data frame by their names too: an
estimator fitted with names refuses other names or another order and never matches by position.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from ..features.arrays import is_sparse
from ..features.encoder import as_list, single_sites
from ..features.rows import Examples

#: The column names of a block, if its features came with names.
Columns = dict[str, npt.NDArray[Any]]


def read_sites(estimator: Any, X: Any, known: Columns | None) -> tuple[Any, Columns]:
    """Return the features of single sites as an array, and the names of their columns.

    Parameters
    ----------
    estimator : estimator
        Unchanged; if ``known`` is given, X is compared with the data of its fit.
    known : Columns or None
        Those of the previous fit; None if X is the data to fit.
    """
    if isinstance(X, Examples):
        return X, known or {}
    sites = single_sites(X)
    if isinstance(sites, list) or _has_strings(sites):
        return X, known or {}  # tokens have names of their own
    probe = copy.copy(estimator)  # scikit-learn sets attributes on the estimator
    floats = validate_data(
        probe,
        X if hasattr(X, "__array__") or is_sparse(X) else sites,
        reset=known is None,
        accept_sparse="csr",
        dtype=np.float64,
        ensure_all_finite=False,  # the encoder's message names the example
    )
    return floats, _names_of(probe, "label") if known is None else known


def _has_strings(sites: Any) -> bool:
    kind = sites.dtype.kind
    return kind in "UST" or (kind == "O" and isinstance(sites.flat[0], str))


def _names_of(probe: Any, block: str) -> Columns:
    names = getattr(probe, "feature_names_in_", None)
    return {} if names is None else {block: names}


def read_labels(estimator: Any, y: Any) -> Any:
    """Return single labels as an array or list; a column of labels is flattened, with a warning.

    Numbers that are not classes, such as regression targets, are refused.
    """
    if y is None:
        raise ValueError(
            f"y is missing: {type(estimator).__name__} requires y to be "
            "passed, but the target y is None"
        )
    try:
        array = np.asarray(y)
    except ValueError:
        return y  # ragged: the reader names the bad example
    if array.ndim == 2:
        y = array = column_or_1d(array, warn=True)
    elif array.ndim == 1 and hasattr(y, "__array__"):
        y = array
    if array.ndim == 1 and array.dtype.kind == "f" and np.isfinite(array).all():
        check_classification_targets(array)
    return y


# -- examples of many sites -----------------------------------------------------------------------


def read_tables(
    estimator: Any,
    X: Any,
    known: Columns | None,
    *,
    label: str = "label",
    topology: Collection[str] = (),
) -> tuple[Any, Columns]:
    """Return the examples with arrays in place of data frames, and the names of their columns.

    Parameters
    ----------
    estimator : estimator
        Unchanged.
    known : Columns or None
        Those of the previous fit; None if X is the data to fit.
    label : str
        The block of an example that is not a mapping of blocks.
    topology : collection of str
        Entries of a mapping that are not features.
    """
    if isinstance(X, Examples):
        return X, known or {}
    if _is_frame(X):
        raise ValueError(
            "X must be a list of examples, one data frame, array, sparse matrix or list of tokens "
            f"each; got one {type(X).__name__}. Make sentences of its rows first: "
            "structlearn.text.read_frame does it"
        )
    # SciPy's dictionary of keys is a mapping too, so convert sparse matrices first.
    examples = [e.tocsr() if is_sparse(e) else e for e in as_list(X)]
    checks: dict[str, _BlockNames] = {}
    read: list[Any] = []
    for i, example in enumerate(examples):
        blocks = example if isinstance(example, Mapping) else {label: example}
        arrays = {}
        for name, value in blocks.items():
            if name in topology:
                continue
            if name not in checks:
                checks[name] = _BlockNames(estimator, name, known)
            if checks[name].see(value, i):
                arrays[name] = _as_array(value, i, name)
        if arrays:
            example = {**blocks, **arrays} if isinstance(example, Mapping) else arrays[label]
        read.append(example)
    names_by_block = {name: check.names() for name, check in checks.items()}
    if known is not None:
        return read, known
    return read, {name: names for name, names in names_by_block.items() if names is not None}


def _is_frame(value: Any) -> bool:
    """Tell whether a value is a data frame, without importing any data-frame library."""
    return hasattr(value, "columns") or hasattr(value, "__dataframe__")


def _as_array(frame: Any, i: int, name: str) -> Any:
    """Return the numbers of a data frame."""
    try:
        return check_array(
            frame,
            accept_sparse="csr",
            dtype=np.float64,
            ensure_all_finite=False,
            ensure_min_samples=0,
        )
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"example {i}: {name} is a data frame with non-numeric columns ({error}); for features "
            'with values of other types give dictionaries, frame.to_dict("records")'
        ) from None


class _BlockNames:
    """Compares the columns of one block's data frames with each other and with those of fit."""

    def __init__(self, estimator: Any, name: str, known: Columns | None) -> None:
        self._estimator = type(estimator).__name__
        self._name = name
        self._fitted = None if known is None else known.get(name)
        self._learns = known is None
        self._probe = copy.copy(estimator)  # scikit-learn sets attributes on the estimator
        for attribute in ("feature_names_in_", "n_features_in_"):
            vars(self._probe).pop(attribute, None)
        if self._fitted is not None:
            self._probe.feature_names_in_ = self._fitted
        self._frames = self._others = 0

    def see(self, value: Any, i: int) -> bool:
        """Return whether it is a data frame; refuse it if its columns are not as expected."""
        if not _is_frame(value):
            self._others += 1
            return False
        first = self._frames == 0
        self._frames += 1
        try:
            if not (first and self._learns):
                validate_data(self._probe, value, reset=False, skip_check_array=True)
            if first:
                validate_data(self._probe, value, reset=True, skip_check_array=True)
        except ValueError as error:
            raise ValueError(f"example {i}: {self._name}: {error}") from None
        return True

    def names(self) -> npt.NDArray[Any] | None:
        """Return the names; warn if examples without names have to be trusted."""
        names: npt.NDArray[Any] | None = getattr(self._probe, "feature_names_in_", None)
        expected = names if self._learns else self._fitted
        if expected is not None and self._others:
            warnings.warn(
                f"X does not have valid feature names, but {self._estimator} was fitted with "
                f"feature names ({self._name} of {self._others} examples)",
                UserWarning,
                stacklevel=5,
            )
        return names
