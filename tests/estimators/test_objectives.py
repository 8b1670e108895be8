"""Objectives of estimators against optima that SciPy finds: Potts terms and trees over classes.

Outputs are listed one by one and scored by loops of their own; hinge losses are a quadratic program
with a row for each output.
"""

import itertools

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize
from scipy.special import logsumexp

from structlearn.estimators import CRF, StructuredSVM
from structlearn.structures import Graph

C = 0.7
NO_ROWS = np.empty((0, 0))


class Listed:
    """Examples as the features of all of their outputs: an (outputs, weights) matrix each.

    Attributes
    ----------
    features : list of arrays
        Φ(x, y) for every output y, the gold one first.
    cost : list of arrays
        Wrong labels of every output.
    rows : array of shape (rows, weights)
        What must not be negative of the weights.
    """

    def __init__(self, examples, feature, n_labels, rows):
        self.features, self.cost, self.rows = [], [], rows
        self.near = []  # of each site the outputs that have the gold labels elsewhere
        for x, gold in examples:
            gold = tuple(np.ravel(gold).tolist())
            every = [gold, *itertools.product(range(n_labels), repeat=len(gold))]
            every = list(dict.fromkeys(every))
            self.near.append([
                [i for i, y in enumerate(every) if y[:v] + y[v + 1 :] == gold[:v] + gold[v + 1 :]]
                for v in range(len(gold))
            ])  # fmt: skip
            self.features.append(np.array([feature(x, y) for y in every]))
            self.cost.append(np.array([sum(a != b for a, b in zip(y, gold, strict=True))
                                       for y in every], dtype=float))  # fmt: skip

    def log_loss(self, w):
        """Return ½‖w‖² + C Σ −log P(gold), and its gradient."""
        value, gradient = 0.5 * w @ w, w.copy()
        for phi in self.features:
            scores = phi @ w
            total = logsumexp(scores)
            value += C * (total - scores[0])
            gradient += C * (np.exp(scores - total) @ phi - phi[0])
        return value, gradient

    def pseudo_loss(self, w):
        """Return ½‖w‖² + C Σ −log P(gold label | those around it), over all sites."""
        value = 0.5 * w @ w
        for phi, near in zip(self.features, self.near, strict=True):
            scores = phi @ w
            value += C * sum(logsumexp(scores[rows]) - scores[0] for rows in near)
        return value

    def minimum(self, loss):
        """Return the optimum of a loss over the weights that are allowed, by SLSQP."""
        kept = LinearConstraint(self.rows, 0.0, np.inf) if len(self.rows) else ()
        options = {"ftol": 1e-15, "maxiter": 2000}
        start = np.zeros(self.features[0].shape[1])
        jac = loss == self.log_loss
        found = minimize(loss, start, jac=jac, method="SLSQP", constraints=kept, options=options)
        return found.x, found.fun

    def hinge_minimum(self):
        """Return the optimum of ½‖w‖² + C Σ ξ, ξ ≥ Δ(y) + ⟨w, Φ(y) − Φ(gold)⟩ for every y."""
        n, m = self.features[0].shape[1], len(self.features)
        rows = [np.hstack([self.rows.reshape(-1, n), np.zeros((len(self.rows), m))])]
        least = [np.zeros(len(self.rows))]
        for i, (phi, cost) in enumerate(zip(self.features, self.cost, strict=True)):
            slack = np.zeros((len(phi), m))
            slack[:, i] = 1.0
            rows.append(np.hstack([phi[0] - phi, slack]))
            least.append(cost)
        weight = np.concatenate([np.ones(n), np.zeros(m)])
        found = minimize(
            lambda z: 0.5 * (weight * z) @ z + C * z[n:].sum(),
            np.concatenate([np.zeros(n), np.full(m, max(map(max, self.cost)))]),
            jac=lambda z: weight * z + np.concatenate([np.zeros(n), np.full(m, C)]),
            method="SLSQP",
            bounds=[(None, None)] * n + [(0, None)] * m,
            constraints=LinearConstraint(np.vstack(rows), np.concatenate(least), np.inf),
            options={"ftol": 1e-13, "maxiter": 1000},
        )
        assert found.success
        return found.x[:n], found.fun


# -- Potts terms ----------------------------------------------------------------------------------


