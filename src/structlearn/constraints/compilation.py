"""Constraints for one shape of input: −∞ masks, automata, and rows of a program."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..array_types import Array, Integers
from ..structures.base import Structure
from ..structures.parts import Parts, flatten
from .automata import NamedAutomaton
from .automaton import Automaton
from .construction import TooManyStates
from .counting import Constraint, Count, EachAtMostOnce, IfThen
from .events import NoEvents
from .flow_rows import FlowRows, flow_rows
from .ordering import NotAdjacent
from .part_index import PartIndex
from .readings import sequences_of, symbols_of
from .report import ConstraintReport
from .selections import Chunk, Label

_NOTHING: Integers = np.empty(0, dtype=np.int64)


class _Row(NamedTuple):
    """lower ≤ Σ signs · parts ≤ upper."""

    parts: Integers
    signs: Array
    lower: float
    upper: float
    name: str


class _Entry(NamedTuple):
    """A constraint in all of its forms; either its rows or its flows express it completely."""

    constraint: Constraint
    masked: Integers | None
    automata: list[NamedAutomaton] | None
    rows: list[_Row]
    flows: list[NamedAutomaton]


class Compilation:
    """The constraints on a structure, for scores of given shapes.

    Parameters
    ----------
    structure : Structure
        The structure to constrain.
    constraints : sequence of Constraint
        The constraints to compile.
    theta : dict of arrays
        Scores and topology; only the shapes of the scores are read.
    classes : sequence of K labels, optional
        The labels by number; 0..K−1 by default.
    known : dict
        A cache of automata for inputs of any length, by constraint and number of labels.

    Attributes
    ----------
    automata : list of Automaton
        Those of the constraints that are not masks; empty if one of these needs rows.
    report : ConstraintReport
    """

    def __init__(
        self,
        structure: Structure,
        constraints: Sequence[Constraint],
        theta: Mapping[str, Any],
        classes: Sequence[Any] | None,
        known: dict[tuple[Constraint, int], list[NamedAutomaton]],
    ) -> None:
        self.structure = structure
        self._known = known
        self._index = PartIndex(structure, theta, classes)
        self.shapes, self._first = self._index.shapes, self._index.first
        self.n_parts = self._index.n_parts
        length = self.shapes[structure.label_block][0] if self._index.n_labels else None
        self._sequences = sequences_of(structure, self._index.alphabet, length)
        self._entries = list(map(self._entry, constraints))
        self._forbidden = np.zeros(self.n_parts, dtype=bool)
        for entry in self._entries:
            if entry.masked is not None:
                self._forbidden[entry.masked] = True
        unmasked = [e for e in self._entries if e.masked is None]
        self.automata = [named.automaton for e in unmasked for named in e.automata or ()]
        if any(e.automata is None for e in unmasked):
            self.automata = []
        self._tight = self._matrix([row for e in self._entries for row in e.rows])
        self.report = self._reported(unmasked)

    def _reported(self, unmasked: list[_Entry]) -> ConstraintReport:
        report = ConstraintReport(
            [(e.constraint, len(e.masked)) for e in self._entries if e.masked is not None]
        )
        for e in unmasked:
            if self.automata:
                report.automata.append((e.constraint, [a.n_states for _, a in e.automata or ()]))
            else:
                flows = sum(self._flow(named.automaton, self.shapes).n_rows for named in e.flows)
                report.rows.append((e.constraint, len(e.rows) + flows))
        return report

    # -- from constraints to masks, automata and rows ---------------------------------------------

    def _entry(self, constraint: Constraint) -> _Entry:
        masked = self._mask_of(constraint)
        if masked is not None:
            none = _Row(masked, np.ones(len(masked)), 0, 0, str(constraint))
            return _Entry(constraint, masked, None, self._rows_of(constraint) or [none], [])
        rows, automata = self._rows_of(constraint), self._automata_of(constraint)
        if automata == []:  # an empty constraint: O is the only label
            return _Entry(constraint, _NOTHING, None, [], [])
        if rows is None and automata is None:
            raise ValueError(
                f"{self.structure!r} cannot obey {constraint!r}: it is about labels in a row, "
                "which only chains and segmentations have"
            )
        flows = automata or [] if rows is None else []
        return _Entry(constraint, None, automata, rows or [], flows)

    def _mask_of(self, constraint: Constraint) -> Integers | None:
        """Return the parts that a constraint forbids; None if it does more than forbid parts."""
        if isinstance(constraint, NotAdjacent):
            return self._forbidden_pairs(constraint)
        if isinstance(constraint, IfThen):
            return self._contradicting(constraint)
        if not isinstance(constraint, Count):
            return None
        if constraint.forbids:
            return self._index.select(constraint.parts)
        if constraint.place is None:
            return None
        allowed = self._index.select(constraint.parts)
        return np.setdiff1d(self._index.at(constraint.place), allowed)

    def _forbidden_pairs(self, constraint: NotAdjacent) -> Integers | None:
        """Return the forbidden pairs of neighbours; None if pairs have no scores."""
        if self._sequences is None:
            return None
        pairs = constraint.pairs(self._sequences.alphabet)
        for name, labels in self._sequences.windows.items():
            if labels == 2 and name in self.shapes:
                numbers = np.arange(math.prod(self.shapes[name])).reshape(self.shapes[name])
                parts = [np.ravel(numbers[..., a, b]) for a, b in pairs]
                return self._first[name] + np.sort(np.concatenate([_NOTHING, *parts]))
        return None

    def _contradicting(self, constraint: IfThen) -> Integers | None:
        """Return the parts that contradict an if-then; None if it cannot be a mask.

        It can if the consequence is about a single place, and each label of the condition is at
        that place too, or at one whose label is scored together with it.
        """
        index = self._index
        wanted: dict[Any, set[int]] = {}
        for selection in constraint.consequence:
            if not isinstance(selection, Label) or selection.at is None:
                return None
            for place in selection.places:
                wanted.setdefault(index.place(place), set()).update(index.numbers(selection.label))
        if len(wanted) != 1:
            return None
        ((there, labels),) = wanted.items()
        excluded = set(range(index.n_labels)) - labels
        parts = [_NOTHING]
        for selection in constraint.condition:
            if not isinstance(selection, Label) or selection.at is None:
                return None
            for k in index.numbers(selection.label):
                for place in map(index.place, selection.places):
                    if place == there:
                        contradicting = index.at(place, k) if k not in labels else _NOTHING
                    else:
                        pairs = index.pairs(place, k, there, excluded)
                        if pairs is None:
                            return None
                        contradicting = pairs
                    parts.append(contradicting)
        return np.unique(np.concatenate(parts))

    def _automata_of(self, constraint: Constraint) -> list[NamedAutomaton] | None:
        """Return equivalent automata; None if there are none, or none with few states.

        Raise TooManyStates if the constraint has no other form.
        """
        sequences = self._sequences
        if sequences is None:
            return None
        key = (constraint, len(sequences.alphabet))
        if key not in self._known:
            simple = constraint.simple(sequences.alphabet)
            try:
                automata = [NamedAutomaton(part, part.automaton(sequences)) for part in simple]
            except NoEvents:
                return None
            except TooManyStates:
                if self._rows_of(constraint) is None:
                    raise
                return None
            if any(named.automaton.length is not None for named in automata):
                return automata
            self._known[key] = automata
        return self._known[key]

    def _rows_of(self, constraint: Constraint) -> list[_Row] | None:
        """Return equivalent linear rows over the parts; None if there are none."""
        chunks = any(isinstance(s, Chunk) for s in constraint.selections())
        if chunks or not isinstance(constraint, (Count, IfThen, EachAtMostOnce)):
            return None
        if isinstance(constraint, IfThen):
            return self._implication(constraint)
        counts: list[Any] = [constraint]
        if isinstance(constraint, EachAtMostOnce):
            counts = constraint.simple(self._index.alphabet)
        rows = []
        for count in counts:
            parts = self._index.select(count.parts)
            rows.append(_Row(parts, np.ones(len(parts)), count.lower, count.upper, str(count)))
        return rows

    def _implication(self, constraint: IfThen) -> list[_Row]:
        before = self._index.select(constraint.condition)
        after = self._index.select(constraint.consequence)
        signs = np.append(np.ones(len(after)), -1.0)
        return [
            _Row(np.append(after, part), signs, 0, math.inf, str(constraint))
            for part in np.setdiff1d(before, after)  # the others bring their own consequence
        ]

    # -- use ------------------------------------------------------------------------------------

    @property
    def masks_alone(self) -> bool:
        """Whether masks express all of the constraints."""
        return not (self.report.rows or self.report.automata)

    @property
    def labels(self) -> tuple[Any, ...]:
        """The labels, as constraints name them."""
        return self._index.alphabet.labels

    @property
    def every_automaton(self) -> list[NamedAutomaton]:
        """The automata of all constraints that have one, used or not."""
        return [automaton for e in self._entries for automaton in e.automata or ()]

    def mask(self, theta: Parts) -> dict[str, Any]:
        """Return the scores with −∞ for forbidden parts, one copy per position if needed."""
        if not self._forbidden.any():
            return theta
        masked: dict[str, Any] = {}
        for name, table in theta.items():
            shape = self.shapes[name]
            at = self._first[name]
            mask = self._forbidden[at : at + math.prod(shape)].reshape(shape)
            if not mask.any():
                masked[name] = table
                continue
            if table.shape != shape:
                # One row per position, for any number of axes.
                every = mask.reshape(-1, *table.shape)
                if (every.any(axis=0) == every.all(axis=0)).all():
                    mask = every[0]
                else:
                    table = np.broadcast_to(table, shape)
            masked[name] = np.where(mask, -np.inf, table)
        return masked

    def broken(self, y: Any, counts: Parts) -> str | None:
        """Return the name of a constraint that an output breaks; None if it obeys all.

        Parameters
        ----------
        counts : dict of arrays
            Its parts, by position.
        """
        matrix, lower, upper = self._tight
        sums = matrix @ flatten({name: counts[name] for name in self.shapes})
        wrong = np.flatnonzero((sums < lower - 1e-9) | (sums > upper + 1e-9))
        if len(wrong):
            return [row.name for e in self._entries for row in e.rows][int(wrong[0])]
        for e in self._entries:
            for constraint, automaton in e.flows:
                if not automaton.accepts(symbols_of(self.structure, y)):
                    return str(constraint)
        return None

    def program(self, theta: Parts, topology: Mapping[str, Any], every: bool = False) -> Any:
        """Return the structure's program with the constraints that are not masks (or all)."""
        program = self.structure.as_program(**theta, **topology)
        entries = [e for e in self._entries if every or e.masked is None]
        rows = [row for e in entries for row in e.rows]
        if rows:
            matrix, lower, upper = self._matrix(rows)
            names = [row.name for row in rows]
            program = program.with_rows(self._columns_of(program, matrix), lower, upper, names)
        import scipy.sparse

        for constraint, automaton in (flow for e in entries for flow in e.flows):
            first = program.rows.n_columns
            flow = self._flow(automaton, program.shapes, first)
            shape = (flow.n_rows, first + flow.n_helpers)
            matrix = scipy.sparse.coo_array((flow.value, (flow.row, flow.column)), shape)
            names = [str(constraint)] * flow.n_rows
            program = program.with_rows(matrix, 0.0, 0.0, names, n_helpers=flow.n_helpers)
        return program

    def _flow(
        self, automaton: Automaton, shapes: Mapping[str, tuple[int, ...]], first: int = 0
    ) -> FlowRows:
        """Return an automaton's rows for a program with parts of these shapes."""
        block = self.structure.label_block
        names = list(shapes)
        at = sum(math.prod(shapes[name]) for name in names[: names.index(block)])
        columns = at + np.arange(math.prod(shapes[block]), dtype=np.int64).reshape(shapes[block])
        if columns.ndim == 2:  # of a chain
            columns = columns[:, np.newaxis]
        return flow_rows(automaton, columns, first)

    def _matrix(self, rows: Sequence[_Row]) -> tuple[Any, Any, Any]:
        sizes = [len(row.parts) for row in rows]
        place = np.repeat(np.arange(len(rows)), sizes)
        columns = np.concatenate([_NOTHING, *(row.parts for row in rows)])
        signs = np.concatenate([np.empty(0), *(row.signs for row in rows)])
        import scipy.sparse

        matrix = scipy.sparse.csr_array((signs, (place, columns)), (len(rows), self.n_parts))
        return matrix, np.array([r.lower for r in rows]), np.array([r.upper for r in rows])

    def _columns_of(self, program: Any, matrix: Any) -> Any:
        """Return the rows over the program's own parts, which may include other blocks."""
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
