"""What programs claim, with enumeration in fractions as the judge; parts that are forbidden."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from structlearn.exceptions import CapabilityError, InfeasibleError
from structlearn.structures import Chain, Program

#: (unit of the scores, offset)
SIZES = [(1.0, 0.0), (1e-12, 0.0), (1e9, 0.0), (1.0, 1e8)]


class RandomProgram:
    """A program with its outputs: rows in any unit, columns from and to any whole number."""

    def __init__(self, seed, unit, offset):
        rng = np.random.default_rng(seed)
        n, m = int(rng.integers(2, 7)), int(rng.integers(1, 4))
        A = rng.integers(-2, 4, size=(m, n)).astype(float)
        low, high = np.zeros(n), np.ones(n)
        if seed % 2:
            low = rng.integers(-2, 2, size=n).astype(float)
            high = low + rng.integers(0, 3, size=n)
        upper = A @ low + rng.integers(0, 5, size=m)
        lower = np.where(rng.random(m) < 0.3, upper - 1, -np.inf)
        theta = rng.normal(size=n)
        if seed % 3 == 0:  # near ties
            theta = np.round(theta * 2) + 1e-10 * rng.normal(size=n)
        theta = theta * unit + offset
        if rng.random() < 0.4:
            theta[rng.random(n) < 0.25] = -np.inf
        units = 10.0 ** rng.integers(-8, 9, size=m) if seed % 4 == 0 else np.ones(m)
        self.theta = theta
        self.program = Program(
            A * units[:, np.newaxis],
            lower * units,
            upper * units,
            column_lower=low,
            column_upper=high,
            solver="highs",
        )
        self.scores = {}
        for x in itertools.product(
            *(range(int(a), int(b) + 1) for a, b in zip(low, high, strict=True))
        ):
            rows = A @ np.array(x)
            forbidden = any(
                count != 0 and score == -np.inf for count, score in zip(x, theta, strict=True)
            )
            if (rows >= lower).all() and (rows <= upper).all() and not forbidden:
                self.scores[x] = sum(
                    (Fraction(s) * count for s, count in zip(theta, x, strict=True) if count),
                    Fraction(0),
                )
        sizes = np.maximum(1.0, np.maximum(np.abs(low), np.abs(high)))
        self.rounding = Fraction(1e-13) * sum(
            Fraction(abs(s)) * Fraction(k)
            for s, k in zip(theta, sizes, strict=True)
            if s != -np.inf
        )


@pytest.mark.parametrize("size", SIZES)
def test_no_claim_is_false_whatever_the_size_of_the_scores_and_rows(size):
    solved = proven = 0
    for seed in range(60):
        case = RandomProgram(seed, *size)
        assert case.program.count(part=case.theta) == len(case.scores)
        for method in ("auto", "ilp", "lp"):
            try:
                found = case.program.solve(part=case.theta, method=method)
            except InfeasibleError:
                assert not case.scores
                continue
            except CapabilityError:
                assert method == "lp"  # which is not whole
                continue
            score = case.scores[tuple(found.output.tolist())]  # legal, then
            best = max(case.scores.values())
            assert abs(Fraction(found.value) - score) <= case.rounding
            assert found.bound >= found.value
            assert Fraction(found.bound) >= best - case.rounding
            if found.exact:
                assert score >= best - case.rounding
            solved += 1
            proven += found.exact
    assert proven >= 0.9 * solved


@pytest.mark.parametrize("size", SIZES)
def test_continuous_parts_are_proven_too(size):
    """A fractional knapsack: the best by what a unit of weight is worth."""
    unit, offset = size
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 8))
        weights = rng.integers(1, 8, size=n)
        theta = rng.random(n) * unit + offset
        capacity = Fraction(int(weights.sum()), 2)
        best, left = Fraction(0), capacity
        for j in sorted(range(n), key=lambda j: Fraction(theta[j]) / int(weights[j]))[::-1]:
            share = min(Fraction(1), left / int(weights[j]))
            best += Fraction(theta[j]) * share
            left -= share * int(weights[j])
        found = Program([weights], -np.inf, float(capacity), integer=False).solve(part=theta)
        rounding = Fraction(1e-13) * sum(map(Fraction, theta))
        assert found.exact
        assert abs(Fraction(found.value) - best) <= rounding


# -- forbidden parts ----------------------------------------------------------------------------


def test_a_forbidden_part_is_0_where_it_could_be_less():
    program = Program([[1, 1]], -5, -1, column_lower=-2, column_upper=1)
    scores = {"part": [-np.inf, 1.0]}
    found = program.solve(**scores)
    np.testing.assert_array_equal(found.output, [0, -1])
    assert (found.value, found.exact, found.bound) == (-1.0, True, -1.0)
    assert program.relax(**scores).value == -1.0
    assert program.count(**scores) == 2  # (0, -1) and (0, -2)
    assert program.score([-2, 1], **scores) == -np.inf
    assert program.solve(part=[1.0, 1.0]).value == -1.0, "and the next call has its own bounds"


@pytest.mark.parametrize(("low", "high"), [(-3, -1), (1, 3)])
def test_a_forbidden_part_that_cannot_be_0_leaves_nothing(low, high):
    program = Program([[1, 1]], -9, 9, column_lower=[low, 0], column_upper=[high, 1])
    scores = {"part": [-np.inf, 1.0]}
    for query in (program.solve, program.argmax, program.relax):
        with pytest.raises(InfeasibleError, match=r"no legal output is left: part\[0\]"):
            query(**scores)
    assert program.count(**scores) == 0


def test_a_forbidden_part_is_named_among_what_contradicts():
    program = Program([[1, 1]], -9, -3, column_lower=-2, column_upper=1, names=["at most -3"])
    with pytest.raises(InfeasibleError, match=r"at most -3; part\[0\] is forbidden"):
        program.solve(part=[-np.inf, 1.0])


def test_the_program_of_a_structure_proves_what_viterbi_finds_at_any_size():
    rng = np.random.default_rng(0)
    for unit, offset in SIZES:
        label = rng.normal(size=(5, 3)) * unit + offset
        transition = rng.normal(size=(3, 3)) * unit
        best = Chain().solve(label=label, transition=transition)
        found = Chain().as_program(label=label, transition=transition).solve()
        assert found.exact
        np.testing.assert_array_equal(found.output, best.output)
