"""Constraints for one shape of input: −∞ masks where they do, rows of a program otherwise."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..structures.base import Parts, Structure, flatten
from .language import Constraint, Count, EachAtMostOnce, IfThen, Label, Part, Selection
from .report import ConstraintReport

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
        Scores; only their shapes are read.
    labels : dict
        Label to index.
    """

    def __init__(
        self,
        structure: Structure,
        constraints: Sequence[Constraint],
        theta: Parts,
        labels: Mapping[Any, int] | None,
    ) -> None:
        self.structure = structure
        self.report = ConstraintReport()
        self._labels = labels
        self._theta = theta
        self.shapes = structure.position_shapes(theta)
        self._first: dict[str, int] = {}
        at = 0
        for name, shape in self.shapes.items():
            self._first[name] = at
            at += math.prod(shape)
        self.n_parts = at
        label = structure.label_block
        if structure.has_labels and label not in self.shapes:
            raise ValueError(f"constraints on labels need {label} scores")
        self._n_labels = self.shapes[label][-1] if label in self.shapes else 0
        self.forbidden = np.zeros(at, dtype=bool)
        #: All constraints as rows: (parts, coefficients, lower, upper, name).
        self.every: list[tuple[Indices, npt.NDArray[np.float64], float, float, str]] = []
        self._own: list[int] = []  # those that are no masks
        for constraint in constraints:
            self._add(constraint)
        self._tight = self._matrix(range(len(self.every)))

    def _add(self, constraint: Constraint) -> None:
        if isinstance(constraint, EachAtMostOnce):
            labels = constraint.labels or self._labels or range(self._n_labels)
            for k in labels:
                self._row(self._select((Label(k),)), 0, 1, f"label {k!r} at most once")
            self.report.rows.append((constraint, len(labels)))
        elif isinstance(constraint, IfThen):
            before, after = self._select(constraint.condition), self._select(constraint.consequence)
            for part in before:
                columns = np.append(after, part)
                signs = np.append(np.ones(len(after)), -1.0)
                if part in after:  # it brings its own consequence
                    continue
                self._row(columns, 0, math.inf, str(constraint), signs)
            self.report.rows.append((constraint, len(before)))
        else:
            assert isinstance(constraint, Count)
            parts = self._select(constraint.parts)
            masked = None
            if constraint.forbids:
                masked = parts
            elif constraint.place is not None:
                masked = np.setdiff1d(self._at(constraint.place), parts)
            self._row(
                parts, constraint.lower, constraint.upper, str(constraint), mask=masked is not None
            )
            if masked is None:
                self.report.rows.append((constraint, 1))
            else:
                self.forbidden[masked] = True
                self.report.masked.append((constraint, len(masked)))

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

    # -- selections -----------------------------------------------------------------------------

    def _select(self, selections: Sequence[Selection]) -> Indices:
        found = [self._label(s) if isinstance(s, Label) else self._part(s) for s in selections]
        return np.unique(np.concatenate(found))

    def _index(self, label: Any) -> int:
        if self._labels is not None:
            if label not in self._labels:
                raise ValueError(
                    f"a constraint names the label {label!r}; there are {list(self._labels)}"
                )
            return self._labels[label]
        if not isinstance(label, (int, np.integer)) or not 0 <= label < self._n_labels:
            raise ValueError(
                f"a constraint names the label {label!r}; there are 0..{self._n_labels - 1}"
            )
        return int(label)

    def _label(self, selection: Label) -> Indices:
        k = self._index(selection.label)
        block = self.structure.label_block
        if selection.at is None:
            numbers = np.arange(math.prod(self.shapes[block])).reshape(-1, self._n_labels)
            return self._first[block] + numbers[:, k]
        places = selection.at if isinstance(selection.at, frozenset) else (selection.at,)
        return np.concatenate([self._at(place, k) for place in places])

    def _at(self, place: Any, label: int | None = None) -> Indices:
        """Return the parts that give this place a label: the one named, or any."""
        block = self.structure.label_block
        shape = self.shapes[block]
        inner = len(self.structure.blocks(1)[block].inner)
        positions = shape[: len(shape) - 1 - inner]
        costs = np.zeros((*positions, self._n_labels))
        self._check_place(place, positions, block)
        costs[place] = label is None
        if label is not None:
            costs[place][..., label] = 1.0
        spread = self.structure.label_costs(costs.reshape(-1, self._n_labels), **self._theta)
        return self._first[block] + np.flatnonzero(np.asarray(spread[block]).ravel() > 0)

    def _check_place(self, place: Any, positions: tuple[int, ...], block: str) -> None:
        given = place if isinstance(place, tuple) else (place,)
        whole = all(isinstance(i, (int, np.integer)) for i in given)
        fits = (
            len(given) == len(positions)
            and all(-n <= i < n for i, n in zip(given, positions, strict=True))
            if whole
            else False
        )
        if not fits:
            raise ValueError(
                f"a constraint names the place {place!r}; {block} has places of shape {positions}"
            )

    def _part(self, selection: Part) -> Indices:
        name = selection.block
        if name not in self.shapes:
            raise ValueError(
                f"a constraint names the block {name!r}; there are {list(self.shapes)}"
            )
        block, shape = self.structure.blocks(self._n_labels)[name], self.shapes[name]
        n_labels = len(block.outcomes)
        numbers = np.arange(math.prod(shape)).reshape(shape)
        outcome = list(selection.outcome)
        n_inner = len(block.inner) if len(outcome) == n_labels + len(block.inner) else 0
        if len(outcome) != n_labels + n_inner:
            raise ValueError(f"{selection} has {len(outcome)} labels; a part of {name} {n_labels}")
        sites, labels = outcome[:n_inner], [self._index(k) for k in outcome[n_inner:]]
        for site, n in zip(sites, block.inner, strict=False):
            if site not in range(1, n + 1):
                raise ValueError(f"{selection}: there are sites from 1 to {n}")
        front = shape[: len(shape) - n_labels - len(block.inner)]
        place: Any = (slice(None),) * len(front)
        places = [place]
        if selection.at is not None:
            each = selection.at if isinstance(selection.at, frozenset) else (selection.at,)
            for one in each:
                self._check_place(one, front, name)
            places = [one if isinstance(one, tuple) else (one,) for one in each]
        middle = tuple(i - 1 for i in sites) or (slice(None),) * len(block.inner)
        indices: list[Any] = [(*one, *middle, *labels) for one in places]
        found = [np.ravel(numbers[index]) for index in indices]
        return self._first[name] + np.concatenate(found)

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
                if len(mask) and (mask.any(axis=0) == mask.all(axis=0)).all():
                    mask = mask[0]
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
        if program.shapes != self.shapes:
            raise AssertionError("a program's parts are those of encode_by_position")
        rows = range(len(self.every)) if every else self._own
        matrix, lower, upper = self._matrix(rows)
        if not len(lower):
            return program
        return program.with_rows(matrix, lower, upper, [self.every[i][4] for i in rows])
