"""What users give a parser of constituents by mistake: each error names file, line and sentence."""

import json

import pytest

from structlearn.cli import run
from structlearn.datasets import make_treebank
from structlearn.exceptions import FileError
from structlearn.tasks import ConstituencyParser
from structlearn.text.trees import parse_brackets

BANK = make_treebank(60, random_state=0)
TREES = [s.brackets for s in BANK]
PLAIN = "\n".join(" ".join(s.words) for s in BANK[:3]) + "\n"


@pytest.fixture(scope="module")
def parser():
    return ConstituencyParser(max_iter=1, folds=2).fit(TREES)


@pytest.fixture
def attempt(parser, tmp_path, capsysbinary):
    model = tmp_path / "m"
    parser.save(model)

    def run_it(text, *arguments, command="predict", name="given.txt"):
        path = tmp_path / name
        path.write_text(text)
        code = run([command, str(model), str(path), *arguments])
        out, err = capsysbinary.readouterr()
        return code, out.decode(), err.decode().replace(str(path), "FILE")

    return run_it


def test_formats(attempt):
    code, out, _ = attempt(PLAIN)
    assert code == 0
    assert out.count("\n") == 3
    assert attempt(PLAIN, "--format", "text") == (0, out, "")
    words = [line.split() for line in PLAIN.splitlines() if line.strip()]
    rows = [["\t".join([str(i), w, *"________"]) for i, w in enumerate(s, 1)] for s in words]
    conllu = "\n\n".join("\n".join(sentence) for sentence in rows) + "\n"
    for name in ("given.txt", "given.conllu"):
        assert attempt(conllu, name=name) == (0, out, "")
    column = "\n\n".join("\n".join(sentence) for sentence in words) + "\n"
    assert attempt(column) == attempt(column, "--format", "columns") == (0, out, "")
    objects = "".join(json.dumps({"tokens": sentence}) + "\n" for sentence in words)
    assert attempt(objects) == (0, out, "")
    code, _, err = attempt("a b\nthe\tDT\n")
    assert code == 1
    assert "FILE, line 2: a tab" in err
    assert attempt("a b\nthe\tDT\n", "--format", "text")[0] == 0
    for wrong in ("conllu", "columns"):
        code, _, err = attempt(PLAIN, "--format", wrong)
        assert code == 1
        assert "columns" in err
    code, _, err = attempt(PLAIN, "--format", "brackets")
    assert "FILE, line 1: sentence 1" in err
    code, _, err = attempt(TREES[0], "--format", "conllu", command="evaluate")
    assert code == 1
    assert "from brackets" in err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(S (X a))\n(S (X a)\n", "line 2: sentence 2, which begins here, is not closed"),
        ("(S (X a))\n(S (X a)))\n", "line 2: sentence 3: a closing bracket"),
        ("(S (X a))\n\n(S )\n", r"line 3: sentence 2: the node \(S\) is empty"),
        ("(S (X a))\n(S (-NONE- *))\n", "line 2: sentence 2 has no words, only traces"),
        ("(S (X a))\nword (S (X a))\n", "line 2: sentence 2: 'word' is outside of"),
        ("\n", "(there are|the file contains) no sentences"),
    ],
)
def test_bad_trees(parser, tmp_path, text, message):
    path = tmp_path / "x.mrg"
    path.write_text(text)
    for ask in (ConstituencyParser().fit, parser.evaluate):
        with pytest.raises(FileError, match=f"x.mrg(, |: ){message}"):
            ask(path)
    if text.strip():
        with pytest.raises(FileError, match=message):
            parser.predict(path)


def test_bad_trees_in_a_list(parser):
    with pytest.raises(ValueError, match="tree 2 of the list: line 1: sentence 1"):
        ConstituencyParser().fit([TREES[0], "(S"])
    with pytest.raises(ValueError, match="tree 2 of the list is empty"):
        parser.evaluate([TREES[0], " "])
    with pytest.raises(ValueError, match="sentence 1: a tree is a Tree or a bracketed string"):
        parser.evaluate([["a", "b"]])


def test_long_sentences(parser, attempt, tmp_path):
    words = "a " * 1001
    code, _, err = attempt(f"a b\n\n{words}\n")
    assert code == 1
    assert "FILE, line 3: sentence 2 has 1001 words; at most 1000 can be parsed" in err
    code, _, err = attempt(f"(S (X a))\n(S {'(X a) ' * 1001})\n", command="evaluate")
    assert code == 1
    assert "FILE, line 2: sentence 2 has 1001 words" in err
    (tree,) = parser.predict([words[:400]])
    assert len(tree.words) == 200


def test_tags_that_are_not_there(tmp_path):
    parser = ConstituencyParser(gold_tags=True, max_iter=1).fit(TREES[:20])
    path = tmp_path / "x.txt"
    path.write_text("\n" + PLAIN)
    with pytest.raises(FileError, match=r"x.txt, line 2: sentence 1 has no tags.*--gold-tags"):
        parser.predict(path)


def test_nothing_of_up_to_forty_words(parser, attempt):
    long = f"(S {'(NP (X a)) ' * 41})"
    found = parser.evaluate([long])
    assert found["f1_40"] is None
    assert found["sentences_40"] == 0
    code, out, _ = attempt(long + "\n", command="evaluate")
    assert code == 0
    assert "no sentence has up to 40 words" in out
    assert '"f1_40": null' in attempt(long, "--json", command="evaluate")[1]


def test_drawings(parser):
    (gold,) = parse_brackets(TREES[0])
    alone = parser.draw([gold.words])
    assert alone._repr_svg_().startswith("<svg")
    both = parser.draw(TREES, 1, gold=True)
    assert "predicted" in str(both)
    with_tags = parser.draw(TREES, 0, gold=True, gold_tags=True)
    assert "tag wrong" not in with_tags.svg


def test_inspection(attempt, tmp_path):
    page = tmp_path / "page.html"
    text = "\n".join(TREES[:25])
    code, _out, _ = attempt(text, command="evaluate")
    assert code == 0
    model, path = str(tmp_path / "m"), str(tmp_path / "given.txt")
    assert run(["inspect", model, "--input", path, "--html", str(page)]) == 0
    assert page.read_text().count("<svg") == 20
    assert "20 of 25 sentences are shown" in page.read_text()
    assert run(["inspect", model, "--input", path, "--html", str(page), "--most", "25"]) == 0
    assert page.read_text().count("<svg") == 25
    assert run(["inspect", model, "--label", "no such"]) == 1
