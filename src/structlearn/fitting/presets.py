"""What tasks do otherwise than the estimators, by learner."""

from __future__ import annotations

from .learner_registry import LEARNERS, learners_with

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

_TAGGERS = {"svm": {"max_iter": 100}, "crf": {"max_iter": 100}}
#: What suits a task better than the defaults of the estimators. Parsers learn best by classic
#: AdaGrad (delta 0) without a regulariser; an image segmenter begins near the end of the way, at
#: the weights of single pixels and of pairs.
PRESETS: dict[str, dict[str, dict[str, Any]]] = {
    "tagger": _TAGGERS,
    "segments": _TAGGERS,
    "words": _TAGGERS,
    "parser": {
        "passive-aggressive": {"C": 0.002},
        "adagrad": {"C": float("inf"), "eta0": 0.02, "delta": 0.0, "max_iter": 10},
        "svm": {"C": 0.1, "max_iter": 100},
        "crf": {"C": 0.1, "max_iter": 100},
    },
    "constituency": {"adagrad": {"C": float("inf"), "eta0": 0.1, "delta": 0.0, "max_iter": 4}},
    "segmenter": {
        "adagrad": {"C": float("inf"), "eta0": 0.03, "delta": 0.05, "max_iter": 4},
        "perceptron": {"max_iter": 6},
        "passive-aggressive": {"C": 0.3, "max_iter": 6},
        "arow": {"r": 100.0, "max_iter": 6},
        "crf": {"tol": 1e-7},
    },
}


def preset_of(task: str, learner: str) -> dict[str, Any]:
    """Return what a task does otherwise than the estimator, as a dictionary of its own."""
    return dict(PRESETS[task].get(learner, {}))


def default_of(task: str, name: str) -> str:
    """Return the default of a learner's parameter in a task, in words.

    >>> default_of("parser", "C")
    '0.1; passive-aggressive: 0.002; adagrad: inf'
    """
    values: dict[str, list[str]] = {}
    for learner in learners_with(name):
        value = PRESETS[task].get(learner, {}).get(name, getattr(LEARNERS[learner], name))
        text = f"{value:g}" if isinstance(value, (int, float)) else str(value)
        values.setdefault(text, []).append(learner)
    (usual, _), *others = values.items()
    return "; ".join([usual, *(f"{', '.join(who)}: {value}" for value, who in others)])
