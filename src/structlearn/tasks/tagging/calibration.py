"""The score of weights on a dev set, and the temperature at which its labels are most probable."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import TYPE_CHECKING

from ...metrics import chunk_f1, token_accuracy
from ...text.corpus import Corpus
from .learned import LearnedWeights
from .model import TaggerModel

if TYPE_CHECKING:
    from .fitting import Fitting

__all__ = ["DevScore", "best_temperature", "calibrate"]

_LOW, _HIGH, _STEPS = -4.0, 12.0, 16  # of the logarithm (base 2) of the temperature


class DevScore:
    """Called with weights, gives chunk F1 or token accuracy."""

    def __init__(self, fitting: Fitting, dev: Corpus) -> None:
        self.fitting = fitting
        self.dev = dev
        self.gold = dev.column(fitting.target)
        self.threads = fitting.tagger.n_threads

    def __call__(self, learned: LearnedWeights) -> float:
        model = self.fitting.model(learned)
        predicted, at = [], 0
        flat = model.label_corpus(self.dev, self.threads)
        for labels in self.gold:
            predicted.append(flat[at : at + len(labels)])
            at += len(labels)
        judge = chunk_f1 if self.fitting.measure == "f1" else token_accuracy
        return judge(self.gold, predicted)


def calibrate(model: TaggerModel, dev: Corpus) -> float:
    """Return the temperature that minimises −Σ log P(gold label | sentence) over a dev set.

    Parameters
    ----------
    dev : Corpus
        Its target column has the model's own labels.

    Notes
    -----
    Golden-section search over log T; each step is one pass of forward–backward. The labels' order
    does not change with T, so neither do predictions (G. Guo et al. 2017).
    """
    index = {label: i for i, label in enumerate(model.labels)}
    gold = array("i")
    for s in range(len(dev)):
        gold.extend(index.get(label, -1) for label in dev.cells(s, model.target))

    def loss(log_temperature: float) -> float:
        return float(model.core.log_loss(dev._core, gold, 2.0**log_temperature))

    return best_temperature(loss)


def best_temperature(loss: Callable[[float], float]) -> float:
    """Return the temperature with the least loss, a function of its logarithm (base 2)."""
    low, high, ratio = _LOW, _HIGH, (5**0.5 - 1) / 2
    a, b = high - ratio * (high - low), low + ratio * (high - low)
    at_a, at_b = loss(a), loss(b)
    for _ in range(_STEPS):
        if at_a < at_b:
            high, b, at_b = b, a, at_a
            a = high - ratio * (high - low)
            at_a = loss(a)
        else:
            low, a, at_a = a, b, at_b
            b = low + ratio * (high - low)
            at_b = loss(b)
    return float(2.0 ** ((low + high) / 2))
