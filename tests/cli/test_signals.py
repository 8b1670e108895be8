"""Ctrl-C on the command line: exit code 130, no traceback, and the old model as it was."""

import os
import signal
import subprocess
import sys

import pytest

from structlearn.cli import run
from structlearn.datasets import make_treebank

#: The command line in a process that says when it has come to a place, and waits there for a
#: signal that comes from outside.
WAITING = """
import sys, time
from structlearn import cli
from structlearn.{folder} import {module} as module

before = {place}
def reached(*arguments, **options):
    print("ready", flush=True)
    time.sleep(30)
    return before(*arguments, **options)
{place} = reached
sys.exit(cli.run(sys.argv[1:]))
"""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    lines = []
    for s in make_treebank(300, random_state=0):
        lines += [*map(" ".join, zip(s.words, s.tags, strict=True)), ""]
    path = tmp_path_factory.mktemp("signals") / "train.txt"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def model(corpus, tmp_path):
    model = tmp_path / "model"
    train = ["train", "tagger", str(corpus), "--max-iter", "1", "--quiet"]
    assert run([*train, "--model", str(model)]) == 0
    return model


def interrupted(child, ready, says="interrupted: no model was written"):
    try:
        assert ready(child)
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=60)
    finally:
        child.kill()
    assert child.returncode == 130
    assert "Traceback" not in err
    assert err.splitlines()[-1] == f"structlearn: {says}"
    return out


def start(*arguments, **options):
    return subprocess.Popen(
        [sys.executable, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


@pytest.mark.parametrize("more", [[], ["--stream"], ["--learner", "crf", "--C", "1e9"]])
def test_while_it_learns(corpus, model, more):
    """The lines of progress say when it is in the midst of it."""
    before = model.read_bytes()
    # Words with two labels each and features of words alone, so that it never ends by itself.
    text = corpus.read_text()
    other, features = model.with_name("both.txt"), model.with_name("templates.txt")
    other.write_text(text + text.replace(" NN\n", " XX\n"))
    features.write_text("word[-1..1]\n")
    train = ["train", "tagger", other, "--model", model, "--max-iter", 10**6, *more]
    train += ["--features", features]
    child = start("-m", "structlearn", *train)
    interrupted(child, lambda c: any("pass   1" in c.stderr.readline() for _ in range(5)))
    assert model.read_bytes() == before
    assert sorted(os.listdir(model.parent)) == ["both.txt", "model", "templates.txt"]


@pytest.mark.parametrize(
    ("folder", "module", "place"),
    [
        ("tasks.tagging", "token_fitting", "module.TokenFitting.problem"),
        ("models", "storage", "module.write_container"),
        ("models", "storage", "sys.modules['os'].fsync"),
        ("models", "storage", "sys.modules['os'].replace"),
    ],
)
def test_before_and_while_it_saves(corpus, model, folder, module, place):
    before = model.read_bytes()
    program = WAITING.format(folder=folder, module=module, place=place)
    train = ["train", "tagger", corpus, "--model", model, "--max-iter", 2, "--quiet"]
    child = start("-c", program, *train)
    interrupted(child, lambda c: c.stdout.readline() == "ready\n")
    assert model.read_bytes() == before
    assert os.listdir(model.parent) == ["model"]


def test_while_it_labels(corpus, model, tmp_path):
    out = tmp_path / "out"
    out.write_text("precious")
    child = start("-m", "structlearn", "predict", model, "-", "--output", out,
                  stdin=subprocess.PIPE)  # fmt: skip
    child.stdin.write(corpus.read_text() * 40)  # more than a piece; the file has no end
    child.stdin.flush()
    interrupted(child, lambda _: True, says="interrupted")
    assert out.read_text() == "precious"
    assert sorted(os.listdir(tmp_path)) == ["model", "out"]


@pytest.mark.parametrize("task", ["parser", "constituency"])
@pytest.mark.parametrize("when", ["while it tags", "while it parses"])
def test_while_parsers_learn(tmp_path, task, when):
    """As taggers: the passes are not written, and an older file stays as it was."""
    bank = make_treebank(300, random_state=0)
    source, model = tmp_path / "train", tmp_path / "model"
    model.write_text("precious")
    if task == "parser":
        rows = []
        for s in bank:
            columns = zip(s.words, s.tags, s.heads, s.deprels, strict=True)
            rows += [
                f"{i}\t{word}\t_\t{tag}\t{tag}\t_\t{head}\t{label}\t_\t_"
                for i, (word, tag, head, label) in enumerate(columns, 1)
            ] + [""]
        source.write_text("\n".join(rows) + "\n")
    else:
        # Trees that cannot all be learned, so that it never ends by itself.
        trees = [s.brackets for s in bank]
        source.write_text("\n".join(trees + [t.replace("(NP", "(XP") for t in trees]) + "\n")
    train = ["train", task, source, "--model", model, "--max-iter", 10**5]
    train += ["--hash-bits", 16] if task == "parser" else []
    first = {"parser": "tags of upos", "constituency": "tagging"}[task]
    if when == "while it parses":
        train.append("--gold-tags")
        first = "pass   1/"
    child = start("-m", "structlearn", *train)
    interrupted(child, lambda c: any(first in c.stderr.readline() for _ in range(6)))
    assert model.read_text() == "precious"
    assert sorted(os.listdir(tmp_path)) == ["model", "train"]
