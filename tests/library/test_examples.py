"""The programs of the examples, in C and in Python, print the same; the header is C."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from structlearn.tasks import Tagger
from tests.library.conftest import LIBRARY, ROOT
from tests.library.test_answers import trained

TEXT = "Fish sleep .\n\nThe old fish\n"


def test_both_programs(library, tmp_path):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    model = str(tmp_path / "tags.model")
    trained(templates="word\nsuffix(word, 1..2)", learner="crf").save(model)
    program = str(tmp_path / "label")
    command = [
        compiler, "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic",
        "-I", str(ROOT / "native/library"), str(ROOT / "examples/library/label.c"),
        str(LIBRARY), f"-Wl,-rpath,{LIBRARY.parent}", "-o", program,
    ]  # fmt: skip
    subprocess.run(command, check=True)
    python = [sys.executable, str(ROOT / "examples/library/label.py"), str(LIBRARY)]

    def printed(command, path=model):
        ended = subprocess.run([*command, path], input=TEXT, capture_output=True, text=True)
        return ended.returncode, ended.stdout, ended.stderr

    assert printed([program]) == printed(python)
    twin = Tagger.load(model)
    rows = [row.split("\t") for row in printed([program])[1].splitlines() if row]
    expected = [k for line in TEXT.splitlines() if line for k in twin.predict([line.split()])[0]]
    assert [row[1] for row in rows] == expected
    for command in ([program], python):
        code, out, err = printed(command, "/nowhere/x")
        assert (code, out) == (1, "")
        assert err.startswith("label: /nowhere/x: ")
