"""What a fitted model says of outputs: probabilities, marginals, k-best, samples, scores."""

import itertools

import numpy as np
import pytest

from structlearn.estimators import CRF, HMM, StructuredPerceptron, StructuredSVM
from structlearn.structures import Chain, Lattice
from tests.estimators.estimator_data import points, quietly, same_outputs, sequences

NAMES = ["D", "N", "V"]


@pytest.fixture(scope="module", params=[CRF(), CRF(Chain(order=2), temperature=0.5)], ids=repr)
def fitted(request):
    X, y = sequences(n=12)
    return request.param.fit(X, y), X, y


def table(model, x):
    """Every output of x with its score, from coef_ by hand."""
    coef = model.coef_
    label = x @ coef["label"].T
    scores = {}
    for z in itertools.product(range(3), repeat=len(x)):
        s = label[np.arange(len(x)), list(z)].sum() + coef["start"][z[0]] + coef["end"][z[-1]]
        for name in ("transition", "transition1"):
            if name in coef:
                width = coef[name].ndim
                s += sum(coef[name][z[t : t + width]] for t in range(len(x) - width + 1))
        scores[z] = s
    return scores


def test_against_enumeration(fitted):
    model, X, y = fitted
    eps = model.temperature
    predicted = model.predict(X)
    marginals = model.predict_marginals(X)
    best_probability = model.predict_proba(X)
    gold_probability = model.predict_proba(X, y)
    kbest = model.predict_kbest(X, 4)
    assert best_probability.shape == gold_probability.shape == (len(X),)
    for i, x in enumerate(X):
        scores = table(model, x)
        outputs, values = list(scores), np.array(list(scores.values()))
        p = np.exp((values - values.max()) / eps)
        p /= p.sum()
        order = np.argsort(-values)
        assert predicted[i].tolist() == [NAMES[k] for k in outputs[order[0]]]
        assert best_probability[i] == pytest.approx(p.max(), rel=1e-10)
        gold = tuple(NAMES.index(k) for k in y[i])
        assert gold_probability[i] == pytest.approx(p[outputs.index(gold)], rel=1e-10)
        expected = np.zeros((len(x), 3))
        for z, q in zip(outputs, p, strict=True):
            expected[np.arange(len(x)), list(z)] += q
        np.testing.assert_allclose(marginals[i], expected, rtol=0, atol=1e-12)
        found = [(value, output.tolist()) for value, output in kbest[i]]
        assert len(found) == min(4, len(outputs))
        for (value, output), j in zip(found, order, strict=False):
            assert value == pytest.approx(values[j], abs=1e-10)
            assert output == [NAMES[k] for k in outputs[j]]


def test_temperature_of_probabilities(fitted):
    """By default the one of training; colder is surer."""
    model, X, _ = fitted
    default = model.predict_marginals(X)
    same = model.predict_marginals(X, temperature=model.temperature)
    cold = model.predict_marginals(X, temperature=1e-3)
    for a, b, c, output in zip(default, same, cold, model.predict(X), strict=True):
        np.testing.assert_array_equal(a, b)
        assert [NAMES[k] for k in c.argmax(axis=1)] == output.tolist()
        assert c.max(axis=1).min() >= a.max(axis=1).min()
    assert (model.predict_proba(X, temperature=0.1) > model.predict_proba(X)).mean() > 0.9


def test_models_without_temperature_use_one():
    X, y = points()
    model = quietly(StructuredSVM("multiclass", max_iter=5), X, y)
    scores = X @ model.coef_.T
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), p, rtol=0, atol=1e-13)
    np.testing.assert_array_equal(model.predict(X), model.classes_[p.argmax(axis=1)])
    of_gold = model.predict_proba(X, y)
    index = np.searchsorted(model.classes_, y)
    np.testing.assert_allclose(of_gold, p[np.arange(len(y)), index], rtol=0, atol=1e-13)


def test_samples_follow_the_distribution(fitted):
    model, X, _ = fitted
    n = 4000
    drawn = model.sample(X[:2], n, random_state=0)
    for x, outputs in zip(X[:2], drawn, strict=True):
        assert len(outputs) == n
        expected = model.predict_marginals([x])[0]
        found = np.mean([[[k == name for name in NAMES] for k in z] for z in outputs], axis=0)
        assert np.abs(found - expected).max() < 5 * 0.5 / np.sqrt(n)


