"""Constraints in estimators, in training and prediction: masks of weights, of scores, rows."""

import copy
import itertools
import warnings

import numpy as np
import pytest

from structlearn import CRF, HMM, StructuredPerceptron, StructuredSVM
from structlearn.constraints import Label, Part, at_most, exactly, forbid, matches, require
from structlearn.exceptions import CapabilityError, InfeasibleError
from structlearn.learners.base import Progress, Settings
from structlearn.learners.lbfgs import LBFGS
from structlearn.structures import Chain, ConstrainedChain, ConstrainedSemiMarkov, Tree


def sequences(n=25, seed=0):
    """Sequences with exactly one "B" each; where it is can only be told by comparing positions."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        length = int(rng.integers(3, 7))
        features = rng.normal(size=(length, 2))
        labels = np.full(length, "A")
        labels[features[:, 0].argmax()] = "B"
        X.append(features)
        y.append(labels)
    return X, y


def fitted(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


@pytest.mark.parametrize(
    "learner",
    [
        StructuredPerceptron(max_iter=8, random_state=0),
        StructuredSVM(max_iter=20, random_state=0),
        StructuredSVM(solver="one-slack", tol=0.1, random_state=0),
    ],
    ids=["perceptron", "frank-wolfe", "one-slack"],
)
def test_a_count_is_kept_in_training_and_prediction(learner):
    X, y = sequences()
    model = learner.set_params(constraints=[exactly(1, Label("B"))])
    fitted(model, X[:15], y[:15])
    predicted = model.predict(X[15:])
    assert all((labels == "B").sum() == 1 for labels in predicted)
    assert model.score(X[15:], y[15:]) > 0.9
    assert [how for _, how in model.constraints_] == ["automaton of 2 states"]
    assert isinstance(model.structure_, ConstrainedChain), "the native learners know it"
    kbest = model.predict_kbest(X[15:16], 2)[0]
    assert all((labels == "B").sum() == 1 for _, labels in kbest)


def test_masks_of_weights_and_of_scores():
    X, y = sequences()
    y = [np.append(labels, "C") for labels in y]
    X = [np.vstack([features, [[0.0, 0.0]]]) for features in X]
    constraints = [
        require(Label("C", at=-1)),
        forbid(Part("transition", "C", "A"), Part("transition", "C", "B")),
    ]
    model = CRF(constraints=constraints, max_iter=30, random_state=0).fit(X, y)
    assert [how for _, how in model.constraints_] == ["automaton of 2 states", "mask of weights"]
    assert all(labels[-1] == "C" for labels in model.predict(X))
    np.testing.assert_allclose([p[-1, 2] for p in model.predict_marginals(X)], 1.0)


def test_forbid_is_short_for_constraints():
    X, y = sequences()
    short = CRF(forbid={"transition": [("B", "B")]}, max_iter=10, random_state=0).fit(X, y)
    long = CRF(constraints=[forbid(Part("transition", "B", "B"))], max_iter=10, random_state=0).fit(
        X, y
    )
    np.testing.assert_array_equal(short.coef_["transition"], long.coef_["transition"])
    assert [how for _, how in short.constraints_] == ["mask of weights"]
    assert type(long.structure_).__name__ == "Chain", "the native learners do this"


def trees():
    rng = np.random.default_rng(0)
    X = [{"label": rng.normal(size=(4, 2))} for _ in range(10)]
    return X, [["A", "B", "A", "B"]] * 10


def test_a_crf_says_what_it_cannot_do():
    X, y = trees()
    with pytest.raises(CapabilityError, match=r"exactly 2 of label 'B'.*structured SVM"):
        CRF(Tree([-1, 0, 0, 1]), constraints="exactly(2, B)", random_state=0).fit(X, y)


@pytest.mark.parametrize(("margin", "temperature"), [(0.0, 1.0), (1.0, 1.0), (0.0, 0.3)])
def test_a_crf_under_constraints_reaches_its_proven_optimum(margin, temperature):
    X, y = sequences()
    model = CRF(
        constraints="exactly(1, B); contiguous(B)",
        margin=margin,
        temperature=temperature,
        tol=1e-6,
        random_state=0,
    ).fit(X, y)
    assert 0 <= model.duality_gap_ <= 1e-6 * model.objective_
    problem = model.problem(X, y)
    free = CRF(margin=margin, temperature=temperature, random_state=0).problem(X, y)
    w = model._weights
    options = {"C": model.C, "margin": margin, "temperature": temperature}
    value, gradient = problem.objective(w, **options)
    assert value == pytest.approx(model.objective_)
    assert value < free.objective(w, **options)[0], "outputs that are left out have no share"
    rng = np.random.default_rng(1)
    way = rng.normal(size=len(w))
    h = 1e-5
    ahead, behind = (problem.objective(w + s * h * way, **options)[0] for s in (1, -1))
    assert (ahead - behind) / (2 * h) == pytest.approx(gradient @ way, abs=1e-4)


def parts_in_runs(n, n_labels=29, seed=0):
    """Inputs that tell their labels, each of which is in one run."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        parts = rng.permutation(n_labels)[: int(rng.integers(3, 6))]
        labels = np.repeat(parts, rng.integers(1, 3, size=len(parts)))
        X.append(np.eye(n_labels)[labels])
        y.append([f"L{k}" for k in labels])
    return X, y


