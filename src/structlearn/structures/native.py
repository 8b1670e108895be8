"""Structures whose queries run in the core: conversion of arguments, batches, threads."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..array_types import Array, Integers
from ..threads import n_threads
from .base import Structure
from .batches import named_example, read_batch, takes_batches
from .checks import check_count, check_temperature, seed_of
from .entropies import TOLERANCE, entropy_by_difference
from .parts import Parts
from .score_arrays import as_scores, rank_of
from .solution import Solution

if TYPE_CHECKING:
    from .programs.program import Program


class NativeStructure(Structure):
    """Base of structures with a counterpart in the core.

    A subclass sets ``_core`` and defines ``encode``, ``decode``, ``outputs``, ``count``,
    ``_positions`` and, if the core's row of integers is not the output itself, ``_read``,
    ``_read_samples``, ``_rows`` and ``_stack``.
    """

    _core: Any
    runs_on_threads = True

    #: Rank of the label block of one example.
    _label_rank: int

    @property
    def native(self) -> Any:
        """The core's counterpart of this structure."""
        return self._core

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in vars(self).items() if k != "_core"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    # -- for subclasses to define ---------------------------------------------------------------

    def _read(self, flat: Integers, ptr: Integers) -> list[Any]:
        """Turn the core's rows of integers, ``flat[ptr[i]:ptr[i + 1]]`` each, into outputs."""
        return [flat[a:b] for a, b in itertools.pairwise(ptr.tolist())]

    def _rows(self, outputs: Sequence[Any], labels: Integers, ptr: Integers) -> Integers:
        """Return the core's rows of outputs, concatenated; default: their labels.

        Example i owns ``labels[ptr[i]:ptr[i + 1]]``, empty if labels are unknown.
        """
        return labels

    def _gold_rows(
        self, outputs: Sequence[Any], labels: Integers, ptr: Integers
    ) -> tuple[Integers, Integers]:
        """Return the core's rows and the start of each; default: as long as the labels."""
        return self._rows(outputs, labels, ptr), ptr

    def _read_outcomes(
        self,
        flat: Integers,
        ptr: Integers,
        outcomes: tuple[int, ...],
    ) -> list[Any]:
        """Turn rows into outputs, for a label block with these outcomes per site."""
        return self._read(flat, ptr)

    def _stack(self, outputs: list[Any]) -> Any:
        """Return outputs of one example in the form of the result of :meth:`sample`."""
        return np.array(outputs)

    def _positions(self, name: str, theta: Mapping[str, Any]) -> tuple[int, ...]:
        """Return the shape of a block's marginals, position by position."""
        raise AssertionError

    # -- the queries ----------------------------------------------------------------------------

    @takes_batches
    def argmax(self, *, n_jobs: int | None = None, **scores: Any) -> Any:
        """Return the best output; a list of them for a batch. Ties go to the first label."""
        try:  # fast path: arrays that need no conversion
            if self.label_block in scores:
                return self._core.argmax(scores)
        except TypeError:
            pass
        batch, theta, n = self._convert(scores)
        return self._argmax_batch(theta, n, n_jobs)[0] if batch else self._core.argmax(theta)

    def _argmax_batch(
        self, theta: Mapping[str, Any], n: int, n_jobs: int | None
    ) -> tuple[list[Any], Array]:
        flat, ptr, values = self._core.argmax_batch(theta, n, n_threads(n_jobs))
        return self._read(flat, ptr), values

    @takes_batches
    def solve(self, *, n_jobs: int | None = None, **scores: Any) -> Any:
        """Return the best output with its value and a certificate: a :class:`Solution`."""
        batch, theta, n = self._convert(scores)
        if batch:
            outputs, values = self._argmax_batch(theta, n, n_jobs)
            return [
                Solution(y, float(v), True, float(v), self.method)
                for y, v in zip(outputs, values, strict=True)
            ]
        y, value = self._core.solve(theta)
        return Solution(y, value, True, value, self.method)

    @takes_batches
    def infer(self, *, temperature: float = 1.0, n_jobs: int | None = None, **scores: Any) -> Any:
        """Return (ε log Σ exp(score/ε), its gradient by block); ε = 0: (max, parts of argmax).

        A shared block's gradient is summed over its positions. A batch gives a list of pairs.
        """
        return self._infer(temperature, n_jobs, scores, by_position=False, parts=True)

    @takes_batches
    def log_partition(
        self, *, temperature: float = 1.0, n_jobs: int | None = None, **scores: Any
    ) -> Any:
        """Return ε log Σ_y exp(score(y)/ε); the maximum if ε = 0."""
        results = self._infer(temperature, n_jobs, scores, by_position=False, parts=False)
        return [v for v, _ in results] if isinstance(results, list) else results[0]

    @takes_batches
    def marginals(
        self, *, temperature: float = 1.0, n_jobs: int | None = None, **scores: Any
    ) -> Any:
        """Return the probability of each part, one array per block, position by position."""
        results = self._infer(temperature, n_jobs, scores, by_position=True, parts=True)
        return [p for _, p in results] if isinstance(results, list) else results[1]

    @takes_batches
    def kbest(self, n: int, *, n_jobs: int | None = None, **scores: Any) -> Any:
        """Return up to n legal outputs as (score, output), best first, no repeats.

        A batch gives a list of such lists, computed by ``n_jobs`` threads.
        """
        check_count(n)
        batch, theta, size = self._convert(scores)
        if batch:
            return self._core.kbest_batch(theta, size, min(int(n), 2**31), n_threads(n_jobs))
        outputs: list[tuple[float, Any]] = self._core.kbest(theta, min(int(n), 2**31))
        return outputs

    def sample(
        self, n: int, *, temperature: float = 1.0, random_state: Any = None, **scores: Any
    ) -> Any:
        """Draw n outputs from P(y) ∝ exp(score(y)/ε), one per row; a list of arrays for a batch.

        The same ``random_state`` gives the same outputs. At ε = 0 all are the argmax.
        """
        _, theta, _ = self._convert(scores)
        if temperature == 0:
            return self._stack([self.argmax(**theta)] * int(n))
        flat = self._core.sample(theta, int(n), float(temperature), seed_of(random_state))
        return self._read_samples(flat.reshape(int(n), -1))

    @takes_batches
    def entropy(self, *, temperature: float = 1.0, n_jobs: int | None = None, **scores: Any) -> Any:
        """Return the entropy of P(y) ∝ exp(score(y)/ε) in nats; 0 if ε = 0.

        A batch gives a list of them, computed by ``n_jobs`` threads.
        """
        check_temperature(temperature)
        batch, theta, n = self._convert(scores)
        if temperature == 0 or not self._has_core_sums or n == 0:
            return super().entropy(temperature=temperature, n_jobs=n_jobs, **theta)
        examples = _examples_of(theta, n) if batch else [theta]
        try:
            values, errors = self._core.entropy_batch(
                theta if batch else {name: [a] for name, a in theta.items()},
                n,
                float(temperature),
                n_threads(n_jobs),
            )
        except ValueError:
            if not batch:  # the error without the number of an example
                self.log_partition(temperature=temperature, **theta)
            raise
        entropies = values.tolist()
        # Large scores cost precision that a sum over choices keeps.
        for i in np.flatnonzero(errors > TOLERANCE * values).tolist():
            closer = super().entropy(temperature=temperature, **examples[i])
            entropies[i] = min(max(closer, entropies[i] - errors[i]), entropies[i] + errors[i])
        return entropies if batch else entropies[0]

    @property
    def _has_core_sums(self) -> bool:
        """Whether sums are those of the core, not a subclass's own."""
        return type(self).infer is NativeStructure.infer

    def _entropy(
        self, theta: dict[str, Any], topology: Mapping[str, Any], temperature: float
    ) -> float:
        if self._has_core_sums:
            return self._local_entropy(theta, topology, temperature)
        # A subclass with its own sums.
        return entropy_by_difference(self, theta, topology, temperature)[0]

    def _local_entropy(
        self, theta: dict[str, Any], topology: Mapping[str, Any], temperature: float
    ) -> float:
        """Return the entropy as a sum over choices, if the marginals determine it."""
        return super()._entropy(theta, topology, temperature)

    def _read_samples(self, rows: Integers) -> Any:
        return rows

    def as_program(self, **scores: Any) -> Program:
        """Return the integer program whose solutions are the outputs (eq. 17.33-34)."""
        return super().as_program(**self._one(scores))

    # -- helpers --------------------------------------------------------------------------------

    def _infer(
        self,
        temperature: float,
        n_jobs: int | None,
        scores: Mapping[str, Any],
        *,
        by_position: bool,
        parts: bool,
    ) -> Any:
        check_temperature(temperature)
        batch, theta, n = self._convert(scores)
        if temperature == 0:
            if batch:
                outputs, values = self._argmax_batch(theta, n, n_jobs)
                examples = _examples_of(theta, n)
            else:
                solution = self.solve(**theta)
                outputs, values = [solution.output], np.array([solution.value])
                examples = [theta]
            results = [
                (float(v), self._encode(y, example, by_position) if parts else {})
                for y, v, example in zip(outputs, values, examples, strict=True)
            ]
            return results if batch else results[0]
        if not batch:
            if by_position:
                self._core.check(theta)
            outs = self._allocate(theta, by_position) if parts else {}
            value = self._core.infer(theta, outs, float(temperature), by_position)
            return value, outs
        if n == 0:
            return []
        if by_position:
            self._core.check_batch(theta, n)
        each = [self._allocate(e, by_position) if parts else {} for e in _examples_of(theta, n)]
        columns = {name: [outs[name] for outs in each] for name in each[0]}
        values = self._core.infer_batch(
            theta, columns, n, float(temperature), by_position, n_threads(n_jobs)
        )
        return list(zip(values.tolist(), each, strict=True))

    def _allocate(self, theta: Mapping[str, Any], by_position: bool) -> Parts:
        blocks = [name for name in theta if name not in self.topology]
        if not by_position:
            return {name: np.empty(theta[name].shape) for name in blocks}
        return {name: np.empty(self._positions(name, theta)) for name in blocks}

    def _encode(self, y: Any, theta: Mapping[str, Any], by_position: bool) -> Parts:
        raise AssertionError

    def encode(self, y: Any, **scores: Any) -> Any:
        """Return μ(y): the counts of the output's parts, one array per block."""
        return self._encode(y, self._one(scores), by_position=False)

    def position_shapes(self, theta: Parts) -> dict[str, tuple[int, ...]]:
        """Return the shapes of :meth:`encode_by_position` for scores of these shapes."""
        return {name: self._positions(name, theta) for name in theta if name not in self.topology}

    def encode_by_position(self, y: Any, **scores: Any) -> Parts:
        """Return μ(y) with one copy of shared blocks per position."""
        return self._encode(y, self._one(scores), by_position=True)

    def _one(self, scores: Mapping[str, Any]) -> dict[str, Any]:
        """Return the checked scores of one example."""
        batch, theta, _ = self._convert(scores)
        if batch:
            raise ValueError("one example is expected here, not a batch")
        self._core.check(theta)
        return theta

    def _scores(self, scores: Mapping[str, Any]) -> Parts:
        """Return the scores as arrays of the right shapes."""
        theta = super()._scores(scores)
        shape = self._topology(scores)
        topology = {name: self._as_topology(name, a) for name, a in shape.items() if a is not None}
        self._core.check({**theta, **topology})
        return theta

    def _convert(self, scores: Mapping[str, Any]) -> tuple[bool, dict[str, Any], int]:
        """Return whether it is a batch, float64 arrays (or lists), and the number of examples."""
        args = {name: value for name, value in scores.items() if value is not None}
        if self.label_block not in args:
            block = self.label_block
            raise ValueError(f"{type(self).__name__} needs {block} scores: {block}=...")
        batch = read_batch(self, args)
        if batch is None:
            return False, {name: self._as_argument(name, value) for name, value in args.items()}, 1
        theta: dict[str, Any] = {}
        for name, value in args.items():
            read = self._column if name in batch.listed else self._as_argument
            theta[name] = read(name, value)
        return True, theta, batch.size

    def _as_argument(self, name: str, value: Any) -> npt.NDArray[Any]:
        """Return an example's scores or topology in the form that the core reads."""
        return self._as_topology(name, value) if name in self.topology else as_scores(name, value)

    def _column(self, name: str, values: Sequence[Any]) -> list[npt.NDArray[Any]]:
        """Return one argument of all examples of a batch."""
        column = []
        for i, value in enumerate(values):
            try:
                column.append(self._as_argument(name, value))
            except ValueError as error:
                raise named_example(error, i) from None
        return column

    # -- the topology of examples ---------- --------------------------------------------------

    #: Rank of the topology of one example.
    _topology_rank = 1

    def _as_topology(self, name: str, value: Any) -> Integers:
        """Return an example's topology in the form that the core reads: integers."""
        try:
            array = np.asarray(value)
        except ValueError as error:
            raise ValueError(f"{name} is not an array of whole numbers: {error}") from None
        if array.size == 0:
            array = np.zeros(array.shape, dtype=np.int64)
        if not np.issubdtype(array.dtype, np.integer):
            raise ValueError(f"{name} must be whole numbers, got {array.dtype}")
        if array.ndim != self._topology_rank:
            raise ValueError(f"{name} has shape {array.shape}, expected {self._topology_rank} axes")
        return np.ascontiguousarray(array, dtype=np.int64)

    def _is_listed(self, name: str, value: Any) -> bool:
        if name not in self.topology or not isinstance(value, (list, tuple)):
            return super()._is_listed(name, value)
        return len(value) == 0 or rank_of(value[0]) == self._topology_rank

    def topology_rows(
        self, examples: Sequence[Mapping[str, Any]]
    ) -> tuple[Integers, Integers] | None:
        """Return (ptr, values): the topologies of the examples, concatenated.

        None if no example has one: then the structure's own applies.
        """
        if not self.topology or not any(examples):
            return None
        (name,) = self.topology
        rows = []
        for i, example in enumerate(examples):
            if name not in example:
                raise ValueError(f"example {i} has no {name}, others have")
            try:
                rows.append(self._as_topology(name, example[name]).ravel())
            except ValueError as error:
                raise ValueError(f"example {i}: {error}") from None
        ptr = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum([len(row) for row in rows], out=ptr[1:])
        return ptr, np.concatenate(rows)


def _examples_of(theta: Mapping[str, Any], n: int) -> list[dict[str, Any]]:
    """Return the examples of a converted batch."""
    return [
        {name: v[i] if isinstance(v, list) else v for name, v in theta.items()} for i in range(n)
    ]
