"""Taggers and items: what they take, what they refuse, and that they agree with CRFsuite's."""

import pickle

import numpy as np
import pytest

from structlearn.crfsuite import ItemSequence, Tagger, Trainer
from structlearn.io import read_crfsuite
from tests.crfsuite.data import sentences
from tests.io.crfsuite_files import LABELS, small_model


@pytest.fixture
def tagger():
    made = Tagger()
    made.open_inmemory(small_model())
    return made


X = [["w=fish", "bias"], {"w": "sleep"}, {"größe": 0.5}]


def test_labels_and_probabilities_are_the_chains(tagger, tmp_path):
    path = tmp_path / "model"
    path.write_bytes(small_model())
    chain = read_crfsuite(path)
    assert tagger.tag(X) == chain.predict_single(X)
    assert tagger.labels() == LABELS
    expected = chain.predict_marginals([X])[0]
    for t, row in enumerate(expected):
        for k in LABELS:
            assert tagger.marginal(k, t) == pytest.approx(row[k], abs=1e-15)
    total = sum(
        tagger.probability([a, b, c]) for a in LABELS for b in LABELS for c in LABELS
    )  # all outputs
    assert total == pytest.approx(1.0)


def test_questions_are_about_the_last_sequence(tagger):
    one, other = [["w=fish"]], [{"größe": 3.0}]
    tagger.set(one)
    assert tagger.tag() == tagger.tag(one)
    of_one = tagger.marginal("N", 0)
    tagger.tag(other)
    assert tagger.marginal("N", 0) != of_one
    tagger.set(one)
    assert tagger.marginal("N", 0) == of_one


def test_a_sequence_that_was_set_may_change(tagger):
    item = {"w": "sleep"}
    tagger.set([item])
    before = tagger.tag()
    item["größe"] = 100.0
    assert tagger.tag() == before
    assert tagger.marginal("V", 0) > 0.3


@pytest.mark.parametrize(
    "same",
    [
        [{"w": "sleep", "größe": 0.5}],
        [{b"w": b"sleep", "größe".encode(): 0.5}],
        [{b"w:sleep": 1, "größe".encode(): 0.5}],
        ItemSequence([{"w": "sleep", "größe": 0.5}]),
        ({"w": "sleep", "größe": 0.5} for _ in range(1)),
        [[("w:sleep", 1.0), ("größe", 0.5)]],
        np.array([{"w": "sleep", "größe": 0.5}], dtype=object),
    ],
)
def test_sequences_of_every_kind(tagger, same):
    expected = tagger.tag([{"w": "sleep", "größe": 0.5}]), tagger.marginal("D", 0)
    assert (tagger.tag(same), tagger.marginal("D", 0)) == expected


def test_sequences_that_are_set_are_read_once(tagger):
    tagger.set([{"w": "sleep"}, ["w:fish"]])
    expected = tagger.marginal("N", 0), tagger.probability(["N", "V"])
    tagger.set(iter([{b"w": b"sleep"}, iter([b"w:fish"])]))
    assert (tagger.marginal("N", 0), tagger.probability(["N", "V"])) == expected


def test_labels_may_be_bytes(tagger):
    tagger.set(X)
    assert tagger.marginal(b"N", np.int64(1)) == tagger.marginal("N", 1)
    assert tagger.probability([b"N", b"V", "D"]) == tagger.probability(["N", "V", "D"]) > 0


