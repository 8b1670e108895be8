"""The core's vector work against NumPy, and the same bits on any number of threads and kernels."""

import itertools

import numpy as np
import pytest

from structlearn import _core

#: Less than a vector, a tile and a bit, several tasks of threads.
SIZES = [1, 7, 1024, 1025, 40_000]


def vectors(n, count, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=n) for _ in range(count)]


def as_stored(x):
    return x.astype(np.float32).astype(np.float64)


def two_loops(pairs, v):
    """H·v by the recursion as the textbooks have it, pairs oldest first."""
    q, alphas = v.copy(), []
    for s, y in reversed(pairs):
        alphas.append(s @ q / (s @ y))
        q -= alphas[-1] * y
    if pairs:
        s, y = pairs[-1]
        q *= (s @ y) / (y @ y)
    for (s, y), alpha in zip(pairs, reversed(alphas), strict=True):
        q += (alpha - y @ q / (s @ y)) * s
    return q


@pytest.mark.parametrize("n", SIZES)
def test_direction_is_that_of_the_two_loops(n):
    rng = np.random.default_rng(n)
    curvature = rng.uniform(0.5, 20.0, size=n)  # the gradient of ½ Σ curvature·w²
    memory = _core.CurvatureMemory(n, 3)
    pairs, w, d = [], rng.normal(size=n), np.empty(n)
    slope = memory.direction(w, d, False, 1)
    np.testing.assert_array_equal(d, -w)
    assert slope == pytest.approx(-w @ w, rel=1e-10)
    for step in range(6):
        before, w = w, w + rng.normal(size=n)
        g, g_before = curvature * w, curvature * before
        assert memory.remember(w, before, g, g_before, g, 1)
        pairs = [*pairs, (as_stored(w - before), as_stored(g - g_before))][-3:]
        assert memory.pairs == min(step + 1, 3)
        slope = memory.direction(g, d, False, 2)
        expected = -two_loops(pairs, g)
        np.testing.assert_allclose(d, expected, rtol=1e-7, atol=1e-9 * np.abs(expected).max())
        assert slope == pytest.approx(g @ d, rel=1e-10)
        aligned = np.empty(n)
        slope = memory.direction(g, aligned, True, 1)
        np.testing.assert_array_equal(aligned, np.where(d * g < 0, d, 0.0))
        assert slope == pytest.approx(g @ aligned, rel=1e-10)


def remembering(n, count):
    """Return a memory that was told of so many steps, and the points and gradients of all."""
    rng = np.random.default_rng(n)
    curvature = rng.uniform(0.5, 20.0, size=n)
    points = np.cumsum(rng.normal(size=(count + 4, n)), axis=0)
    memory = _core.CurvatureMemory(n, 3)
    walk = [
        (w, before, curvature * w, curvature * before) for before, w in itertools.pairwise(points)
    ]
    for w, before, g, g_before in walk[:count]:
        memory.remember(w, before, g, g_before, g, 1)
    return memory, walk[count - 1 if count else 0 :]


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("count", [0, 1, 3, 5])
def test_a_memory_goes_on_from_its_dump(n, count):
    memory, walk = remembering(n, count)
    other = _core.CurvatureMemory(n, 3)
    other.load(memory.dump())
    assert other.pairs == memory.pairs == min(count, 3)
    d, e = np.empty(n), np.empty(n)
    for w, before, g, g_before in walk[1:]:
        for m in (memory, other):
            m.remember(w, before, g, g_before, g, 1)
        assert memory.direction(g, d, False, 1) == other.direction(g, e, False, 1)
        np.testing.assert_array_equal(d, e)


