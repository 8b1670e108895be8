"""Linear inequalities that keep weights in a cone, for example that of submodular pairs.

The structure defines which combinations of a site's scores must not be negative, block by block
(:meth:`~structlearn.structures.base.Structure.submodular_rows`). Scores are features · weights; if
the features are not negative, it is enough that the same combination of each feature's weights is
not: one row ⟨b, w⟩ ≥ 0 per feature. No two rows share a weight, so the nearest point of the cone
has a closed form.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import _core
from ..array_types import Integers, Vector
from ..features.rows import Examples
from .layout import WeightBlock, WeightLayout

#: Rows of several weights keep this share of their terms as a margin, as in the core: zero must not
#: become negative when scores are added up.
_INSIDE = 1e-12


class WeightCone:
    """The weights w with ⟨b_r, w⟩ ≥ 0 for every row r.

    Parameters
    ----------
    layout : WeightLayout
        The existing weights.
    rows : mapping of str to array
        Block name to the combinations that must not be negative: coefficients, (rows, ...) with the
        shape of its outcomes; the rows of a block share no outcome.

    Attributes
    ----------
    n_rows : int
        Number of inequalities.
    ptr, index, value : arrays
        The rows: row r has the weights ``index[ptr[r]:ptr[r + 1]]`` with these coefficients.
    squares : array
        ‖b_r‖².
    native : _core.WeightCone
        The same for the core.
    """

    def __init__(self, layout: WeightLayout, rows: Mapping[str, Vector]) -> None:
        row, index, value = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty(0)]
        count = 0
        for name, block in layout.present().items():
            if name not in rows:
                continue
            features, columns, places = _stored(block)
            table = np.asarray(rows[name], dtype=np.float64).reshape(-1, block.n_columns)
            for coefficients in table:
                used = coefficients[columns] != 0
                row.append(count + features[used])
                index.append(block.offset + places[used])
                value.append(coefficients[columns[used]])
                count += block.n_features
        row_numbers, sizes = np.unique(np.concatenate(row), return_counts=True)
        self.n_rows = len(row_numbers)  # a feature whose weights do not exist has no row
        self.ptr = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        self.index = np.concatenate(index)
        self.value = np.concatenate(value)
        self._n_weights = layout.n_weights
        self.native = self._native()
        self._sizes: Integers = sizes
        self.squares = self._sums(self.value**2)

    def _native(self) -> _core.WeightCone:
        return _core.WeightCone(self.ptr, self.index, self.value, self._n_weights)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "native"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if hasattr(self, "_n_weights"):
            self.native = self._native()

    @property
    def bounds(self) -> bool:
        """Whether each inequality is a bound w_j ≥ 0 on a single weight."""
        return len(self.index) == self.n_rows

    def _sums(self, terms: Vector) -> Vector:
        sums: Vector = np.add.reduceat(terms, self.ptr[:-1]) if self.n_rows else np.empty(0)
        return sums

    def products(self, w: Vector) -> Vector:
        """Return ⟨b_r, w⟩, one number per row: none is negative inside the cone."""
        return self._sums(self.value * w[self.index])

    def project(self, w: Vector) -> Vector:
        """Return the nearest weights in the cone. O(entries of the rows)."""
        return self.shifted(w, self.multipliers(w))

    def shifted(self, w: Vector, multipliers: Vector) -> Vector:
        """Return w + Σ_r multiplier_r b_r."""
        moved: Vector = w.copy()
        spread = np.repeat(multipliers, self._sizes) * self.value
        moved[self.index] += spread
        return moved

    def multipliers(self, u: Vector) -> Vector:
        """Return the λ ≥ 0 with u + Σ_r λ_r b_r the nearest point of the cone to u."""
        terms = self.value * u[self.index]
        products, several = self._sums(terms), self._sizes > 1
        wanted = np.where(several, _INSIDE * self._sums(np.abs(terms)), 0.0)
        outside = (products < 0.0) | (products < 0.5 * wanted)
        return np.where(outside, wanted - products, 0.0) / self.squares


class WeightFloor(WeightCone):
    """The weights w ≥ floor, for learners that only need the projection.

    Parameters
    ----------
    floor : array of shape (n_weights,)
    """

    def __init__(self, floor: Vector) -> None:
        n = len(floor)
        self.floor, self.n_rows = floor, n
        self.ptr, self.index, self.value = np.arange(n + 1), np.arange(n), np.ones(n)

    def project(self, w: Vector) -> Vector:
        """Return the nearest weights that are at least the floor."""
        return np.maximum(w, self.floor)


def _stored(block: WeightBlock) -> tuple[Integers, Integers, Integers]:
    """Return feature, outcome and place of each weight of a block that is not fixed at zero."""
    places = np.arange(block.size, dtype=np.int64)
    if block.column is None:
        features, columns = places // block.n_columns, places % block.n_columns
    else:
        assert block.row_ptr is not None
        starts = block.row_ptr.astype(np.int64)
        sizes: Integers = starts[1:] - starts[:-1]
        features = np.repeat(np.arange(block.n_features, dtype=np.int64), sizes)
        columns = block.column.astype(np.int64)
    if block.real is None:
        return features, columns, places
    real = block.real.astype(bool)
    return features[real], columns[real], places[real]


def check_features(examples: Examples, rows: Mapping[str, Vector]) -> None:
    """Refuse negative features of the blocks with rows, by example, site and column."""
    for name in rows:
        block = examples.blocks.get(name)
        if block is None or block.values is None:
            continue
        negative = np.argwhere(~(block.values >= 0))
        if not len(negative):
            continue
        if block.indptr is None:
            at, column = negative[0].tolist()
            negative_value = float(block.values[at, column])
        else:
            assert block.indices is not None
            entry = int(negative[0, 0])
            at = int(np.searchsorted(block.indptr, entry, side="right")) - 1
            column, negative_value = int(block.indices[entry]), float(block.values[entry])
        i = int(np.searchsorted(block.site_ptr, at, side="right")) - 1
        site = np.unravel_index(at - int(block.site_ptr[i]), block.sites(i))
        place = ", ".join(str(int(k)) for k in site)
        raise ValueError(
            f"example {i}: feature {column} of {name} at edge {place} is {negative_value:g}; "
            "submodular=True needs edge features >= 0: take absolute values, or split a feature by "
            "its sign"
        )