def grids(n_labels, n=5, height=2, width=3):
    """Noisy pictures, some with neighbours that are mostly unlike: a weight of 0 is best."""
    rng = np.random.default_rng(n_labels)
    examples = []
    for _ in range(n):
        y = rng.integers(n_labels, size=(height, width))
        grey = y + rng.normal(size=y.shape)
        x = {"label": np.stack((grey, np.ones_like(grey)), axis=-1)}
        for name, axis in (("potts_right", 1), ("potts_down", 0)):
            step = np.abs(np.diff(grey, axis=axis))
            x[name] = np.stack((np.ones_like(step), np.exp(-step)), axis=-1)
        examples.append((x, y))
    return examples


def submodular(n_weights, potts, tables):
    """Return rows of strengths of Potts terms, and of tables of two labels, which favour like."""
    rows = [np.eye(n_weights)[k] for k in potts]
    for begin in tables:
        rows.append(np.zeros(n_weights))
        rows[-1][begin : begin + 4] = [1, -1, -1, 1]
    return np.array(rows)


def grid_features(n_labels):
    """Return Φ: labels, Potts terms, and with two labels tables of neighbours."""

    def feature(x, y):
        height, width = x["label"].shape[:2]
        y = np.reshape(y, (height, width))
        label = np.zeros((n_labels, 2))
        right, down = np.zeros(2), np.zeros(2)
        tables = np.zeros((2, n_labels, n_labels))
        for r, c in itertools.product(range(height), range(width)):
            label[y[r, c]] += x["label"][r, c]
            if c + 1 < width:
                tables[0, y[r, c], y[r, c + 1]] += 1
                right -= x["potts_right"][r, c] * (y[r, c] != y[r, c + 1])
            if r + 1 < height:
                tables[1, y[r, c], y[r + 1, c]] += 1
                down -= x["potts_down"][r, c] * (y[r, c] != y[r + 1, c])
        parts = [label.ravel(), right, down]
        return np.concatenate([*parts, tables.ravel()] if n_labels == 2 else parts)

    if n_labels == 2:
        return feature, submodular(16, range(4, 8), (8, 12))
    return feature, submodular(10, range(6, 10), ())


EDGES = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]


def graphs(n_labels, n=6):
    rng = np.random.default_rng(10 + n_labels)
    examples = []
    for _ in range(n):
        y = rng.integers(n_labels, size=4)
        label = np.stack((y + rng.normal(size=4), np.ones(4)), axis=-1)
        potts = rng.uniform(size=(len(EDGES), 2))
        examples.append(({"label": label, "potts": potts}, y))
    return examples


def graph_features(n_labels):
    def feature(x, y):
        label, potts = np.zeros((n_labels, 2)), np.zeros(2)
        table = np.zeros((n_labels, n_labels))
        for v, k in enumerate(y):
            label[k] += x["label"][v]
        for (u, v), row in zip(EDGES, x["potts"], strict=True):
            table[y[u], y[v]] += 1
            potts -= row * (y[u] != y[v])
        parts = [label.ravel(), potts]
        return np.concatenate([*parts, table.ravel()] if n_labels == 2 else parts)

    if n_labels == 2:
        return feature, submodular(10, (4, 5), (6,))
    return feature, submodular(8, (6, 7), ())


def potts_case(kind, n_labels):
    if kind == "grid":
        examples, made = grids(n_labels), grid_features(n_labels)
        structure, blocks = "grid", ["label", "potts_right", "potts_down"]
    else:
        examples, made = graphs(n_labels), graph_features(n_labels)
        structure, blocks = Graph(np.array(EDGES)), ["label", "potts"]
    if n_labels == 2:
        blocks += ["right", "down"] if kind == "grid" else ["edge"]
    feature, rows = made
    return examples, Listed(examples, feature, n_labels, rows), structure, blocks


def flat(model, blocks):
    return np.concatenate([np.ravel(model.coef_[name]) for name in blocks])


@pytest.mark.parametrize("kind", ["grid", "graph"])
@pytest.mark.parametrize("n_labels", [2, 3])
@pytest.mark.parametrize("likelihood", ["exact", "pseudo"])
def test_potts_log_loss(kind, n_labels, likelihood):
    examples, listed, structure, blocks = potts_case(kind, n_labels)
    X, y = ([one[k] for one in examples] for k in (0, 1))
    model = CRF(structure, C=C, submodular=True, likelihood=likelihood, tol=1e-9, max_iter=10_000)
    model.fit(X, y)
    exact = likelihood == "exact"
    loss = listed.log_loss if exact else listed.pseudo_loss
    w, least = listed.minimum(loss)
    assert model.objective_ == pytest.approx(least, rel=1e-6)
    np.testing.assert_allclose(flat(model, blocks), w, atol=2e-3)
    assert (listed.rows @ w).min() < 1e-5  # a bound is reached
    value = loss(flat(model, blocks))
    assert (value[0] if exact else value) == pytest.approx(model.objective_, rel=1e-9)


