"""CRFsuite's model files, read without CRFsuite.

A file has a header, the features (a weight for an attribute with a label, or for a pair of labels),
the names of labels and attributes, and for each label and each attribute the list of its features.

References
----------
N. Okazaki (2007), CRFsuite: a fast implementation of conditional random fields; the format is that
of its first-order models, type "FOMC", version 100.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..estimators.assembly import assemble
from ..estimators.crf import CRF
from ..features.tokens import TokenEncoder
from ..features.vocabulary import Vocabulary
from ..scoring.rows import SparseWeights
from .buffer import Buffer, Integers, spans
from .cqdb import read_strings

__all__ = ["read_crfsuite"]

_HEADER = 48
_CHUNK = 12
_VERSION = 100
_STATE, _TRANSITION = 0, 1

#: Pairs of labels are counted in 32 bits.
_MAX_LABELS = 2**16 - 1

_FEATURE = np.dtype([("type", "<u4"), ("source", "<u4"), ("label", "<u4"), ("weight", "<f8")])


class _Header(NamedTuple):
    """Counts and places; the number of features in the header is never filled in."""

    n_labels: int
    n_attributes: int
    features: int
    labels: int
    attributes: int
    label_lists: int
    attribute_lists: int


def read_crfsuite(path: str | os.PathLike[str]) -> CRF:
    """Return the model in a CRFsuite file as a fitted :class:`~structlearn.estimators.CRF`.

    Models of CRFsuite, python-crfsuite and sklearn-crfsuite, of whatever training algorithm.
    Inputs are what those take: a sequence is a list of tokens, a token a list of attributes or a
    dictionary; ``{"word": "fish"}`` is the attribute ``word:fish``, as python-crfsuite has it.
    Attributes that the model does not know count nothing.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    CRF
        A chain without boundary weights. ``classes_`` has CRFsuite's order of the labels, not the
        alphabet's: of equally good outputs both then take the same.

    Raises
    ------
    ValueError
        The file is no such model, or damaged; the message says where.
    """
    buffer = _load(path)
    header = _read_header(buffer)
    labels = read_strings(buffer, header.labels, header.n_labels, "label")
    attributes = read_strings(buffer, header.attributes, header.n_attributes, "attribute")
    vocabulary = _numbered(buffer, header.attributes, attributes, "attribute")
    _numbered(buffer, header.labels, labels, "label")
    features = _read_features(buffer, header)
    state = _read_lists(buffer, header.attribute_lists, b"AFRF", len(attributes), "attribute")
    transition = _read_lists(buffer, header.label_lists, b"LFRF", len(labels), "label")
    _check_lists(buffer, header, features, state, transition)
    rows = _sparse(buffer, header, features, state, len(labels))
    pairs = _sparse(buffer, header, features, transition, len(labels))
    # One row of label pairs: the table is shared by all positions.
    sources = np.repeat(np.arange(len(labels)), np.diff(pairs.row_ptr))
    pairs.column = sources * len(labels) + pairs.column
    pairs.row_ptr = np.array([0, len(pairs.values)])
    return assemble(
        CRF(boundaries=False, all_possible_transitions=False),
        _as_classes(labels),
        {"label": TokenEncoder(separator=":", vocabulary=vocabulary)},
        {"label": rows, "transition": pairs},
    )


def _numbered(buffer: Buffer, at: int, names: list[str], what: str) -> Vocabulary:
    """Return the table of the names, whose making finds repeats without hashing them again."""
    try:
        return Vocabulary(names)
    except ValueError:
        first = {name: i for i, name in reversed(list(enumerate(names)))}
        i = next(i for i, name in enumerate(names) if first[name] != i)
        buffer.refuse(at, f"{what} {i}, {names[i]!r}, stands in its table twice")


def _as_classes(labels: list[str]) -> npt.NDArray[Any]:
    # NumPy makes every string as long as the longest: not where one is out of all proportion.
    wide = len(labels) * max(map(len, labels)) > 2**24
    return np.array(labels, dtype=object if wide else np.str_)


def _load(path: str | os.PathLike[str]) -> Buffer:
    """Return the file's bytes; of a file that is something else, only the beginning is read."""
    with open(path, "rb") as file:
        head = file.read(_HEADER)
        buffer = Buffer(str(path), "CRFsuite model", head)
        if not head:
            buffer.refuse(0, "the file is empty")
        buffer.magic(0, b"lCRF", "the file")
        buffer.need(0, _HEADER, "the header")
        size, found = int(buffer.words(4, 1, "the size")[0]), os.fstat(file.fileno()).st_size
        if found != size:
            buffer.refuse(4, f"the size of the file is given as {size} bytes, but it has {found}")
        file.seek(0)
        data = file.read()
    return Buffer(str(path), "CRFsuite model", data)


def _read_header(buffer: Buffer) -> _Header:
    buffer.magic(8, b"FOMC", "the type of the model")
    version = int(buffer.words(12, 1, "the version")[0])
    if version != _VERSION:
        buffer.refuse(12, f"the version is {version}; only {_VERSION} is known")
    header = _Header(*buffer.words(20, 7, "the header").tolist())
    if header.n_labels == 0:
        buffer.refuse(20, "the model has no labels: it was trained on nothing")
    if header.n_labels > _MAX_LABELS:
        buffer.refuse(20, f"the model has {header.n_labels} labels; at most {_MAX_LABELS} can be")
    return header


