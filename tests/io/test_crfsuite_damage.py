"""Damaged, forged and foreign files: one clear error, or a model that works; nothing else."""

import re
import struct
import tracemalloc

import numpy as np
import pytest

from structlearn.io import read_crfsuite
from tests.io.crfsuite_files import LABELS, model_bytes, small_model

SMALL = small_model()
PLACES = dict(
    zip(
        ("features", "labels", "attributes", "label lists", "attribute lists"),
        struct.unpack_from("<5I", SMALL, 28),
        strict=True,
    )
)


def refused(path, data, message):
    path.write_bytes(data)
    with pytest.raises(ValueError, match=message) as caught:
        read_crfsuite(path)
    assert str(caught.value).startswith(f"{path} is not a valid CRFsuite model: at byte ")


def tried(path):
    """The model, or None where the file is refused in the one way there is."""
    try:
        return read_crfsuite(path)
    except ValueError as error:
        message = str(error)
    assert message.startswith(f"{path} is not a valid CRFsuite model: at byte ")
    return None


def word(at, value):
    data = bytearray(SMALL)
    struct.pack_into("<I", data, at, value)
    return bytes(data)


def bytes_at(at, value):
    return SMALL[:at] + value + SMALL[at + len(value) :]


FEATURE = PLACES["features"] + 12
RECORD = PLACES["labels"] + 24 + 2048  # of label 0: number, length 2, b"N\0"
LISTS = PLACES["attribute lists"]
#: Where attribute 0 has its list: a length and two features.
FIRST = struct.unpack_from("<I", SMALL, LISTS + 12)[0]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "at byte 0, the file is empty"),
        (b"lC", "at byte 0, the file takes 4 bytes, but the file ends at byte 2"),
        (b"PK\x03\x04" + SMALL[4:], r"at byte 0, the file begins with b'PK.*not b'lCRF'"),
        (SMALL[:30], "at byte 0, the header takes 48 bytes, but the file ends at byte 30"),
        (SMALL[:-1], r"at byte 4, the size of the file is given as \d+ bytes, but it has \d+"),
        (SMALL + b"\0", r"at byte 4, the size of the file is given as \d+ bytes, but it has \d+"),
        (bytes_at(8, b"FOMD"), r"at byte 8, the type of the model begins with b'FOMD'"),
        (word(12, 99), "at byte 12, the version is 99; only 100 is known"),
        (word(20, 0), "at byte 20, the model has no labels"),
        (word(20, 70_000), "at byte 20, the model has 70000 labels"),
        (word(20, 4), r"no list of its 4 strings"),
        (word(20, 2), "feature 5 is for a label that does not exist"),
        (word(24, 2**32 - 1), "the table of attributes has no list of its 4294967295 strings"),
        (word(28, len(SMALL)), "the list of features takes 4 bytes, but the file ends"),
        (word(32, 2**32 - 1), "at byte 4294967295, the table of labels"),
        (word(32, PLACES["features"]), "the table of labels begins with b'FEAT', not b'CQDB'"),
        (word(36, PLACES["labels"]), "has no list of its 5 strings"),
        (word(40, PLACES["attribute lists"]), "by label begins with b'AFRF', not b'LFRF'"),
        (word(PLACES["features"] + 8, 2**31), "2147483648 features cannot take"),
        (word(FEATURE, 2), "feature 0 is of an unknown type"),
        (word(FEATURE, 1), "attribute 0 lists a feature that belongs to another"),
        (word(FEATURE + 4, 5), "feature 0 begins at an attribute or label that does not exist"),
        (word(FEATURE + 8, 3), "feature 0 is for a label that does not exist"),
        (word(FEATURE + 8, 1), "feature 1 has the same source and label as an earlier one"),
        (bytes_at(FEATURE + 12, struct.pack("<d", np.nan)), "feature 0 has a weight that is not f"),
        (bytes_at(FEATURE + 32, struct.pack("<d", -np.inf)), "feature 1 has a weight that is not"),
        (word(PLACES["labels"] + 4, 9), "the table of labels takes 9 bytes, at least"),
        (word(PLACES["labels"] + 4, 2**31), "the table of labels takes 2147483648 bytes, but"),
        (word(PLACES["labels"] + 12, 0x71534462), "in another byte order"),
        (word(PLACES["labels"] + 20, 2**31), "the list of 3 labels takes 12 bytes, but its part"),
        (word(RECORD, 1), "label 0 has a record with another number"),
        (word(RECORD + 4, 0), "label 0 is longer than its table"),
        (word(RECORD + 4, 2**32 - 1), "label 0 is longer than its table"),
        (word(RECORD + 4, 1), "label 0 does not end with a zero byte"),
        (word(RECORD + 4, 12), "label 0 has a zero byte inside"),
        (bytes_at(RECORD + 8, b"\xff"), "label 0 is not UTF-8 text"),
        (bytes_at(RECORD + 8, b"V"), "label 1, 'V', stands in its table twice"),
        (word(LISTS + 8, 4), "there are lists for 4 attributes, the model has 5"),
        (word(LISTS + 8, 2**32 - 1), "the lists of features by attribute takes"),
        (word(LISTS + 12, 48), "the features of attribute 0 lie outside of their part"),
        (word(FIRST, 2**32 - 1), "the features of attribute 0 lie outside of their part"),
        (word(FIRST, 1), "feature 1 is listed 0 times, not once"),
        (word(FIRST + 4, 1), "feature 0 is listed 0 times, not once"),
        (word(FIRST + 4, 11), "attribute 0 lists a feature that does not exist"),
    ],
)  # fmt: skip
def test_each_kind_of_damage_has_its_message(tmp_path, data, message):
    refused(tmp_path / "damaged.crf", data, message)


