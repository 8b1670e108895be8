"""Online learners: one example, one step.

With r = ∇loss over parts, g = A_iᵀr over weights, s the example's weight and N their number:

================== ======================================================= ========================
step               update                                                  what it is
================== ======================================================= ========================
unit               w ← w − s·g                                             perceptron (39, 40)
constant           w ← (w − s·g) · (1 − λ/N), λ = 1/(2C)                   Algorithm 41 as printed
decaying           w ← (1 − 1/t) w − (C·N/t) s·g                           subgradient, steps 1/(λt)
passive-aggressive w ← w − min(C·s, loss/‖g‖²) g                           PA-I, 1-best MIRA
… squared          w ← w − loss/(‖g‖² + 1/(2C·s)) g                        PA-II
adagrad            w ← (H∘w − η s·g) / (H + η/(C·N)), H = 1 + √Σ(s·g)²     AdaGrad, composite
arow               w ← w − loss/(gᵀSg + ρ/s) Sg, S = 1/(1 + Σ s·g²/ρ)      AROW, diagonal
================== ======================================================= ========================

The subgradient steps and AdaGrad minimise ½‖w‖² + C Σ loss. Averaging is lazy: its cost is that of
the update, whatever the number of weights; so is AdaGrad's regulariser, which reaches a weight when
its feature is met, and all of them at the end of a pass. The decaying step at ε = 0 proves how far
it is from the optimum for nothing: after whole passes w is C·Σ_i A_iᵀ(μ_i − p̄_i), p̄_i the mean of
the outputs found for example i, a feasible dual point with value −½‖w‖² + C·Σ_i Δ̄_i
(S. Lacoste-Julien et al. 2013, §4).

Where the weights have to stay in a cone, each step ends at its nearest point. What that adds to the
weights is a combination of the inequalities' rows with coefficients ≥ 0, multipliers of the dual:
the decaying step's proof stays as it is. At ε > 0 the proof is that of
:func:`~structlearn.learners.projected.gap_in_cone`.

References
----------
K. Crammer et al. (2006), Online passive-aggressive algorithms; J. Duchi, E. Hazan & Y. Singer
(2011), Adaptive subgradient methods; K. Crammer, A. Kulesza & M. Dredze (2009), Adaptive
regularization of weight vectors.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

from .. import _core
from ..exceptions import CapabilityError
from .base import Progress, Settings, Snapshot, Training, check_finite
from .orders import Orders

TYPE_CHECKING = False  # importing NumPy costs more than many a training
if TYPE_CHECKING:
    import numpy.typing as npt

    from ..array_types import Array
    from ..problem import Problem, WeightCone
    from ..problem.online_state import OnlineState

    Vector = Array

__all__ = ["Beam", "Online"]

#: Steps that are taken after a mistake only: a pass without one would repeat itself for ever.
_MISTAKE_DRIVEN = ("unit", "passive-aggressive", "passive-aggressive squared", "arow")


@dataclass(frozen=True)
class Beam:
    """Search with a beam in place of exact inference, and update on prefixes.

    No step is then a step of the convex objective, and the perceptron's bound on the number of
    mistakes holds only where every update is on a violation, a prefix that does not score less
    than the gold one: "early" (M. Collins & B. Roark 2004) and "max-violation" (L. Huang,
    S. Fayong & Y. Guo 2012) see to that, "end" does not.
    """

    width: int
    update_at: str = "early"


class Online:
    """The online learner.

    Parameters
    ----------
    settings : Settings
        Margin, temperature, C, number of passes, tolerance.
    step : str
        See the module.
    average : bool
        Return the average of the weights over all steps.
    shuffle : bool
        A new order for each pass.
    random_state : int, Generator, RandomState or None
        For the orders.
    rate : float
        η of AdaGrad, ρ of AROW; no other step has one.
    delta : float
        δ of AdaGrad: a weight's first step is η·g / (δ + abs(g)).
    least : float
        Leave parts with a smaller part of the gradient out of a step; for scorers that can.
    added : {"", "counted", "one", "root", "whole"}
        What the cost of an output adds to its loss after the search, at margin 0: nothing, 1, its
        root, or all of it. "counted": nothing, but reports of passes have the sum of the costs.
    beam : Beam, optional
        Instead of exact inference; for steps that are taken after a mistake.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        step: str,
        average: bool,
        shuffle: bool,
        random_state: Any,
        rate: float = 1.0,
        delta: float = 1.0,
        least: float = 0.0,
        added: str = "",
        beam: Beam | None = None,
    ) -> None:
        self.settings = settings
        self.step = step
        self.average = average
        self.shuffle = shuffle
        self.rng = Orders(random_state)
        self.rate = rate
        self.delta = delta
        self.least = least
        self.added = added
        self.beam = beam

    @property
    def certifies(self) -> bool:
        """Whether there is a proof: always at ε > 0, else where the steps carry a dual point."""
        s = self.settings
        proven = s.temperature > 0 or self.step == "decaying"
        exact = s.convex and not s.l1 and self.beam is None
        return bool(exact and proven and math.isfinite(s.C))

    def run(
        self,
        problem: Problem,
        *,
        start: OnlineState | None = None,
        progress: Progress,
        n_jobs: int | None = None,
    ) -> Training:
        """Pass over the examples ``max_iter`` times, or until the gap is small enough."""
        n = problem.n_examples
        if self.step == "constant" and 2 * self.settings.C * n <= 1:
            raise ValueError(
                f"the constant step multiplies the weights by 1 - 1/(2CN), which is not positive "
                f"for C = {self.settings.C:g}, N = {n}: raise C, or use step='decaying'"
            )
        if self.beam is not None and not problem.has_beam:
            raise CapabilityError(
                f"{problem.name} has no beam search; a Chain has, and "
                "structures that inherit from structlearn.structures.BeamSearch. Use beam=None"
            )
        saved = progress.saved
        if saved is not None:
            start = saved["state"]
            self.rng.bit_generator.state = saved["rng"]
        options = self._options()
        state = problem.online_state(options, start)
        certificate = _Certificate(self.settings, problem, state)
        best: Training | None = None
        training = Training(None)  # type: ignore[arg-type]  # until the end
        calls = 0
        if saved is not None:
            certificate.load(saved["certificate"])
            calls = int(saved["calls"])
            if saved["best"] is not None:
                best = Training(state.last, **saved["best"])
        try:
            for epoch in range(len(progress.records) + 1, self.settings.max_iter + 1):
                inexact = problem.inexact.under
                order = problem.pass_order(self.rng, self.shuffle)
                if progress.watchers:
                    state, report = self._watched_pass(problem, state, order, progress)
                else:
                    state, report = problem.online_pass(options, state, order)
                training.interrupted = not report["complete"]
                check_finite(report["loss"])
                if not training.interrupted:
                    state.epochs += 1
                calls += int(report["seen"])
                record: dict[str, float | None] = {
                    "iteration": state.epochs,
                    "loss": report["loss"],
                    "updates": report["updates"],
                }
                if self.beam is not None:
                    record["invalid_updates"] = report["invalid"]
                if problem.inexact.under > inexact:
                    record["inexact"] = problem.inexact.under - inexact
                last = epoch == self.settings.max_iter
                if self.certifies and not training.interrupted:
                    certificate.look(state)
                    # A look at the primal costs half a pass: at passes 1, 2, 4, ... and the last.
                    if _is_power_of_two(epoch) or last:
                        best = certificate.at(self._chosen(state, problem.cone), n_jobs)
                        record["objective"], record["gap"] = best.objective, best.gap
                        calls += n
                record["oracle_calls"] = calls
                perfect = self.step in _MISTAKE_DRIVEN and report["updates"] == 0
                ended = training.interrupted or self._good_enough(best)
                snapshot: Snapshot | None = None
                if progress.keep is not None and not (ended or perfect or last):
                    kept = {
                        "state": state.plain(),
                        "rng": dict(self.rng.bit_generator.state),
                        "certificate": certificate.dump(),
                        "calls": calls,
                        "best": best and {"objective": best.objective, "gap": best.gap},
                    }
                    snapshot = functools.partial(dict, kept)
                training.stopped = progress.report(
                    functools.partial(self._chosen, state, problem.cone),
                    state=snapshot,
                    lasting=True,  # no pass changes it
                    **record,
                )
                if ended or training.stopped:
                    break
                if perfect:
                    # Every later pass would be the same: the rest of the average in one go.
                    state.skip((self.settings.max_iter - epoch) * n)
                    break
            ended_early = training.stopped or not self.certifies
            minimises = self.step not in _MISTAKE_DRIVEN and math.isfinite(self.settings.C)
            if minimises and ended_early and not training.interrupted:
                best = certificate.at(self._chosen(state, problem.cone), n_jobs)
        except KeyboardInterrupt:  # between two native loops; inside one, the loop ends by itself
            training.interrupted = True
        training.history = progress.records
        training.state = state
        training.weights = self._chosen(state, problem.cone)
        if best is not None and not training.interrupted:
            training.objective, training.gap = best.objective, best.gap
            training.converged = self._good_enough(best) or not self.certifies
        # The constant step hovers for ever, and mistakes come to no end: passes are all there is.
        # Without a regulariser the best weights may be infinite: there is nothing to come close to.
        minimises = self.step in ("decaying", "adagrad") and math.isfinite(self.settings.C)
        if minimises and not self.certifies:
            change = _last_change(training.history)
            training.converged = change <= self.settings.tol
            training.unfinished = (
                f"whose last pass changed the losses by {change:.2g} of their sum, above "
                f"tol={self.settings.tol:g}; raise max_iter or tol"
            )
        return training

    def _chosen(self, state: Any, cone: WeightCone | None) -> Vector:
        w: Vector = state.mean if self.average else state.last
        return w if cone is None else cone.project(w)  # a mean is outside by rounding at most

    def _good_enough(self, found: Training | None) -> bool:
        return found is not None and self.settings.good_enough(found.gap, found.objective)

    def _options(self) -> dict[str, Any]:
        """Return what a pass is like, as problems and the core take it."""
        s = self.settings
        return {
            "step": self.step,
            "margin": s.margin,
            "temperature": s.temperature,
            "C": s.C,
            "rate": self.rate,
            "delta": self.delta,
            "least": self.least,
            "average": self.average,
            "added": self.added,
            "beam": self.beam.width if self.beam else 0,
            "update_at": self.beam.update_at if self.beam else "end",
        }

    def _watched_pass(
        self, problem: Problem, state: Any, order: npt.NDArray[Any], progress: Progress
    ) -> tuple[Any, dict[str, float]]:
        """Return the same as ``problem.online_pass``, made of passes over one example each.

        Not for AdaGrad, whose regulariser reaches all weights at the end of a pass.
        """
        import numpy as np

        options = self._options()
        total: dict[str, float] = {}
        for i in order:
            before = np.asarray(state.last)
            state, report = problem.online_pass(options, state, np.array([i]))
            for k, v in report.items():
                total[k] = v if k == "complete" else total.get(k, 0) + v
            progress.tell(
                example=int(i), before=before, after=np.asarray(state.last), loss=report["loss"]
            )
            if not report["complete"]:
                break
        return state, total


