"""Weights of one block given row by row, as in files and other libraries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..array_types import Array
from .layout import WeightBlock


@dataclass
class SparseWeights:
    """The existing weights: feature f has ``values[row_ptr[f]:row_ptr[f + 1]]``.

    Attributes
    ----------
    row_ptr : (features + 1,) array of whole numbers
        A block without features has one row.
    column : array of whole numbers
        The outcome of each weight, counted in C order; increasing within a row.
    values : float64 array
        The weights.
    real : uint8 array, optional
        0 for an entry that is padding of its row and stays zero.
    """

    row_ptr: npt.NDArray[np.integer]
    column: npt.NDArray[np.integer]
    values: Array
    real: npt.NDArray[np.uint8] | None = None

    def place(self, block: WeightBlock, name: str) -> Array:
        """Set these rows as the block's and return its stored weights; refuse invalid ones.

        The core does not check pointers and columns, so out-of-range values must be refused here.
        """
        n, n_columns = len(self.values), block.n_columns
        pointers = np.asarray(self.row_ptr).astype(np.int64)
        columns = np.asarray(self.column).astype(np.int64)
        if block.hierarchy:
            raise ValueError(f"the weights of {name} are shared in a hierarchy and must be dense")
        if len(pointers) != block.n_features + 1 or pointers[0] != 0 or pointers[-1] != n:
            raise ValueError(
                f"the row pointers of {name} must go from 0 to {n}, the number of weights, in "
                f"{block.n_features + 1} steps"
            )
        if (np.diff(pointers) < 0).any():
            raise ValueError(f"the row pointers of {name} decrease")
        if len(columns) != n or (self.real is not None and len(self.real) != n):
            raise ValueError(f"{name} has {n} weights, but not as many outcomes")
        if n and not (columns.min() >= 0 and columns.max() < min(n_columns, 2**32)):
            raise ValueError(
                f"{name} has {n_columns} outcomes, but a weight belongs to another one"
            )
        inner = np.ones(max(n - 1, 0), dtype=bool)
        starts = pointers[1:-1]
        inner[starts[(starts > 0) & (starts < n)] - 1] = False  # from one row to the next
        if (np.diff(columns)[inner] <= 0).any():
            raise ValueError(f"the outcomes of {name} must increase within a row")
        block.row_ptr = pointers.astype(np.uint32)
        block.column = columns.astype(np.uint32)
        block.real = None if self.real is None else np.asarray(self.real, dtype=np.uint8)
        return np.array(self.values, dtype=np.float64)
