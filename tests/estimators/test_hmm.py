"""The hidden Markov model: counts by hand, proper distributions, enumeration, real tasks."""

from __future__ import annotations

import gzip
import itertools
import os
import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from structlearn.datasets import load_digit_words, make_treebank
from structlearn.estimators import HMM

X_TOY = [["a", "b"], ["a"]]
Y_TOY = [["N", "V"], ["N"]]


def sentences(n: int, seed: int) -> tuple[list[list[str]], list[list[str]]]:
    bank = make_treebank(n, random_state=seed)
    return [list(s.words) for s in bank], [list(s.tags) for s in bank]


def random_symbols(n: int, seed: int = 0) -> tuple[list[list[str]], list[list[str]]]:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 6, size=n)
    X = [[f"s{i}" for i in rng.integers(0, 4, size=length)] for length in lengths]
    y = [["ABC"[i] for i in rng.integers(0, 3, size=length)] for length in lengths]
    return X, y


def same_model(a: HMM, b: HMM, X: Any, rtol: float) -> None:
    for name in ("start_", "end_", "transition_"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=rtol)
    for p, q in zip(a.predict_marginals(X), b.predict_marginals(X), strict=True):
        np.testing.assert_allclose(p, q, atol=1e-9)
    for s, t in zip(a._inputs(X).scores(), b._inputs(X).scores(), strict=True):
        np.testing.assert_allclose(s["label"], t["label"], rtol=1e-9)


# -- probabilities by hand ------------------------------------------------------------------------


def test_hand_counted_probabilities() -> None:
    model = HMM(alpha=1, word_alpha=1, suffix_length=0).fit(X_TOY, Y_TOY)
    assert model.classes_.tolist() == ["N", "V"]
    # N twice, V once: label frequencies (2 + 1/2)/4 and (1 + 1/2)/4.
    np.testing.assert_allclose(np.exp(model.start_), [(2 + 0.625) / 3, 0.375 / 3])
    # Overall 1 goes on, 2 end: rates (1 + 2/3)/4 = 5/12 and (2 + 1/3)/4 = 7/12.
    go_n, end_n = (1 + 5 / 12) / 3, (1 + 7 / 12) / 3
    go_v, end_v = (0 + 5 / 12) / 2, (1 + 7 / 12) / 2
    np.testing.assert_allclose(np.exp(model.end_), [end_n, end_v])
    np.testing.assert_allclose(
        np.exp(model.transition_),
        [[go_n * 0.625 / 2, go_n * (1 + 0.375) / 2], [go_v * 0.625, go_v * 0.375]],
    )
    # Emissions: unknown mass 2/(3 + 2); all words are rare.
    rare = np.array([2.625, 1.375]) / 4
    a, b = (np.array([2, 0]) + rare) / 3, (np.array([0, 1]) + rare) / 2
    z = 0.4 * a + 0.2 * b + 0.4 * rare
    np.testing.assert_allclose(
        np.exp(model.emissions_.scores(["a", "b", "other"])),
        [0.4 * a / z, 0.2 * b / z, 0.4 * rare / z],
    )
    assert model.emissions_.words == ["a", "b"]
    assert model.n_iter_ == 1


def test_small_alpha_is_maximum_likelihood() -> None:
    X, y = random_symbols(40)
    model = HMM(alpha=1e-9, word_alpha=1e-9, suffix_length=0, rare=0).fit(X, y)
    pairs = Counter(p for labels in y for p in itertools.pairwise(labels))
    seen = Counter(k for labels in y for k in labels)
    for i, a in enumerate("ABC"):
        for j, b in enumerate("ABC"):
            assert np.exp(model.transition_[i, j]) == pytest.approx(pairs[a, b] / seen[a], abs=1e-6)
    words = Counter(zip(itertools.chain(*X), itertools.chain(*y), strict=True))
    total = sum(seen.values())
    known = np.exp(model.emissions_.scores(["s0"])[0])
    for i, k in enumerate("ABC"):
        # Of each label's words, all but the share u = 4/(N + 4) are known ones.
        expected = (1 - 4 / (total + 4)) * words["s0", k] / seen[k]
        assert known[i] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_each_distribution_sums_to_one(order: int) -> None:
    X, y = random_symbols(15)
    model = HMM(order=order).fit(X, y)
    assert model.transition_.shape == (3,) * (order + 1)
    assert np.exp(model.start_).sum() == pytest.approx(1)
    leaving = np.exp(model.transition_).sum(axis=-1) + np.exp(model.end_)
    np.testing.assert_allclose(leaving, 1)
    emitted = np.exp(model.emissions_.scores(["s0", "s1", "s2", "s3"])).sum(axis=0)
    np.testing.assert_allclose(emitted + np.exp(model.emissions_.log_unknown), 1)


