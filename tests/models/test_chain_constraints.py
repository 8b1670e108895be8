"""Chains over strings under constraints that are given at a call."""

import copy
import pickle

import numpy as np
import pytest

from structlearn import CRF
from structlearn.constraints import contiguous
from structlearn.exceptions import InfeasibleError
from structlearn.io import read_crfsuite, write_crfsuite

LABELS = ["Number", "Street", "City", "Zip"]


def addresses(n=40, seed=0):
    """Tokens of addresses, some of which look like others, with their labels in one run each."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        sizes = rng.integers(0, 3, size=len(LABELS))
        labels = [k for k, size in zip(LABELS, sizes, strict=True) for _ in range(size)]
        labels = labels or ["City"]
        noise = rng.choice(LABELS, size=len(labels))
        words = [a if rng.random() < 0.3 else k for k, a in zip(labels, noise, strict=True)]
        X.append([{"like": w, "first": t == 0} for t, w in enumerate(words)])
        y.append(labels)
    return X, y


def runs(labels):
    return [k for t, k in enumerate(labels) if t == 0 or labels[t - 1] != k]


@pytest.fixture(scope="module")
def trained():
    X, y = addresses()
    return CRF(max_iter=40, C=0.3).fit(X, y)


@pytest.fixture(scope="module")
def texts():
    return addresses(200, seed=1)[0]


def test_no_label_stands_in_two_runs(trained, texts):
    chain = trained.to_chain()
    free = chain.predict(texts)
    broken = [i for i, y in enumerate(free) if len(set(runs(y))) < len(runs(y))]
    assert len(broken) > 3
    held = chain.predict(texts, constraints="contiguous()")
    assert all(len(set(runs(y))) == len(runs(y)) for y in held)
    for i, (before, after) in enumerate(zip(free, held, strict=True)):
        assert (list(before) == list(after)) == (i not in broken)


def test_a_crfsuite_model_tells_what_a_constraint_costs(trained, texts, tmp_path):
    path = tmp_path / "addresses.crfsuite"
    write_crfsuite(CRF(max_iter=40, C=0.3, boundaries=False).fit(*addresses()), path)
    model = read_crfsuite(path)
    given_up = []
    for x in texts:
        ((best, _),) = model.predict_kbest([x], 1)[0]
        ((held, y),) = model.predict_kbest([x], 1, constraints="contiguous()")[0]
        assert len(set(runs(y))) == len(runs(y))
        given_up.append(best - held)
    assert min(given_up) >= 0.0
    assert max(given_up) > 0.1


def test_answers_are_those_of_the_estimator(trained, texts):
    chain = trained.to_chain()
    some = [x for x in texts if len(x) < 6][:12]
    rule = [contiguous("Street", "City"), contiguous("Zip")]
    here, there = (m.predict_kbest(some, 4, constraints=rule) for m in (chain, trained))
    for ours, theirs in zip(here, there, strict=True):
        assert [v for v, _ in ours] == pytest.approx([v for v, _ in theirs], abs=1e-9)
        assert [list(y) for _, y in ours] == [list(y) for _, y in theirs]
    best = chain.predict(some, constraints=rule)
    assert [list(y) for y in trained.predict(some, constraints=rule)] == best
    for question in ("confidence", "entropy"):
        ours, theirs = (getattr(m, question)(some, constraints=rule) for m in (chain, trained))
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-9)
    np.testing.assert_allclose(
        chain.predict_proba(some, best, constraints=rule),
        trained.predict_proba(some, [np.array(y) for y in best], constraints=rule),
        atol=1e-9,
    )
    for rows in chain.sample(some, 5, random_state=0, constraints="contiguous()"):
        assert all(len(set(runs(y))) == len(runs(y)) for y in map(list, rows))


def test_single_calls_and_copies(trained, texts):
    chain = trained.to_chain()
    held = chain.predict(texts, constraints="contiguous()")
    x, held = next((x, y) for x, y in zip(texts, held, strict=True) if chain.predict_single(x) != y)
    assert chain.predict_single(x, constraints="contiguous()") == held != chain.predict_single(x)
    for again in (copy.deepcopy(chain), pickle.loads(pickle.dumps(chain))):
        assert again.predict_single(x, constraints="contiguous()") == held


def test_what_cannot_be_is_an_error(trained, texts):
    chain = trained.to_chain()
    with pytest.raises(InfeasibleError, match="input 0: no legal output is left"):
        chain.predict([texts[0][:1]], constraints="at_least(2, City)")
    with pytest.raises(ValueError, match="Town"):
        chain.predict(texts, constraints="contiguous(Town)")
