"""Files written for CRFsuite: ours read them, and CRFsuite itself labels with them as we do."""

import numpy as np
import pytest

from structlearn import CRF, StructuredPerceptron, _core
from structlearn.datasets import make_treebank
from structlearn.exceptions import CapabilityError
from structlearn.io import read_crfsuite, write_crfsuite
from structlearn.structures import Chain
from tests.io.crfsuite_files import (
    ATTRIBUTES,
    LABELS,
    STATE,
    TRANSITION,
    jenkins,
    model_bytes,
    small_model,
)


def written(labels, attributes, state=(), transition=()):
    """The core's file of the weights that ``model_bytes`` takes."""
    rows = [[(k, w) for a, k, w in state if a == i] for i in range(len(attributes))]
    table = np.zeros((len(labels), len(labels)))
    for a, b, weight in transition:
        table[a, b] = weight
    return _core.crfsuite_bytes(
        labels,
        attributes,
        np.cumsum([0, *map(len, rows)]).astype(np.uint32),
        np.array([k for row in rows for k, _ in row], np.uint32),
        np.array([w for row in rows for _, w in row], np.float64),
        table,
    )


def test_bytes_are_those_of_the_other_writer():
    assert written(LABELS, ATTRIBUTES, STATE, TRANSITION) == small_model()


@pytest.mark.parametrize("seed", range(20))
def test_random_models(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(0, 9)), int(rng.integers(0, 400))
    labels = [f"L{k}" for k in range(n)]
    attributes = ["ä" * int(rng.integers(0, 30)) + str(i) for i in range(m)]
    state = [
        (a, int(k), float(rng.normal()))
        for a in range(m)
        for k in np.flatnonzero(rng.random(n) < 0.4).tolist() or [0]
    ]
    transition = [(a, b, float(rng.normal())) for a in range(n) for b in range(n)]
    if n == 0:
        attributes, state = [], []
    assert written(labels, attributes, state, transition) == model_bytes(
        labels, attributes, state, transition
    )


def test_published_value_of_the_hash():
    """The self-test of lookup3.c; the writers agree on all others by the tests above."""
    assert jenkins(b"Four score and seven years ago") == 0x17770551


def test_weights_of_zero_are_left_out():
    data = written(["A", "B"], ["x", "y", "z"], [(0, 0, 1.0), (0, 1, 0.0), (1, 1, 0.0), (2, 1, 2)])
    assert data == model_bytes(["A", "B"], ["x", "z"], [(0, 0, 1.0), (1, 1, 2.0)])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["A", "A"], [], [0], [], [], np.zeros(4)), "the label 'A' is there twice"),
        ((["A"], ["x", "x"], [0, 0, 0], [], [], np.zeros(1)), "attribute 'x' is there twice"),
        ((["A"], ["x\0y"], [0, 0], [], [], np.zeros(1)), r"attribute 'x\.\.\.' has a zero byte"),
        ((["A"], ["x"], [0, 1], [1], [1.0], np.zeros(1)), "do not fit together"),
        ((["A"], ["x"], [0, 2], [0], [1.0], np.zeros(1)), "do not fit together"),
        ((["A"], ["x"], [1, 1], [0], [1.0], np.zeros(1)), "do not fit together"),
        ((["A"], ["x"], [0], [], [], np.zeros(1)), "do not fit together"),
        ((["A"], ["x"], [], [], [], np.zeros(1)), "do not fit together"),
        ((["A"], [], [0], [], [], np.zeros(2)), "do not fit together"),
        ((["A"], ["x"], [0, 1], [0], [np.nan], np.zeros(1)), "a weight is not finite"),
        ((["A"], [], [0], [], [], np.full(1, -np.inf)), "a weight is not finite"),
        ((["A"], ["\ud800"], [0, 0], [], [], np.zeros(1)), "surrogates not allowed"),
    ],
)
def test_what_cannot_be_written(arguments, message):
    labels, attributes, rows, columns, weights, transition = arguments
    arrays = (np.array(rows, np.uint32), np.array(columns, np.uint32), np.array(weights, float))
    with pytest.raises(ValueError, match=message):
        _core.crfsuite_bytes(labels, attributes, *arrays, transition)


# -- estimators -----------------------------------------------------------------------------------


