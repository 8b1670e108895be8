"""Parsers of constituents: learning, files, the command line, the generative baseline."""

import json
import pathlib
import pickle
import subprocess
import sys

import pytest

from structlearn.cli import run
from structlearn.datasets import make_treebank
from structlearn.exceptions import FileError
from structlearn.tasks import ConstituencyParser
from structlearn.text.trees import parse_brackets


@pytest.fixture(scope="module")
def trees():
    return [s.brackets for s in make_treebank(260, random_state=0)]


@pytest.fixture(scope="module")
def parser(trees):
    return ConstituencyParser(max_iter=4, folds=2).fit(trees[:200])


@pytest.fixture(scope="module")
def model_file(parser, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m"
    parser.save(path)
    return str(path)


def test_it_learns(parser, trees):
    found = parser.evaluate(trees[200:])
    assert found["f1"] > 0.7
    assert found["sentences"] == 60
    assert found["f1_40"] == found["f1"]
    gold = parser.evaluate(trees[200:], gold_tags=True)
    assert gold["tag_accuracy"] == 1.0
    assert gold["f1"] > 0.75
    assert "NP" in parser.report(trees[200:])


def test_words_in_trees_out(parser, trees):
    gold = parse_brackets(trees[0])[0]
    (tree,) = parser.predict([gold.words])
    assert tree.words == gold.words
    assert parser.predict([gold]) == [tree]
    assert parser.predict([trees[0]]) == [tree]


def test_the_result_does_not_depend_on_threads(parser, trees):
    one = parser.predict(trees[200:])
    parser.n_jobs = 2
    try:
        assert parser.predict(trees[200:]) == one
    finally:
        parser.n_jobs = 1


@pytest.mark.parametrize(
    "learner", ["perceptron", "passive-aggressive", "arow", "svm", "crf", "pcfg"]
)
def test_other_learners(learner, trees, tmp_path):
    passes = 30 if learner == "crf" else 3
    parser = ConstituencyParser(learner, max_iter=passes, gold_tags=True).fit(trees[:150])
    found = parser.evaluate(trees[200:])
    assert found["f1"] > 0.7
    parser.save(tmp_path / "m")
    again = ConstituencyParser.load(tmp_path / "m")
    assert again.predict(trees[200:]) == parser.predict(trees[200:])
    with pytest.raises(ValueError, match="no tagger"):
        again.predict([["a", "b"]], gold_tags=False)


def test_same_seed_same_model(trees, tmp_path):
    for name in "ab":
        ConstituencyParser(max_iter=2, gold_tags=True, random_state=3).fit(trees[:40]).save(
            tmp_path / name
        )
    a, b = ((tmp_path / name).read_bytes() for name in "ab")
    assert a == b, "a file holds nothing that a second run would change"


def test_averages_of_seeds_and_a_dev_set(trees):
    parser = ConstituencyParser(max_iter=2, gold_tags=True, n_models=2)
    parser.fit(trees[:60], dev=trees[60:80])
    assert [record["pass"] for record in parser.history_] == [1, 2, 1, 2]
    assert all("dev_f1" in record for record in parser.history_)
    assert parser.score(trees[200:]) > 0.5


def test_a_single_word_and_a_long_sentence(parser):
    (one,) = parser.predict([["fish"]])
    assert one.words == ["fish"]
    words = ["the", "cat", "sees", "fish", "and"] * 80
    (tree,) = parser.predict([words])
    assert tree.words == words
    with pytest.raises(ValueError, match="sentence 2 has 1001 words"):
        parser.predict([["a"], ["a"] * 1001])


def test_a_tree_of_one_word_can_be_learned_from(trees):
    one = "(N fish)"
    parser = ConstituencyParser(max_iter=1, gold_tags=True).fit([*trees[:30], *[one] * 60])
    (tree,) = parser.predict([one])
    assert (tree.words, tree.tags) == (["fish"], ["N"])
    assert str(tree) == "( (N fish))"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("(S (X a)", "line 1: sentence 1.*not closed"),
        ("(S (NP (-NONE- *)))", "line 1: sentence 1 has no words"),
        ("", "no sentences"),
    ],
)
def test_bad_treebanks(tmp_path, content, message):
    path = tmp_path / "bad.mrg"
    path.write_text(content)
    with pytest.raises(FileError, match=message):
        ConstituencyParser().fit(path)


@pytest.mark.parametrize(
    "wrong",
    [
        {"learner": "magic"},
        {"max_iter": 0},
        {"folds": 1},
        {"margin": -1.0},
        {"vertical": 0},
        {"eta0": 0.0},
        {"delta": -1.0},
        {"C": 0.0},
        {"tol": float("nan")},
        {"r": 1.0},
        {"C": float("inf"), "learner": "svm"},
        {"delta": 0.5, "learner": "perceptron"},
        {"margin": 0.0, "learner": "arow"},
    ],
)
def test_bad_parameters(wrong, trees):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        ConstituencyParser(**wrong).fit(trees[:5])