@pytest.mark.parametrize(
    "wrong",
    [
        {"order": np.array([0, 0, 1])},
        {"order": np.array([0, 1, 4])},
        {"order": np.array([0, 1, -1])},
        {"order": np.array([0, 1])},
        {"order": np.array([0, 1, 2, 3])},
        {"history": np.zeros(5, dtype=np.float32)},
        {"sy": np.zeros(15)},
        {"yy": np.zeros(17)},
        {"vs": np.zeros(3)},
        {"vy": np.zeros(0)},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
def test_a_dump_of_another_memory_is_refused(wrong):
    memory, walk = remembering(10, 4)
    g, d, e = walk[0][2], np.empty(10), np.empty(10)
    memory.direction(g, d, False, 1)
    with pytest.raises(ValueError, match="not those of such a memory"):
        memory.load({**memory.dump(), **wrong})
    memory.direction(g, e, False, 1)
    np.testing.assert_array_equal(d, e)


def test_pairs_without_curvature_are_left_out():
    w, before, g, g_before, v = vectors(50, 5)
    memory = _core.CurvatureMemory(50, 2)
    assert memory.remember(w, before, w, before, v, 1)
    d = np.empty(50)
    assert not memory.remember(w, before, before, w, v, 1)
    assert not memory.remember(w, w, g, g, v, 1)
    assert memory.pairs == 1
    # The products with v are those of the last call all the same.
    memory.remember(w, w, g, g, g_before, 1)
    memory.direction(g_before, d, False, 1)
    s = as_stored(w - before)
    np.testing.assert_allclose(d, -two_loops([(s, s)], g_before), rtol=1e-7)
    memory.forget()
    assert memory.pairs == 0
    memory.direction(v, d, False, 1)
    np.testing.assert_array_equal(d, -v)


@pytest.mark.parametrize("n", SIZES)
def test_smooth_point(n):
    w, d, g = vectors(n, 3)
    out, gradient = np.empty(n), g.copy()
    _core.advance(w, d, 0.3, out, 2)
    np.testing.assert_array_equal(out, w + 0.3 * d)
    found = _core.finish_gradient(w, d, 0.7, gradient, 2)
    slope = 0.7 * g + w
    np.testing.assert_array_equal(gradient, slope)
    expected = (w @ w, slope @ slope, 0.49 * (g @ g), slope @ d)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("n", SIZES)
def test_orthant_point(n):
    w, before, d, v, g = vectors(n, 5)
    w[::2], before[::3] = 0.0, 0.0
    v[::4] = 0.0
    out = np.empty(n)
    _core.advance_in_orthant(w, d, v, 0.8, out, 2)
    side = np.where(w != 0, np.sign(w), -np.sign(v))
    np.testing.assert_array_equal(out, np.where(np.sign(w + 0.8 * d) == side, w + 0.8 * d, 0.0))
    C, l1 = 0.6, 0.4
    gradient, pseudo = g.copy(), np.empty(n)
    found = _core.finish_pseudo_gradient(w, before, v, C, l1, gradient, pseudo, 2)
    slope, z = C * g + w, -C * g
    np.testing.assert_allclose(gradient, slope, rtol=1e-15)
    shrunk = np.sign(slope) * np.maximum(np.abs(slope) - l1, 0)
    np.testing.assert_allclose(
        pseudo, np.where(w != 0, slope + l1 * np.sign(w), shrunk), rtol=1e-12, atol=1e-15
    )
    soft = np.maximum(np.abs(z) - l1, 0)
    norm1 = np.abs(w).sum()
    gap = 0.5 * w @ w + l1 * norm1 + 0.5 * soft @ soft - w @ z
    expected = (w @ w, norm1, pseudo @ pseudo, v @ (w - before), gap)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def everything(n, threads):
    """Results of all operations, for a comparison bit by bit."""
    memory = _core.CurvatureMemory(n, 4)
    points = vectors(n, 6)
    results = []
    for before, w in itertools.pairwise(points):
        d, out, pseudo = np.empty(n), np.empty(n), np.empty(n)
        memory.remember(w, before, 3 * w, 3 * before, w, threads)
        results.append(memory.direction(w, d, False, threads))
        _core.advance(w, d, 0.1, out, threads)
        gradient = before.copy()
        results += _core.finish_gradient(w, d, 0.3, gradient, threads)
        results += _core.finish_pseudo_gradient(w, before, d, 0.3, 0.1, gradient, pseudo, threads)
        results += [d, out, gradient, pseudo]
    return results


def test_threads_and_kernels_change_no_bit():
    before = _core.kernels()
    expected = everything(50_001, 1)
    try:
        for kernels, threads in itertools.product(("baseline", "avx2", "avx512"), (1, 2, 5)):
            if _core.use_kernels(kernels):
                for x, y in zip(everything(50_001, threads), expected, strict=True):
                    np.testing.assert_array_equal(x, y)
    finally:
        _core.use_kernels(before)


def test_vectors_of_other_lengths_are_refused():
    memory = _core.CurvatureMemory(3, 2)
    three, four = np.ones(3), np.ones(4)
    with pytest.raises(ValueError, match="vectors of 3 numbers"):
        memory.direction(four, four, False, 1)
    with pytest.raises(ValueError, match="vectors of 3 numbers"):
        memory.remember(three, three, three, four, three, 1)
    with pytest.raises(ValueError, match="differ in length"):
        _core.advance(three, three, 1.0, four, 1)
    with pytest.raises(ValueError, match="differ in length"):
        _core.finish_gradient(three, four, 1.0, three.copy(), 1)
