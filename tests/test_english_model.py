"""The English model that comes with the source."""

from pathlib import Path

import numpy as np
import pytest

import structlearn
from structlearn.io.container import read_container
from tests.tasks.pipeline.conformance import check_conllu

PACKAGE = Path(__file__).parents[1] / "models" / "english" / "src"
MODEL = PACKAGE / "structlearn_english" / "english.model"

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
    assert check_conllu(doc.to_conllu()) == len(doc) == 3
    first = doc.sentences[0]
    assert [w.form for w in first.words] == ["Dr.", "Smith", "did", "n't", "reply", "."]
    assert [w.lemma for w in first.words] == ["Dr.", "Smith", "do", "not", "reply", "."]
    assert first.words[4].relation == "root"
    forms = {token.text for token in doc.tokens}
    assert {"us@example.com", "http://example.com/a?b=c"} <= forms


def test_saving_it_again_changes_nothing(tmp_path):
    """But for weights of 0 that are in the file: they are not stored any more."""
    nlp = structlearn.load(MODEL)
    nlp.save(tmp_path / "second")
    again = structlearn.load(tmp_path / "second")
    assert again(TEXT, confidence=True).to_conllu() == nlp(TEXT, confidence=True).to_conllu()
    again.save(tmp_path / "third", "int8")
    assert (tmp_path / "third").read_bytes() == (tmp_path / "second").read_bytes()
    (told, ours), (told_again, theirs) = map(read_container, (MODEL, tmp_path / "second"))
    assert told == told_again
    assert ours.keys() == theirs.keys()
    changed = {key for key in ours if bytes(ours[key].data) != bytes(theirs[key].data)}
    parts = {key.removesuffix("rounded") for key in changed if key.endswith(".rounded")}
    for part in parts:
        weights = np.frombuffer(ours[f"{part}rounded"].data, np.int8)
        assert bytes(theirs[f"{part}rounded"].data) == weights[weights != 0].tobytes()
    assert {key.rpartition(".")[0] + "." for key in changed} <= parts


def test_it_is_small():
    assert MODEL.stat().st_size <= 15_000_000
