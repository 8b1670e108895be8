"""Files read plainly, compressed, from pipes and in pieces; files written whole or not at all."""

from __future__ import annotations

import gzip
import os
import stat
import tempfile
import threading
import zlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from structlearn.exceptions import FileError
from structlearn.text import read_corpus
from structlearn.text.files import open_bytes, pieces, read_bytes, replaced
from tests.text.text_strategies import REPEATABLE, column_files

TEXT = b"fish N\n\nsleep V\n"
PACKED = gzip.compress(TEXT, mtime=0)


# -- reading ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["x.gz", "x.txt"])
def test_compressed_files_by_content(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(PACKED)
    assert read_bytes(path) == TEXT
    assert list(read_corpus(path)[1]) == [("sleep", "V")]
    path.write_bytes(TEXT)  # not compressed, whatever its name
    assert read_bytes(path) == TEXT


def open_files():
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="no /proc/self/fd here")
def test_files_are_closed(tmp_path):
    path = tmp_path / "x"
    for data in (TEXT, PACKED, PACKED[:-4]):
        path.write_bytes(data)
        before = open_files()
        with open_bytes(path) as file:
            assert open_files() == before + 1
            file.read(3)
        assert open_files() == before
        taken = pieces(path, 4)
        next(taken)
        taken.close()
        assert open_files() == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize("data", [TEXT, PACKED])
def test_pipes(tmp_path, data):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(data,))
    writer.start()
    try:
        assert read_bytes(path) == TEXT
    finally:
        writer.join()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (gzip.compress(TEXT * 50, mtime=0)[:-9], "Compressed file ended before"),
        (PACKED[:5], "ended before|damaged"),
        (PACKED[:-8] + b"\0" * 8, "CRC check failed"),
        (PACKED[:10] + b"\xff" * 20, "the compressed data is damaged: Error -3"),
        (b"\x1f\x8b", "ended before"),
        (b"\x1f\x8b\x07" + bytes(20), "Unknown compression method"),
    ],
)
def test_damaged_compression(tmp_path, data, message):
    path = tmp_path / "x.gz"
    path.write_bytes(data)
    with pytest.raises(FileError, match=message) as caught:
        read_corpus(path)
    assert str(caught.value).startswith(f"{path}: ")
    with pytest.raises(FileError, match=message):
        list(pieces(path, 7))


def test_every_cut_of_a_compressed_file(tmp_path):
    path = tmp_path / "x.gz"
    whole = PACKED
    for size in range(2, len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(FileError, match=r"x\.gz: "):
            read_bytes(path)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(FileError, match=r"missing: no such file or directory$"):
        read_corpus(tmp_path / "missing")
    with pytest.raises(FileError, match=r"is a directory$"):
        read_corpus(tmp_path)
    with pytest.raises(FileError, match=r"is a directory$"):
        list(pieces(tmp_path, 10))


def test_other_errors_pass_through(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(TEXT)
    with pytest.raises(ZeroDivisionError), open_bytes(path):
        raise ZeroDivisionError
    with pytest.raises(zlib.error):
        zlib.decompress(b"what open_bytes looks for exists")


# -- pieces -------------------------------------------------------------------------------------


def ends_a_sentence(text):
    """Whether the last line of a text is whole and blank."""
    lines = text.split(b"\n")
    return len(lines) > 1 and lines[-1] == b"" and not lines[-2].strip(b" \t\r\f\v")


@REPEATABLE
@given(
    st.one_of(column_files().map(lambda file: file[1]), st.binary(max_size=60)),
    st.integers(1, 50),
    st.booleans(),
)
@example(b"\n", 1, False)
@example(b"a\n \n\nb\n\n\n", 2, False)
def test_pieces_join_to_the_file_and_end_where_sentences_end(data, size, compressed):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x")
        if data[:2] == b"\x1f\x8b":
            data = b"x" + data
        with open(path, "wb") as file:
            file.write(gzip.compress(data) if compressed else data)
        found = list(pieces(path, size))
    assert b"".join(text for text, _ in found) == data
    assert all(text for text, _ in found)
    lines = 0
    for i, (text, before) in enumerate(found):
        assert before == lines
        lines += text.count(b"\n")
        if i + 1 < len(found):
            assert ends_a_sentence(text)
            # Not more than was read to find the end: what was left over, and one block.
            assert len(text) < size + len(data)
    # Only what has no end stays longer than a block; blank lines are joined to what follows.
    for text, _ in found[:-1]:
        blank = len(text) - len(text.lstrip(b"\xef\xbb\xbf\r\n"))
        assert blank < len(text)
        for cut in range(blank + 1, len(text) - size + 1):
            assert not ends_a_sentence(text[:cut]) or len(text) - cut <= size


def test_pieces_are_read_as_they_are_asked_for(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"a\n\n" * 10_000)
    sizes = [len(text) for text, _ in pieces(path, 3000)]
    assert sizes == [3000] * 10


# -- writing ------------------------------------------------------------------------------------


def write(path, data, error=None):
    with replaced(path) as file:
        file.write(data)
        if error is not None:
            raise error


def test_a_file_is_there_when_it_is_whole(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"old")
    os.chmod(path, 0o640)
    with replaced(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["x"]


@pytest.mark.parametrize(
    "error", [ValueError("no"), KeyboardInterrupt(), SystemExit(2), MemoryError(), GeneratorExit()]
)
@pytest.mark.parametrize("there", [True, False])
def test_whatever_happens_the_old_file_stays(tmp_path, error, there):
    path = tmp_path / "x"
    if there:
        path.write_bytes(b"old")
    with pytest.raises(type(error)) as caught:
        write(path, b"half" * 10_000, error)
    assert caught.value is error
    assert os.listdir(tmp_path) == (["x"] if there else [])
    assert not there or path.read_bytes() == b"old"


def test_a_full_disk(tmp_path, monkeypatch):
    path = tmp_path / "x"
    path.write_bytes(b"old")
    with pytest.raises(FileError, match="x: cannot be written: no space left") as caught:
        write(path, b"half", OSError(28, "No space left on device"))
    assert caught.value.path == str(path)
    assert (os.listdir(tmp_path), path.read_bytes()) == (["x"], b"old")

    def full(*_):
        raise OSError(28, "No space left on device")

    for step in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, step, full)
            with pytest.raises(FileError, match="x: cannot be written: no space left"):
                write(path, b"whole")
        assert (os.listdir(tmp_path), path.read_bytes()) == (["x"], b"old")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
def test_a_device_that_is_full():
    with pytest.raises(FileError, match="/dev/full: cannot be written: no space left"):
        write("/dev/full", b"a" * 100_000)
    assert os.path.exists("/dev/full")
    with replaced("/dev/null") as file:
        file.write(b"gone")
    assert not os.path.isfile("/dev/null")


@pytest.mark.parametrize("dangling", [True, False])
def test_links_go_on_pointing(tmp_path, dangling):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    target, link = folder / "target", tmp_path / "link"
    if not dangling:
        target.write_bytes(b"old")
    link.symlink_to(target)
    with replaced(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert os.listdir(folder) == ["target"]


def test_places_that_cannot_be_written(tmp_path):
    with pytest.raises(FileError, match="cannot be written: no such file or directory"):
        write(tmp_path / "no" / "x", b"new")
    with pytest.raises(FileError, match="cannot be written: is a directory"):
        write(tmp_path, b"new")
    assert os.listdir(tmp_path) == []
