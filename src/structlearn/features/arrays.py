"""Sites described by numbers: dense arrays and sparse matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..array_types import Array, Integers
from .rows import FeatureRows, Where


def is_sparse(value: Any) -> bool:
    """Tell whether a value is a SciPy sparse matrix or array, without importing SciPy."""
    return hasattr(value, "tocsr") and hasattr(value, "nnz")


def as_floats(values: Any, what: str) -> Array:
    """Return numbers as floats; errors name the value as ``what``.

    Complex numbers are refused: they would lose their imaginary part.
    """
    try:
        array = np.asarray(values)
        if array.dtype.kind != "c":
            return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what} is not an array of numbers: {error}") from None
    raise ValueError(f"Complex data not supported: {what} has complex numbers")


class _Columns:
    """The number of columns, learned once and then checked."""

    def __init__(self) -> None:
        self.n_features = -1

    def fit_transform(self, examples: list[Any], where: Where, copies: Any = None) -> FeatureRows:
        """Learn the number of columns and return the rows; ``copies`` has no effect."""
        if self.n_features < 0:
            self.n_features = int(np.shape(examples[0])[-1])
        if self.n_features > np.iinfo(np.int32).max:  # the core's feature indices
            raise ValueError(f"{where.block} has {self.n_features} features: more than 2^31 - 1")
        return self.transform(examples, where)

    def transform(self, examples: list[Any], where: Where) -> FeatureRows:
        """Return the rows."""
        for i, example in enumerate(examples):
            if np.shape(example)[-1] != self.n_features:
                raise ValueError(
                    f"example {i}: {where.block} has {np.shape(example)[-1]} features, "
                    f"expected {self.n_features}"
                )
        if self.n_features == 0:
            raise ValueError(
                f"{where.block} has 0 feature(s) (shape={np.shape(examples[0])}) while a minimum "
                "of 1 is required."
            )
        return self._rows(examples, where)

    def _rows(self, examples: list[Any], where: Where) -> FeatureRows:
        raise AssertionError


class DenseEncoder(_Columns):
    """Arrays of shape (…sites, d), stacked."""

    def _rows(self, examples: list[Any], where: Where) -> FeatureRows:
        shapes = [e.shape[:-1] for e in examples]
        sizes = [int(np.prod(s)) for s in shapes]
        site_ptr = _pointers(sizes)
        values = np.concatenate(
            [np.asarray(e, dtype=np.float64).reshape(-1, self.n_features) for e in examples]
        )
        values = np.ascontiguousarray(values)
        _check_finite(values, site_ptr, where)
        flat = all(len(s) == 1 for s in shapes)
        return FeatureRows(site_ptr, self.n_features, values, site_shapes=None if flat else shapes)


class SparseEncoder(_Columns):
    """Sparse matrices of shape (sites, d), stacked."""

    def _rows(self, examples: list[Any], where: Where) -> FeatureRows:
        from scipy import sparse

        matrices = [sparse.csr_matrix(e) for e in examples]
        site_ptr = _pointers([m.shape[0] for m in matrices])
        stacked = matrices[0] if len(matrices) == 1 else sparse.vstack(matrices, format="csr")
        values = np.ascontiguousarray(as_floats(stacked.data, where.block))
        indptr = stacked.indptr.astype(np.int64)
        if not np.isfinite(values).all():
            row = int(np.searchsorted(indptr, np.flatnonzero(~np.isfinite(values))[0], "right")) - 1
            _not_finite(row, site_ptr, where)
        ones = bool((values == 1.0).all())
        return FeatureRows(
            site_ptr,
            self.n_features,
            None if ones else values,
            indptr,
            np.ascontiguousarray(stacked.indices, dtype=np.int32),
        )


def _pointers(sizes: list[int]) -> Integers:
    pointers = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=pointers[1:])
    return pointers


def _check_finite(values: Array, site_ptr: Integers, where: Where) -> None:
    if not np.isfinite(values).all():
        _not_finite(int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0]), site_ptr, where)


def _not_finite(row: int, site_ptr: Integers, where: Where) -> None:
    i = int(np.searchsorted(site_ptr, row, side="right")) - 1
    raise ValueError(
        f"{where.site(i, row - int(site_ptr[i]))}: {where.block} contains NaN or infinity; "
        "features must be finite"
    )
