"""Batches, threads and instruction sets: never another bit."""

import numpy as np
import pytest

from structlearn import _core
from structlearn.structures import Chain, Multiclass

KERNELS = ["baseline", "avx2", "avx512"]


@pytest.fixture
def kernels():
    """Choose instruction sets in a test; the one in use before comes back."""
    before = _core.kernels()

    def use(name):
        if not _core.use_kernels(name):
            pytest.skip(f"this machine or build has no {name} kernels")
        assert _core.kernels() == name

    yield use
    _core.use_kernels(before)


def make_batch(n_labels, order=1, size=1.0, n=9):
    rng = np.random.default_rng([n_labels, order])
    lengths = [1, 2, 3, 4, 5, 6, 17, 30, 2][:n]
    scores = {
        "label": [size * rng.normal(size=(length, n_labels)) for length in lengths],
        "start": size * rng.normal(size=n_labels),
        "end": size * rng.normal(size=n_labels),
    }
    for j in range(1, order + 1):
        name = "transition" if j == order else f"transition{j}"
        scores[name] = size * rng.normal(size=(n_labels,) * (j + 1))
        if j == 1:
            scores[name][rng.random((n_labels, n_labels)) < 0.2] = -np.inf
            np.fill_diagonal(scores[name], 0.5)
    return scores


def examples(batch):
    n = len(batch["label"])
    return [{k: v[i] if isinstance(v, list) else v for k, v in batch.items()} for i in range(n)]


def answers(order, scores):
    """Everything a chain says about one input, as bytes."""
    chain = Chain(order)
    said = [chain.argmax(**scores).tobytes(), np.float64(chain.solve(**scores).value).tobytes()]
    for temperature in (0.3, 1.0, 5.0):
        value, p = chain.infer(temperature=temperature, **scores)
        said += [np.float64(value).tobytes(), *(a.tobytes() for a in p.values())]
        by_position = chain.marginals(temperature=temperature, **scores)
        said += [a.tobytes() for a in by_position.values()]
        drawn = chain.sample(20, temperature=temperature, random_state=4, **scores)
        said.append(drawn.tobytes())
    for value, y in chain.kbest(5, **scores):
        said += [np.float64(value).tobytes(), y.tobytes()]
    return said


@pytest.mark.parametrize("n_jobs", [1, 2, -1])
@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("n_labels", [3, 9])
def test_a_batch_is_its_examples(order, n_labels, n_jobs):
    chain = Chain(order)
    batch = make_batch(n_labels, order)
    alone = examples(batch)
    for got, one in zip(chain.argmax(n_jobs=n_jobs, **batch), alone, strict=True):
        np.testing.assert_array_equal(got, chain.argmax(**one))
    for got, one in zip(chain.solve(n_jobs=n_jobs, **batch), alone, strict=True):
        right = chain.solve(**one)
        assert (got.value, got.exact, got.bound) == (right.value, right.exact, right.bound)
        np.testing.assert_array_equal(got.output, right.output)
    for temperature in (0.0, 0.3, 1.0, 5.0):
        options = {"temperature": temperature}
        found = chain.infer(n_jobs=n_jobs, **options, **batch)
        marginals = chain.marginals(n_jobs=n_jobs, **options, **batch)
        values = chain.log_partition(n_jobs=n_jobs, **options, **batch)
        for (value, p), m, log_z, one in zip(found, marginals, values, alone, strict=True):
            right, q = chain.infer(**options, **one)
            assert value == right == log_z
            for name in q:
                np.testing.assert_array_equal(p[name], q[name])
            for name, a in chain.marginals(**options, **one).items():
                np.testing.assert_array_equal(m[name], a)
    assert chain.count(**batch) == [chain.count(**one) for one in alone]
    assert chain.entropy(**batch) == [chain.entropy(**one) for one in alone]
    for got, one in zip(chain.kbest(3, **batch), alone, strict=True):
        right = chain.kbest(3, **one)
        assert [v for v, _ in got] == [v for v, _ in right]
        np.testing.assert_array_equal([y for _, y in got], [y for _, y in right])


