"""Files read plainly, compressed, from pipes and in pieces; files written whole or not at all."""

from __future__ import annotations

import gzip
import os
import threading

import pytest

from structlearn.text import read_corpus
from structlearn.text.files import open_bytes, pieces, read_bytes

TEXT = b"fish N\n\nsleep V\n"


# -- reading ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["x.gz", "x.txt"])
def test_compressed_files_by_content(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(gzip.compress(TEXT))
    assert read_bytes(path) == TEXT
    assert list(read_corpus(path)[1]) == [("sleep", "V")]
    path.write_bytes(TEXT)  # not compressed, whatever its name
    assert read_bytes(path) == TEXT


def open_files():
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="no /proc/self/fd here")
def test_files_are_closed(tmp_path):
    path = tmp_path / "x"
    for data in (TEXT, gzip.compress(TEXT), gzip.compress(TEXT)[:-4]):
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
@pytest.mark.parametrize("data", [TEXT, gzip.compress(TEXT)])
def test_pipes(tmp_path, data):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(data,))
    writer.start()
    try:
        assert read_bytes(path) == TEXT
    finally:
        writer.join()