def test_words_and_the_unknown_sum_to_one_with_spelling() -> None:
    X, y = sentences(50, 0)
    model = HMM().fit(X, y)
    known = np.exp(model.emissions_.scores(model.emissions_.words)).sum(axis=0)
    np.testing.assert_allclose(known + np.exp(model.emissions_.log_unknown), 1)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_joint_distribution_over_all_inputs_and_outputs_sums_to_one(order: int) -> None:
    model = HMM(order=order, suffix_length=0).fit([*X_TOY, ["b", "b", "a"]], [*Y_TOY, list("VNN")])
    longest, total = 3, 0.0
    for length in range(1, longest + 1):
        for x in itertools.product(["a", "b", "?"], repeat=length):
            (scores,) = model._inputs([list(x)]).scores()
            total += np.exp(model.structure_.log_partition(**scores))
            if length == longest:  # what goes on after this
                for y in itertools.product(range(2), repeat=length):
                    s = model.structure_.score(np.array(y), **scores) - model.end_[y[-1]]
                    total += np.exp(s) * (1 - np.exp(model.end_[y[-1]]))
    assert total == pytest.approx(1, rel=1e-12)


# -- against enumeration --------------------------------------------------------------------------


class Direct:
    """The model's definition, straight from the formulas, with dictionaries."""

    def __init__(self, X: Any, y: Any, order: int, alpha: float) -> None:
        self.order, self.alpha = order, alpha
        self.labels = sorted({k for labels in y for k in labels})
        self.follow: Counter[Any] = Counter()
        self.ends: Counter[Any] = Counter()
        self.seen: Counter[Any] = Counter()
        for labels in y:
            self.ends[labels[-1]] += 1
            for t, k in enumerate(labels):
                self.seen[k] += 1
                for j in range(min(t, order) + 1):
                    self.follow[tuple(labels[t - j : t + 1])] += 1
                if t < order:
                    first = ("^", *labels[: t + 1])
                    self.follow[first] += 1

    def times(self, *window: str) -> int:
        return self.follow[window]

    def given(self, k: str, history: tuple[str, ...]) -> float:
        count = sum(self.times(*history, q) for q in self.labels)
        coarser = self.given(k, history[1:]) if history else 1 / len(self.labels)
        return (self.times(*history, k) + self.alpha * coarser) / (count + self.alpha)

    def ending(self, k: str) -> float:
        total, ends = sum(self.seen.values()), sum(self.ends.values())
        overall = (ends + self.alpha / (len(self.labels) + 1)) / (total + self.alpha)
        return (self.ends[k] + self.alpha * overall) / (self.seen[k] + self.alpha)

    def probability(self, y: Any) -> float:
        p = 1.0
        for t, k in enumerate(y):
            history = ("^", *y[:t]) if t < self.order else tuple(y[t - self.order : t])
            p *= self.given(k, history) * (1 - self.ending(y[t - 1]) if t else 1)
        return p * self.ending(y[-1])


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("length", [1, 2, 3, 5])
def test_posterior_is_that_of_multiplied_probabilities(order: int, length: int) -> None:
    X, y = random_symbols(25, seed=order)
    model = HMM(order=order, alpha=0.7).fit(X, y)
    direct = Direct(X, y, order, 0.7)
    x = ["s0", "s2", "S1", "s9", "s3"][:length]
    emitted = np.exp(model.emissions_.scores(x))
    joint = {
        labels: direct.probability(labels)
        * np.prod([emitted[t, "ABC".index(k)] for t, k in enumerate(labels)])
        for labels in itertools.product("ABC", repeat=length)
    }
    total = sum(joint.values())
    best = max(joint, key=joint.__getitem__)
    assert model.predict([x])[0].tolist() == list(best)
    for labels in itertools.islice(joint, 30):
        expected = joint[labels] / total
        assert model.predict_proba([x], [list(labels)])[0] == pytest.approx(expected, rel=1e-9)
    marginal = sum(p for labels, p in joint.items() if labels[0] == "B") / total
    assert model.predict_marginals([x])[0][0, 1] == pytest.approx(marginal, rel=1e-9)
    top = model.predict_kbest([x], 3)[0]
    ranked = sorted(joint.values(), reverse=True)[:3]
    np.testing.assert_allclose([s for s, _ in top], np.log(ranked), rtol=1e-9)


