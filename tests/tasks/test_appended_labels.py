"""Labels beside those of the file, probabilities of k-best lists, and separators as in training."""

import json
import math

import pytest

from structlearn import CRF, cli
from structlearn.datasets import make_treebank
from structlearn.tasks import SegmentTagger, Tagger
from structlearn.text import FeatureTemplates

SENTENCES = [list(zip(s.words, s.tags, strict=True)) for s in make_treebank(120, random_state=1)]
TEMPLATES = FeatureTemplates.parse("word\nsuffix(word, 2)\nword[-1]")


@pytest.fixture(scope="module")
def tagger():
    return Tagger(features=TEMPLATES, learner="crf", random_state=0).fit(SENTENCES)


def columns(path):
    return [line.split("\t") for line in path.read_text().splitlines() if line]


@pytest.fixture
def gold(tmp_path):
    path = tmp_path / "gold.txt"
    path.write_text("".join(
        "".join(f"{w}\t{k}\n" for w, k in s) + "\n" for s in SENTENCES[:9]
    ))  # fmt: skip
    return path


def test_gold_labels_stay(tagger, gold, tmp_path):
    out = tmp_path / "out"
    tagger.label_file(gold, out, append=True)
    rows = columns(out)
    assert [row[:2] for row in rows] == columns(gold)
    predicted = [k for labels in tagger.predict(SENTENCES[:9]) for k in labels]
    assert [row[2] for row in rows] == predicted
    assert [bool(line) for line in out.read_text().split("\n")] == [
        bool(line) for line in gold.read_text().split("\n")
    ]


def test_the_command(tagger, gold, tmp_path, capfdbinary):
    tagger.save(tmp_path / "model")
    told = ["predict", str(tmp_path / "model"), str(gold), "--append", "--nbest", "2", "--scores"]
    assert cli.run(told) == 0
    captured = capfdbinary.readouterr()
    rows = [line.split("\t") for line in captured.out.decode().splitlines() if line]
    assert {len(row) for row in rows} == {6}
    assert b"replaced" not in captured.err


def test_scores_are_probabilities_of_sentences(tagger, gold, tmp_path):
    out = tmp_path / "out"
    tagger.label_file(gold, out, nbest=3, scores=True, confidence=True)
    words = [[(w,) for w, _ in s] for s in SENTENCES[:9]]
    best = tagger.predict_kbest(words, 3)
    rows, at = columns(out), 0
    for sentence, found in zip(words, best, strict=True):
        p = [tagger.predict_proba([sentence], [labels])[0] for _, labels in found]
        for t in range(len(sentence)):
            row = rows[at]
            at += 1
            assert row[1:4] == [labels[t] for _, labels in found]
            assert row[4:7] == [f"{x:.4f}" for x in p]
        assert sum(p) <= 1 + 1e-9
        assert found[0][0] - found[1][0] == pytest.approx(math.log(p[0] / p[1]))


def test_fewer_labellings_than_asked_for(tmp_path):
    tagger = Tagger(features=FeatureTemplates.parse("word"), learner="crf").fit(
        [[("a", "X"), ("b", "Y")], [("b", "Y")]]
    )
    source, out = tmp_path / "in", tmp_path / "out"
    source.write_text("a\n\n")
    tagger.label_file(source, out, nbest=3, scores=True)
    _, first, second, third, p, q, none = out.read_text().split()
    assert (third, none) == ("-", "-")
    assert {first, second} == {"X", "Y"}
    assert float(p) + float(q) == pytest.approx(1.0, abs=1e-4)


def test_other_formats(tagger, tmp_path):
    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("word,tag\nthe,XX\ndog,XX\n\n")
    tagger.label_file(source, out, append=True, scores=True)
    heading, first, *_ = out.read_text().splitlines()
    assert heading == "word,tag,predicted,score"
    assert first.split(",")[:2] == ["the", "XX"]
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text('{"tokens": ["the", "dog"], "gold": ["XX", "XX"]}\n')
    tagger.label_file(source, out, append=True)
    told = json.loads(out.read_text())
    assert told["gold"] == ["XX", "XX"]
    assert told["tags"] == tagger.predict([["the", "dog"]])[0]
    source = tmp_path / "in.conllu"
    source.write_text("1\tthe\t_\t_\t_\t_\t_\t_\t_\t_\n\n")
    with pytest.raises(ValueError, match="no room behind them"):
        tagger.label_file(source, out, append=True)


def test_segments_too(gold, tmp_path):
    chunks = [list(zip(s.words, s.chunks, strict=True)) for s in make_treebank(40, random_state=0)]
    tagger = SegmentTagger(learner="perceptron", max_iter=2).fit(chunks)
    out = tmp_path / "out"
    tagger.label_file(gold, out, append=True)
    assert [row[:2] for row in columns(out)] == columns(gold)


@pytest.mark.parametrize("separator", ["\t", " "])
def test_words_alone_get_labels_as_they_stood_in_training(tmp_path, separator):
    train, words, out = tmp_path / "train", tmp_path / "words", tmp_path / "out"
    train.write_text(f"fish{separator}N\nsleep{separator}V\n\n")
    words.write_text("fish\nsleep\n\n")
    tagger = Tagger(features=FeatureTemplates.parse("word")).fit(train)
    tagger.label_file(words, out)
    assert out.read_text() == f"fish{separator}N\nsleep{separator}V\n\n"
    tagger.save(tmp_path / "model")
    from structlearn import load

    load(tmp_path / "model").label_file(words, out)
    assert out.read_text() == f"fish{separator}N\nsleep{separator}V\n\n"


def test_answers_of_tasks_are_json(tagger):
    words = [[w for w, _ in s] for s in SENTENCES[:3]]
    for answer in (
        tagger.predict(words), tagger.predict_kbest(words, 2), tagger.predict_marginals(words),
        tagger.predict_proba(words), tagger.entropy(words), tagger.confidence(words),
        tagger.explain(words), tagger.top_features(),
    ):  # fmt: skip
        assert json.loads(json.dumps(answer))


@pytest.mark.parametrize(
    ("name", "said"),
    [("c1", r"l1 = c1 / \(2·c2\)"), ("c2", r"C = 1 / \(2·c2\)"), ("max_iterations", "max_iter")],
)
def test_crfsuites_parameters(name, said):
    with pytest.raises(TypeError, match=f"CRF has no parameter '{name}': .*{said}.*crfsuite.CRF"):
        CRF(**{name: 1})
