"""Taggers of several columns: their cells are learned as one joined label."""

from __future__ import annotations

import io
import itertools
import random
from pathlib import Path
from typing import Any

import pytest

from structlearn import distributed
from structlearn.exceptions import FileError
from structlearn.tasks import Tagger
from structlearn.tasks.inspection import inspect_task
from structlearn.text import Corpus

TARGETS = ["upos", "xpos", "feats"]


def made_sentences(n: int, kinds: int, seed: int) -> list[list[tuple[str, str, str, str]]]:
    """Words whose first letter tells one tag and whose last letter the other: kinds² labels."""
    draw = random.Random(seed)

    def token() -> tuple[str, str, str, str]:
        a, b = draw.randrange(kinds), draw.randrange(kinds)
        feats = f"Case={b}|Number={a}" if b else "_"
        word = f"{chr(97 + a)}{draw.choice('xyz')}{chr(97 + b)}"
        return word, f"T{a}", f"X{b}", feats

    return [[token() for _ in range(draw.randint(2, 7))] for _ in range(n)]


def conllu(sentences: Any) -> str:
    rows = []
    for s, sentence in enumerate(sentences):
        rows.append(f"# sent_id = {s}")
        for i, (word, upos, xpos, feats) in enumerate(sentence, 1):
            rows.append(f"{i}\t{word}\t_\t{upos}\t{xpos}\t{feats}\t0\troot\t_\tSpaceAfter=No")
        rows.append("")
    return "\n".join([*rows, ""])


def blank(sentences: Any) -> Any:
    return [[(word, "_", "_", "_") for word, *_ in sentence] for sentence in sentences]


def joined(sentences: Any) -> list[list[str]]:
    return [["|".join(cells) for _, *cells in sentence] for sentence in sentences]


TRAIN, TEST = made_sentences(150, 4, 0), made_sentences(20, 4, 1)
PARAMETERS: dict[str, Any] = {"features": "pos", "n_models": 1, "max_iter": 4}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "train.conllu").write_text(conllu(TRAIN))
    (tmp_path / "test.conllu").write_text(conllu(TEST))
    (tmp_path / "blank.conllu").write_text(conllu(blank(TEST)))
    return tmp_path


@pytest.mark.parametrize("learner", ["perceptron", "crf", "hmm"])
def test_is_the_tagger_of_a_prepared_file(files: Path, learner: str) -> None:
    how: dict[str, Any] = {"learner": learner}
    if learner != "hmm":
        how |= {**PARAMETERS, "candidates": 6 if learner == "perceptron" else 0}
    if learner == "crf":
        del how["n_models"]
    prepared = [
        [(word, label) for (word, *_), label in zip(sentence, labels, strict=True)]
        for sentence, labels in zip(TRAIN, joined(TRAIN), strict=True)
    ]
    wanted = Tagger(**how).fit(prepared[20:], dev=prepared[:20])
    sentences = [[(word, *cells) for word, *cells in sentence] for sentence in TRAIN]
    tagger = Tagger(target=[2, "3", -1], **how).fit(sentences[20:], dev=sentences[:20])
    assert tagger.classes_ == wanted.classes_
    words = [[(word,) for word, *_ in sentence] for sentence in TEST]
    assert tagger.predict(words) == wanted.predict(words)
    timeless = [[{**r, "seconds": 0} for r in one.history_] for one in (tagger, wanted)]
    assert timeless[0] == timeless[1]
    assert tagger.model_.temperature == wanted.model_.temperature


