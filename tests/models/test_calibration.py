"""What a dev set says of probabilities: by grids, by a second optimiser, by what n answers show."""

import math
import random

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logit

from structlearn.metrics import reliability
from structlearn.models.calibration import HONEST, Calibration, calibrated_on
from structlearn.tasks import Tagger
from structlearn.text import FeatureTemplates
from tests.tasks.tagging.tagger_data import tagged


def softened(rows, temperature):
    """Probabilities p as those of another temperature: p ∝ exp(score / T) of two outcomes."""
    return [[float(expit(logit(p) / temperature)) for p in row] for row in rows]


def answers(n, seed, truth=lambda p: p, per_input=5):
    """Probabilities by input, and whether each answer was right, with probability truth(p)."""
    rng = random.Random(seed)
    rows = [[rng.uniform(0.4, 0.999) for _ in range(per_input)] for _ in range(n)]
    right = [[rng.random() < truth(p) for p in row] for row in rows]
    return rows, right


def flat(rows):
    return np.array([one for row in rows for one in row], dtype=float)


def log_loss(p, right, edge):
    return -np.log(np.maximum(edge, np.where(right, p, 1 - p))).sum()


# -- the temperature ------------------------------------------------------------------------------


@pytest.mark.parametrize("true", [0.2, 1.0, 7.0, 300.0])
def test_the_temperature_has_the_least_binary_log_loss(true):
    rows, right = answers(400, 0)
    sharp = softened(rows, 1 / true)  # at the temperature `true` they are honest
    # Probabilities that have become 1 tell no temperature.
    sharp = [[min(max(p, 1e-12), 1 - 1e-12) for p in row] for row in sharp]
    found = calibrated_on(lambda at: softened(sharp, at), right)
    assert found.n_parts == 2000

    def loss(at):
        return log_loss(flat(softened(sharp, at)), flat(right), 1 / 2002)

    grid = 2.0 ** np.arange(-4, 12, 0.02)
    losses = [loss(at) for at in grid]
    assert loss(found.temperature) <= min(losses) * (1 + 1e-5)
    assert abs(math.log2(found.temperature / grid[int(np.argmin(losses))])) < 0.03
    if true <= 7:
        assert found.temperature == pytest.approx(true, rel=0.1)


def test_the_temperature_of_a_loss_stays():
    rows, right = answers(200, 1)
    asked = []

    def certainties(at):
        asked.append(at)
        return rows

    assert calibrated_on(certainties, right, 0.7).temperature == 0.7
    assert asked == [0.7]


# -- the curve ------------------------------------------------------------------------------------


def crooked(p):
    return 0.1 + 0.75 * p**3


def test_the_curve_is_the_optimum_of_its_loss():
    rows, right = answers(600, 2, crooked)
    found = calibrated_on(lambda _: rows, right, 1.0)
    a, b, c = found.curve

    def loss(w):
        # With one right and one wrong part of probability ½ besides.
        p, ok = np.append(flat(rows), [0.5, 0.5]), np.append(flat(right), [1, 0])
        z = w[0] * np.log(p) - w[1] * np.log1p(-p) + w[2]
        return np.logaddexp(0, np.where(ok, -z, z)).sum()

    best = minimize(loss, [1, 1, 0], bounds=[(0, None), (0, None), (None, None)], method="L-BFGS-B")
    # The parts are fitted in groups of about the same probability.
    assert loss([a, b, c]) <= best.fun + 0.05
    assert reliability(map(found.confidence, flat(rows)), flat(right).astype(bool)).error < 0.02
    fresh, ok = answers(2000, 3, crooked)
    assert reliability(map(found.confidence, flat(fresh)), flat(ok).astype(bool)).error < 0.03


@pytest.mark.parametrize("truth", [crooked, lambda p: 1 - p, lambda p: 0.7, lambda p: p**9])
def test_confidence_never_falls_with_the_probability(truth):
    rows, right = answers(200, 4, truth)
    found = calibrated_on(lambda _: rows, right, 1.0)
    a, b, _ = found.curve
    assert min(a, b) >= 0
    p = np.linspace(0, 1, 1001)
    confidence = np.array(list(map(found.confidence, p)))
    assert (np.diff(confidence) >= 0).all()
    assert ((confidence >= 0) & (confidence <= found.highest)).all()


