"""Constraints for one shape of input: −∞ masks where they do, rows of a program otherwise."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..structures.base import Structure
from ..structures.parts import Parts, flatten
from .counting import Constraint, Count, EachAtMostOnce, IfThen
from .part_index import PartIndex
from .report import ConstraintReport
from .selections import Label

__all__ = ["Compilation"]

Indices = npt.NDArray[np.int64]


class Compilation:
    """The constraints on a structure, for scores of given shapes.

    Parameters
    ----------
    structure : Structure
        Whose outputs are constrained.
    constraints : sequence of Constraint
        What must hold.
    theta : dict of arrays
        Scores and topology; of the scores only the shapes are read.
    labels : dict
        Label to index.
    """

    def __init__(
        self,
        structure: Structure,
        constraints: Sequence[Constraint],
        theta: Mapping[str, Any],
        labels: Mapping[Any, int] | None,
    ) -> None:
        self.structure = structure
        self.report = ConstraintReport()
        self._index = PartIndex(structure, theta, labels)
        self.shapes, self._first = self._index.shapes, self._index.first
        self.n_parts = self._index.n_parts
        self.forbidden = np.zeros(self.n_parts, dtype=bool)
        #: All constraints as rows: (parts, coefficients, lower, upper, name).
        self.every: list[tuple[Indices, npt.NDArray[np.float64], float, float, str]] = []
        self._own: list[int] = []  # those that are no masks
        for constraint in constraints:
            self._add(constraint)
        self._tight = self._matrix(range(len(self.every)))

    def _add(self, constraint: Constraint) -> None:
        if isinstance(constraint, EachAtMostOnce):
            labels = constraint.labels or self._index.labels or range(self._index.n_labels)
            for k in labels:
                self._row(self._index.select((Label(k),)), 0, 1, f"label {k!r} at most once")
            self.report.rows.append((constraint, len(labels)))
        elif isinstance(constraint, IfThen):
            self._add_implication(constraint)
        else:
            assert isinstance(constraint, Count)
            parts = self._index.select(constraint.parts)
            masked = None
            if constraint.forbids:
                masked = parts
            elif constraint.place is not None:
                masked = np.setdiff1d(self._index.at(constraint.place), parts)
            self._row(
                parts, constraint.lower, constraint.upper, str(constraint), mask=masked is not None
            )
            if masked is None:
                self.report.rows.append((constraint, 1))
            else:
                self.forbidden[masked] = True
                self.report.masked.append((constraint, len(masked)))

    def _add_implication(self, constraint: IfThen) -> None:
        """Add an if-then: a mask where a label decides, alone or with its neighbour, else rows."""
        before = self._index.select(constraint.condition)
        after = self._index.select(constraint.consequence)
        masked = self._contradicting(constraint)
        rows = 0
        for part in before:
            if part in after:  # it brings its own consequence
                continue
            columns = np.append(after, part)
            signs = np.append(np.ones(len(after)), -1.0)
            self._row(columns, 0, math.inf, str(constraint), signs, mask=masked is not None)
            rows += 1
        if masked is None:
            self.report.rows.append((constraint, rows))
        else:
            self.forbidden[masked] = True
            self.report.masked.append((constraint, len(masked)))

    def _contradicting(self, constraint: IfThen) -> Indices | None:
        """Return the parts that contradict an if-then, None where it is no matter of parts.

        It is one where the consequence is about a single place, and each label of the condition
        stands there too, or at a place whose label is scored together with it.
        """
        index = self._index
        wanted: dict[Any, set[int]] = {}
        for selection in constraint.consequence:
            if not isinstance(selection, Label) or selection.at is None:
                return None
            for place in selection.places:
                wanted.setdefault(index.place(place), set()).add(index.label(selection.label))
        if len(wanted) != 1:
            return None
        ((there, labels),) = wanted.items()
        others = set(range(index.n_labels)) - labels
        found: list[Indices] = [np.empty(0, dtype=np.int64)]
        for selection in constraint.condition:
            if not isinstance(selection, Label) or selection.at is None:
                return None
            k = index.label(selection.label)
            for place in map(index.place, selection.places):
                if place == there:
                    contradicting = index.at(place, k) if k not in labels else found[0]
                else:
                    pairs = index.pairs(place, k, there, others)
                    if pairs is None:
                        return None
                    contradicting = pairs
                found.append(contradicting)
        return np.unique(np.concatenate(found))

    def _row(
        self,
        parts: Indices,
        lower: float,
        upper: float,
        name: str,
        signs: npt.NDArray[np.float64] | None = None,
        mask: bool = False,
    ) -> None:
        if not mask:
            self._own.append(len(self.every))
        signs = np.ones(len(parts)) if signs is None else signs
        self.every.append((parts, signs, lower, upper, name))

    # -- use ------------------------------------------------------------------------------------

    def mask(self, theta: Parts) -> dict[str, Any]:
        """Return the scores with −∞ where forbidden, spread over positions if need be."""
        if not self.forbidden.any():
            return theta
        masked: dict[str, Any] = {}
        for name, table in theta.items():
            shape = self.shapes[name]
            at = self._first[name]
            mask = self.forbidden[at : at + math.prod(shape)].reshape(shape)
            if not mask.any():
                masked[name] = table
                continue
            if table.shape != shape:
                every = mask.reshape(
                    -1, *table.shape
                )  # one row per position, whatever the number of axes
                if (every.any(axis=0) == every.all(axis=0)).all():
                    mask = every[0]
                else:
                    table = np.broadcast_to(table, shape)
            masked[name] = np.where(mask, -np.inf, table)
        return masked

    def broken(self, counts: Parts) -> str | None:
        """Return the name of a constraint that these parts (by position) break, or None."""
        matrix, lower, upper = self._tight
        sums = matrix @ flatten({name: counts[name] for name in self.shapes})
        wrong = np.flatnonzero((sums < lower - 1e-9) | (sums > upper + 1e-9))
        return self.every[int(wrong[0])][4] if len(wrong) else None

    def _matrix(self, rows: Sequence[int]) -> tuple[Any, Any, Any]:
        chosen = [self.every[i] for i in rows]
        sizes = [len(parts) for parts, *_ in chosen]
        place = np.repeat(np.arange(len(chosen)), sizes)
        empty = np.empty(0)
        columns = np.concatenate([empty.astype(np.int64), *(row[0] for row in chosen)])
        signs = np.concatenate([empty, *(row[1] for row in chosen)])
        import scipy.sparse

        matrix = scipy.sparse.csr_array((signs, (place, columns)), (len(chosen), self.n_parts))
        return matrix, np.array([r[2] for r in chosen]), np.array([r[3] for r in chosen])

    def program(self, theta: Parts, topology: Mapping[str, Any], every: bool = False) -> Any:
        """Return the structure's program with the constraints that are no masks (or all)."""
        program = self.structure.as_program(**theta, **topology)
        rows = range(len(self.every)) if every else self._own
        matrix, lower, upper = self._matrix(rows)
        if not len(lower):
            return program
        names = [self.every[i][4] for i in rows]
        return program.with_rows(self._columns_of(program, matrix), lower, upper, names)

    def _columns_of(self, program: Any, matrix: Any) -> Any:
        """Return the rows in terms of the program's parts, which may have other blocks too."""
        if list(program.shapes.items()) == list(self.shapes.items()):
            return matrix
        import scipy.sparse

        used = np.zeros(self.n_parts, dtype=bool)
        used[matrix.indices] = True
        blocks = []
        for name, shape in program.shapes.items():
            size = math.prod(shape)
            if self.shapes.get(name) == shape:
                columns = slice(self._first[name], self._first[name] + size)
                blocks.append(matrix[:, columns])
                used[columns] = False
            else:
                blocks.append(scipy.sparse.csr_array((matrix.shape[0], size)))
        if used.any():
            raise ValueError(
                f"constraints on {self._block_of(int(np.flatnonzero(used)[0]))} cannot be rows: "
                f"the program of {self.structure!r} has {list(program.shapes)}"
            )
        return scipy.sparse.hstack(blocks, format="csr")

    def _block_of(self, part: int) -> str:
        return next(name for name in reversed(self._first) if self._first[name] <= part)
