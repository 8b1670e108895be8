"""A problem whose examples are in shards: sums over shards, and online learners by mixing.

Everything that a shard computes is a function of the shard, the weights and a seed, and the results
are added in the order of the shards. So learners need not know about it, and what they find has the
same bits for any number of workers, and after any of them has died.

Online learners make their passes by iterative parameter mixing: each shard begins a pass with the
same weights and makes its own steps, and the next pass begins at the mean of the weights, by the
numbers of examples. Steps of the decaying schedule keep their proof: a shard with the share q of
the examples counts its steps from q·t and multiplies C by 1/q, and the mean after whole passes is
C·Σ_i A_iᵀ(μ_i − p̄_i) over all examples, the dual point of :mod:`~structlearn.learners.online`.

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

from ..exceptions import CapabilityError
from ..learners.orders import Orders
from ..problem import Problem
from ..problem.digest import problem_digest
from ..problem.inexact import Inexact
from ..problem.online_state import OnlineState
from .crew import Held

__all__ = ["ShardedProblem"]

Vector = npt.NDArray[np.float64]

#: Steps in whose update C stands beside the number of examples.
_SCALED = ("decaying", "constant", "adagrad")


class _Facts(NamedTuple):
    """What is known of a shard's problem."""

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


class ShardedProblem(Problem):
    """The sum of the problems of shards.

    Parameters
    ----------
    held : Held
        The problem of each shard; all have the same weights.
    n_tokens : list of int, optional
        Tokens of each shard, for the speed; otherwise examples are counted.
    """

    sharded = True

    def __init__(self, held: Held, n_tokens: list[int] | None = None) -> None:
        self.held = held
        facts: list[_Facts] = held.each(_facts)
        one = facts[0]
        if len({f.n_weights for f in facts}) != 1:
            raise ValueError("the problems of the shards have different numbers of weights")
        self._n = np.array([f.n_examples for f in facts], dtype=np.int64)
        self._n_weights = one.n_weights
        self._weight = float(sum(f.total_weight for f in facts))
        self._partial = np.array([f.partial for f in facts])
        self._inexact = Inexact(0, 0)
        self._n_tokens = sum(n_tokens or self._n.tolist())
        self._unit = "examples" if n_tokens is None else "tokens"
        self._speed = 0.0
        self.zero_one_cost = any(f.zero_one_cost for f in facts)
        self.soft_gold = any(f.soft_gold for f in facts)
        self.name = one.name
        self._has_beam = one.has_beam
        likelihoods = {f.likelihood for f in facts}
        if len(likelihoods) > 1:
            raise ValueError(
                f"shards need different approximations ({', '.join(sorted(likelihoods))}): set "
                "likelihood"
            )
        super().__init__(None, cone=one.cone, likelihood=one.likelihood, dtype=np.dtype(one.dtype))

    # -- sizes ----------------------------------------------------------------------------------

    @property
    def n_examples(self) -> int:
        """Number of examples of all shards."""
        return int(self._n.sum())

    @property
    def n_weights(self) -> int:
        """Number of weights."""
        return self._n_weights

    @property
    def partial(self) -> npt.NDArray[np.bool_]:
        """Which shards have examples with unknown labels."""
        return self._partial

    @property
    def has_beam(self) -> bool:
        """Whether inference can be replaced by a beam search."""
        return self._has_beam

    @property
    def probes(self) -> range:
        """No examples: each shard looks at its own."""
        return range(0)

    @property
    def inexact(self) -> Inexact:
        """How often inference was not exact so far."""
        return self._inexact

    def completed(self, w: Vector, temperature: float, **_: Any) -> Problem:
        """Refuse: what was filled in would have to be kept where it may be lost."""
        raise CapabilityError(
            "unknown labels are not filled in round by round where examples are in shards; "
            "solver='sgd' or 'lbfgs' sums over them instead (latent='direct')"
        )

    def specification(self) -> dict[str, Any]:
        """Return a digest of each shard's problem."""
        return {"n_weights": self.n_weights, "shards": self.held.each(_digest)}

    def random_weights(self, rng: np.random.Generator) -> Vector:
        """Refuse: no learner over shards begins at random."""
        raise CapabilityError("hidden labels are not learned where examples are in shards")

    def progress(self) -> str:
        """Return the number of workers and the speed of the last pass."""
        return f"workers {self.held.crew.workers}  {_amount(self._speed)} {self._unit}/s"

    # -- sums -----------------------------------------------------------------------------------

    @property
    def total_weight(self) -> float:
        """The sum of the weights of all examples."""
        return self._weight

    def _sum(self, function: Any, *args: Any) -> Any:
        begin = time.perf_counter()
        found = self.held.sum(function, *args)
        self._speed = self._n_tokens / max(1e-9, time.perf_counter() - begin)
        return found

    def _total(
        self, w: Vector, margin: float, temperature: float, out: Vector | None, n_jobs: int | None
    ) -> tuple[float, float]:
        w = np.ascontiguousarray(w, dtype=np.float64)
        threads = self.held.crew.threads
        value, cost, gradient, under, over = self._sum(
            _shard_total, w, float(margin), float(temperature), out is not None, threads
        )
        self._note(under, over)
        if out is not None:
            out[:] = gradient
        return float(value), float(cost)

    def shortfall(self, w: Vector, margin: float, n_jobs: int | None = None) -> float:
        """Return by how much Σ_i weight_i · L_i(w) at ε = 0 may be too small."""
        return float(self._sum(_shard_shortfall, w, float(margin), self.held.crew.threads))

    def feature_squares(self) -> tuple[Vector, Vector, Vector]:
        """Return the sums over all shards."""
        squares, counts, places = self._sum(_shard_squares)
        return squares, counts, places

    # -- online learners ------------------------------------------------------------------------

    def pass_order(self, orders: Orders, shuffle: bool) -> npt.NDArray[np.int64]:
        """Return the seed of the shards' own orders, or nothing for the given order."""
        return orders.generator.integers(2**63, size=int(shuffle))

    def online_pass(
        self, options: dict[str, Any], state: OnlineState, order: npt.NDArray[np.int64]
    ) -> tuple[OnlineState, dict[str, float]]:
        """Make a pass over every shard, and mix."""
        shares = self._n / self._n.sum()
        found = self._sum(_shard_pass, options, state, shares, order)
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
        return after, {**report, "complete": report["complete"] == len(self._n)}

    def _note(self, under: int, over: int) -> None:
        before = self._inexact
        self._inexact = Inexact(before.under + int(under), before.over + int(over))


