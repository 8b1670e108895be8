"""A problem whose examples are in parts: sums over them, and passes of online learners.

Everything that a part computes is a function of the part, the weights and a seed, and the results
are added in a fixed order. So learners need not know about it, and what they find has the same bits
for any number of workers, and after any of them has died.

Online learners make their passes by iterative parameter mixing: each part begins a pass with the
same weights and makes its own steps, and the next pass begins at the mean of the weights, by the
numbers of examples. Steps of the decaying schedule keep their proof: a part with the share q of
the examples counts its steps from q·t and multiplies C by 1/q, and the mean after whole passes is
C·Σ_i A_iᵀ(μ_i − p̄_i) over all examples, the dual point of :mod:`~structlearn.learners.online`.
Of a stream the parts are passed over in turn, as one list of all examples would be.

References
----------
R. McDonald, K. Hall & G. Mann (2010), Distributed training strategies for the structured
perceptron.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..array_types import Integers, Vector
from ..exceptions import CapabilityError
from ..learners.orders import Orders
from ..problem import Problem
from ..problem.digest import problem_digest
from ..problem.inexact import Inexact
from ..problem.online_state import OnlineState
from .parts import NUMBERS, Parts

#: Steps in whose update C stands beside the number of examples.
_SCALED = ("decaying", "constant", "adagrad")


class _Facts(NamedTuple):
    """What is known of a part's problem."""

    n_examples: int
    n_weights: int
    total_weight: float
    partial: bool
    zero_one_cost: bool
    soft_gold: bool
    likelihood: str
    dtype: str
    name: str
    has_beam: bool
    cone: Any

    @staticmethod
    def of(problem: Problem, number: int) -> _Facts:
        return _Facts(
            problem.n_examples,
            problem.n_weights,
            problem.total_weight,
            problem.has_unknown,
            problem.zero_one_cost,
            problem.soft_gold,
            problem.likelihood,
            problem.dtype.str,
            problem.name,
            problem.has_beam,
            None if number else problem.cone,
        )


