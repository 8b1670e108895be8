"""Model files: what is written comes back, other libraries read it, and no damage goes unseen."""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import time
import tracemalloc
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn import _core
from structlearn.exceptions import FileError
from structlearn.io.container import Tensor, read_container, write_container

REPEATABLE = settings(derandomize=True, deadline=None, database=None)
DTYPES = {
    "F64": "<f8", "I64": "<i8", "U64": "<u8", "F32": "<f4", "I32": "<i4", "U32": "<u4",
    "F16": "<f2", "I16": "<i2", "U16": "<u2", "I8": "i1", "U8": "u1",
}  # fmt: skip
DESCRIPTION = {"labels": ["N", "V", "größe"], "order": 1, "nested": {"x": [None, 1.5, True]}}


def some_tensors(seed=0):
    rng = np.random.default_rng(seed)
    return {
        "weight": Tensor("F32", rng.normal(size=7).astype("<f4")),
        "slots": Tensor("U64", rng.integers(2**63, size=8).astype("<u8"), (4, 2)),
        "names": Tensor("U8", b"fish sleep eels"),
        "ends": Tensor("U32", np.arange(3, dtype="<u4")),
        "empty": Tensor("F64", b""),
    }


@pytest.fixture
def small(tmp_path):
    """A small file: its path and its bytes."""
    path = tmp_path / "small.model"
    write_container(path, DESCRIPTION, some_tensors())
    return path, path.read_bytes()


@st.composite
def tensors(draw):
    made = {}
    for name in draw(
        st.lists(st.text('ab.ö1"\\', min_size=1, max_size=4), unique=True, max_size=5)
    ):
        dtype = draw(st.sampled_from(sorted(DTYPES)))
        shape = tuple(draw(st.lists(st.integers(0, 3), min_size=1, max_size=3)))
        item = np.dtype(DTYPES[dtype]).itemsize
        n = int(np.prod(shape)) * item
        made[name] = Tensor(dtype, draw(st.binary(min_size=n, max_size=n)), shape)
    return made


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


def test_what_is_written_comes_back(tmp_path):
    path = tmp_path / "x"

    @settings(REPEATABLE, max_examples=50)
    @given(st.dictionaries(st.text(max_size=4), JSON, max_size=4), tensors())
    def check(description, made):
        write_container(path, description, made)
        again, found = read_container(path)
        assert again == description
        assert {k: (t.dtype, bytes(t.data), t.shape) for k, t in found.items()} == made

    check()


def test_the_safetensors_library_reads_the_files(tmp_path):
    library = pytest.importorskip("safetensors.numpy")
    path = tmp_path / "x.safetensors"

    @settings(REPEATABLE, max_examples=50)
    @given(tensors())
    def check(made):
        write_container(path, DESCRIPTION, made)
        found = library.load_file(path)
        assert sorted(found) == sorted(made)
        for name, tensor in made.items():
            assert found[name].dtype == np.dtype(DTYPES[tensor.dtype])
            assert found[name].shape == tensor.shape
            assert found[name].tobytes() == bytes(tensor.data)

    check()


def test_files_of_the_safetensors_library_are_refused_as_foreign(tmp_path):
    library = pytest.importorskip("safetensors.numpy")
    path = tmp_path / "x.safetensors"
    library.save_file({"w": np.arange(3.0)}, path)
    with pytest.raises(FileError, match=r"x\.safetensors: not a structlearn model"):
        read_container(path)
    library.save_file({"w": np.arange(3.0)}, path, {"format": "pt"})
    with pytest.raises(FileError, match=r"x\.safetensors: not a structlearn model"):
        read_container(path)


