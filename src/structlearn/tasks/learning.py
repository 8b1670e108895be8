"""From the problem of a task to its weights: learners by name, several seeds, a dev set.

Every task learns here. What a task brings is a :class:`~structlearn.problem.Problem` and, for a dev
set, a function that scores weights. A learner's name stands for an estimator, and the parameters of
the task that go with it have that estimator's names and meaning.
"""

from __future__ import annotations

import glob
import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..estimators.learning import Parameters, check_parameters, learn, warn_unless_converged
from ..learners.base import Training
from ..problem import Problem
from .parameters import check_number

__all__ = [
    "LEARNERS",
    "Learned",
    "Watch",
    "check_learner",
    "learn_task",
    "learner_facts",
    "learner_parameters",
]

Vector = npt.NDArray[Any]
Score = Callable[[Vector], float]

#: What a learner's name stands for, in the terms of the estimators (StructuredPerceptron,
#: StructuredSVM, CRF, PassiveAggressive, AdaGrad, AROW): the same defaults.
LEARNERS: dict[str, dict[str, Any]] = {
    "perceptron": {"solver": "perceptron", "margin": 0.0, "cost": None, "max_iter": 10},
    "svm": {"solver": "auto", "margin": 1.0, "tol": 1e-2, "max_iter": 1000},
    "crf": {"solver": "auto", "margin": 0.0, "temperature": 1.0, "max_iter": 1000},
    "passive-aggressive": {"solver": "passive-aggressive", "tol": 0.0, "max_iter": 10},
    "adagrad": {"solver": "adagrad", "tol": 1e-2, "max_iter": 20},
    "arow": {"solver": "arow", "tol": 0.0, "_rate": 10.0, "max_iter": 10},
}
#: The learners that have a parameter, where not all have it.
_WHOSE: dict[str, tuple[str, ...]] = {
    "C": ("svm", "crf", "passive-aggressive", "adagrad"),
    "l1": ("crf",),
    "tol": ("svm", "crf", "adagrad"),
    "solver": ("svm", "crf"),
    "margin": ("crf", "adagrad"),
    "temperature": ("crf", "adagrad"),
    "eta0": ("adagrad",),
    "delta": ("adagrad",),
    "r": ("arow",),
}
#: What a line of progress tells of a pass.
_SHOWN = ("loss", "objective", "gap", "updates", "inexact")
#: Parameters of estimators that a task may have.
_SHARED = ("C", "l1", "average", "shuffle", "margin", "temperature", "tol", "solver", "max_iter")
#: Parameters of one learner alone, and what they are called within.
_OWN = {"eta0": ("adagrad", "_rate"), "delta": ("adagrad", "delta"), "r": ("arow", "_rate")}


def learner_parameters(task: Any, seed: int, **preset: Any) -> Parameters:
    """Return the parameters of the estimator that a task's learner names.

    Parameters
    ----------
    task : object
        Has ``learner``, ``n_jobs`` and those of the estimator's parameters that the task offers;
        one that is absent or None is left to ``preset``, else to the estimator.
    seed : int
        Of this run.
    **preset
        What the task does otherwise than the estimator where its user says nothing.

    Raises
    ------
    ValueError
        For values that make no sense, and parameters of another learner.
    """
    chosen = {**LEARNERS[task.learner], **preset}
    for name in _SHARED:
        value = getattr(task, name, None)
        if value is not None:
            chosen[name] = value
    for name, (learner, inner) in _OWN.items():
        value = getattr(task, name, None)
        if value is None:
            continue
        if task.learner != learner:
            raise ValueError(f"{name} is for learner={learner!r}, not {task.learner!r}")
        chosen[inner] = check_number(name, value, above=name != "delta")
    parameters = Parameters(random_state=seed, n_jobs=task.n_jobs, **chosen)
    check_parameters(parameters)
    return parameters