class SplitProblem(Problem):
    """The sum of the problems of parts.

    Parameters
    ----------
    parts : Parts
        The problem of each; all have the same weights.
    n_tokens : int, optional
        Tokens of all parts, for the speed; otherwise examples are counted.
    """

    sharded = True

    def __init__(self, parts: Parts, n_tokens: int | None = None) -> None:
        self.parts = parts
        found = parts.each(_Facts.of, own=NUMBERS)
        facts: list[_Facts] = [one for one in found if one is not None]
        one = facts[0]
        if len({f.n_weights for f in facts}) != 1:
            raise ValueError("the problems of the parts have different numbers of weights")
        self._sizes = [0 if f is None else f.n_examples for f in found]
        self._n_weights = one.n_weights
        self._weight = float(sum(f.total_weight for f in facts))
        self._partial = np.array([f.partial for f in facts])
        self._inexact = Inexact(0, 0)
        self._n_tokens = n_tokens or sum(self._sizes)
        self._unit = "examples" if n_tokens is None else "tokens"
        self._speed = 0.0
        self.zero_one_cost = any(f.zero_one_cost for f in facts)
        self.soft_gold = any(f.soft_gold for f in facts)
        self.name = one.name
        self._has_beam = one.has_beam
        likelihoods = {f.likelihood for f in facts}
        if len(likelihoods) > 1:
            raise ValueError(
                f"parts need different approximations ({', '.join(sorted(likelihoods))}): set "
                "likelihood"
            )
        cone = next((f.cone for f in facts if f.cone is not None), None)
        super().__init__(None, cone=cone, likelihood=one.likelihood, dtype=np.dtype(one.dtype))

    # -- sizes ----------------------------------------------------------------------------------

    @property
    def n_examples(self) -> int:
        """Number of examples of all parts."""
        return sum(self._sizes)

    @property
    def n_weights(self) -> int:
        """Number of weights."""
        return self._n_weights

    @property
    def partial(self) -> npt.NDArray[np.bool_]:
        """Which parts have examples with unknown labels."""
        return self._partial

    @property
    def has_beam(self) -> bool:
        """Whether inference can be replaced by a beam search."""
        return self._has_beam

    @property
    def probes(self) -> range:
        """No examples: each part looks at its own."""
        return range(0)

    @property
    def inexact(self) -> Inexact:
        """How often inference was not exact so far."""
        return self._inexact

    def completed(self, w: Vector, temperature: float, **_: Any) -> Problem:
        """Refuse: what was filled in would have to be kept where it may be lost."""
        raise CapabilityError(
            "unknown labels are not filled in round by round where examples are in parts; "
            "solver='sgd' or 'lbfgs' sums over them instead (latent='direct')"
        )

    def specification(self) -> dict[str, Any]:
        """Return a digest of each part's problem."""
        return {"n_weights": self.n_weights, "parts": self.parts.each(problem_digest)}

    def random_weights(self, rng: np.random.Generator) -> Vector:
        """Refuse: no learner over parts begins at random."""
        raise CapabilityError("hidden labels are not learned where examples are in parts")

    def progress(self) -> str:
        """Return the number of workers and the speed of the last pass."""
        return f"workers {self.parts.workers()}  {_amount(self._speed)} {self._unit}/s"

    # -- sums -----------------------------------------------------------------------------------

    @property
    def total_weight(self) -> float:
        """The sum of the weights of all examples."""
        return self._weight

    def _sum(self, function: Any, *args: Any, own: Any = None) -> Any:
        begin = time.perf_counter()
        found = self.parts.sum(function, *args, own=own)
        self._speed = self._n_tokens / max(1e-9, time.perf_counter() - begin)
        return found

    def _threads(self, n_jobs: int | None) -> int:
        return self.parts.threads or self.threads(n_jobs)

    def _total(
        self, w: Vector, margin: float, temperature: float, out: Vector | None, n_jobs: int | None
    ) -> tuple[float, float]:
        w = np.ascontiguousarray(w, dtype=np.float64)
        threads = self._threads(n_jobs)
        value, cost, gradient, under, over = self._sum(
            _total_of, w, float(margin), float(temperature), out is not None, threads
        )
        self._note(under, over)
        if out is not None:
            out[:] = gradient
        return float(value), float(cost)

    def shortfall(self, w: Vector, margin: float, n_jobs: int | None = None) -> float:
        """Return by how much Σ_i weight_i · L_i(w) at ε = 0 may be too small."""
        return float(self._sum(_shortfall_of, w, float(margin), self._threads(n_jobs)))

    def feature_squares(self) -> tuple[Vector, Vector, Vector]:
        """Return the sums over all parts."""
        squares, counts, places = self._sum(_squares_of)
        return squares, counts, places

    # -- online learners ------------------------------------------------------------------------

    def pass_order(self, orders: Orders, shuffle: bool) -> Integers:
        """Return the seed of the parts' own orders, or nothing for the given order.

        Of parts in turn: the order of all examples, part by part.
        """
        if not self.parts.in_turn:
            return orders.generator.integers(2**63, size=int(shuffle))
        own = [np.asarray(orders.permutation(n) if shuffle else range(n)) for n in self._sizes]
        begins = np.cumsum([0, *self._sizes[:-1]])
        placed = zip(own, begins, strict=True)
        return np.concatenate([order + begin for order, begin in placed]).astype(np.int64)

    def online_state(self, options: dict[str, Any], start: OnlineState | None = None) -> Any:
        """Return what passes work on: where all parts can, a state of their own kind."""
        if self.parts.in_turn:
            first = np.flatnonzero(self._sizes)[0]
            own = [k == first for k in range(len(self._sizes))]
            states = self.parts.each(_own_state, options, start, own=own)
            if False not in states:
                return states[first]
        return super().online_state(options, start)

    def online_pass(
        self, options: dict[str, Any], state: Any, order: Integers
    ) -> tuple[Any, dict[str, float]]:
        """Make a pass over every part, and mix; or over one after the other."""
        shares = [n / self.n_examples for n in self._sizes]
        if self.parts.in_turn:
            return self._pass_in_turn(options, state, order, shares)
        own = [(share, (*order.tolist(), k)) for k, share in enumerate(shares)]
        found = self._sum(_pass_of, options, state, own=own)
        self._note(found["under"], found["over"])
        w = found["w"]
        if self.cone is not None:
            w = self.cone.project(w)  # a mean is outside by rounding at most
        after = state.copy()
        if len(after.behind):
            after.behind += after.ahead * after.v
            after.behind += found["sums"]
            after.ahead = 0.0
            after.total += found["total"]
        after.v[:], after.scale = w, 1.0
        if len(after.squares):
            after.squares[:] = found["squares"]
        after.steps += found["steps"]
        after.cost = found["cost"]
        report: dict[str, Any] = found["report"]
        return after, {**report, "complete": report["complete"] == np.count_nonzero(self._sizes)}

    def _pass_in_turn(
        self,
        options: dict[str, Any],
        state: Any,
        order: Integers,
        shares: list[float],
    ) -> tuple[Any, dict[str, float]]:
        begins = np.cumsum([0, *self._sizes])
        part = np.searchsorted(begins, order, side="right") - 1
        total: dict[str, float] = {"complete": True}

        def visit(problem: Problem, k: int) -> None:
            nonlocal state
            if not (total["complete"] and self._sizes[k]):
                return
            before, own = problem.inexact, order[part == k] - begins[k]
            state, report = problem.online_pass(_scaled(options, shares[k]), state, own)
            self._note(*_inexact_since(problem, before))
            for name, value in report.items():
                total[name] = value if name == "complete" else total.get(name, 0) + value

        self.parts.each(visit, own=NUMBERS)
        return state, total

    def _note(self, under: int, over: int) -> None:
        before = self._inexact
        self._inexact = Inexact(before.under + int(under), before.over + int(over))


