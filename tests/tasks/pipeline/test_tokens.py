"""Documents as sequences of tokens: numbers, heads, subtrees, places, spans."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import structlearn
from structlearn.tasks import Pipeline, SegmentTagger, Tagger
from structlearn.tasks.pipeline.doc import Doc
from structlearn.text.templates import FeatureTemplates
from tests.tasks.pipeline.small_treebank import treebank

TEXT = "Ann didn't sleep.  She\nsees Bob Smith."
PLACES = [[(0, 3), (4, 10), (11, 16), (16, 17)], [(19, 22), (23, 27), (28, 31), (32, 37), (37, 38)]]
SPLITS = [[None, ["did", "n't"], None, None], [None] * 5]
HEADS = [[4, 4, 4, 0, 4], [2, 0, 2, 3, 2]]
SMALL = {"max_iter": 3, "n_models": 1}


def document():
    doc = Doc.from_places(TEXT, PLACES, SPLITS)
    for sentence, heads in zip(doc.sentences, HEADS, strict=True):
        for token, head in zip(sentence, heads, strict=True):
            token.head_id, token.relation, token.entity = head, "dep" if head else "root", "O"
    doc[0].entity, doc[7].entity, doc[8].entity = "B-PER", "B-PER", "I-PER"
    return doc


def test_a_document_is_its_tokens():
    doc = document()
    assert [t.text for t in doc] == [
        "Ann", "did", "n't", "sleep", ".", "She", "sees", "Bob", "Smith", ".",
    ]  # fmt: skip
    assert list(doc) == doc.tokens
    assert len(doc) == 10
    assert [doc[t.i] is t for t in doc] == [True] * 10
    assert doc[-1] is doc[9]
    for wrong in (10, -11):
        with pytest.raises(IndexError, match="the document has 10"):
            doc[wrong]
    for token in doc:
        assert doc.text[token.begin : token.end] == token.text == str(token)
        assert token.doc is doc
        assert token in token.sentence.tokens
    assert [s.text for s in doc[1].surface.tokens[0].sentence.surfaces][:2] == ["Ann", "didn't"]
    assert [t.space_after for t in doc] == [
        True, False, True, False, True, True, True, True, False, False,
    ]  # fmt: skip


def test_heads_are_tokens():
    doc = document()
    assert [t.head.i for t in doc] == [3, 3, 3, 3, 3, 6, 6, 6, 7, 6]
    assert [t.text for t in doc[3].children] == ["Ann", "did", "n't", "."]
    assert [t.text for t in doc[7].subtree] == ["Bob", "Smith"]
    assert [t.text for t in doc[8].ancestors] == ["Bob", "sees"]
    assert [s.root.text for s in doc.sentences] == ["sleep", "sees"]
    bare = Doc.from_places(TEXT, PLACES)
    assert bare[0].head is None
    assert bare[0].children == []
    assert bare.sentences[0].root is None


@given(st.lists(st.integers(0, 7), min_size=1, max_size=8))
def test_subtrees_are_those_below(heads):
    """Whatever the heads, cycles too: by repeated steps down."""
    n = len(heads)
    doc = Doc.from_places("a " * n, [[(2 * i, 2 * i + 1) for i in range(n)]])
    for token, head in zip(doc, heads, strict=True):
        token.head_id = head % (n + 1)
    for token in doc:
        below = {token.id}
        while (more := below | {t.id for t in doc if t.head_id in below}) != below:
            below = more
        assert [t.id for t in token.subtree] == sorted(below)


def test_spans():
    doc = document()
    assert [(e.label, e.text, e.begin, e.end) for e in doc.entities] == [
        ("PER", "Ann", 0, 3), ("PER", "Bob Smith", 28, 37),
    ]  # fmt: skip
    assert doc.entities[1].root is doc[7]
    assert doc[1:4].text == "didn't sleep"
    assert doc[1:4][1:].text == "n't sleep"
    with pytest.raises(ValueError, match="no step 2"):
        doc[::2]
    assert doc.to_dict()["sentences"][1]["entities"] == [
        {"label": "PER", "text": "Bob Smith", "begin": 28, "end": 37}
    ]
    assert doc.to_dict()["sentences"][0]["multiword"] == [
        {"first": 2, "last": 3, "text": "didn't", "begin": 4, "end": 10}
    ]


def test_joined_documents_have_new_numbers():
    doc = document()
    doc.append(document())
    assert [t.i for t in doc] == list(range(20))
    assert [doc.text[t.begin : t.end] == t.text for t in doc] == [True] * 20
    assert doc[13].head is doc[13]
    assert doc[12].head is doc[13]
    assert [e.text for e in doc.entities] == ["Ann", "Bob Smith"] * 2


def test_words_that_do_not_stand_in_the_text_lie_where_their_surface_does():
    doc = Doc.from_places("du pain", [[(0, 2), (3, 7)]], [[["de", "le"], None]])
    assert [(t.text, t.begin, t.end) for t in doc] == [("de", 0, 2), ("le", 0, 2), ("pain", 3, 7)]


# -- own stages -----------------------------------------------------------------------------------

PEOPLE = [
    [("Ann", "B-PER"), ("sees", "O"), ("Bob", "B-PER"), ("Smith", "I-PER"), (".", "O")],
    [("The", "O"), ("cat", "O"), ("sees", "O"), ("Ann", "B-PER"), (".", "O")],
    [("They", "O"), ("do", "O"), ("n't", "O"), ("see", "O"), ("Bob", "B-PER"), ("!", "O")],
] * 10
SENTENCES = [["Ann", "sees", "Bob", "Smith", "."], ["They", "do", "n't", "."]]


@pytest.fixture(scope="module")
def nlp():
    small = {"tags": SMALL, "splitter": False, "tokeniser": False, "lemmas": False}
    return Pipeline(**small, parser=False, folds=2).fit(treebank(60))


@pytest.mark.parametrize("kind", [Tagger, SegmentTagger])
def test_a_trained_model_is_a_stage(nlp, kind, tmp_path):
    own = kind(max_iter=3, random_state=0).fit(PEOPLE)
    both = nlp + own
    assert both.stages == ("tags", "entities")
    assert nlp.stages == ("tags",)
    named = nlp.with_labels(own, "people")
    for pipeline, find in ((both, "entities"), (named, "people")):
        pipeline.save(tmp_path / "m.model")
        read = structlearn.load(tmp_path / "m.model")
        assert read.stages == pipeline.stages
        for one in (pipeline, read):
            doc = one.annotate(SENTENCES, confidence=True)
            rows = [[t.labels["people"] if find == "people" else t.entity for t in s]
                    for s in doc.sentences]  # fmt: skip
            assert rows == list(map(list, own.predict(SENTENCES)))
            assert [s.text for s in doc.spans(find)] == ["Ann", "Bob Smith"]
            key = "people" if find == "people" else "entity"
            assert all(0 < token.confidence[key] <= 1 for token in doc)
        assert doc.to_conllu() == pipeline.annotate(SENTENCES).to_conllu()
        assert type(read.stage(find)) is kind
    assert named.without("people").annotate(SENTENCES)[0].labels == {}


def test_stages_that_do_not_fit(nlp):
    chunks = [[(w, "NN", "x", label) for w, label in row] for row in PEOPLE]
    reads = Tagger(FeatureTemplates.parse("word\nchunk\n"), max_iter=2).fit(chunks)
    with pytest.raises(ValueError, match="the stage 'entities' does not fit a pipeline"):
        nlp + reads
    with pytest.raises(TypeError, match="a trained Tagger or SegmentTagger, got dict"):
        nlp + {}
    own = Tagger(max_iter=2).fit(PEOPLE)
    for name in ("upos", "parser", "a b", "tags", ""):
        with pytest.raises(ValueError, match=f"a pipeline has no stage '{name}'"):
            nlp.with_labels(own, name)
