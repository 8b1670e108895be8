"""Chains and segmentations whose outputs must be accepted by automata."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ... import _core
from ...array_types import Integers
from ...exceptions import CapabilityError
from ...threads import n_threads
from ..batches import holds_interpreter, takes_batches
from ..checks import check_count, check_temperature
from ..native import NativeStructure
from ..parts import Parts
from ..programs.rows import RowBuilder
from ..solution import Solution
from .automata import AutomatonLike, accepts, automata_row, checked, joint_steps, read_row
from .chain import Chain
from .segments import Segment, read_segments
from .semimarkov import SemiMarkov

MAX_STATES = 16384
TOLERANCE = 1e-9


class CertifiedSum(NamedTuple):
    """A sum over the accepted outputs, with an error bound.

    Attributes
    ----------
    value : float
        ε log Σ exp(score/ε), over the outputs that the automata of the product accept.
    bound : float
        The largest share of the sum that outputs rejected by other automata may have: the sum over
        the outputs accepted by all lies between ``value + ε log(1 − bound)`` and ``value``. 0 if it
        is exact.
    states : int
        The number of states of the product.
    automata : int
        The number of automata in it.
    """

    value: float
    bound: float
    states: int
    automata: int


class _Accepted(NativeStructure):
    """Common parts of chains and segmentations under automata."""

    method = "automaton"
    topology = ("automata",)
    automata: tuple[Any, ...]
    max_states: int
    tolerance: float

    def _set(self, automata: Iterable[AutomatonLike], max_states: int, tolerance: float) -> None:
        check_count(max_states, "max_states")
        if not 0 <= tolerance < 1:
            raise ValueError(f"tolerance must be at least 0 and below 1, got {tolerance!r}")
        self.automata = checked(automata)
        self.max_states = int(max_states)
        self.tolerance = float(tolerance)

    def __repr__(self) -> str:
        own = {k: v for k, v in vars(self).items() if k in ("order", "max_length")}
        options = ", ".join(f"{k}={v!r}" for k, v in own.items())
        return f"{type(self).__name__}({len(self.automata)} automata, {options})"

    # -- outputs --------------------------------------------------------------------------------

    def _symbols(self, y: Any) -> Iterable[tuple[int, int]]:
        """Return the labels that automata read, each with its position."""
        raise AssertionError

    def _of_example(self, scores: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the automata of the structure and those of the example."""
        extra = scores.get("automata")
        if extra is None:
            return self.automata
        return (*self.automata, *read_row(self._as_topology("automata", extra)))

    def accepts(self, y: Any, **scores: Any) -> bool:
        """Tell whether all automata accept an output; ``automata`` is read from the scores."""
        symbols = [(int(i), int(k)) for i, k in self._symbols(y)]
        return all(accepts(automaton, symbols) for automaton in self._of_example(scores))

    def encode(self, y: Any, **scores: Any) -> Any:
        """Return μ(y); raise ``ValueError`` if an automaton rejects y; a list for a batch."""
        counts = super().encode(y, **scores)
        if not self.accepts(y, **scores):
            raise ValueError("an automaton rejects the output")
        return counts

    def score(self, y: Any, **scores: Any) -> Any:
        """Return the score of y, −∞ if an automaton rejects it; a list for a batch."""
        free = {name: a for name, a in scores.items() if name != "automata"}
        value: float = super().score(y, **free)
        return value if self.accepts(y, **scores) else -np.inf

    def outputs(self, **scores: Any) -> Iterator[Any]:
        """Iterate over the outputs that all automata accept."""
        for y in super().outputs(**scores):
            if self.accepts(y, **scores):
                yield y

    def _encode(self, y: Any, theta: Mapping[str, Any], by_position: bool) -> Parts:
        free = {name: a for name, a in theta.items() if name != "automata"}
        return super()._encode(y, free, by_position)

    # -- queries --------------------------------------------------------------------------------

    @takes_batches
    def solve(self, *, n_jobs: int | None = None, **scores: Any) -> Any:
        """Return the best output with its value and the number of states that proved it."""
        batch, theta, n = self._convert(scores)
        if batch:
            flat, ptr, values, states = _core.constrained_search_batch(
                self._core, theta, n, n_threads(n_jobs)
            )
            rows = zip(self._read(flat, ptr), values.tolist(), states.tolist(), strict=True)
            return [Solution(y, v, True, v, self.method, s) for y, v, s in rows]
        y, value, states = _core.constrained_search(self._core, theta)
        return Solution(y, value, True, value, self.method, states)

    def certified_sum(
        self, *, temperature: float = 1.0, n_jobs: int | None = None, **scores: Any
    ) -> Any:
        """Return ε log Σ exp(score/ε), ε > 0, with an error bound: a :class:`CertifiedSum`.

        :meth:`infer`, :meth:`log_partition` and :meth:`marginals` use the same sum. A list for a
        batch.
        """
        check_temperature(temperature)
        if temperature == 0:
            raise ValueError("temperature must be > 0 here; solve proves the maximum")
        batch, theta, n = self._convert(scores)
        rows = _core.constrained_sum_batch(
            self._core,
            theta if batch else {name: [a] for name, a in theta.items()},
            n,
            float(temperature),
            n_threads(n_jobs),
        )
        sums = [CertifiedSum(*row) for row in rows]
        return sums if batch else sums[0]

    def _local_entropy(
        self, theta: dict[str, Any], topology: Mapping[str, Any], temperature: float
    ) -> float:
        scores = {**self._centred(theta, topology), **self._as_topologies(topology)}
        entropy: float = _core.constrained_entropy(self._core, scores, temperature)
        return entropy

    def _centred(self, theta: dict[str, Any], topology: Mapping[str, Any]) -> dict[str, Any]:
        raise AssertionError

    def program_rows(self, theta: Parts, **topology: Any) -> RowBuilder:
        """Refuse: ``with_constraints`` makes the rows of constraints."""
        raise CapabilityError(
            f"{type(self).__name__} has no program. What works: as_program of "
            "structlearn.constraints.with_constraints(...)"
        )

    # -- counting -------------------------------------------------------------------------------

    @holds_interpreter
    def count(self, *, n_jobs: int | None = None, **scores: Any) -> Any:
        """Return the number of accepted outputs with a finite score, as an exact integer."""
        theta = self._one(scores)
        automata = self._of_example(theta)
        free = {name: a for name, a in theta.items() if name != "automata"}
        with np.errstate(over="ignore", invalid="ignore"):
            approximate = self._count_accepted(free, automata, np.float64)
        if approximate < 2**53:  # floating point is exact up to here
            return int(approximate)
        return int(self._count_accepted(free, automata, object))

    def _count_accepted(self, theta: Parts, automata: Sequence[Any], dtype: Any) -> Any:
        raise AssertionError

    def _check_states(self, ways: Mapping[tuple[int, ...], Any]) -> None:
        if len(ways) > self.max_states:
            raise CapabilityError(
                f"counting takes a product of more than max_states={self.max_states} states. What "
                "works: a larger max_states; kbest for the best outputs"
            )

    # -- automata of examples ------------------------------------------------------------------

    def _as_topology(self, name: str, value: Any) -> Integers:
        if isinstance(value, np.ndarray):
            return super()._as_topology(name, value)
        return automata_row(checked(value))

    def _as_topologies(self, topology: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self._as_topology(name, a) for name, a in topology.items() if a is not None}

    def _is_listed(self, name: str, value: Any) -> bool:
        if name != "automata":
            return super()._is_listed(name, value)
        # An automaton may be a tuple itself.
        many = isinstance(value, (list, tuple)) and not hasattr(value, "accepting")
        return many and len(value) > 0 and not hasattr(value[0], "accepting")


