"""The solvers of the hinge against each other, scikit-learn and general quadratic programs."""

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn import _core
from structlearn.estimators import CRF, StructuredModel, StructuredPerceptron, StructuredSVM
from structlearn.exceptions import ConvergenceWarning, InexactInferenceWarning
from structlearn.learners.base import Progress, Settings
from structlearn.learners.cutting_planes import NSlack
from structlearn.learners.frank_wolfe import FrankWolfe
from structlearn.learners.hinge_dual import DualState
from structlearn.learners.one_slack import OneSlack
from structlearn.structures import Chain, Exhaustive, Solution, Structure
from structlearn.structures.parts import Block
from tests.learners.convex_reference import Enumerated
from tests.learners.test_certificates import MissedEdges, check, data, quietly

SOLVERS = ["frank-wolfe", "n-slack", "one-slack"]


def chains(order, seed, n=12, labels=3, d=4):
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(int(rng.integers(1, 6)), d)) for _ in range(n)]
    centres = rng.normal(size=(labels, d))
    y = [np.argmax(x @ centres.T + rng.normal(size=(len(x), labels)), axis=1).tolist() for x in X]
    return Chain(order=order), X, y


def multiclass(seed, n=40, labels=4, d=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return "multiclass", X, np.argmax(X[:, :labels] + rng.normal(size=(n, labels)), axis=1)


PROBLEMS = [
    *[(multiclass(seed), C, "hamming") for seed, C in [(0, 0.05), (1, 0.5), (2, 5.0)]],
    *[(chains(0, seed), C, "hamming") for seed, C in [(0, 0.1), (1, 1.0)]],
    *[(chains(1, seed), C, "hamming") for seed, C in [(2, 0.1), (3, 1.0)]],
    (chains(1, 4), 0.5, "zero-one"),
    *[(chains(2, seed), C, "hamming") for seed, C in [(5, 0.1), (6, 1.0)]],
]


@pytest.mark.parametrize("k", range(len(PROBLEMS)))
def test_same_objective_by_every_solver(k):
    (structure, X, y), C, cost = PROBLEMS[k]
    found = {}
    for solver in SOLVERS:
        model = StructuredSVM(
            structure, C=C, cost=cost, solver=solver, tol=5e-5, max_iter=5000, random_state=0
        ).fit(X, y)
        assert model.duality_gap_ <= 5e-5 * model.objective_
        found[solver] = model.objective_
    sgd = StructuredSVM(structure, C=C, cost=cost, solver="sgd", tol=0, max_iter=64, random_state=0)
    quietly(sgd, X, y)
    best = min(found.values())
    assert max(found.values()) <= best * (1 + 1e-4)
    # The subgradient needs thousands of passes for four digits; its own gap says how near it is.
    assert sgd.objective_ - sgd.duality_gap_ <= best <= sgd.objective_ * (1 + 1e-4)


@pytest.mark.parametrize("C", [0.1, 1.0])
@pytest.mark.parametrize("solver", SOLVERS)
def test_crammer_and_singer_of_scikit_learn(C, solver):
    from sklearn.svm import LinearSVC

    structure, X, y = multiclass(7, n=80)
    theirs = LinearSVC(
        C=C, multi_class="crammer_singer", fit_intercept=False, tol=1e-8, max_iter=100_000
    ).fit(X, y)
    ours = StructuredSVM(structure, C=C, solver=solver, tol=2e-5, max_iter=5000).fit(X, y)
    problem = ours.problem(X, y)
    w = np.ascontiguousarray(theirs.coef_.T).ravel()
    value, _ = problem.objective(w, C=C, margin=1.0, temperature=0.0)
    assert ours.objective_ == pytest.approx(value, rel=1e-4)
    assert ours.objective_ - ours.duality_gap_ <= value


@pytest.mark.parametrize("kind", ["multiclass", "chain", "enumerated chain", "lattice"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_quadratic_program_over_all_outputs(kind, solver):
    structure, X, y, *enumerated = data(kind)
    cost = MissedEdges() if kind == "lattice" else "hamming"
    for C in (0.1, 1.0):
        reference = Enumerated(*enumerated, C=C, margin=1, temperature=0)
        optimum = reference.optimum()
        model = StructuredSVM(
            structure, C=C, cost=cost, solver=solver, tol=2e-7, max_iter=5000, random_state=0
        ).fit(X, y)
        assert model.objective_ == pytest.approx(optimum, rel=1e-6)
        check(model, reference, optimum)


@settings(max_examples=25, deadline=None)
@given(
    solver=st.sampled_from(SOLVERS),
    seed=st.integers(0, 10_000),
    C=st.sampled_from([0.03, 0.3, 3.0]),
    max_iter=st.integers(1, 6),
    weighted=st.booleans(),
    table=st.booleans(),
    kind=st.sampled_from(["multiclass", "chain"]),
)
def test_gap_is_never_too_small(solver, seed, C, max_iter, weighted, table, kind):
    structure, X, y, phi, gold, cost = data(kind, seed % 50)
    rng = np.random.default_rng(seed)
    weights = rng.choice([0.25, 0.5, 1.0, 4.0], size=len(y)) if weighted else None
    options = {}
    if table and kind == "multiclass":  # a cost for the right label too
        options["cost"] = 1.5 - np.eye(3)
        cost = [c + 0.5 for c in cost]
    reference = Enumerated(phi, gold, cost, C=C, margin=1, temperature=0, weights=weights)
    model = StructuredSVM(structure, C=C, solver=solver, tol=0, max_iter=max_iter,
                          random_state=seed, **options)  # fmt: skip
    quietly(model, X, y, sample_weight=weights)
    check(model, reference, reference.optimum())
    for record in model.history_:
        if record.get("gap") is not None:
            gap = record["objective"] - record["dual"]
            assert record["gap"] == pytest.approx(max(0.0, gap), abs=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_forbidden_transitions(solver):
    X, y = [], []
    rng = np.random.default_rng(0)
    for _ in range(8):
        labels = [0]
        while len(labels) < 4:
            labels.append(int(rng.integers(0, 2)) if labels[-1] == 0 else 1)
        X.append(rng.normal(size=(4, 2)))
        y.append(labels)
    forbid = {"transition": [(1, 0)]}
    model = StructuredSVM(solver=solver, forbid=forbid, tol=1e-4, max_iter=5000).fit(X, y)
    by_sums = StructuredSVM(Exhaustive(Chain()), solver=solver, forbid=forbid, tol=1e-4,
                            max_iter=5000).fit(X, y)  # fmt: skip
    assert model.objective_ == pytest.approx(by_sums.objective_, rel=3e-4)
    assert all((np.diff(z) >= 0).all() for z in model.predict(X))


# -- going on ---------------------------------------------------------------------------------


def run(learner, problem, start=None):
    return learner.run(problem, start=start, progress=Progress(), n_jobs=1)


def learner_of(solver, max_iter, tol=0.0):
    s = Settings(margin=1.0, temperature=0.0, C=0.5, max_iter=max_iter, tol=tol)
    if solver == "frank-wolfe":
        return FrankWolfe(s, random_state=np.random.default_rng(3))
    return {"n-slack": NSlack, "one-slack": OneSlack}[solver](s)


@pytest.mark.parametrize(
    ("solver", "first", "more"),
    [(solver, *k) for solver in SOLVERS for k in [(1, 2), (3, 2)]]
    + [("frank-wolfe", 9, 5), ("frank-wolfe", 10, 5), ("one-slack", 9, 5)],
)
def test_a_saved_state_goes_on_bit_for_bit(solver, first, more):
    structure, X, y = chains(1, 8, n=20)
    problem = StructuredSVM(structure).problem(X, y)
    whole = run(learner_of(solver, first + more), problem)
    part = run(learner_of(solver, first), problem)
    saved: DualState = pickle.loads(pickle.dumps(part.state))
    rest = run(learner_of(solver, more), problem, saved)
    np.testing.assert_array_equal(rest.weights, whole.weights)
    assert (rest.objective, rest.gap) == (whole.objective, whole.gap)
    assert rest.state.iteration == first + more


def test_threads_change_nothing():
    structure, X, y = chains(1, 9, n=60)
    for solver in SOLVERS:
        models = [
            StructuredSVM(structure, solver=solver, random_state=0, n_jobs=k).fit(X, y)
            for k in (1, 2)
        ]
        np.testing.assert_array_equal(models[0].coef_["label"], models[1].coef_["label"])


def test_warm_start_with_another_C():
    structure, X, y = chains(1, 10, n=30)
    model = StructuredSVM(structure, C=0.5, warm_start=True, tol=1e-5, random_state=0).fit(X, y)
    again = model.fit(X, y)
    assert again.n_iter_ <= 2
    model.set_params(C=0.7).fit(X, y)
    cold = StructuredSVM(structure, C=0.7, tol=1e-5, random_state=0).fit(X, y)
    assert model.objective_ == pytest.approx(cold.objective_, rel=2e-5)


def test_unknown_labels_are_filled_in_round_by_round():
    structure, X, y = chains(1, 11)
    y = [list(row) for row in y]
    y[2] = [None, *y[2][1:]]
    found = []
    for solver in SOLVERS:
        model = StructuredSVM(structure, solver=solver, tol=1e-6, random_state=0).fit(X, y)
        assert model.duality_gap_ is None
        assert all(record["inner_gap"] is not None for record in model.history_)
        found.append(model.objective_)
        with pytest.raises(ValueError, match="needs all labels"):
            StructuredSVM(structure, solver=solver, latent="direct").fit(X, y)
    assert max(found) == pytest.approx(min(found), rel=1e-3)
    StructuredSVM(structure, solver="sgd", max_iter=2, tol=1e9).fit(X, y)


@pytest.mark.parametrize("solver", ["n-slack", "one-slack"])
def test_rounds_of_labels_that_were_filled_in(solver):
    structure, X, y = chains(1, 11)
    y = [list(row) for row in y]
    y[2] = [None, *y[2][1:]]
    model = StructuredSVM(structure, solver=solver, tol=1e-6, random_state=0).fit(X, y)
    assert model.rounds_[-1].gap == pytest.approx(model.rounds_[-1].primal, abs=1e-4, rel=1)
    shown = [c for r in model.rounds_ for c in r.constraints]
    assert bool(shown) == (solver == "n-slack")
    for constraint in shown:
        assert len(constraint.output) == len(X[constraint.example])
        assert set(constraint.output) <= set(model.classes_)
        if constraint.example != 2:  # an output other than the gold one costs something
            assert list(constraint.output) != y[constraint.example]


def test_one_slack_ends_where_nothing_new_is_found():
    structure, X, y = chains(1, 12)
    model = StructuredSVM(structure, solver="one-slack", C=0.1, tol=0, max_iter=2000).fit(X, y)
    assert model.n_iter_ < 2000
    assert model.duality_gap_ <= 1e-8 * model.objective_


def test_every_pass_tells_dual_and_estimated_gap():
    structure, X, y = chains(1, 12, n=30)
    hinge = StructuredSVM(structure, tol=1e-4, random_state=0).fit(X, y)
    smooth = [CRF(structure, solver=s, tol=1e-4, random_state=0).fit(X, y) for s in ("dual", "sag")]
    for model in (hinge, *smooth):
        optimum = model.objective_
        assert all(record["dual"] <= optimum * (1 + 1e-12) for record in model.history_)
        guesses = [record["estimated_gap"] for record in model.history_]
        assert all(g >= 0 for g in guesses)
        assert guesses[-1] < 0.1 * guesses[0]


def test_parameters_that_do_not_go_together():
    structure, X, y = chains(1, 12)
    with pytest.raises(ValueError, match="violation_tol is for solver='n-slack' and 'one-slack'"):
        StructuredSVM(structure, violation_tol=0.1).fit(X, y)
    with pytest.raises(ValueError, match="step='constant' works with solver='sgd' only"):
        StructuredSVM(structure, step="constant").fit(X, y)
    for options, message in [
        ({"solver": "frank-wolfe", "violation_tol": 0.1}, "violation_tol is for solver='n-slack'"),
        ({"solver": "auto", "violation_tol": 0.1}, "violation_tol is for solver='n-slack'"),
        ({"solver": "frank-wolfe", "step": "constant"}, "works with solver='sgd' only"),
        ({"latent": "ccp"}, "latent must be 'auto', 'cccp' or 'direct'"),
    ]:
        with pytest.raises(ValueError, match=message):
            StructuredModel(structure, **options).fit(X, y)
    with pytest.raises(ValueError, match="update_at must be 'early'"):
        StructuredPerceptron(structure, update_at="nonsense").fit(X, y)
    with pytest.raises(ValueError, match="violation_tol must be a number of at least 0"):
        StructuredSVM(structure, solver="n-slack", violation_tol=-1).fit(X, y)
    with pytest.raises(ValueError, match=r"frank-wolfe.*structured hinge.*temperature=1"):
        StructuredModel(structure, solver="frank-wolfe", temperature=1.0).fit(X, y)
    with pytest.raises(AttributeError, match="partial_fit") as caught:
        StructuredSVM(structure).partial_fit(X, y, classes=[0, 1, 2])
    assert "needs an online learner; 'frank-wolfe'" in str(caught.value.__cause__)


# -- the small quadratic program --------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(n=st.integers(1, 9), d=st.integers(1, 6), seed=st.integers(0, 1000))
def test_simplex_program(n, d, seed):
    """The spread of the gradients proves it: b·α − ½αᵀGα is within it of the best."""
    rng = np.random.default_rng(seed)
    V = rng.integers(-3, 4, size=(n, d)).astype(float)
    b = rng.normal(size=n) * 3
    gram, alpha = V @ V.T, np.zeros(n)
    rest, spread = _core.simplex(gram, b, 0.2, alpha, 1e-10)
    assert rest >= 0
    assert (alpha >= 0).all()
    assert rest + alpha.sum() == pytest.approx(1.0, abs=1e-12)
    gradient = np.append(b - gram @ alpha, 0.2)
    used = np.append(alpha, rest) > 0
    assert gradient.max() - gradient[used].min() <= 1e-8
    assert spread <= 1e-8


# -- inexact inference ------------------------------------------------------------------------


class Places(Structure):
    """Independent labels at each place; subclasses find the best ones badly."""

    def blocks(self, n_labels):
        return {"label": Block((n_labels,))}

    def encode(self, y, label, **rest):
        counts = np.zeros(np.shape(label))
        counts[np.arange(len(counts)), y] = 1.0
        return {"label": counts}

    def decode(self, parts):
        return np.argmax(parts["label"], axis=-1)

    def argmax(self, label):
        return np.argmax(label, axis=-1)


class Greedy(Places):
    """Looks at the first two labels alone, and says so."""

    def solve(self, *, n_jobs=None, **scores):
        y = np.argmax(scores["label"][:, :2], axis=1)
        return Solution(y, self.score(y, **scores), False, np.inf, "greedy")


class Relaxed(Places):
    """Gives half of each of two labels where they are close: what a relaxation does."""

    def infer(self, *, temperature=1.0, n_jobs=None, **scores):
        label = scores["label"]
        p = np.zeros(label.shape)
        order = np.argsort(-label, axis=1)
        rows = np.arange(len(label))
        p[rows, order[:, 0]] += 0.5
        p[rows, order[:, 1]] += 0.5
        return float((label.max(axis=1)).sum()), {"label": p}


@pytest.mark.parametrize("solver", [*SOLVERS, "sgd"])
def test_says_which_guarantee_is_lost(solver):
    _, X, y = chains(0, 13)
    options = {"solver": solver, "max_iter": 5, "tol": 0.5, "boundaries": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        with pytest.warns(
            InexactInferenceWarning, match=r"under-generating.*gap_ may be too small"
        ):
            StructuredSVM(Greedy(), **options).fit(X, y)
        with pytest.warns(InexactInferenceWarning, match=r"over-generating.*upper bound"):
            StructuredSVM(Relaxed(), **options).fit(X, y)
        with warnings.catch_warnings():
            warnings.simplefilter("error", InexactInferenceWarning)
            StructuredSVM(Places(), **options).fit(X, y)


# -- oracle calls -----------------------------------------------------------------------------


def test_known_outputs_save_inference():
    structure, X, y = chains(1, 14, n=40)
    model = StructuredSVM(structure, C=1.0, tol=1e-4, random_state=0).fit(X, y)
    last = model.history_[-1]
    assert last["oracle_calls"] < last["iteration"] * len(X)
    seconds = [record["seconds"] for record in model.history_]
    assert seconds == sorted(seconds)
