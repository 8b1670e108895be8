"""Feature rows of all examples, block by block: the input of scoring."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from ..array_types import Array, Integers


@dataclass(frozen=True)
class Where:
    """A place in X, for error messages."""

    block: str
    single_site: bool = False

    def site(self, example: int, position: int) -> str:
        """Name one site."""
        if self.single_site:
            return f"example {position}"
        return f"example {example}, position {position}"


@dataclass
class FeatureRows:
    """The features of one block: one row per site, the sites of all examples concatenated.

    Attributes
    ----------
    site_ptr : (n_examples + 1,) int64
        Example i owns the rows ``site_ptr[i]`` to ``site_ptr[i + 1]``.
    n_features : int
        Number of columns.
    values : (rows, n_features) float64 array, (nnz,) float64 array or None
        The matrix itself if dense; the non-zeros if sparse, None if all are 1.
    indptr, indices : arrays, sparse only
        Compressed rows, as in SciPy's CSR.
    site_shapes : list of tuple, optional
        The layout of the sites, if it has more than one dimension (a grid).
    inner : tuple of int
        The shape of a position's sites, if it has more than one.
    """

    site_ptr: Integers
    n_features: int
    values: Array | None
    indptr: Integers | None = None
    indices: npt.NDArray[np.int32] | None = None
    site_shapes: list[tuple[int, ...]] | None = None
    inner: tuple[int, ...] = ()

    @property
    def is_dense(self) -> bool:
        """Whether the rows are a dense matrix."""
        return self.indptr is None

    @property
    def n_examples(self) -> int:
        """Number of examples."""
        return len(self.site_ptr) - 1

    def sites(self, i: int) -> tuple[int, ...]:
        """Return the shape of example i's sites."""
        if self.site_shapes is not None:
            return self.site_shapes[i]
        n_sites = int(self.site_ptr[i + 1] - self.site_ptr[i])
        return (n_sites // prod(self.inner), *self.inner) if self.inner else (n_sites,)

    def positions(self) -> Integers:
        """Return the number of positions of each example."""
        return np.diff(self.site_ptr) // prod(self.inner)


@dataclass
class Examples:
    """A data set as blocks of feature rows, with the topology of each example.

    Attributes
    ----------
    blocks : dict of str to FeatureRows
        By the structure's block names.
    topology : list of dict
        The structural facts of each example (edges, parents), one dict each.
    single_site : bool
        Whether each example is one site without an axis of positions (multiclass).
    """

    n: int
    blocks: dict[str, FeatureRows]
    topology: list[dict[str, Any]] = field(default_factory=list)
    single_site: bool = False
