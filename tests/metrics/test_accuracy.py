"""Accuracies, the table by label and the confusions; scikit-learn is the second opinion."""

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sklearn_metrics

from structlearn.metrics import (
    chunk_report,
    confusion,
    label_report,
    sequence_accuracy,
    token_accuracy,
    token_counts,
)
from structlearn.metrics.accuracy import sequence_counts
from structlearn.metrics.scores import Averages, Scores
from tests.metrics.metric_strategies import REPEATABLE, paired

GOLD = [["D", "N", "V"], ["N"], ["D", "N"]]
PREDICTED = [["D", "N", "N"], ["N"], ["N", "D"]]
FUNCTIONS = [token_accuracy, sequence_accuracy, confusion, label_report, chunk_report]


def flat(sentences):
    return [label for sentence in sentences for label in sentence]


def test_accuracies():
    assert token_accuracy(GOLD, PREDICTED) == 3 / 6
    assert sequence_accuracy(GOLD, PREDICTED) == 1 / 3
    assert token_counts(GOLD, PREDICTED) == [(2, 3), (1, 1), (0, 2)]
    assert sequence_counts(GOLD, PREDICTED) == [(0, 1), (1, 1), (0, 1)]


@REPEATABLE
@given(paired(st.sampled_from("ABCD")).filter(lambda drawn: any(drawn[0])))
def test_against_scikit_learn(drawn):
    gold, predicted = drawn
    x, y = flat(gold), flat(predicted)
    assert token_accuracy(gold, predicted) == sklearn_metrics.accuracy_score(x, y)
    table = confusion(gold, predicted)
    assert table.labels == tuple(sorted({*x, *y}))
    pairs = Counter(zip(x, y, strict=True))
    assert table.counts == tuple(tuple(pairs[a, b] for b in table.labels) for a in table.labels)
    report = label_report(gold, predicted)

    def expected(average):
        found = sklearn_metrics.precision_recall_fscore_support(
            x, y, average=average, zero_division=0.0
        )
        return found[:3] if average else list(zip(*found, strict=True))

    rows = [(s.precision, s.recall, s.f1, s.support) for s in report.by_label.values()]
    np.testing.assert_allclose(rows, expected(None), rtol=1e-12)
    micro = report.micro
    np.testing.assert_allclose(
        [micro.precision, micro.recall, micro.f1], expected("micro"), rtol=1e-12
    )
    np.testing.assert_allclose(report.macro, expected("macro"), rtol=1e-12)
    assert report.accuracy == token_accuracy(gold, predicted)


def test_precision_and_recall_are_not_exchanged():
    scores = label_report([["A", "A", "A", "B"]], [["A", "B", "B", "B"]]).by_label["B"]
    assert scores == Scores(correct=1, predicted=3, gold=1)
    assert (scores.precision, scores.recall, scores.f1, scores.support) == (1 / 3, 1, 0.5, 1)


def test_some_labels():
    report = label_report(GOLD, PREDICTED, labels=["V", "N", "X"])
    assert list(report.by_label) == ["V", "N", "X"]
    assert report.by_label["X"] == Scores(0, 0, 0)
    assert report.micro == Scores(correct=2, predicted=4, gold=4)
    assert report.accuracy == 0.5


def test_label_text():
    assert (
        str(label_report(GOLD, PREDICTED))
        == """\
       precision   recall       F1  support
D         50.00%   50.00%   50.00%        2
N         50.00%   66.67%   57.14%        3
V          0.00%    0.00%    0.00%        1
micro     50.00%   50.00%   50.00%        6
macro     33.33%   38.89%   35.71%        6
accuracy: 50.00%"""
    )


def test_confusions_most_frequent_first():
    gold = [["NN"] * 5 + ["JJ"] * 4]
    predicted = [["JJ", "NN", "NN", "VB", "NN", "NN", "NN", "VB", "JJ"]]
    table = confusion(gold, predicted)
    assert table.counts == ((1, 2, 1), (1, 3, 1), (0, 0, 0))
    assert table.most_confused() == [
        ("JJ", "NN", 2), ("JJ", "VB", 1), ("NN", "JJ", 1), ("NN", "VB", 1),
    ]  # fmt: skip
    assert table.most_confused(1) == [("JJ", "NN", 2)]
    assert (
        table.text(2)
        == """\
gold       predicted    count  of gold
JJ         NN               2   50.00%
JJ         VB               1   25.00%
5 of 9 tokens are wrong, 2 of them not shown"""
    )
    assert str(table).endswith("\nNN         VB               1   20.00%\n5 of 9 tokens are wrong")


def test_as_dict_goes_through_json():
    for result in (label_report(GOLD, PREDICTED), confusion(GOLD, PREDICTED)):
        assert json.loads(json.dumps(result.as_dict())) == result.as_dict()
    assert label_report(GOLD, PREDICTED).as_dict()["macro"]["recall"] == (1 / 2 + 2 / 3) / 3
    assert confusion(GOLD, PREDICTED).as_dict()["counts"] == [[1, 1, 0], [1, 2, 0], [0, 1, 0]]


@pytest.mark.parametrize("empty", [[], [[]], [[], []]])
def test_nothing(empty):
    assert token_accuracy(empty, empty) == sequence_accuracy(empty, empty) == 0.0
    report = label_report(empty, empty)
    assert report.accuracy == 0.0
    assert report.macro == Averages(0.0, 0.0, 0.0)
    assert confusion(empty, empty).labels == ()
    assert str(confusion(empty, empty)).endswith("0 of 0 tokens are wrong")


def test_unknown_gold_labels_are_left_out():
    gold, predicted = [["A", None, None, "B"], [None], []], [["A", "A", "B", None], [None], []]
    assert token_counts(gold, predicted) == [(1, 2), (0, 0), (0, 0)]
    assert token_accuracy(gold, predicted) == 0.5
    assert sequence_counts(gold, predicted) == [(0, 1), (0, 0), (0, 0)]
    assert confusion(gold, predicted).labels == ("A", "B", None)
    assert confusion(gold, predicted).counts == ((1, 0, 0), (0, 0, 1), (0, 0, 0))
    report = label_report(gold, predicted)
    assert list(report.by_label) == ["A", "B"]
    assert report.micro == Scores(1, 1, 2)


def test_labels_of_any_type():
    gold, predicted = [[3, 11, 2]], [np.array([3, 2, 2])]
    assert token_accuracy(gold, predicted) == 2 / 3
    assert confusion(gold, predicted).labels == (2, 3, 11)
    assert confusion([["a", 1]], [["a", "a"]]).labels == (1, "a")


@pytest.mark.parametrize("function", FUNCTIONS)
def test_different_lengths(function):
    with pytest.raises(ValueError, match="sentence 1: gold has 2 labels, predicted has 1"):
        function([["O"], ["O", "O"]], [["O"], ["O"]])
    with pytest.raises(ValueError, match="gold has 2 sentences, predicted has 1"):
        function([["O"], ["O"]], [["O"]])


@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_is_no_list_of_sentences(function):
    with pytest.raises(TypeError, match="sentence 0: gold is 'O', not a sequence of labels"):
        function(["O", "O"], ["O", "O"])
    with pytest.raises(TypeError, match="sentence 1: predicted is 3, not a sequence"):
        function([["O"], ["O"]], [["O"], 3])
    with pytest.raises(TypeError, match="gold is a string"):
        function("OO", "OO")
    with pytest.raises(TypeError, match="predicted is of type NoneType"):
        function([["O"]], None)
    with pytest.raises(TypeError, match="sentence 0: gold is 1, not a sequence"):
        function(np.array([1, 2]), np.array([1, 2]))