def test_all_blocks_of_marginals(fitted):
    model, X, _ = fitted
    for x, p in zip(X, model.predict_marginals(X, block=None), strict=True):
        assert set(p) == set(model.coef_)
        np.testing.assert_allclose(p["start"], p["label"][0], atol=1e-12)
        assert p["transition"].shape[0] == max(len(x) - p["transition"].ndim + 2, 0)


def test_score_leaves_unknown_labels_out(fitted):
    model, X, y = fitted
    hidden = [[None if t % 2 else k for t, k in enumerate(row)] for row in y]
    right = total = 0
    for row, found in zip(hidden, model.predict(X), strict=True):
        right += sum(k == f for k, f in zip(row, found, strict=True) if k is not None)
        total += sum(k is not None for k in row)
    assert model.score(X, hidden) == right / total


def test_more_examples_than_are_scored_at_once():
    X, y = sequences(n=10)
    model = CRF().fit(X, y)
    many = X * 250
    assert same_outputs(model.predict(many), model.predict(X) * 250)
    np.testing.assert_array_equal(model.predict_proba(many), np.tile(model.predict_proba(X), 250))


def test_outputs_without_labels():
    """Paths of a lattice: learned, predicted and scored as they are."""
    lattice = Lattice([(0, 1), (0, 1), (1, 2), (1, 2), (0, 2)])
    paths = list(lattice.outputs())
    rng = np.random.default_rng(0)
    w = np.array([1.0, -2.0, 0.5])
    X = [{"edge": rng.normal(size=(5, 3))} for _ in range(40)]
    y = [max(paths, key=lambda z, x=x: (x["edge"] @ w)[z].sum()) for x in X]
    for model in (
        StructuredPerceptron(lattice, max_iter=20, random_state=0),
        StructuredSVM(lattice, cost="zero-one", max_iter=30, random_state=0),
        CRF(lattice, C=100.0),
    ):
        quietly(model, X, y)
        assert model.coef_["edge"].shape == (3,)
        assert model.score(X, y) > 0.9
        found = model.coef_["edge"]
        assert found @ w > 0.95 * np.linalg.norm(found) * np.linalg.norm(w)
        assert all(any(np.array_equal(p, z) for z in paths) for p in model.predict(X))
    marginals = model.predict_marginals(X, block="edge")
    assert marginals[0].shape == (5,)


def test_latent_labels_are_filled_in():
    """With some labels unknown, the model learns from the rest and predicts all of them."""
    X, y = sequences(n=60, noise=0.1)
    rng = np.random.default_rng(0)
    hidden = [[None if rng.random() < 0.3 else k for k in row] for row in y]
    model = CRF().fit(X, hidden)
    assert model.score(X, y) > 0.8
    assert model.duality_gap_ is None
    perceptron = StructuredPerceptron(random_state=0).fit(X, hidden)
    assert perceptron.score(X, y) > 0.7


def test_more_threads_than_machines_have():
    X, y = sequences()
    for model in (CRF().fit(X, y), HMM().fit(X, y)):
        expected = model.predict(X)
        assert same_outputs(model.set_params(n_jobs=2**40).predict(X), expected)


def test_marginals_of_a_structure_without_labels():
    """The block of a lattice is its edges': it is what predict_marginals returns."""
    rng = np.random.default_rng(5)
    lattice = Lattice([(0, 1), (0, 1), (1, 2), (1, 3), (2, 3), (0, 3)])
    paths = list(lattice.outputs())
    X = [{"edge": rng.normal(size=(6, 3))} for _ in range(5)]
    y = [paths[g] for g in rng.integers(len(paths), size=5)]
    model = quietly(CRF(lattice), X, y)
    for x, found in zip(X, model.predict_marginals(X), strict=True):
        scores = x["edge"] @ np.ravel(model.coef_["edge"])
        p = np.exp([scores[path].sum() for path in paths])
        expected = np.zeros(6)
        for path, q in zip(paths, p / p.sum(), strict=True):
            expected[path] += q
        np.testing.assert_allclose(np.ravel(found), expected, rtol=0, atol=1e-12)
