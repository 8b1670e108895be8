"""``structlearn label`` as a process: what it asks, what it refuses, what it leaves."""

import http.client
import json
import signal
import subprocess
import sys

import pytest

from structlearn.cli import run
from structlearn.tasks import Tagger
from structlearn.workbench.local_server import HEADER

from .addresses import make_addresses


def rows(addresses):
    return "".join(json.dumps({"text": t, "spans": s}) + "\n" for t, s in addresses)


class Page:
    """The command, running; ``ask`` asks its server."""

    def __init__(self, folder, *arguments):
        command = [sys.executable, "-m", "structlearn", "label", *arguments, "--no-browser"]
        self.process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        link = self.process.stdout.readline()
        assert link, self.process.stderr.read()
        address, self.token = link.strip().split("/?token=")
        self.connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=30)

    def ask(self, name, **values):
        body = json.dumps({"tab": "one", **values})
        self.connection.request("POST", f"/api/{name}", body, {HEADER: self.token})
        return json.loads(self.connection.getresponse().read())

    def end(self):
        self.connection.close()
        self.process.send_signal(signal.SIGINT)
        _, said = self.process.communicate(timeout=120)
        return self.process.returncode, said


def test_a_review_asks_for_planted_mistakes_and_leaves_the_model(tmp_path):
    learned = [{"text": t, "spans": s} for t, s in make_addresses(100, seed=1)]
    model = tmp_path / "m.model"
    Tagger("auto", learner="crf", scheme="bio").fit(learned).save(model)
    before = model.read_bytes()
    gold = make_addresses(30, seed=1)
    text, spans = gold[7]
    gold[7] = text, spans[:-1]
    (tmp_path / "gold.jsonl").write_text(rows(gold))
    page = Page(tmp_path, "gold.jsonl", "--review", "--model", "m.model", "--data", "mended.jsonl")
    state = page.ask("state")
    assert state["review"]
    assert state["texts"] == 1
    given = page.ask("next")
    assert [one["who"] for one in given["versions"]] == ["gold", "model"]
    assert given["labels"] == given["versions"][0]["labels"]
    right = given["versions"][1]["labels"]
    saved = page.ask("answer", number=0, revision=0, verdict="accept", labels=right)
    assert saved["saved"]
    assert page.ask("next") == {"done": True}
    assert "writes no model" in page.ask("finish")["error"]
    code, _ = page.end()
    assert code == 0
    mended = json.loads((tmp_path / "mended.jsonl").read_text())
    assert mended["text"] == text
    assert mended["spans"] == spans
    assert model.read_bytes() == before


def test_annotators_are_shown_and_their_labels_known(tmp_path):
    told = [
        {"tokens": ["a", "b"], "tags": ["X", "Y"], "who": "ann"},
        {"tokens": ["a", "b"], "tags": ["X", "Z"], "who": "bob"},
    ]
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(one) + "\n" for one in told))
    page = Page(tmp_path, "answers.jsonl", "--review", "--annotator", "who", "--kind", "tags",
                "--model", "m.model")  # fmt: skip
    assert page.ask("state")["labels"] == ["X", "Y", "Z"]
    given = page.ask("next")
    assert [one["who"] for one in given["versions"]] == ["most", "ann", "bob"]
    page.ask("answer", number=0, revision=0, verdict="accept", labels=["X", "Z"])
    code, said = page.end()
    assert code == 0
    assert "saved m.model" in said
    assert json.loads((tmp_path / "labels.jsonl").read_text())["tags"] == ["X", "Z"]


def test_a_second_page_on_the_file_is_refused(tmp_path, capsys, monkeypatch):
    (tmp_path / "texts.txt").write_text("Ann sleeps\nBob reads\n")
    page = Page(tmp_path, "texts.txt", "--labels", "PER", "--model", "m.model")
    monkeypatch.chdir(tmp_path)
    assert run(["label", "texts.txt", "--model", "m.model", "--no-browser"]) == 1
    assert "another page writes this file" in capsys.readouterr().err
    assert page.ask("state")["texts"] == 2  # lines of two words are no columns
    code, _ = page.end()
    assert code == 0
    assert not (tmp_path / "m.model").exists()  # nothing was answered


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["no.txt", "--model", "m"], "no.txt"),
        (["texts.txt", "--model", "no/m"], "does not exist"),
        (["texts.txt", "--model", "texts.txt"], "three files"),
        (["texts.txt", "--model", "."], "this is a folder"),
        (["texts.txt", "--model", "m", "--labels", "a b"], "cannot be a label"),
        (["texts.txt", "--model", "m", "--constraint", "x("], "constraint"),
        (["texts.txt", "--model", "m", "--tokens", "("], "tokens must be"),
        (["texts.txt", "--model", "m", "--annotator", "who"], "goes with --review"),
        (["texts.txt", "--model", "m", "--review"], "m"),
        (["empty.txt", "--model", "m"], "there are no texts"),
        (["texts.txt", "--model", "m", "--data", "no/labels.jsonl"], "labels.jsonl"),
        (["texts.txt", "--model", "m", "--port", "99999"], "at most 65535"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, capsys, monkeypatch, arguments, said):
    (tmp_path / "texts.txt").write_text("Ann sleeps\nBob reads\n")
    (tmp_path / "empty.txt").write_text("\n\n")
    monkeypatch.chdir(tmp_path)
    assert run(["label", *arguments, "--no-browser"]) == 1
    error = capsys.readouterr().err
    assert said in error
    assert "Traceback" not in error
    assert not (tmp_path / "m").exists()


def test_constraints_of_the_command_line_are_kept(tmp_path):
    (tmp_path / "texts.txt").write_text("Ann sleeps\nBob reads\nBob reads\n")
    page = Page(tmp_path, "texts.txt", "--labels", "PER", "--model", "m.model",
                "--constraint", "at_most(1, Chunk(PER))")  # fmt: skip
    assert page.ask("state")["constraints"] == "at_most(1, Chunk('PER'))"
    page.ask("answer", number=0, revision=0, verdict="accept", labels=["B-PER", "O"])
    code, said = page.end()
    assert code == 0
    assert "as empty or equal to an earlier text: 1" in said
    assert "at_most" in said
    assert (tmp_path / "m.model").exists()