def tokens(words):
    """Strings, numbers, nesting: everything that a dictionary may have."""
    return [
        {"w": word.lower(), "n": len(word) / 4, "up": word[0].isupper(),
         "s": [word[-1:], word[-2:]], "before": {"w": words[t - 1] if t else "<s>"}}
        for t, word in enumerate(words)
    ]  # fmt: skip


@pytest.fixture(scope="module")
def data():
    bank = make_treebank(90, random_state=5)
    return [tokens(s.words) for s in bank], [list(s.tags) for s in bank]


def same(model, tagger, X):
    labels = tagger.labels()
    assert model.classes_.tolist() == labels
    for x in X:
        assert model.predict([x])[0].tolist() == tagger.tag(x)
        marginals = [[tagger.marginal(k, t) for k in labels] for t in range(len(x))]
        np.testing.assert_allclose(model.predict_marginals([x])[0], marginals, rtol=0, atol=1e-9)


MODELS = {
    "crf": CRF(boundaries=False),
    "all states": CRF(boundaries=False, all_possible_states=True),
    "pairs seen": CRF(boundaries=False, all_possible_transitions=False, l1=0.5, solver="lbfgs"),
    "order 0": CRF(Chain(order=0), boundaries=False),
}


@pytest.mark.parametrize("name", ["crf", "all states", "pairs seen", "order 0"])
def test_estimators_and_crfsuite_say_the_same(data, tmp_path, name):
    pycrfsuite = pytest.importorskip("pycrfsuite")
    X, y = data
    path = tmp_path / "model.crfsuite"
    model = MODELS[name].fit(X[:60], y[:60])
    write_crfsuite(model, path)
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    same(model, tagger, X)
    again = CRF.from_chain(read_crfsuite(path))
    for a, b in zip(model.predict_marginals(X), again.predict_marginals(X), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-12)


def test_perceptrons_too(data, tmp_path):
    X, y = data
    path = tmp_path / "model.crfsuite"
    model = StructuredPerceptron(boundaries=False, max_iter=3, random_state=0).fit(X, y)
    write_crfsuite(model, path)
    for a, b in zip(model.predict(X), read_crfsuite(path).predict(X), strict=True):
        assert a.tolist() == b


def test_reading_and_writing_again_changes_nothing(data, tmp_path):
    X, y = data
    first, second = tmp_path / "first", tmp_path / "second"
    write_crfsuite(CRF(boundaries=False).fit(X, y), first)
    write_crfsuite(read_crfsuite(first), second)
    assert first.read_bytes() == second.read_bytes()


def test_boundaries_become_attributes(data, tmp_path):
    X, y = data
    path = tmp_path / "model.crfsuite"
    model = CRF().fit(X, y)
    with pytest.raises(ValueError, match=r"give boundaries=\(\"BOS\", \"EOS"):
        write_crfsuite(model, path)
    assert not path.exists()
    write_crfsuite(model, path, boundaries=("BOS", "EOS"))
    marked = [[dict(token) for token in x] for x in X]
    for x in marked:
        x[0]["BOS"] = x[-1]["EOS"] = True
    again = CRF.from_chain(read_crfsuite(path))
    for a, b in zip(model.predict_marginals(X), again.predict_marginals(marked), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-12)
    for names in (("BOS", "BOS"), ("up", "EOS")):
        with pytest.raises(ValueError, match="two names that no feature has"):
            write_crfsuite(model, path, boundaries=names)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (CRF(Chain(order=2)), "the chain is of order 2"),
        (CRF(forbid={"transition": [("A", "B")]}), "pairs of labels are forbidden"),
        (CRF(forbid={"start": ["A"]}), "labels are forbidden at the first or the last token"),
    ],
)
def test_other_chains_are_refused(tmp_path, model, message):
    model.fit([["a", "b", "a"], ["b"]], [["A", "A", "B"] if "forbid" not in str(model) else
                                         ["B", "A", "A"], ["B"]])  # fmt: skip
    with pytest.raises(CapabilityError, match=message):
        write_crfsuite(model, tmp_path / "model")


def test_arrays_are_refused(tmp_path):
    model = CRF().fit([np.eye(2)], [["A", "B"]])
    with pytest.raises(CapabilityError, match="features are not strings"):
        write_crfsuite(model, tmp_path / "model")
