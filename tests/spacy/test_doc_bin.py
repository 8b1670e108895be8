"""spaCy's DocBin: written and read back, learned from, and written with what was found."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

spacy = pytest.importorskip("spacy", reason="spaCy is not installed")

from tests.tasks.test_spans import dictionaries, made  # noqa: E402
from tests.text.test_spans import documents, plain  # noqa: E402

from structlearn import cli  # noqa: E402
from structlearn.tasks import Tagger  # noqa: E402
from structlearn.text import read_corpus  # noqa: E402
from structlearn.text.formats import FORMATS  # noqa: E402


@given(st.lists(documents(overlapping=False), min_size=1, max_size=4))
@settings(deadline=None, max_examples=30)
def test_documents_are_read_back_equal(docs):
    docs = [document for document in docs if document.text]
    written = FORMATS["docbin"]().render(docs)
    assert plain(FORMATS["docbin"]().documents(written)) == plain(docs)


def test_files_of_spacy(tmp_path):
    nlp = spacy.blank("en")
    doc = nlp("Ann Lee sleeps in Rome.")
    doc.set_ents([doc.char_span(0, 7, "PER"), doc.char_span(18, 22, "LOC")], default="outside")
    spacy.tokens.DocBin(docs=[doc]).to_disk(tmp_path / "train.spacy")
    corpus = read_corpus(tmp_path / "train.spacy")
    assert corpus[0].column(1) == ["B-PER", "I-PER", "O", "O", "B-LOC", "O"]


def test_the_same_model_and_spans(tmp_path):
    texts = made(30)
    path = tmp_path / "train.spacy"
    path.write_bytes(FORMATS["docbin"]().render(texts))
    tagger, other = (Tagger("ner", max_iter=2).fit(X) for X in (path, dictionaries(texts)))
    for model, name in ((tagger, "a"), (other, "b")):
        model.save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    out = tmp_path / "out.spacy"
    assert cli.run(["predict", str(tmp_path / "a"), str(path), "--output", str(out)]) == 0
    docs = spacy.tokens.DocBin().from_disk(out).get_docs(spacy.blank("en").vocab)
    found = [[(e.start_char, e.end_char, e.label_) for e in doc.ents] for doc in docs]
    asked = tagger.predict_spans([one.text for one in texts], confidence=False)
    assert found == [[span[:3] for span in row] for row in asked]