def check_learner(task: Any, *, also: tuple[str, ...] = ()) -> None:
    """Refuse unknown learners, parameters of other learners, and values that make no sense.

    For tasks whose parameters are None where their user says nothing. ``also`` names learners of
    the task's own, which have none of these parameters.
    """
    if task.learner not in (*LEARNERS, *also):
        known = ", ".join((*LEARNERS, *also))
        raise ValueError(f"learner must be one of {known}, got {task.learner!r}")
    for name, learners in _WHOSE.items():
        if getattr(task, name, None) is not None and task.learner not in learners:
            raise ValueError(
                f"learner={task.learner!r} has no parameter {name}; those that have: "
                f"{', '.join(learners)}"
            )
    if task.learner not in also:
        learner_parameters(task, 0)


def _effective(learner: str, parameters: Parameters, solver: str) -> dict[str, Any]:
    """Return the parameters that a learner had, by the names that a task has for them."""
    values = {name: getattr(parameters, name) for name in _SHARED}
    values.update((name, getattr(parameters, inner)) for name, (_, inner) in _OWN.items())
    values["solver"] = solver
    kept = {name: v for name, v in values.items() if learner in _WHOSE.get(name, LEARNERS)}
    if learner in _WHOSE["solver"]:  # not made of steps: nothing to average, no order that matters
        del kept["average"], kept["shuffle"]
    return {name: v if v != math.inf else "inf" for name, v in kept.items()}


