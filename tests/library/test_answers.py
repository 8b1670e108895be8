"""The C library's answers are Python's: labels equal, probabilities to 1e-9."""

from __future__ import annotations

import os
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from structlearn import CRF
from structlearn.io import read_crfsuite, write_crfsuite
from structlearn.models.calibration import Calibration
from structlearn.tasks import SegmentTagger, Tagger
from structlearn.text import FeatureTemplates, read_corpus

pytestmark = pytest.mark.filterwarnings("ignore:the probabilities of this")

CLOSE = 1e-9


def data(name):
    folder = os.environ.get("STRUCTLEARN_DATA")
    path = Path(folder or "", name)
    if not folder or not path.exists():
        pytest.skip(f"{name} is not there: STRUCTLEARN_DATA names no folder that has it")
    return str(path)


def compared(model, twin, sentences, columns=None, nbest=1):
    """Check the answers of a model of the library against those of its twin in Python.

    ``columns``: so many cells of the tokens are given to the library.
    """
    wanted = 3  # confidence, probability
    given = [[token[:columns] for token in x] for x in sentences]
    found = [model.label(x, nbest, wanted) for x in given]
    labels = twin.predict(sentences)
    assert [answer.labels[0] for answer in found] == [list(y) for y in labels]
    for answer, sure in zip(found, twin.confidence(sentences), strict=True):
        assert answer.confidence == pytest.approx(sure, abs=CLOSE)
    for n, one in enumerate(found):
        assert one.probability == sorted(one.probability, reverse=True), n
    return found


# -- small models ---------------------------------------------------------

SENTENCES = [
    [("Fish", "N", "B-NP"), ("sleep", "V", "O"), (".", ".", "O")],
    [("The", "D", "B-NP"), ("old", "A", "I-NP"), ("fish", "N", "I-NP"), ("swim", "V", "O")],
    [("They", "P", "B-NP"), ("sleep", "V", "O"), ("well", "R", "B-AP")],
    [("Eels", "N", "B-NP"), ("eat", "V", "O"), ("the", "D", "B-NP"), ("eggs", "N", "I-NP")],
]

#: Parameters of a tagger -> every way in which a file of it differs.
TAGGERS = {
    "perceptron": {},
    "crf": {"learner": "crf"},
    "order 2": {"order": 2},
    "order 0": {"order": 0},
    "chunks": {"features": "chunk", "learner": "crf"},
    "hashed": {"hash_bits": 10},
    "candidates": {"candidates": 2},
}


TEMPLATES = "word\nlower(word[-1])\npos[-1] pos[0]\nsuffix(word, 1..2)\nseen(lower(word))\nbias"


def trained(kind=Tagger, templates=TEMPLATES, **parameters):
    if "features" not in parameters and parameters.get("learner") != "hmm":
        parameters["features"] = FeatureTemplates.parse(templates)
    return kind(target="chunk", **parameters).fit(SENTENCES)


@pytest.mark.parametrize("precision", ["float32", "float16", "int8"])
@pytest.mark.parametrize("name", TAGGERS)
def test_taggers(opened, tmp_path, name, precision):
    path = str(tmp_path / "tags.model")
    trained(**TAGGERS[name]).save(path, precision)
    compared(opened(path), Tagger.load(path), SENTENCES, columns=2, nbest=3)


#: A temperature, and a curve, that change every probability.
CALIBRATION = Calibration(2.5, 40, 0.01, (1.5, 0.3, -0.5))


def test_calibrated_taggers(opened, tmp_path):
    tagger = trained(learner="crf")
    plain = tagger.confidence(SENTENCES)
    tagger.model_.calibration = CALIBRATION
    path = str(tmp_path / "tags.model")
    tagger.save(path)
    found = compared(opened(path), Tagger.load(path), SENTENCES, columns=2)
    assert all(abs(a - b) > 0.001 for x, y in zip(plain, found, strict=True)
               for a, b in zip(x, y.confidence, strict=True))  # fmt: skip


def test_segments(opened, tmp_path):
    path = str(tmp_path / "segments.model")
    templates = "begin(word)\nend(suffix(word, 2))\ninside(pos)\nlength"
    trained(SegmentTagger, templates).save(path)
    model, twin = opened(path), SegmentTagger.load(path)
    assert model.kind == "segments"
    for x in SENTENCES:
        answer = model.label([token[:2] for token in x], 1, 1)
        assert answer.labels == [twin.predict([x])[0]]


def test_kbest_lists(opened, tmp_path):
    path = str(tmp_path / "tags.model")
    trained(learner="crf").save(path)
    twin = Tagger.load(path)
    for x in SENTENCES:
        answer = opened(path).label([token[:2] for token in x], 4, 2)
        ranked = twin.predict_kbest([x], 4)[0]
        assert answer.labels == [y for _, y in ranked]
        odds = twin.predict_proba([x] * len(ranked), answer.labels)
        assert answer.probability == pytest.approx(odds, abs=CLOSE)


