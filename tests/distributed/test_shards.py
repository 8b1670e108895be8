"""How a corpus is cut, and how errors find the way back to the file."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from structlearn.distributed.arrays import example_shards
from structlearn.distributed.shards import file_shards, find_files, list_shards
from structlearn.exceptions import FileError
from structlearn.text.corpus import corpus_of

TEXT = "\n\n".join(f"word{i}\tA\nend{i}\tB" for i in range(40)) + "\n\n"


def words(shards: list) -> list[str]:
    found = []
    for shard in shards:
        corpus = corpus_of(shard.name, shard.text(), "columns")
        found += [word for sentence in corpus.column(0) for word in sentence]
    return found


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("size", [30, 100, 333, 10_000])
def test_shards_make_up_the_file(tmp_path: Path, compressed: bool, size: int) -> None:
    path = tmp_path / "corpus.txt"
    path.write_bytes(gzip.compress(TEXT.encode()) if compressed else TEXT.encode())
    shards = file_shards([str(path)], "columns", size)
    whole = corpus_of(str(path), TEXT.encode(), "columns")
    assert words(shards) == [word for sentence in whole.column(0) for word in sentence]
    if size < 400:
        assert len(shards) > 1


def test_small_files_share_a_shard(tmp_path: Path) -> None:
    for k in range(6):
        (tmp_path / f"{k}.txt").write_text(f"a{k}\tA\n\nb{k}\tB\n")
    shards = file_shards(find_files(str(tmp_path / "*.txt")), "columns", 30)
    assert 1 < len(shards) < 6
    assert words(shards) == [f"{letter}{k}" for k in range(6) for letter in "ab"]


def test_errors_name_the_line_of_the_file(tmp_path: Path) -> None:
    good, bad = tmp_path / "1.txt", tmp_path / "2.txt"
    good.write_text("a\tA\n\nb\tB\n")
    bad.write_text("c\tC\n\nd\n\n")
    (joined,) = file_shards([str(good), str(bad)], "columns", 1000)
    with pytest.raises(FileError) as raised:
        corpus_of(joined.name, joined.text(), "columns")
    error = joined.in_file(raised.value)
    assert (error.path, error.line) == (str(bad), 3)
    long = tmp_path / "long.txt"
    long.write_text(TEXT + "wrong\n")
    last = file_shards([str(long)], "columns", 100)[-1]
    with pytest.raises(FileError) as raised:
        corpus_of(last.name, last.text(), "columns")
    error = last.in_file(raised.value)
    assert (error.path, error.line) == (str(long), TEXT.count("\n") + 1)


def test_files_and_lists() -> None:
    with pytest.raises(FileError, match="no such file"):
        find_files("/nowhere/*.txt")
    shards = list_shards(list(range(10)), 3)
    assert [shard.examples() for shard in shards] == [[0, 1, 2], [3, 4, 5], [6, 7, 8, 9]]
    with pytest.raises(ValueError, match="no examples"):
        list_shards([])


@pytest.mark.parametrize("size", [None, 100])
def test_files_without_text_are_left_out(tmp_path: Path, size: int | None) -> None:
    """Whether they share a shard with others or would be one of their own."""
    for name, text in (("0", TEXT), ("1", ""), ("2", "\n \n"), ("4", TEXT)):
        (tmp_path / f"{name}.txt").write_text(text)
    (tmp_path / "3.txt").write_bytes(gzip.compress(b""))
    files = find_files(str(tmp_path))
    shards = file_shards(files, "columns", size)
    assert {piece.path for shard in shards for piece in shard.pieces} == {files[0], files[4]}
    with pytest.raises(FileError, match="nothing in the files"):
        file_shards(files[1:4], "columns", size)


def test_examples_are_cut_by_their_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("structlearn.distributed.shards.SHARD_BYTES", 1 << 20)
    X = [np.zeros((100, 128)) for _ in range(200)]  # 20 MB
    y = [[0] * 100] * 200
    assert 19 <= len(example_shards(X, y, None, None)) <= 21
    assert 19 <= len(list_shards(X)) <= 21
    table = np.zeros((2000, 1280))
    assert 19 <= len(example_shards(table, np.zeros(2000), None, None)) <= 21
    assert len(example_shards(table, np.zeros(2000), None, 3)) == 3
    sparse = csr_matrix(np.ones((2000, 1280)))
    parts = example_shards(sparse, np.arange(2000), None, 3)
    assert [shard.examples()[0].shape[0] for shard in parts] == [666, 667, 667]
    assert np.concatenate([shard.examples()[1] for shard in parts]).tolist() == list(range(2000))
