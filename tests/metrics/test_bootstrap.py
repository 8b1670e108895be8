"""Bootstrap intervals: against the exact distribution, and what is refused."""

import itertools
import json

import numpy as np
import pytest

from structlearn.metrics import (
    CountMetric,
    bootstrap_interval,
    chunk_f1,
    chunk_report,
    draws,
    sequence_accuracy,
    token_accuracy,
    token_counts,
)
from structlearn.metrics.counts import METRICS

GOLD = [["B-A", "I-A", "O"], ["B-A", "O"], ["O", "B-B", "I-B", "B-A"], ["B-A"], ["O", "O"]]
PREDICTED = [["B-A", "O", "O"], ["B-A", "O"], ["O", "B-B", "I-B", "O"], ["B-B"], ["O", "B-A"]]

PLAIN = {
    "token_accuracy": token_accuracy,
    "sequence_accuracy": sequence_accuracy,
    "chunk_f1": chunk_f1,
    "chunk_precision": lambda g, p: chunk_report(g, p).overall.precision,
    "chunk_recall": lambda g, p: chunk_report(g, p).overall.recall,
}


def resampled(metric):
    """The metric of every one of the nⁿ resamples, each computed from its labels."""
    n = len(GOLD)
    return np.array(
        [
            PLAIN[metric]([GOLD[i] for i in drawn], [PREDICTED[i] for i in drawn])
            for drawn in itertools.product(range(n), repeat=n)
        ]
    )


def test_every_metric_has_its_plain_form():
    assert METRICS.keys() == PLAIN.keys()


@pytest.mark.parametrize("metric", PLAIN)
def test_against_all_resamples(metric):
    """The interval's ends have the right shares of the exact distribution below them."""
    exact = resampled(metric)
    for confidence in (0.5, 0.8, 0.95):
        found = bootstrap_interval(
            GOLD, PREDICTED, metric, confidence=confidence, n_resamples=40_000, random_state=0
        )
        assert found.value == pytest.approx(PLAIN[metric](GOLD, PREDICTED), abs=1e-15)
        tail = (1 - confidence) / 2
        for end, share in ((found.low, tail), (found.high, 1 - tail)):
            # The distribution has steps: a quantile is where its share is passed.
            assert (exact < end - 1e-9).mean() <= share + 0.01
            assert (exact <= end + 1e-9).mean() >= share - 0.01


def test_standard_error_of_a_mean():
    """One token a sentence: an interval of two standard errors √(p(1 − p)/n) each way."""
    n, p = 2000, 0.3
    gold, predicted = [["A"]] * n, [["A"]] * int(n * p) + [["B"]] * int(n * (1 - p))
    found = bootstrap_interval(gold, predicted, random_state=0)
    error = np.sqrt(p * (1 - p) / n)
    assert found.low == pytest.approx(p - 1.96 * error, abs=0.1 * error)
    assert found.high == pytest.approx(p + 1.96 * error, abs=0.1 * error)


def test_sentences_are_drawn_not_tokens():
    """100 copies of each token in its sentence tell no more than one."""
    gold, predicted = [["A"]] * 50, [["A"]] * 25 + [["B"]] * 25
    long_gold, long_predicted = ([s * 100 for s in y] for y in (gold, predicted))
    short = bootstrap_interval(gold, predicted, random_state=3)
    assert bootstrap_interval(long_gold, long_predicted, random_state=3) == short


def test_same_seed_same_interval():
    one, two, three = (
        bootstrap_interval(GOLD, PREDICTED, n_resamples=300, random_state=seed)
        for seed in (1, np.random.default_rng(1), np.int64(1))
    )
    assert one == two == three
    intervals = {
        bootstrap_interval(GOLD * 9, PREDICTED * 9, n_resamples=300, random_state=seed)
        for seed in (*range(5), np.random.RandomState(0), None)
    }
    assert len(intervals) > 3


def test_blocks_change_nothing(monkeypatch):
    whole = bootstrap_interval(GOLD, PREDICTED, n_resamples=501, random_state=1)
    monkeypatch.setattr(draws, "_AT_ONCE", 100)
    assert bootstrap_interval(GOLD, PREDICTED, n_resamples=501, random_state=1) == whole


def test_one_sentence_has_no_spread():
    found = bootstrap_interval(GOLD[:1], PREDICTED[:1], "chunk_f1", random_state=0, n_resamples=9)
    assert found.low == found.high == found.value == 0.0
    assert found.n_resamples == 9


def test_a_metric_of_ones_own():
    error = CountMetric("error", token_counts, lambda c: 1 - c[..., 0] / c[..., 1])
    found = bootstrap_interval(GOLD, PREDICTED, error, random_state=0)
    accuracy = bootstrap_interval(GOLD, PREDICTED, random_state=0)
    assert found.metric == "error"
    assert found.value == pytest.approx(1 - accuracy.value)
    assert found.low == pytest.approx(1 - accuracy.high)
    assert found.high == pytest.approx(1 - accuracy.low)


def test_text_and_json():
    found = bootstrap_interval([["A"]], [["A"]], confidence=0.9, n_resamples=2, random_state=0)
    assert str(found) == "token_accuracy 1.0000, 90% interval [1.0000, 1.0000]"
    assert json.loads(json.dumps(found.as_dict())) == {
        "metric": "token_accuracy",
        "value": 1.0,
        "low": 1.0,
        "high": 1.0,
        "confidence": 0.9,
        "n_resamples": 2,
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "f1"}, r"metric must be one of \['chunk_f1'.* got 'f1'"),
        ({"confidence": 95}, "confidence must be between 0 and 1, got 95"),
        ({"confidence": 0}, "confidence must be between 0 and 1"),
        ({"n_resamples": 0}, "n_resamples must be an int >= 1, got 0"),
        ({"n_resamples": 10.0}, "n_resamples must be an int >= 1"),
        ({"n_resamples": True}, "n_resamples must be an int >= 1"),
        ({"random_state": -1}, "random_state must be None, an int >= 0 or a generator, got -1"),
        ({"random_state": "0"}, "random_state must be None"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        bootstrap_interval(GOLD, PREDICTED, **options)


@pytest.mark.parametrize(
    ("counts", "value", "message"),
    [
        (lambda g, p: [1.0] * len(g), lambda c: c[..., 0], r"shape \(5,\); they must be one row"),
        (lambda g, p: [[1.0], [np.nan]] * 2, lambda c: c[..., 0], "sentence 1: a count of metric"),
        (lambda g, p: [[1.0]] * 5, lambda c: c, r"value gave shape \(\d+, 1\)"),
        (lambda g, p: [[0.0]] * 5, lambda c: c[..., 0] + np.nan, "is nan for the counts"),
    ],
)
def test_bad_metrics(counts, value, message):
    with pytest.raises(ValueError, match=message):
        bootstrap_interval(GOLD, PREDICTED, CountMetric("own", counts, value))


def test_no_sentences():
    with pytest.raises(ValueError, match="there are no sentences"):
        bootstrap_interval([], [], "chunk_f1")
