"""A writer of CRFsuite's model files, from the facts of the format: models of any content.

Header; "FEAT" chunk; labels and attributes as "CQDB" chunks; "LFRF" and "AFRF", the lists of
features by label and by attribute. The hash of CQDB is Bob Jenkins's lookup3 (2006, public domain),
so that CRFsuite itself can open what is written here.
"""

from __future__ import annotations

import struct

MASK = 0xFFFFFFFF


def rotated(x, k):
    return ((x << k) | (x >> (32 - k))) & MASK


def jenkins(key):
    """lookup3's hashlittle with initial value 0."""
    a = b = c = (0xDEADBEEF + len(key)) & MASK
    while len(key) > 12:
        x, y, z = struct.unpack("<3I", key[:12])
        a, b, c = (a + x) & MASK, (b + y) & MASK, (c + z) & MASK
        for first, second in ((4, 6), (8, 16), (19, 4)):
            # Each step subtracts, turns and adds; the three names go round.
            a = ((a - c) & MASK) ^ rotated(c, first)
            c = (c + b) & MASK
            b = ((b - a) & MASK) ^ rotated(a, second)
            a = (a + c) & MASK
            a, b, c = c, a, b
        key = key[12:]
    x, y, z = struct.unpack("<3I", key.ljust(12, b"\0"))
    a, b, c = (a + x) & MASK, (b + y) & MASK, (c + z) & MASK
    for k in (14, 11, 25, 16, 4, 14, 24):
        c = ((c ^ b) - rotated(b, k)) & MASK
        a, b, c = b, c, a
    return b


def cqdb(strings):
    """A CQDB chunk: string number i is ``strings[i]``."""
    at = 24 + 256 * 8
    records, places, tables = b"", [], [[] for _ in range(256)]
    for i, string in enumerate(strings):
        key = (string.encode() if isinstance(string, str) else string) + b"\0"
        value = jenkins(key)
        tables[value % 256].append((value, at + len(records)))
        places.append(at + len(records))
        records += struct.pack("<II", i, len(key)) + key
    references, buckets = b"", b""
    for entries in tables:
        n = 2 * len(entries)
        begin = at + len(records) + len(buckets)
        references += struct.pack("<II", begin if entries else 0, n)
        table = [(0, 0)] * n
        for value, place in entries:
            k = (value >> 8) % n
            while table[k][1]:
                k = (k + 1) % n
            table[k] = (value, place)
        buckets += b"".join(struct.pack("<II", *bucket) for bucket in table)
    backward = at + len(records) + len(buckets) if strings else 0
    body = references + records + buckets + struct.pack(f"<{len(places)}I", *places)
    return (
        struct.pack("<4s5I", b"CQDB", 24 + len(body), 0, 0x62445371, len(places), backward) + body
    )


def lists(magic, rows, begin, extra=0):
    """An LFRF or AFRF chunk at place ``begin``: lists of feature numbers."""
    n = len(rows) + extra
    offsets, body = [], b""
    for row in rows:
        offsets.append(begin + 12 + 4 * n + len(body))
        body += struct.pack(f"<{len(row) + 1}I", len(row), *row)
    offsets += [0] * extra
    size = 12 + 4 * n + len(body)
    return struct.pack(f"<4sII{n}I", magic, size, n, *offsets) + body


def model_bytes(labels, attributes, state=(), transition=()):
    """A model file.

    Parameters
    ----------
    state : list of (attribute number, label number, weight)
    transition : list of (label number, label number, weight)
    """
    features = [(0, *entry) for entry in state] + [(1, *entry) for entry in transition]
    chunk = b"".join(struct.pack("<IIId", *feature) for feature in features)
    body = struct.pack("<4sII", b"FEAT", 12 + len(chunk), len(features)) + chunk
    places = {"features": 48, "labels": 48 + len(body)}
    body += cqdb(labels)
    places["attributes"] = 48 + len(body)
    body += cqdb(attributes)
    for name, magic, kind, count, extra in (
        ("label lists", b"LFRF", 1, len(labels), 2),
        ("attribute lists", b"AFRF", 0, len(attributes), 0),
    ):
        body += b"\0" * (-len(body) % 4)
        places[name] = 48 + len(body)
        rows = grouped(features, kind, count)
        body += lists(magic, rows, places[name], extra)
    header = struct.pack(
        "<4sI4s9I", b"lCRF", 48 + len(body), b"FOMC", 100, 0, len(labels), len(attributes),
        *places.values(),
    )  # fmt: skip
    return header + body


def grouped(features, kind, count):
    rows = [[] for _ in range(count)]
    for i, feature in enumerate(features):
        if feature[0] == kind:
            rows[feature[1]].append(i)
    return rows


LABELS = ["N", "V", "D"]
ATTRIBUTES = ["w=fish", "w:sleep", "bias", "größe", "x" * 40]
STATE = [
    (0, 0, 1.5),
    (0, 1, 0.75),
    (1, 1, 1.0),
    (2, 0, 0.25),
    (2, 1, -0.5),
    (3, 2, 2.0),
    (4, 2, -1),
]
TRANSITION = [(0, 1, 1.25), (1, 0, 0.5), (2, 0, 2.0), (2, 2, -1.0)]


def small_model():
    """A model with a bit of everything."""
    return model_bytes(LABELS, ATTRIBUTES, STATE, TRANSITION)