class _Certificate:
    """A bound on how far weights are from the optimum, from the passes of one run.

    At ε > 0 it is ½‖∇f(w)‖², for any w. At ε = 0 the steps since the run began are a dual point u:
    with w₀ the weights after t₀ steps, t·w = t₀·w₀ + (t − t₀)·u. What came before the run may have
    been other data and proves nothing.
    """

    def __init__(self, settings: Settings, problem: Problem, start: Any) -> None:
        self.settings = settings
        self.problem = problem
        self.origin = start.last if start.steps else None
        self.begin, self.cost = start.steps, start.cost
        self.dual = -math.inf

    def dump(self) -> dict[str, Any]:
        """Return what is known so far."""
        return {
            "origin": self.origin,
            "begin": self.begin,
            "cost": self.cost,
            "dual": float(self.dual),
        }

    def load(self, known: dict[str, Any]) -> None:
        """Go on with what another run knew."""
        self.origin, self.begin = known["origin"], known["begin"]
        self.cost, self.dual = known["cost"], known["dual"]

    def look(self, state: Any) -> None:
        """Take note of the dual point after a whole pass."""
        if self.settings.temperature > 0:
            return
        u, cost = state.last, state.cost
        if self.origin is not None:
            taken = state.steps - self.begin
            u = (state.steps * u - self.begin * self.origin) / taken
            cost = (state.steps * cost - self.begin * self.cost) / taken
        # No loss is negative, so 0 is a bound too, and the better one after a wild start.
        self.dual = max(0.0, self.dual, cost - 0.5 * _core.dot(u, u))

    def at(self, w: Vector, n_jobs: int | None) -> Training:
        """Return the weights with their objective, and their gap where there is a proof."""
        s = self.settings
        smooth = s.temperature > 0 and s.convex
        loss, gradient = self.problem.total_loss(
            w, s.margin, s.temperature, gradient=smooth, n_jobs=n_jobs
        )
        objective = 0.5 * _core.dot(w, w) + s.C * loss
        if gradient is not None:
            from .projected import gap_in_cone

            bound = gap_in_cone(w, w + s.C * gradient, self.problem.cone)
            self.dual = max(0.0, self.dual, objective - bound)
        gap = None if self.dual == -math.inf else max(0.0, objective - self.dual)
        return Training(w, objective=objective, gap=gap)


def _last_change(history: list[dict[str, Any]]) -> float:
    """Return by how much of itself the loss changed in the last pass; infinity before there is one.

    The only sign of an end where nothing is proven.
    """
    if len(history) < 2:
        return 0.0 if history and history[-1]["loss"] == 0.0 else math.inf
    before, loss = history[-2]["loss"], history[-1]["loss"]
    return abs(before - loss) / abs(loss) if loss else float(before != loss)


def _is_power_of_two(n: int) -> bool:
    return n & (n - 1) == 0
