"""CRF++'s model files, text (``crf_learn -t``) and binary, read without CRF++.

Both contain the labels, the templates, the features, each with the number of its first weight, and
the weights: one per label for a feature that begins with U, one per pair of labels for one that
begins with B. In a binary file the features are the keys of a double array (J. Aoe 1989): unit b +
c + 1 is the child c of the unit whose base is b, unit b marks the end of a key, and each unit
stores the base that it belongs to.

References
----------
T. Kudo (2005), CRF++: yet another CRF toolkit.
"""

from __future__ import annotations

import math
import struct
from array import array
from collections import Counter
from typing import TYPE_CHECKING

from ..text.crfpp import spelled_template
from .foreign import FeatureWeights, ForeignFile, ForeignTagger

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_VERSION = 100
_HEAD = struct.Struct("<IidIII")
#: The longest line, in bytes, that CRF++ reads.
_LONGEST = 8192
_MOST_LABELS = 2**13


def parse_crfpp_model(data: bytes, name: str) -> ForeignTagger:
    """Return the content of a model file.

    Parameters
    ----------
    data : bytes
        The file.
    name : str
        Its name, for messages.
    """
    file = ForeignFile(name, "CRF++ model", data)
    return _read_text(file) if data.startswith(b"version:") else _read_binary(file)


# -- text -----------------------------------------------------------------------------------------


def _read_text(file: ForeignFile) -> ForeignTagger:
    head: dict[bytes, bytes] = {}
    while line := file.line("the end of the head"):
        name, _, value = line.partition(b":")
        head[name] = value.strip()
    numbers = {}
    for key in ("version", "maxid", "xsize"):
        if key.encode() not in head:
            file.refuse(f"the head has no {key}")
        numbers[key] = file.number(head[key.encode()], key)
    _check_version(file, numbers["version"])
    labels, templates = ([*_paragraph(file, what)] for what in ("labels", "templates"))
    features = []
    for line in _paragraph(file, "features"):
        number, _, feature = line.partition(b" ")
        features.append((feature, file.number(number, "the number of a feature")))
    begin = file.at
    rows = file.take(len(file.data) - begin, "the weights").split(b"\n")
    if rows[-1] == b"":
        rows.pop()
    weights = array("d")
    for row in rows:
        try:
            weights.append(float(row))
        except ValueError:
            file.refuse(f"{row[:40]!r} is not a weight", begin)
    factor = _factor(file, head.get(b"cost-factor", b"1"))
    if len(weights) != numbers["maxid"]:
        file.refuse(f"there are {len(weights)} weights; the head says {numbers['maxid']}", begin)
    return _content(file, labels, templates, numbers["xsize"], features, weights, factor)


def _paragraph(file: ForeignFile, what: str) -> Iterable[bytes]:
    while line := file.line(f"the blank line after the {what}"):
        yield line


def _factor(file: ForeignFile, value: bytes) -> float:
    try:
        return float(value)
    except ValueError:
        file.refuse(f"the cost factor is {value[:20]!r}", 0)


# -- binary ---------------------------------------------------------------------------------------


def _read_binary(file: ForeignFile) -> ForeignTagger:
    head = file.take(_HEAD.size, "the head")
    version, _, factor, n_weights, n_columns, size = _HEAD.unpack(head)
    _check_version(file, version)
    labels, templates = (_strings(file, what) for what in ("labels", "templates"))
    units = file.take(size, "the table of features")
    weights = array("f", file.take(4 * n_weights, "the weights"))
    if file.at != len(file.data):
        file.refuse("the file should end here")
    return _content(file, labels, templates, n_columns, _keys(file, units), weights, factor)


def _strings(file: ForeignFile, what: str) -> list[bytes]:
    (size,) = struct.unpack("<I", file.take(4, f"the size of the {what}"))
    text = file.take(size, f"the {what}")
    if text and not text.endswith(b"\0"):
        file.refuse(f"the {what} do not end with a zero byte")
    return [string for string in text.split(b"\0") if string]


def _keys(file: ForeignFile, units: bytes) -> list[tuple[bytes, int]]:
    """Return the keys of a double array with their values."""
    if len(units) % 8:
        file.refuse("the table of features is not a whole number of units")
    flat = array("i", units)
    base, owner = flat[::2], array("I", flat[1::2].tobytes())
    # A base belongs to one unit: the parent of the units that store it.
    parent = {b: unit for unit, b in enumerate(base) if b > 0 and (unit == 0 or owner[unit])}
    keys = []
    total = 0
    for unit, b in enumerate(base):
        if b >= 0 or owner[unit] != unit or unit == 0:
            continue
        key = bytearray()
        at = parent.get(unit)
        while at:
            start = owner[at]
            if not 0 <= at - start - 1 < 256 or len(key) > _LONGEST:
                file.refuse("the table of features is inconsistent")
            key.append(at - start - 1)
            at = parent.get(start)
        total += len(key)
        if at is None or total > _LONGEST * 8 + 64 * len(base):
            file.refuse("the table of features is inconsistent")
        key.reverse()
        keys.append((bytes(key), -b - 1))
    return keys


# -- both -----------------------------------------------------------------------------------------


def _check_version(file: ForeignFile, version: int) -> None:
    if version != _VERSION:
        file.refuse(f"the version is {version}; only {_VERSION} is supported", 0)


def _content(
    file: ForeignFile,
    raw_labels: list[bytes],
    raw_templates: list[bytes],
    n_columns: int,
    features: Sequence[tuple[bytes, int]],
    weights: array[float],
    factor: float,
) -> ForeignTagger:
    labels = [file.text(label, "a label") for label in raw_labels]
    if not labels or len(labels) > _MOST_LABELS:
        file.refuse(f"the model has {len(labels)} labels; 1 to {_MOST_LABELS} are supported")
    if len(set(labels)) != len(labels):
        file.refuse("a label occurs twice")
    if not all(map(math.isfinite, weights)) or not math.isfinite(factor):
        file.refuse("a weight is not finite")
    templates, constant = [], Counter[bytes]()
    columns = 1
    for raw in raw_templates:
        line = file.text(raw, "a template")
        try:
            template = spelled_template(line)
        except ValueError as error:
            file.refuse(str(error))
        columns = max([columns, *(int(a.column[1:]) for a, _ in template.atoms)])
        if template.transition and not template.atoms:
            constant[raw] += 1
        else:
            templates.append(template)
    n = len(labels)
    state, pair = FeatureWeights(), FeatureWeights()
    varying = any(template.transition for template in templates)
    transition = array("d", bytes(8 * n * n))
    used = 0
    for feature, number in features:
        size = n if feature.startswith(b"U") else n * n
        if not feature.startswith((b"U", b"B")) or number + size > len(weights):
            file.refuse(f"the feature {feature[:40]!r} has no weights")
        used += size
        if used > len(weights):  # otherwise a small file could make a large model
            file.refuse("several features have the same weights")
        own = [(k, factor * weights[number + k]) for k in range(size)]
        if feature.startswith(b"U"):
            state.add(feature, own)
            continue
        for k, weight in own:
            transition[k] += constant[feature] * weight
        if varying:  # a template may repeat the constant feature of another one
            pair.add(feature, own)
    n_columns = max(columns, min(n_columns, 2**14))
    return ForeignTagger("CRF++", labels, templates, n_columns, state, pair, transition)
