from itertools import pairwise

import numpy as np
import pytest

from structlearn import CRF, StructuredPerceptron, StructuredSVM, traces
from structlearn.estimators import PassiveAggressive

FISH_SLEEP = [[["Fish", "Start"], ["Sleep"]]]


def ragged(seed=0, n=8, d=3):
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(rng.integers(1, 5), d)) for _ in range(n)]
    y = [[("D", "N", "V")[k] for k in rng.integers(0, 3, size=len(x))] for x in X]
    return X, y


@pytest.mark.parametrize(
    "model",
    [
        StructuredPerceptron(max_iter=4, random_state=0),
        StructuredPerceptron(max_iter=3, average=False, shuffle=False),
        StructuredSVM(solver="sgd", max_iter=4, random_state=1, tol=0),
        StructuredSVM(solver="sgd", step="constant", max_iter=3, random_state=1),
        PassiveAggressive(max_iter=3, random_state=2),
    ],
    ids=["perceptron", "last", "subgradient", "constant", "passive-aggressive"],
)
@pytest.mark.filterwarnings("ignore::structlearn.exceptions.ConvergenceWarning")
def test_steps_replay_to_fit_bit_by_bit(model):
    X, y = ragged()
    fitted = model.fit(X, y)
    coef = {name: a.copy() for name, a in fitted.coef_.items()}
    trace = traces.online_steps(model, X, y)
    assert len(trace.steps) == len(X) * model.max_iter
    for name, a in coef.items():
        np.testing.assert_array_equal(trace.answer[name], a)
        for before, after in zip(trace.steps, trace.steps[1:], strict=False):
            np.testing.assert_array_equal(before["after"][name], after["before"][name])
        if not trace.about["average"]:
            np.testing.assert_array_equal(trace.steps[-1]["after"][name], a)
    for step in trace.steps:
        assert step["gold"] == y[step["example"]]
        wrong = step["guess"] != step["gold"]
        assert any(np.any(c) for c in step["change"].values()) <= wrong or wrong


def test_perceptron_moves_by_the_difference_of_the_features():
    X, y = ragged(3)
    trace = traces.online_steps(StructuredPerceptron(max_iter=3, average=False), X, y)
    moved = 0
    for step in trace.steps:
        for name, change in step["change"].items():
            expected = step["before"][name] + change
            np.testing.assert_allclose(step["after"][name], expected, atol=1e-12)
        moved += step["guess"] != step["gold"]
        # The features of gold less those of the guess, counted by hand.
        x, label = X[step["example"]], step["change"]["label"]
        expected = np.zeros_like(label)
        for t, (gold, guess) in enumerate(zip(step["gold"], step["guess"], strict=True)):
            expected[trace.about["classes"].index(gold)] += x[t]
            expected[trace.about["classes"].index(guess)] -= x[t]
        np.testing.assert_allclose(label, expected, atol=1e-12)
    assert moved > 5


def slides():
    return StructuredSVM(
        C=1.0, solver="n-slack", violation_tol=0.1, tol=0, boundaries=False,
        all_possible_states=True,
    )  # fmt: skip


def test_three_rounds_of_the_slides():
    """(V,N) is violated by 2, then (N,N) by a quarter, then nothing by more than ε = 0.1."""
    trace = traces.cutting_planes(slides(), FISH_SLEEP, [["N", "V"]])
    first, second, last = trace.steps
    [rows] = first["tables"]
    assert [row["output"] for row in rows] == [["N", "N"], ["N", "V"], ["V", "N"], ["V", "V"]]
    assert [row["score"] for row in rows] == [0, 0, 0, 0]
    assert [row["loss"] for row in rows] == [1, 0, 2, 1]
    assert [row["violation"] for row in rows] == [1, 0, 2, 1]
    assert first["added"] == [{"example": 0, "output": ["V", "N"], "violation": 2.0}]
    assert second["working_set"] == [{"example": 0, "output": ["V", "N"]}]
    assert [a["output"] for a in second["added"]] == [["N", "N"]]
    assert second["added"][0]["violation"] == pytest.approx(0.25, abs=1e-7)
    assert (second["dual"], second["primal"]) == pytest.approx((0.25, 0.5), abs=1e-7)
    assert last["added"] == []
    assert max(row["violation"] for row in last["tables"][0]) <= 0.1
    assert len(last["working_set"]) == 2


def test_rounds_replay_to_fit():
    X, y = ragged(1)
    model = StructuredSVM(C=0.3, solver="n-slack", violation_tol=0.05, tol=0)
    trace = traces.cutting_planes(model, X, y)
    model.fit(X, y)
    for name, a in model.coef_.items():
        np.testing.assert_array_equal(trace.answer[name], a)
    for step, seen in zip(trace.steps, model.rounds_, strict=True):
        assert (step["primal"], step["dual"]) == (seen.primal, seen.dual)
        worst = [
            max(row["violation"] for row in rows) for rows in step["tables"] if rows is not None
        ]
        assert max(worst) <= step["violation"] + 1e-9
        for added in step["added"]:
            rows = step["tables"][added["example"]]
            if rows is not None:
                assert added["violation"] == pytest.approx(
                    max(row["violation"] for row in rows), abs=1e-9
                )


def test_passes_of_dual_ascent_replay_to_fit():
    X, y = ragged(2)
    model = CRF(solver="dual", tol=1e-4)
    trace = traces.dual_ascent(model, X, y)
    model.fit(X, y)
    for name, a in model.coef_.items():
        np.testing.assert_array_equal(trace.answer[name], a)
    assert len(trace.steps) == model.n_iter_
    duals = [step["dual"] for step in trace.steps]
    assert all(a <= b + 1e-9 for a, b in pairwise(duals))
    assert trace.value - duals[-1] == pytest.approx(trace.about["gap"], abs=1e-9)


def test_other_learners_are_refused():
    X, y = ragged(1)
    with pytest.raises(ValueError, match="n-slack"):
        traces.cutting_planes(StructuredSVM(), X, y)
    with pytest.raises(ValueError, match="lower max_iter"):
        traces.online_steps(StructuredPerceptron(max_iter=1000), X, y)