def test_orders_differ_where_the_second_last_label_decides() -> None:
    X = [list("oooooo")] * 20
    y = [list("AABAAB"), list("ABAABA")] * 10
    pair, triple = HMM(alpha=0.1).fit(X, y), HMM(alpha=0.1, order=2).fit(X, y)
    assert triple.predict_proba(X[:1], y[:1])[0] > 0.4 > pair.predict_proba(X[:1], y[:1])[0]


# -- spelling -------------------------------------------------------------------------------------


def test_label_given_spelling_is_smoothed_step_by_step() -> None:
    X = [["ring", "Sing", "king", "log", "ring"], ["dog", "Log"]]
    y = [["V", "P", "N", "N", "N"], ["N", "P"]]
    alpha, beta, length = 0.5, 0.2, 3
    model = HMM(alpha=alpha, word_alpha=beta, suffix_length=length, rare=1).fit(X, y)
    pairs = list(zip(itertools.chain(*X), itertools.chain(*y), strict=True))
    often = Counter(w for w, _ in pairs)

    def mix(chosen: Any, before: Any, strength: float) -> Any:
        counts = np.array([sum(k == label for _, k in chosen) for label in "NPV"], dtype=float)
        return (counts + strength * before) / (counts.sum() + strength)

    def given(word: str | None) -> Any:
        rare = [(w, k) for w, k in pairs if often[w] <= 1]
        p = mix(rare, mix(pairs, np.full(3, 1 / 3), alpha), alpha)
        if word is None:
            return p
        for n in range(min(length, len(word)) + 1):
            end = word.lower()[len(word) - n :]
            rare = [
                (w, k)
                for w, k in rare
                if w[0].isupper() == word[0].isupper() and w.lower().endswith(end)
            ]
            if rare:
                p = mix(rare, p, alpha)
        lower = [(w, k) for w, k in pairs if w.lower() == word.lower()]
        p = mix(lower, p, alpha) if lower else p
        same = [(w, k) for w, k in pairs if w == word]
        return mix(same, p, beta) if same else p

    unknown = len(often) / (len(pairs) + len(often))
    prior = {w: (1 - unknown) * n / len(pairs) for w, n in often.items()}
    z = sum(prior[w] * given(w) for w in often) + unknown * given(None)
    for word in [*often, "Ring", "bing", "Ping", "ng", "xyz", "Dog", "G"]:
        expected = prior.get(word, unknown) * given(word) / z
        np.testing.assert_allclose(np.exp(model.emissions_.scores([word])[0]), expected)


def test_unknown_words_go_by_suffix_and_capital() -> None:
    X, y = sentences(1000, 0)
    model = HMM().fit(X, y)
    assert not {"zorking", "zorked", "zorkly"} & set(model.emissions_.words)
    by_label = dict(zip(model.classes_.tolist(), range(len(model.classes_)), strict=True))
    scores = model.emissions_.scores(["zorking", "zorked", "zorkly"])
    assert scores[0, by_label["VBG"]] > scores[0, by_label["VBD"]]
    assert scores[1, by_label["VBD"]] > scores[1, by_label["VBG"]]
    assert scores[2, by_label["RB"]] > scores[2, by_label["VBG"]]
    symbols = HMM(suffix_length=0).fit(X, y).emissions_.scores(["zorking", "zorked", "Zorkov"])
    np.testing.assert_array_equal(symbols[0], symbols[1])
    np.testing.assert_array_equal(symbols[0], symbols[2])


