"""Files with several answers: read alike in every layout, and made one labelling by a command."""

import json

import pytest

from structlearn.cli import run
from structlearn.exceptions import FileError
from structlearn.tasks import Tagger
from structlearn.text import read_annotations

WORDS = [["Ann", "Lee", "sleeps"], ["Rome", "burns"], ["Rome", "burns"]]
ANSWERS = {
    "ann": [["B-PER", "I-PER", "O"], ["B-LOC", "O"], ["B-LOC", "O"]],
    "bob": [["B-PER", "I-PER", "O"], ["B-LOC|B-PER", "O"], ["B-PER", "?"]],
    "cy": [["B-PER", "O", "O"], ["B-LOC", "O"], ["B-LOC", "O"]],
}
EXPECTED = [
    {"ann": ["B-PER", "I-PER", "O"], "bob": ["B-PER", "I-PER", "O"], "cy": ["B-PER", "O", "O"]},
    {"ann": ["B-LOC", "O"], "bob": [frozenset({"B-LOC", "B-PER"}), "O"], "cy": ["B-LOC", "O"]},
    {"ann": ["B-LOC", "O"], "bob": ["B-PER", None], "cy": ["B-LOC", "O"]},
]


def layouts():
    """The same answers in files of several layouts, and how they are read."""
    by_sentence = [(s, who) for s in range(3) for who in ANSWERS]
    by_annotator = [(s, who) for who in ANSWERS for s in range(3)]
    for name, order in (("a.csv", by_sentence), ("b.csv", by_annotator)):
        rows = [f"{s},{w},{k},{who}" for s, who in order
                for w, k in zip(WORDS[s], ANSWERS[who][s], strict=True)]  # fmt: skip
        yield (
            name,
            "sent_id,token,ner,who\n" + "\n".join(rows),
            {"annotator": "who", "target": "ner"},
        )
    rows = [",".join((str(s), w, *(ANSWERS[who][s][t] for who in ANSWERS)))
            for s in range(3) for t, w in enumerate(WORDS[s])]  # fmt: skip
    yield "c.csv", "n_id,token,ann,bob,cy\n" + "\n".join(rows), {"annotator": "ann,bob,cy"}
    lines = [{"tokens": WORDS[s], "ner": ANSWERS[who][s], "who": who} for s, who in by_sentence]
    yield "d.jsonl", "\n".join(map(json.dumps, lines)), {"annotator": "who", "target": "ner"}
    lines = [{"toks": WORDS[s], "by": {who: ANSWERS[who][s] for who in ANSWERS}} for s in range(3)]
    lines[1]["by"]["bob"] = [["B-LOC", "B-PER"], "O"]
    lines[2]["by"]["bob"] = ["B-PER", None]
    yield "e.jsonl", "\n".join(map(json.dumps, lines)), {"annotator": "by", "word": "toks"}


@pytest.mark.parametrize("layout", list(layouts()), ids=lambda layout: layout[0])
def test_every_layout(layout, tmp_path):
    name, text, options = layout
    (tmp_path / name).write_text(text + "\n")
    found = read_annotations(tmp_path / name, **options)
    assert found.words == WORDS
    assert found.answers == EXPECTED
    assert found.annotators == ["ann", "bob", "cy"]


def test_the_command(tmp_path, capfd, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name, text, _ = next(iter(layouts()))
    (tmp_path / name).write_text(text + "\n")
    common = ["agree", name, "--annotator", "who", "--target", "ner"]
    assert run([*common, "--output", "one.jsonl"]) == 0
    out, _ = capfd.readouterr()
    assert "3 texts, 7 tokens" in out
    assert "ann, bob" in out
    items = [json.loads(line) for line in (tmp_path / "one.jsonl").read_text().splitlines()]
    assert [item["tokens"] for item in items] == WORDS
    assert [item["ner"] for item in items] == ANSWERS["ann"]
    assert all(0 <= p <= 1 for item in items for p in item["ner_confidence"])
    # It is a file to learn from.
    assert Tagger(target="ner", max_iter=2).fit("one.jsonl").classes_ == [
        "B-LOC",
        "B-PER",
        "I-PER",
        "O",
    ]
    assert run([*common, "--json", "--tokens-apart"]) == 0
    told = json.loads(capfd.readouterr()[0])
    assert told["kappa"]["ann, cy"]["tokens"] == 7
    assert set(told["accuracy"]) == {"ann", "bob", "cy"}
    assert run(["agree", name, "--annotator", "nobody"]) == 1
    assert "there is no column 'nobody': the columns are token, " in capfd.readouterr()[1]


def test_what_is_wrong_is_said(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"tokens": ["a"], "tags": ["X", "Y"], "annotator": "ann"}\n')
    with pytest.raises(FileError, match=r"line 1: 'ann' has no label for each of 1 words"):
        read_annotations(path)
    path.write_text('{"tokens": ["a"], "tags": ["X"]}\n')
    with pytest.raises(FileError, match=r"line 1: an object has a list of words and the key 'anno"):
        read_annotations(path)


def test_files_without_names_of_columns_say_so(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('{"text": "Ann", "spans": [{"start": 0, "end": 3, "label": "PER"}]}\n')
    with pytest.raises(FileError, match=r"its columns have no names\. Answers are read"):
        read_annotations(path)


def test_texts_with_spans_are_told_what_holds_several_answers(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('{"text": "Ann", "spans": [], "annotator": "bob"}\n')
    with pytest.raises(FileError, match=r'with words, \{"tokens".*not from texts with spans'):
        read_annotations(path)
