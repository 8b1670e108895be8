"""Intersection over union against a naive computation and scikit-learn's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, jaccard_score

from structlearn.metrics.overlap import compare


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 5))
def test_overlap_is_what_the_definition_says(seed, n_classes):
    rng = np.random.default_rng(seed)
    gold = [rng.integers(-1, n_classes, (4, 5)) for _ in range(2)]
    found = [rng.integers(0, n_classes, (4, 5)) for _ in range(2)]
    overlap = compare(gold, found, n_classes)
    truth, guess = np.concatenate(gold).ravel(), np.concatenate(found).ravel()
    naive = []
    for k in range(n_classes):
        a = {i for i in range(len(truth)) if truth[i] == k}
        b = {i for i in range(len(truth)) if guess[i] == k and truth[i] != -1}
        if a | b:
            naive.append(len(a & b) / len(a | b))
            assert overlap.iou[k] == pytest.approx(naive[-1])
        else:
            assert np.isnan(overlap.iou[k])
    known = truth >= 0
    if known.any():
        assert overlap.mean_iou == pytest.approx(np.mean(naive))
        assert overlap.accuracy == pytest.approx(accuracy_score(truth[known], guess[known]))
        present = np.union1d(truth[known], guess[known])
        expected = jaccard_score(truth[known], guess[known], labels=present, average="macro")
        assert overlap.mean_iou == pytest.approx(expected)


def test_nothing_but_void():
    overlap = compare([np.full((2, 2), -1)], [np.zeros((2, 2), dtype=int)], 2)
    assert (overlap.pixels, overlap.accuracy, overlap.mean_iou) == (0, 0.0, 0.0)
    assert overlap.as_dict(["a", "b"])["iou_by_class"] == {"a": None, "b": None}


def test_table():
    gold, found = [np.array([[0, 0, 0, 1]])], [np.array([[0, 1, 1, 1]])]
    rows = compare(gold, found, 3).table(["a", "b", "c"], alone=compare(gold, gold, 3))
    assert [row.split() for row in rows.splitlines()] == [
        ["class", "IoU", "alone", "pixels"],
        ["a", "33.33", "100.00", "3"],
        ["b", "33.33", "100.00", "1"],
        ["c", "–", "–", "0"],
    ]


def test_confusions():
    overlap = compare([np.array([[0, 0, 0, 1]])], [np.array([[0, 1, 1, 0]])], 2)
    assert overlap.confusions(["sky", "sea"], 5).split("\n")[0].split() == [
        "2", "sky", "taken", "for", "sea",
    ]  # fmt: skip