def learner_facts(training: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what a model's training record says of its learner, for people to read.

    Each parameter with its value; where the estimator has another default, that too.
    """
    known = training.get("learner_parameters")
    if not isinstance(known, dict):
        return []
    usual = Parameters(**LEARNERS[training["learner"]])
    default = _effective(training["learner"], usual, str(known.get("solver")))
    words = [
        f"{name} {value}" + ("" if default.get(name) == value else f" (estimator {default[name]})")
        for name, value in known.items()
        if name in default
    ]
    facts = [("parameters", ", ".join(words))]
    if training.get("objective") is not None:
        gap = training.get("gap")
        proven = "" if gap is None else f", at most {gap:.3g} above the optimum"
        facts.append(("objective", f"{training['objective']:.6g}{proven}"))
    return facts


@dataclass
class Learned:
    """What a task has learned.

    Attributes
    ----------
    weights : array
        The mean over the runs, of each run the best pass by the dev set, or what the learner found.
    n_models : int
        The number of runs that are in it.
    history : list of dict
        One record for each pass of each run.
    passes : int
        The pass whose weights were taken, of the last run.
    interrupted : bool
        Ctrl-C ended it: the runs that were complete count; without any, what the first one had.
    objective, gap : float or None
        Of the last run, where its learner knows them and no dev set chose another pass.
    parameters : dict
        The parameters that the learner had, those of presets included; plain values.
    """

    weights: Vector
    n_models: int
    history: list[dict[str, Any]] = field(default_factory=list)
    passes: int = 0
    interrupted: bool = False
    objective: float | None = None
    gap: float | None = None
    parameters: dict[str, Any] = field(default_factory=dict)

    def record(self, learner: str) -> dict[str, Any]:
        """Return what a model file tells of it."""
        found: dict[str, Any] = {
            "learner": learner,
            "learner_parameters": self.parameters,
            "n_models": self.n_models,
            "passes": self.passes,
        }
        if self.objective is not None:
            found.update(objective=self.objective, gap=self.gap)
        return found


class Watch:
    """Looks at every pass: dev score, patience, lines of progress. Part of checkpoints.

    Parameters
    ----------
    score : callable or None
        Gives the dev score of weights.
    measure : str
        What the score is called; records have it as dev_...
    patience : int
        Stop after this many passes without a better dev score; 0: never.
    say : callable or None
        Takes lines of progress.
    run, n_runs : int
        Which run this is, from 1, of how many.
    """

    def __init__(
        self,
        score: Score | None = None,
        measure: str = "score",
        patience: int = 0,
        say: Callable[[str], None] | None = None,
        run: int = 1,
        n_runs: int = 1,
    ) -> None:
        self.score, self.measure, self.patience, self.say = score, measure, patience, say
        self.run, self.n_runs = run, n_runs
        self.history: list[dict[str, Any]] = []
        self.best: Vector | None = None
        self.best_score = float("-inf")
        self.best_pass = 0
        #: The sum of the weights of earlier runs.
        self.total: Vector | None = None
        #: Set from another thread: the pass under way is the last.
        self.stopped = False
        self._begin = time.perf_counter()

    def start(self, weights: Vector) -> None:
        """Take note of where learning begins: pass 0, which a dev set may find the best."""
        if self.score is not None:
            self.best, self.best_score = weights.copy(), self.score(weights)
            self._note({"run": self.run, "pass": 0, f"dev_{self.measure}": self.best_score})

    def __call__(self, record: dict[str, Any]) -> bool:
        """Take note of a pass; return True where it should be the last."""
        noted: dict[str, Any] = {"run": self.run, "pass": record["iteration"]}
        noted.update((k, record[k]) for k in _SHOWN if k in record)
        stop = self.stopped
        if self.score is not None:
            reached = record["weights"]()
            noted[f"dev_{self.measure}"] = score = self.score(reached)
            if score > self.best_score:
                self.best, self.best_score = reached.copy(), score
                self.best_pass = noted["pass"]
            waited = noted["pass"] - self.best_pass
            stop = stop or (bool(self.patience) and waited >= self.patience)
        self._note(noted)
        return stop

    def _note(self, noted: dict[str, Any]) -> None:
        noted["seconds"] = round(time.perf_counter() - self._begin, 3)
        self.history.append(noted)
        if self.say is not None:
            self.say(self._line(noted))

    def _line(self, noted: dict[str, Any]) -> str:
        run = f"run {self.run}/{self.n_runs}  " if self.n_runs > 1 else ""
        words = [f"{run}pass {noted['pass']:>3}"]
        for key in _SHOWN:
            if noted.get(key) is not None:
                words.append(f"{key} {noted[key]:.6g}")
        if self.score is not None:
            words.append(f"dev {self.measure} {noted[f'dev_{self.measure}']:.4f}")
        return "  ".join([*words, f"{noted['seconds']:.2f} s"])

    def dump(self) -> dict[str, Any]:
        """Return what was seen so far."""
        names = ("best", "best_score", "best_pass", "total")
        # The history goes on while this waits to be written.
        return {"history": list(self.history), **{name: getattr(self, name) for name in names}}

    def load(self, state: dict[str, Any]) -> None:
        """Go on with what another one had seen."""
        for name, value in state.items():
            setattr(self, name, value)


def learn_task(
    task: Any,
    problem: Problem,
    *,
    start: Vector | None = None,
    preset: dict[str, Any] | None = None,
    score: Score | None = None,
    measure: str = "score",
    solver: Callable[[int], Any] | None = None,
    side_by_side: bool = False,
) -> Learned:
    """Learn the weights of a task's problem, ``task.n_models`` times with different seeds.

    Parameters
    ----------
    task : object
        Read only: its parameters. Besides those of :func:`learner_parameters` it may have
        ``n_models``, ``random_state``, ``patience``, ``callbacks``, ``checkpoint`` and ``verbose``.
    start : array, optional
        Weights to begin at, by default zeros; a dev set looks at them too, as pass 0.
    preset : dict, optional
        The task's own defaults of the learner's parameters.
    score : callable, optional
        Gives the dev score of weights, the larger the better.
    measure : str
        What the score is called.
    solver : callable, optional
        Makes a learner of a seed, to be taken instead of the named one: a faster way to the same
        weights.
    side_by_side : bool
        Inference is exact and runs on threads: several models may be learned at a time, on
        ``task.n_threads`` threads. The result is the same.
    """
    n_runs = int(getattr(task, "n_models", None) or 1)
    callbacks = getattr(task, "callbacks", None)
    more = [callbacks] if callable(callbacks) else list(callbacks or [])
    path = getattr(task, "checkpoint", None)
    say = _say if getattr(task, "verbose", 0) else None
    asked = "max_iter" in (preset or {}) or getattr(task, "max_iter", None) is not None
    found = Learned(np.zeros(0), 0)
    total: Vector | None = None

    def learn_one(run: int, watch: Watch) -> Training:
        if start is not None:
            watch.start(start)
        seed = int(task.random_state) + run - 1
        parameters = learner_parameters(task, seed, **(preset or {}))
        parameters.callbacks = [watch, *more]
        check_parameters(parameters)
        if solver is not None:
            parameters.solver = solver(seed)
        if path is not None:
            parameters.checkpoint = _checkpoint(path, run)
        training = learn(parameters, problem, weights=start)
        found.parameters = _effective(task.learner, parameters, training.solver)
        if score is None and not asked:
            warn_unless_converged("the learner", training, parameters.tol, stacklevel=4)
        return training

    def watches(first: int = 1) -> Iterator[tuple[int, Watch]]:
        patience = int(getattr(task, "patience", None) or 0)
        for run in range(first, n_runs + 1):
            yield run, Watch(score, measure, patience, say, run, n_runs)

    def one_after_another() -> Iterator[tuple[int, Watch, Training]]:
        for run, watch in watches(_run_to_go_on_with(path, n_runs)):
            watch.total = total
            yield run, watch, learn_one(run, watch)

    threads = min(n_runs, int(getattr(task, "n_threads", 1)))
    if side_by_side and threads > 1 and path is None and not more:
        results = _side_by_side(learn_one, list(watches()), threads)
    else:
        results = one_after_another()
    for run, watch, training in results:
        if run == 1 or watch.total is not None:
            total = watch.total  # a checkpoint brings that of the runs before it
        found.history += watch.history
        found.interrupted = training.interrupted
        if training.interrupted and total is not None:
            break  # the runs that are complete count
        found.passes = watch.best_pass if watch.best is not None else len(watch.history)
        if watch.best is None:
            found.objective, found.gap = training.objective, training.gap
        best = watch.best if watch.best is not None else training.weights
        total = best.copy() if total is None else total + best
        found.n_models = run
        if training.interrupted:
            break
    if total is None:
        raise KeyboardInterrupt
    found.weights = total / total.dtype.type(found.n_models) if found.n_models > 1 else total
    return found


def _side_by_side(
    learn_one: Callable[[int, Watch], Training], runs: list[tuple[int, Watch]], threads: int
) -> Iterator[tuple[int, Watch, Training]]:
    """Yield the runs, learned ``threads`` at a time, in their order.

    After Ctrl-C those that were complete, and then an interrupted one: where none was complete,
    what the first has reached.
    """
    from concurrent.futures import ThreadPoolExecutor

    from threadpoolctl import threadpool_limits

    done: dict[int, Training] = {}

    def train(run: int, watch: Watch) -> None:
        done[run] = learn_one(run, watch)

    interrupted = False
    # Learners set the limit one by one, and what they restore must be the same.
    with threadpool_limits(limits=1, user_api="blas"), ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(train, run, watch) for run, watch in runs]
        try:
            for future in futures:
                future.result()
        except KeyboardInterrupt:  # the passes under way are the last
            interrupted = True
            complete = set(done)
        finally:
            for _, watch in runs:
                watch.stopped = True
            pool.shutdown(wait=True, cancel_futures=True)
    if not interrupted:
        complete = set(done)
    kept = [run for run, _ in runs if run in complete]
    for number, run in enumerate(kept, 1):
        yield number, runs[run - 1][1], done[run]
    if interrupted and done:
        first = min(done)
        done[first].interrupted = True
        yield len(kept) + 1, Watch() if kept else runs[first - 1][1], done[first]


def _checkpoint(path: Any, run: int) -> str:
    """Return the file of one run: the name itself, for later runs with a number behind it."""
    return os.fspath(path) if run == 1 else f"{os.fspath(path)}.{run}"


def _run_to_go_on_with(path: Any, n_runs: int) -> int:
    """Return the run that a checkpoint is of, 1 where there is none."""
    if path is None:
        return 1
    runs = (run for run in range(n_runs, 1, -1) if glob.glob(glob.escape(_checkpoint(path, run))))
    return next(runs, 1)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