def test_honest_probabilities_stay_about_as_they_are():
    rows, right = answers(4000, 5)
    found = calibrated_on(lambda _: rows, right, 1.0)
    assert found.honest
    for p in np.linspace(0.45, 0.99, 20):  # with a curve or without
        assert found.confidence(p) == pytest.approx(p, abs=0.02)
    assert calibrated_on(lambda _: [[0.5] * 4], [[True, False, True, False]], 1.0).curve is None
    # Odds squared, and the way back: σ(½ log p − ½ log(1 − p)).
    squared = calibrated_on(lambda _: softened(rows, 0.5), right, 1.0)
    assert squared.curve == pytest.approx((0.5, 0.5, 0.0), abs=0.1)
    for p in np.linspace(0.45, 0.99, 20):
        assert squared.confidence(softened([[p]], 0.5)[0][0]) == pytest.approx(p, abs=0.015)


# -- what so many answers can show ----------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 10, 50])
@pytest.mark.parametrize("temperature", [None, 1.0])
def test_small_and_easy_dev_sets_do_not_make_sure(n, temperature):
    found = calibrated_on(lambda at: [[1.0]] * n, [[True]] * n, temperature)
    assert found.highest == (n + 1) / (n + 2)
    for p in (0.5, 0.999, 1 - 1e-15, 1.0):
        assert found.confidence(p) <= (n + 1) / (n + 2)
    easy = calibrated_on(lambda at: [[1 / (1 + math.exp(-9 / at))]] * n, [[True]] * n, temperature)
    assert max(map(easy.confidence, (0.9, 1.0))) <= (n + 1) / (n + 2)
    assert f"{easy.confidence(1.0):.4f}" != "1.0000"


@pytest.mark.parametrize("curve", [None, (2.0, 0.5, 3.0)])
def test_large_and_easy_dev_sets_do_not_make_sure(curve):
    sure = Calibration(1.0, 10**7, 0.0, curve)
    assert [f"{sure.confidence(p):.4f}" for p in (0.0, 1.0)] == ["0.0001", "0.9999"]


@pytest.mark.parametrize("by_input", [True, False])
@pytest.mark.parametrize("n", [1, 2, 9, 50])
def test_few_right_answers_do_not_make_a_model_calibrated(n, by_input):
    """The error is that of the confidence, and half of the parts show no more than it says."""
    shape = [1] * n if by_input else [n]
    found = calibrated_on(
        lambda at: [[1 / (1 + math.exp(-9 / at))] * k for k in shape], [[True] * k for k in shape]
    )
    assert found.error >= 1 / (n + 2)
    assert not found.honest


def test_a_small_error_of_a_few_parts_is_chance():
    by_chance = calibrated_on(lambda _: [[0.75]] * 4, [[True], [True], [True], [False]], 1.0)
    assert by_chance.error < 0.01
    assert not by_chance.honest
    assert next(n for n in range(60) if Calibration(1.0, n, 0.0).honest) == 32


def test_inputs_of_which_nothing_is_known_do_not_unbalance_the_halves():
    rows, right = answers(60, 7, crooked)
    spread = [row for row in rows for _ in (0, 1)]
    every_second = [one for row in right for one in (row, [None] * len(row))]
    found = calibrated_on(lambda at: softened(spread, at), every_second)
    wanted = calibrated_on(lambda at: softened(rows, at), right)
    assert found.as_dict() == wanted.as_dict()


def test_parts_that_are_not_known_do_not_count():
    rows, right = answers(300, 6, crooked)
    rng = random.Random(0)
    partly = [[ok if rng.random() < 0.6 else None for ok in row] for row in right]
    known = [[p for p, ok in zip(*pair, strict=True) if ok is not None]
             for pair in zip(rows, partly, strict=True)]  # fmt: skip
    bare = [[ok for ok in row if ok is not None] for row in partly]
    found = calibrated_on(lambda at: softened(rows, at), partly)
    wanted = calibrated_on(lambda at: softened(known, at), bare)
    assert found.as_dict() == wanted.as_dict()
    assert calibrated_on(lambda at: rows, [[None] * 5] * 300) is None
    assert calibrated_on(lambda at: [[]], [[]]) is None