def test_messages_name_the_path_as_given(tmp_path):
    path = tmp_path / "weights (old).crf"
    refused(path, b"text", re.escape(f"{path} is not"))
    with pytest.raises(FileNotFoundError):
        read_crfsuite(tmp_path / "missing.crf")


def test_records_may_not_share_bytes(tmp_path):
    """1,000 attributes at one long string: what is small in the file would be large in memory."""
    data = bytearray(model_bytes(["A"], ["x" * 1000, *(f"a{i}" for i in range(999))]))
    table = struct.unpack_from("<I", data, 36)[0]
    backward = table + struct.unpack_from("<I", data, table + 20)[0]
    offsets = np.frombuffer(data, dtype="<u4", count=1000, offset=backward).copy()
    for i, offset in enumerate(offsets):
        struct.pack_into("<II", data, table + int(offset), i, 2**10)
    refused(tmp_path / "shared.crf", bytes(data), "longer than its table|overlap|zero byte")


def test_lists_may_not_share_bytes(tmp_path):
    data = bytearray(SMALL)
    for i in range(5):
        struct.pack_into("<I", data, LISTS + 12 + 4 * i, FIRST)
    struct.pack_into("<I", data, FIRST, 8)
    refused(tmp_path / "shared.crf", bytes(data), "overlap")


def test_forged_counts_allocate_nothing(tmp_path):
    """Every number of the file, one by one, made as large as it goes."""
    path = tmp_path / "forged.crf"
    tracemalloc.start()
    try:
        for at in [*range(4, 48, 4), *(p + k for p in PLACES.values() for k in (4, 8, 16, 20))]:
            for value in (2**31 - 1, 2**32 - 1, len(SMALL), len(SMALL) - 1):
                path.write_bytes(word(at, value))
                tried(path)
        assert tracemalloc.get_traced_memory()[1] < 2**22
    finally:
        tracemalloc.stop()


def mutate(rng, data):
    """One to four changes: cut, flip, zero, overwrite, splice."""
    changed = bytearray(data)
    for _ in range(rng.integers(1, 5)):
        if not changed:
            break
        kind = rng.integers(7)
        at = int(rng.integers(len(changed)))
        n = int(rng.integers(1, 40))
        if kind == 0:
            del changed[at:]
        elif kind == 1:
            changed[at] ^= 1 << int(rng.integers(8))
        elif kind == 2:
            changed[at : at + n] = bytes(len(changed[at : at + n]))
        elif kind == 3:
            changed[at : at + n] = rng.bytes(len(changed[at : at + n]))
        elif kind == 4:
            other = int(rng.integers(len(changed)))
            changed[at:at] = changed[other : other + n]
        elif kind == 5:
            del changed[at : at + n]
        else:  # a number, where the numbers are
            place = int(rng.choice([0, *PLACES.values()])) + 4 * int(rng.integers(20))
            if place + 4 <= len(changed):
                value = rng.choice([0, 1, len(changed), 2**31, 2**32 - 1, rng.integers(5000)])
                struct.pack_into("<I", changed, place, int(value))
    if rng.random() < 0.8 and len(changed) >= 8:  # past the first check
        struct.pack_into("<I", changed, 4, len(changed))
    return bytes(changed)


@pytest.mark.parametrize("seed", range(4))
def test_thousands_of_damaged_files(tmp_path, seed):
    rng = np.random.default_rng(seed)
    path = tmp_path / "fuzzed.crf"
    X = [[["w=fish", "bias"], {"w": "sleep"}, ["größe"]]]
    read = 0
    for _ in range(1000):
        path.write_bytes(mutate(rng, SMALL))
        model = tried(path)
        if model is None:
            continue
        read += 1
        assert set(model.predict(X)[0]) <= set(model.classes_)
        assert len(model.classes_) == len(LABELS)
    assert 0 < read < 1000  # some changes touch what is not read: the hash tables, gaps


@pytest.mark.parametrize("region", [(0, 60), (PLACES["label lists"], len(SMALL))])
def test_every_bit_of_headers_and_lists(tmp_path, region):
    path = tmp_path / "flipped.crf"
    for at in range(*region):
        for bit in range(8):
            path.write_bytes(bytes_at(at, bytes([SMALL[at] ^ (1 << bit)])))
            tried(path)


def test_every_length(tmp_path):
    """Cut anywhere, with a header that says so."""
    path = tmp_path / "cut.crf"
    for size in range(len(SMALL)):
        data = bytearray(SMALL[:size])
        if size >= 8:
            struct.pack_into("<I", data, 4, size)
        path.write_bytes(data)
        with pytest.raises(ValueError, match=r"cut\.crf is not a valid CRFsuite model"):
            read_crfsuite(path)
