"""The English package: what it finds, and what it must not lose."""

import os
import pathlib

import pytest

import structlearn
from structlearn.metrics.alignment import aligned_scores
from structlearn.tasks.pipeline.scores import treebank_sentences
from structlearn.text.corpus import corpus_of
from structlearn.text.dependency_treebank import read_treebank
from structlearn.text.surface import raw_text

from .conformance import check_conllu

MODEL = pathlib.Path(__file__).parents[3] / "models/english/src/structlearn_english/english.model"
FOLDER = pathlib.Path(os.environ.get("STRUCTLEARN_DATA", "no folder")) / "ud_en_ewt"
PARAGRAPH = """Dr. Smith didn't reply. "She'd left for New York," he said, "at 5 p.m. on Monday."

Write to ann@example.org, or see https://example.org/a?b=1 - it's 12,000 dollars, isn't it?
The ﬁrst naïve co-operation… 👩🏽‍💻 שלום עולם. Soooo good!!! cannot
"""

with_treebank = pytest.mark.skipif(
    not FOLDER.is_dir(), reason=f"there is no {FOLDER}: STRUCTLEARN_DATA names it"
)


@pytest.fixture(scope="module")
def nlp():
    return structlearn.load(MODEL)


def test_the_package_is_small():
    assert MODEL.stat().st_size <= 15e6


def test_a_paragraph(nlp):
    doc = nlp(PARAGRAPH)
    assert doc.rebuilt == PARAGRAPH
    assert check_conllu(doc.to_conllu()) == len(doc.sentences)
    split = {s.text: [token.text for token in s.tokens] for s in doc.surfaces}
    assert split["didn't"] == ["did", "n't"]
    assert split["She'd"] == ["She", "'d"]
    assert split["cannot"] == ["can", "not"]
    assert split["ann@example.org"] == ["ann@example.org"]
    assert split["https://example.org/a?b=1"] == ["https://example.org/a?b=1"]
    lemmas = {token.text: token.lemma for token in doc}
    assert lemmas["left"] == "leave"
    assert lemmas["n't"] == "not"
    assert lemmas["12,000"] == "12000"


@pytest.mark.parametrize("text", ["She'd left.", "SHE'D LEFT.", "She’d left.", "There'd be one."])
def test_contractions_that_the_treebank_does_not_have_are_split(nlp, text):
    assert len(nlp.without("parser", "lemmas", "tags")(text).surfaces[0].tokens) == 2


def test_every_level_has_probabilities(nlp):
    doc = nlp(PARAGRAPH, confidence=True)
    for word in doc:
        assert set(word.confidence) == {"upos", "xpos", "feats", "lemma", "head"}
        assert all(0 <= p <= 1 for p in word.confidence.values())


def test_lemmas_that_nobody_doubts_are_probable(nlp):
    doc = nlp("Time flies like an arrow. The cats were sleeping.", confidence=True)
    assert min(word.confidence["lemma"] for word in doc) > 0.7


@with_treebank
def test_probabilities_are_as_high_as_they_are_right(nlp):
    # The sentences after those that lemmas and arcs were calibrated on.
    gold = read_treebank(FOLDER / "dev.conllu.gz").subset(range(100, 300))
    found = nlp.annotate([gold.cells(s, "form") for s in range(len(gold))], confidence=True)
    columns = ("upos", "xpos", "feats", "lemma", "head")
    right, sure = dict.fromkeys(columns, 0), dict.fromkeys(columns, 0.0)
    for s, sentence in enumerate(found.sentences):
        rows = zip(*(gold.cells(s, name) for name in columns), strict=True)
        for word, row in zip(sentence, rows, strict=True):
            true = dict(zip(columns, row, strict=True))
            true["head"] = int(true["head"])
            got = {name: getattr(word, "head_id" if name == "head" else name) for name in columns}
            for name, p in word.confidence.items():
                right[name] += got[name] == true[name]
                sure[name] += p
    for name in columns:
        assert abs(sure[name] - right[name]) < 0.01 * len(found), name


@with_treebank
@pytest.mark.parametrize("part", ["train", "dev", "test"])
def test_every_document_of_the_treebank_is_put_together_again(nlp, part):
    corpus = read_treebank(FOLDER / f"{part}.conllu.gz")
    begins = [s for s in range(len(corpus)) if any("newdoc" in c for c in corpus[s].comments)]
    assert len(begins) > 100
    texts = [
        raw_text(corpus.subset(range(begin, end)))
        for begin, end in zip(begins, [*begins[1:], len(corpus)], strict=True)
    ]
    tokens = nlp.without("splitter", "tags", "lemmas", "parser")
    for text, doc in zip(texts, tokens.pipe(texts), strict=True):
        assert doc.rebuilt == text


@with_treebank
def test_annotating_and_comparing_is_evaluating(nlp, tmp_path):
    gold = read_treebank(FOLDER / "dev.conllu.gz").subset(range(200))
    (tmp_path / "gold.txt").write_text(raw_text(gold), encoding="utf-8")
    nlp.label_file(tmp_path / "gold.txt", tmp_path / "found.conllu")
    written = (tmp_path / "found.conllu").read_text(encoding="utf-8")
    check_conllu(written)
    found = treebank_sentences(corpus_of("found", written.encode(), "conllu"))
    told = nlp.evaluate(gold)
    for name, score in aligned_scores(treebank_sentences(gold), found).items():
        assert score.as_dict() == told[name], name
