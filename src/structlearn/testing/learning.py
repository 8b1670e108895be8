"""The check that a structure can be learned: a perceptron fitted to best outputs."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..exceptions import CapabilityError
from .trial import Trial

#: Features of each site.
_FEATURES = 2


def check_learning(trials: list[Trial], random_state: int) -> None:
    """Fit a perceptron to the best outputs, and check that it predicts legal ones.

    Blocks that are learned from features get random features in the shapes of the scores.

    Parameters
    ----------
    trials : list of Trial
        Inputs whose queries have passed.
    """
    structure, report = trials[0].structure, trials[0].report
    alike = [t for t in trials if set(t.arguments) == set(trials[0].arguments)]
    try:
        predicted = _learned(alike, random_state)
    except CapabilityError as error:
        report.missing.setdefault("learning", str(error))
        return
    except Exception as error:
        raise AssertionError(
            f"{structure!r} cannot be learned, though its queries are right: "
            f"{type(error).__name__}: {error}"
        ) from error
    for trial, output in zip(alike, predicted, strict=False):
        trial.row("the output that a learner predicts", output)
        report.count("learning")


def _learned(trials: list[Trial], random_state: int) -> list[Any]:
    """Fit a perceptron to the best outputs and return its predictions.

    Empty if the outputs lack a label, since a learner must see all of them.
    """
    from ..estimators import StructuredPerceptron

    structure, rng = trials[0].structure, np.random.default_rng(random_state)
    if structure.has_labels and structure.label_block not in trials[0].scores:
        raise ValueError(
            f"it has no block {structure.label_block!r}. If its outputs are not labels, set "
            "has_labels = False in the class; otherwise label_block names the block"
        )
    X = [_features(trial, rng) for trial in trials]
    y = [structure.argmax(**trial.arguments) for trial in trials]
    if structure.has_labels:
        n_labels = np.shape(trials[0].scores[structure.label_block])[-1]
        seen = {int(k) for output in y for k in structure.labels_of(output)}
        if seen != set(range(n_labels)):
            return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two passes
        model = StructuredPerceptron(structure, max_iter=2, random_state=random_state)
        return list(model.fit(X, y).predict(X))


def _features(trial: Trial, rng: np.random.Generator) -> dict[str, Any]:
    arrays: dict[str, Any] = dict(trial.truth.topology)
    for name, block in trial.structure.checked_blocks(1).items():
        if name not in trial.scores or block.shared or block.boundary:
            continue
        shape = np.shape(trial.scores[name])
        sites = shape[: len(shape) - len(block.outcomes)]
        arrays[name] = rng.normal(size=(*sites, _FEATURES))
    return arrays
