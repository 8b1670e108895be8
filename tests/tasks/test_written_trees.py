"""Trees that parsers write are read again as they were meant, or the file is refused."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from structlearn.exceptions import FileError
from structlearn.tasks import ConstituencyParser, DependencyParser
from structlearn.text import Corpus, read_corpus
from structlearn.text.trees import Tree, parse_brackets
from tests.tasks.test_written_labels import ANY, SETTINGS, WORDS, refusal


def parser(relations):
    """Return a parser that has learned one tree for each relation."""
    trees = [[("the", "D", 2, k), ("fish", "N", 0, "root")] for k in relations]
    return DependencyParser(1, max_iter=1, hash_bits=10, folds=2).fit(trees)


PARSER = parser(["det"])


def table(words):
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerows([["sentence", "word"], *(["1", word] for word in words)])
    return out.getvalue()


@given(st.sampled_from(["csv", "jsonl"]), st.lists(WORDS, min_size=1, max_size=3))
@SETTINGS
def test_every_word_is_read_again_or_refused(format, words):
    text = table(words) if format == "csv" else json.dumps({"tokens": words}) + "\n"
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "in"), Path(folder, "out")
        source.write_text(text, newline="")
        target.write_text("as it was")
        error = refusal(PARSER.label_file, source, target, format=format)
        if error is not None:
            assert target.read_text() == "as it was"
            assert len(list(Path(folder).iterdir())) == 2
            bad = [w for w in words if not w.strip() or set(w) & set("\t\n\r") or w[-1] in " \f\v"]
            assert bad or (format == "csv" and any(len(w.split()) > 1 for w in words))
            return
        rows = [line.split("\t") for line in target.read_bytes().decode().split("\n") if line]
    assert [row[1] for row in rows] == words
    (tree,) = PARSER.predict([words])
    assert [(int(row[6]), row[7]) for row in rows] == tree
    assert [row[3] for row in rows] == tree.tags


@pytest.mark.parametrize("relation", ["a\tb", "a\nb", "", "a\rb"])
def test_relations_that_do_not_fit(relation, tmp_path):
    source, target = tmp_path / "in.txt", tmp_path / "out"
    source.write_text("the fish\n")
    target.write_text("as it was")
    with pytest.raises(FileError, match=r"CoNLL-U cannot hold the label .* predict returns trees"):
        parser([relation]).label_file(source, target, format="text")
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["in.txt", "out"]
    assert target.read_text() == "as it was"


def test_relations_with_blanks(tmp_path):
    source = tmp_path / "in.txt"
    source.write_text("the fish\n")
    parser(["a b"]).label_file(source, tmp_path / "out", format="text")
    assert read_corpus(tmp_path / "out", "conllu").column("deprel") == [["a b", "root"]]


def test_errors_name_the_line_of_the_file(tmp_path):
    """Of each token there is a line inside, which is another number."""
    source = tmp_path / "in.jsonl"
    rows = [{"tokens": ["the", "fish", "sleeps"]}] * 3
    source.write_text("".join(json.dumps(row) + "\n" for row in rows) + '{"tokens": ["a\\tb"]}\n')
    with pytest.raises(FileError, match=r"line 4: CoNLL-U cannot hold the word 'a\\tb'"):
        PARSER.label_file(source, tmp_path / "out")


@given(ANY, ANY)
@SETTINGS
def test_categories_and_tags_fit_or_are_refused(category, tag):
    gold = Tree("S", [Tree(category, [Tree(tag, word="the"), Tree("N", word="fish")])])
    assume(gold.cleaned() is not None)
    model = ConstituencyParser(max_iter=1, folds=2).fit([gold, gold])
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "in.txt"), Path(folder, "out")
        source.write_text("the fish\n")
        error = refusal(model.label_file, source, target, format="text")
        if error is not None:
            assert not target.exists()
            assert any(not k or set(k) & set("()") or k.split() != [k] for k in (category, tag))
            return
        (found,) = parse_brackets(target.read_text())
    (tree,) = model.predict([["the", "fish"]])
    assert found.leaves() == tree.leaves()
    assert [s for s in found.spans() if s[2]] == [s for s in tree.spans() if s[2]]


def test_corpora_that_cannot_be_written(tmp_path):
    path = tmp_path / "out"
    path.write_text("as it was")
    for cells in (("a\rb", "N"), ("a", "N\r"), ("a", ""), ("a\tb", "N"), ("a", "N\n")):
        with pytest.raises(FileError, match="sentence 0 cannot be written"):
            Corpus.from_sentences([[cells]]).write(path)
    assert path.read_text() == "as it was"
    rows = [[("\ufeffa ", "N x"), ("b", "\xa0")]]
    Corpus.from_sentences(rows).write(path)
    assert [list(s) for s in read_corpus(path)] == rows
