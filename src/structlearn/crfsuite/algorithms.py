"""CRFsuite's training algorithms, run by the learners of this library.

CRFsuite minimises c2·‖w‖² + c1·‖w‖₁ + Σ loss, which is 1/C times the objective of our learners,
½‖w‖² + l1·‖w‖₁ + C·Σ loss, with C = 1/(2·c2) and l1 = c1·C. Its stochastic gradient descent is our
decaying step, starting at 1/(λη) for the calibrated rate η, λ = 2·c2/N. Its updates after a mistake
add the cost of the best output to its loss after the search (K. Crammer et al. 2006, Online
passive-aggressive algorithms, section 5: by predictions). With variance v, its AROW is ours with r
= γ/v.

References
----------
N. Okazaki (2007), CRFsuite: a fast implementation of conditional random fields.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from ..array_types import Integers, Vector
from ..learners.base import Settings
from ..learners.lbfgs import SmoothDescent
from ..learners.online import Online
from ..learners.owlqn import OrthantDescent
from ..losses.costs import Cost, Hamming
from ..problem.online_state import OnlineState
from ..problem.problem import Problem
from ..threads import one_blas_thread

#: Replaces c2 = 0, to avoid a special case: 2⁻⁷⁰·‖w‖² is lost in rounding.
_NO_C2 = 2.0**-70
#: The number of L-BFGS iterations that 0 stands for.
_UNLIMITED = 2**31 - 1
#: liblbfgs's error codes for a problem without weights, and for a line search without success.
_NO_WEIGHTS, _NO_STEP = -1020, -1001


class Log:
    """A log of training in CRFsuite's format, which programs parse.

    Parameters
    ----------
    write : callable
        Takes a line.
    evaluate : callable or None
        Writes the scores of weights on the held-out sequences.
    """

    def __init__(
        self, write: Callable[[str], None], evaluate: Callable[[Vector], None] | None
    ) -> None:
        self.write = write
        self.evaluate = evaluate
        self._begun = time.process_time()

    def settings(self, title: str, parameters: dict[str, Any], names: dict[str, str]) -> None:
        """Write a title and the values of parameters, under the names used in logs."""
        self.write(f"{title}\n")
        for name, log_name in names.items():
            self.write(f"{log_name}: {_shown(parameters[name])}\n")
        self.write("\n")

    def iteration(self, kind: str, number: int, facts: dict[str, Any], w: Vector) -> None:
        """Write the facts of an iteration, and the scores of its weights on held-out sequences."""
        self.write(f"***** {kind} #{number} *****\n")
        for name, value in facts.items():
            self.write(f"{name}: {_shown(value)}\n")
        now = time.process_time()
        self.write(f"Seconds required for this iteration: {now - self._begun:.3f}\n")
        self._begun = now
        if self.evaluate is not None:
            self.evaluate(w)
        self.write("\n")


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(int(value))
    return f"{value:f}" if isinstance(value, float) else str(value)


def cost_of(algorithm: str) -> Cost | None:
    """Return the cost of a wrong output: the number, or the share, of its wrong labels."""
    if algorithm in ("lbfgs", "l2sgd"):
        return None
    return Hamming(normalize=algorithm == "averaged-perceptron")


def run_algorithm(
    algorithm: str,
    problem: Problem,
    parameters: dict[str, Any],
    log: Log,
    *,
    random_state: int,
    n_jobs: int | None,
) -> Vector:
    """Return the weights from an algorithm.

    Parameters
    ----------
    algorithm : str
        Its full name.
    problem : Problem
        The sequences, with the algorithm's cost.
    """
    begun = time.process_time()
    rng = np.random.default_rng(random_state)
    with one_blas_thread():  # vectors are short: more threads would be slower
        if algorithm == "lbfgs":
            w = _lbfgs(problem, parameters, log, n_jobs)
        elif algorithm == "l2sgd":
            w = _l2sgd(problem, parameters, log, rng)
        else:
            w = _after_mistakes(algorithm, problem, parameters, log, rng)
    log.write(f"Total seconds required for training: {time.process_time() - begun:.3f}\n")
    log.write("\n")
    return w


# -- L-BFGS ---------------------------------------------------------------------------------------


def _lbfgs(problem: Problem, p: dict[str, Any], log: Log, n_jobs: int | None) -> Vector:
    names = ("c1", "c2", "num_memories", "max_iterations", "epsilon", "period", "delta",
             "linesearch", "max_linesearch")  # fmt: skip
    log_names = {"period": "stop", "max_linesearch": "linesearch.max_iterations"}
    log.settings("L-BFGS optimization", p, {name: log_names.get(name, name) for name in names})
    if not (0 <= p["c1"] < math.inf and 0 <= p["c2"] < math.inf):
        raise ValueError(f"c1 and c2 must not be negative or infinite, got {p['c1']} and {p['c2']}")
    C = 0.5 / max(p["c2"], _NO_C2)
    settings = Settings(0.0, 1.0, C, l1=p["c1"] * C, tol=0.0)
    if problem.n_weights == 0:
        log.write(f"L-BFGS terminated with error code ({_NO_WEIGHTS})\n")
        return np.zeros(0)
    memory = max(1, p["num_memories"])
    kind: Any = OrthantDescent if p["c1"] > 0 else SmoothDescent
    descent = kind(problem, settings, memory=memory, n_jobs=n_jobs)
    ended = _descend(descent, p, C, log)
    log.write(f"L-BFGS {ended}\n")
    return np.array(descent.w)


def _descend(descent: Any, p: dict[str, Any], C: float, log: Log) -> str:
    """Step until one of CRFsuite's stopping tests is met; return which one."""
    descent.begin()
    period, evaluations = p["period"], descent.evaluations
    losses = deque([descent.objective / C], maxlen=max(1, period))
    if _is_flat(descent, C, p["epsilon"]):
        return "resulted in convergence"
    for iteration in range(1, (p["max_iterations"] or _UNLIMITED) + 1):
        if not descent.step():
            return f"terminated with error code ({_NO_STEP})"
        w, loss = descent.w, descent.objective / C
        facts = {
            "Loss": loss,
            "Feature norm": float(np.linalg.norm(w)),
            "Error norm": math.sqrt(2.0 * descent.flatness) / C,
            "Active features": int(np.count_nonzero(w)),
            "Line search trials": descent.evaluations - evaluations,
            "Line search step": float(descent.length),
        }
        evaluations = descent.evaluations
        log.iteration("Iteration", iteration, facts, w)
        if _is_flat(descent, C, p["epsilon"]):
            return "resulted in convergence"
        if period > 0:
            if len(losses) == period and losses[0] - loss < p["delta"] * loss:
                return "terminated with the stopping criteria"
            losses.append(loss)
    return "terminated with the maximum number of iterations"


