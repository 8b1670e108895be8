"""From the problem of a task to its weights: learners by name, several seeds, a dev set.

Every task learns here. What a task brings is a :class:`~structlearn.problem.Problem` and, for a dev
set, a function that scores weights. A learner's name stands for an estimator, and the parameters of
the task that go with it have that estimator's names and meaning.
"""

from __future__ import annotations

import glob
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..estimators.learning import Parameters, check_parameters, learn, warn_unless_converged
from ..problem import Problem
from .parameters import check_number

__all__ = ["LEARNERS", "Learned", "Watch", "check_learner", "learn_task", "learner_parameters"]

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


def check_learner(task: Any) -> None:
    """Refuse unknown learners, parameters of other learners, and values that make no sense.

    For tasks whose parameters are None where their user says nothing.
    """
    if task.learner not in LEARNERS:
        raise ValueError(f"learner must be one of {', '.join(LEARNERS)}, got {task.learner!r}")
    for name, learners in _WHOSE.items():
        if getattr(task, name, None) is not None and task.learner not in learners:
            raise ValueError(
                f"learner={task.learner!r} has no parameter {name}; those that have: "
                f"{', '.join(learners)}"
            )
    learner_parameters(task, 0)


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
    """

    weights: Vector
    n_models: int
    history: list[dict[str, Any]] = field(default_factory=list)
    passes: int = 0
    interrupted: bool = False
    objective: float | None = None
    gap: float | None = None


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
        self._begin = time.perf_counter()

    def start(self, weights: Vector) -> None:
        """Take note of where learning begins: pass 0, which a dev set may find the best."""
        if self.score is not None:
            self.best, self.best_score = weights.copy(), self.score(weights)
            noted = {"run": self.run, "pass": 0, f"dev_{self.measure}": self.best_score}
            self._note(noted)

    def __call__(self, record: dict[str, Any]) -> bool:
        """Take note of a pass; return True where it should be the last."""
        noted: dict[str, Any] = {"run": self.run, "pass": record["iteration"]}
        noted.update((k, record[k]) for k in _SHOWN if k in record)
        stop = False
        if self.score is not None:
            reached = record["weights"]()
            noted[f"dev_{self.measure}"] = score = self.score(reached)
            if score > self.best_score:
                self.best, self.best_score = reached.copy(), score
                self.best_pass = noted["pass"]
            stop = bool(self.patience) and noted["pass"] - self.best_pass >= self.patience
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
    """
    n_runs = int(getattr(task, "n_models", None) or 1)
    callbacks = getattr(task, "callbacks", None)
    more = [callbacks] if callable(callbacks) else list(callbacks or [])
    path = getattr(task, "checkpoint", None)
    first = _run_to_go_on_with(path, n_runs)
    say = _say if getattr(task, "verbose", 0) else None
    total: Vector | None = None
    history: list[dict[str, Any]] = []
    found = Learned(np.zeros(0), 0)
    for run in range(first, n_runs + 1):
        patience = int(getattr(task, "patience", None) or 0)
        watch = Watch(score, measure, patience, say, run, n_runs)
        watch.total = total
        if start is not None:
            watch.start(start)
        parameters = learner_parameters(task, int(task.random_state) + run - 1, **(preset or {}))
        parameters.callbacks = [watch, *more]
        check_parameters(parameters)
        if path is not None:
            parameters.checkpoint = _checkpoint(path, run)
        training = learn(parameters, problem, weights=start)
        asked = "max_iter" in (preset or {}) or getattr(task, "max_iter", None) is not None
        if score is None and not asked:
            warn_unless_converged("the learner", training, parameters.tol, stacklevel=3)
        total = watch.total  # a checkpoint brings that of the runs before it
        history += watch.history
        best = watch.best if watch.best is not None else training.weights
        found.history, found.interrupted = history, training.interrupted
        if training.interrupted and total is not None:
            break  # the runs that are complete count
        found.passes = watch.best_pass if watch.best is not None else len(watch.history)
        if watch.best is None:
            found.objective, found.gap = training.objective, training.gap
        total = best.copy() if total is None else total + best
        found.n_models = run
        if training.interrupted:
            break
    assert total is not None
    found.weights = total / total.dtype.type(found.n_models) if found.n_models > 1 else total
    return found


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
