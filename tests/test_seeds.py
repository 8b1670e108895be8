"""The numbers and equations printed in the texts that the library follows.

H. Daumé III, A Course in Machine Learning, chapter 17 ("Daumé"); the CS 159 lectures on structural
SVMs ("lectures"); the loss family of margin and temperature ("family").
"""

from itertools import pairwise

import numpy as np
import pytest

from structlearn.estimators import CRF, StructuredModel, StructuredPerceptron, StructuredSVM
from structlearn.losses import Hamming, StructuredLoss, hinge_loss, log_loss
from structlearn.structures import Chain, Exhaustive, Multiclass

# -- lectures: Hamming loss and slacks ------------------------------------------------------------

GOLD = ["D", "N", "V", "D", "N"]


@pytest.mark.parametrize(
    ("other", "loss"), [(["D", "N", "V", "N", "N"], 1), (["V", "D", "N", "V", "V"], 5)]
)
def test_hamming_losses_of_the_slide(other, loss):
    assert Hamming()(GOLD, other) == loss
    assert Hamming(normalize=True)(GOLD, other) == loss / 5


# F(y') for y' = (N,N), (N,V), (V,N), (V,V); gold (N,V).
SLIDES = [(0, [2, 4, 1, 1]), (2, [4, 3, 0, 1]), (1, [2, 4, 3, 1])]


@pytest.mark.parametrize(("slack", "table"), SLIDES)
def test_slacks_of_the_slides(slack, table):
    """The whole table as transition scores of a two-word chain, and by enumeration."""
    scores = {"label": np.zeros((2, 2)), "transition": np.reshape(table, (2, 2)).astype(float)}
    for structure in (Chain(), Exhaustive(Chain())):
        loss, gradient = hinge_loss()(structure, [0, 1], **scores)
        assert loss == slack
        worst = {0: (0, 1), 1: (1, 0), 2: (0, 0)}[slack]  # the only output with that slack
        expected = np.zeros((2, 2))
        expected[worst] += 1
        expected[0, 1] -= 1
        np.testing.assert_array_equal(gradient["transition"], expected)


def test_violations_before_the_first_constraint():
    """All scores 0: the violations are the losses 1, 0, 2, 1, and (V, N) is the worst."""
    scores = {"label": np.zeros((2, 2)), "transition": np.zeros((2, 2))}
    loss, gradient = hinge_loss()(Chain(), [0, 1], **scores)
    assert loss == 2
    np.testing.assert_array_equal(gradient["label"], [[-1, 1], [1, -1]])


def test_slack_bounds_the_loss_of_the_prediction():
    for slack, table in SLIDES:
        predicted = np.unravel_index(np.argmax(table), (2, 2))
        assert slack >= Hamming()([0, 1], np.array(predicted))


# -- lectures: cutting planes ---------------------------------------------------------------------

# "Fish Sleep" with the features of the slides: words, label pairs, the first label beside Start.
FISH_SLEEP = [[["Fish", "Start"], ["Sleep"]]]


def cutting_planes(solver="n-slack", violation_tol=0.1, C=1.0):
    return StructuredSVM(
        C=C, solver=solver, violation_tol=violation_tol, tol=0, boundaries=False,
        all_possible_states=True,
    )  # fmt: skip


def test_cutting_planes_of_the_slides():
    """C = 1, ε = 0.1: (V,N) by 2, then (N,N) by 0.25, then nothing by more than ε.

    The slides' own numbers in between belong to no C: after one constraint w is a multiple of
    Ψ(N,V) − Ψ(V,N), so F(V,N) = −F(N,V), and they print 0.9 and −0.6.
    """
    model = cutting_planes().fit(FISH_SLEEP, [["N", "V"]])
    first, second, last = model.rounds_
    assert first.n_constraints == 0
    assert first.slack.tolist() == [0.0]
    [added] = first.constraints
    assert (added.example, added.output.tolist(), added.violation) == (0, ["V", "N"], 2.0)
    assert (first.primal, first.dual) == (2.0, 0.0)

    assert second.n_constraints == 1
    assert second.slack == pytest.approx([0.0], abs=1e-8)
    [added] = second.constraints
    assert added.output.tolist() == ["N", "N"]
    assert added.violation == pytest.approx(0.25, abs=1e-7)
    # w = (Ψ(N,V) − Ψ(V,N))/4, half the squared length of 8/16.
    assert second.dual == pytest.approx(0.25, abs=1e-8)
    assert second.primal == pytest.approx(0.5, abs=1e-7)

    assert last.n_constraints == 2
    assert last.constraints == []
    assert last.violation <= 0.1
    assert model.duality_gap_ == pytest.approx(0.0, abs=1e-7)
    np.testing.assert_array_equal(model.predict(FISH_SLEEP)[0], ["N", "V"])