class ConstrainedChain(_Accepted, Chain):
    """A chain whose label sequences must be accepted by automata: their product is again a chain.

    Blocks, parts and queries are those of :class:`Chain`: argmax, sums, marginals, k-best lists and
    samples are over the accepted sequences, and exact. Time O(L · S · K^(order+1)) for S states of
    the product of the automata.

    For best outputs the product contains only the automata that reject an answer of the search
    without them. Sums use the whole product if it has at most ``max_states`` states; otherwise the
    automata that reject less than ``tolerance`` of the sum are left out, and :meth:`certified_sum`
    reports the bound.

    Parameters
    ----------
    automata : sequence
        Deterministic automata over the labels 0..K−1: objects with ``next``, int32 (S, K) or (L, S,
        K), −1 if there is no next state, ``start`` and ``accepting`` (S,). An example may have more
        of them, as ``automata=`` beside its scores.
    order : int, default=1
        The order of the chain.
    max_states : int, default=16384
        The largest product. If a query needs more, :class:`CapabilityError` reports how many states
        it would take.
    tolerance : float, default=1e-9
        For sums: the share of them that may be missing.

    Examples
    --------
    At most one of label 1:

    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> once = SimpleNamespace(next=[[0, 1], [1, -1]], start=0, accepting=[True, True])
    >>> chain = ConstrainedChain([once])
    >>> label = np.array([[0., 2.], [0., 3.], [0., 1.]])
    >>> chain.argmax(label=label)
    array([0, 1, 0])
    >>> chain.count(label=label)
    4
    >>> best = chain.solve(label=label)
    >>> best.value, best.exact, best.method, best.states
    (3.0, True, 'automaton', 2)
    """

    def __init__(
        self,
        automata: Iterable[AutomatonLike],
        order: int = 1,
        *,
        max_states: int = MAX_STATES,
        tolerance: float = TOLERANCE,
    ) -> None:
        Chain.__init__(self, order)
        self._set(automata, max_states, tolerance)
        self._core = _core.constrained_chain(
            self.order, list(self.automata), self.max_states, self.tolerance
        )

    def free(self) -> Chain:
        """Return the chain without its automata."""
        return Chain(self.order)

    def certified_to(self, tolerance: float) -> ConstrainedChain:
        """Return the same chain with its sums certified to another tolerance."""
        return ConstrainedChain(
            self.automata, self.order, max_states=self.max_states, tolerance=tolerance
        )

    def _symbols(self, y: Any) -> Iterable[tuple[int, int]]:
        return enumerate(np.asarray(y).tolist())

    def _centred(self, theta: dict[str, Any], topology: Mapping[str, Any]) -> dict[str, Any]:
        return self._centred_choices(theta)

    def beam(self, width: int, *, n_jobs: int | None = None, **scores: Any) -> Any:
        """Refuse: a beam might drop every prefix that can still be accepted."""
        raise CapabilityError(
            "ConstrainedChain has no beam search: every prefix in a beam might be one that no "
            "automaton accepts. What works: argmax, solve and kbest, which are exact"
        )

    def _count_accepted(self, theta: Parts, automata: Sequence[Any], dtype: Any) -> Any:
        n_labels = theta["label"].shape[1]
        steps = self._legal_steps(theta, dtype)
        ways = {tuple(a.start for a in automata): np.ones((), dtype=dtype)}
        for t, (legal, memory) in enumerate(steps):
            after: dict[tuple[int, ...], Any] = {}
            for state, before in ways.items():
                longer = before[..., np.newaxis] * legal
                if longer.ndim > memory:
                    longer = longer.sum(axis=0)
                for target, labels in joint_steps(automata, state, t, n_labels):
                    counts = after.setdefault(target, np.zeros(longer.shape, dtype=dtype))
                    counts[..., labels] += longer[..., labels]
            ways = after
            self._check_states(ways)
        return _accepted_ways(automata, ways)