def test_a_crf_whose_sums_are_certified_reaches_its_proven_gap():
    """29 automata have a product of 3^29 states: its sums are proven up to a bound."""
    X, y = parts_in_runs(150)
    settings = {"constraints": "contiguous()", "C": 20.0, "random_state": 0}
    model = CRF(**settings).fit(X, y)
    assert model.duality_gap_ <= model.tol * model.objective_
    bound = model.history_[-1]["bound"]
    assert 0 < bound <= model.tol
    w = model._weights
    problem = model.problem(X, y).certified(bound)
    assert problem.objective(w, C=20.0, margin=0.0, temperature=1.0)[0] == pytest.approx(
        model.objective_, rel=1e-9
    )
    # All outputs that are legal, whose probabilities add up.
    every = [[f"L{a}", f"L{b}"] for a, b in itertools.product(range(29), repeat=2)]
    assert model.predict_proba([X[0][1:3]] * len(every), every).sum() == pytest.approx(1.0)
    assert model.predict_proba([X[0][:3]], [["L0", "L1", "L0"]])[0] == 0.0


def test_training_by_certified_sums_goes_on_where_it_was():
    X, y = parts_in_runs(40)
    rng = np.random.default_rng(0)
    X = [x + 0.15 * rng.normal(size=x.shape) for x in X]
    learner = LBFGS(Settings(C=30.0, margin=0.0, temperature=1.0, tol=3e-4, max_iter=100))
    states = []

    def run(saved=None, records=()):
        problem = CRF(constraints="contiguous()").problem(X, y)
        progress = Progress(False, None, "L-BFGS", 100)
        progress.saved, progress.records = saved, list(records)
        progress.keep = lambda state, lasting: states.append(copy.deepcopy(state()))
        return learner.run(problem, progress=progress)

    whole = run()
    assert len(whole.history) > 2
    again = run(states[1], whole.history[:2])
    np.testing.assert_array_equal(whole.weights, again.weights)
    assert [r["bound"] for r in again.history] == [r["bound"] for r in whole.history]


def test_weak_features_leave_no_proof():
    X, y = parts_in_runs(20)
    with pytest.raises(CapabilityError, match=r"need a product of \d+ automata"):
        CRF(constraints="contiguous()", C=0.01, random_state=0).fit(X, y)


