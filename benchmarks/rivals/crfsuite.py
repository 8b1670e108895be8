"""CRFsuite through python-crfsuite: training with its log, and tagging."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import pycrfsuite

__all__ = ["Training", "tag", "train"]


class Training:
    """A trainer with its data appended, so that reading and learning are timed separately."""

    def __init__(self, X: list[Any], y: list[list[str]], algorithm: str, **parameters: Any) -> None:
        self.trainer = pycrfsuite.Trainer(algorithm=algorithm, verbose=False)
        self.trainer.set_params(parameters)
        for tokens, labels in zip(X, y, strict=True):
            self.trainer.append(tokens, labels)


def train(training: Training, model: Path) -> dict[str, Any]:
    """Train and store the model; return the figures of CRFsuite's log."""
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
    """Return the labels of the sentences, and the seconds taken."""
    tagger = pycrfsuite.Tagger()
    tagger.open(str(model))
    begin = time.perf_counter()
    labels = [tagger.tag(tokens) for tokens in X]
    return labels, time.perf_counter() - begin


def model_file() -> Any:
    """Return a temporary folder for a model; use it in a ``with`` statement."""
    return tempfile.TemporaryDirectory()
