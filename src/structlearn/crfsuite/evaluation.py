"""Scores of held-out sequences, in CRFsuite's format."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..array_types import Integers


def write_evaluation(
    labels: Sequence[str],
    gold: Sequence[Integers],
    predicted: Sequence[Integers],
    write: Callable[[str], None],
) -> None:
    """Write counts and scores by label, their means, and the accuracies.

    As in CRFsuite, labels absent from the gold sequences count 0 in the means, and their
    predictions are left out of the accuracy.

    Parameters
    ----------
    labels : list of str
        Names of the labels.
    gold, predicted : lists of arrays
        The label indices of each sequence.
    write : callable
        Takes a line.
    """
    n = len(labels)
    every = np.concatenate([*gold, np.empty(0, np.int64)]).astype(np.int64)
    chosen_labels = np.concatenate([*predicted, np.empty(0, np.int64)]).astype(np.int64)
    match = np.bincount(every[every == chosen_labels], minlength=n)
    model, reference = np.bincount(chosen_labels, minlength=n), np.bincount(every, minlength=n)
    present = reference > 0
    precision = np.where(present, match / np.maximum(model, 1), 0.0)
    recall = match / np.maximum(reference, 1)
    both = precision + recall
    f1 = np.where(both > 0, 2 * precision * recall / np.where(both > 0, both, 1.0), 0.0)
    write("Performance by label (#match, #model, #ref) (precision, recall, F1):\n")
    for k, label in enumerate(labels):
        scores = "******, ******, ******"
        if present[k]:
            scores = f"{precision[k]:1.4f}, {recall[k]:1.4f}, {f1[k]:1.4f}"
        write(f"    {label}: ({match[k]}, {model[k]}, {reference[k]}) ({scores})\n")
    means = [float(values.sum()) / n if n else 0.0 for values in (precision, recall, f1)]
    write("Macro-average precision, recall, F1: ({:f}, {:f}, {:f})\n".format(*means))
    right, total = int(match[present].sum()), len(every)
    whole = sum(np.array_equal(a, b) for a, b in zip(gold, predicted, strict=True))
    for what, hits, of in (("Item", right, total), ("Instance", whole, len(gold))):
        write(f"{what} accuracy: {hits} / {of} ({hits / of if of else 0.0:1.4f})\n")