def test_probabilities_are_of_legal_outputs():
    X, y = sequences(8)
    model = CRF(constraints="exactly(1, B)", max_iter=20, random_state=0).fit(X, y)
    for x, labels in zip(X, y, strict=True):
        every = [np.where(np.arange(len(labels)) == t, "B", "A") for t in range(len(labels))]
        p = model.predict_proba([x] * len(every), every)
        assert p.sum() == pytest.approx(1.0)
        np.testing.assert_allclose(model.predict_marginals([x])[0][:, 1], p)
        entropy = -(p * np.log(p)).sum()
        assert model.entropy([x])[0] == pytest.approx(entropy)
        illegal = np.array(["A"] * len(labels))
        assert model.predict_proba([x], [illegal])[0] == 0.0
        drawn = model.sample([x], 5, random_state=0)[0]
        assert all((row == "B").sum() == 1 for row in drawn)


def test_constraints_of_a_call_come_beside_those_of_the_model(tmp_path):
    X, y = sequences()
    trained = CRF(constraints="at_most(1, B)", max_iter=20, random_state=0).fit(X, y)
    trained.save(tmp_path / "model")
    for model in (trained, CRF.load(tmp_path / "model")):
        last = model.predict(X, constraints="require(Label(B, at=-1))")
        assert all(row[-1] == "B" and (row == "B").sum() == 1 for row in last)
        few = model.predict_kbest(X[:3], 9, constraints=[matches("A* B A A")])
        assert [len(rows) for rows in few] == [1, 1, 1]
        p = model.predict_marginals(X[:2], constraints="require(Label(B, at=0))")
        assert all(rows[0, 1] == pytest.approx(1.0) for rows in p)
        assert model.entropy(X[:2], constraints="matches('B A*')") == [0.0, 0.0]
        loss = model.log_loss(X[:1], [last[0]], constraints="matches('A* B')")
        assert loss == pytest.approx(0.0, abs=1e-12)
        drawn = model.sample(X[:1], 3, random_state=0, constraints="matches('B A*')")[0]
        assert all(row[0] == "B" for row in drawn)
        assert model.confidence(X[:1], constraints="matches('B A*')")[0] == pytest.approx(
            [1.0] * len(X[0])
        )
        reasons = model.explain(X[:1], constraints="at_least(1, B); forbid(Label(B, at=0))")[0]
        assert all(d["label"] != d["runner_up"] for d in reasons)
        assert reasons[0]["runner_up"] is None, "there is no other label at 0"
        free = model.predict(X)
        np.testing.assert_array_equal(free[0], trained.predict(X)[0])
        with pytest.raises(InfeasibleError):
            model.predict(X[:1], constraints="exactly(9, B)")
        with pytest.raises(ValueError, match="label 'C', which is unknown"):
            model.predict(X[:1], constraints="forbid(C)")


def test_words_and_segments_under_constraints():
    rng = np.random.default_rng(0)
    X, y = [], []
    for _ in range(15):
        x = rng.normal(size=(5, 3, 2))
        X.append(x)
        y.append([(0, 2, "O"), (2, 3, "A"), (3, 5, "O")])
    model = CRF("semimarkov", constraints="contiguous(); at_most(2, O)", max_iter=30).fit(X, y)
    assert isinstance(model.structure_, ConstrainedSemiMarkov)
    for row in model.predict(rng.normal(size=(20, 5, 3, 2))):
        labels = [k for _, _, k in row]
        assert labels.count("A") <= 1
        assert labels.count("O") <= 2


def test_neighbours_are_masks_of_weights():
    X, y = sequences()
    model = CRF(constraints="not_adjacent(B)", max_iter=10, random_state=0).fit(X, y)
    assert [how for _, how in model.constraints_] == ["mask of weights"]
    assert type(model.structure_) is Chain
    for row in model.predict([np.full((6, 2), 9.0)]):
        assert "BB" not in "".join(row)
    alone = CRF(Chain(order=0), constraints="not_adjacent(B)", max_iter=10).fit(X, y)
    assert [how for _, how in alone.constraints_] == ["automaton of 2 states"]