def _read_features(buffer: Buffer, header: _Header) -> npt.NDArray[Any]:
    at = header.features
    buffer.magic(at, b"FEAT", "the list of features")
    size, n = buffer.words(at + 4, 2, "the list of features").tolist()
    if size != _CHUNK + n * _FEATURE.itemsize:
        buffer.refuse(at + 4, f"{n} features cannot take {size} bytes")
    buffer.need(at, size, f"the list of {n} features")
    features = np.frombuffer(buffer.data, dtype=_FEATURE, count=n, offset=at + _CHUNK)
    kind, source = features["type"], features["source"]
    sources = np.where(kind == _STATE, header.n_attributes, header.n_labels)
    for wrong, problem in (
        (kind > _TRANSITION, "is of an unknown type"),
        (source >= sources, "begins at an attribute or label that does not exist"),
        (features["label"] >= header.n_labels, "is for a label that does not exist"),
        (~np.isfinite(features["weight"]), "has a weight that is not finite"),
    ):
        if wrong.any():
            i = int(np.flatnonzero(wrong)[0])
            buffer.refuse(at + _CHUNK + i * _FEATURE.itemsize, f"feature {i} {problem}")
    return features


class _Lists(NamedTuple):
    """The features of each attribute or label: ``features[row_ptr[i]:row_ptr[i + 1]]``."""

    at: int
    row_ptr: Integers
    features: Integers


def _read_lists(buffer: Buffer, at: int, magic: bytes, count: int, what: str) -> _Lists:
    name = f"the lists of features by {what}"
    buffer.magic(at, magic, name)
    size, n = buffer.words(at + 4, 2, name).tolist()
    buffer.need(at, size, name)
    if n < count:  # CRFsuite writes two more labels, for the ends of a sequence, without lists
        buffer.refuse(at + 8, f"there are lists for {n} {what}s, the model has {count}")
    begin, end = at + _CHUNK + 4 * n, at + size
    buffer.need(at, begin - at, name, end)
    places = buffer.words(at + _CHUNK, count, name, end)
    _check_places(buffer, at, (places < begin) | (places + 4 > end), what)
    lengths = buffer.words_at(places)
    _check_places(buffer, at, places + 4 + 4 * lengths > end, what)
    if int((4 + 4 * lengths).sum()) > end - begin:  # or a small file could make long lists
        buffer.refuse(at, f"{name} overlap")
    row_ptr = np.concatenate(([0], np.cumsum(lengths)))
    index = spans(np.zeros_like(places), lengths)
    features = buffer.words_at(np.repeat(places + 4, lengths) + 4 * index)
    return _Lists(at, row_ptr, features)


def _check_places(buffer: Buffer, at: int, wrong: npt.NDArray[np.bool_], what: str) -> None:
    if wrong.any():
        i = int(np.flatnonzero(wrong)[0])
        buffer.refuse(at + _CHUNK + 4 * i, f"the features of {what} {i} lie outside of their part")


def _check_lists(
    buffer: Buffer,
    header: _Header,
    features: npt.NDArray[Any],
    state: _Lists,
    transition: _Lists,
) -> None:
    """Refuse lists that do not hold each feature once, where it belongs.

    CRFsuite goes by the lists and looks at neither type nor source; here both must agree.
    """
    n = len(features)
    listed = np.zeros(n, dtype=np.int64)
    for lists, kind, what in ((state, _STATE, "attribute"), (transition, _TRANSITION, "label")):
        owner = np.repeat(np.arange(len(lists.row_ptr) - 1), np.diff(lists.row_ptr))
        missing = lists.features >= n
        if missing.any():
            i = int(owner[np.flatnonzero(missing)[0]])
            buffer.refuse(lists.at, f"{what} {i} lists a feature that does not exist")
        listed_features = features[lists.features]
        wrong = (listed_features["type"] != kind) | (listed_features["source"] != owner)
        if wrong.any():
            i = int(owner[np.flatnonzero(wrong)[0]])
            buffer.refuse(lists.at, f"{what} {i} lists a feature that belongs to another")
        listed += np.bincount(lists.features, minlength=n)
    if (listed != 1).any():
        i = int(np.flatnonzero(listed != 1)[0])
        at = header.features + _CHUNK + i * _FEATURE.itemsize
        buffer.refuse(at, f"feature {i} is listed {listed[i]} times, not once")


def _sparse(
    buffer: Buffer, header: _Header, features: npt.NDArray[Any], lists: _Lists, n_labels: int
) -> SparseWeights:
    """Return the weights row by row, labels increasing."""
    owner = np.repeat(np.arange(len(lists.row_ptr) - 1), np.diff(lists.row_ptr))
    columns = features["label"][lists.features].astype(np.int64)
    keys = owner * n_labels + columns
    order = lists.features
    if (np.diff(keys) <= 0).any():
        sorting = np.argsort(keys, kind="stable")
        keys, columns, order = keys[sorting], columns[sorting], order[sorting]
        twice = np.flatnonzero(np.diff(keys) == 0)
        if len(twice):
            i = int(order[twice[0] + 1])
            at = header.features + _CHUNK + i * _FEATURE.itemsize
            buffer.refuse(at, f"feature {i} has the same source and label as an earlier one")
    return SparseWeights(lists.row_ptr, columns, features["weight"][order].astype(np.float64))