@pytest.mark.parametrize("violation_tol", [0.5, 0.1, 0.01])
@pytest.mark.parametrize("C", [0.05, 0.3, 1.0])
def test_slack_and_tolerance_bound_the_hamming_loss(violation_tol, C):
    X, y = ragged(seed=3)
    model = cutting_planes(violation_tol=violation_tol, C=C).fit(X, y)
    last = model.rounds_[-1]
    assert last.violation <= violation_tol
    assert all(r.violation > violation_tol for r in model.rounds_[:-1])
    losses = [Hamming()(a, b) for a, b in zip(y, model.predict(X), strict=True)]
    assert (losses <= last.slack + violation_tol + 1e-7).all()
    for r in model.rounds_[:-1]:
        assert len(r.constraints) > 0
        assert all(c.violation > violation_tol for c in r.constraints)
    # The restricted problem only grows.
    duals = [r.dual for r in model.rounds_]
    assert all(a <= b + 1e-9 for a, b in pairwise(duals))


def test_rounds_of_one_slack_grow_no_faster_than_the_tolerance_shrinks():
    """The bound is O(1/ε) rounds."""
    X, y = ragged(seed=4, n=30)
    tolerances = [0.3, 0.1, 0.03, 0.01, 0.003]
    rounds = [
        cutting_planes("one-slack", violation_tol=t, C=0.3).fit(X, y).n_iter_ for t in tolerances
    ]
    assert all(a <= b for a, b in pairwise(rounds))
    for i, j in zip(range(4), range(1, 5), strict=True):
        assert rounds[j] <= 1 + rounds[i] * tolerances[i] / tolerances[j]


# -- lectures: reduction to independent multiclass ------------------------------------------------


def ragged(seed=0, n=9, d=4):
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(rng.integers(1, 5), d)) for _ in range(n)]
    centres = rng.normal(size=(3, d))
    y = [
        [
            ("D", "N", "V")[k]
            for k in np.argmax(x @ centres.T + rng.normal(size=(len(x), 3)), axis=1)
        ]
        for x in X
    ]
    return X, y


@pytest.mark.parametrize(("margin", "temperature"), [(1, 0), (0, 1), (1, 0.5), (0, 0)])
def test_without_pairwise_features_a_chain_is_its_tokens(margin, temperature):
    X, y = ragged()
    tokens, labels = np.vstack(X), [k for row in y for k in row]
    options = {"margin": margin, "temperature": temperature}
    chain = StructuredModel(Chain(order=0), boundaries=False, **options).problem(X, y)
    single = StructuredModel("multiclass", **options).problem(tokens, labels)
    assert chain.n_weights == single.n_weights == 12
    rng = np.random.default_rng(1)
    for _ in range(5):
        w = rng.normal(size=12)
        value, gradient = chain.objective(w, C=0.7, **options)
        token_value, token_gradient = single.objective(w, C=0.7, **options)
        assert value == pytest.approx(token_value, rel=1e-13)
        np.testing.assert_allclose(gradient, token_gradient, rtol=0, atol=1e-12)


