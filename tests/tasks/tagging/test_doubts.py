"""Sentences that are worth a look: the doubtful ones to label, the wrong ones to check."""

import json
import math
import re

import pytest

from structlearn.cli import run
from structlearn.datasets import make_treebank
from structlearn.tasks import SegmentTagger, Tagger

BANK = list(make_treebank(160, random_state=0))
TAGS = [list(zip(s.words, s.tags, strict=True)) for s in BANK]
CHUNKS = [list(zip(s.words, s.tags, s.chunks, strict=True)) for s in BANK]


@pytest.fixture(scope="module")
def tagger():
    return Tagger("pos", "crf", max_iter=15).fit(TAGS[:30])


@pytest.fixture
def call(capfd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def command(*arguments):
        code = run([str(a) for a in arguments])
        out, err = capfd.readouterr()
        assert code == 0, err
        return out

    return command


@pytest.mark.parametrize("by", ["entropy", "mean", "least"])
def test_the_most_doubtful_sentences_come_first(tagger, by):
    pool = [[w for w, _ in row] for row in TAGS[30:]]
    found = tagger.least_sure(pool, 10, by=by)
    doubts = {
        "entropy": tagger.entropy(pool),
        "mean": [h / len(row) for h, row in zip(tagger.entropy(pool), pool, strict=True)],
        "least": [1 - min(row) for row in tagger.confidence(pool)],
    }[by]
    expected = sorted(range(len(pool)), key=lambda i: (-doubts[i], i))[:10]
    assert [one.number - 1 for one in found] == expected
    for one in found:
        assert math.isclose(one.doubt, doubts[one.number - 1], abs_tol=1e-12)
        assert one.words == pool[one.number - 1]
        assert one.labels == tagger.predict([one.words])[0]
        # The reason names the label that is least sure, and the next one.
        t = min(range(len(one.words)), key=one.confidence.__getitem__)
        told = re.match(r"('.*'|\".*\") is (\S+) with ([\d.]+), or (\S+) with ([\d.]+)", one.reason)
        marginals = tagger.predict_marginals([one.words])[0][t]
        assert (eval(told[1]), told[2]) == (one.words[t], one.labels[t])
        rest = {k: p for k, p in marginals.items() if k != one.labels[t]}
        assert told[4] == max(rest, key=rest.get)


def test_more_are_asked_for_than_there_are(tagger):
    assert len(tagger.least_sure([["Fish"], ["sleep"]], 10)) == 2
    with pytest.raises(ValueError, match="by must be one of entropy, mean, least"):
        tagger.least_sure([["Fish"]], 1, by="chance")


def test_mistakes_come_with_the_surest_first(tagger):
    found = tagger.mistakes(TAGS[30:])
    predicted = tagger.predict([[w for w, _ in row] for row in TAGS[30:]])
    wrong = [i for i, (row, labels) in enumerate(zip(TAGS[30:], predicted, strict=True))
             if labels != [k for _, k in row]]  # fmt: skip
    assert wrong
    assert sorted(one.number - 1 for one in found) == wrong
    sureness = [max(one.confidence[t] for t in one.wrong) for one in found]
    assert sureness == sorted(sureness, reverse=True)


def test_segments_have_doubts_too():
    tagger = SegmentTagger(learner="crf", max_iter=5).fit(CHUNKS[:30])
    (one,) = tagger.least_sure(CHUNKS[30:60], 1)
    assert len(one.words) == len(one.labels) == len(one.confidence)
    assert " is " in one.reason
    for one in tagger.mistakes(CHUNKS[30:]):
        assert one.wrong


def test_commands(tagger, call, tmp_path):
    tagger.save("m.model")
    text = "".join("".join(f"{w} {k}\n" for w, k in row) + "\n" for row in TAGS[30:])
    (tmp_path / "gold.txt").write_text(text)
    out = call("rank", "m.model", "gold.txt", "--least-sure", "3")
    first = tagger.least_sure(tmp_path / "gold.txt", 1)[0]
    assert out.count("\n") == 6
    assert f"line {first.line}: {' '.join(first.words)}" in out
    assert text.split("\n")[first.line - 1].split()[0] == first.words[0]
    items = [json.loads(x) for x in call("rank", "m.model", "gold.txt", "--json").splitlines()]
    assert len(items) == 100
    assert items[0]["tokens"] == first.words
    assert items[0]["reason"] == first.reason
    call("rank", "m.model", "gold.txt", "--output", "next.jsonl", "--least-sure", "2")
    # What is written is a file to train on, once it was checked.
    assert Tagger(max_iter=1).fit(tmp_path / "next.jsonl").classes_
    call("evaluate", "m.model", "gold.txt", "--html", "page.html")
    page = (tmp_path / "page.html").read_text()
    n = len(tagger.mistakes(TAGS[30:]))
    assert f"{n:,} sentences have wrong labels" in page
    assert page.count('<section class="card" style="--sure:') == n
    assert "<script" not in page


def test_tokens_that_spans_cut_stay_whole_where_a_model_is_asked(tmp_path):
    """As `predict` has it: the spans of the input change nothing; a gold file is split."""
    item = {"text": "Zoe left Newyork", "spans": [{"start": 12, "end": 16, "label": "LOC"}]}
    (tmp_path / "t.jsonl").write_text(json.dumps(item) + "\n")
    texts = [{"text": "Ann left Rome", "spans": [{"start": 9, "end": 13, "label": "LOC"}]}]
    tagger = Tagger("ner", "crf", max_iter=5).fit(texts * 3)
    (one,) = tagger.least_sure(tmp_path / "t.jsonl")
    assert one.words == ["Zoe", "left", "Newyork"]
    assert list(map(len, tagger.predict(tmp_path / "t.jsonl"))) == [3]
    with pytest.warns(UserWarning, match="cuts 'Newyork'"):
        assert tagger.evaluate(tmp_path / "t.jsonl")["tokens"] == 4
