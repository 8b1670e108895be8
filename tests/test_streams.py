"""Nobody reads what is said about the work: streams that are closed, broken or full.

Progress that cannot be written does not end the work. Results that cannot be written are an error,
unless their reader has seen enough.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import structlearn
from structlearn.cli import run

ROWS = [{"tokens": ["the", "fish", "sleep"], "tags": ["D", "N", "V"]}] * 20
TRAIN = ["train", "tagger", "t.jsonl", "--dev", "t.jsonl", "--max-iter", "3", "--model", "m"]
FULL = os.path.exists("/dev/full")


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("streams")
    text = "".join(json.dumps(row) + "\n" for row in ROWS)
    (folder / "t.jsonl").write_text(text)
    (folder / "long.jsonl").write_text(text * 100)
    options = ["--max-iter", "1", "--quiet", "--model", str(folder / "old")]
    assert run(["train", "tagger", str(folder / "t.jsonl"), *options]) == 0
    return folder


def broken():
    """Return the end of a pipe that nobody reads."""
    end, writing = os.pipe()
    os.close(end)
    return writing


def call(home, arguments, stdout=None, stderr=None):
    """Run a command; a stream is "closed", "broken", "full", or None: it is read."""
    streams = {}
    opened = []
    for name, kind in (("stdout", stdout), ("stderr", stderr)):
        streams[name] = subprocess.PIPE
        if kind in ("broken", "full"):
            opened.append(broken() if kind == "broken" else os.open("/dev/full", os.O_WRONLY))
            streams[name] = opened[-1]
    closed = "".join(f" {n}>&-" for n, kind in ((1, stdout), (2, stderr)) if kind == "closed")
    command = [sys.executable, "-m", "structlearn", *arguments]
    if closed:
        command = ["sh", "-c", f'exec "$@"{closed}', "sh", *command]
    done = subprocess.run(command, cwd=home, check=False, timeout=120, **streams)
    for handle in opened:
        os.close(handle)
    return done.returncode, done.stdout or b"", done.stderr or b""


KINDS = ["broken", "closed", pytest.param("full", marks=pytest.mark.skipif(not FULL, reason="no"))]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("streams", [("stderr",), ("stdout",), ("stdout", "stderr")])
def test_training_goes_on(home, kind, streams):
    (home / "m").unlink(missing_ok=True)
    code, out, err = call(home, TRAIN, **dict.fromkeys(streams, kind))
    assert (code, out) == (0, b"")
    assert structlearn.load(home / "m").predict([["the", "fish"]]) == [["D", "N"]]
    assert (b"saved m" in err) == ("stderr" not in streams)


@pytest.mark.parametrize("kind", KINDS)
def test_files_are_written(home, kind):
    both = {"stdout": kind, "stderr": kind}
    for path in ("out.jsonl", "page.html"):
        (home / path).unlink(missing_ok=True)
    code, _, _ = call(home, ["predict", "old", "t.jsonl", "--output", "out.jsonl"], **both)
    rows = [json.loads(line) for line in (home / "out.jsonl").read_text().splitlines()]
    assert (code, rows) == (0, ROWS)
    # The page is written although the scores are not read.
    code, _, _ = call(home, ["evaluate", "old", "t.jsonl", "--html", "page.html"], **both)
    assert (home / "page.html").read_text().endswith("</html>\n")
    assert code == (0 if kind == "broken" else 1)


@pytest.mark.parametrize(
    "arguments",
    [
        ["predict", "old", "t.jsonl"],
        ["predict", "old", "long.jsonl"],
        ["evaluate", "old", "t.jsonl"],
        ["inspect", "old"],
        ["demo", "--sentences", "50"],
    ],
)
def test_results_without_a_reader(home, arguments):
    """Whoever closes the pipe has seen enough; a disk that is full or no stream is an error."""
    code, _, err = call(home, arguments, stdout="broken")
    assert code == 0
    assert b"rror" not in err
    assert b"roken" not in err
    for kind in ["closed", *(["full"] if FULL else [])]:
        code, _, err = call(home, arguments, stdout=kind)
        assert code == 1
        assert b"structlearn: standard output: " in err
        assert b"Traceback" not in err


def test_notes_never_go_to_the_results(home):
    """Without standard error a line of progress must not stand among the labels."""
    code, out, _ = call(home, ["predict", "old", "t.jsonl"], stderr="closed")
    assert code == 0
    assert [json.loads(line) for line in out.splitlines()] == ROWS


def test_standard_input_that_is_closed(home):
    command = [sys.executable, "-m", "structlearn", "predict", "old", "-", "--format", "text"]
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *command],
        cwd=home, capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith(b"structlearn: standard input: ")


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_help_without_a_reader(home, monkeypatch, unbuffered):
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    assert call(home, ["--help"], stdout="broken") == (0, b"", b"")


def test_a_pipe_through_head(home):
    """The way that it happens: train 2>&1 | head."""
    (home / "m").unlink(missing_ok=True)
    train = " ".join([f"{sys.executable} -m structlearn", *TRAIN])
    shell = f"{{ {train}; echo $? > code; }} 2>&1 | head -n 1"
    subprocess.run(["sh", "-c", shell], cwd=home, check=True, capture_output=True, timeout=120)
    assert (home / "code").read_text().strip() == "0"
    assert (home / "m").exists()
