"""Small problems of several kinds, with SciPy's L-BFGS-B as the second opinion."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from structlearn.estimators import StructuredModel
from structlearn.learners.base import Progress, Settings
from structlearn.structures import Chain
from tests.learners.test_certificates import cost_for, data


def problem_of(kind, seed=0, sample_weight=None, **options):
    """Return the learning problem of a small data set."""
    structure, X, y, *_ = data(kind, seed)
    model = StructuredModel(structure, cost=cost_for(kind), **options)
    return model.problem(X, y, sample_weight=sample_weight)


def words_problem(n=60, seed=0, order=1, partial=0.0, n_labels=4):
    """Sentences of words as features: sparse rows of weights, very unequal frequencies."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        words = rng.zipf(1.3, size=rng.integers(1, 9)) % 60
        labels = (words * 7 + rng.integers(0, 2, size=len(words))) % n_labels
        X.append([[f"w{k}", f"s{k % 5}", "bias"] for k in words])
        y.append([None if rng.random() < partial else int(k) for k in labels])
    return StructuredModel(Chain(order=order)).problem(X, y)


def scipy_optimum(problem, settings):
    """Return the value that L-BFGS-B finds for w = u − v with both parts ≥ 0."""
    n, s = problem.n_weights, settings

    def split(x):
        w = x[:n] - x[n:]
        value, gradient = problem.objective(w, C=s.C, margin=s.margin, temperature=s.temperature)
        return value + s.l1 * x.sum(), np.concatenate([gradient, -gradient]) + s.l1

    def whole(w):
        return problem.objective(w, C=s.C, margin=s.margin, temperature=s.temperature)

    options = {"maxiter": 20000, "maxfun": 40000, "ftol": 1e-15, "gtol": 1e-10, "maxcor": 30}
    if s.l1:
        return minimize(
            split, np.zeros(2 * n), jac=True, method="L-BFGS-B", bounds=[(0, None)] * (2 * n),
            options=options,
        ).fun  # fmt: skip
    return minimize(whole, np.zeros(n), jac=True, method="L-BFGS-B", options=options).fun


def learn(learner, problem, start=None, n_jobs=None, callbacks=None):
    """Run a learner quietly."""
    progress = Progress(0, callbacks)
    return learner.run(problem, start=start, progress=progress, n_jobs=n_jobs)


def crf(**options):
    """Settings of a CRF that is to be solved to a relative gap of 1e-6."""
    return Settings(**{"margin": 0.0, "temperature": 1.0, "max_iter": 2000, "tol": 1e-6, **options})