def test_without_pairwise_features_the_optimum_is_that_of_the_tokens():
    X, y = ragged()
    tokens, labels = np.vstack(X), [k for row in y for k in row]
    options = {"C": 0.1, "tol": 2e-3, "max_iter": 4096, "random_state": 0}
    chain = StructuredSVM(Chain(order=0), boundaries=False, **options).fit(X, y)
    single = StructuredSVM("multiclass", **options).fit(tokens, labels)
    difference = chain.objective_ - single.objective_
    assert -single.duality_gap_ <= difference <= chain.duality_gap_
    assert abs(difference) < 2e-3 * single.objective_


# -- family: ε → 0 and ε = 1 ----------------------------------------------------------------------


@pytest.mark.parametrize("temperature", [1e-1, 1e-2, 1e-3, 1e-4])
def test_temperature_to_zero_is_the_hinge(temperature):
    """0 ≤ L_ε − L_0 ≤ ε · log(number of outputs)."""
    rng = np.random.default_rng(2)
    for structure, y, scores, outputs in [
        (Multiclass(), 1, {"label": rng.normal(size=4)}, 4),
        (Chain(), [0, 2, 1], {"label": rng.normal(size=(3, 3)), "transition": np.eye(3)}, 27),
    ]:
        hinge, vertex = hinge_loss()(structure, y, **scores)
        loss, gradient = StructuredLoss(margin=1, temperature=temperature)(structure, y, **scores)
        assert 0 <= loss - hinge <= temperature * np.log(outputs)
        if temperature == 1e-4:
            for name in vertex:
                np.testing.assert_allclose(gradient[name], vertex[name], atol=1e-12)


def test_temperature_one_without_cost_is_the_log_loss():
    scores = np.array([0.3, -1.2, 2.0, 0.7])
    p = np.exp(scores) / np.exp(scores).sum()
    for loss in (StructuredLoss(temperature=1), log_loss()):
        value, gradient = loss(Multiclass(), 3, label=scores)
        assert value == pytest.approx(-np.log(p[3]), abs=1e-14)
        np.testing.assert_allclose(gradient["label"], p - np.eye(4)[3], atol=1e-15)


