"""The English model that comes with the source."""

import re
from pathlib import Path

import pytest

import structlearn
from tests.tasks.pipeline.conformance import check_conllu

PACKAGE = Path(__file__).parents[1] / "models" / "english" / "src"
MODEL = PACKAGE / "structlearn_english" / "english.model"
CASES = Path(__file__).parent / "tasks" / "pipeline" / "english_cases.txt"

pytestmark = pytest.mark.skipif(not MODEL.exists(), reason="the model is not here: make model")

TEXT = """\
Dr. Smith didn't reply. She'd already left for New York, where it's cheap to fly!

"I can't wait," she wrote to us@example.com; see http://example.com/a?b=c.
"""


def test_it_is_found_by_its_name_and_annotates(monkeypatch):
    monkeypatch.syspath_prepend(PACKAGE)
    nlp = structlearn.load("english")
    assert nlp.stages == ("tokeniser", "splitter", "tags", "lemmas", "parser")
    doc = nlp(TEXT)
    assert doc.rebuilt == TEXT
    assert check_conllu(doc.to_conllu()) == len(doc.sentences) == 3
    first = doc.sentences[0]
    assert [w.text for w in first] == ["Dr.", "Smith", "did", "n't", "reply", "."]
    assert [w.lemma for w in first] == ["Dr.", "Smith", "do", "not", "reply", "."]
    assert first[4].relation == "root"
    forms = {surface.text for surface in doc.surfaces}
    assert {"us@example.com", "http://example.com/a?b=c"} <= forms


def made_cases():
    """Yield made texts and their tokens by sentence.

    In the file blanks and ``|`` separate tokens, and ``||`` sentences; ``|`` is not in the text.
    """
    for line in CASES.read_text("utf-8").splitlines():
        wanted = [re.findall(r"[^\s|]+", sentence) for sentence in line.split(" || ")]
        yield line.replace(" || ", " ").replace("|", ""), wanted


def test_made_texts_with_abbreviations_tags_addresses_and_markup():
    nlp = structlearn.load(MODEL).without("tags", "lemmas", "parser", "splitter")
    texts, wanted = zip(*made_cases(), strict=True)
    found = [[[s.text for s in sent] for sent in nlp(text).sentences] for text in texts]
    right = sum(a == b for a, b in zip(found, wanted, strict=True))
    assert (right, len(texts)) >= (60, 69)


def test_saving_it_again_changes_nothing(tmp_path):
    structlearn.load(MODEL).save(tmp_path / "second")
    assert (tmp_path / "second").read_bytes() == MODEL.read_bytes()


def test_it_is_small():
    assert MODEL.stat().st_size <= 15_000_000
