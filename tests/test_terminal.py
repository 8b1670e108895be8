"""Labels, words and names of files from outside never reach a terminal or a page as controls.

A label could otherwise clear the screen, set the title of the window, or make a line that looks
like one of ours.
"""

from __future__ import annotations

import ast
import json
import os
import pathlib
import re
import sys
import threading
import time
import tty

import pytest

import structlearn
from structlearn import cli
from structlearn.drawing.page import Page
from structlearn.meter import Meter, say
from structlearn.printing import escape, visible
from structlearn.tasks import ConstituencyParser, DependencyParser, SegmentTagger, Tagger
from structlearn.text.trees import Tree
from tests.io.image_folders import folder, shapes
from tests.tasks.pipeline.small_treebank import conllu as conllu_text

SOURCE = pathlib.Path(structlearn.__file__).parent
#: A title of the window, colours in 7 and in 8 bits, the cursor back, the direction of text.
CONTROLS = "\x1b]0;pwn\x07\x1b[31m\x9b31m\x08\x7f\u202e"
#: The same, with the end of a line.
EVIL = f"{CONTROLS}\nFORGED"


def check_shown(text, forged=True):
    """No controls but the ends of lines and tabs, and no line that begins with foreign text."""
    assert text == visible(text, lines=True)
    assert not forged or not any(line.startswith("FORGED") for line in text.split("\n"))