# -- vectors --------------------------------------------------------------------------------------


def random_vectors(n: int = 30, d: int = 3, seed: int = 0) -> tuple[list[Any], list[Any]]:
    rng = np.random.default_rng(seed)
    X, y = [], []
    for length in rng.integers(1, 6, size=n):
        labels = rng.integers(0, 3, size=length)
        y.append(labels)
        X.append(rng.normal(size=(length, d)) * (1 + labels)[:, None] + 2 * labels[:, None])
    return X, y


def test_gaussian_scores_are_scipys_log_densities() -> None:
    X, y = random_vectors()
    model = HMM(shrinkage=0.3).fit(X, y)
    x, labels = np.concatenate(X), np.concatenate(y)
    n, d = x.shape
    by_label = [x[labels == k] for k in range(3)]
    scatters = [np.cov(part.T, bias=True) * len(part) for part in by_label]
    shared = (sum(scatters) + np.diag(x.var(axis=0))) / (n + 1)
    for k in range(3):
        own = (scatters[k] + d * shared) / (len(by_label[k]) + d)
        covariance = 0.7 * own + 0.3 * np.diag(np.diag(shared))
        expected = multivariate_normal(by_label[k].mean(axis=0), covariance).logpdf(x)
        np.testing.assert_allclose(model.emissions_.scores(x)[:, k], expected)


def test_scales_and_offsets_of_features_do_not_matter() -> None:
    X, y = random_vectors(d=3)
    moved = [x * [1e-6, 1.0, 1e5] + [3.0, 1e6, -7.0] for x in X]
    a, b = HMM().fit(X, y), HMM().fit(moved, y)
    for p, q in zip(a.predict_marginals(X), b.predict_marginals(moved), strict=True):
        np.testing.assert_allclose(p, q, atol=1e-6)


def test_constant_features_say_nothing() -> None:
    X, y = random_vectors(d=2)
    more = [np.column_stack([x, np.full(len(x), 0.1), np.zeros(len(x))]) for x in X]
    model = HMM(shrinkage=1.0).fit(more, y)
    plain = HMM(shrinkage=1.0).fit(X, y)
    for p, q in zip(model.predict_marginals(more), plain.predict_marginals(X), strict=True):
        np.testing.assert_allclose(p, q, atol=1e-9)
    HMM().fit(more, y).predict(more)
    assert HMM().fit([np.ones((3, 2))], [[0, 1, 0]]).predict([np.zeros((2, 2))])[0].shape == (2,)


def test_one_example_a_class_and_a_class_never_seen() -> None:
    X = [np.array([[0.0, 0.0], [5.0, 1.0], [0.0, 9.0]])]
    model = HMM().fit(X, [["a", "b", "c"]])
    assert [model.predict([x[None]])[0][0] for x in X[0]] == ["a", "b", "c"]
    model = HMM().partial_fit(X, [["a", "b", "c"]], classes=list("abcd"))
    assert model.predict(X)[0].tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(model.emissions_.means[3], X[0].mean(axis=0))
    assert np.isfinite(model.emissions_.scores(X[0])).all()


def test_dependent_features_need_shrinkage() -> None:
    x = np.random.default_rng(0).normal(size=(20, 2))
    X, y = [np.column_stack([x, x.sum(axis=1)])], [[0, 1] * 10]
    assert HMM(shrinkage=0.0).fit(X, y).predict(X)[0].shape == (20,)
    with pytest.raises(ValueError, match="raise shrinkage"):
        HMM(shrinkage=0.0).fit(X, y, sample_weight=[1e10])  # so much data needs no prior
    assert HMM().fit(X, y, sample_weight=[1e10]).predict(X)[0].shape == (20,)


