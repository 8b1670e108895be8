"""The numbers printed in the lecture notes and the chapter that the library follows."""

import itertools

import numpy as np
import pytest

from structlearn.structures import Chain, Exhaustive

N, V = 0, 1
FISH_SLEEP = {
    "label": np.array([[2.0, 1.0], [1.0, 0.0]]),  # P(Fish|N), P(Fish|V); P(Sleep|N), P(Sleep|V)
    "start": np.array([1.0, -1.0]),
    "transition": np.array([[-2.0, 1.0], [2.0, -2.0]]),  # from N: to N, to V; from V
}


def test_fish_sleep():
    """The table of F(y, x) for "Fish Sleep", and its argmax."""
    chain = Chain()
    table = {(N, N): 2.0, (N, V): 4.0, (V, N): 3.0, (V, V): -2.0}
    for y, value in table.items():
        assert chain.score(y, **FISH_SLEEP) == value
    assert chain.argmax(**FISH_SLEEP).tolist() == [N, V]
    assert chain.solve(**FISH_SLEEP).value == 4.0
    assert [(v, tuple(y)) for v, y in chain.kbest(9, **FISH_SLEEP)] == [
        (4.0, (N, V)),
        (3.0, (V, N)),
        (2.0, (N, N)),
        (-2.0, (V, V)),
    ]
    log_z = np.log(np.exp(list(table.values())).sum())
    assert chain.log_partition(**FISH_SLEEP) == pytest.approx(log_z, rel=1e-15)
    assert Exhaustive(chain).solve(**FISH_SLEEP).value == 4.0


def test_fish_sleep_with_the_cost_added():
    """Loss-augmented search is the same search: Hamming cost 1 a wrong label, gold (N, V)."""
    augmented = dict(FISH_SLEEP, label=FISH_SLEEP["label"] + [[0.0, 1.0], [1.0, 0.0]])
    solution = Chain().solve(**augmented)
    assert solution.output.tolist() == [V, N]
    assert solution.value == 5.0


def test_viterbi_step_of_the_chapter():
    """Equations 17.38–17.40: α at "tasty", label adj, is 12.7, and the label before it is verb."""
    noun, verb, adj = 0, 1, 2
    transition = np.zeros((3, 3))
    transition[:, adj] = [-5.0, 2.5, 2.2]
    before = np.array([2.0, 9.0, -1.0])  # α at "eat"
    tasty = np.array([-np.inf, -np.inf, 1.2])
    scores = {"label": np.array([before, tasty]), "transition": transition}
    solution = Chain().solve(**scores)
    assert solution.value == pytest.approx(12.7, abs=1e-12)
    assert solution.output.tolist() == [verb, adj]
    best = {int(y[0]): v for v, y in Chain().kbest(3, **scores)}
    assert best == pytest.approx({noun: -1.8, verb: 12.7, adj: 2.4}, abs=1e-12)


def test_letters():
    """26^4 outputs, described by 3 · 26² + 4 · 26 parts."""
    scores = {"label": np.zeros((4, 26)), "transition": np.zeros((3, 26, 26))}
    assert Chain().count(**scores) == 26**4 == 456_976
    assert sum(a.size for a in scores.values()) == 3 * 26**2 + 4 * 26 == 2_132
    assert Chain().log_partition(**scores) == pytest.approx(4 * np.log(26), rel=1e-14)
    parts = Chain().encode([0, 1, 2, 3], **scores)
    assert sum(int(a.sum()) for a in parts.values()) == 4 + 3


def test_temperature_interpolates_between_sum_and_maximum():
    """ε log Σ exp(F/ε) falls to the maximum as ε does, by at most ε log(number of outputs)."""
    best = Chain().solve(**FISH_SLEEP).value
    values = [Chain().log_partition(temperature=t, **FISH_SLEEP) for t in (5, 1, 0.3, 0.01, 0)]
    assert values == sorted(values, reverse=True)
    assert values[-1] == best
    for t, value in zip((5, 1, 0.3, 0.01), values, strict=False):
        assert best <= value <= best + t * np.log(4) + 1e-12


def test_higher_orders_contain_lower_ones():
    """A second-order table that ignores the oldest label is a first-order one."""
    rng = np.random.default_rng(0)
    label, table = rng.normal(size=(6, 3)), rng.normal(size=(3, 3))
    wide = np.broadcast_to(table, (3, 3, 3))
    first = np.zeros((5, 3, 3))
    first[0] = table  # the first pair has no second-order window
    second = {"label": label, "transition": wide, "transition1": first}
    first_order = {"label": label, "transition": table}
    assert Chain(2).solve(**second).value == pytest.approx(Chain(1).solve(**first_order).value)
    assert Chain(2).log_partition(**second) == pytest.approx(Chain(1).log_partition(**first_order))
    for y in itertools.islice(itertools.product(range(3), repeat=6), 0, 729, 50):
        assert Chain(2).score(y, **second) == pytest.approx(Chain(1).score(y, **first_order))