@pytest.fixture
def terminal(monkeypatch, tmp_path):
    """Run a command whose streams are a terminal; return what it shows and its exit code."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        master, slave = os.openpty()
        tty.setraw(slave)
        shown = []

        def read():
            while True:
                try:
                    shown.append(os.read(master, 65536))
                except OSError:
                    return

        reader = threading.Thread(target=read)
        reader.start()
        with open(slave, "w", encoding="utf-8") as stream, monkeypatch.context() as patched:
            patched.setattr(sys, "stdout", stream)
            patched.setattr(sys, "stderr", stream)
            try:
                code = cli.run(list(arguments))
            except SystemExit as end:
                code = end.code
        reader.join()
        os.close(master)
        return b"".join(shown).decode(), code

    return call


def json_lines(rows):
    sentences = ({"tokens": [w for w, _ in s], "tags": [k for _, k in s]} for s in rows)
    return "".join(json.dumps(one) + "\n" for one in sentences)


def conllu(rows):
    lines = []
    for row in rows:
        for i, (word, tag, head, relation) in enumerate(row, 1):
            cells = [str(i), word, "_", tag, tag, "_", str(head), relation, "_", "_"]
            lines.append("\t".join(cells))
        lines.append("")
    return "\n".join(lines) + "\n"


TAGGED = [[(f"the{EVIL}", f"D{EVIL}"), ("fish", "N")], [("fish", f"D{EVIL}"), (EVIL, "N")]] * 4
CHUNKED = [[(w, f"B-{k}") for w, k in row] for row in TAGGED]
PARSED = [
    [(f"the{CONTROLS}", f"D{CONTROLS}", 2, f"det{CONTROLS}"), ("fish", "N", 0, "root")],
    [("fish", "N", 0, "root"), (f"swim{CONTROLS}", "V", 1, f"a{CONTROLS}")],
] * 4
TREES = [
    Tree(
        "S",
        [
            Tree(f"NP{CONTROLS}", [Tree(f"D{CONTROLS}", word="the"), Tree("N", word="fish")]),
            Tree("VP", [Tree("V", word=f"swim{CONTROLS}")]),
        ],
    )
] * 4


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """Models of labels with controls, in files whose names have them too."""
    folder = tmp_path_factory.mktemp("models")
    tasks = {
        "tagger": Tagger("pos", max_iter=2, n_models=1).fit(TAGGED),
        "hmm": Tagger(learner="hmm").fit(TAGGED),
        "segments": SegmentTagger(max_iter=2).fit(CHUNKED),
        "parser": DependencyParser(1, max_iter=1, hash_bits=10, folds=2).fit(PARSED),
        "constituency": ConstituencyParser(max_iter=1, folds=2).fit(TREES),
    }
    paths = {name: str(folder / f"{name}{EVIL}.model") for name in tasks}
    for name, task in tasks.items():
        task.save(paths[name])
    texts = {
        "tagger": json_lines(TAGGED),
        "hmm": json_lines(TAGGED),
        "segments": json_lines(CHUNKED),
        "parser": conllu(PARSED),
        "constituency": "".join(f"{tree}\n" for tree in TREES),
    }
    endings = {"parser": "conllu", "constituency": "mrg"}
    gold = {}
    for name, text in texts.items():
        path = folder / f"{name}{EVIL}.{endings.get(name, 'jsonl')}"
        path.write_text(text, newline="")
        gold[name] = str(path)
    return paths, gold


KINDS = ["tagger", "hmm", "segments", "parser", "constituency"]


@pytest.mark.parametrize("kind", KINDS)
def test_evaluate(terminal, models, kind):
    model, gold = (paths[kind] for paths in models)
    more = [] if kind == "constituency" else ["--confusions", "5"]
    shown, code = terminal("evaluate", model, gold, *more, "--html", f"page{EVIL}.html")
    check_shown(shown)
    assert (code, "pwn" in shown) == (0, True)
    check_shown(pathlib.Path(f"page{EVIL}.html").read_text(), forged=False)
    shown, code = terminal("evaluate", model, gold, "--json")
    check_shown(shown)
    assert (code, bool(json.loads(shown.splitlines()[-1]))) == (0, True)


@pytest.mark.parametrize("kind", KINDS)
def test_inspect(terminal, models, kind):
    model, gold = (paths[kind] for paths in models)
    for more in ([], [gold], ["--sentence", f"the {CONTROLS}"]):
        shown, code = terminal("inspect", model, *more)
        check_shown(shown)
        assert (code, "pwn" in shown) == (0, True)
    shown, code = terminal("inspect", model, gold, "--html", f"page{EVIL}.html")
    check_shown(shown)
    page = pathlib.Path(f"page{EVIL}.html").read_text()
    check_shown(page, forged=False)
    assert "pwn" in page


@pytest.mark.parametrize("kind", KINDS)
def test_predict(terminal, models, kind):
    model, gold = (paths[kind] for paths in models)
    shown, code = terminal("predict", model, gold)
    check_shown(shown)
    assert (code, "pwn" in shown) == (0, True)
    shown, _ = terminal("predict", model, gold, "--output", f"out{EVIL}.txt")
    check_shown(shown)
    # Data in files stay as they are.
    assert "\x1b" in pathlib.Path(f"out{EVIL}.txt").read_text().replace("\\u001b", "\x1b")


@pytest.mark.parametrize(
    ("task", "kind"), [("tagger", "tagger"), ("segments", "segments"), ("parser", "parser"),
                       ("constituency", "constituency")]
)  # fmt: skip
def test_train(terminal, models, task, kind):
    gold = models[1][kind]
    quick = ["--max-iter", "1"]
    if kind == "parser":
        quick += ["--hash-bits", "10", "--folds", "2"]
    shown, code = terminal("train", task, gold, "--dev", gold, *quick, "--model", f"m{EVIL}")
    check_shown(shown)
    assert (code, "saved m" in shown) == (0, True)


@pytest.mark.parametrize(
    ("name", "text", "command"),
    [
        ("x.txt", f"a{CONTROLS}b\tN\tx\nb\tN\n\n", ["train", "tagger", "FILE", "--model", "z"]),
        ("x.txt", f"a\tB-{CONTROLS}X\nb\tI-Y\n\n", ["train", "ner", "FILE", "--model", "z"]),
        ("x.conllu", "1\ta\tb\tN\t_\t_\tHEAD\troot\t_\t_\n\n".replace("HEAD", CONTROLS),
         ["train", "parser", "FILE", "--model", "z", "--gold-tags"]),
        ("x.csv", f"{CONTROLS},b\nc,d\n", ["train", "tagger", "FILE", "--model", "z"]),
        ("x.jsonl", json.dumps({EVIL: [1.5]}), ["train", "tagger", "FILE", "--model", "z"]),
        ("x.jsonl", json.dumps({"tokens": ["a"], EVIL: [1.5]}), ["predict", "MODEL", "FILE"]),
        ("x.txt", "", ["train", "tagger", "FILE", "--model", "z"]),
        ("x.txt", "a b\n", ["train", "tagger", f"missing{EVIL}", "--model", "z"]),
        ("x.txt", "a b\n", ["train", "tagger", "FILE", f"--{EVIL}", "--model", "z"]),
        ("x.txt", "a b\n", [EVIL, "FILE"]),
        ("x.txt", "a b\n", ["predict", "FILE", "FILE"]),
        ("x.txt", "a b\n", ["predict", "MODEL", "FILE", "--format", EVIL]),
        ("x.txt", "a b\n", ["inspect", "MODEL", "--label", EVIL[:5]]),
        ("x.txt", f"({CONTROLS} (a b)\n", ["train", "constituency", "FILE", "--model", "z"]),
        ("x.txt", f"word[{CONTROLS}]\n",
         ["train", "tagger", "GOLD", "--features", "FILE", "--model", "z"]),
        ("x.txt", "fish\n", ["predict", "MODEL", "FILE", "--format", "columns"]),
    ],
)  # fmt: skip
def test_errors(terminal, models, tmp_path, name, text, command):
    path = tmp_path / f"{EVIL}{name}"
    path.write_text(text, newline="")
    places = {"FILE": str(path), "MODEL": models[0]["tagger"], "GOLD": models[1]["tagger"]}
    shown, code = terminal(*(places.get(word, word) for word in command))
    check_shown(shown)
    assert (code != 0 or "ner" in command, "pwn" in shown) == (True, True)


def test_images(terminal, tmp_path):
    """Names of classes are foreign too."""
    folder(tmp_path / "train", shapes(3), [0, 0, 0, 200, 0, 0, 0, 0, 200])
    names = tmp_path / "names.json"
    names.write_text(json.dumps([EVIL, f"b{EVIL}", "c"]))
    commands = [
        [
            "train",
            "segmenter",
            "train",
            "--max-iter",
            "1",
            "--classes",
            "names.json",
            "--model",
            "m",
        ],
        ["evaluate", "m", "train", "--confusions", "2"],
        ["evaluate", "m", "train", "--json"],
        ["inspect", "m"],
        ["inspect", "m", "train"],
        ["inspect", "m", "train", "--html", "page.html"],
        ["predict", "m", "train", "--output", f"out{EVIL}"],
    ]
    for command in commands:
        shown, code = terminal(*command)
        check_shown(shown)
        assert code == 0, shown
    page = (tmp_path / "page.html").read_text()
    check_shown(page, forged=False)
    assert "pwn" in page


def test_pipelines(terminal, tmp_path):
    (tmp_path / "train.conllu").write_text(conllu_text(30).replace("cat", f"cat{CONTROLS}"))
    (tmp_path / "text.txt").write_text(f"The cat{CONTROLS} sees {CONTROLS} a dog.\n")
    train = ["train", "pipeline", "train.conllu", "--folds", "2", "--n-models", "1"]
    commands = [
        [*train, "--hash-bits", "12", "--model", "m"],
        ["evaluate", "m", "train.conllu"],
        ["inspect", "m"],
        *(["annotate", "m", "text.txt", "--format", f] for f in ("conllu", "json", "html", "text")),
        ["annotate", "m", f"missing{EVIL}"],
    ]
    for command in commands:
        shown, _ = terminal(*command)
        check_shown(shown)
    terminal("annotate", "m", "text.txt", "--format", "html", "--output", "page.html")
    page = (tmp_path / "page.html").read_text()
    check_shown(page, forged=False)
    assert "pwn" in page


def test_the_bar_shows_no_controls_but_its_own(terminal, models, monkeypatch):
    """With names of files and lines about the work, above the bar and beside it."""
    monkeypatch.setattr(Meter, "delay", 0.0)
    monkeypatch.setenv("COLUMNS", "200")

    def work(_):
        with Meter(f"reading {EVIL}", 2) as meter:
            while meter.bar is None:
                time.sleep(0.01)
            say(f"line {EVIL}")
            meter.note(1, f"half {EVIL}")
            meter.bar.refresh()
        return 0

    monkeypatch.setitem(cli.COMMANDS, "inspect", work)
    shown, _ = terminal("inspect", models[0]["tagger"])
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown).replace("\r", "")
    for word in ("reading", "line", "half"):
        assert f"{word} {visible(EVIL)}" in plain
    check_shown(plain)
    assert "\x1b[31m" not in shown


def test_pages_and_pictures():
    page = Page(EVIL, EVIL, [(EVIL, EVIL)])
    page.section(EVIL, escape(EVIL))
    check_shown(page.html(), forged=False)
    tree = DependencyParser(1, max_iter=1, hash_bits=10, folds=2).fit(PARSED).predict(["a b"])[0]
    tree.words[:] = [EVIL, EVIL]
    check_shown(tree.draw().svg, forged=False)
    check_shown(str(tree))
    check_shown(TREES[0].draw().svg, forged=False)


def test_one_character_for_one():
    text = "".join(map(chr, range(0x300))) + "\u2028\u202e\ud800"
    shown = visible(text)
    assert len(shown) == len(text)
    assert shown.isprintable() or set(shown) - {"\xa0", "\xad"} == {
        c for c in shown if c.isprintable()
    }
    assert shown.encode()
    assert visible("a\tb\nc\r", lines=True) == "a\tb\nc␍"


# -- nothing goes another way ---------------------------------------------------------------------


def test_everything_goes_through_one_module():
    """``structlearn.printing`` writes to the streams of the process and escapes HTML."""
    wrong = []
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text()
        # Most modules have none of these words.
        if path.name == "printing.py" or not re.search(r"\bprint\(|sys\.std(out|err)|html", text):
            continue
        for node in ast.walk(ast.parse(text)):
            match node:
                case ast.Call(func=ast.Name(id="print")):
                    reason = "print: use put or note"
                case ast.Attribute(value=ast.Name(id="sys"), attr="stdout" | "stderr"):
                    reason = "a stream of the process: use Results or Notes"
                case ast.ImportFrom(module="html"):
                    reason = "html: use printing.escape"
                case _:
                    continue
            wrong.append(f"{path.relative_to(SOURCE)}, line {node.lineno}: {reason}")
    assert wrong == []
