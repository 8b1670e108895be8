"""The randomisation test: against all 2ⁿ exchanges, and at its extremes."""

import itertools
import json

import numpy as np
import pytest

from structlearn.metrics import (
    CountMetric,
    chunk_f1,
    chunk_report,
    draws,
    randomization,
    randomization_test,
    sequence_accuracy,
    token_accuracy,
    token_counts,
)

PLAIN = {
    "token_accuracy": token_accuracy,
    "sequence_accuracy": sequence_accuracy,
    "chunk_f1": chunk_f1,
    "chunk_recall": lambda g, p: chunk_report(g, p).overall.recall,
}


def models(seed, n=8):
    """Gold labels and two models' predictions, the first of them the better one."""
    rng = np.random.default_rng(seed)
    names = ["O", "B-A", "I-A", "B-B"]
    gold = [rng.choice(names, size=rng.integers(1, 6)).tolist() for _ in range(n)]
    predictions = [
        [[k if rng.random() > wrong else str(rng.choice(names)) for k in s] for s in gold]
        for wrong in (0.2, 0.6)
    ]
    return gold, *predictions


def exact_p(gold, first, second, metric):
    """The share of all 2ⁿ exchanges whose difference is as large, each computed from labels."""

    def difference(x, y):
        return abs(PLAIN[metric](gold, x) - PLAIN[metric](gold, y))

    observed, pairs = difference(first, second), list(zip(first, second, strict=True))
    reached = [
        difference(*zip(*[p[::-1] if s else p for p, s in zip(pairs, swaps, strict=True)],
                        strict=True)) >= observed - 1e-9
        for swaps in itertools.product((0, 1), repeat=len(pairs))
    ]  # fmt: skip
    return np.mean(reached)


@pytest.mark.parametrize("metric", PLAIN)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_against_all_exchanges(metric, seed):
    """Within four standard errors of the share of exchanges that reach the difference."""
    data = models(seed)
    found = randomization_test(*data, metric, n_permutations=40_000, random_state=seed)
    expected = exact_p(*data, metric)
    assert found.p_value == pytest.approx(expected, abs=4 * np.sqrt(expected / 40_000) + 1e-4)
    assert found.first == pytest.approx(PLAIN[metric](data[0], data[1]), abs=1e-15)
    assert found.second == pytest.approx(PLAIN[metric](data[0], data[2]), abs=1e-15)
    assert found.difference == found.first - found.second


@pytest.fixture
def every_exchange(monkeypatch):
    """All 2ⁿ exchanges in the place of random ones."""

    class All:
        def integers(self, low, high, size, dtype):
            assert (low, high) == (0, 2)
            return np.array(list(itertools.product((0, 1), repeat=size[1])), dtype=dtype)

    monkeypatch.setattr(randomization, "generator", lambda random_state: All())


@pytest.mark.parametrize("metric", PLAIN)
def test_each_exchange_by_itself(metric, every_exchange):
    """p = (2ⁿ · exact + 1) / (2ⁿ + 1)."""
    for seed in range(10):
        gold, first, second = models(seed, n=6)
        counts = randomization.as_metric(metric).counts
        pairs = zip(counts(gold, first), counts(gold, second), strict=True)
        differing = 2 ** sum(a != b for a, b in pairs)
        found = randomization_test(gold, first, second, metric, n_permutations=differing)
        expected = (differing * exact_p(gold, first, second, metric) + 1) / (differing + 1)
        assert found.p_value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("permutations", [1, 9, 999])
def test_models_that_are_alike(permutations):
    gold, first, _ = models(0)
    found = randomization_test(gold, first, first, n_permutations=permutations, random_state=0)
    assert found.p_value == 1.0
    assert found.difference == 0.0


@pytest.mark.parametrize("permutations", [1, 9, 999])
def test_least_p_value(permutations):
    """Of 2⁶⁰ exchanges two reach the difference; none of those drawn is one of them."""
    gold, wrong = [["A"]] * 60, [["B"]] * 60
    for first, second in ((gold, wrong), (wrong, gold)):
        found = randomization_test(gold, first, second, n_permutations=permutations, random_state=0)
        assert found.p_value == 1 / (permutations + 1)
        assert abs(found.difference) == 1.0


def test_two_sided():
    """The better model first or second: the same p but for chance."""
    gold, first, second = models(3, n=12)
    one = randomization_test(gold, first, second, n_permutations=20_000, random_state=0)
    other = randomization_test(gold, second, first, n_permutations=20_000, random_state=1)
    assert one.difference == -other.difference
    assert one.p_value == pytest.approx(other.p_value, abs=0.01)


def test_equal_differences_count_whatever_their_rounding(every_exchange):
    """Tenths do not add up to the same digits in every order; their differences are equal."""
    tenths = [3, 1, 2, 7, 1, 6]  # first's counts in tenths; second's are those below
    others = [1, 2, 3, 4, 2, 5]
    rows = {"first": [[k / 10] for k in tenths], "second": [[k / 10] for k in others]}
    sums = CountMetric("sum", lambda gold, predicted: rows[predicted], lambda c: c[..., 0])
    found = randomization_test([], "first", "second", sums, n_permutations=2**6)
    differences = [a - b for a, b in zip(tenths, others, strict=True)]
    reached = sum(
        abs(np.dot(signs, differences)) >= abs(sum(differences))
        for signs in itertools.product((1, -1), repeat=6)
    )
    assert found.p_value == (reached + 1) / (2**6 + 1)


def test_same_seed_same_p_value():
    data = models(5, n=30)
    one, two = (
        randomization_test(*data, n_permutations=500, random_state=seed)
        for seed in (1, np.random.default_rng(1))
    )
    assert one == two
    values = {
        randomization_test(*models(0), "chunk_f1", n_permutations=500, random_state=s).p_value
        for s in range(9)
    }
    assert len(values) > 1


def test_many_blocks(monkeypatch):
    data = models(0)
    monkeypatch.setattr(draws, "_AT_ONCE", 100)
    found = randomization_test(*data, n_permutations=20_001, random_state=0)
    assert found.n_permutations == 20_001
    assert found.p_value == pytest.approx(exact_p(*data, "token_accuracy"), abs=0.015)


def test_a_metric_of_ones_own():
    data = models(6)
    right = CountMetric("right", token_counts, lambda c: c[..., 0])
    found = randomization_test(*data, right, random_state=0)
    plain = randomization_test(*data, random_state=0)
    assert found.p_value == plain.p_value  # the tokens are the same on both sides
    assert found.first == sum(a for a, _ in token_counts(data[0], data[1]))


def test_text_and_json():
    found = randomization_test([["A"]], [["A"]], [["B"]], n_permutations=3, random_state=0)
    assert str(found) == "token_accuracy 1.0000 and 0.0000, difference +1.0000, p = 1"
    assert json.loads(json.dumps(found.as_dict())) == found.as_dict()


def test_bad_arguments():
    with pytest.raises(ValueError, match="n_permutations must be an int >= 1, got 0"):
        randomization_test([["A"]], [["A"]], [["A"]], n_permutations=0)
    with pytest.raises(ValueError, match="sentence 0: gold has 1 labels, predicted has 2"):
        randomization_test([["A"]], [["A"]], [["A", "A"]])
    with pytest.raises(ValueError, match="there are no sentences"):
        randomization_test([], [], [])
