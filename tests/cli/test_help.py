"""What the command line says about itself, and the names that it has for taggers."""

import argparse
import re
import shlex

import pytest

import structlearn
from structlearn.cli import COMMANDS, run
from structlearn.cli.arguments import make_parser
from structlearn.cli.commands.examples import EXAMPLES
from structlearn.datasets import make_treebank


def parsers_of(parser):
    """Yield a parser and those of all commands below it."""
    yield parser
    parser.format_help()  # arguments are added when they are needed
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for child in action.choices.values():
                yield from parsers_of(child)


PARSERS = {parser.prog: parser for parser in parsers_of(make_parser(COMMANDS))}


@pytest.mark.parametrize("command", PARSERS)
def test_help_ends_with_two_examples_that_parse(command):
    last = PARSERS[command].format_help().split("\nexamples:\n")[1]
    lines = re.findall(r"^  (?:echo .* \| )?structlearn (.*)$", last, re.MULTILINE)
    assert len(lines) == 2
    for line in lines:
        assert f"structlearn {line}".startswith(command)
        arguments = shlex.split(line)
        if arguments[-1] == "--help":
            assert " ".join(["structlearn", *arguments[:-1]]) in PARSERS
        else:
            assert callable(make_parser(COMMANDS).parse_args(arguments).command)


def test_examples_are_those_of_commands():
    assert set(EXAMPLES) == set(PARSERS)


@pytest.fixture
def written(tmp_path):
    """Return a function that writes some columns of a small treebank."""

    def write(n_columns):
        rows = [zip(s.words, s.tags, s.chunks, strict=True) for s in make_treebank(30)]
        kept = [[(*row[: n_columns - 1], row[-1]) for row in sentence] for sentence in rows]
        path = tmp_path / f"{n_columns}.txt"
        path.write_text("\n".join("".join(" ".join(t) + "\n" for t in s) for s in kept))
        return str(path)

    return write


@pytest.mark.parametrize("n_columns", [2, 3])
@pytest.mark.parametrize(("task", "preset"), [("pos", "pos"), ("chunks", "chunk"), ("ner", "ner")])
def test_named_taggers_are_taggers_with_a_preset(task, preset, n_columns, written, tmp_path):
    train = written(n_columns)
    named, plain = tmp_path / "named.model", tmp_path / "plain.model"
    quick = ["--max-iter", "2", "--n-models", "1", "--quiet"]
    assert run(["train", task, train, "--model", str(named), *quick]) == 0
    more = ["--features", preset]
    assert run(["train", "tagger", train, "--model", str(plain), *more, *quick]) == 0
    assert named.read_bytes() == plain.read_bytes()
    model = structlearn.load(named)
    assert model.model_.order == (2 if preset == "ner" else 1)
    reads_tags = "pos" in model.model_.templates.columns()
    assert reads_tags == (preset != "pos" and n_columns == 3)
    assert run(["train", task, train, "--model", str(plain), "--start", str(named), *quick]) == 0


def test_named_taggers_take_other_features(written, tmp_path):
    model = tmp_path / "a.model"
    options = ["--features", "none", "--max-iter", "1", "--quiet"]
    assert run(["train", "ner", written(3), "--model", str(model), *options]) == 0
    assert structlearn.load(model).model_.templates.columns() == []


def test_presets_without_tags_stream(written, tmp_path):
    model = tmp_path / "a.model"
    options = ["--stream", "--max-iter", "1", "--quiet"]
    assert run(["train", "ner", written(2), "--model", str(model), *options]) == 0
    assert structlearn.load(model).model_.templates.columns() == ["word"]


@pytest.mark.parametrize(
    ("arguments", "prog"),
    [([], "structlearn"), (["train", "ner", "a.txt"], "structlearn train ner")],
)
def test_errors_name_the_help(arguments, prog, capsys):
    with pytest.raises(SystemExit, match="2"):
        run(arguments)
    assert f"({prog} --help shows examples)" in capsys.readouterr().err
