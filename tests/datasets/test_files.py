"""The made treebank as files: read again, they are what it was."""

import gzip

import pytest

from structlearn.cli import run
from structlearn.datasets import make_treebank, write_treebank
from structlearn.exceptions import FileError
from structlearn.text import read_corpus


def test_files_hold_the_treebank(tmp_path):
    names = write_treebank(tmp_path, 40, random_state=3)
    assert names == sorted(p.name for p in tmp_path.iterdir())
    bank = make_treebank(40, random_state=3)
    parts = {"train": bank[:28], "dev": bank[28:34], "test": bank[34:]}
    for name, part in parts.items():
        rows = [list(zip(s.words, s.tags, s.chunks, strict=True)) for s in part]
        assert [list(s) for s in read_corpus(tmp_path / f"{name}.txt")] == rows
        trees = read_corpus(tmp_path / f"{name}.conllu")
        for column, field in (("form", "words"), ("xpos", "tags"), ("deprel", "deprels")):
            assert trees.column(column) == [list(getattr(s, field)) for s in part]
        assert trees.column("head") == [[str(h) for h in s.heads] for s in part]
        brackets = (tmp_path / f"{name}.mrg").read_text()
        assert brackets.splitlines() == [s.brackets for s in part]
        assert gzip.decompress((tmp_path / f"{name}.mrg.gz").read_bytes()).decode() == brackets
    text = (tmp_path / "text.txt").read_text().splitlines()
    assert [line.split() for line in text] == [list(s.words) for s in parts["test"]]


def test_files_of_users_are_kept(tmp_path):
    (tmp_path / "train.txt").write_text("mine\n")
    with pytest.raises(FileError, match=r"train\.txt: exists already"):
        write_treebank(tmp_path, 20)
    assert [p.name for p in tmp_path.iterdir()] == ["train.txt"]
    assert (tmp_path / "train.txt").read_text() == "mine\n"


def test_command_writes_them_twice(tmp_path, capsys):
    for _ in range(2):
        assert run(["demo", "--files", str(tmp_path / "data"), "--sentences", "50"]) == 0
    assert "train.conllu" in capsys.readouterr().out
    assert (tmp_path / "data" / "train.conllu").exists()
