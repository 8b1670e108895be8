"""Reviews: planted mistakes come first, and annotators' differences are all there."""

import json

import pytest

from structlearn.exceptions import FileError
from structlearn.labelling.kinds import Spans, Tags
from structlearn.labelling.review import annotators_disagree, gold_disagrees
from structlearn.tasks import Tagger

from .addresses import make_addresses


@pytest.fixture(scope="module")
def tagger():
    rows = [{"text": t, "spans": s} for t, s in make_addresses(150, seed=1)]
    return Tagger("auto", learner="crf", scheme="bio").fit(rows)


def test_planted_mistakes_of_a_gold_file_come_first(tagger, tmp_path):
    gold = make_addresses(60, seed=2)
    wrong = [5, 17, 33, 48]
    rows = [{"text": t, "spans": list(s)} for t, s in gold]
    for n in wrong:
        rows[n]["spans"] = [{**one, "label": "NAME"} for one in rows[n]["spans"]]
    path = tmp_path / "gold.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = gold_disagrees(str(path), Spans(), tagger)
    assert {t.text for t in found[:4]} == {rows[n]["text"] for n in wrong}
    assert [t.rank for t in found] == sorted((t.rank for t in found), reverse=True)
    for text in found[:4]:
        (_, told), (_, said) = text.versions
        assert told != said
        assert "B-NAME" in told
    plain = [{"text": t, "spans": s} for t, s in make_addresses(150, seed=1)[:5]]
    path.write_text("".join(json.dumps(row) + "\n" for row in plain))
    with pytest.raises(FileError, match="agrees with all"):
        gold_disagrees(str(path), Spans(), tagger)


def test_a_gold_file_of_words(tmp_path):
    sentences = [[("the", "D"), ("fish", "N")], [("fish", "N"), ("sleeps", "V")]] * 5
    tagger = Tagger("pos", learner="crf").fit(sentences)
    path = tmp_path / "gold.txt"
    path.write_text("the D\nfish N\n\nfish D\nsleeps V\n")
    [found] = gold_disagrees(str(path), Tags("blank"), tagger)
    assert found.text == "fish sleeps"
    assert [labels for _, labels in found.versions] == [["D", "V"], ["N", "V"]]


def test_annotators(tmp_path):
    path = tmp_path / "answers.jsonl"
    rows = [
        {"tokens": ["a", "b", "c"], "tags": {"ann": list("XYZ"), "bob": list("XYZ")}},
        {"tokens": ["d", "e"], "tags": {"ann": list("XX"), "bob": list("XY"), "eve": list("XY")}},
        {"tokens": ["f", "g"], "tags": {"ann": list("XX"), "bob": list("YY")}},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = annotators_disagree(str(path), Tags("blank"), "tags")
    assert [text.text for text in found] == ["f g", "d e"]
    assert dict(found[1].versions) == {
        "most": ["X", "Y"], "ann": ["X", "X"], "bob": ["X", "Y"], "eve": ["X", "Y"],
    }  # fmt: skip
    path.write_text(json.dumps(rows[0]) + "\n")
    with pytest.raises(FileError, match="agree in every label"):
        annotators_disagree(str(path), Tags("blank"), "tags")