@pytest.mark.parametrize("kind", ["grid", "graph"])
@pytest.mark.parametrize("n_labels", [2, 3])
@pytest.mark.parametrize("solver", ["frank-wolfe", "n-slack", "one-slack"])
def test_potts_hinge(kind, n_labels, solver):
    examples, listed, structure, blocks = potts_case(kind, n_labels)
    X, y = ([one[k] for one in examples] for k in (0, 1))
    model = StructuredSVM(structure, C=C, submodular=True, solver=solver, tol=1e-4)
    model.set_params(max_iter=5000, random_state=0).fit(X, y)
    w, least = listed.hinge_minimum()
    assert model.duality_gap_ <= 1e-4 * model.objective_
    assert least - 1e-6 <= model.objective_ <= least + model.duality_gap_ + 1e-6
    np.testing.assert_allclose(flat(model, blocks), w, atol=0.05)


# -- trees over classes ---------------------------------------------------------------------------

TREE = {"arts": ["music", "movies"], "science": {"medicine": ["cells", "bones"], "other": ["sums"]}}
#: The inner nodes above each class, as the tree has them.
ABOVE = {
    "bones": ["science", "medicine"],
    "cells": ["science", "medicine"],
    "movies": ["arts"],
    "music": ["arts"],
    "sums": ["science", "other"],
}
CLASSES = sorted(ABOVE)
NODES = [*CLASSES, "arts", "science", "medicine", "other"]


def paths():
    """Return the (classes, nodes) table: which nodes' weights a class adds up."""
    table = np.zeros((len(CLASSES), len(NODES)))
    for k, name in enumerate(CLASSES):
        table[k, [NODES.index(node) for node in (name, *ABOVE[name])]] = 1.0
    return table


def points():
    rng = np.random.default_rng(3)
    y = rng.integers(len(CLASSES), size=25)
    centres = rng.normal(size=(len(CLASSES), 3))
    return centres[y] + rng.normal(size=(25, 3)), y


def point_features(x, y):
    return np.outer(paths()[y[0]], x).ravel()


def tree_case():
    X, y = points()
    examples = list(zip(X, y, strict=True))
    listed = Listed(examples, point_features, len(CLASSES), NO_ROWS)
    return X, [CLASSES[k] for k in y], listed


def test_hierarchical_log_loss():
    X, y, listed = tree_case()
    model = CRF("multiclass", hierarchy=TREE, C=C, tol=1e-10).fit(X, y)
    w, least = listed.minimum(listed.log_loss)
    assert model.objective_ == pytest.approx(least, rel=1e-8)
    np.testing.assert_allclose(model.coef_, paths() @ w.reshape(len(NODES), 3), atol=1e-4)
    plain = CRF("multiclass", C=C, tol=1e-10).fit(X, y)
    assert plain.objective_ > model.objective_ + 1e-3  # shared weights cost less


@pytest.mark.parametrize("solver", ["frank-wolfe", "n-slack", "one-slack"])
def test_hierarchical_hinge(solver):
    X, y, listed = tree_case()
    model = StructuredSVM("multiclass", hierarchy=TREE, C=C, solver=solver, tol=1e-4)
    model.set_params(max_iter=5000, random_state=0).fit(X, y)
    w, least = listed.hinge_minimum()
    assert least - 1e-6 <= model.objective_ <= least + model.duality_gap_ + 1e-6
    np.testing.assert_allclose(model.coef_, paths() @ w.reshape(len(NODES), 3), atol=0.05)


