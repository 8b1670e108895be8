"""The table of calls in the how-to on pipelines: ours and spaCy's give the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

spacy = pytest.importorskip("spacy", reason="spaCy is not installed")

from structlearn.tasks.pipeline.doc import Doc  # noqa: E402

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "pipeline.md"
TABLE = PAGE.read_text(encoding="utf-8").split("| you want | ours | in spaCy |")[1]
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in TABLE.split("\n\n")[0].splitlines()[2:]
]
#: Rows whose calls give the same in other words.
OTHER_WORDS = {"everything as data", "the entity label of a token"}


def document():
    """Return a document with everything in it: a multiword token, two sentences, two layers."""
    doc = Doc.from_places(
        "Ann didn't sleep. She sees Bob Smith.",
        [
            [(0, 3), (4, 10), (11, 16), (16, 17)],
            [(18, 21), (22, 26), (27, 30), (31, 36), (36, 37)],
        ],
        [[None, ["did", "n't"], None, None], [None] * 5],
    )
    heads = [4, 4, 4, 0, 4, 2, 0, 2, 3, 2]
    tags = ["PROPN", "AUX", "PART", "VERB", "PUNCT", "PRON", "VERB", "PROPN", "PROPN", "PUNCT"]
    entities = ["B-PER", "O", "O", "O", "O", "O", "O", "B-PER", "I-PER", "O"]
    chunks = ["B-NP", "B-VP", "I-VP", "I-VP", "O", "B-NP", "B-VP", "B-NP", "I-NP", "O"]
    for token, head, tag, entity, chunk in zip(doc, heads, tags, entities, chunks, strict=True):
        token.lemma, token.upos, token.xpos = token.text.lower(), tag, tag[:2]
        token.feats = "Number=Sing|Person=3" if tag == "PROPN" else "_"
        token.head_id, token.relation = head, f"dep:{token.i}" if head else "root"
        token.entity = entity
        token.labels["chunks"] = chunk
    return doc


OURS = document()
THEIRS = OURS.to_spacy()


def calls(cell):
    return re.findall(r"`([^`]*)`", re.sub(r"\([^)]*\)$", "", cell))


def plain(value):
    """Return a token or span as its number, or numbers, and text; lists of them likewise."""
    if hasattr(value, "lemma_") and hasattr(value, "label_"):
        return "span", [token.i for token in value], value.text
    if hasattr(value, "tokens") and hasattr(value, "root"):
        return "span", [token.i for token in value], value.text
    if hasattr(value, "i"):
        return "token", value.i, value.text
    return [plain(one) for one in value] if isinstance(value, list) else value


def answers(call, doc, entities):
    """Return what a call gives: of the document, else of each token or of each entity."""
    if re.search(r"\btoken\b", call):
        return [plain(eval(call, {"token": token})) for token in doc]
    if re.search(r"\bspan\b", call):
        return [plain(eval(call, {"span": span})) for span in entities]
    return plain(eval(call, {"doc": doc}))


@pytest.mark.parametrize(("what", "ours", "theirs"), ROWS, ids=[row[0] for row in ROWS])
def test_row(what, ours, theirs):
    found = [answers(call, OURS, OURS.entities) for call in calls(ours)]
    other = calls(ours) if theirs == "the same" else calls(theirs)
    expected = [answers(call, THEIRS, THEIRS.ents) for call in other]
    assert found
    if "relation" in what:
        found = [[{"root": "ROOT"}.get(one, one) for one in row] for row in found]
    if what not in OTHER_WORDS:
        assert found == expected


def test_entity_labels_are_said_in_two_parts():
    parts = [(token.ent_iob_, token.ent_type_) for token in THEIRS]
    assert [token.entity for token in OURS] == ["-".join(filter(None, pair)) for pair in parts]


def test_data_has_the_same_text_and_heads():
    ours, theirs = OURS.to_dict(), THEIRS.to_json()
    assert ours["text"] == theirs["text"]
    assert [(e.begin, e.end, e.label) for e in OURS.entities] == [
        (e["start"], e["end"], e["label"]) for e in theirs["ents"]
    ]