def test_digit_words() -> None:
    train = load_digit_words(400, subset="train", random_state=0)
    test = load_digit_words(150, subset="test", random_state=0)
    accuracy = HMM().fit(train.X, train.y).score(test.X, test.y)
    assert accuracy > 0.94
    # The same images as words of length one: no neighbours to help.
    single = [[np.concatenate(part)[:, None] for part in (d.X, d.y)] for d in (train, test)]
    assert HMM().fit(*single[0]).score(*single[1]) < accuracy


# -- what counts the same -------------------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2])
def test_weight_two_is_the_example_twice_and_zero_is_none(order: int) -> None:
    X, y = sentences(30, 1)
    weights = np.arange(30) % 3
    repeated = [i for i in range(30) for _ in range(weights[i])]
    classes = sorted({k for labels in y for k in labels})
    a = HMM(order=order).partial_fit(X, y, classes, sample_weight=weights)
    b = HMM(order=order).partial_fit([X[i] for i in repeated], [y[i] for i in repeated], classes)
    np.testing.assert_array_equal(a.transition_, b.transition_)
    same_model(a, b, X, rtol=0)
    assert a.emissions_.words == b.emissions_.words


def test_weights_of_vectors() -> None:
    X, y = random_vectors()
    weights = np.arange(30) % 3
    repeated = [i for i in range(30) for _ in range(weights[i])]
    a = HMM().fit(X, y, sample_weight=weights)
    b = HMM().fit([X[i] for i in repeated], [y[i] for i in repeated])
    same_model(a, b, X, rtol=1e-12)
    c = HMM().fit(X, y)
    assert not np.allclose(a.emissions_.means, c.emissions_.means)


@pytest.mark.parametrize("make", [lambda: sentences(40, 2), random_vectors])
def test_order_of_examples_does_not_matter(make: Any) -> None:
    X, y = make()
    perm = np.random.default_rng(0).permutation(len(X))
    same_model(HMM().fit(X, y), HMM().fit([X[i] for i in perm], [y[i] for i in perm]), X, rtol=0)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("make", [lambda: sentences(40, 2), random_vectors])
def test_partial_fit_on_parts_is_fit_on_the_whole(make: Any, order: int) -> None:
    X, y = make()
    classes = sorted({k for labels in y for k in labels})
    model = HMM(order=order).partial_fit(X[:7], y[:7], classes)
    model.partial_fit(X[7:8], y[7:8], sample_weight=[1.0]).partial_fit(X[8:], y[8:], classes)
    same_model(model, HMM(order=order).fit(X, y), X, rtol=1e-12)
    first = pickle.loads(pickle.dumps(model))
    same_model(model.fit(X[:5], y[:5]), HMM(order=order).fit(X[:5], y[:5]), X[:5], rtol=0)
    same_model(first, HMM(order=order).fit(X, y), X, rtol=1e-12)


def test_unknown_labels_are_not_counted() -> None:
    model = HMM(alpha=1, suffix_length=0).fit(
        [["a", "b", "c"], ["a", "b"]], [["N", None, "V"], ["N", "V"]]
    )
    assert model.emissions_.words == ["a", "c", "b"]
    # N, twice seen, goes on both times; what follows is known once.
    frequency = np.array([2.5, 2.5]) / 5
    ends = (2 + 1 / 3) / 5
    go_on = (2 + 1 - ends) / 3
    np.testing.assert_allclose(np.exp(model.end_), [ends / 3, (2 + ends) / 3])
    np.testing.assert_allclose(
        np.exp(model.transition_[0]), go_on * (np.array([0, 1]) + frequency) / 2
    )
    assert model.score([["a", "b"]], [["N", None]]) == 1.0


# -- tokens ---------------------------------------------------------------------------------------


