"""Estimators by name: what a task's ``learner`` stands for, and the parameters beside it."""

from __future__ import annotations

import math
from typing import Any

from .declared import check_number
from .learning import Parameters, check_parameters

__all__ = [
    "LEARNERS",
    "check_learner",
    "effective_parameters",
    "learner_facts",
    "learner_parameters",
]

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
        value = getattr(task, name, None)
        own = name == "solver" and not isinstance(value, str) and task.learner not in also
        if value is not None and task.learner not in learners and not own:
            raise ValueError(
                f"{name} is a parameter of {', '.join(learners)} only; learner is {task.learner!r}"
            )
    if task.learner not in also:
        learner_parameters(task, 0)


def effective_parameters(learner: str, parameters: Parameters, solver: str) -> dict[str, Any]:
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
    default = effective_parameters(training["learner"], usual, str(known.get("solver")))
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
