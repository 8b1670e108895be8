"""CRFsuite's files become models that mean the same; the files are written by the tests."""

import itertools
import pickle
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import structlearn
from structlearn import CRF
from structlearn.io import read_crfsuite
from structlearn.models import StringChain
from tests.io.crfsuite_files import ATTRIBUTES, LABELS, STATE, TRANSITION, model_bytes, small_model

REPEATABLE = settings(derandomize=True, deadline=None, database=None)


@pytest.fixture
def read(tmp_path):
    def read_bytes(data):
        path = tmp_path / "model.crf"
        path.write_bytes(data)
        return read_crfsuite(path)

    return read_bytes


def test_what_is_in_the_file_is_in_the_model(read):
    model = read(small_model())
    assert isinstance(model, StringChain)
    assert model.classes_ == LABELS
    assert model.names.names() == ATTRIBUTES
    found = {(r["label"], r["feature"]): r["weight"] for r in model.top_features(n=10)}
    assert found == {(LABELS[k], ATTRIBUTES[attribute]): w for attribute, k, w in STATE}
    pairs = {(r["before"], r["after"]): r["weight"] for r in model.transitions() if r["weight"]}
    assert pairs == {(LABELS[a], LABELS[b]): w for a, b, w in TRANSITION}
    assert (model.order, model.separator, model.temperature_) == (1, ":", 1.0)


def test_the_estimator_of_a_file(read):
    model = CRF.from_chain(read(small_model()))
    assert model.classes_.tolist() == LABELS
    assert model.feature_names_ == {"label": ATTRIBUTES}
    assert set(model.coef_) == {"label", "transition"}
    label, transition = np.zeros((3, 5)), np.zeros((3, 3))
    for attribute, k, weight in STATE:
        label[k, attribute] = weight
    for a, b, weight in TRANSITION:
        transition[a, b] = weight
    np.testing.assert_array_equal(model.coef_["label"], label)
    np.testing.assert_array_equal(model.coef_["transition"], transition)
    assert (model.n_iter_, model.objective_, model.history_) == (0, None, [])


def weights_of(model):
    crf = CRF.from_chain(model)
    names = {name: f for f, name in enumerate(crf.feature_names_["label"])}
    coef = crf.coef_

    def score(x, y):
        total = sum(
            value * coef["label"][k, names[name]]
            for token, k in zip(x, y, strict=True)
            for name, value in token.items()
            if name in names
        )
        return total + sum(coef["transition"][a, b] for a, b in itertools.pairwise(y))

    return score


@settings(REPEATABLE, max_examples=60)
@given(seed=st.integers(0, 10_000))
def test_predictions_by_enumeration(tmp_path_factory, seed):
    """Labels, marginals, probabilities and the k best, against all label sequences."""
    rng = np.random.default_rng(seed)
    n_labels, n_attributes, length = rng.integers(1, 4), rng.integers(0, 5), rng.integers(1, 5)
    labels = [f"L{k}" for k in rng.permutation(n_labels)]
    attributes = [f"a{i}" for i in range(n_attributes)]
    state = [
        (i, k, rng.normal())
        for i in range(n_attributes)
        for k in rng.permutation(n_labels)  # lists need not be in order
        if rng.random() < 0.6
    ]
    pairs = itertools.product(range(n_labels), repeat=2)
    transition = [(a, b, rng.normal()) for a, b in pairs if rng.random() < 0.6]
    path = tmp_path_factory.getbasetemp() / "enumerated.crf"
    path.write_bytes(model_bytes(labels, attributes, state, transition))
    model = read_crfsuite(path)
    x = [
        {f"a{i}": float(rng.choice([1.0, 0.5, -2.0])) for i in range(6) if rng.random() < 0.5}
        for _ in range(length)
    ]
    score = weights_of(model)
    outputs = list(itertools.product(range(n_labels), repeat=int(length)))
    scores = np.array([score(x, y) for y in outputs])
    p = np.exp(scores - np.logaddexp.reduce(scores))
    predicted = [labels.index(label) for label in model.predict([x])[0]]
    assert abs(score(x, predicted) - scores.max()) < 1e-12  # there may be ties
    marginals = np.zeros((length, n_labels))
    for y, probability in zip(outputs, p, strict=True):
        marginals[np.arange(length), y] += probability
    found = [list(token.values()) for token in model.predict_marginals([x])[0]]
    np.testing.assert_allclose(found, marginals, atol=1e-12)
    np.testing.assert_allclose(model.predict_proba([x]), [p.max()], atol=1e-12)
    found = model.predict_kbest([x], 3)[0]
    np.testing.assert_allclose([v for v, _ in found], np.sort(scores)[::-1][:3], atol=1e-12)
    assert model.score([x], [[labels[k] for k in predicted]]) == 1.0


def test_dictionaries_are_named_as_python_crfsuite_names_them(read):
    names = ["w:fish", "up", "n", "in:w:x", "in:list:y", "set:z", "w=fish"]
    model = read(model_bytes(["A", "B"], names, [(i, 1, 2.0**i) for i in range(7)]))
    token = {
        "w": "fish", "up": True, "n": 0.5, "in": {"w": "x", "list": ["y"]}, "set": {"z"},
        "off": False, "unknown": "value",
    }  # fmt: skip
    value, _ = model.predict_kbest([[token]], 1)[0][0]
    assert value == 1 + 2 + 0.5 * 4 + 8 + 16 + 32
    assert model.predict_kbest([[["w=fish", "w:fish"]]], 1)[0][0][0] == 64 + 1