def test_chains_and_crfsuite(opened, tmp_path):
    X = [[[f"w={w.lower()}", f"p={p}"] for w, p, _ in x] for x in SENTENCES]
    y = [[label for _, _, label in x] for x in SENTENCES]
    crf = CRF(boundaries=False).fit(X, y)
    chain = crf.to_chain()
    chain.calibration_ = CALIBRATION
    chain.save(tmp_path / "chain.model")
    write_crfsuite(crf, tmp_path / "tags.crfsuite")
    for path, kind in (
        (tmp_path / "chain.model", "chain"),
        (tmp_path / "tags.crfsuite", "crfsuite"),
    ):
        model = opened(str(path))
        assert model.kind == kind
        assert model.labels == list(chain.classes_)
        twin = chain if kind == "chain" else read_crfsuite(path)
        compared(model, twin, [*X, [["w=fish", "strange"], [], ["w=?"]]], nbest=2)
    numbers = model.label([["w=fish"], ["w=sleep", "p=V"]], 1, 1, [0.5, 1.0, -2.0])
    twin = [{"w=fish": 0.5}, {"w=sleep": 1.0, "p=V": -2.0}]
    assert numbers.labels[0] == chain.predict_single(twin)
    sure = read_crfsuite(path).confidence([twin])[0]
    assert numbers.confidence == pytest.approx(sure, abs=CLOSE)


# -- texts that nobody would write ----------------------------------------

STRANGE = [
    *("", "\u0301", "\u200b", "\ufeff", "e\u0301", "\U0001f9e8", "a" * 3000, "\x01", "\u2028"),
    *("%s%n", "ß", "İ", "ΟΔΟΣ", "\ufffd", "_", "-", "O", "B-NP", "|", "\\", '"', "\uff10"),
]
POINTS = [(1, 128), (160, 0xD800), (0xE000, 0x110000)]


def hostile(draw):
    words = [token[0] for x in SENTENCES for token in x]
    tags = sorted({token[1] for x in SENTENCES for token in x})

    def word():
        if draw.random() < 0.4:
            return draw.choice(words)
        if draw.random() < 0.5:
            return draw.choice(STRANGE)
        return "".join(chr(draw.randrange(*draw.choice(POINTS))) for _ in range(draw.randrange(9)))

    return [
        (word(), draw.choice([*tags, word()]), "O") for _ in range(draw.choice([1, 1, 2, 5, 40]))
    ]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("models") / "tags.model")
    trained(features="chunk", learner="crf").save(path)
    return path


def test_a_thousand_texts(opened, file):
    draw = random.Random(7)
    sentences = [hostile(draw) for _ in range(1000)]
    compared(opened(file), Tagger.load(file), sentences, columns=2)


def test_threads(opened, file):
    """Any number of threads ask one model; calls let other threads run."""
    model, draw = opened(file), random.Random(3)
    sentences = [[token[:2] for token in hostile(draw)] for _ in range(200)]

    def asked(x):
        answer = model.label(x, 2, 3)
        return answer.labels, answer.confidence, answer.probability

    alone = list(map(asked, sentences))
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(asked, sentences * 5)) == alone * 5


# -- what is wrong --------------------------------------------------------


def test_damaged_files(calls, opened, file):
    content, draw = Path(file).read_bytes(), random.Random(1)
    for n in (0, 7, 8, 100, len(content) // 2, len(content) - 1):
        with pytest.raises(calls.LibraryError, match=r"damaged|truncated|not a structlearn"):
            opened(content[:n])
    for _ in range(300):
        broken = bytearray(content)
        broken[draw.randrange(len(broken))] ^= 1 << draw.randrange(8)
        with pytest.raises(calls.LibraryError) as caught:
            opened(bytes(broken))
        assert caught.value.status == 3
    with pytest.raises(calls.LibraryError, match="/nowhere/x") as caught:
        opened("/nowhere/x")
    assert caught.value.status == 2


@pytest.mark.filterwarnings("ignore:the corpus. 1 of 4 sentences break a constraint")
def test_models_that_are_refused_by_name(calls, opened, tmp_path):
    for name, parameters, message in (
        (
            "match",
            {"templates": "match(word, /^[A-Z]/)\nword"},
            r"the regular expression /\^\[A-Z\]/",
        ),
        (
            "constraints",
            {"constraints": "contiguous()", "illegal": "drop"},
            "the model has constraints",
        ),
        ("hmm", {"learner": "hmm"}, "hidden Markov"),
    ):
        path = str(tmp_path / name)
        trained(**parameters).save(path)
        with pytest.raises(calls.LibraryError, match=message) as caught:
            opened(path)
        assert caught.value.status == 4


def test_tokens_that_do_not_fit(calls, opened, file):
    model = opened(file)
    with pytest.raises(calls.LibraryError, match="token 1 has 1 cells, the first one 2"):
        model.label([["a", "b"], ["c"]])
    with pytest.raises(calls.LibraryError, match="the model reads the column 'pos'"):
        model.label([["a"]])
    with pytest.raises(calls.LibraryError, match="4 cells"):
        model.label([["a", "b", "c", "d"]])
    assert model.label([]).labels == [[]]


# -- corpora --------------------------------------------------------------


def on_test_set(opened, tmp_path, train, test, columns, **parameters):
    path = str(tmp_path / "tags.model")
    Tagger(**parameters).fit(train).save(path)
    sentences = [[tuple(token[c] for c in columns) for token in x] for x in read_corpus(test)]
    return compared(opened(path), Tagger.load(path), sentences)


def test_conll2000(opened, tmp_path):
    found = on_test_set(
        opened, tmp_path, data("conll2000/train.txt.gz"), data("conll2000/test.txt.gz"),
        (0, 1), features="chunk", max_iter=3,
    )  # fmt: skip
    assert len(found) == 2012


def test_ewt(opened, tmp_path):
    found = on_test_set(
        opened, tmp_path, data("ud_en_ewt/train.conllu.gz"), data("ud_en_ewt/test.conllu.gz"),
        (1,), features="pos", target="upos", max_iter=2,
    )  # fmt: skip
    assert len(found) == 2077
