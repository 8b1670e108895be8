"""A learner of a user's, in the place of a solver's name."""

import numpy as np
import pytest
from sklearn.base import clone

from structlearn import CRF, StructuredModel, StructuredSVM
from structlearn.learners import Training
from structlearn.structures import Graph


class Descent:
    """Gradient descent with a step that halves until the objective falls."""

    def __init__(self, tag="plain"):
        self.tag = tag

    def run(self, problem, settings, progress, *, start=None, n_jobs=None):
        terms = {"C": settings.C, "margin": settings.margin, "temperature": settings.temperature}
        w = np.zeros(problem.n_weights) if start is None else start.copy()
        value, g = problem.objective(w, **terms, n_jobs=n_jobs)
        step, proven = 1.0, False
        for k in range(1, settings.max_iter + 1):
            while (trial := problem.objective(w - step * g, **terms))[0] > value - step * (
                g @ g
            ) / 2:
                step /= 2
            w, (value, g), step = w - step * g, trial, 2 * step
            gap = 0.5 * float(g @ g)
            proven = settings.good_enough(gap, value)
            if progress.report(lambda w=w: w, iteration=k, loss=value, gap=gap) or proven:
                break
        return Training(w, objective=value, gap=gap, converged=proven)


def chain_data():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(n, 3)) for n in (2, 4, 5, 3)]
    return X, [rng.integers(3, size=len(x)) for x in X]


def test_reaches_the_optimum_of_another_solver():
    X, y = chain_data()
    own = CRF(solver=Descent(), tol=1e-9, max_iter=2000).fit(X, y)
    best = CRF(solver="lbfgs", tol=1e-9).fit(X, y)
    assert own.objective_ == pytest.approx(best.objective_, rel=1e-8)
    np.testing.assert_allclose(own.coef_["label"], best.coef_["label"], atol=1e-4)
    assert own.solver_ == "Descent"
    assert own.n_iter_ == len(own.history_) > 1


def test_on_a_structure_that_is_no_chain():
    rng = np.random.default_rng(1)
    edges = np.array([(0, 1), (1, 2), (0, 2)])
    X = [{"label": rng.normal(size=(3, 2)), "edges": edges} for _ in range(4)]
    y = [rng.integers(2, size=3) for _ in X]
    own = CRF(Graph(), solver=Descent(), tol=1e-8, max_iter=2000).fit(X, y)
    best = CRF(Graph(), solver="lbfgs", tol=1e-8).fit(X, y)
    assert own.objective_ == pytest.approx(best.objective_, rel=1e-7)


def test_tells_when_it_has_not_converged():
    X, y = chain_data()
    with pytest.warns(match="CRF stopped after 1 iterations with a gap"):
        CRF(solver=Descent(), tol=1e-9, max_iter=1).fit(X, y)


def test_callbacks_end_it_and_clones_have_it():
    X, y = chain_data()
    seen = []

    def stop(record):
        seen.append(record["iteration"])
        return len(seen) == 2

    model = clone(CRF(solver=Descent("mine"), tol=1e-12, callbacks=stop))
    assert model.solver.tag == "mine"
    model.fit(X, y)
    assert seen == [1, 2]


class Wrong:
    def __init__(self, answer):
        self.answer = answer

    def run(self, problem, settings, progress, *, start=None, n_jobs=None):
        return self.answer(problem)


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (lambda p: np.zeros(p.n_weights), TypeError, "must return a Training, got ndarray"),
        (lambda p: Training(np.zeros(2)), ValueError, "finite weights, got shape"),
        (lambda p: Training(np.full(p.n_weights, np.nan)), ValueError, "finite weights"),
    ],
)
def test_bad_answers_are_refused(answer, error, message):
    X, y = chain_data()
    with pytest.raises(error, match=message):
        StructuredSVM(solver=Wrong(answer)).fit(X, y)


def test_what_is_no_learner_is_refused():
    X, y = chain_data()
    with pytest.raises(ValueError, match="a learner of your own"):
        StructuredModel(solver=3.5).fit(X, y)
    with pytest.raises((ValueError, AttributeError), match="partial_fit"):
        CRF(solver=Descent()).partial_fit(X, y, classes=[0, 1, 2])
