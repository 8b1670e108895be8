"""CRFsuite's own taggers and the models read from their files say the same."""

import itertools

import numpy as np
import pytest

from structlearn import CRF
from structlearn.io import read_crfsuite
from tests.crfsuite.data import sentences
from tests.io.crfsuite_files import model_bytes, small_model

pycrfsuite = pytest.importorskip("pycrfsuite")


def train(path, X, y, algorithm="lbfgs", **parameters):
    trainer = pycrfsuite.Trainer(algorithm, verbose=False)
    for tokens, labels in zip(X, y, strict=True):
        trainer.append(tokens, labels)
    trainer.set_params({"max_iterations": 15, **parameters})
    trainer.train(str(path))
    return opened(path)


def opened(path):
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    return tagger


def assert_same(model, tagger, X):
    labels = tagger.labels()
    assert model.classes_ == labels
    predicted, marginals = model.predict(X), model.predict_marginals(X)
    probabilities = model.predict_proba(X)
    for i, x in enumerate(X):
        tags = tagger.tag(x)
        assert predicted[i] == model.predict_single(x) == tags
        theirs = [[tagger.marginal(k, t) for k in labels] for t in range(len(x))]
        ours = [list(token.values()) for token in marginals[i]]
        assert all(list(token) == labels for token in marginals[i])
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)
        assert probabilities[i] == pytest.approx(tagger.probability(tags), rel=0, abs=1e-9)


CASES = [
    ("lbfgs", {}),
    ("lbfgs", {"c1": 1.0, "c2": 0.0}),  # many attributes without features are left out
    ("lbfgs", {"feature.minfreq": 3}),
    ("lbfgs", {"feature.possible_states": True, "feature.possible_transitions": True}),
    ("lbfgs", {"feature.possible_transitions": True, "max_iterations": 2}),
    ("l2sgd", {}),
    ("ap", {}),
    ("ap", {"feature.possible_states": True}),
    ("pa", {}),
    ("pa", {"feature.minfreq": 2, "feature.possible_transitions": True}),
    ("arow", {}),
]


@pytest.mark.parametrize(("algorithm", "parameters"), CASES)
def test_trained_models(tmp_path, algorithm, parameters):
    X, y = sentences()
    path = tmp_path / "model.crf"
    tagger = train(path, X[:80], y[:80], algorithm, **parameters)
    model = read_crfsuite(path)
    assert_same(model, tagger, X)  # the last forty have attributes never seen
    info = tagger.info()
    assert len(model.names) == len(info.attributes)
    state = {(r["feature"], r["label"]): r["weight"] for r in model.top_features(n=len(X) * 1000)}
    assert state == pytest.approx(info.state_features, abs=1e-6)
    pairs = {(r["before"], r["after"]): r["weight"] for r in model.transitions() if r["weight"]}
    assert pairs == pytest.approx(info.transitions, abs=1e-6)
    crf = CRF.from_chain(model)
    coef, index = crf.coef_, {k: i for i, k in enumerate(crf.classes_.tolist())}
    column = {name: f for f, name in enumerate(crf.feature_names_["label"])}
    assert set(column) == set(info.attributes)
    assert np.count_nonzero(coef["label"]) == len(info.state_features)
    assert np.count_nonzero(coef["transition"]) == len(info.transitions)
    for (name, k), weight in info.state_features.items():
        assert coef["label"][index[k], column[name]] == pytest.approx(weight, abs=1e-6)
    for (a, b), weight in info.transitions.items():
        assert coef["transition"][index[a], index[b]] == pytest.approx(weight, abs=1e-6)


def test_tokens_of_every_kind(tmp_path):
    X, y = sentences()
    tagger = train(tmp_path / "model.crf", X, y)
    model = read_crfsuite(tmp_path / "model.crf")
    tokens = [
        [],
        {},
        ["bias", "bias", "word:the", "never seen"],
        ("upper", "word:a"),
        {"upper", "bias"},
        {"word": "the", "length": np.float32(0.3), "upper": np.True_, "deep": {"er": {"x": 1}}},
        {"around": {"before": "<s>", "first": True}, "ends": ["he", "the"], "bias": -2},
        {"word": ""},
    ]
    assert_same(model, tagger, [tokens, *([t] for t in tokens)])


@pytest.mark.parametrize("token", [{"a": "x"}, {"a": {"b": "c"}}, {"a": ["b", "c"]}, {"a": {"b"}}])
def test_names_of_attributes(tmp_path, token):
    train(tmp_path / "model.crf", [[token, ["o"]]], [["A", "B"]])
    names = read_crfsuite(tmp_path / "model.crf").names.names()
    assert names == [*pycrfsuite.ItemSequence([token]).items()[0], "o"]


def test_ties(tmp_path):
    """Small whole weights: equal scores everywhere, and the same choice among them."""
    rng = np.random.default_rng(0)
    names = [f"a{i}" for i in range(4)]
    for _ in range(60):
        n = int(rng.integers(2, 6))
        labels = [f"L{k}" for k in rng.permutation(n)]
        state = [(i, k, float(rng.integers(-1, 2))) for i in range(4) for k in range(n)]
        pairs = itertools.product(range(n), repeat=2)
        transition = [(a, b, float(rng.integers(-1, 2))) for a, b in pairs]
        path = tmp_path / "model.crf"
        path.write_bytes(model_bytes(labels, names, state, transition))
        X = [
            [[str(a) for a in rng.choice(names, size=2)] for _ in range(rng.integers(1, 9))]
            for _ in range(20)
        ]
        assert_same(read_crfsuite(path), opened(path), X)


def test_crfsuite_reads_what_the_tests_write(tmp_path):
    """The other tests' writer is of the same opinion about the format."""
    path = tmp_path / "model.crf"
    path.write_bytes(small_model())
    X = [[["w=fish"], ["bias", "w:sleep"], {"größe": 0.5}], [["x" * 40, "?"], ["größe", "w=fish"]]]
    assert_same(read_crfsuite(path), opened(path), X)


def test_models_of_next_to_nothing(tmp_path):
    path = tmp_path / "model.crf"
    tagger = train(path, [[[], []], [[], [], []]], [["X", "Y"], ["Y", "X", "Y"]])
    model = read_crfsuite(path)
    assert len(model.names) == 0
    assert_same(model, tagger, [[[], [], []], [["x"]]])
    tagger = train(path, [[["a"]]], [["X"]])
    assert_same(read_crfsuite(path), tagger, [[["a"], ["b"]]])
    pycrfsuite.Trainer(verbose=False).train(str(path))  # on nothing
    with pytest.raises(ValueError, match="the model has no labels"):
        read_crfsuite(path)


def test_an_attribute_with_large_values(tmp_path):
    """Large scores, where CRFsuite still has finite probabilities."""
    X = [[{"x": 40.0, "b": 1}, {"x": -30.0}], [{"x": 1.0}, ["b"]]]
    tagger = train(tmp_path / "model.crf", X, [["P", "N"], ["P", "N"]])
    assert_same(read_crfsuite(tmp_path / "model.crf"), tagger, X)