def test_the_same_content_is_the_same_file(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    made = some_tensors()
    write_container(one, DESCRIPTION, made)
    write_container(two, dict(reversed(DESCRIPTION.items())), dict(reversed(made.items())))
    assert one.read_bytes() == two.read_bytes()


def test_arrays_lie_in_place(small):
    """Each begins at a multiple of its item's size: the core uses them where they are."""
    path, data = small
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    for name, tensor in read_container(path)[1].items():
        begin = 8 + length + header[name]["data_offsets"][0]
        assert begin % np.dtype(DTYPES[tensor.dtype]).itemsize == 0


# -- the checksum -------------------------------------------------------------------------------

MASK = 2**64 - 1
A, B = 0x9E3779B97F4A7C15, 0xD1B54A32D192ED03


def rotated(x, n):
    return (x << n | x >> (64 - n)) & MASK


def reference_checksum(pieces):
    """The checksum as its header describes it, word by word."""
    lanes = [A, B, ~A & MASK, ~B & MASK]
    for piece in pieces:
        for i in range(0, len(piece), 8):
            lane = i // 8 % 4
            word = int.from_bytes(piece[i : i + 8], "little")
            product = (lanes[lane] ^ word) * A & MASK
            lanes[lane] = rotated(product ^ product >> 32, 31)
    h = A
    for lane in lanes:
        h = rotated((h ^ lane) * B & MASK, 29)
    return h ^ h >> 32


@REPEATABLE
@given(st.lists(st.binary(max_size=70), max_size=4))
def test_checksums_are_those_of_the_description(pieces):
    """Part of the file format: the same numbers for ever."""
    assert _core.checksum(pieces) == reference_checksum(pieces)


def test_top_bits_do_not_pass_unseen():
    """The product moves no bit down: without the shift these two flips would meet."""
    damaged = bytearray(64)
    damaged[7] ^= 0x80
    damaged[35] ^= 0x40
    assert _core.checksum([bytes(damaged)]) != _core.checksum([bytes(64)])


# -- damage -------------------------------------------------------------------------------------


def refused(path, data):
    """The message of the one error there is."""
    path.write_bytes(data)
    try:
        read_container(path)
    except FileError as error:
        message = str(error)
    else:
        pytest.fail("a damaged file was read")
    assert message.startswith(f"{path}: ")
    return message


def test_every_flipped_bit_is_found(tmp_path):
    path = tmp_path / "x"
    write_container(
        path, {"K": 2}, {"w": Tensor("F32", bytes(range(8))), "o": Tensor("U8", b"abc")}
    )
    data = path.read_bytes()
    for at in range(len(data)):
        for bit in range(8):
            changed = bytearray(data)
            changed[at] ^= 1 << bit
            refused(path, bytes(changed))


def test_every_length_but_the_right_one_is_refused(small):
    path, data = small
    for size in range(len(data)):
        refused(path, data[:size])
    for more in (b"\0", b" ", data[-8:], data):
        refused(path, data + more)
    path.write_bytes(data)
    assert read_container(path)[0] == DESCRIPTION


def mutate(rng, data):
    changed = bytearray(data)
    for _ in range(rng.integers(1, 4)):
        at, other = (int(x) for x in rng.integers(len(changed), size=2))
        n = int(rng.integers(1, 64))
        kind = rng.integers(8)
        if kind == 0:
            del changed[max(at, 1) :]
        elif kind == 1:
            changed[at] ^= int(rng.integers(1, 256))
        elif kind == 2:
            changed[at : at + n] = bytes(len(changed[at : at + n]))
        elif kind == 3:
            changed[at : at + n] = rng.bytes(len(changed[at : at + n]))
        elif kind == 4:
            changed[at:at] = changed[other : other + n]
        elif kind == 5 and len(changed) > n:
            del changed[at : at + n]
        elif kind == 6:
            a, b = bytes(changed[at : at + 8]), bytes(changed[other : other + 8])
            if len(a) == len(b) == 8 and abs(at - other) >= 8:
                changed[at : at + 8], changed[other : other + 8] = b, a
        elif len(changed) >= 8:
            changed[:8] = int(rng.choice([0, 1, 2, len(data), 2**31, 2**62])).to_bytes(8, "little")
        if not changed:
            return b""
    return bytes(changed)


@pytest.mark.parametrize("seed", range(3))
def test_thousands_of_damaged_files(small, seed):
    path, data = small
    rng = np.random.default_rng(seed)
    for _ in range(1000):
        changed = mutate(rng, data)
        if changed != data:
            refused(path, changed)


def test_random_bytes_and_other_programs_files(tmp_path):
    path = tmp_path / "x"
    rng = np.random.default_rng(0)
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr("a", "b" * 100)
    arrays = io.BytesIO()
    np.save(arrays, np.arange(30))
    foreign = [
        b"", b"\0", b"\0" * 8, b"\0" * 4096, b"\xff" * 8, b"\xff" * 4096, b"lCRF" + bytes(200),
        b"\x89PNG\r\n\x1a\n" + bytes(100), b"%PDF-1.7\n" * 20, b"fish N\n\nsleep V\n" * 30,
        b"{}", b'{"__metadata__":{}}' * 5, pickle.dumps(DESCRIPTION), gzip.compress(b"x" * 500),
        zipped.getvalue(), arrays.getvalue(),
        *(rng.bytes(int(n)) for n in rng.integers(300, size=99)),
    ]  # fmt: skip
    for data in foreign:
        assert "not a structlearn model" in refused(path, data)


def test_files_that_are_none(tmp_path):
    with pytest.raises(FileError, match=r"missing: no such file or directory$"):
        read_container(tmp_path / "missing")
    with pytest.raises(FileError, match=r": is a directory$"):
        read_container(tmp_path)
    with pytest.raises(FileError, match="/dev/null: not a structlearn model"):
        read_container("/dev/null")


def container_bytes(header, payload=b"", pieces=None):
    """A file with any header, its checksum right (for the arrays in `pieces`)."""

    def text(checksum):
        metadata = {"checksum": checksum, "format": "structlearn", "model": "{}", "version": "2"}
        given = {"__metadata__": {**metadata, **header.get("__metadata__", {})}}
        rest = {k: v for k, v in header.items() if k != "__metadata__"}
        return json.dumps({**given, **rest}, separators=(",", ":")).encode()

    blank = text("0" * 16)
    size = len(blank).to_bytes(8, "little")
    sum_ = reference_checksum([size, blank, *(pieces if pieces is not None else [payload])])
    return size + text(f"{sum_:016x}") + payload


def entry(begin, end, shape=None, dtype="U8"):
    return {"dtype": dtype, "shape": [end - begin] if shape is None else shape,
            "data_offsets": [begin, end]}  # fmt: skip


def test_a_file_made_here_is_read(tmp_path):
    path = tmp_path / "x"
    header = {"a": entry(0, 3), "b": entry(3, 8, [5, 1])}
    path.write_bytes(container_bytes(header, b"abcdefgh", [b"abc", b"defgh"]))
    found = read_container(path)[1]
    assert {k: (bytes(t.data), t.shape) for k, t in found.items()} == {
        "a": (b"abc", (3,)),
        "b": (b"defgh", (5, 1)),
    }


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"a": entry(0, 9)}, "'a' lies outside"),
        ({"a": entry(0, 2**70)}, "'a' lies outside"),
        ({"a": entry(1, 8)}, "'a' lies outside"),
        ({"a": entry(0, 5), "b": entry(4, 8)}, "'b' lies outside"),
        ({"a": entry(0, 5), "b": entry(0, 8)}, "'b' lies outside"),
        ({"a": entry(0, 4), "b": entry(5, 8)}, "'b' lies outside"),
        ({"a": entry(-1, 8)}, "'a' lies outside"),
        ({"a": entry(0, 8, [9])}, "another size than it says"),
        ({"a": entry(0, 8, [7])}, "another size than it says"),
        ({"a": entry(0, 8, [])}, "another size than it says"),
        ({"a": entry(0, 8, [2**64, 2**64])}, "another size than it says"),
        ({"a": entry(0, 8, [-8, -1])}, "'a' lies outside"),
        ({"a": entry(0, 8, [8.0])}, "'a' lies outside"),
        ({"a": entry(0, 8, [True, 8])}, "'a' lies outside"),
        ({"a": entry(0, 8, [2], "F32"), "b": entry(8, 8, [0], "X9")}, "cannot be read"),
        ({"a": entry(0, 8, "8")}, "lies outside|cannot be read"),
        ({"a": {**entry(0, 8), "data_offsets": [0]}}, "cannot be read"),
        ({"a": {**entry(0, 8), "data_offsets": [0, 8, 8]}}, "cannot be read"),
        ({"a": {**entry(0, 8), "data_offsets": "08"}}, "lies outside|cannot be read"),
        ({"a": {**entry(0, 8), "dtype": ["U8"]}}, "cannot be read"),
        ({"a": {**entry(0, 8), "dtype": None}}, "cannot be read"),
        ({"a": {}}, "cannot be read"),
        ({"a": 5}, "cannot be read"),
        ({"a": entry(0, 4)}, "longer than its header says"),
        ({}, "longer than its header says"),
        (
            {"a": entry(0, 8), "__metadata__": {"version": "1"}},
            "of version '1'; this structlearn reads version 2. Train it again, or use the version",
        ),
        ({"a": entry(0, 8), "__metadata__": {"version": "3"}}, "of version '3'; this"),
        ({"a": entry(0, 8), "__metadata__": {"version": 2}}, "of version 2"),
        ({"a": entry(0, 8), "__metadata__": {"format": "pt"}}, "another program"),
        ({"a": entry(0, 8), "__metadata__": {"model": "[1]"}}, "description is not a dictionary"),
        ({"a": entry(0, 8), "__metadata__": {"model": "{"}}, "description cannot be read"),
        ({"a": entry(0, 8), "__metadata__": {"model": 5}}, "description cannot be read"),
        ({"a": entry(0, 8), "__metadata__": {"model": "[" * 99_999}}, "description cannot be read"),
        ({"a": entry(0, 8), "__metadata__": {"checksum": 5}}, "the checksum does not match"),
        ({"a": entry(0, 8), "__metadata__": {"checksum": None}}, "the checksum does not match"),
        ({"a": entry(0, 8), "__metadata__": {"checksum": "\ud800"}}, "its header cannot be read"),
    ],
)  # fmt: skip
def test_forged_headers(tmp_path, header, message):
    path = tmp_path / "forged"
    path.write_bytes(container_bytes(header, b"abcdefgh"))
    with pytest.raises(FileError, match=message) as caught:
        read_container(path)
    assert str(caught.value).startswith(f"{path}: ")


