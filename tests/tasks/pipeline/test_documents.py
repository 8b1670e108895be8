"""Documents as CoNLL-U and as JSON, whatever words and labels are."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from structlearn.exceptions import FileError
from structlearn.tasks.pipeline.doc import Doc
from structlearn.tasks.pipeline.files import write_annotated
from tests.tasks.test_written_labels import ANY, SETTINGS

LABELS = ("lemma", "upos", "xpos", "feats", "relation", "entity")


def document(word, **labels):
    doc = Doc.from_places(f"the {word}", [[(0, 3), (4, 4 + len(word))]])
    for name, value in labels.items():
        setattr(doc[1], name, value)
    doc[1].head_id = 0
    doc[1].confidence = {"upos": 2 / 3, "head": 1.0}
    doc[1].surface.confidence = 1 / 3
    return doc


@given(ANY.filter(bool), st.tuples(*[ANY] * len(LABELS)))
@SETTINGS
def test_any_word_and_label_is_read_again_or_refused(word, values):
    labels = dict(zip(LABELS, values, strict=True))
    doc = document(word, **labels)
    assert json.loads(doc.to_json()) == doc.to_dict()
    (sentence,) = json.loads(doc.to_json())["sentences"]
    row = sentence["tokens"][1]
    assert row["text"] == word
    assert {name: row.get(name, "_") for name in LABELS} == {
        name: "_" if name == "entity" and value == "O" else value for name, value in labels.items()
    }
    try:
        text = doc.to_conllu()
    except ValueError:
        cells = [word, *values]
        assert any(not cell or set(cell) & set("\t\n\r|") or cell[-1] in " \f\v" for cell in cells)
        return
    lines = text.rstrip("\n").split("\n")
    cells = lines[-1].split("\t")
    assert (len(cells), cells[0]) == (10, "2")
    assert cells[1:6] + cells[7:8] == [word, *values[:5]]
    entity = labels["entity"]
    entries = dict(entry.split("=", 1) for entry in cells[9].split("|") if entry != "_")
    assert entries.get("NE", "O" if entity == "O" else "_") == entity


def test_probabilities_have_four_digits():
    (sentence,) = document("fish", upos="NOUN").to_dict()["sentences"]
    assert sentence["tokens"][1]["confidence"] == {"token": 0.3333, "upos": 0.6667, "head": 1.0}


@pytest.mark.parametrize(
    ("format", "word", "fault"),
    [("text", "10 000", "blanks separate tokens"), ("conllu", "a\nb", "it has a line end in it")],
)
def test_files_are_refused_by_name(format, word, fault, tmp_path):
    class Stages:
        def pipe(self, texts, confidence):
            return (document(word) for _ in texts)

    (tmp_path / "x").write_text("text\n")
    with pytest.raises(FileError, match=f"x: .* cannot hold .*{fault}"):
        write_annotated(Stages(), tmp_path / "x", io.BytesIO(), format, False, None)
