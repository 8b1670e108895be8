"""Losses of segmentations: hinge by enumeration, gradients by finite differences."""

import itertools

import numpy as np
import pytest

from structlearn.estimators import StructuredModel
from structlearn.losses import Hamming, StructuredLoss
from structlearn.structures import SemiMarkov

NAMES = ("A", "B")
TABLE = np.array([[0.0, 2.0], [0.5, 0.0]])


def small_data(seed=0):
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(n, 2, 3)) for n in (4, 1, 3)]
    y = [[(0, 2, "A"), (2, 3, "B"), (3, 4, "B")], [(0, 1, "B")], [(0, 1, "B"), (1, 3, "A")]]
    return X, y


def tokens(y):
    return [k for a, b, k in y for _ in range(a, b)]


#: A cost as users give it, and what it means for the labels of the positions.
COSTS = {
    "hamming": ("hamming", lambda g, p: sum(a != b for a, b in zip(g, p, strict=True))),
    "mean": ("hamming-mean", lambda g, p: np.mean([a != b for a, b in zip(g, p, strict=True)])),
    "weighted": (
        Hamming(weights={"A": 3.0}),
        lambda g, p: sum((3.0 if a == "A" else 1.0) * (a != b) for a, b in zip(g, p, strict=True)),
    ),
    "by example": (
        Hamming(weights=[[1, 2, 3, 4], [5], [6, 7, 8]]),
        lambda g, p: sum(
            {4: (1, 2, 3, 4), 1: (5,), 3: (6, 7, 8)}[len(g)][t] * (g[t] != p[t])
            for t in range(len(g))
        ),
    ),
    "table": (
        TABLE,
        lambda g, p: sum(TABLE[NAMES.index(a), NAMES.index(b)] for a, b in zip(g, p, strict=True)),
    ),
}


def every_output(structure, problem, i, w):
    scores = problem.scores(i, w)
    outputs = list(structure.outputs(**scores))
    named = [[(a, b, NAMES[k]) for a, b, k in y] for y in outputs]
    return named, np.array([structure.score(y, **scores) for y in outputs])


@pytest.mark.parametrize("name", COSTS)
@pytest.mark.parametrize("temperature", [0.0, 0.7])
def test_loss_by_enumeration(name, temperature):
    cost, meaning = COSTS[name]
    X, y = small_data()
    structure = SemiMarkov(2)
    model = StructuredModel(structure, cost=cost, margin=1.5, temperature=temperature)
    problem = model.problem(X, y)
    rng = np.random.default_rng(1)
    for _ in range(4):
        w = rng.normal(size=problem.n_weights)
        for i, gold in enumerate(y):
            outputs, scores = every_output(structure, problem, i, w)
            augmented = scores + [1.5 * meaning(tokens(gold), tokens(z)) for z in outputs]
            top = augmented.max()
            value = top
            if temperature:
                value = top + temperature * np.log(np.exp((augmented - top) / temperature).sum())
            right = value - scores[outputs.index(gold)]
            assert problem.loss(i, w, 1.5, temperature)[0] == pytest.approx(right, abs=1e-10)


def test_zero_one_by_enumeration():
    X, y = small_data()
    structure = SemiMarkov(2)
    problem = StructuredModel(structure, cost="zero-one").problem(X, y)
    w = np.random.default_rng(2).normal(size=problem.n_weights)
    for i, gold in enumerate(y):
        outputs, scores = every_output(structure, problem, i, w)
        wrong = np.array([z != gold for z in outputs])
        right = (scores + wrong).max() - scores[outputs.index(gold)]
        assert problem.loss(i, w, 1.0, 0.0)[0] == pytest.approx(right, abs=1e-10)


@pytest.mark.parametrize(
    ("margin", "temperature"), [(0.0, 1.0), (1.0, 1.0), (1.0, 0.3), (1.0, 0.0)]
)
def test_gradient_by_finite_differences(margin, temperature):
    X, y = small_data()
    problem = StructuredModel(SemiMarkov(2)).problem(X, y)
    w = np.random.default_rng(3).normal(size=problem.n_weights)
    _, gradient = problem.total_loss(w, margin, temperature)
    step = 1e-5
    for j in range(problem.n_weights):
        up, down = w.copy(), w.copy()
        up[j] += step
        down[j] -= step
        ends = [problem.total_loss(v, margin, temperature, gradient=False)[0] for v in (up, down)]
        assert gradient[j] == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=1e-6)


@pytest.mark.parametrize(
    "cost", ["hamming", "zero-one", TABLE], ids=["hamming", "zero-one", "table"]
)
@pytest.mark.parametrize(("margin", "temperature"), [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_the_loss_of_given_scores_agrees(cost, margin, temperature):
    """The loss in Python and the core's are the same function."""
    X, y = small_data()
    structure = SemiMarkov(2)
    problem = StructuredModel(structure, cost=cost, margin=1.0).problem(X, y)
    w = np.random.default_rng(4).normal(size=problem.n_weights)
    loss = StructuredLoss(cost, margin=margin, temperature=temperature)
    for i, gold in enumerate(y):
        indexed = [(a, b, NAMES.index(k)) for a, b, k in gold]
        value, gradient = loss(structure, indexed, **problem.scores(i, w))
        found, r = problem.loss(i, w, margin, temperature)
        assert found == pytest.approx(value, abs=1e-10)
        flat = np.concatenate([gradient[name].ravel() for name in problem.shapes(i)])
        np.testing.assert_allclose(r.dense(len(flat)), flat, atol=1e-10)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_unknown_labels_by_enumeration(temperature):
    X, y = small_data()
    y[0][0] = (0, 2, None)
    structure = SemiMarkov(2)
    problem = StructuredModel(structure, margin=0.0, temperature=1.0).problem(X, y)
    w = np.random.default_rng(5).normal(size=problem.n_weights)
    outputs, scores = every_output(structure, problem, 0, w)
    completed = [[(0, 2, k), *y[0][1:]] for k in NAMES]
    chosen = np.array([scores[outputs.index(z)] for z in completed])
    if temperature:
        right = np.log(np.exp(scores).sum()) - np.log(np.exp(chosen).sum())
    else:
        right = scores.max() - chosen.max()
    assert problem.loss(0, w, 0.0, temperature)[0] == pytest.approx(right, abs=1e-10)
    indexed = [(a, b, None if k is None else NAMES.index(k)) for a, b, k in y[0]]
    loss = StructuredLoss(temperature=temperature)
    assert loss(structure, indexed, **problem.scores(0, w))[0] == pytest.approx(right, abs=1e-10)


def test_the_cost_counts_positions():
    """Δ of every pair of outputs of a short input, through the parts."""
    structure = SemiMarkov(3)
    scores = {"segment": np.zeros((3, 3, 2)), "transition": np.zeros((2, 2))}
    outputs = list(structure.outputs(**scores))
    for gold, other in itertools.product(outputs, outputs):
        c, constant = Hamming().parts(structure, gold, **scores)
        counts = structure.encode(other, **scores)
        wrong = sum(a != b for a, b in zip(tokens(gold), tokens(other), strict=True))
        assert (c["segment"] * counts["segment"]).sum() + constant == wrong
