"""Assignments."""

import warnings

import numpy as np
import pytest

from structlearn import StructuredPerceptron, StructuredSVM
from structlearn.exceptions import CapabilityError, InfeasibleError
from structlearn.structures import Matching
from structlearn.testing import check_structure


def draw(rng):
    n, m = (int(k) for k in rng.integers(1, 5, 2))
    return {"pair": rng.normal(size=(n, m))}


def test_every_query_against_enumeration():
    report = check_structure(Matching(), draw, n_inputs=8)
    assert set(report.missing) == {"infer", "log_partition", "marginals", "entropy", "sample"}
    assert "#P-hard" in report.missing["marginals"]


def test_the_program_finds_the_same():
    rng = np.random.default_rng(0)
    for _ in range(10):
        scores = draw(rng)
        found = Matching().as_program(**scores).solve()
        best = Matching().solve(**scores)
        assert found.value == pytest.approx(best.value)
        assert best.exact
        np.testing.assert_array_equal(found.output, best.output)


def test_forbidden_pairs():
    pair = np.array([[0.0, -np.inf], [5.0, 1.0]])
    assert Matching().argmax(pair=pair).tolist() == [0, 1]
    with pytest.raises(InfeasibleError):
        Matching().argmax(pair=np.array([[0.0, -np.inf], [0.0, -np.inf]]))


@pytest.mark.parametrize("call", ["marginals", "log_partition", "infer", "entropy"])
def test_there_are_no_sums(call):
    with pytest.raises(CapabilityError, match="#P-hard"):
        getattr(Matching(), call)(pair=np.eye(2))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, 0], "twice"),
        ([0, 2], "among"),
        ([0, -1], "must have a column"),
        ([0], "for each of 2 rows"),
        ([0.0, 1.0], "for each of 2 rows"),
    ],
)
def test_bad_outputs(y, message):
    with pytest.raises(ValueError, match=message):
        Matching().score(np.array(y), pair=np.eye(2))


def test_bad_scores():
    for pair in (np.zeros(3), np.zeros((0, 2))):
        with pytest.raises(ValueError, match="pair must have shape"):
            Matching().argmax(pair=pair)
    with pytest.raises(ValueError, match="NaN"):
        Matching().argmax(pair=np.full((2, 2), np.nan))


@pytest.mark.parametrize("learner", [StructuredPerceptron, StructuredSVM])
def test_learning_to_match(learner):
    rng = np.random.default_rng(1)
    weights = np.array([1.0, -2.0, 0.5])
    X = [{"pair": rng.normal(size=(4, 4, 3))} for _ in range(60)]
    y = [Matching().argmax(pair=x["pair"] @ weights) for x in X]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = learner(Matching(), max_iter=10).fit(X[:40], y[:40])
    assert model.score(X[40:], y[40:]) > 0.9