def test_forms_of_tokens() -> None:
    X, y = sentences(60, 3)
    expected = HMM().fit(X, y).predict(X)
    forms: list[tuple[Any, Any]] = [
        ([[[w, "more"] for w in x] for x in X], None),
        ([[("less", w) for w in x] for x in X], 1),
        ([[("less", w) for w in x] for x in X], -1),
        ([[{"word": w, "length": len(w)} for w in x] for x in X], None),
        ([[{"length": len(w), "word": w} for w in x] for x in X], "word"),
        ([np.array(x) for x in X], None),
        ([np.array([[w, "more"] for w in x]) for x in X], 0),
        (tuple(tuple(x) for x in X), None),
    ]
    for given, observation in forms:
        model = HMM(observation=observation).fit(given, y)
        for p, q in zip(model.predict(given), expected, strict=True):
            assert p.tolist() == q.tolist()


@pytest.mark.parametrize(
    ("X", "params", "message"),
    [
        ([["a", 3]], {}, "example 0, position 1: a token is a string.* not int"),
        ([["a", ["x"]], ["b", []]], {}, "example 1, position 1: the token .* has no 0"),
        ([["a", {"w": "x"}]], {"observation": "v"}, "example 0, position 1: .* has no 'v'"),
        ([["a", ["x"]]], {"observation": "v"}, "example 0, position 1: .* has no 'v'"),
        ([["a", {"w": 2.0}]], {}, "example 0, position 1: the observation 'w' is 2.0, not a str"),
        ([["a", "b"], []], {}, "example 1 is empty"),
        ([["a", "b"], "ab"], {}, "example 1 is of type str"),
        ([["a", "b"], {"label": ["a"]}], {}, "example 1 is of type dict"),
        ([["a", "b"], np.zeros((2, 2))], {}, "example 1 is of type ndarray"),
        ([], {}, "X is empty"),
        ("text", {}, "list of examples"),
        (3, {}, "list of examples"),
        ([np.zeros((2, 3)), np.zeros((2, 4))], {}, "example 1: .* 4 features, expected 3"),
        ([np.zeros((2, 3)), np.full((2, 3), np.nan)], {}, "example 1, position 0: .*NaN"),
        ([np.zeros((2, 3)), np.full((2, 3), np.inf)], {}, "example 1, position 0: .*NaN or inf"),
        ([np.zeros((2, 3)), np.zeros((0, 3))], {}, "example 1 is empty"),
        ([np.zeros((2, 3)), ["a", "b"]], {}, "example 1: .* not an array of numbers"),
        ([np.full((2, 3), 1e300) * [[1], [-1]]], {}, "too large"),
        ([["a", "b"]], {"emission": "gaussian"}, "arrays"),
        ([np.zeros((2, 3))], {"emission": "categorical"}, "example 0 is of type ndarray"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_inputs_that_are_refused(X: Any, params: Any, message: str) -> None:
    y = [["N", "V"]] * (len(X) if isinstance(X, list) else 1)
    model = HMM(**params)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X_TOY)


@pytest.mark.parametrize(
    ("y", "weights", "message"),
    [
        (None, None, "y is needed"),
        ([["N", "V"]], None, "X has 2 examples, y has 1"),
        ([["N", "V"], ["N", "V"]], None, "example 1: y has 2 labels, X has 1"),
        ([[None, None], [None]], None, "no labels"),
        (Y_TOY, [1, -1], "example 1: sample_weight is -1"),
        (Y_TOY, [np.nan, 1], "example 0: sample_weight is nan"),
        (Y_TOY, [1, 1, 1], "sample_weight has shape"),
        (Y_TOY, [0, 0], "every example has weight 0"),
        ([[None, None], ["N"]], [1, 0], "no labels"),
    ],
)
def test_outputs_and_weights_that_are_refused(y: Any, weights: Any, message: str) -> None:
    model = HMM().fit(X_TOY, Y_TOY)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=message):
        model.fit(X_TOY, y, sample_weight=weights)
    assert pickle.dumps(model) == before


def test_partial_fit_refuses_what_does_not_fit_together() -> None:
    with pytest.raises(ValueError, match="needs classes"):
        HMM().partial_fit(X_TOY, Y_TOY)
    model = HMM().partial_fit(X_TOY, Y_TOY, classes=["N", "V"])
    before = pickle.dumps(model)
    for X, y, classes, message in [
        (X_TOY, Y_TOY, ["N", "X"], "classes must be the same"),
        (X_TOY, [["N", "X"], ["N"]], None, "example 0, position 1: label 'X'"),
        ([np.zeros((2, 2))], [["N", "V"]], None, "example 0 is of type ndarray"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.partial_fit(X, y, classes)
        assert pickle.dumps(model) == before
    with pytest.raises(ValueError, match="order was 1"):
        model.set_params(order=2).partial_fit(X_TOY, Y_TOY)


@pytest.mark.parametrize(
    "params",
    [
        {"alpha": 0},
        {"alpha": np.nan},
        {"word_alpha": -1.0},
        {"order": 0},
        {"order": 1.5},
        {"suffix_length": -1},
        {"rare": -1},
        {"shrinkage": 1.5},
        {"emission": "poisson"},
        {"n_jobs": 0},
    ],
)
def test_parameters_that_are_refused(params: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(params))):
        HMM(**params).fit(X_TOY, Y_TOY)


# -- scikit-learn ---------------------------------------------------------------------------------


def test_clone_pickle_pipeline_and_search() -> None:
    X, y = sentences(60, 4)
    model = HMM(alpha=0.5, order=2).fit(X, y)
    same_model(clone(model).fit(X, y), model, X, rtol=0)
    same_model(pickle.loads(pickle.dumps(model)), model, X, rtol=0)
    lower = FunctionTransformer(lambda X: [[w.lower() for w in x] for x in X])
    pipe = Pipeline([("lower", lower), ("hmm", HMM())]).fit(X, y)
    assert pipe.score(X, y) > 0.9
    search = GridSearchCV(HMM(), {"alpha": [0.1, 1.0], "suffix_length": [0, 4]}, cv=3).fit(X, y)
    assert search.best_params_["suffix_length"] == 4
    assert len(cross_val_score(HMM(), X, y, cv=3)) == 3


def test_threads_give_the_same() -> None:
    X, y = sentences(60, 4)
    one, two = HMM().fit(X, y), HMM(n_jobs=2).fit(X, y)
    assert [p.tolist() for p in one.predict(X)] == [p.tolist() for p in two.predict(X)]
    same_model(one, two, X, rtol=0)


def test_sequences_longer_than_any_seen() -> None:
    model = HMM(alpha=1e-9).fit([["a"], ["b"]], [["N"], ["V"]])
    assert model.predict([["a", "b", "a"]])[0].tolist() == ["N", "V", "N"]
    assert HMM(order=3).fit(X_TOY, Y_TOY).predict([["a", "b"] * 4])[0].shape == (8,)


# -- tagging --------------------------------------------------------------------------------------


def test_tagging_the_made_treebank() -> None:
    X, y = sentences(1200, 0)
    model = HMM().fit(X[:1000], y[:1000])
    assert model.score(X[1000:], y[1000:]) > 0.96
    assert HMM(suffix_length=0).fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]) < 0.96


def read_conllu(path: Path) -> tuple[list[list[str]], list[list[str]]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        blocks = file.read().split("\n\n")
    rows = [[line.split("\t") for line in b.split("\n") if line[:1].isdigit()] for b in blocks]
    rows = [[r for r in block if r[0].isdigit()] for block in rows]
    rows = [block for block in rows if block]
    return [[r[1] for r in b] for b in rows], [[r[3] for r in b] for b in rows]


@pytest.mark.parametrize(("order", "least"), [(1, 0.927), (2, 0.932)])
def test_tagging_english_web_treebank(order: int, least: float) -> None:
    folder = Path(os.environ.get("STRUCTLEARN_DATA", "missing")) / "ud_en_ewt"
    if not folder.is_dir():
        pytest.skip("ud_en_ewt is not there: STRUCTLEARN_DATA names no folder with it")
    X, y = read_conllu(folder / "train.conllu.gz")
    assert HMM(order=order).fit(X, y).score(*read_conllu(folder / "test.conllu.gz")) > least
