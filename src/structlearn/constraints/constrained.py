"""A structure whose outputs obey constraints."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..exceptions import CapabilityError, InfeasibleError
from ..structures.base import Structure
from ..structures.chains.constrained import (
    MAX_STATES,
    CertifiedSum,
    ConstrainedChain,
    ConstrainedSemiMarkov,
)
from ..structures.parts import Parts
from ..structures.solution import Solution
from .accepted import Accepted
from .automata import NamedAutomaton
from .automaton import Automaton
from .compilation import Compilation
from .counting import Constraint, IfThen
from .delegation import Delegating
from .ordering import NotAdjacent
from .readings import free_of, product_of
from .report import ConstraintReport
from .text import read_constraints

if TYPE_CHECKING:
    from ..drawing.picture import Picture

#: The number of input shapes whose compiled constraints and programs are cached.
_MOST_SHAPES, _MOST_PROGRAMS = 256, 32


def with_constraints(
    structure: Structure,
    constraints: Any,
    *,
    classes: Sequence[Any] | None = None,
    time_limit: float | None = None,
) -> Constrained:
    """Return the structure restricted to the outputs that obey the constraints.

    Parameters
    ----------
    structure : Structure
        On chains and segmentations constraints become masks and automata, and every query is exact;
        on other structures masks and rows, which need ``as_program``.
    constraints : list of Constraint, str or Automaton
        See :mod:`structlearn.constraints`; strings as :func:`parse` reads them.
    classes : sequence, optional
        The names of the labels 0, 1, …, if the constraints use them.
    time_limit : float, optional
        Seconds for one output: for the structure's own search, if that takes a limit, and for the
        integer program. When it runs out, the best output so far is returned; ``TimeoutError`` is
        raised if none so far obeys the constraints.

    Examples
    --------
    >>> import numpy as np
    >>> from structlearn.structures import Chain
    >>> from structlearn.constraints import at_most, forbid, Label
    >>> label = np.array([[0., 2.], [0., 3.], [0., 1.]])
    >>> chain = with_constraints(Chain(), [at_most(1, Label(1)), forbid(Label(1, at=-1))])
    >>> chain.argmax(label=label)
    array([0, 1, 0])
    >>> chain.count(label=label)
    3
    >>> print(chain.report(label=label))
    mask       forbid label 1 at -1: 1 parts
    automaton  at most 1 of label 1: 2 states
    """
    parsed = read_constraints(constraints)
    if isinstance(structure, (ConstrainedChain, ConstrainedSemiMarkov)):
        own = (Automaton(a.next, a.start, a.accepting) for a in structure.automata)
        parsed = [*map(Accepted, own), *parsed]
        structure = free_of(structure)
    return Constrained(structure, parsed, classes, time_limit)


class Constrained(Delegating):
    """A structure under constraints; see :func:`with_constraints`.

    With masks alone every query is the structure's own; with automata it is their product's. With
    rows, argmax asks the structure first: if its unconstrained best output obeys the constraints,
    it is the best that does. Otherwise the integer program decides. Sums over outputs
    (log_partition, marginals, sample, count) are then #P-hard in general and raise
    ``CapabilityError``.
    """

    method = "constrained"

    def __init__(
        self,
        structure: Structure,
        constraints: Any,
        classes: Sequence[Any] | None = None,
        time_limit: float | None = None,
    ) -> None:
        if time_limit is not None and not (
            isinstance(time_limit, (int, float, np.number)) and time_limit >= 0
        ):
            raise ValueError(f"time_limit must be a number of seconds >= 0, got {time_limit!r}")
        super().__init__(structure)
        self.constraints = tuple(read_constraints(constraints))
        self.classes = None if classes is None else list(np.asarray(classes).tolist())
        self.time_limit = time_limit
        self._forget()

    def _forget(self) -> None:
        self._compilations: dict[Any, Compilation] = {}
        self._automata: dict[tuple[Constraint, int], list[NamedAutomaton]] = {}
        #: Products by the ids of their automata, which are stored too so that no id is reused.
        self._products: dict[tuple[int, ...], tuple[list[Automaton], Structure]] = {}
        self._programs: dict[Any, Any] = {}

    def __getstate__(self) -> dict[str, Any]:
        remembered = ("_compilations", "_automata", "_products", "_programs")
        return {k: v for k, v in super().__getstate__().items() if k not in remembered}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()

    # -- outputs --------------------------------------------------------------------------------

    def encode(self, y: Any, **scores: Any) -> Any:
        """Return μ(y); raise ``ValueError`` if y breaks a constraint; a list for a batch."""
        counts = self.structure.encode(y, **scores)
        broken = self.broken(y, **scores)
        if broken is not None:
            raise ValueError(f"the output breaks a constraint: {broken}")
        return counts

    def score(self, y: Any, **scores: Any) -> Any:
        """Return the score of y, −∞ if it breaks a constraint; a list for a batch."""
        value = self.structure.score(y, **scores)
        return value if self.broken(y, **scores) is None else -np.inf

    def broken(self, y: Any, **scores: Any) -> str | None:
        """Return the name of a constraint that an output breaks; None if it obeys all."""
        theta, topology, compiled = self._compiled(scores)
        return compiled.broken(y, self.structure.encode_by_position(y, **theta, **topology))

    def outputs(self, **scores: Any) -> Iterator[Any]:
        """Iterate over the structure's outputs that obey the constraints."""
        for y in self.structure.outputs(**scores):
            if self.broken(y, **scores) is None:
                yield y

    def report(self, **scores: Any) -> ConstraintReport:
        """Report which constraints are masks, automata or rows for scores of these shapes.

        If the product of the automata is large, the report also says how precise the sums of these
        scores are.
        """
        compiled = self._compiled(scores)[2]
        if math.prod(automaton.n_states for automaton in compiled.automata) <= MAX_STATES:
            return compiled.report
        try:
            result = self.certified_sum(**scores)
        except (CapabilityError, InfeasibleError) as error:
            return replace(compiled.report, sums=f"none: {error}")
        proof = f"but for a share of at most {result.bound:.1g}" if result.bound else "exact"
        of = f"{result.automata} of {len(compiled.automata)} automata"
        return replace(compiled.report, sums=f"{proof}, by {of}: {result.states} states together")

    def draw(self, **scores: Any) -> Picture:
        """Draw the automata of the constraints, for scores of these shapes."""
        from ..drawing.automata import draw_automata

        compiled = self._compiled(scores)[2]
        automata = compiled.every_automaton
        names = [str(constraint) for constraint, _ in automata]
        return draw_automata([automaton for _, automaton in automata], compiled.labels, names)

    # -- the queries ----------------------------------------------------------------------------

    def argmax(self, *, n_jobs: int | None = None, **scores: Any) -> Any:
        """Return the best output that obeys the constraints; a list of them for a batch."""
        solution = self.solve(n_jobs=n_jobs, **scores)
        return [s.output for s in solution] if isinstance(solution, list) else solution.output

    def solve(self, *, n_jobs: int | None = None, **scores: Any) -> Any:
        """Return the best output with its value and a certificate: a :class:`Solution`."""
        theta, topology, compiled = self._compiled(scores)
        masked: dict[str, Any] = compiled.mask(theta)
        try:
            product = self._product(compiled)
            if product is not None:
                with contextlib.suppress(CapabilityError):  # too many states
                    solution: Solution = product.solve(**masked, **topology)
                    return solution
            return self._solved(compiled, theta, masked, topology)
        except InfeasibleError as error:
            raise self._explained(compiled, theta, topology, error) from None

    def _solved(
        self,
        compiled: Compilation,
        theta: Parts,
        masked: dict[str, Any],
        topology: Mapping[str, Any],
    ) -> Solution:
        """Return the unconstrained best output if it obeys the rows; else that of the program."""
        began = time.perf_counter()
        limit: dict[str, Any] = {}
        if self.structure.takes_time_limit and self.time_limit is not None:
            limit["time_limit"] = self.time_limit
        free: Solution = self.structure.solve(**masked, **topology, **limit)
        if compiled.masks_alone:
            return free
        counts = self.structure.encode_by_position(free.output, **masked, **topology)
        keeps = compiled.broken(free.output, counts) is None
        if keeps and free.exact:
            return free
        left = None
        if self.time_limit is not None:
            left = max(self.time_limit - (time.perf_counter() - began), 0.0)
        try:
            best: Solution = self._program_for(compiled, theta, topology).solve(
                time_limit=left, **self.structure.program_scores(masked, **topology)
            )
        except TimeoutError:
            if not keeps:
                raise
            return free
        return free if keeps and free.value > best.value else best

    def infer(self, *, temperature: float = 1.0, n_jobs: int | None = None, **scores: Any) -> Any:
        """Return (ε log Σ exp(score/ε), its gradient by block) over the outputs allowed."""
        if temperature == 0:
            best = self.solve(**scores)
            return best.value, self.structure.encode(best.output, **scores)
        theta, topology, masked, inner = self._inside(scores, "log_partition and marginals")
        value, p = inner.infer(temperature=temperature, **masked, **topology)
        return value, self._shaped(p, theta, scores)

    def certified_sum(
        self, *, temperature: float = 1.0, n_jobs: int | None = None, **scores: Any
    ) -> CertifiedSum:
        """Return ε log Σ exp(score/ε), ε > 0, with an error bound: a :class:`CertifiedSum`."""
        _, topology, masked, inner = self._inside(scores, "sums")
        if isinstance(inner, (ConstrainedChain, ConstrainedSemiMarkov)):
            total: CertifiedSum = inner.certified_sum(temperature=temperature, **masked, **topology)
            return total
        value = inner.log_partition(temperature=temperature, **masked, **topology)
        return CertifiedSum(value, 0.0, 1, 0)

    @staticmethod
    def _shaped(p: Parts, theta: Parts, scores: Mapping[str, Any]) -> Parts:
        """Return expected counts in the shapes of the scores that were given."""
        return {
            name: p[name].sum(axis=tuple(range(p[name].ndim - a.ndim)))
            for name, a in theta.items()
            if scores.get(name) is not None
        }

    def marginals(
        self, *, temperature: float = 1.0, n_jobs: int | None = None, **scores: Any
    ) -> Any:
        """Return the probability of each part, position by position."""
        if temperature == 0:
            return self.structure.encode_by_position(self.argmax(**scores), **scores)
        theta, topology, masked, inner = self._inside(scores, "marginals")
        marginals = inner.marginals(temperature=temperature, **masked, **topology)
        return {name: marginals[name] for name in theta if scores.get(name) is not None}

    def kbest(self, n: int, *, n_jobs: int | None = None, **scores: Any) -> Any:
        """Return up to n outputs that obey the constraints as (score, output), best first."""
        theta, topology, compiled = self._compiled(scores)
        masked: dict[str, Any] = compiled.mask(theta)
        try:
            if compiled.masks_alone:
                return self.structure.kbest(n, **masked, **topology)
            product = self._product(compiled)
            if product is not None:
                with contextlib.suppress(CapabilityError):  # too many states
                    return product.kbest(n, **masked, **topology)
            program = self._program_for(compiled, theta, topology)
            return program.kbest(n, **self.structure.program_scores(masked, **topology))
        except InfeasibleError as error:
            raise self._explained(compiled, theta, topology, error) from None

    def beam(self, width: int, *, n_jobs: int | None = None, **scores: Any) -> Any:
        """Refuse: a beam might drop every prefix that can still obey the constraints."""
        raise CapabilityError(
            "there is no beam search under constraints: every prefix in a beam might be one that "
            "cannot obey them. What works: argmax, solve and kbest, which are exact"
        )

    def infer_others(
        self, y: Any, *, temperature: float = 1.0, **scores: Any
    ) -> tuple[float, Parts]:
        """Return the sums over the allowed outputs other than y, as :meth:`infer` does."""
        theta, topology, masked, inner = self._inside(scores, "sums over all outputs but one")
        value, p = inner.infer_others(y, temperature=temperature, **masked, **topology)
        return value, self._shaped(p, theta, scores) if p else {}

    def _entropy(
        self, theta: dict[str, Any], topology: Mapping[str, Any], temperature: float
    ) -> float:
        _, topology, masked, inner = self._inside({**theta, **topology}, "entropy")
        entropy: float = inner.entropy(temperature=temperature, **masked, **topology)
        return entropy

    def sample(
        self,
        n: int,
        *,
        temperature: float = 1.0,
        random_state: Any = None,
        n_jobs: int | None = None,
        **scores: Any,
    ) -> Any:
        """Draw n outputs from P(y) ∝ exp(score(y)/ε) over those allowed."""
        if temperature == 0:
            return [self.argmax(**scores)] * n
        _, topology, masked, inner = self._inside(scores, "sample")
        return inner.sample(
            n, temperature=temperature, random_state=random_state, **masked, **topology
        )

    def count(self, *, n_jobs: int | None = None, **scores: Any) -> Any:
        """Return the number of outputs with a finite score that obey the constraints."""
        _, topology, masked, inner = self._inside(scores, "count")
        return inner.count(**masked, **topology)

    def as_program(self, **scores: Any) -> Any:
        """Return the integer program of the structure with all constraints as rows."""
        if self._is_batch(scores):
            raise ValueError("as_program takes one example, not a batch")
        theta, topology, compiled = self._compiled(scores)
        return compiled.program(theta, topology, every=True)

    # -- helpers --------------------------------------------------------------------------------

    def _inside(
        self, scores: Mapping[str, Any], what: str
    ) -> tuple[Parts, dict[str, Any], dict[str, Any], Structure]:
        """Return scores, topology, the masked scores, and the structure that computes sums.

        If rows are needed, refuse: ``what`` names the query in the message.
        """
        theta, topology, compiled = self._compiled(scores)
        if compiled.report.needs_program:
            named = "; ".join(str(constraint) for constraint, _ in compiled.report.rows)
            raise CapabilityError(
                f"{what} is not available under these constraints, which need an integer program: "
                f"{named}. What works: argmax, solve, kbest, infer(temperature=0), and the "
                "learners that need only these (perceptron, structured SVM)"
            )
        inner = self._product(compiled) or self.structure
        return theta, topology, dict(compiled.mask(theta)), inner

    def _product(self, compiled: Compilation) -> Structure | None:
        """Return the product of the structure with its automata; None if there are none."""
        automata = compiled.automata
        if not automata:
            return None
        key = tuple(map(id, automata))
        if key not in self._products:
            if len(self._products) >= _MOST_SHAPES:
                self._products.clear()
            self._products[key] = automata, product_of(self.structure, automata)
        return self._products[key][1]

    def _compiled(self, scores: Mapping[str, Any]) -> tuple[Parts, dict[str, Any], Compilation]:
        """Return the scores, the topology and the constraints for their shapes."""
        theta, topology = self.structure._scores(scores), self.structure._topology(scores)
        theta = self._with_blocks(theta)
        key = (tuple((name, a.shape) for name, a in theta.items()), _fingerprint(topology))
        if key not in self._compilations:
            if len(self._compilations) >= _MOST_SHAPES:
                self._compilations.clear()
            self._compilations[key] = Compilation(
                self.structure,
                self.constraints,
                {**theta, **topology},
                self.classes,
                self._automata,
            )
        return theta, topology, self._compilations[key]

    def _with_blocks(self, theta: Parts) -> Parts:
        """Return the scores, with zeros for blocks that only constraints name."""
        named = {s.block for c in self.constraints for s in c.selections() if hasattr(s, "block")}
        pairs = any(isinstance(c, (IfThen, NotAdjacent)) for c in self.constraints)
        if self.structure.pair_block and pairs:
            named.add(self.structure.pair_block)  # a label and its neighbour: a mask
        label = theta.get(self.label_block)
        missing = named - set(theta)
        if not missing or label is None:
            return theta
        blocks = self.structure.blocks(label.shape[-1])
        return {
            name: theta[name] if name in theta else np.zeros(block.outcomes)
            for name, block in blocks.items()
            if name in theta or (name in missing and block.shared)
        }

    def _program_for(self, compiled: Compilation, theta: Parts, topology: Mapping[str, Any]) -> Any:
        """Return the program, cached by shapes and topology: a warm start for other scores."""
        key = (tuple((name, a.shape) for name, a in theta.items()), _fingerprint(topology))
        if key not in self._programs:
            if len(self._programs) >= _MOST_PROGRAMS:
                self._programs.clear()
            program = compiled.program(theta, topology)
            program.time_limit = self.time_limit
            self._programs[key] = program
        return self._programs[key]

    def _explained(
        self,
        compiled: Compilation,
        theta: Parts,
        topology: Mapping[str, Any],
        error: InfeasibleError,
    ) -> InfeasibleError:
        """Return the error, naming the constraints that contradict each other."""
        try:
            compiled.program(theta, topology, every=True).solve()
        except InfeasibleError as named:
            return named
        except (CapabilityError, TimeoutError):
            pass
        return error

    def __repr__(self) -> str:
        listed = "; ".join(map(str, self.constraints))
        return f"Constrained({self.structure!r}: {listed})"


def _fingerprint(topology: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return a key that identifies a topology; groups of nodes are lists of different lengths."""
    key: list[Any] = []
    for name, value in topology.items():
        rows = getattr(value, "rows", value)
        if isinstance(rows, (list, tuple)) and rows and np.ndim(rows[0]) == 1:
            key.append((name, tuple(tuple(np.asarray(row).tolist()) for row in rows)))
        else:
            array = np.asarray(rows)
            key.append((name, array.shape, array.tobytes()))
    return tuple(key)
