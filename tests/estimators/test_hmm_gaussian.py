"""Hidden Markov models of vectors: offsets, constant features, tiny data; by NumPy and SciPy."""

import itertools

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from structlearn.estimators import HMM


def sequences(rng, n, d, n_labels, scale=1.0, offset=0.0):
    """Draw sequences with labels, and vectors around a mean for each label."""
    centres = 2 * scale * rng.normal(size=(n_labels, d))
    y = [rng.integers(0, n_labels, size=rng.integers(1, 6)) for _ in range(n)]
    X = [centres[labels] + scale * rng.normal(size=(len(labels), d)) + offset for labels in y]
    return X, y


def marginals(model, X):
    return np.concatenate([np.asarray(p) for p in model.predict_marginals(X)])


def posteriors(model, x):
    """Return P(label | x) at each position and log P(x), forward and backward in logarithms."""
    emitted = model.emissions_.scores(x)
    forward = [model.start_ + emitted[0]]
    for row in emitted[1:]:
        forward.append(logsumexp(forward[-1][:, None] + model.transition_, axis=0) + row)
    backward = [model.end_]
    for row in emitted[:0:-1]:
        backward.insert(0, logsumexp(model.transition_ + row + backward[0], axis=1))
    total = logsumexp(forward[-1] + model.end_)
    return np.exp(np.array(forward) + np.array(backward) - total), total


def joint(model, x, labels):
    """Return log P(x, labels)."""
    emitted = model.emissions_.scores(x)
    score = model.start_[labels[0]] + model.end_[labels[-1]]
    score += sum(row[k] for row, k in zip(emitted, labels, strict=True))
    return score + sum(model.transition_[pair] for pair in itertools.pairwise(labels))


@pytest.mark.parametrize("shrinkage", [0.0, 0.2, 1.0])
@pytest.mark.parametrize("constant", [0.0, 0.1, -3e7])
def test_a_constant_feature_tells_nothing(constant, shrinkage):
    rng = np.random.default_rng(0)
    # Few vectors, and labels of different frequency: here priors weigh.
    X, y = sequences(rng, 4, 2, 2)
    y = [np.minimum(labels, rng.integers(0, 2, size=len(labels))) for labels in y]
    more = [np.insert(x, 1, constant, axis=1) for x in X]
    plain, with_it = (HMM(shrinkage=shrinkage).fit(data, y) for data in (X, more))
    np.testing.assert_allclose(marginals(with_it, more), marginals(plain, X), atol=1e-9)
    moved = [np.insert(x, 1, constant + 2.5, axis=1) for x in X]
    np.testing.assert_allclose(marginals(with_it, moved), marginals(plain, X), atol=1e-9)


def test_vectors_that_are_all_the_same_leave_it_to_the_labels():
    model = HMM().fit([np.ones((3, 2))], [[0, 1, 0]])
    for x in (np.ones((4, 2)), np.zeros((4, 2)), 50 * np.ones((4, 2))):
        scores = model.emissions_.scores(x)
        np.testing.assert_allclose(scores[:, 0], scores[:, 1], rtol=1e-14)


@pytest.mark.parametrize(("offset", "scale"), [(1e8, 1.0), (1e8, 1e-3), (-1e3, 1e-8), (0.0, 1e-30)])
def test_offsets_and_scales_change_no_posterior(offset, scale):
    rng = np.random.default_rng(2)
    X, y = sequences(rng, 12, 2, 3)
    moved = [scale * x + offset for x in X]
    # What the offset leaves of the vectors, scaled back: the same numbers but for rounding.
    rounded = [(x - offset) / scale for x in moved]
    slack = 1e-9 + 20 * np.spacing(abs(offset)) / scale  # means are rounded as vectors are
    model, other = HMM().fit(moved, y), HMM().fit(rounded, y)
    np.testing.assert_allclose(marginals(model, moved), marginals(other, rounded), atol=slack)
    # In two parts, too.
    parts = HMM().partial_fit(moved[:5], y[:5], classes=[0, 1, 2]).partial_fit(moved[5:], y[5:])
    np.testing.assert_allclose(marginals(parts, moved), marginals(model, moved), atol=slack)


def test_a_feature_that_varies_by_its_last_bits_is_constant():
    rng = np.random.default_rng(3)
    X, y = sequences(rng, 12, 2, 2)
    jitter = [0.3 * (1 + 2.0**-52 * rng.integers(-2, 3, size=len(x))) for x in X]
    more = [np.column_stack([x, column]) for x, column in zip(X, jitter, strict=True)]
    plain, with_it = HMM().fit(X, y), HMM().fit(more, y)
    np.testing.assert_allclose(marginals(with_it, more), marginals(plain, X), atol=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_densities_and_posteriors_equal_scipy_and_numpy(seed):
    rng = np.random.default_rng(seed)
    n_labels, d, n = int(rng.integers(1, 4)), int(rng.integers(1, 4)), int(rng.integers(1, 7))
    X, y = sequences(rng, n, d, n_labels, scale=10.0 ** rng.integers(-3, 4))
    known = [[None if rng.random() < 0.2 and i else int(k) for k in s] for i, s in enumerate(y)]
    model = HMM(shrinkage=rng.choice([0.2, 1.0])).fit(X, known)
    rows = np.concatenate(X)
    for k, (mean, covariance) in enumerate(
        zip(model.emissions_.means, model.emissions_.covariances, strict=True)
    ):
        # SciPy takes features of very different scales for singular ones.
        scale = np.sqrt(np.diag(covariance))
        expected = multivariate_normal(np.zeros(d), covariance / np.outer(scale, scale)).logpdf(
            (rows - mean) / scale
        )
        found = model.emissions_.scores(rows)[:, k]
        np.testing.assert_allclose(found, np.atleast_1d(expected) - np.log(scale).sum(), rtol=1e-9)
    classes = model.classes_.tolist()
    for x in X:
        p, total = posteriors(model, x)
        np.testing.assert_allclose(marginals(model, [x]), p, atol=1e-9)
        outputs = list(itertools.product(range(len(classes)), repeat=len(x)))
        scores = [joint(model, x, labels) for labels in outputs]
        assert logsumexp(scores) == pytest.approx(total)
        best = [classes.index(k) for k in model.predict([x])[0].tolist()]
        assert joint(model, x, best) == pytest.approx(max(scores))
        chosen = [classes[k] for k in best]
        assert model.predict_proba([x], [chosen])[0] == pytest.approx(np.exp(max(scores) - total))
    assert logsumexp(model.start_) == pytest.approx(0.0, abs=1e-12)
    leaving = np.exp(model.end_) + np.exp(model.transition_).sum(axis=1)
    np.testing.assert_allclose(leaving, 1.0, rtol=1e-12)


@pytest.mark.parametrize("d", [1, 3, 8, 17, 31])
def test_scores_do_not_depend_on_the_batch(d):
    """Each sequence has the same bits alone and in a batch of any size."""
    rng = np.random.default_rng(d)
    X = [rng.normal(size=(int(rng.integers(1, 6)), d)) for _ in range(20)]
    y = [rng.integers(3, size=len(x)).tolist() for x in X]
    model = HMM(shrinkage=0.1).fit(X, y)
    together = model.predict_kbest(X, n=2)
    for i, ranked in enumerate(together):
        (alone,) = model.predict_kbest([X[i]], n=2)
        assert [score for score, _ in ranked] == [score for score, _ in alone]