# -- what is computed where the shards are --------------------------------------------------------


def _facts(problem: Problem, number: int) -> _Facts:
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
        problem.cone if number == 0 else None,
    )


def _digest(problem: Problem, number: int) -> str:
    return problem_digest(problem)


def _inexact_since(problem: Problem, before: Inexact) -> tuple[int, int]:
    now = problem.inexact
    return now.under - before.under, now.over - before.over


def _shard_total(
    problem: Problem,
    number: int,
    w: Vector,
    margin: float,
    temperature: float,
    gradient: bool,
    threads: int,
) -> tuple[float, float, Vector | None, int, int]:
    before = problem.inexact
    out = np.empty(problem.n_weights) if gradient else None
    value, cost = problem.total_cost(w, margin, temperature, out=out, n_jobs=threads)
    return value, cost, out, *_inexact_since(problem, before)


def _shard_shortfall(
    problem: Problem, number: int, w: Vector, margin: float, threads: int
) -> float:
    return problem.shortfall(w, margin, threads)


def _shard_squares(problem: Problem, number: int) -> tuple[Vector, Vector, Vector]:
    squares, counts, places = problem.feature_squares()
    return squares.copy(), counts.copy(), places.copy()


def _shard_pass(
    problem: Problem,
    number: int,
    options: dict[str, Any],
    state: OnlineState,
    shares: Vector,
    seed: npt.NDArray[np.int64],
) -> dict[str, Any]:
    """Make one pass; return what is to be added up."""
    share, before = float(shares[number]), problem.inexact
    behind, begin = np.zeros_like(state.behind), state.steps * share
    own = replace(state, behind=behind, ahead=0.0, total=0.0, steps=begin)
    if options["step"] in _SCALED:
        options = {**options, "C": options["C"] / share}
    order = problem.pass_order(Orders(np.random.default_rng([*seed, number])), len(seed) > 0)
    own, report = problem.online_pass(options, own, order)
    under, over = _inexact_since(problem, before)
    averaged = len(own.behind) > 0
    return {
        "w": (share * own.scale) * own.v,
        "sums": own.ahead * own.v + own.behind if averaged else own.behind,
        "squares": share * own.squares,
        "total": own.total,
        "steps": own.steps - begin,
        "cost": share * own.cost,
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
