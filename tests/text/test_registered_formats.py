"""Formats of other packages: registered, then guessed, read and labelled as ours are."""

import inspect
import os
import subprocess
import sys

import pytest

from structlearn.exceptions import FileError, LineError
from structlearn.tasks import Tagger
from structlearn.text import Format, read_corpus, register
from structlearn.text.formats import FORMATS, guess_format


class Slashes(Format):
    """A sentence on each line, word/tag."""

    name = "slashes"
    called = "slashes"
    extensions = (".pos",)

    @classmethod
    def sniff(cls, head):
        return head.startswith(b"%slashes")

    def read(self, text, line):
        self._sentences = []
        for n, row in enumerate(self._rows(text, line), line + 1):
            tokens = [tuple(token.split("/")) for token in row.split() if token[0] != "%"]
            if any(len(token) != 2 for token in tokens):
                raise LineError(n, "a token is word/tag")
            if tokens:
                self._sentences.append([(n, token) for token in tokens])
        return self._sentences

    def write(self, added, names, place):
        rows = [
            " ".join(f"{cells[0]}/{more[0]}" for (_, cells), more in zip(s, a, strict=True))
            for s, a in zip(self._sentences, added, strict=True)
        ]
        return "".join(f"{row}\n" for row in rows).encode()


@pytest.fixture
def registered():
    yield register(Slashes)
    del FORMATS["slashes"]


def test_a_registered_format_is_guessed_read_and_written(registered, tmp_path):
    path, out = tmp_path / "a.pos", tmp_path / "b.pos"
    path.write_text("fish/N sleep/V\nfish/N\n")
    assert guess_format("x", b"%slashes\n") == guess_format(path, b"") == "slashes"
    corpus = read_corpus(path)
    assert [list(s) for s in corpus] == [[("fish", "N"), ("sleep", "V")], [("fish", "N")]]
    tagger = Tagger("pos", max_iter=5, n_models=1).fit(corpus)
    path.write_text("fish/_ sleep/_\nfish/_\n")
    # Columns are the model's format: the file is converted, and written in its own.
    assert tagger.label_file(path, out) == 3
    assert out.read_text() == "fish/N sleep/V\nfish/N\n"


def test_errors_of_a_registered_format_name_file_and_line(registered, tmp_path):
    path = tmp_path / "a.pos"
    path.write_text("fish/N\nsleep\n")
    with pytest.raises(FileError, match=r"a\.pos, line 2: a token is word/tag"):
        read_corpus(path)


def test_what_cannot_be_registered(registered):
    with pytest.raises(ValueError, match="there is a format 'slashes' already"):
        register(Slashes)
    with pytest.raises(TypeError, match="a subclass of Format"):
        register(str)
    with pytest.raises(ValueError, match="needs a name"):
        register(type("Nameless", (Format,), {}))


def test_formats_of_installed_packages(tmp_path):
    """A package that is installed has a format; the command line knows it by name and by ending."""
    package = tmp_path / "packages"
    info = package / "slashes-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: slashes\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[structlearn.formats]\nbroken = slashes:Missing\nslashes = slashes:Slashes\n"
    )
    source = inspect.getsource(Slashes).replace("LineError(n, ", "ValueError(")
    (package / "slashes.py").write_text(f"from structlearn.text import Format\n\n\n{source}")
    path, model = tmp_path / "a.pos", tmp_path / "m.model"
    path.write_text("fish/N sleep/V\nfish/N\n" * 5)
    environment = {**os.environ, "PYTHONPATH": str(package)}

    def run(*command):
        command = [sys.executable, "-m", "structlearn", *map(str, command)]
        return subprocess.run(command, capture_output=True, text=True, env=environment)

    for named in ((), ("--format", "slashes")):
        made = run("train", "pos", path, "--model", model, "--n-models", 1, *named)
        assert made.returncode == 0, made.stderr
        assert "'broken' of the package 'slashes' cannot be used" in made.stderr
    labelled = run("predict", model, path, "--format", "slashes", "--output", tmp_path / "out")
    assert labelled.returncode == 0, labelled.stderr
    assert (tmp_path / "out").read_text() == path.read_text()
    refused = run("predict", model, path, "--format", "slash")
    assert refused.returncode == 2
    assert "there is no 'slash'; did you mean slashes?" in refused.stderr
