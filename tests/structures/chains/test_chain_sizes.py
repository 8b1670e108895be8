"""Chains with many labels against plain NumPy: the vector loops have special cases by width."""

import numpy as np
import pytest

from structlearn.structures import Chain
from tests.structures.chains.chain_reference import best_value, forward_backward, summed, viterbi

WIDTHS = [1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 32, 33, 45, 47, 48, 49, 64, 65, 70]


def make_scores(n_labels, length, *, shared=True, order=1, forbidden=0.0, size=1.0, ties=False):
    rng = np.random.default_rng([n_labels, length, order, int(shared)])
    positions = () if shared else (max(length - order, 0),)
    scores = {
        "label": rng.normal(size=(length, n_labels)),
        "transition": rng.normal(size=positions + (n_labels,) * (order + 1)),
        "start": rng.normal(size=n_labels),
        "end": rng.normal(size=n_labels),
    }
    scores = {k: np.round(2 * a) if ties else size * a for k, a in scores.items()}
    if forbidden:
        path = rng.integers(n_labels, size=length)  # stays legal
        spared = Chain(order).encode(path, **scores)
        scores = {
            k: np.where((rng.random(a.shape) < forbidden) & (spared[k] == 0), -np.inf, a)
            for k, a in scores.items()
        }
    return scores


def check_sums(order, scores, temperature):
    value, marginals = forward_backward(scores, order, temperature)
    chain = Chain(order)
    got, p = chain.infer(temperature=temperature, **scores)
    assert got == pytest.approx(value, rel=1e-12, abs=1e-10)
    assert chain.log_partition(temperature=temperature, **scores) == got
    for name, right in summed(marginals, scores).items():
        np.testing.assert_allclose(p[name], right, rtol=1e-8, atol=1e-11, err_msg=name)
    by_position = chain.marginals(temperature=temperature, **scores)
    for name, right in marginals.items():
        np.testing.assert_allclose(by_position[name], right, rtol=1e-8, atol=1e-11, err_msg=name)


@pytest.mark.parametrize("n_labels", WIDTHS)
@pytest.mark.parametrize("shared", [True, False])
def test_first_order_paths(n_labels, shared):
    for ties in (False, True):
        for forbidden in (0.0, 0.3):
            scores = make_scores(n_labels, 7, shared=shared, ties=ties, forbidden=forbidden)
            label = scores["label"].copy()
            label[0] += scores["start"]
            label[-1] += scores["end"]
            value, path = viterbi(label, scores["transition"])
            solution = Chain().solve(label=label, transition=scores["transition"])
            assert solution.value == value
            np.testing.assert_array_equal(solution.output, path)
            assert Chain().solve(**scores).value == pytest.approx(value, rel=1e-13)


@pytest.mark.parametrize("n_labels", WIDTHS)
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("forbidden", [0.0, 0.4])
def test_first_order_sums(n_labels, shared, forbidden):
    scores = make_scores(n_labels, 6, shared=shared, forbidden=forbidden)
    for temperature in (0.3, 1.0, 5.0):
        check_sums(1, scores, temperature)


@pytest.mark.parametrize("n_labels", [1, 2, 7, 8, 9, 15, 16, 17])
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("forbidden", [0.0, 0.4])
def test_second_order(n_labels, shared, forbidden):
    scores = make_scores(n_labels, 5, order=2, shared=shared, forbidden=forbidden)
    assert Chain(2).solve(**scores).value == pytest.approx(best_value(scores, 2), rel=1e-13)
    check_sums(2, scores, 1.0)
    rng = np.random.default_rng(n_labels)
    scores["transition1"] = rng.normal(size=(n_labels, n_labels))
    assert Chain(2).solve(**scores).value == pytest.approx(best_value(scores, 2), rel=1e-13)
    check_sums(2, scores, 0.3)


@pytest.mark.parametrize("n_labels", [2, 5, 8, 9])
@pytest.mark.parametrize("length", [2, 3, 4, 6])
def test_third_order(n_labels, length):
    scores = make_scores(n_labels, length, order=3)
    rng = np.random.default_rng(n_labels)
    scores["transition1"] = rng.normal(size=(length - 1, n_labels, n_labels))
    scores["transition2"] = rng.normal(size=(n_labels,) * 3)
    assert Chain(3).solve(**scores).value == pytest.approx(best_value(scores, 3), rel=1e-13)
    check_sums(3, scores, 1.0)


@pytest.mark.parametrize("n_labels", [3, 8, 17, 45])
def test_kbest_of_many_labels(n_labels):
    """The n best have the scores of their outputs, no repeats, and nothing is skipped."""
    scores = make_scores(n_labels, 6, forbidden=0.3)
    found = Chain().kbest(40, **scores)
    values = [value for value, _ in found]
    assert values == sorted(values, reverse=True)
    assert len(found) == min(40, Chain().count(**scores))
    assert len({tuple(y) for _, y in found}) == len(found)
    for value, y in found:
        assert Chain().score(y, **scores) == pytest.approx(value, rel=1e-13)
    assert values[0] == pytest.approx(best_value(scores, 1), rel=1e-13)
    # Forbidding the best output's first label leaves the best of the rest.
    masked = {**scores, "label": scores["label"].copy()}
    masked["label"][0, found[0][1][0]] = -np.inf
    rest = [v for v, y in found if y[0] != found[0][1][0]]
    if rest:
        assert Chain().solve(**masked).value == pytest.approx(rest[0], rel=1e-13)


def test_long_sequences_do_not_lose_weight():
    """Thousands of positions: sums neither overflow nor underflow."""
    scores = make_scores(5, 3000, size=3.0)
    for temperature in (0.3, 1.0, 5.0):
        check_sums(1, scores, temperature)
    uniform = Chain().log_partition(label=np.zeros((3000, 5)), transition=np.zeros((5, 5)))
    assert uniform == pytest.approx(3000 * np.log(5), rel=1e-13)
    assert Chain().entropy(label=np.zeros((3000, 5)), transition=np.zeros((5, 5))) == (
        pytest.approx(3000 * np.log(5), rel=1e-13)
    )


@pytest.mark.parametrize("n_labels", [8, 33])
def test_sample_follows_the_marginals(n_labels):
    """Means of 4000 draws lie within six standard deviations of the marginals (fixed seed)."""
    scores = make_scores(n_labels, 5, forbidden=0.3)
    n = 4000
    drawn = Chain().sample(n, random_state=11, **scores)
    p = Chain().marginals(**scores)
    mean = (drawn[:, :, np.newaxis] == np.arange(n_labels)).mean(axis=0)
    bound = 6 * np.sqrt(p["label"] * (1 - p["label"]) / n) + 1e-12
    assert (np.abs(mean - p["label"]) <= bound).all()
    pairs = np.zeros((4, n_labels, n_labels))
    for t in range(4):
        np.add.at(pairs[t], (drawn[:, t], drawn[:, t + 1]), 1 / n)
    bound = 8 * np.sqrt(p["transition"] * (1 - p["transition"]) / n) + 10 / n
    assert (np.abs(pairs - p["transition"]) <= bound).all()
    assert (pairs[p["transition"] == 0] == 0).all()
