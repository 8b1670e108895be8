"""Estimators by name: what a task's ``learner`` stands for, and the parameters beside it."""

from __future__ import annotations

import math
from typing import Any

from ..checks import check_number
from .learner_parameters import Parameters
from .learner_registry import LEARNERS, PARAMETERS

__all__ = [
    "check_learner",
    "effective_parameters",
    "learner_facts",
    "learner_parameters",
]

#: Parameters of estimators that a task may have.
_SHARED = ("C", "l1", "average", "shuffle", "margin", "temperature", "tol", "solver", "max_iter")
#: Parameters of one learner alone, and what they are called within.
_OWN = {"eta0": "_rate", "delta": "delta", "r": "_rate"}


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
    from .learning import check_parameters  # needs NumPy, which facts do without

    chosen = {**LEARNERS[task.learner], **preset}
    for name in (*_SHARED, *_OWN):
        value = getattr(task, name, None)
        if value is not None:
            chosen[name] = value
    parameters = _as_parameters({**chosen, "random_state": seed, "n_jobs": task.n_jobs})
    check_parameters(parameters)
    return parameters


def _as_parameters(chosen: dict[str, Any]) -> Parameters:
    """Return parameters by the names that the estimators have within."""
    for name, inner in _OWN.items():
        if name in chosen:
            chosen[inner] = check_number(name, chosen.pop(name), above=name != "delta")
    return Parameters(**chosen)


def check_learner(task: Any, *, also: tuple[str, ...] = ()) -> None:
    """Refuse unknown learners, parameters of other learners, and values that make no sense.

    For tasks whose parameters are None where their user says nothing. ``also`` names learners of
    the task's own, which have none of these parameters.
    """
    if task.learner not in (*LEARNERS, *also):
        known = ", ".join((*LEARNERS, *also))
        raise ValueError(f"learner must be one of {known}, got {task.learner!r}")
    for name, learners in PARAMETERS.items():
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
    values.update((name, getattr(parameters, inner)) for name, inner in _OWN.items())
    values["solver"] = solver
    kept = {name: v for name, v in values.items() if learner in PARAMETERS.get(name, LEARNERS)}
    if (
        learner in PARAMETERS["solver"]
    ):  # not made of steps: nothing to average, no order that matters
        del kept["average"], kept["shuffle"]
    return {name: v if v != math.inf else "inf" for name, v in kept.items()}


def learner_facts(training: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what a model's training record says of its learner, for people to read.

    Each parameter with its value; where the estimator has another default, that too.
    """
    known = training.get("learner_parameters")
    if not isinstance(known, dict):
        return []
    usual = _as_parameters(dict(LEARNERS[training["learner"]]))
    default = effective_parameters(training["learner"], usual, str(known.get("solver")))
    words = [
        f"{name} {value}"
        + ("" if default.get(name) == value else f" (estimator's default: {default[name]})")
        for name, value in known.items()
        if name in default
    ]
    facts = [("parameters", ", ".join(words))]
    if training.get("objective") is not None:
        gap = training.get("gap")
        proven = "" if gap is None else f", at most {gap:.3g} above the optimum"
        facts.append(("objective", f"{training['objective']:.6g}{proven}"))
    return facts
