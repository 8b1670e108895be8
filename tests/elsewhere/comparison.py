"""Compare the models that two runs of ``tests.elsewhere.trainings`` made.

``python -m tests.elsewhere.comparison ONE OTHER`` prints a line for each model that is not the same
in both folders, and how far apart the two are.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file

from tests.elsewhere.trainings import file_name


@dataclass
class Difference:
    """How far two models are from each other.

    Attributes
    ----------
    weights : float
        The largest difference of two stored numbers over the largest number of that array; infinite
        if there are other arrays, or arrays of other lengths.
    labels : bool
        Both give the same labels.
    probabilities : float
        The largest difference of two probabilities.
    """

    name: str
    weights: float
    labels: bool
    probabilities: float


def differences(one: str | Path, other: str | Path) -> tuple[list[str], list[Difference]]:
    """Return the names of models with equal bytes and equal answers, and the others."""
    answers = [json.loads(Path(folder, "answers.json").read_text()) for folder in (one, other)]
    if list(answers[0]) != list(answers[1]):
        raise ValueError(f"{one} and {other} hold other models")
    equal, differing = [], []
    for name, mine in answers[0].items():
        theirs = answers[1][name]
        files = [Path(folder, file_name(name)) for folder in (one, other)]
        if files[0].read_bytes() == files[1].read_bytes() and mine == theirs:
            equal.append(name)
            continue
        differing.append(
            Difference(
                name,
                _weights_apart(*files),
                mine["labels"] == theirs["labels"],
                _apart(np.array(mine["probabilities"]), np.array(theirs["probabilities"])),
            )
        )
    return equal, differing


def _weights_apart(one: Path, other: Path) -> float:
    arrays = [load_file(path) for path in (one, other)]
    if arrays[0].keys() != arrays[1].keys():
        return float("inf")
    return max(
        (_relative(arrays[0][name], arrays[1][name]) for name in arrays[0]),
        default=0.0,
    )


def _relative(a: np.ndarray, b: np.ndarray) -> float:
    if a.shape != b.shape:
        return float("inf")
    if a.dtype.kind != "f":
        return 0.0 if a.tobytes() == b.tobytes() else float("inf")
    scale = np.abs(a[np.isfinite(a)]).max(initial=0.0)
    return _apart(a, b) / scale if scale else _apart(a, b)


def _apart(a: np.ndarray, b: np.ndarray) -> float:
    if a.shape != b.shape:
        return float("inf")
    apart = np.abs(np.where(a == b, 0.0, a.astype(float) - b))
    return float(apart.max(initial=0.0))


def main(one: str, other: str) -> None:
    """Print what differs."""
    equal, differing = differences(one, other)
    print(f"{len(equal)} models are equal")
    for d in differing:
        labels = "same labels" if d.labels else "OTHER LABELS"
        print(f"{d.name}: weights {d.weights:.1e}, {labels}, probabilities {d.probabilities:.1e}")


if __name__ == "__main__":
    main(*sys.argv[1:])
