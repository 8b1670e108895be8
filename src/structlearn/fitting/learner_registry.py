"""Learners by name, as tasks have them, with the parameters and defaults of their estimators.

A module without imports: the command line makes its help from it.
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

__all__ = ["LEARNERS", "PARAMETERS"]

#: What a learner's name stands for, in the terms of the estimators (StructuredPerceptron,
#: StructuredSVM, CRF, PassiveAggressive, AdaGrad, AROW), with their defaults.
LEARNERS: dict[str, dict[str, Any]] = {
    "perceptron": {"solver": "perceptron", "margin": 0.0, "cost": None, "max_iter": 10},
    "svm": {"solver": "auto", "margin": 1.0, "C": 1.0, "tol": 0.01, "max_iter": 1000},
    "crf": {
        "solver": "auto",
        "margin": 0.0,
        "temperature": 1.0,
        "C": 1.0,
        "l1": 0.0,
        "tol": 0.001,
        "max_iter": 1000,
    },
    "passive-aggressive": {"solver": "passive-aggressive", "C": 1.0, "tol": 0.0, "max_iter": 10},
    "arow": {"solver": "arow", "tol": 0.0, "r": 10.0, "max_iter": 10},
    "adagrad": {
        "solver": "adagrad",
        "margin": 1.0,
        "temperature": 0.0,
        "C": 1.0,
        "tol": 0.01,
        "eta0": 1.0,
        "delta": 1.0,
        "max_iter": 20,
    },
}
#: The learners that have a parameter, where not all have it.
PARAMETERS: dict[str, tuple[str, ...]] = {
    "C": ("svm", "crf", "passive-aggressive", "adagrad"),
    "l1": ("crf",),
    "margin": ("crf", "adagrad"),
    "temperature": ("crf", "adagrad"),
    "tol": ("svm", "crf", "adagrad"),
    "solver": ("svm", "crf"),
    "eta0": ("adagrad",),
    "delta": ("adagrad",),
    "r": ("arow",),
}