def test_file_round_trip(files: Path) -> None:
    (files / "train.conllu").write_text(conllu(TRAIN[:25]))  # few, so that there are errors
    tagger = Tagger(target=TARGETS, **PARAMETERS).fit(files / "train.conllu")
    tagger.save(files / "tags.model")
    tagger = Tagger.load(files / "tags.model")
    assert tagger.model_.targets == [3, 4, 5]
    labels = tagger.predict(files / "blank.conllu")
    predicted = [
        [(word, *label.split("|", 2)) for (word, *_), label in zip(sentence, row, strict=True)]
        for sentence, row in zip(TEST, labels, strict=True)
    ]
    for source in ("blank.conllu", "test.conllu"):
        tagger.label_file(files / source, files / "out.conllu")
        assert (files / "out.conllu").read_text() == conllu(predicted)
    found = tagger.evaluate(files / "test.conllu")
    pairs = list(zip(itertools.chain(*TEST), itertools.chain(*predicted), strict=True))
    for c, name in enumerate(TARGETS, 1):
        right = sum(gold[c] == guess[c] for gold, guess in pairs)
        assert found["by_column"][name] == pytest.approx(right / len(pairs))
    assert found["accuracy"] == pytest.approx(sum(a == b for a, b in pairs) / len(pairs))
    assert 0.5 < found["accuracy"] < 1
    assert "accuracy of feats: " in tagger.report(files / "test.conllu")
    again = Tagger.from_model(tagger.model_).fit(files / "train.conllu")
    assert again.model_.targets == [3, 4, 5]


def test_known_labels_are_kept(files: Path) -> None:
    tagger = Tagger(target="upos,xpos,feats", **PARAMETERS).fit(files / "train.conllu")
    given = blank(TEST)
    for sentence in given:
        sentence[0] = (sentence[0][0], "T1", "X2", "Case=2|Number=1")
    (files / "some.conllu").write_text(conllu(given))
    out = io.BytesIO()
    tagger.label_file(files / "some.conllu", out, known=True)
    known = [["T1|X2|Case=2|Number=1", *[None] * (len(s) - 1)] for s in given]
    text = [line.split("\t") for line in out.getvalue().decode().splitlines() if "\t" in line]
    assert ["|".join(cells[3:6]) for cells in text] == list(
        itertools.chain(*tagger.predict(files / "blank.conllu", known=known))
    )


@pytest.mark.parametrize("separator", ["\t", "  "])
@pytest.mark.parametrize("target", ["2,4", "4,2"])
def test_column_files(tmp_path: Path, separator: str, target: str) -> None:
    """The columns are filled where a file has them; otherwise they are appended in their order."""

    def text(rows: Any) -> str:
        return "\n\n".join("\n".join(separator.join(t) for t in s) for s in rows) + "\n"

    rows = [[(w, a, f"k{len(w)}", b) for w, a, b, _ in s] for s in TRAIN]
    (tmp_path / "train.txt").write_text(text(rows))
    tagger = Tagger(target=target, **PARAMETERS).fit(tmp_path / "train.txt")
    words = [[(w,) for w, *_ in s] for s in TEST]
    labels = [[label.split("|")[:: 1 if target == "2,4" else -1] for label in row]
              for row in tagger.predict(words)]  # fmt: skip
    pairs = [list(zip(s, row, strict=True)) for s, row in zip(TEST, labels, strict=True)]
    (tmp_path / "whole.txt").write_text(text([[(t[0], "?", "k", "?") for t in s] for s in TEST]))
    out = io.BytesIO()
    tagger.label_file(tmp_path / "whole.txt", out)
    assert out.getvalue().decode() == text([[(t[0], a, "k", b) for t, (a, b) in s] for s in pairs])
    (tmp_path / "words.txt").write_text(text(words))
    out = io.BytesIO()
    tagger.label_file(tmp_path / "words.txt", out)
    appended = [[(t[0], a, b) for t, (a, b) in s] for s in pairs]
    assert [line.split() for line in out.getvalue().decode().split("\n")] == [
        line.split() for line in text(appended).split("\n")
    ]
    csv = "word\n" + "\n\n".join("\n".join(w for (w,) in s) for s in words) + "\n"
    (tmp_path / "words.csv").write_text(csv)
    out = io.BytesIO()
    tagger.label_file(tmp_path / "words.csv", out, header=True)
    lines = [line.split(",") for line in out.getvalue().decode().splitlines() if line]
    assert lines[0] == ["word", "label"]
    predicted = list(itertools.chain(*tagger.predict(words)))
    assert [label for _, label in lines[1:]] == predicted
    (tmp_path / "some.txt").write_text(text([[t[:2] for t in s] for s in TEST]))
    with pytest.raises(FileError, match="leave out that column and what follows it"):
        tagger.label_file(tmp_path / "some.txt", io.BytesIO())