def _is_flat(descent: Any, C: float, epsilon: float) -> bool:
    norm = math.sqrt(2.0 * descent.flatness) / C
    return norm <= epsilon * max(1.0, float(np.linalg.norm(descent.w)))


# -- stochastic gradient descent ------------------------------------------------------------------


def _l2sgd(problem: Problem, p: dict[str, Any], log: Log, rng: np.random.Generator) -> Vector:
    names = ("c2", "max_iterations", "period", "delta")
    title = "Stochastic Gradient Descent (SGD)"
    log.settings(title, p, dict(zip(names, names, strict=True)))
    if problem.n_weights == 0 or problem.n_examples == 0:
        return np.zeros(problem.n_weights)
    if not 0 < p["c2"] < math.inf:
        raise ValueError(f"l2sgd needs c2 > 0, got {p['c2']}: its steps are 1 / (2·c2·t)")
    for name in ("calibration.eta", "calibration.rate"):
        if not 0 < p[name] < math.inf:
            raise ValueError(f"{name} must be above 0, got {p[name]}")
    sgd = _Descent(problem, p["c2"])
    start = 1.0 / (sgd.decay * _calibrated(sgd, p, log, rng))
    state, period = sgd.state(start), p["period"]
    best: Vector = state.last
    lowest = math.inf
    losses: deque[float] = deque(maxlen=max(1, period))
    ended = "maximum number of iterations"
    for epoch in range(1, p["max_iterations"] + 1):
        state, loss = sgd.epoch(state, rng.permutation(problem.n_examples))
        if not math.isfinite(loss):
            log.write("ERROR: overflow loss\n")
            break
        w = state.last
        if loss < lowest:
            best, lowest = w, loss
        facts: dict[str, Any] = {"Loss": loss}
        improvement = p["delta"]
        if len(losses) == losses.maxlen:
            improvement = facts["Improvement ratio"] = (losses[0] - loss) / loss
        losses.append(loss)
        facts |= {
            "Feature L2-norm": float(np.linalg.norm(w)),
            "Learning rate (eta)": 1.0 / (sgd.decay * (state.steps - 1.0)),
            "Total number of feature updates": epoch * problem.n_examples,
        }
        log.iteration("Epoch", epoch, facts, w)
        if improvement < p["delta"]:
            ended = "stopping criteria"
            break
    log.write(f"SGD terminated with the {ended}\n")
    log.write(f"Loss: {lowest:f}\n")
    return best


class _Descent:
    """Passes of decaying steps: the weights at the end of each, and their loss."""

    def __init__(self, problem: Problem, c2: float) -> None:
        self.problem = problem
        self.c2 = c2
        #: λ of a step 1/(λt).
        self.decay = 2.0 * c2 / problem.n_examples
        settings = Settings(0.0, 1.0, 0.5 / c2)
        learner = Online(
            settings,
            step="decaying",
            average=False,
            shuffle=True,
            random_state=np.random.default_rng(0),
        )
        self._options = learner._options()

    def state(self, steps: float) -> Any:
        """Return zero weights whose next step is as small as after that many steps."""
        start = OnlineState.at(np.zeros(self.problem.n_weights), average=False, steps=steps)
        return self.problem.online_state(self._options, start)

    def epoch(self, state: Any, order: Integers) -> tuple[Any, float]:
        """Return the state after a pass, and the sum of its losses with the regulariser."""
        state, report = self.problem.online_pass(self._options, state, order)
        if not report["complete"]:
            raise KeyboardInterrupt
        w = state.last
        return state, float(report["loss"]) + self.c2 * float(w @ w)


