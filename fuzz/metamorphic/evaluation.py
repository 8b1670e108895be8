"""Relations on metrics of random labels, probabilities and masks, against plain loops."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzz.metamorphic.answers import demand_same, plain
from fuzz.metamorphic.evaluation_chunks import ROUNDING, corrupted, f1_of
from fuzz.metamorphic.oracles import token_scores
from fuzz.metamorphic.oracles.overlap_scores import overlap_scores
from fuzz.metamorphic.relation import relation
from structlearn import metrics
from structlearn.metrics.overlap import compare

__all__: list[str] = []

Rng = np.random.Generator


@relation(
    "token scores", {"known labels": 0.0, "some unknown": 0.3, "all unknown": 1.0}, claim="to 1e-12"
)
def scores_of_tokens(unknown: float, rng: Rng) -> None:
    """Accuracies, confusions, reports by label and intervals are those of plain loops."""
    labels = ("N", "V", "größe", "|", "")[: int(rng.integers(1, 6))]
    lengths = rng.integers(0, 7, size=int(rng.integers(1, 5))).tolist()
    gold: list[list[Any]] = [[str(k) for k in rng.choice(labels, size=n)] for n in lengths]
    predicted: list[list[Any]] = [
        corrupted(rng, row, [str(k) for k in rng.choice(labels, size=len(row))]) for row in gold
    ]
    gold = [[None if rng.random() < unknown else k for k in row] for row in gold]
    predicted = [[None if rng.random() < 0.05 else k for k in row] for row in predicted]
    values = {
        "token_accuracy": token_scores.accuracy(gold, predicted),
        "sequence_accuracy": token_scores.whole_accuracy(gold, predicted),
    }
    for name, value in values.items():
        demand_same(name, value, getattr(metrics, name)(gold, predicted), ROUNDING)
        interval = metrics.bootstrap_interval(gold, predicted, name, n_resamples=20,
                                              random_state=0)  # fmt: skip
        demand_same(f"interval of {name}", value, interval.value, ROUNDING)
    pairs = token_scores.confusion(gold, predicted)
    table = metrics.confusion(gold, predicted)
    figures = {
        (a, b): n
        for a, row in zip(table.labels, table.counts, strict=True)
        for b, n in zip(table.labels, row, strict=True)
        if n
    }
    demand_same("confusion", plain(dict(sorted(pairs.items(), key=repr))),
                plain(dict(sorted(figures.items(), key=repr))))  # fmt: skip
    report = metrics.label_report(gold, predicted)
    demand_same("accuracy of the report", values["token_accuracy"], report.accuracy, ROUNDING)
    for label, scores in report.by_label.items():
        right = pairs.get((label, label), 0)
        counts = [right, sum(n for (_, b), n in pairs.items() if b == label),
                  sum(n for (a, _), n in pairs.items() if a == label)]  # fmt: skip
        demand_same(f"counts of {label}", counts, [scores.correct, scores.predicted, scores.gold])
        demand_same(f"F1 of {label}", f1_of(*counts), scores.f1, ROUNDING)


@relation("reliability", {"10 bins": 10, "any bins": 0}, claim="to 1e-9")
def reliability(n_bins: int, rng: Rng) -> None:
    """The calibration error of plain loops; a probability on a border is in the upper bin."""
    n_bins = n_bins or int(rng.integers(1, 120))
    n = int(rng.integers(1, 30))
    p = np.where(rng.random(n) < 0.5, rng.random(n), rng.integers(0, n_bins + 1, n) / n_bins)
    right = (rng.random(n) < p).tolist()
    p = p.tolist()
    report = metrics.reliability(p, right, n_bins)
    sizes = [sum(b.low <= x < b.high or (b.high == 1.0 == x) for x in p) for b in report.bins]
    demand_same("sizes of bins", sizes, [b.n for b in report.bins])
    error = token_scores.expected_calibration_error(p, right, n_bins)
    demand_same("error", error, report.error, 1e-9)


@relation("overlap", {"two classes": 2, "five classes": 5}, claim="to 1e-12")
def overlap(n_classes: int, rng: Rng) -> None:
    """IoU and accuracy of plain loops; void pixels and absent classes do not count."""
    used = int(rng.integers(1, n_classes + 1))
    sizes = [tuple(rng.integers(1, 7, size=2).tolist()) for _ in range(int(rng.integers(1, 4)))]
    gold = [rng.integers(-1, used, size=size) for size in sizes]
    predicted = [
        np.where(rng.random(size) < 0.5, np.maximum(g, 0), rng.integers(0, used, size=size))
        for g, size in zip(gold, sizes, strict=True)
    ]
    ours = compare(gold, predicted, n_classes).as_dict([str(k) for k in range(n_classes)])
    theirs = overlap_scores(gold, predicted, None)
    by_class = {str(k): theirs["iou_by_class"].get(k) for k in range(n_classes)}
    demand_same("overlap", {**theirs, "iou_by_class": by_class}, ours, ROUNDING)
