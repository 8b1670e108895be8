"""Unknown labels filled in round by round: the tangent problem, the rounds, where they begin."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn.estimators import StructuredModel
from structlearn.learners.annealing import Annealing
from structlearn.learners.base import Progress, Settings
from structlearn.learners.cccp import CCCP
from structlearn.learners.dual_ascent import DualAscent
from structlearn.learners.lbfgs import LBFGS
from structlearn.learners.online import Online
from structlearn.learners.owlqn import OWLQN
from structlearn.learners.sag import SAG
from structlearn.problem import PartVector
from structlearn.problem.online_state import OnlineState
from structlearn.structures import Chain, Exhaustive, Grid, Multiclass, SemiMarkov

REPEATABLE = settings(derandomize=True, deadline=None, database=None, max_examples=25)
FAMILY = list(itertools.product((0, 1), (0, 0.5, 1)))


def partial_sequences(seed=0, n=6, complete=2, d=3):
    """Dense tokens; of the first ``complete`` sequences every label is known."""
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(int(rng.integers(2, 5)), d)) for _ in range(n)]
    centres = rng.normal(size=(3, d))
    truth = [[int(k) for k in np.argmax(x @ centres.T, axis=1)] for x in X]
    truth[0][:2] = [0, 1]
    truth[1][:2] = [2, 0]
    y = []
    for i, row in enumerate(truth):
        kinds = rng.integers(0, 3, size=len(row)) if i >= complete else np.zeros(len(row))
        y.append(
            [k if kind == 0 else None if kind == 1 else {k, (k + 1) % 3}
             for k, kind in zip(row, kinds, strict=True)]
        )  # fmt: skip
    y[-1] = [None] * len(y[-1])
    return X, y


def partial_segments():
    rng = np.random.default_rng(1)
    y = [
        [(0, 1, 0), (1, 3, 1), (3, 4, 2)],
        [(0, 2, {0, 1}), (2, 3, None)],
        [(0, 1, None), (1, 3, {1, 2})],
    ]
    return [rng.normal(size=(row[-1][1], 2, 2)) for row in y], y


def partial_pictures():
    """Potts terms, whose parts count −1 where neighbours differ."""
    rng = np.random.default_rng(6)
    X = [
        {
            "label": rng.normal(size=(2, 3, 2)),
            "potts_right": rng.normal(size=(2, 2, 1)),
            "potts_down": rng.normal(size=(1, 3, 1)),
        }
        for _ in range(4)
    ]
    y = [
        [[0, 1, 1], [0, 0, 1]],
        [[0, None, 1], [None, 1, 0]],
        [[1, {0, 1}, 0], [None, None, 1]],
        [[None] * 3, [None] * 3],
    ]
    return X, y


PROBLEMS = {
    "chain": lambda: (Chain(), *partial_sequences()),
    "order 2": lambda: (Chain(order=2), *partial_sequences()),
    "enumerated": lambda: (Exhaustive(Chain()), *partial_sequences()),
    "segments": lambda: (SemiMarkov(2), *partial_segments()),
    "potts": lambda: (Grid(), *partial_pictures()),
    "multiclass": lambda: (
        Multiclass(),
        np.random.default_rng(2).normal(size=(6, 3)),
        [0, 1, 2, None, {0, 2}, {1, 2}],
    ),
}


def make_problem(name, **options):
    structure, X, y = PROBLEMS[name]()
    return StructuredModel(structure, **options).problem(X, y)


# -- the convex problem of a round ----------------------------------------------------------------


@pytest.mark.parametrize("name", PROBLEMS)
def test_completed_problem_is_the_tangent_from_above(name):
    problem = make_problem(name)
    rng = np.random.default_rng(3)
    at = rng.normal(size=problem.n_weights)
    others = rng.normal(size=(5, problem.n_weights))
    for margin, temperature in FAMILY:
        convex = problem.completed(at, temperature)
        assert convex.soft_gold == (temperature > 0)
        assert not convex.gold.partial.any()
        true, slope = problem.total_loss(at, margin, temperature)
        tangent, same = convex.total_loss(at, margin, temperature)
        np.testing.assert_allclose(same, slope, atol=1e-11)
        constant = true - tangent  # minus ε times the entropy of what is allowed
        assert constant <= 1e-11
        if temperature == 0:
            assert constant == pytest.approx(0.0, abs=1e-11)
        for w in others:
            true, _ = problem.total_loss(w, margin, temperature)
            tangent, _ = convex.total_loss(w, margin, temperature)
            assert tangent + constant >= true - 1e-10


def test_completed_losses_one_by_one():
    """The gradient over parts is p − p_clamp, by clamped scores of our own."""
    _, X, y = PROBLEMS["chain"]()
    problem = StructuredModel().problem(X, y)
    rng = np.random.default_rng(4)
    at, w = rng.normal(size=(2, problem.n_weights))
    for temperature in (0.0, 0.8):
        convex = problem.completed(at, temperature)
        for i, row in enumerate(y):
            scores = problem.scores(i, at)
            allowed = Chain().allowed(row, scores["label"].shape)
            masked = {**scores, "label": np.where(allowed, scores["label"], -np.inf)}
            _, p = Chain().infer(temperature=temperature, **masked)
            clamp = np.concatenate([p[name].ravel() for name in problem.layout.present()])
            theta = problem.scores(i, w)
            flat = np.concatenate([theta[name].ravel() for name in problem.layout.present()])
            value, found = problem.infer(i, w, 1.0, temperature)
            loss, gradient = convex.loss(i, w, 1.0, temperature)
            assert loss == pytest.approx(value - problem.dot(flat, PartVector(None, clamp)))
            np.testing.assert_allclose(
                gradient.dense(len(flat)), found.dense(len(flat)) - clamp, atol=1e-12
            )
            if temperature == 0:  # the outputs that are shown are those that are learned from
                assert Chain().score(convex.gold.outputs[i], **masked) == pytest.approx(
                    Chain().log_partition(temperature=0, **masked)
                )


def test_completed_gradient_by_differences():
    problem = make_problem("chain")
    rng = np.random.default_rng(5)
    convex = problem.completed(rng.normal(size=problem.n_weights), 0.6)
    w = rng.normal(size=problem.n_weights)
    _, gradient = convex.total_loss(w, 1.0, 0.6)
    for j in range(problem.n_weights):
        step = 1e-5 * (np.arange(problem.n_weights) == j)
        ends = [convex.total_loss(w + s, 1.0, 0.6, gradient=False)[0] for s in (step, -step)]
        assert gradient[j] == pytest.approx((ends[0] - ends[1]) / 2e-5, abs=1e-6)


def test_complete_examples_stay_as_they_are():
    X, y = partial_sequences(complete=6)
    y[-1] = [0] * len(X[-1])
    problem = StructuredModel().problem(X, y)
    w = np.random.default_rng(6).normal(size=problem.n_weights)
    for temperature in (0.0, 1.0):
        convex = problem.completed(w, temperature)
        assert (
            convex.total_loss(w, 1.0, temperature)[0] == problem.total_loss(w, 1.0, temperature)[0]
        )


# -- rounds ---------------------------------------------------------------------------------------


def make(kind, s, seed=0):
    """Return CCCP around one of the learners."""
    rng = np.random.default_rng(seed)
    if kind == "sgd":
        learner = Online(s, step="decaying", average=True, shuffle=True, random_state=rng)
        return CCCP(
            learner,
            s,
            random_state=rng,
            resume=lambda w, last: OnlineState.at(
                w, average=True, steps=last.state.steps if last else 1.0
            ),
        )
    if kind in ("dual", "sag"):
        learner = {"dual": DualAscent, "sag": SAG}[kind](s, random_state=rng)
        resume = (lambda w, last: None) if kind == "dual" else (lambda w, last: w)
        return CCCP(learner, s, random_state=rng, resume=resume)
    learner = {"lbfgs": LBFGS, "owlqn": OWLQN, "annealing": Annealing}[kind](s)
    return CCCP(learner, s, random_state=rng)


KINDS = {
    "sgd": Settings(1.0, 0.0, max_iter=60, tol=1e-2),
    "annealing": Settings(1.0, 0.0, max_iter=500, tol=1e-4),
    "lbfgs": Settings(0.0, 1.0, max_iter=200, tol=1e-6),
    "dual": Settings(0.0, 1.0, max_iter=400, tol=1e-5),
    "sag": Settings(1.0, 0.5, max_iter=400, tol=1e-4),
    "owlqn": Settings(1.0, 0.5, l1=0.1, max_iter=200, tol=1e-5),
}


def check_rounds(problem, s, training):
    values = [record["objective"] for record in training.history]
    assert all(b <= a for a, b in itertools.pairwise(values)), values
    assert training.gap is None
    assert training.objective == values[-1]
    w = training.weights
    loss, _ = problem.total_loss(w, s.margin, s.temperature)
    assert training.history[-1]["loss"] == pytest.approx(loss)
    objective, _ = problem.objective(w, C=s.C, margin=s.margin, temperature=s.temperature, l1=s.l1)
    assert training.objective == pytest.approx(objective)
    for record in training.history:
        assert record["inner_gap"] >= 0
        assert record["inner_iterations"] >= 1
        assert record["oracle_calls"] > 0


@pytest.mark.parametrize("kind", KINDS)
@REPEATABLE
@given(st.integers(0, 2**16), st.sampled_from([0, 2, 4]), st.sampled_from([0.1, 1.0, 10.0]))
def test_objective_never_rises(kind, seed, complete, C):
    X, y = partial_sequences(seed, complete=complete)
    y[0], y[1] = [0, *y[0][1:]], [*y[1][:-1], {1, 2}]  # all three labels occur
    problem = StructuredModel().problem(X, y)
    s = KINDS[kind]
    s = Settings(**{**vars(s), "C": C})
    training = make(kind, s).run(problem, progress=Progress())
    check_rounds(problem, s, training)


@pytest.mark.parametrize("name", ["enumerated", "segments", "multiclass", "order 2"])
@pytest.mark.parametrize("kind", ["sgd", "lbfgs", "dual", "sag"])
def test_other_structures(name, kind):
    problem = make_problem(name)
    training = make(kind, KINDS[kind]).run(problem, progress=Progress())
    check_rounds(problem, KINDS[kind], training)


def test_ends_at_a_stationary_point():
    """Rounds to the end and descent on the loss itself meet where the gradient is 0."""
    X, y = partial_sequences(seed=3, n=10, complete=5)
    problem = StructuredModel().problem(X, y)
    s = Settings(0.0, 1.0, max_iter=500, tol=1e-12)
    training = make("lbfgs", s).run(problem, progress=Progress())
    assert training.converged
    value, gradient = problem.objective(training.weights, C=1.0, margin=0.0, temperature=1.0)
    assert np.abs(gradient).max() < 1e-4
    direct = LBFGS(Settings(0.0, 1.0, max_iter=500, convex=False)).run(
        problem, start=training.weights, progress=Progress()
    )
    assert direct.objective == pytest.approx(value, rel=1e-8)


def test_smooth_learners_agree():
    """They solve the same problems: marginals for labels only change the linear term."""
    X, y = partial_sequences(seed=3, n=10, complete=5)
    problem = StructuredModel().problem(X, y)
    s = Settings(1.0, 0.5, max_iter=2000, tol=1e-8)
    filled = problem.completed(np.random.default_rng(1).normal(size=problem.n_weights), 0.5)
    assert filled.soft_gold
    solved = [make(kind, s).learner.run(filled, progress=Progress()) for kind in ("lbfgs", "dual")]
    solved.append(make("sag", s).learner.run(filled, progress=Progress()))
    for training in solved:
        assert training.converged
        assert training.objective == pytest.approx(solved[0].objective, rel=1e-7)
        np.testing.assert_allclose(training.weights, solved[0].weights, atol=1e-3)


def test_says_what_was_not_solved():
    X, y = partial_sequences(seed=3, n=10, complete=5)
    problem = StructuredModel().problem(X, y)
    s = Settings(1.0, 0.0, max_iter=20, tol=1e-3)
    training = make("sgd", s).run(problem, progress=Progress())
    assert not training.converged
    assert len(training.history) < 20
    assert "a round that brought nothing, but was not solved" in training.unfinished
    assert "its gap was" in training.unfinished


@pytest.mark.parametrize("kind", KINDS)
def test_with_every_label_it_is_the_learner_itself(kind):
    X, y = partial_sequences(complete=6)
    y[-1] = [0] * len(X[-1])
    problem = StructuredModel().problem(X, y)
    around = make(kind, KINDS[kind], seed=7)
    alone = make(kind, KINDS[kind], seed=7).learner
    a = around.run(problem, progress=Progress())
    b = alone.run(problem, progress=Progress())
    assert np.array_equal(a.weights, b.weights)
    assert a.gap == b.gap is not None
    assert len(a.history) == len(b.history)


def test_begins_at_given_weights_and_never_above_them():
    problem = make_problem("chain")
    s = KINDS["lbfgs"]
    best = make("lbfgs", s).run(problem, progress=Progress())
    again = make("lbfgs", s, seed=9).run(problem, start=best.weights, progress=Progress())
    assert again.objective <= best.objective
    assert len(again.history) <= 2
    # A learner that goes up is not followed.
    worse = Online(
        Settings(0.0, 1.0, max_iter=1), step="decaying", average=False, shuffle=False,
        random_state=np.random.default_rng(0),
    )  # fmt: skip
    stubborn = CCCP(worse, s, random_state=np.random.default_rng(0), resume=lambda w, last: None)
    kept = stubborn.run(problem, start=best.weights, progress=Progress())
    assert np.array_equal(kept.weights, best.weights)
    assert kept.objective == pytest.approx(best.objective)
    assert not kept.converged
    assert len(kept.history) == 1


def test_first_labels_come_from_the_complete_examples():
    """What they say is what the rest is labelled with, whatever the seed."""
    rng = np.random.default_rng(8)
    X = np.vstack([np.eye(3)[[0, 1, 2] * 4], np.eye(3)[rng.integers(0, 3, size=8)]])
    y = [0, 1, 2] * 4 + [None] * 8
    problem = StructuredModel("multiclass").problem(X, y)
    found = [
        make("sgd", Settings(1.0, 0.0, max_iter=50, tol=1e-3), seed).run(
            problem, progress=Progress()
        )
        for seed in range(3)
    ]
    for training in found:
        assert problem.argmax_all(training.weights) == X.argmax(axis=1).tolist()


@pytest.mark.parametrize("kind", ["sgd", "lbfgs"])
def test_examples_that_are_latent_altogether(kind):
    """Two states that nothing tells apart beforehand: the noise makes them different."""
    rng = np.random.default_rng(9)
    place = rng.integers(0, 3, size=60)
    X = np.eye(3)[place] + 0.1 * rng.normal(size=(60, 3))
    # Label 2 in the middle; the rest is one of two states, which must become the two sides.
    y = [2 if k == 1 else {0, 1} for k in place]
    problem = StructuredModel("multiclass", C=10.0).problem(X, y)
    s = Settings(*((1.0, 0.0) if kind == "sgd" else (0.0, 1.0)), C=10.0, max_iter=100, tol=1e-3)
    states = np.array(
        problem.argmax_all(make(kind, s, seed=1).run(problem, progress=Progress()).weights)
    )
    assert (states[place == 1] == 2).all()
    assert (states[place != 1] != 2).all()


def test_threads_change_nothing():
    X, y = partial_sequences(n=40, complete=3)
    problem = StructuredModel().problem(X, y)
    for kind in ("sgd", "lbfgs"):
        one, two = (
            make(kind, KINDS[kind]).run(problem, progress=Progress(), n_jobs=n) for n in (1, 2)
        )
        assert np.array_equal(one.weights, two.weights)


def test_callbacks_stop_after_a_round():
    problem = make_problem("chain")
    seen = []

    def stop(record):
        seen.append(record["weights"]())
        return len(seen) == 2

    s = Settings(0.0, 1.0, max_iter=100, tol=1e-14)
    training = make("lbfgs", s).run(problem, progress=Progress(callbacks=stop))
    assert training.stopped
    assert len(training.history) == 2
    assert np.array_equal(seen[-1], training.weights)


def test_interrupted_in_a_round():
    """What the rounds before have found is kept."""
    problem = make_problem("chain")
    s = Settings(0.0, 1.0, max_iter=100, tol=1e-14)

    class Tired(LBFGS):
        runs = 0

        def run(self, problem, **options):
            self.runs += 1
            training = super().run(problem, **options)
            training.interrupted = self.runs == limit
            return training

    for limit, rounds in ((1, 0), (2, 0), (3, 1)):
        learner = Tired(s)
        cccp = CCCP(learner, s, random_state=np.random.default_rng(0))
        training = cccp.run(problem, progress=Progress())
        assert training.interrupted
        assert learner.runs == limit
        assert len(training.history) == rounds
        assert training.weights.any()