def test_no_items(tagger):
    assert tagger.tag([]) == tagger.tag() == []
    assert tagger.probability([]) == tagger.probability(["N"]) == tagger.marginal("N", 5) == 0.0


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda t: t.tag("fish"), ValueError, "not the string 'fish'"),
        (lambda t: t.tag(["fish"]), ValueError, "an item is a list of strings or a dictionary"),
        (lambda t: t.tag([[{"a": 1}]]), ValueError, "a feature in a list is a string, not dict"),
        (lambda t: t.tag(3), TypeError, "not iterable"),
        (lambda t: t.marginal("X", 0), RuntimeError, "label identifier: X"),
        (lambda t: t.marginal(b"\xff", 0), UnicodeDecodeError, "codec can't decode"),
        (lambda t: t.marginal(None, 0), TypeError, "a label is a string, not NoneType"),
        (lambda t: t.marginal("N", "0"), TypeError, "a position is an integer, not str"),
        (lambda t: t.probability([1, 2, 3]), TypeError, "a label is a string, not int"),
        (lambda t: t.marginal("N", 3), ValueError, "3, is out of range of 3"),
        (lambda t: t.marginal("N", -1), ValueError, "out of range"),
        (lambda t: t.probability(["N"]), ValueError, r"\|x\| = 3, \|y\| = 1"),
        (lambda t: t.probability(["N", "V", "X"]), RuntimeError, "label identifier: X"),
        (lambda t: t.open_inmemory(bytearray()), TypeError, "not bytearray"),
        (lambda t: t.open_inmemory(b"lCRF"), ValueError, "not a valid CRFsuite model"),
    ],
)
def test_what_is_refused_changes_nothing(tagger, ask, error, message):
    tagger.tag(X)
    before = tagger.tag(), tagger.marginal("N", 1)
    with pytest.raises(error, match=message):
        ask(tagger)
    assert (tagger.tag(), tagger.marginal("N", 1)) == before


def test_closed_taggers(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(small_model())
    tagger = Tagger()
    with tagger.open(path) as same:
        assert same is tagger
        assert tagger.tag(X)
    for ask in (tagger.labels, tagger.tag, lambda: tagger.set(X), lambda: tagger.probability([]),
                lambda: tagger.marginal("N", 0)):  # fmt: skip
        with pytest.raises(ValueError, match="The tagger is not opened"):
            ask()
    for ask in (tagger.info, tagger.dump):
        with pytest.raises(RuntimeError, match="Tagger is closed"):
            ask()
    with pytest.raises(FileNotFoundError):
        tagger.open(tmp_path / "none")


def test_dump(tagger, tmp_path, capsys):
    path = tmp_path / "dump.txt"
    tagger.dump(path)
    text = path.read_text(encoding="utf-8")
    tagger.dump()
    assert capsys.readouterr().out == text
    assert "  (1) N --> V: 1.250000\n" in text
    assert "  (0) größe --> D: 2.000000\n" in text
    info = tagger.info()
    assert info.transitions[("N", "V")] == 1.25
    assert info.state_features[("größe", "D")] == 2.0
    assert info.labels == {"N": "0", "V": "1", "D": "2"}
    assert info.header["size"] == str(len(small_model()))


def test_items():
    seq = ItemSequence([["foo", "bar", "foo"], {"n": 2, "in": {"x": True, "y": ["z"]}}])
    assert seq.items() == [{"foo": 1.0, "bar": 1.0}, {"n": 2.0, "in:x": 1.0, "in:y:z": 1.0}]
    assert (len(seq), repr(seq)) == (2, "<ItemSequence of size 2>")
    assert ItemSequence(seq).items() == ItemSequence(seq.items()).items() == seq.items()
    assert pickle.loads(pickle.dumps(seq)).items() == seq.items()
    assert ItemSequence([]).items() == []


# -- against CRFsuite ------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["lbfgs", "ap", "arow"])
def test_models_that_we_train_mean_the_same_to_crfsuite(tmp_path, algorithm):
    pycrfsuite = pytest.importorskip("pycrfsuite")
    X, y = sentences()
    trainer = Trainer(algorithm, {"max_iterations": 15}, verbose=False)
    for xseq, yseq in zip(X[:80], y[:80], strict=True):
        trainer.append(xseq, yseq)
    path = str(tmp_path / "model")
    trainer.train(path)
    theirs, ours = pycrfsuite.Tagger(), Tagger()
    theirs.open(path)
    ours.open(path)
    labels = ours.labels()
    assert labels == theirs.labels()
    for x, gold in zip(X, y, strict=True):
        assert ours.tag(x) == theirs.tag(x)
        mine = [[ours.marginal(k, t) for k in labels] for t in range(len(x))]
        other = [[theirs.marginal(k, t) for k in labels] for t in range(len(x))]
        np.testing.assert_allclose(mine, other, rtol=0, atol=1e-9)
        assert ours.probability(gold) == pytest.approx(theirs.probability(gold), abs=1e-9)
    theirs.dump(str(tmp_path / "theirs"))
    ours.dump(str(tmp_path / "ours"))
    assert (tmp_path / "theirs").read_bytes() == (tmp_path / "ours").read_bytes()
    assert ours.info().header == theirs.info().header
