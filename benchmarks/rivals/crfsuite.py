"""CRFsuite through python-crfsuite: training, its own account of it, and tagging."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import pycrfsuite

__all__ = ["Training", "tag", "train"]


class Training:
    """A trainer with its data appended, so that reading and learning can be timed apart."""

    def __init__(self, X: list[Any], y: list[list[str]], algorithm: str, **parameters: Any) -> None:
        self.trainer = pycrfsuite.Trainer(algorithm=algorithm, verbose=False)
        self.trainer.set_params(parameters)
        for tokens, labels in zip(X, y, strict=True):
            self.trainer.append(tokens, labels)


def train(training: Training, model: Path) -> dict[str, Any]:
    """Learn and store the model; return what CRFsuite's log says of it."""
    training.trainer.train(str(model))
    log = training.trainer.logparser
    return {
        "feature_generation": log.featgen_seconds,
        "n_weights": log.featgen_num_features,
        "storing": log.storing_seconds,
        "iterations": [
            {
                "seconds": record.get("time"),
                "loss": record.get("loss"),
                "evaluations": record.get("linesearch_trials"),
            }
            for record in log.iterations
        ],
    }


def tag(model: Path, X: list[Any]) -> tuple[list[list[str]], float]:
    """Return the labels of the sentences, and the seconds that finding them took."""
    tagger = pycrfsuite.Tagger()
    tagger.open(str(model))
    begin = time.perf_counter()
    found = [tagger.tag(tokens) for tokens in X]
    return found, time.perf_counter() - begin


def model_file() -> Any:
    """Return a temporary folder for a model; use it in a ``with`` statement."""
    return tempfile.TemporaryDirectory()
