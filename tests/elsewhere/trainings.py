"""A program that trains every kind of model and writes what it got: is it the same elsewhere?

``python -m tests.elsewhere.trainings FOLDER [WORD ...]`` trains every task with every learner of
its own and every estimator of ``tests/io/saved_cases.py``, or those whose names contain one of the
words. It writes each model to a file of FOLDER, and labels and probabilities of all to
``answers.json`` there. With STRUCTLEARN_TEST_KERNELS set to ``baseline`` our own loops use no wide
vectors. Run by another Python (another processor or system, fewer instructions) it makes files that
``tests/elsewhere/comparison.py`` compares.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from structlearn import _core
from structlearn.exceptions import CapabilityError
from tests.io.saved_cases import CASES, fitted
from tests.tasks.trainings import TRAININGS


def names() -> Iterator[str]:
    """Yield the names of all models: ``task: learner``, or ``estimator: case``."""
    for task, training in TRAININGS.items():
        yield from (f"{task}: {learner}" for learner in training.learners)
    yield from (f"estimator: {case}" for case in CASES)


def train(name: str) -> tuple[Any, Any, Callable[[], Any]]:
    """Return the model of a name, inputs for it, and a function that returns its answers."""
    kind, _, variant = name.partition(": ")
    if kind == "estimator":
        model, X, _ = fitted(variant)
        return model, X, lambda: model.predict(X)
    training = TRAININGS[kind]
    model = training.fit(variant)
    return model, training.inputs, lambda: training.answers(model)


def numbers(answer: Any) -> list[float]:
    """Return all numbers of an answer in the order in which they stand."""
    if isinstance(answer, dict):
        return [x for part in answer.values() for x in numbers(part)]
    if isinstance(answer, (str, bytes)):
        return []
    if isinstance(answer, np.ndarray) and answer.dtype != object:
        return [float(x) for x in answer.ravel()] if answer.dtype.kind in "fiub" else []
    if isinstance(answer, (list, tuple, np.ndarray, memoryview)):
        return [x for part in answer for x in numbers(part)]
    return [float(answer)] if isinstance(answer, (int, float, np.generic)) else []


def probabilities(model: Any, inputs: Any) -> list[float]:
    """Return the marginals of the model, none if it has no probabilities."""
    try:
        return numbers(model.predict_marginals(inputs))
    except (CapabilityError, AttributeError):
        return []


def main(folder: str, *words: str) -> None:
    """Train, save and write the answers."""
    warnings.simplefilter("ignore")
    if (kernels := os.environ.get("STRUCTLEARN_TEST_KERNELS")) and not _core.use_kernels(kernels):
        raise SystemExit(f"this processor has no {kernels} instructions")
    answers = {}
    for name in names():
        if words and not any(word in name for word in words):
            continue
        model, inputs, labels = train(name)
        model.save(Path(folder, file_name(name)))
        text = json.dumps(
            labels(), default=lambda x: x.tolist() if hasattr(x, "tolist") else str(x)
        )
        answers[name] = {
            "labels": hashlib.sha256(text.encode()).hexdigest(),
            "probabilities": probabilities(model, inputs),
        }
    Path(folder, "answers.json").write_text(json.dumps(answers))


def file_name(name: str) -> str:
    """Return the name of a model's file."""
    return name.replace(": ", "-").replace(" ", "_").replace(",", "") + ".model"


if __name__ == "__main__":
    main(*sys.argv[1:])