# -- what is computed where the parts are ---------------------------------------------------------


def _inexact_since(problem: Problem, before: Inexact) -> tuple[int, int]:
    now = problem.inexact
    return now.under - before.under, now.over - before.over


def _own_state(
    problem: Problem, first: bool, options: dict[str, Any], start: OnlineState | None
) -> Any:
    """Return the state of the first part, and whether another's is of a kind of its own."""
    state = problem.online_state(options, start)
    if isinstance(state, OnlineState):
        return False
    return state if first else True


def _total_of(
    problem: Problem, w: Vector, margin: float, temperature: float, gradient: bool, threads: int
) -> tuple[float, float, Vector | None, int, int]:
    before = problem.inexact
    out = np.empty(problem.n_weights) if gradient else None
    value, cost = problem.total_cost(w, margin, temperature, out=out, n_jobs=threads)
    return value, cost, out, *_inexact_since(problem, before)


def _shortfall_of(problem: Problem, w: Vector, margin: float, threads: int) -> float:
    return problem.shortfall(w, margin, threads)


def _squares_of(problem: Problem) -> tuple[Vector, Vector, Vector]:
    squares, counts, places = problem.feature_squares()
    return squares.copy(), counts.copy(), places.copy()


def _scaled(options: dict[str, Any], share: float) -> dict[str, Any]:
    """Return options for a part with this share of all examples."""
    return {**options, "C": options["C"] / share} if options["step"] in _SCALED else options


def _pass_of(
    problem: Problem,
    own: tuple[float, tuple[int, ...]],
    options: dict[str, Any],
    state: OnlineState,
) -> dict[str, Any] | None:
    """Make one pass; return what is to be added up."""
    (share, seed), before = own, problem.inexact
    if not share:
        return None
    behind, begin = np.zeros_like(state.behind), state.steps * share
    mine = replace(state, behind=behind, ahead=0.0, total=0.0, steps=begin)
    order = problem.pass_order(Orders(np.random.default_rng(seed)), len(seed) > 1)
    mine, report = problem.online_pass(_scaled(options, share), mine, order)
    under, over = _inexact_since(problem, before)
    averaged = len(mine.behind) > 0
    return {
        "w": (share * mine.scale) * mine.v,
        "sums": mine.ahead * mine.v + mine.behind if averaged else mine.behind,
        "squares": share * mine.squares,
        "total": mine.total,
        "steps": mine.steps - begin,
        "cost": share * mine.cost,
        "report": {**report, "complete": int(report["complete"])},
        "under": under,
        "over": over,
    }


def _amount(number: float) -> str:
    """Return a number in three digits."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return f"{number:.3g}"
