"""Taggers as chains over strings, and as files of CRFsuite's."""

import numpy as np
import pytest

from structlearn.datasets import make_treebank
from structlearn.exceptions import CapabilityError
from structlearn.io import read_crfpp, read_crfsuite, write_crfsuite
from structlearn.tasks import Tagger
from structlearn.text import FeatureTemplates
from tests.io.foreign_files import crfpp_text

SENTENCES = [list(zip(s.words, s.tags, strict=True)) for s in make_treebank(100, random_state=4)]
WORDS = [[(w,) for w, _ in s] for s in SENTENCES]
TEMPLATES = "word\nword[-1] word[0]\nsuffix(word, 1..2)\nbias\nfirst"


def fitted(templates=TEMPLATES, **options):
    features = FeatureTemplates.parse(templates)
    options = {"learner": "crf", "random_state": 0, **options}
    return Tagger(features=features, **options).fit(SENTENCES[:70])


@pytest.fixture(scope="module")
def tagger():
    return fitted()


def test_a_chain_labels_as_its_tagger(tagger):
    chain = tagger.to_chain()
    attributes = tagger.attributes(WORDS)
    assert attributes[0][0][0] == f"word[0]={WORDS[0][0][0]}"
    assert chain.predict(attributes) == tagger.predict(WORDS)
    for mine, other in zip(
        chain.predict_marginals(attributes), tagger.predict_marginals(WORDS), strict=True
    ):
        for p, q in zip(mine, other, strict=True):
            assert p == pytest.approx(q, abs=1e-9)


def test_perceptrons_and_order_0():
    for options in ({"learner": "perceptron"}, {"order": 0}):
        tagger = fitted(**options)
        assert tagger.to_chain().predict(tagger.attributes(WORDS)) == tagger.predict(WORDS)


def test_crfsuite_labels_as_the_tagger(tagger, tmp_path):
    pycrfsuite = pytest.importorskip("pycrfsuite")
    path = tmp_path / "model.crfsuite"
    with pytest.raises(ValueError, match="first and the last label"):
        write_crfsuite(tagger, path)
    write_crfsuite(tagger, path, boundaries=("BOS", "EOS"))
    theirs = pycrfsuite.Tagger()
    theirs.open(str(path))
    for tokens, words in zip(tagger.attributes(WORDS), WORDS, strict=True):
        marked = [list(token) for token in tokens]
        marked[0].append("BOS")
        marked[-1].append("EOS")
        assert theirs.tag(marked) == tagger.predict([words])[0]
        assert read_crfsuite(path).predict_single(marked) == theirs.tag(marked)
        marginals = tagger.predict_marginals([words])[0]
        for t, row in enumerate(marginals):
            found = [theirs.marginal(k, t) for k in row]
            np.testing.assert_allclose(found, list(row.values()), rtol=0, atol=1e-9)


def test_models_of_crfpp_go_on_to_crfsuite(tmp_path):
    weights = {"U1:a": [1.0, 0.0], "U1:b": [0.0, 0.5], "B": [0.0, 2.0, 0.0, 0.0]}
    (tmp_path / "model").write_bytes(crfpp_text(["U1:%x[0,0]", "B"], ["X", "Y"], weights))
    tagger = read_crfpp(tmp_path / "model")
    write_crfsuite(tagger, tmp_path / "out.crfsuite")
    chain = read_crfsuite(tmp_path / "out.crfsuite")
    words = [[("a",), ("a",), ("b",), ("?",)]]
    assert tagger.attributes(words) == [[["U1:a"], ["U1:a"], ["U1:b"], ["U1:?"]]]
    assert chain.predict(tagger.attributes(words)) == tagger.predict(words)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": 2}, "it is of order 2"),
        ({"hash_bits": 10, "learner": "perceptron"}, "its features have no names"),
        ({"names": False}, "its features have no names"),
        ({"templates": "word\ntransition: word"}, "its label pairs have features"),
        ({"candidates": 3}, "it has candidates"),
    ],
)
def test_what_is_no_chain(options, message):
    with pytest.raises(CapabilityError, match=f"no chain over strings: {message}"):
        fitted(**options).to_chain()
