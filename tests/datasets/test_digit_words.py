"""Digit words: real images, kept apart, in an order that tells something."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from structlearn.datasets import digit_transitions, load_digit_words


def used(words):
    return set(np.concatenate(words.indices).tolist())


@pytest.fixture(scope="module")
def train():
    return load_digit_words(600, subset="train", random_state=0)


@pytest.fixture(scope="module")
def held_out():
    return load_digit_words(600, subset="test", random_state=0)


def entropy(p):
    p = p[p > 0]
    return float(-(p * np.log2(p)).sum())


def test_shapes(train):
    assert len(train.X) == len(train.y) == len(train.images) == len(train.indices) == 600
    for x, y, images, indices in zip(train.X, train.y, train.images, train.indices, strict=True):
        assert x.shape == (len(y), 64)
        assert images.shape == (len(y), 8, 8)
        assert np.array_equal(images.reshape(-1, 64), x)
        assert indices.shape == y.shape
        assert x.min() >= 0
        assert x.max() <= 1
        assert y.dtype == np.int64
    assert {len(y) for y in train.y} == set(range(3, 9))
    assert train.target_names == [str(digit) for digit in range(10)]
    assert "Markov" in train.DESCR


def test_images_are_the_real_ones():
    words = load_digit_words(50, noise=0, subset="all", random_state=0)
    digits = load_digits()
    for x, y, indices in zip(words.X, words.y, words.indices, strict=True):
        assert np.array_equal(x, digits.data[indices] / 16)
        assert np.array_equal(y, digits.target[indices])


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
def test_train_and_test_share_no_image(seed, other):
    ours = used(load_digit_words(100, subset="train", random_state=seed))
    theirs = used(load_digit_words(100, subset="test", random_state=other))
    assert ours
    assert theirs
    assert not ours & theirs


def test_both_parts_are_used_widely(train, held_out):
    assert len(used(train)) > 1000
    assert len(used(held_out)) > 400


def test_all_is_train_then_test():
    words = load_digit_words(100, subset="all", random_state=5)
    assert words.is_test.tolist() == [False] * 75 + [True] * 25
    train = load_digit_words(75, subset="train", random_state=5)
    test = load_digit_words(25, subset="test", random_state=5)
    for mine, theirs in zip(words.X, train.X + test.X, strict=True):
        assert np.array_equal(mine, theirs)
    assert not train.is_test.any()
    assert test.is_test.all()


def test_same_seed_same_words():
    first, again = (load_digit_words(20, random_state=1) for _ in range(2))
    other = load_digit_words(20, random_state=2)
    assert all(np.array_equal(a, b) for a, b in zip(first.X, again.X, strict=True))
    assert any(not np.array_equal(a, b) for a, b in zip(first.y, other.y, strict=True))
    test = load_digit_words(20, subset="test", random_state=1)
    assert any(not np.array_equal(a, b) for a, b in zip(first.y, test.y, strict=True))


def test_the_chain_is_peaked_and_the_words_follow_it(train):
    matrix = digit_transitions()
    assert np.allclose(matrix.sum(0), 1)
    assert np.allclose(matrix.sum(1), 1)
    assert np.array_equal(train.transition, matrix)
    stated = np.mean([entropy(row) for row in matrix])
    assert stated < 0.6 * np.log2(10)
    assert f"{stated:.2f} bits" in train.DESCR

    counts = np.zeros((10, 10))
    for y in train.y:
        np.add.at(counts, (y[:-1], y[1:]), 1)
    observed = counts / counts.sum(1, keepdims=True)
    assert np.abs(observed - matrix).max() < 0.12
    assert np.mean([entropy(row) for row in observed]) < 0.6 * np.log2(10)


def test_a_single_digit_is_hard_and_the_neighbours_help(train, held_out):
    model = LogisticRegression(max_iter=2000).fit(np.vstack(train.X), np.concatenate(train.y))
    transition = np.log(train.transition)
    alone = together = total = 0
    for x, y in zip(held_out.X, held_out.y, strict=True):
        scores = model.predict_log_proba(x)
        alone += int((scores.argmax(1) != y).sum())
        best, back = scores[0], []
        for step in scores[1:]:
            joint = best[:, None] + transition
            back.append(joint.argmax(0))
            best = joint.max(0) + step
        path = [int(best.argmax())]
        for pointers in reversed(back):
            path.append(int(pointers[path[-1]]))
        together += int((np.array(path[::-1]) != y).sum())
        total += len(y)
    assert 0.08 <= alone / total <= 0.15
    assert together < 0.7 * alone


def test_length_and_noise():
    assert {len(y) for y in load_digit_words(20, length=4, random_state=0).y} == {4}
    assert {len(y) for y in load_digit_words(9, length=(1, 1), random_state=0).y} == {1}
    clean = load_digit_words(20, noise=0, random_state=0)
    noisy = load_digit_words(20, noise=0.5, random_state=0)
    assert np.array_equal(clean.y[0], noisy.y[0])
    assert np.abs(clean.X[0] - noisy.X[0]).mean() > 0.1


@pytest.mark.parametrize(
    "arguments",
    [
        {"n_words": -1},
        {"length": 0},
        {"length": (5, 3)},
        {"length": (1, 2, 3)},
        {"length": "long"},
        {"noise": -0.1},
        {"noise": float("nan")},
        {"subset": "validation"},
    ],
)
def test_bad_arguments(arguments):
    with pytest.raises(ValueError, match=next(iter(arguments))):
        load_digit_words(**arguments)
