"""The check of scorers: right ones pass, and a bug in either direction is found."""

import numpy as np
import pytest
from scipy import sparse

from structlearn import CRF, StructuredSVM
from structlearn.datasets import make_treebank
from structlearn.structures import Arborescence, Grid
from structlearn.testing import check_scorer

RNG = np.random.default_rng(0)
SENTENCES = make_treebank(12, random_state=0)


def words():
    X = [[[w, w[-2:], w[:1]] for w in s.words] for s in SENTENCES]
    return CRF().problem(X, [s.tags for s in SENTENCES])


def matrices():
    X = [sparse.random(n, 6, 0.5, "csr", random_state=n) for n in (3, 5, 2)]
    y = [RNG.integers(3, size=x.shape[0]) for x in X]
    return StructuredSVM(all_possible_states=True).problem(X, y)


def arcs():
    X = [{"arc": RNG.normal(size=(n + 1, n + 1, 4))} for n in (2, 4, 3)]
    return StructuredSVM(Arborescence()).problem(X, [[0, 1], [0, 1, 2, 2], [2, 0, 2]])


def pixels():
    X = [{"label": RNG.normal(size=(3, 2, 2)), "potts_right": np.ones((3, 1, 1)),
          "potts_down": np.ones((2, 2, 1))} for _ in range(2)]  # fmt: skip
    return StructuredSVM(Grid()).problem(X, [RNG.integers(2, size=(3, 2)) for _ in X])


def multiclass():
    return CRF("multiclass").problem(RNG.normal(size=(9, 4)), RNG.integers(3, size=9))


@pytest.mark.parametrize("make", [words, matrices, arcs, pixels, multiclass])
def test_problems_of_the_estimators_pass(make):
    problem = make()
    report = check_scorer(problem)
    assert report.checked["adjoint"] == report.checked["sqnorm"] == 2 * report.n_inputs
    assert report.checked["gradient(1, 0)"] > 0
    assert report.checked["gradient(0, 1)"] > 0


def planted(name, change):
    problem = words()
    kept = getattr(problem, name)
    setattr(problem, name, lambda *given: change(kept, *given))
    return problem


def scatter_without_the_first_part(kept, i, v, a, w):
    value = v.value.copy()
    value[np.flatnonzero(value)[:1]] = 0.0
    kept(i, type(v)(v.index, value), a, w)


def gold_counted_twice(kept, i, w, margin, temperature):
    value, r = kept(i, w, margin, temperature)
    return value, type(r)(r.index, 1.1 * r.value)


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (planted("scatter", scatter_without_the_first_part), "not the transpose"),
        (planted("sqnorm", lambda kept, i, v: kept(i, v) * 1.001), "sqnorm gives"),
        (planted("loss", gold_counted_twice), "its gradient says"),
        (planted("theta", lambda kept, i, w: kept(i, w) + 1e-6), "not the transpose"),
    ],
)
def test_planted_bugs_are_found(problem, message):
    with pytest.raises(AssertionError, match=message):
        check_scorer(problem)
