"""The rows of a program: columns for parts and helpers, and linear constraints on them."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from ...array_types import Integers, Vector
from ..certificates import power_of_two

Columns = Integers


class ProgramRows:
    """lower ≤ A x ≤ upper with bounds on the columns, checked.

    Parameters
    ----------
    matrix : (rows, columns) sparse or dense
        The coefficients A.
    lower, upper : number or (rows,)
        Bounds of the rows; −∞ and ∞ if there is none.
    column_lower, column_upper : number or (columns,)
        Bounds of the columns.
    integer : bool or (columns,) of bool
        Which columns are integers.
    names : sequence of str, optional
        The names of the rows, for error messages.
    presolve : bool
        Whether branch and bound should look for simplifications first. The rows of a structure have
        none.
    """

    def __init__(
        self,
        matrix: Any,
        lower: Any,
        upper: Any,
        *,
        column_lower: Any = 0.0,
        column_upper: Any = 1.0,
        integer: Any = True,
        names: Sequence[str] | None = None,
        presolve: bool = True,
    ) -> None:
        import scipy.sparse  # takes half a second: only if there is a program

        self.presolve = presolve
        try:
            self.matrix = scipy.sparse.csr_array(matrix, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"A is not a matrix of numbers: {error}") from None
        if self.matrix.ndim != 2:
            raise ValueError(f"A must have two axes, rows and columns, not {self.matrix.ndim}")
        n_rows, n = self.matrix.shape
        if not np.isfinite(self.matrix.data).all():
            raise ValueError("A contains NaN or infinite coefficients")
        self.lower = _bounds("lower", lower, n_rows, "row")
        self.upper = _bounds("upper", upper, n_rows, "row")
        self.column_lower = _bounds("column_lower", column_lower, n, "column")
        self.column_upper = _bounds("column_upper", column_upper, n, "column")
        for what, low, high in (
            ("row", self.lower, self.upper),
            ("column", self.column_lower, self.column_upper),
        ):
            wrong = np.flatnonzero((low > high) | (low == np.inf) | (high == -np.inf))
            if len(wrong):
                i = int(wrong[0])
                raise ValueError(f"{what} {i} has bounds from {low[i]} to {high[i]}")
        self.integer = np.broadcast_to(np.asarray(integer, dtype=bool), n).copy()
        if names is not None and len(names) != n_rows:
            raise ValueError(f"there are {len(names)} names for {n_rows} rows")
        self._names = names

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.matrix.shape[1])

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.matrix.shape[0])

    def name(self, row: int) -> str:
        """Return the name of a row in a message."""
        return f"row {row}" if self._names is None else self._names[row]

    def with_rows(
        self,
        matrix: Any,
        lower: Any,
        upper: Any,
        names: Sequence[str] | None = None,
        n_helpers: int = 0,
    ) -> ProgramRows:
        """Return these rows and more; ``matrix`` may leave out columns at the end.

        ``n_helpers`` columns, from 0 to 1, come after the others.
        """
        import scipy.sparse

        added = scipy.sparse.csr_array(matrix, dtype=np.float64)
        added.resize((added.shape[0], self.n_columns + n_helpers))
        extra = ProgramRows(added, lower, upper, names=names)
        own = self.matrix.copy()
        own.resize((self.n_rows, self.n_columns + n_helpers))
        return ProgramRows(
            scipy.sparse.vstack([own, extra.matrix], format="csr"),
            np.concatenate((self.lower, extra.lower)),
            np.concatenate((self.upper, extra.upper)),
            column_lower=np.concatenate((self.column_lower, np.zeros(n_helpers))),
            column_upper=np.concatenate((self.column_upper, np.ones(n_helpers))),
            integer=np.concatenate((self.integer, np.zeros(n_helpers, dtype=bool))),
            names=[
                *(self.name(i) for i in range(self.n_rows)),
                *(names or (f"row {self.n_rows + i}" for i in range(extra.n_rows))),
            ],
            presolve=self.presolve,
        )

    @functools.cached_property
    def scaled(self) -> ProgramRows:
        """The same rows, each times a power of two: its largest coefficient is from 1 to below 2.

        Tolerances are absolute, in :meth:`hold` and in solvers: a row in small units would hold for
        any columns.
        """
        import scipy.sparse

        if not self.matrix.nnz:
            return self
        largest = abs(self.matrix).max(axis=1).toarray().ravel()
        scales = np.array([power_of_two(size) for size in largest.tolist()])
        if (scales == 1.0).all():
            return self
        matrix = scipy.sparse.diags_array(scales) @ self.matrix
        return self._with_same_columns(matrix, self.lower * scales, self.upper * scales)

    def chosen(self, rows: npt.NDArray[np.bool_]) -> ProgramRows:
        """Return the given rows, without their names."""
        return self._with_same_columns(self.matrix[rows], self.lower[rows], self.upper[rows])

    def _with_same_columns(self, matrix: Any, lower: Vector, upper: Vector) -> ProgramRows:
        return ProgramRows(
            matrix,
            lower,
            upper,
            column_lower=self.column_lower,
            column_upper=self.column_upper,
            integer=self.integer,
            presolve=self.presolve,
        )

    def hold(self, columns: Vector, tolerance: float = 1e-6) -> bool:
        """Tell whether the columns satisfy every row, as scaled, and every bound."""
        scaled = self.scaled
        rows = scaled.matrix @ columns
        return bool(
            (rows >= scaled.lower - tolerance).all()
            and (rows <= scaled.upper + tolerance).all()
            and (columns >= self.column_lower - tolerance).all()
            and (columns <= self.column_upper + tolerance).all()
        )


class RowBuilder:
    """Collects the rows of a structure's program, many at once.

    ``parts[name]`` holds the column number of each part, in the shape of its block; ``helpers``
    adds columns. Rows are written as terms, each an array of column numbers whose first
    axes index the rows and whose further axes are summed over::

        build = RowBuilder({"label": (L, K), "transition": (L - 1, K, K)})
        label, pair = build.parts["label"], build.parts["transition"]
        build.add((label, 1), equal=1, name="one label at position {0}")
        build.add((pair.transpose(0, 2, 1), 1), (label[1:], -1), rows=2, equal=0,
                  name="label {1} at position {0}")

    Parameters
    ----------
    shapes : dict of str to tuple of int
        The shape of each block of parts, in the order of the flat part vector.
    """

    def __init__(self, shapes: Mapping[str, tuple[int, ...]]) -> None:
        self.shapes = dict(shapes)
        self.parts: dict[str, Columns] = {}
        at = 0
        for name, shape in self.shapes.items():
            self.parts[name] = at + np.arange(prod(shape), dtype=np.int64).reshape(shape)
            at += prod(shape)
        self.n_parts = at
        self.n_columns = at
        self._upper: list[Vector] = [np.ones(at)]
        self._integer: list[npt.NDArray[np.bool_]] = [np.ones(at, dtype=bool)]
        self._entries: list[tuple[Columns, Columns, Vector]] = []
        self._lower: list[Vector] = []
        self._row_upper: list[Vector] = []
        self._names: list[tuple[str, tuple[int, ...]]] = []
        self.n_rows = 0

    def helpers(self, *shape: int, upper: float = 1.0, integer: bool = False) -> Columns:
        """Return new columns, from 0 to ``upper``, that are not parts."""
        n = prod(shape)
        columns = self.n_columns + np.arange(n, dtype=np.int64).reshape(shape)
        self.n_columns += n
        self._upper.append(np.full(n, upper))
        self._integer.append(np.full(n, integer))
        return columns

    def continuous(self, name: str) -> None:
        """Let a block be continuous: integral whenever the integer columns are (faster)."""
        self._integer[0][self.parts[name].ravel()] = False

    def forbid(self, columns: Any) -> None:
        """Fix columns at 0."""
        fixed = np.asarray(columns, dtype=np.int64).ravel()
        at = 0
        for upper in self._upper:
            inside = fixed[(fixed >= at) & (fixed < at + len(upper))]
            upper[inside - at] = 0.0
            at += len(upper)

    def unbounded(self, parts: Any) -> None:
        """Let the counts of parts be any number ≥ 0: for parts that are used several times."""
        self._upper[0][np.asarray(parts, dtype=np.int64)] = np.inf

    def add(
        self,
        *terms: tuple[Any, Any],
        rows: int = 1,
        lower: Any = -np.inf,
        upper: Any = np.inf,
        equal: Any = None,
        name: str = "row {0}",
    ) -> None:
        """Add rows: lower ≤ Σ terms ≤ upper.

        Parameters
        ----------
        *terms : (columns, coefficient)
            ``columns`` has ``rows`` axes that index the rows, and any number of further axes that
            are summed over; the coefficient is a number or an array that broadcasts to the columns.
        rows : int
            The number of leading axes that index rows; 0 for a single row.
        lower, upper, equal : number or array over the rows
            ``equal`` sets both bounds.
        name : str
            For messages; ``{0}``, ``{1}`` … are the row's indices.
        """
        if equal is not None:
            lower = upper = equal
        shape = np.shape(terms[0][0])[:rows]
        n = prod(shape)
        for columns, coefficient in terms:
            columns = np.asarray(columns, dtype=np.int64)
            if columns.shape[:rows] != shape:
                raise ValueError(f"terms of {columns.shape[:rows]} and of {shape} rows in one row")
            values = np.broadcast_to(np.asarray(coefficient, dtype=np.float64), columns.shape)
            row = np.repeat(self.n_rows + np.arange(n), prod(columns.shape[rows:]))
            self._entries.append((row, columns.ravel(), values.ravel()))
        for bounds, bound in ((self._lower, lower), (self._row_upper, upper)):
            bounds.append(np.broadcast_to(np.asarray(bound, dtype=np.float64), shape).ravel())
        self._names.append((name, shape))
        self.n_rows += n

    def build(self) -> ProgramRows:
        """Return the rows."""
        empty = (np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0))
        row, column, value = (
            np.concatenate(arrays) for arrays in zip(empty, *self._entries, strict=True)
        )
        import scipy.sparse

        matrix = scipy.sparse.coo_array((value, (row, column)), (self.n_rows, self.n_columns))
        none = np.empty(0)
        return ProgramRows(
            matrix.tocsr(),
            np.concatenate([none, *self._lower]),
            np.concatenate([none, *self._row_upper]),
            column_upper=np.concatenate(self._upper),
            integer=np.concatenate(self._integer),
            names=_RowNames(self._names),
            presolve=False,
        )


class _RowNames(Sequence[str]):
    """Names of rows, formatted on demand."""

    def __init__(self, groups: list[tuple[str, tuple[int, ...]]]) -> None:
        self._groups = groups
        self._ends = list(itertools.accumulate(prod(shape) for _, shape in groups))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __getitem__(self, row: Any) -> Any:
        group = int(np.searchsorted(self._ends, row, side="right"))
        name, shape = self._groups[group]
        within = row - (self._ends[group - 1] if group else 0)
        return name.format(*(int(i) for i in np.unravel_index(within, shape))) if shape else name

    def __iter__(self) -> Iterator[str]:
        return (self[i] for i in range(len(self)))


def _bounds(name: str, given: Any, n: int, what: str) -> Vector:
    array = np.asarray(given, dtype=np.float64)
    if array.ndim and array.shape != (n,):
        raise ValueError(f"{name} has shape {array.shape}; there are {n} {what}s")
    if np.isnan(array).any():
        raise ValueError(f"{name} contains NaN")
    bounds: Vector = np.broadcast_to(array, n).copy()
    return bounds