class ConstrainedSemiMarkov(_Accepted, SemiMarkov):
    """A segmentation whose labels must be accepted by automata, one symbol for each segment.

    Everything else is as for :class:`ConstrainedChain`, with the blocks of :class:`SemiMarkov`.
    Automata that vary with the position read a label at the first position of its segment. Two
    neighbouring segments with the same label are two symbols. Time O(L · S · K · (max_length + K)).

    Parameters
    ----------
    automata : sequence
        See :class:`ConstrainedChain`.
    max_length : int
        The longest segment.
    max_states, tolerance
        See :class:`ConstrainedChain`.

    Examples
    --------
    Exactly two segments:

    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> two = SimpleNamespace(next=[[1], [2], [-1]], start=0, accepting=[False, False, True])
    >>> ConstrainedSemiMarkov([two], 3).argmax(segment=np.array([[[0.], [2.], [9.]]] * 3))
    [(0, 2, 0), (2, 3, 0)]
    """

    def __init__(
        self,
        automata: Iterable[AutomatonLike],
        max_length: int,
        *,
        max_states: int = MAX_STATES,
        tolerance: float = TOLERANCE,
    ) -> None:
        SemiMarkov.__init__(self, max_length)
        self._set(automata, max_states, tolerance)
        self._core = _core.constrained_semimarkov(
            self.max_length, list(self.automata), self.max_states, self.tolerance
        )

    def free(self) -> SemiMarkov:
        """Return the segmentations without their automata."""
        return SemiMarkov(self.max_length)

    def certified_to(self, tolerance: float) -> ConstrainedSemiMarkov:
        """Return the same segmentations with their sums certified to another tolerance."""
        return ConstrainedSemiMarkov(
            self.automata, self.max_length, max_states=self.max_states, tolerance=tolerance
        )

    def _symbols(self, y: Sequence[Segment]) -> Iterable[tuple[int, int]]:
        return ((start, k) for start, _, k in read_segments(y))

    def _centred(self, theta: dict[str, Any], topology: Mapping[str, Any]) -> dict[str, Any]:
        return self._centred_segments(theta, topology)

    def _count_accepted(self, theta: Parts, automata: Sequence[Any], dtype: Any) -> Any:
        length, _, n_labels = theta["segment"].shape
        legal = {name: np.isfinite(a).astype(dtype) for name, a in theta.items()}
        every = np.ones(n_labels, dtype=dtype)
        pairs = legal.get("transition", np.ones((n_labels, n_labels), dtype=dtype))
        start = tuple(a.start for a in automata)
        ended: list[dict[tuple[int, ...], Any]] = [{} for _ in range(length + 1)]
        for i in range(length):
            table = pairs if pairs.ndim == 2 or i == 0 else pairs[i - 1]
            before = {start: legal.get("start", every)} if i == 0 else ended[i]
            for state, ways in before.items():
                arrived = ways if i == 0 else ways @ table
                for target, labels in joint_steps(automata, state, i, n_labels):
                    allowed = np.zeros(n_labels, dtype=dtype)
                    allowed[labels] = arrived[labels]
                    for d in range(1, min(self.max_length, length - i) + 1):
                        counts = ended[i + d].setdefault(target, np.zeros(n_labels, dtype=dtype))
                        counts += allowed * legal["segment"][i, d - 1]
            self._check_states(ended[i + 1])
        last = {state: ways * legal.get("end", every) for state, ways in ended[length].items()}
        return _accepted_ways(automata, last)


def _accepted_ways(automata: Sequence[Any], ways: Mapping[tuple[int, ...], Any]) -> Any:
    return sum(
        counts.sum()
        for state, counts in ways.items()
        if all(a.accepting[s] for a, s in zip(automata, state, strict=True))
    )