def test_a_hidden_markov_model_under_constraints():
    X = [["fish", "sleep"], ["dogs", "eat", "fish"], ["dogs", "sleep"]]
    y = [["N", "V"], ["N", "V", "N"], ["N", "V"]]
    model = HMM().fit(X, y)
    assert model.predict([["dogs", "eat", "fish"]], constraints="exactly(2, V)")[0].tolist() in (
        ["V", "V", "N"], ["N", "V", "V"], ["V", "N", "V"],
    )  # fmt: skip
    assert model.predict([["dogs", "eat", "fish"]])[0].tolist() == ["N", "V", "N"]


def test_gold_that_breaks_a_constraint_is_named():
    X, y = sequences()
    y[3][:] = "B"
    y[7] = [*["B"] * (len(y[7]) - 1), None]
    message = r"2 of 25 outputs of y break a constraint: example 3 \(at most 1 of label 'B'\), "
    message += r"example 7 \(no labels for the open places satisfy all constraints\); correct them"
    with pytest.raises(ValueError, match=message):
        StructuredSVM(constraints=[at_most(1, Label("B"))], random_state=0).fit(X, y)


def test_gold_that_breaks_a_constraint_is_left_out():
    X, y = sequences()
    y[3][:] = y[9][:] = "B"
    dropping = StructuredSVM(constraints="at_most(1, B)", illegal="drop", random_state=0)
    with pytest.warns(
        UserWarning, match="2 of 25 examples break a constraint and are left out: 3, 9"
    ):
        model = dropping.fit(X, y)
    rest = [i for i in range(25) if i not in (3, 9)]
    other = StructuredSVM(constraints="at_most(1, B)", random_state=0)
    other.fit([X[i] for i in rest], [y[i] for i in rest])
    np.testing.assert_array_equal(model._weights, other._weights)
    with pytest.warns(UserWarning, match="2 of 25"):
        weighted = dropping.fit(X, y, sample_weight=np.arange(1.0, 26.0))
    other.fit([X[i] for i in rest], [y[i] for i in rest], np.arange(1.0, 26.0)[rest])
    np.testing.assert_array_equal(weighted._weights, other._weights)
    with pytest.raises(ValueError, match="would leave out all 2 examples"):
        dropping.fit([X[3], X[9]], [y[3].tolist(), [None, *y[9][1:]]])


def test_gold_of_trees_that_breaks_a_constraint():
    X, y = trees()
    y = [*y[:4], ["A"] * 4, *y[5:]]
    model = StructuredSVM(Tree([-1, 0, 0, 1]), constraints="exactly(2, B)", random_state=0)
    with pytest.raises(ValueError, match=r"1 of 10 .*: example 4 \(exactly 2 of label 'B'\)"):
        model.fit(X, y)
    with pytest.warns(UserWarning, match="1 of 10 examples"):
        model.set_params(illegal="drop").fit(X, y)


def test_unknown_labels_are_filled_in_within_the_constraints():
    X, y = sequences()
    y = [labels.tolist() for labels in y]
    y[0] = [None] * len(y[0])
    model = StructuredSVM(
        constraints=[exactly(1, Label("B"))], solver="sgd", max_iter=5, random_state=0
    )
    fitted(model, X, y)
    assert (model.predict(X[:1])[0] == "B").sum() == 1


def test_one_label_an_example():
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) % 3
    model = StructuredSVM("multiclass", constraints=[forbid(Label(7))], random_state=0)
    with pytest.raises(ValueError, match="forbid"):
        model.fit(X, y)
    with pytest.raises(ValueError, match="has one label"):
        StructuredSVM("multiclass", constraints=[at_most(1, Label(1))], random_state=0).fit(X, y)


def test_what_is_no_constraint():
    with pytest.raises(ValueError, match=r"contains 3, .* see structlearn\.constraints"):
        CRF(constraints=[3], random_state=0).fit(*sequences())
    with pytest.raises(ValueError, match="column 1: 'no' is not a constraint"):
        CRF(constraints=["no B after B"], random_state=0).fit(*sequences())