def test_not_trained():
    with pytest.raises(ValueError, match="not learned anything"):
        ConstituencyParser().predict([["a"]])


def test_command_line(trees, tmp_path, capsys):
    train, test, model = (str(tmp_path / name) for name in ("train.mrg", "test.mrg", "m"))
    for path, rows in ((train, trees[:120]), (test, trees[200:220])):
        with open(path, "w") as file:
            file.write("\n".join(rows))
    assert run(["train", "constituency", train, "--model", model, "--max-iter", "2",
                "--folds", "2", "--quiet"]) == 0  # fmt: skip
    assert run(["evaluate", model, test, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["f1"] > 0.6
    assert run(["evaluate", model, test, "--json", "--gold-tags"]) == 0
    assert json.loads(capsys.readouterr().out)["gold_tags"]
    output = str(tmp_path / "out.mrg.gz")
    assert run(["predict", model, test, "--output", output]) == 0
    assert run(["evaluate", model, output]) == 0
    assert "labelled F1 100.00" in capsys.readouterr().out
    assert run(["inspect", model, "--sentence", "the cat sleeps", "--top", "2"]) == 0
    assert "(sleeps" in capsys.readouterr().out.replace(" sleeps", "(sleeps")
    page = tmp_path / "page.html"
    assert run(["inspect", model, "--input", test, "--html", str(page)]) == 0
    assert page.read_text().count("<svg") == 20
    assert run(["predict", model, test, "--nbest", "2"]) == 1
    assert "--nbest does not work with a constituency parser" in capsys.readouterr().err
    for option in (["--against", model], ["--intervals"], ["--confusions", "1"]):
        assert run(["evaluate", model, test, *option]) == 1
        assert f"{option[0]} does not work with a constituency" in capsys.readouterr().err


def test_plain_text_from_standard_input(model_file):
    done = subprocess.run(
        [sys.executable, "-m", "structlearn", "predict", model_file, "-"],
        input="the cat sees fish\n\nfish sleep\n", capture_output=True, text=True, check=True,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert len(lines) == 2
    assert parse_brackets(lines[0])[0].words == ["the", "cat", "sees", "fish"]


def test_damaged_models(model_file, tmp_path):
    content = bytearray(pathlib.Path(model_file).read_bytes())
    for at in (3, 200, len(content) // 2, len(content) - 5):
        broken = bytearray(content)
        broken[at] ^= 0x40
        path = tmp_path / "broken"
        path.write_bytes(broken)
        with pytest.raises(FileError):
            ConstituencyParser.load(path)
    (tmp_path / "cut").write_bytes(content[: len(content) // 3])
    with pytest.raises(FileError):
        ConstituencyParser.load(tmp_path / "cut")


def test_brackets_in_words_are_written_as_trees_write_them(parser, tmp_path):
    path = tmp_path / "text"
    path.write_text("a b\nc (d)\n")
    for tree in [parser.predict(path)[1], parser.predict([["c", "(d)"]])[0]]:
        assert tree.words == ["c", "-LRB-d-RRB-"]
        assert parse_brackets(str(tree)) == [tree]
    with pytest.raises(ValueError, match="sentence 2: 'b c' is not a word"):
        parser.predict([["a"], ["b c"]])
    # Files of tokens may have blanks in words, which end a word of a tree; so do tags.
    path = tmp_path / "tokens.jsonl"
    path.write_text('{"tokens": ["10 000", "men"], "tags": ["(", "N N"]}\n')
    for gold_tags in (False, True):
        (tree,) = parser.predict(path, gold_tags=gold_tags)
        assert tree.words == ["10_000", "men"]
        assert parse_brackets(str(tree)) == [tree]
    assert tree.tags == ["-LRB-", "N_N"]


def test_pickles(parser, trees):
    again = pickle.loads(pickle.dumps(parser))
    sentences = [parse_brackets(t)[0].words for t in trees[200:210]]
    assert again.predict(sentences) == parser.predict(sentences)


@pytest.mark.parametrize("flag", ["--nbest=2", "--marginals", "--known", "--header"])
def test_options_of_taggers_are_refused(model_file, flag, tmp_path, capsys):
    path = tmp_path / "text"
    path.write_text("a b\n")
    assert run(["predict", model_file, str(path), flag]) == 1
    assert (
        f"{flag.partition('=')[0]} does not work with a constituency parser"
        in capsys.readouterr().err
    )
