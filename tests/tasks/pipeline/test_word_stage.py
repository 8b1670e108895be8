"""Pipelines of languages whose words no blank separates, or whose words have blanks in them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from structlearn import load
from structlearn.cli import run
from structlearn.tasks import LatticeSegmenter, Pipeline, WordSegmenter
from structlearn.tasks.pipeline.cut_sentences import cut_sentences, needs_words
from structlearn.text.dependency_treebank import read_treebank

SMALL = {"n_models": 1, "max_iter": 2}


def bank(path: Path, n: int, seed: int, blank: bool) -> str:
    """Write a treebank of made words: of two or three of forty syllables, or one.

    ``blank``: syllables have blanks between them, so that blanks are inside words and between them.
    """
    lexicon_rng, rng = random.Random(0), random.Random(seed)
    syllables = [a + b for a in "bdghklmn" for b in "aeiou"]
    joint = " " if blank else ""
    lexicon = [
        joint.join(lexicon_rng.choices(syllables, k=k)) for k in [1] * 8 + [2] * 60 + [3] * 20
    ]
    lines = []
    for _ in range(n):
        words = [*rng.choices(lexicon, k=rng.randint(3, 9)), "."]
        text = joint.join(words[:-1]) + "."
        lines.append(f"# text = {text}")
        for i, word in enumerate(words, 1):
            glued = not blank or i >= len(words) - 1
            tag = "PUNCT" if word == "." else f"N{len(word.replace(' ', '')) // 2}"
            arc = "0\troot" if i == 1 else "1\tdep"
            aside = "SpaceAfter=No" if glued and i < len(words) else "_"
            lines.append(f"{i}\t{word}\t{word}\t{tag}\t_\t_\t{arc}\t_\t{aside}")
        lines.append("")
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return str(path)


def pipeline(words: str) -> Pipeline:
    return Pipeline(
        splitter=False, lemmas=False, tags=SMALL, parser=False, words=words, random_state=0
    )


@pytest.mark.parametrize("blank", [False, True])
def test_words_are_found_better_than_by_characters(tmp_path: Path, blank: bool) -> None:
    train = bank(tmp_path / "train.conllu", 250, 1, blank)
    test = bank(tmp_path / "test.conllu", 60, 2, blank)
    scores = {}
    for words in ("none", "auto", "lattice"):
        nlp = pipeline(words).fit(train, dev=test)
        assert ("words" in nlp.stages) == (words != "none")
        scores[words] = nlp.evaluate(test)
        path = tmp_path / f"{words}.model"
        nlp.save(path)
        again = load(path)
        text = read_treebank(test).core and cut_sentences(read_treebank(test))[0].text
        assert [t.text for t in again(text)] == [t.text for t in nlp(text)]
        again.save(tmp_path / "again.model")
        assert path.read_bytes() == (tmp_path / "again.model").read_bytes()
    f1 = {words: found["tokens"]["f1"] for words, found in scores.items()}
    assert f1["auto"] > f1["none"]
    assert f1["lattice"] > f1["none"]
    assert f1["auto"] > 0.9
    assert scores["auto"]["upos"]["f1"] > scores["none"]["upos"]["f1"]


def test_the_stage(tmp_path: Path) -> None:
    train = bank(tmp_path / "train.conllu", 120, 1, True)
    nlp = pipeline("auto").fit(train, dev=train)
    words = nlp.stage("words")
    assert isinstance(words, WordSegmenter)
    cut = cut_sentences(read_treebank(train))[0]
    assert [t.text for t in nlp(cut.text)] == words.predict([cut.text])[0]
    doc = nlp(cut.text, confidence=True)
    at = words.boundaries([cut.text])[0]
    assert all(0 <= surface.confidence <= 1 for surface in doc.surfaces)
    assert [at[surface.begin] > 0.5 for surface in doc.surfaces] == [True] * len(doc.surfaces)
    plain = nlp.without("words")
    assert "words" not in plain.stages
    assert plain(cut.text).text == cut.text
    assert isinstance(pipeline("lattice").fit(train).stage("words"), LatticeSegmenter)
    # Blanks inside words stay in the tokens of the file.
    source, target = tmp_path / "raw.txt", tmp_path / "out.conllu"
    source.write_text(cut.text + "\n", "utf-8")
    nlp.label_file(source, target)
    forms = [line.split("\t")[1] for line in target.read_text("utf-8").splitlines() if "\t" in line]
    assert forms == [t.text for t in nlp(cut.text)]


def test_which_languages_need_it(tmp_path: Path) -> None:
    from structlearn.datasets import make_treebank

    for blank in (False, True):
        assert needs_words(cut_sentences(read_treebank(bank(tmp_path / "b", 30, 1, blank))))
    rows = []
    for s in make_treebank(30):
        rows.append("# text = " + " ".join(s.words))
        rows += [f"{i}\t{w}\t{w}\tX\t_\t_\t0\troot\t_\t_" for i, w in enumerate(s.words, 1)]
        rows.append("")
    english = tmp_path / "en.conllu"
    english.write_text("\n".join(rows) + "\n", "utf-8")
    assert not needs_words(cut_sentences(read_treebank(english)))


def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train = bank(tmp_path / "train.conllu", 40, 1, False)
    model, raw = str(tmp_path / "p.model"), tmp_path / "raw.txt"
    options = ["--words", "lattice", "--n-models", "1", "--quiet"]
    assert run(["train", "pipeline", train, "--model", model, *options]) == 0
    raw.write_text(cut_sentences(read_treebank(train))[0].text + "\n", "utf-8")
    assert run(["annotate", model, str(raw)]) == 0
    assert len(capsys.readouterr().out.splitlines()) > 4
    assert run(["inspect", model]) == 0


def test_a_checkpoint_keeps_the_stage(tmp_path: Path) -> None:
    train = bank(tmp_path / "train.conllu", 40, 1, False)
    models = []
    for _ in range(2):
        nlp = pipeline("auto")
        nlp.checkpoint = tmp_path / "kept"
        models.append(nlp.fit(train).model_.to_bytes())
    assert models[0] == models[1]
    assert (tmp_path / "kept" / "words.model").exists()