def test_a_large_batch_on_threads():
    """More examples than a task holds, so that threads really share the work."""
    rng = np.random.default_rng(0)
    labels = [rng.normal(size=(int(n), 5)) for n in rng.integers(1, 20, size=500)]
    transition = rng.normal(size=(5, 5))
    one = Chain().argmax(label=labels, transition=transition, n_jobs=1)
    two = Chain().argmax(label=labels, transition=transition, n_jobs=2)
    assert [y.tolist() for y in one] == [y.tolist() for y in two]
    first = Chain().infer(label=labels, transition=transition, n_jobs=1)
    second = Chain().infer(label=labels, transition=transition, n_jobs=2)
    for (v, p), (w, q) in zip(first, second, strict=True):
        assert v == w
        np.testing.assert_array_equal(p["label"], q["label"])
        np.testing.assert_array_equal(p["transition"], q["transition"])


def test_multiclass_batches():
    rng = np.random.default_rng(0)
    label = [rng.normal(size=k) for k in (1, 2, 9, 30)]
    for n_jobs in (None, 1, 2):
        assert Multiclass().argmax(label=label, n_jobs=n_jobs) == [int(a.argmax()) for a in label]
        found = Multiclass().infer(label=label, temperature=0.3, n_jobs=n_jobs)
        for (value, p), a in zip(found, label, strict=True):
            right, q = Multiclass().infer(label=a, temperature=0.3)
            assert value == right
            np.testing.assert_array_equal(p["label"], q["label"])
    assert Multiclass().count(label=label) == [1, 2, 9, 30]


def test_empty_batch():
    for structure in (Chain(), Multiclass()):
        for ask in (structure.argmax, structure.solve, structure.infer, structure.marginals):
            assert ask(label=[]) == []
        assert structure.log_partition(label=[]) == []
        assert structure.kbest(2, label=[]) == []
        assert structure.sample(2, label=[]) == []
        assert structure.count(label=[]) == []
        assert structure.entropy(label=[]) == []


def test_batches_draw_apart():
    """Equal examples of one batch get draws of their own, the same for the same seed."""
    label = [np.zeros((8, 4))] * 3
    first = Chain().sample(5, label=label, random_state=1)
    assert all(a.shape == (5, 8) for a in first)
    assert not np.array_equal(first[0], first[1])
    again = Chain().sample(5, label=label, random_state=1)
    np.testing.assert_array_equal(first, again)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize(
    "n_labels", [1, 2, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 32, 33, 45, 48, 49, 64, 65]
)
def test_every_instruction_set_gives_the_same_bits(kernels, name, n_labels):
    alone = examples(make_batch(n_labels))[4:7]
    kernels("baseline")
    expected = [answers(1, one) for one in alone]
    kernels(name)
    assert [answers(1, one) for one in alone] == expected


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize(("order", "n_labels"), [(0, 9), (2, 3), (2, 8), (2, 9), (3, 5)])
@pytest.mark.parametrize("size", [1.0, 1e4])
def test_same_bits_at_other_orders_and_with_logarithms(kernels, name, order, n_labels, size):
    alone = examples(make_batch(n_labels, order, size))[2:6]
    kernels("baseline")
    expected = [answers(order, one) for one in alone]
    kernels(name)
    assert [answers(order, one) for one in alone] == expected


@pytest.mark.parametrize("name", KERNELS)
def test_same_bits_for_multiclass(kernels, name):
    rng = np.random.default_rng(0)
    for n_labels in range(1, 40):
        scores = 3 * rng.normal(size=n_labels)
        kernels("baseline")
        value, p = Multiclass().infer(label=scores)
        kernels(name)
        other, q = Multiclass().infer(label=scores)
        assert value == other
        assert p["label"].tobytes() == q["label"].tobytes()


def test_unknown_instruction_set():
    before = _core.kernels()
    assert not _core.use_kernels("abacus")
    assert _core.kernels() == before
