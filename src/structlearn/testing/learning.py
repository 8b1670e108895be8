"""Learning with a structure: a perceptron finds weights, and predicts what is best under them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..exceptions import CapabilityError
from .trial import Trial

#: Features of each site.
_FEATURES = 2


def check_learning(trials: list[Trial], random_state: int) -> None:
    """Fit a perceptron to the best outputs, and see that it predicts legal ones.

    The inputs have features for the blocks that learn from features, in the shapes of the scores.

    Parameters
    ----------
    trials : list of Trial
        Inputs whose queries have been found right.
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
    """Return what a perceptron predicts that was fitted to the best outputs.

    Nothing if they do not have all labels, which a learner has to see.
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
        seen = {int(k) for one in y for k in structure.labels_of(one)}
        if seen != set(range(n_labels)):
            return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two passes
        model = StructuredPerceptron(structure, max_iter=2, random_state=random_state)
        return list(model.fit(X, y).predict(X))


def _features(trial: Trial, rng: np.random.Generator) -> dict[str, Any]:
    found: dict[str, Any] = dict(trial.truth.topology)
    for name, block in trial.structure.checked_blocks(1).items():
        if name not in trial.scores or block.shared or block.boundary:
            continue
        shape = np.shape(trial.scores[name])
        sites = shape[: len(shape) - len(block.outcomes)]
        found[name] = rng.normal(size=(*sites, _FEATURES))
    return found