def test_the_error_is_measured_on_the_other_half():
    """By what one half says, the other is wrong: so different are they."""
    n = 400
    rng = random.Random(1)
    rows = [[rng.uniform(0.02, 0.05) for _ in range(5)] for _ in range(n)]
    right = [[rng.random() < (0.95, 0.65)[i % 2] for _ in row] for i, row in enumerate(rows)]
    found = calibrated_on(lambda _: rows, right, 1.0)
    assert found.error == pytest.approx(0.3, abs=0.03)
    assert not found.honest
    # Fitted and measured on everything the same map looks honest.
    fitted = [found.confidence(p) for p in flat(rows)]
    assert reliability(fitted, flat(right).astype(bool)).error < 0.05
    alike, ok = answers(n, 8, crooked)
    assert calibrated_on(lambda _: alike, ok, 1.0).error < 0.04


def test_the_temperature_is_judged_on_the_other_half_too():
    """One half is right about itself at 1, the other at 8."""
    rows, right = answers(800, 9)
    mixed = [row if i % 2 else softened([row], 1 / 8)[0] for i, row in enumerate(rows)]
    found = calibrated_on(lambda at: softened(mixed, at), right)
    assert 1 < found.temperature < 8
    for half, true in enumerate((8, 1)):
        some = mixed[half::2]
        alone = calibrated_on(lambda at, some=some: softened(some, at), right[half::2])
        assert alone.temperature == pytest.approx(true, rel=0.1)
    assert (
        found.error
        > reliability(
            [found.confidence(p) for p in flat(softened(mixed, found.temperature))],
            flat(right).astype(bool),
        ).error
    )


# -- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("curve", [None, (1.5, 0.0, -2.0)])
def test_from_and_to_dictionaries(curve):
    calibration = Calibration(2.5, 40, 0.01, curve)
    again = Calibration.from_dict(calibration.as_dict())
    assert again.as_dict() == calibration.as_dict()
    assert again.curve == curve
    assert again.honest == (calibration.error <= HONEST)


@pytest.mark.parametrize(
    "wrong",
    [
        {"temperature": 0.0}, {"temperature": -1.0}, {"temperature": math.inf},
        {"temperature": math.nan}, {"temperature": "warm"}, {"temperature": None},
        {"n_parts": -1}, {"n_parts": 2.0}, {"n_parts": True}, {"error": -0.1}, {"error": 1.5},
        {"error": math.nan}, {"curve": (1.0, 1.0)}, {"curve": (1.0, 1.0, math.nan)},
        {"curve": (-1.0, 1.0, 0.0)}, {"curve": (1.0, -0.1, 0.0)}, {"curve": "abc"}, {"curve": 3},
    ],
)  # fmt: skip
def test_nonsense_is_refused(wrong):
    with pytest.raises((ValueError, TypeError)):
        Calibration.from_dict({**Calibration(1.0, 9, 0.0).as_dict(), **wrong})
    incomplete = Calibration(1.0, 9, 0.0).as_dict()
    del incomplete[next(iter(wrong))]
    with pytest.raises(ValueError, match="there is no"):
        Calibration.from_dict(incomplete)


# -- the core -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "curve", [None, (1.0, 1.0, 0.0), (2.3, 0.0, 2.2), (0.0, 0.0, 40.0), (9.0, 8.0, -700.0)]
)
def test_the_core_writes_the_same_confidence(curve):
    """As a labeller has it before it is written."""
    tagger = Tagger(FeatureTemplates.parse("word\nbias"), max_iter=2, n_models=1).fit(tagged(20))
    tagger.model_.calibration = Calibration(3.0, 5000, 0.01, curve)
    rows = [[word for word, _ in s] for s in tagged(30, seed=1)]
    core = tagger._labeller(" ", 1, confidence=True, marginals=False, known=False)
    corpus = tagger._read_input(rows)
    given = [p for row in core.answers(corpus.core, 1) for _, p in row]
    wanted = [p for row in tagger.confidence(rows) for p in row]
    # The last two are beyond the bounds, which is all that is left of them.
    assert len(set(wanted)) > 20 or {*wanted} <= {1 / 5002, 5001 / 5002, 1 - 5001 / 5002}
    assert given == pytest.approx(wanted, abs=1e-15)


def test_confidence_has_bounds_on_both_sides():
    few = Calibration(1.0, 8, 0.0)
    assert few.confidence(0.0) == pytest.approx(0.1)
    assert few.confidence(1.0) == pytest.approx(0.9)
    assert few.confidence(0.4) == 0.4
