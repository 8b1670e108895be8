"""Documents of ours in spaCy, and our models as components of its pipelines."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

spacy = pytest.importorskip("spacy", reason="spaCy is not installed")

from tests.tasks.pipeline.small_treebank import treebank  # noqa: E402
from tests.tasks.pipeline.test_tokens import PEOPLE, document  # noqa: E402

from structlearn.spacy import Component  # noqa: E402
from structlearn.spacy.conversion import read_doc  # noqa: E402
from structlearn.tasks import (  # noqa: E402
    ConstituencyParser,
    DependencyParser,
    Pipeline,
    SegmentTagger,
    Tagger,
)
from structlearn.tasks.pipeline.doc import Doc  # noqa: E402

SMALL = {"max_iter": 3, "n_models": 1}
TEXT = "They don't! The cat sees a dog.\n\nAnn sees Bob Smith."


@pytest.fixture(scope="module")
def nlp():
    stages = dict.fromkeys(("tokeniser", "splitter", "tags", "lemmas"), SMALL)
    pipeline = Pipeline(**stages, parser={"hash_bits": 16, **SMALL}, folds=2).fit(treebank(100))
    return pipeline + Tagger(max_iter=3).fit(PEOPLE)


def test_documents_of_ours_in_spacy():
    own = document()
    own[3].lemma, own[3].upos, own[3].feats = "sleep", "VERB", "VerbForm=Inf"
    doc = own.to_spacy()
    assert doc.text == own.text
    words = [t for t in doc if not t.is_space]
    assert [t.text for t in words] == [t.text for t in own]
    assert [t.idx for t in words] == [t.begin for t in own]
    assert [t.head.idx for t in words] == [t.head.begin for t in own]
    assert (words[3].lemma_, words[3].pos_, str(words[3].morph)) == (
        "sleep",
        "VERB",
        "VerbForm=Inf",
    )
    assert [t.dep_ == "ROOT" for t in words] == [t.relation == "root" for t in own]
    assert [[t.text for t in s if not t.is_space] for s in doc.sents] == [
        [t.text for t in s] for s in own.sentences
    ]
    assert [(e.label_, e.text, e.start_char) for e in doc.ents] == [
        (e.label, e.text, e.begin) for e in own.entities
    ]


@given(st.text("ab. \n\t\u00a0é", max_size=20), st.randoms())
@settings(max_examples=150, deadline=None)
def test_texts_are_the_same_there_and_back(text, rng):
    places, at = [[]], 0
    for piece in text.replace("\n", " ").split(" "):
        begin = at
        at += len(piece) + 1
        if piece.strip():
            begin += len(piece) - len(piece.lstrip())
            places[-1].append((begin, begin + len(piece.strip())))
            if rng.random() < 0.3:
                places.append([])
    own = Doc.from_places(text, [row for row in places if row])
    if not own:
        return
    doc = own.to_spacy()
    assert doc.text == own.text
    back, _ = read_doc(doc, [s.begin for s in own.sentences])
    assert [[(t.begin, t.end) for t in s] for s in back.sentences] == [
        [(t.begin, t.end) for t in s] for s in own.sentences
    ]


def test_a_pipeline_as_a_component(nlp, tmp_path):
    nlp.save(tmp_path / "our.model", "float32")
    theirs = spacy.blank("en")
    theirs.add_pipe("structlearn", config={"model": str(tmp_path / "our.model")})
    doc = theirs(TEXT)
    tokens = [[t.text for t in s if not t.is_space] for s in doc.sents]
    assert [" ".join(t) for t in tokens] == ["They do n't !", "The cat sees a dog .",
                                            "Ann sees Bob Smith ."]  # fmt: skip
    own = nlp.annotate(tokens)
    words = [t for t in doc if not t.is_space]
    for one, other in zip(own, words, strict=True):
        assert (one.upos, one.xpos, one.lemma) == (other.pos_, other.tag_, other.lemma_)
        assert one.head.text == other.head.text
    assert [e.text for e in doc.ents] == [e.text for e in own.entities] != []
    theirs.to_disk(tmp_path / "theirs")
    (tmp_path / "our.model").unlink()
    for again in (spacy.load(tmp_path / "theirs"), spacy.blank("en")):
        if not again.pipe_names:
            again.add_pipe("structlearn", config={"model": "gone"})
            again.from_bytes(theirs.to_bytes())
        assert again(TEXT).to_json() == doc.to_json()


def test_every_kind_of_model_is_a_component():
    def run(model, **options):
        theirs = spacy.blank("en")
        theirs.add_pipe("sentencizer")
        doc = theirs("Ann sees Bob Smith. The cat sees Ann.")
        return Component(model, **options)(doc)

    doc = run(SegmentTagger(max_iter=3).fit(PEOPLE))
    assert [(e.text, e.label_) for e in doc.ents] == [
        ("Ann", "PER"), ("Bob Smith", "PER"), ("Ann", "PER"),
    ]  # fmt: skip
    doc = run(Tagger(max_iter=3).fit(PEOPLE), spans_key="people")
    assert [s.text for s in doc.spans["people"]] == ["Ann", "Bob Smith", "Ann"]
    tags = [[(w, w[:1]) for w, _ in row] for row in PEOPLE]
    assert [t.tag_ for t in run(Tagger("pos", max_iter=3).fit(tags))][:4] == ["A", "s", "B", "S"]
    trees = [
        [("Ann", "N", 2, "nsubj"), ("sees", "V", 0, "root"), ("Bob", "N", 4, "compound"),
         ("Smith", "N", 2, "obj"), (".", ".", 2, "punct")],
        [("The", "D", 2, "det"), ("cat", "N", 3, "nsubj"), ("sees", "V", 0, "root"),
         ("Ann", "N", 3, "obj"), (".", ".", 3, "punct")],
    ] * 10  # fmt: skip
    doc = run(DependencyParser(hash_bits=14, max_iter=3, folds=2).fit(trees))
    assert [t.head.i for t in doc] == [1, 1, 3, 1, 1, 6, 7, 7, 7, 7]
    assert [s.root.text for s in doc.sents] == ["sees", "sees"]
    brackets = ["(S (NP (N Ann)) (VP (V sees) (NP (N Bob) (N Smith))) (. .))",
                "(S (NP (D The) (N cat)) (VP (V sees) (NP (N Ann))) (. .))"] * 5  # fmt: skip
    doc = run(ConstituencyParser(max_iter=2, folds=2).fit(brackets))
    assert [tree.words for tree in doc._.brackets] == [
        [t.text for t in sentence] for sentence in doc.sents
    ]
    with pytest.raises(TypeError, match="is not a model of tokens"):
        run(object())


def test_a_missing_model_is_said_when_it_is_needed():
    theirs = spacy.blank("en")
    theirs.add_pipe("structlearn", config={"model": "nowhere"})
    with pytest.raises(Exception, match="no package structlearn_nowhere"):
        theirs("Ann sleeps.")