def test_hierarchical_chain():
    """Labels of sequences: nodes share the weights of features, pairs of labels have their own."""
    rng = np.random.default_rng(5)
    tree, names = {"noun": ["NN", "NNS"], "verb": ["VB"]}, ["NN", "NNS", "VB"]
    table = np.array([[1, 0, 0, 1, 0], [0, 1, 0, 1, 0], [0, 0, 1, 0, 1.0]])
    examples = [(rng.normal(size=(n, 2)), rng.integers(3, size=n)) for n in (1, 2, 3, 3, 4)]

    def feature(x, y):
        label = sum(np.outer(table[k], row) for k, row in zip(y, x, strict=True))
        pair = np.zeros((3, 3))
        for a, b in itertools.pairwise(y):
            pair[a, b] += 1
        start, end = np.eye(3)[y[0]], np.eye(3)[y[-1]]
        return np.concatenate([label.ravel(), pair.ravel(), start, end])

    listed = Listed(examples, feature, 3, NO_ROWS)
    y = [[names[k] for k in row] for _, row in examples]
    model = CRF(hierarchy=tree, C=C, tol=1e-11).fit([x for x, _ in examples], y)
    w, least = listed.minimum(listed.log_loss)
    assert model.objective_ == pytest.approx(least, rel=1e-8)
    np.testing.assert_allclose(model.coef_["label"], table @ w[:10].reshape(5, 2), atol=1e-4)
    np.testing.assert_allclose(model.coef_["transition"], w[10:19].reshape(3, 3), atol=1e-4)


# -- unknown labels: expectation maximisation -----------------------------------------------------


def test_expectation_maximisation():
    """Rounds over unknown labels, against rounds written apart: each is solved by L-BFGS."""
    rng = np.random.default_rng(7)
    names = ["a", "b"]
    gold = [[0, 1, None], [1, None, None, 0], [None, 1], [0, 0, 1], [None, None, 1], [1, None, 0]]
    X = [rng.normal(size=(len(row), 2)) + (1 - 2 * np.array([k == 1 for k in row]))[:, None]
         for row in gold]  # fmt: skip

    def feature(x, y):
        label, pair = np.zeros((2, 2)), np.zeros((2, 2))
        for k, row in zip(y, x, strict=True):
            label[k] += row
        for a, b in itertools.pairwise(y):
            pair[a, b] += 1
        return np.concatenate([label.ravel(), pair.ravel(), np.eye(2)[y[0]], np.eye(2)[y[-1]]])

    phi, known = [], []
    for x, row in zip(X, gold, strict=True):
        every = list(itertools.product(range(2), repeat=len(row)))
        phi.append(np.array([feature(x, y) for y in every]))
        known.append([all(k in (None, j) for j, k in zip(y, row, strict=True)) for y in every])

    def expected(w, some):
        """Return the mean features of some outputs of each example, in proportion to exp(score)."""
        scores = [p[k] @ w for p, k in zip(phi, some, strict=True)]
        return sum(np.exp(s - logsumexp(s)) @ p[k]
                   for s, p, k in zip(scores, phi, some, strict=True))  # fmt: skip

    def objective(w):
        parts = zip(phi, known, strict=True)
        return 0.5 * w @ w + C * sum(logsumexp(p @ w) - logsumexp(p[k] @ w) for p, k in parts)

    all_of = [[True] * len(p) for p in phi]
    w, values = np.zeros(12), []
    for _ in range(80):
        values.append(objective(w))
        filled = expected(w, known)

        def surrogate(v, filled=filled):
            value = 0.5 * v @ v + C * (sum(logsumexp(p @ v) for p in phi) - filled @ v)
            return value, v + C * (expected(v, all_of) - filled)

        w = minimize(surrogate, w, jac=True, method="L-BFGS-B", options={"gtol": 1e-10}).x
    assert np.diff(values).max() <= 1e-9  # the likelihood never falls
    y = [[None if k is None else names[k] for k in row] for row in gold]
    seen = []
    model = CRF(latent="cccp", C=C, tol=1e-9, max_iter=2000, callbacks=lambda r: seen.append(r))
    model.fit(X, y)
    found = np.concatenate(
        [model.coef_[name].ravel() for name in ("label", "transition", "start", "end")]
    )
    assert objective(found) == pytest.approx(model.objective_, rel=1e-9)
    assert objective(found) == pytest.approx(objective(w), rel=1e-5)
    np.testing.assert_allclose(found, w, atol=0.02)
    gradient = found + C * (expected(found, all_of) - expected(found, known))
    assert np.abs(gradient).max() < 0.01
    rounds = [record["objective"] for record in seen if record.get("objective") is not None]
    assert len(rounds) > 2
    assert np.diff(rounds).max() <= 1e-6