@pytest.mark.parametrize("raw", [b"[]", b"55", b'"x"', b"null", b"{{", b"[" * 99_999, b'{"a":NaN}',
                                 b'{"__metadata__":[]}', b'{"__metadata__":{"format":1}}',
                                 b"\xff\xfe{\0}\0", b"1" * 9999])  # fmt: skip
def test_headers_that_are_something_else(tmp_path, raw):
    path = tmp_path / "x"
    assert "its header cannot be read" in refused(path, len(raw).to_bytes(8, "little") + raw)


def test_forged_lengths_take_neither_memory_nor_time(small):
    path, data = small
    tracemalloc.start()
    began = time.process_time()
    try:
        for length in (0, 1, len(data) - 8, len(data) - 7, 2**31, 2**32 - 1, 2**63, 2**64 - 1):
            refused(path, length.to_bytes(8, "little") + data[8:])
        path.write_bytes(container_bytes({"a": entry(0, 8, [2**60] * 1000)}, b"abcdefgh"))
        with pytest.raises(FileError, match="another size"):
            read_container(path)
        assert tracemalloc.get_traced_memory()[1] < 2**22
    finally:
        tracemalloc.stop()
    assert time.process_time() - began < 5


# -- writing ------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("written", range(5))
def test_a_failure_while_writing_keeps_the_old_file(small, monkeypatch, error, written):
    """Wherever writing stops, the old model is there byte for byte and nothing else is."""
    path, data = small

    class Failing(io.FileIO):
        left = written

        def write(self, data):
            if not self.left:
                raise error
            self.left -= 1
            return super().write(data)

    real = open

    def opened(name, mode="r", *rest, **options):
        return Failing(name, "wb") if mode == "wb" else real(name, mode, *rest, **options)

    monkeypatch.setattr("builtins.open", opened)
    expected = KeyboardInterrupt if isinstance(error, KeyboardInterrupt) else FileError
    with pytest.raises(expected):
        write_container(path, {"new": 1}, some_tensors(1))
    monkeypatch.undo()
    assert path.read_bytes() == data
    assert os.listdir(path.parent) == [path.name]


def test_what_json_cannot_hold_leaves_the_file(small):
    path, data = small
    with pytest.raises(TypeError):
        write_container(path, {"x": object()}, {})
    with pytest.raises(KeyError):
        write_container(path, {}, {"x": Tensor("F99", b"")})
    assert (path.read_bytes(), os.listdir(path.parent)) == (data, [path.name])