def test_stream(files: Path) -> None:
    how = {**PARAMETERS, "features": "pos", "target": TARGETS}
    tagger = Tagger(**how).fit_stream(files / "train.conllu")
    assert tagger.evaluate(files / "test.conllu")["accuracy"] > 0.5
    assert tagger.model_.targets == [3, 4, 5]


def test_unknown_labels() -> None:
    """A token is unknown if its cells are; one cell of "_" is a value."""
    rows = [[("a", "_", "_"), ("b", "N", "_"), ("c", "V", "x")]]
    corpus = Corpus.from_sentences(rows).joined([1, 2], "_")
    assert corpus.column(1) == [["_", "N|_", "V|x"]]
    assert corpus.column(2) == [["_", "_", "x"]]
    tagger = Tagger("pos", target="2,3", n_models=1).fit(rows * 3)
    assert tagger.classes_ == ["N|_", "V|x"]


def test_errors(files: Path) -> None:
    train = files / "train.conllu"
    with pytest.raises(FileError, match=r"train.conllu, line \d+: 'Case=.*name this column last"):
        Tagger(target="feats,upos", **PARAMETERS).fit(train)
    with pytest.raises(ValueError, match="each of them once"):
        Tagger(target="upos,4", **PARAMETERS).fit(train)
    with pytest.raises(FileError, match="tags"):
        Tagger(target="upos,tags", **PARAMETERS).fit(train)
    with pytest.raises(ValueError, match="labels of one column"):
        Tagger(target=TARGETS, scheme="bio", **PARAMETERS).fit(train)
    (files / "features.txt").write_text("word[0]\nxpos[-1]\n")
    with pytest.raises(FileError, match="read the column 'xpos'"):
        Tagger(files / "features.txt", target=TARGETS).fit(train)
    tagger = Tagger(target=TARGETS, **PARAMETERS).fit(train)
    with pytest.raises(ValueError, match="which separates entries of the last column"):
        tagger.label_file(train, io.BytesIO(), nbest=2)
    other = Tagger(target="upos", **PARAMETERS).fit(train)
    with pytest.raises(
        ValueError, match="labels column 4 of conllu files, this one column 4, 5, 6"
    ):
        tagger.evaluate(train, against=other)


def test_over_shards(files: Path) -> None:
    """With one shard, in the order of the file, the model is that of one machine."""
    how = {**PARAMETERS, "target": TARGETS, "shuffle": False, "candidates": 0}
    train, dev = files / "train.conllu", files / "test.conllu"
    alone = Tagger(**how).fit(train, dev=dev)
    found = distributed.fit(Tagger(**how), str(train), dev=str(dev), cluster=None, shard_size=10**9)
    assert found.model_.targets == [3, 4, 5]
    arrays = [{k: bytes(v) for k, v in t.model_.arrays.items()} for t in (found, alone)]
    assert arrays[0] == arrays[1]


def test_many_labels_are_inspected() -> None:
    """The table of transitions is left out, but for labels that are named."""
    rows = made_sentences(200, 9, 2)
    tagger = Tagger("pos", target="2,3", n_models=1, max_iter=2, candidates=12).fit(rows)
    text = inspect_task(tagger, 2)
    assert "12 labels are considered at each token" in text
    named = inspect_task(tagger, 2, labels=["T1|X1", "T2|X2"])
    assert "transitions: from the row's label" in named
    assert "transitions: from the row's label" not in text
    shown = inspect_task(tagger, 2, X=rows[:1])
    assert "not T" in shown