def test_ties_go_to_the_first_label_of_the_file(read):
    model = read(model_bytes(["Z", "A", "M"], ["a"], [(0, 1, 1.0), (0, 2, 1.0)]))
    assert model.predict([[["a"], ["?"], []]]) == [["A", "Z", "Z"]]
    assert model.predict_single([["a"], ["?"], []]) == ["A", "Z", "Z"]


def test_no_attributes(read):
    model = read(model_bytes(["A", "B"], [], [], [(0, 1, 2.0), (1, 1, 1.0)]))
    assert model.predict([[["x"], [], {"y": 2.0}]]) == [["A", "B", "B"]]


def test_no_features_at_all(read):
    model = read(model_bytes(["A"], []))
    assert model.predict([["x", "y"]]) == [["A", "A"]]
    assert model.predict_marginals([["x", "y"]]) == [[{"A": 1.0}, {"A": 1.0}]]


def test_a_label_with_transitions_only(read):
    model = read(model_bytes(["A", "B", "C"], ["a"], [(0, 0, 1.0)], [(0, 2, 3.0), (2, 0, 0.5)]))
    assert model.predict([[["a"], ["?"], ["a"]]]) == [["A", "C", "A"]]


def test_no_labels_are_refused(read):
    with pytest.raises(ValueError, match=r"model\.crf.*at byte 20, the model has no labels"):
        read(model_bytes([], []))


def test_strings_that_are_not_plain(read):
    labels, attributes = ["", "été", "日本"], ["", " ", "naïve:日", "a\nb"]
    model = read(model_bytes(labels, attributes, [(0, 1, 1.0), (2, 2, 3.0)]))
    assert model.classes_ == labels
    assert model.names.names() == attributes
    assert model.predict([[[""], {"naïve": "日"}]]) == [["été", "日本"]]


def test_one_very_long_label_does_not_make_all_of_them_long(read):
    labels = ["x" * 100_000, *map(str, range(999))]
    model = CRF.from_chain(read(model_bytes(labels, ["a"], [(0, 0, 1.0), (0, 5, 2.0)])))
    assert model.classes_.nbytes < 10**6
    assert model.predict([[["a"]]])[0].tolist() == ["4"]


def test_the_model_is_an_estimator_like_any_other(read):
    model = CRF.from_chain(read(small_model()))
    X = [[["w=fish"], ["bias", "größe"]], [["w:sleep"]]]
    again = pickle.loads(pickle.dumps(model))
    for a, b in zip(model.predict_marginals(X), again.predict_marginals(X), strict=True):
        np.testing.assert_array_equal(a, b)
    fresh = clone(model)
    assert not hasattr(fresh, "classes_")
    assert fresh.get_params() == model.get_params()


def test_training_goes_on_from_the_file(read):
    """A warm start keeps the file's labels in their order, and ends at the optimum of the data."""
    labels, names = ["N", "V", "D"], ["w:fish", "w:sleep", "w:the"]
    state = [(i, k, i - k / 2) for i in range(3) for k in range(3)]
    transition = [(a, b, a * b / 3) for a in range(3) for b in range(3)]
    X = [[{"w": "fish"}, {"w": "sleep"}], [{"w": "the"}, {"w": "fish"}, {"w": "sleep"}]]
    y = [["N", "V"], ["D", "N", "V"]]
    cold = CRF(boundaries=False, all_possible_states=True, tol=1e-12).fit(X, y)
    chain = read(model_bytes(labels, names, state, transition))
    model = CRF.from_chain(chain, warm_start=True, tol=1e-12).fit(X, y)
    assert model.classes_.tolist() == labels
    assert model.objective_ == pytest.approx(cold.objective_, rel=1e-9)
    order = np.searchsorted(cold.classes_, labels)
    for a, b in zip(model.predict_marginals(X), cold.predict_marginals(X), strict=True):
        np.testing.assert_allclose(a, b[:, order], atol=1e-5)


def test_training_on_adds_what_the_file_does_not_have(read):
    model = CRF.from_chain(read(small_model()), warm_start=True)
    model.fit([[{"w": "sleep"}, {"w": "new"}], [["w=fish"]]], [["V", "D"], ["N"]])
    assert model.classes_.tolist() == LABELS
    assert model.feature_names_["label"] == [*ATTRIBUTES, "w:new"]
    assert model.coef_["label"][2, 5] > 0


def test_other_classes_cannot_go_on_from_the_file(read):
    model = CRF.from_chain(read(small_model()), warm_start=True)
    with pytest.raises(ValueError, match="warm_start needs the same classes"):
        model.fit([["a", "b"]], [["N", "X"]])


def test_longer_backward_arrays_are_fine(read):
    """Older CRFsuites give the room of the array, not its length; flags are never set."""
    data = bytearray(small_model())
    (labels,) = struct.unpack_from("<I", data, 32)
    struct.pack_into("<I", data, labels + 16, 14)
    struct.pack_into("<I", data, labels + 8, 0xABCDEF01)
    assert read(bytes(data)).classes_ == LABELS


def test_public_names():
    assert structlearn.io.read_crfsuite is read_crfsuite
    assert "read_crfsuite" in dir(structlearn.io)
    with pytest.raises(AttributeError, match="no attribute 'read_liblinear'"):
        structlearn.io.read_liblinear  # noqa: B018