def _calibrated(sgd: _Descent, p: dict[str, Any], log: Log, rng: np.random.Generator) -> float:
    """Return the learning rate that lowers the loss of a sample most in one pass."""
    problem = sgd.problem
    size = min(problem.n_examples, max(1, int(p["calibration.samples"])))
    sample = rng.permutation(problem.n_examples)[:size]
    eta: float = p["calibration.eta"]
    rate, left = p["calibration.rate"], p["calibration.candidates"]
    log.write("Calibrating the learning rate (eta)\n")
    log.write(f"calibration.eta: {eta:f}\n")
    log.write(f"calibration.rate: {rate:f}\n")
    log.write(f"calibration.samples: {size}\n")
    log.write(f"calibration.candidates: {left}\n")
    log.write(f"calibration.max_trials: {p['calibration.max_trials']}\n")
    begun = time.process_time()
    _, initial = sgd.epoch(_frozen(sgd), sample)
    log.write(f"Initial loss: {initial:f}\n")
    best, lowest, falling = eta, math.inf, False
    for trial in range(1, p["calibration.max_trials"]):
        _, loss = sgd.epoch(sgd.state(1.0 / (sgd.decay * eta)), sample)
        lower = loss < initial
        result = f"{loss:f}" if lower else f"{loss:f} (worse)"
        log.write(f"Trial #{trial} (eta = {eta:f}): {result}\n")
        left -= lower
        if loss < lowest:
            best, lowest = eta, loss
        if falling:
            if left <= 0:
                break
            eta /= rate
        elif lower and left > 0:
            eta *= rate
        else:
            falling, left = True, p["calibration.candidates"]
            eta = p["calibration.eta"] / rate
    log.write(f"Best learning rate (eta): {best:f}\n")
    log.write(f"Seconds required: {time.process_time() - begun:.3f}\n")
    log.write("\n")
    return best


def _frozen(sgd: _Descent) -> Any:
    """Return a state whose steps are negligible: it measures the loss at 0."""
    return sgd.state(1e300)


# -- steps after a mistake ------------------------------------------------------------------------


def _after_mistakes(
    algorithm: str, problem: Problem, p: dict[str, Any], log: Log, rng: np.random.Generator
) -> Vector:
    title, names, options = _STEPS[algorithm](p)
    log.settings(title, p, dict(zip(names, names, strict=True)))
    n = problem.n_examples
    if problem.n_weights == 0 or n == 0:
        return np.zeros(problem.n_weights)
    settings = Settings(0.0, 0.0, options.pop("C", 1.0))
    learner = Online(settings, shuffle=True, random_state=rng, **options)
    learner_options = learner._options()
    state = problem.online_state(learner_options, None)
    w: Vector = state.last
    for iteration in range(1, p["max_iterations"] + 1):
        state, report = problem.online_pass(learner_options, state, rng.permutation(n))
        if not report["complete"]:
            raise KeyboardInterrupt
        w = state.mean if learner.average else state.last
        perceptron = algorithm == "averaged-perceptron"
        loss = float(report["cost" if perceptron else "loss"])
        normed = w if perceptron else state.last
        facts = {"Loss": loss, "Feature norm": float(np.linalg.norm(normed))}
        log.iteration("Iteration", iteration, facts, w)
        done = loss / n <= p["epsilon"] if algorithm == "arow" else loss / n < p["epsilon"]
        if done:
            log.write("Terminated with the stopping criterion\n")
            log.write("\n")
            break
    return w


def _perceptron(p: dict[str, Any]) -> tuple[str, tuple[str, ...], dict[str, Any]]:
    names = ("max_iterations", "epsilon")
    return "Averaged perceptron", names, {"step": "unit", "average": True, "added": "counted"}


def _passive_aggressive(p: dict[str, Any]) -> tuple[str, tuple[str, ...], dict[str, Any]]:
    names = ("type", "c", "error_sensitive", "averaging", "max_iterations", "epsilon")
    squared = p["type"] == 2
    return (
        "Passive Aggressive",
        names,
        {
            "step": "passive-aggressive squared" if squared else "passive-aggressive",
            "C": p["c"] if p["type"] in (1, 2) else math.inf,
            "average": p["averaging"],
            "added": "root" if p["error_sensitive"] else "one",
        },
    )


def _arow(p: dict[str, Any]) -> tuple[str, tuple[str, ...], dict[str, Any]]:
    if p["variance"] <= 0 or p["gamma"] <= 0:
        raise ValueError("variance and gamma must be above 0")
    names = ("variance", "gamma", "max_iterations", "epsilon")
    return (
        "Adaptive Regularization of Weights (AROW)",
        names,
        {
            "step": "arow",
            "rate": p["gamma"] / p["variance"],
            "average": False,
            "added": "whole",
        },
    )


_STEPS = {
    "averaged-perceptron": _perceptron,
    "passive-aggressive": _passive_aggressive,
    "arow": _arow,
}
