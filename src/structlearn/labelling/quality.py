"""Quality: how good the labels make a tagger, by cross-validation, and if more would help.

The answers are cut into folds. Each is labelled by taggers that have learned a quarter, a half and
all of the others: this is the learning curve. The gain from the half to all says what twice as many
labels were worth; its interval is that of the difference, on the same sentences.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..metrics import CountMetric, bootstrap_interval
from ..metrics.counts import as_metric
from ..metrics.schemes import are_chunk_labels
from .kinds import Example
from .learning import learned

FOLDS = 5
#: Shares of the other folds that are learned.
SHARES = (0.25, 0.5, 1.0)
#: Answers from which there is something to estimate.
FEWEST = 10
#: A gain that is surely below this is not worth twice the labels.
WORTH = 0.01
_RESAMPLES = 1000


@dataclass
class Quality:
    """What cross-validation says.

    Attributes
    ----------
    answers : int
        As many were looked at.
    metric : {"F1", "accuracy"}
    points : list of dict
        labels, value, low, high of each share; labels: of as many tokens, or texts.
    gain : dict
        value, low, high of what the second half of the labels was worth.
    """

    answers: int
    metric: str
    points: list[dict[str, float]]
    gain: dict[str, float]

    @property
    def pays(self) -> bool:
        """Whether as many labels again may be worth their work, as far as the interval tells."""
        return self.gain["high"] >= WORTH

    @property
    def said(self) -> str:
        """The advice in words."""
        gain, low, high = (100 * self.gain[name] for name in ("value", "low", "high"))
        worth = (
            f"the second half of the labels was worth {gain:+.1f} points of {self.metric} "
            f"({low:+.1f} to {high:+.1f})"
        )
        if not self.pays:
            return f"{worth}: as many again would hardly pay"
        if self.gain["low"] <= 0:
            return f"{worth}: too few labels to tell if as many again would pay"
        return f"{worth}: more labels pay"

    def as_dict(self) -> dict[str, Any]:
        """Return everything, for a page."""
        names = ("answers", "metric", "points", "gain", "pays", "said")
        return {name: getattr(self, name) for name in names}


def cross_validated(
    parameters: dict[str, Any],
    answers: Sequence[list[Example]],
    ended: Callable[[], bool] = lambda: False,
    *,
    whole: bool = False,
    random_state: int = 0,
) -> Quality | None:
    """Estimate how good a tagger of these answers is; None where there are too few.

    Parameters
    ----------
    parameters : dict
        Of the tagger.
    answers : sequence of lists of sentences
        The sentences of one text stay together.
    ended : callable
        Called before each training; True ends it all, without a result.
    whole : bool
        A text has one label, which all of its tokens have: texts are counted, not tokens.
    """
    answers = [one for one in answers if one]
    if len(answers) < FEWEST:
        return None
    order = random.Random(random_state).sample(range(len(answers)), len(answers))
    gold: list[list[str | None]] = []
    predicted: list[list[list[str]]] = [[] for _ in SHARES]
    given = np.zeros(len(SHARES))
    for fold in range(FOLDS):
        held = [s for i in order[fold::FOLDS] for s in answers[i]]
        learners = [i for at, i in enumerate(order) if at % FOLDS != fold]
        words = [[word for word, _ in sentence] for sentence in held]
        gold += [[None if k == "_" else k for _, k in sentence] for sentence in held]
        for n, share in enumerate(SHARES):
            if ended():
                return None
            part = [s for i in learners[: max(1, round(share * len(learners)))] for s in answers[i]]
            labels = (1 if whole else sum(k != "_" for _, k in s) for s in part)
            given[n] += sum(labels) / FOLDS
            tagger = learned(parameters, part)
            # Nothing to tell apart: everything is what there is.
            lone = next((k for s in part for _, k in s if k != "_"), "O")
            outputs = [[lone] * len(s) for s in words] if tagger is None else tagger.predict(words)
            predicted[n] += outputs
    if whole:
        gold = [row[:1] for row in gold]
        predicted = [[row[:1] for row in rows] for rows in predicted]
    chunked = not whole and are_chunk_labels([k for row in gold for k in row if k is not None])
    measure = as_metric("chunk_f1" if chunked else "token_accuracy")
    points = []
    for n_labels, outputs in zip(given.tolist(), predicted, strict=True):
        interval = bootstrap_interval(
            gold, outputs, measure, n_resamples=_RESAMPLES, random_state=random_state
        )
        points.append({"labels": float(round(n_labels)), **_ends(interval)})
    pairs = list(zip(predicted[-2], predicted[-1], strict=True))
    gain = bootstrap_interval(
        gold, pairs, _gain(measure), n_resamples=_RESAMPLES, random_state=random_state
    )
    return Quality(len(answers), "F1" if chunked else "accuracy", points, _ends(gain))


def _ends(interval: Any) -> dict[str, float]:
    return {name: float(getattr(interval, name)) for name in ("value", "low", "high")}


def _gain(measure: CountMetric) -> CountMetric:
    """Return how much better the second of two predictions is."""

    def counts(gold: Any, pairs: Any) -> Any:
        return np.hstack([measure.table(gold, [pair[i] for pair in pairs]) for i in (0, 1)])

    def value(sums: Any) -> Any:
        k = sums.shape[-1] // 2
        return measure.of(sums[..., k:]) - measure.of(sums[..., :k])

    return CountMetric("gain", counts, value)
