"""Lemmas: scripts, and the lexicon of what few forms share."""

import pytest

from structlearn.tasks.pipeline.words import LISTED, LemmaLabels, Lemmatiser, train_lemmatiser
from structlearn.text.corpus import Corpus

WORDS = [
    ("walked", "walk", "VBD"), ("talked", "talk", "VBD"), ("played", "play", "VBD"),
    ("Turned", "turn", "VBD"), ("asked", "ask", "VBD"), ("went", "go", "VBD"),
    ("better", "well", "RBR"), ("better", "good", "JJR"), ("better", "good", "JJR"),
    ("www.a.org", "www.a.org", "ADD"), ("www.B.org", "www.B.org", "ADD"),
]  # fmt: skip


def corpus(words, n=1):
    rows = [
        (str(i), form, lemma, "X", xpos, "_", "_", "_", "_", "_")
        for i, (form, lemma, xpos) in enumerate(words, 1)
    ]
    return Corpus.from_sentences([rows] * n, "conllu")


@pytest.fixture(scope="module")
def lemmatiser():
    labels = LemmaLabels(corpus(WORDS, 4))
    return Lemmatiser(train_lemmatiser(labels, n_models=1, max_iter=5), labels.lexicon)


def test_scripts_of_few_forms_are_in_the_lexicon():
    labels = LemmaLabels(corpus(WORDS))
    assert labels.lexicon[0] == ("better", "JJR", "good")  # the frequent one first
    assert {row[0] for row in labels.lexicon} == {"went", "better", "www.a.org", "www.b.org"}
    found = labels.labelled().subset([0]).cells(0, "lemma")
    assert found[:5] == ["l;0;2;0;"] * 5
    assert set(found[5:]) == {LISTED}


def test_addresses_keep_their_capitals():
    found = LemmaLabels(corpus(WORDS), rare=1).labelled().subset([0]).cells(0, "lemma")
    assert found[-2:] == ["k;0;0;0;"] * 2


def test_the_lexicon_goes_by_tag(lemmatiser):
    assert lemmatiser(corpus(WORDS))[0] == [lemma for _, lemma, _ in WORDS]
    assert lemmatiser.lemma(LISTED, "Better", "RBR") == "well"
    assert lemmatiser.lemma(LISTED, "better", "NN") == "good"  # a tag that it never had
    assert lemmatiser.lemma(LISTED, "wented", "VBD") is None


def test_what_the_lexicon_does_not_have_gets_a_script(lemmatiser, monkeypatch):
    monkeypatch.setattr(
        lemmatiser.model, "label_corpus", lambda corpus, threads: [[LISTED] * len(corpus[0])]
    )
    assert lemmatiser(corpus([("jumped", "_", "VBD")])) == [["jump"]]


def test_a_treebank_without_lemmas_has_no_lemmatiser():
    bare = corpus([(form, "_", xpos) for form, _, xpos in WORDS])
    assert train_lemmatiser(LemmaLabels(bare)) is None