def test_cost_one_at_temperature_zero_is_the_multiclass_hinge():
    """The cost is 1[ŷ ≠ y]: max(0, 1 + max_{k≠y} F(k) − F(y))."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        scores, y = 2 * rng.normal(size=5), int(rng.integers(5))
        expected = max(0.0, 1 + np.delete(scores, y).max() - scores[y])
        for cost in ("hamming", "zero-one"):
            assert hinge_loss(cost)(Multiclass(), y, label=scores)[0] == pytest.approx(expected)


# -- Daumé: what an update of the perceptron does -------------------------------------------------


def test_update_raises_the_true_class_and_lowers_the_imposter():
    """Eq. 17.8: by ‖x‖² each, with the other classes where they were."""
    rng = np.random.default_rng(4)
    X = rng.integers(-3, 4, size=(40, 5)).astype(float)
    y = rng.integers(0, 4, size=40)
    model = StructuredPerceptron("multiclass", average=False)
    mistakes = 0
    for i, (x, k) in enumerate(zip(X, y, strict=True)):
        before = model.coef_ @ x if i else np.zeros(4)
        guess = int(np.argmax(before))
        model.partial_fit(x[np.newaxis], [k], classes=range(4))
        change = model.coef_ @ x - before
        expected = np.zeros(4)
        if guess != k:
            mistakes += 1
            expected[k], expected[guess] = x @ x, -(x @ x)
        np.testing.assert_array_equal(change, expected)
    assert mistakes > 10


def test_update_on_a_chain_raises_the_difference():
    """Of the scores of y and ŷ, by ‖Ψ(y) − Ψ(ŷ)‖²; the score of y alone need not rise."""
    rng = np.random.default_rng(5)
    X = [rng.integers(-2, 3, size=(4, 3)).astype(float) for _ in range(30)]
    y = [rng.integers(0, 3, size=4) for _ in X]
    model = StructuredPerceptron(average=False)
    model.partial_fit(X[:1], y[:1], classes=range(3))
    mistakes = 0
    for x, gold in zip(X, y, strict=True):
        guess = model.predict([x])[0]
        if np.array_equal(guess, gold):
            continue
        mistakes += 1
        psi = []
        for labels in (gold, guess):
            L = np.zeros((3, 3))
            np.add.at(L, labels, x)
            T = np.zeros((3, 3))
            np.add.at(T, (labels[:-1], labels[1:]), 1.0)
            psi.append(np.concatenate([L.ravel(), T.ravel(), np.eye(3)[labels[0]],
                                       np.eye(3)[labels[-1]]]))  # fmt: skip
        direction = psi[0] - psi[1]

        def margin(coef, direction=direction):
            blocks = ("label", "transition", "start", "end")
            return np.concatenate([coef[b].ravel() for b in blocks]) @ direction

        before = margin(model.coef_)
        model.partial_fit([x], [gold])
        assert margin(model.coef_) - before == direction @ direction
    assert mistakes > 10


# -- Daumé: {music, movies, oncology} -------------------------------------------------------------

TREE = (("music", "movies"), "oncology")
CLASSES = ["movies", "music", "oncology"]  # sorted, as in classes_


def expand(x, name):
    """φ(x, name) of eq. 17.9-11, in four blocks."""
    zero = np.zeros_like(x)
    return {
        "music": np.concatenate([x, zero, zero, x]),
        "movies": np.concatenate([zero, x, zero, x]),
        "oncology": np.concatenate([zero, zero, x, zero]),
    }[name]


def documents(seed=6):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 4, size=(25, 3)).astype(float)
    return X, [CLASSES[k] for k in rng.integers(0, 3, size=25)]


@pytest.mark.parametrize("max_iter", [1, 4])
def test_class_hierarchy_is_the_feature_expansion(max_iter):
    X, y = documents()
    w = np.zeros(12)
    for _ in range(max_iter):
        for x, name in zip(X, y, strict=True):
            scores = [w @ expand(x, k) for k in CLASSES]
            guess = CLASSES[int(np.argmax(scores))]
            if guess != name:
                w = w + expand(x, name) - expand(x, guess)
    model = StructuredPerceptron(
        "multiclass", hierarchy=TREE, average=False, shuffle=False, max_iter=max_iter
    ).fit(X, y)
    assert model.classes_.tolist() == CLASSES
    scores = np.array([[w @ expand(x, k) for k in CLASSES] for x in X])
    np.testing.assert_array_equal(X @ model.coef_.T, scores)
    np.testing.assert_array_equal(model.predict(X), np.array(CLASSES)[scores.argmax(axis=1)])
    # The shared block moves only when an update is not between music and movies.
    plain = StructuredPerceptron("multiclass", average=False, shuffle=False, max_iter=max_iter).fit(
        X, y
    )
    assert not np.array_equal(plain.coef_, model.coef_)


def test_class_hierarchy_under_the_log_loss():
    """½‖w‖² + CΣ loss over the four explicit blocks, value and gradient."""
    X, y = documents()
    problem = CRF("multiclass", hierarchy=TREE).problem(X, y)
    assert problem.n_weights == 12
    # Weights stand feature by feature: movies, music, oncology, and what the first two share.
    order = {"music": 1, "movies": 0, "oncology": 2}
    rng = np.random.default_rng(7)
    w = rng.normal(size=12)
    blocks = w.reshape(3, 4).T  # (column, feature)
    explicit = np.concatenate([blocks[1], blocks[0], blocks[2], blocks[3]])
    value, gradient = problem.objective(w, C=0.5, margin=0, temperature=1)
    expected, slope = 0.5 * w @ w, explicit.copy()
    for x, name in zip(X, y, strict=True):
        phi = np.array([expand(x, k) for k in CLASSES])
        s = phi @ explicit
        p = np.exp(s) / np.exp(s).sum()
        expected += 0.5 * (np.log(np.exp(s).sum()) - s[order[name]])
        slope += 0.5 * (p @ phi - phi[order[name]])
    assert value == pytest.approx(expected, rel=1e-13)
    by_column = slope.reshape(4, 3)[[1, 0, 2, 3]]
    np.testing.assert_allclose(gradient, by_column.T.ravel(), atol=1e-12)
