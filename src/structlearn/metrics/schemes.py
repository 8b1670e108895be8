"""Labelling schemes for chunks: conversion between them, and legal transitions.

With tags B (begin), I (inside), O (outside), E or L (end, last) and S or U (single, unit):

* IOB1: I everywhere, B only where a chunk follows one of its own type (Ramshaw and Marcus 1995);
* BIO, or IOB2: B at the beginning of every chunk;
* IOBES, or BIOES: E at its end too, and S for a chunk of one token; BILOU says L and U instead
  (Ratinov and Roth 2009).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypedDict

from .boundaries import chunks, split_label


class Forbidden(TypedDict):
    """The labels and transitions a scheme rules out, in the form of the estimators' ``forbid``."""

    start: list[str]
    end: list[str]
    transition: list[tuple[str, str]]


class _Scheme(NamedTuple):
    continues: str  # tags that need a chunk of their type before them
    goes_on: str  # tags that may precede such a tag
    unfinished: str  # tags that such a tag must follow
    tags: str
    own_type: bool = True  # a continuing tag has the type of the one before it


_BIO = _Scheme(continues="I", goes_on="BI", unfinished="", tags="BIO")
_IOBES = _Scheme(continues="IE", goes_on="BI", unfinished="BI", tags="BIOES")
_BILOU = _Scheme(continues="IL", goes_on="BI", unfinished="BI", tags="BILOU")
#: Scheme of a file -> its spelling of the tags S and E of IOBES.
_TAGS = {"bio": {"S": "B", "E": "I"}, "bilou": {"S": "U", "E": "L"}, "iobes": {}}
_BEGINNINGS = _BIO._replace(own_type=False)
_SCHEMES = {
    "beginnings": _BEGINNINGS,
    "bio": _BIO,
    "iob2": _BIO,
    "iobes": _IOBES,
    "bioes": _IOBES,
    "bilou": _BILOU,
}


def to_bio(labels: Iterable[str]) -> list[str]:
    """Return one sentence's labels in the scheme BIO (IOB2).

    Parameters
    ----------
    labels : sequence of str
        In IOB1, IOB2, IOBES, BILOU or any mixture of them; the chunks stay the same.

    Examples
    --------
    >>> to_bio(["I-NP", "I-NP", "B-NP", "O", "S-VP"])
    ['B-NP', 'I-NP', 'B-NP', 'O', 'B-VP']
    """
    return _write(labels, single="B", last="I")


def to_iobes(labels: Iterable[str]) -> list[str]:
    """Return one sentence's labels in the scheme IOBES.

    Parameters
    ----------
    labels : sequence of str
        In IOB1, IOB2, IOBES, BILOU or any mixture of them; the chunks stay the same.

    Examples
    --------
    >>> to_iobes(["I-NP", "I-NP", "B-NP", "O", "U-VP"])
    ['B-NP', 'E-NP', 'S-NP', 'O', 'S-VP']
    """
    return _write(labels, single="S", last="E")


def legal_transitions(labels: Iterable[str], scheme: str = "bio") -> Forbidden:
    """Return the labels that a scheme forbids at the start, at the end, and after others.

    In BIO, I-X follows only B-X or I-X. In IOBES and BILOU, I-X and E-X (L-X) follow only B-X or
    I-X, and only they follow these, so a sentence does not end with B-X or I-X. "beginnings" is BIO
    in which a chunk has the type of its B- alone: I-X follows any B- or I-. The legal label
    sequences are exactly those that conversion to the scheme leaves unchanged.

    Parameters
    ----------
    labels : iterable of str
        All K labels of the problem, ``classes_`` of a model.
    scheme : {"bio", "iob2", "iobes", "bioes", "bilou", "beginnings"}, default="bio"

    Returns
    -------
    dict with keys "start", "end" and "transition"
        The labels that cannot be first, those that cannot be last, and the forbidden pairs (label,
        next label), O(K²) of them. Pass it to an estimator as ``forbid``, and every prediction is
        legal.

    Examples
    --------
    >>> legal_transitions(["O", "B-NP", "I-NP"])
    {'start': ['I-NP'], 'end': [], 'transition': [('O', 'I-NP')]}
    """
    rules = _SCHEMES.get(scheme.lower())
    if rules is None:
        raise ValueError(f"scheme must be one of {sorted(_SCHEMES)}, got {scheme!r}")
    names = labels.tolist() if hasattr(labels, "tolist") else labels
    split = {k: split_label(k) for k in dict.fromkeys(names)}
    for label, (tag, _) in split.items():
        if tag not in tuple(rules.tags) or (tag == "O" and label != "O"):
            raise ValueError(
                f"the label {label!r} does not belong to scheme {scheme!r}, whose labels are 'O' "
                f"and {'-, '.join(t for t in rules.tags if t != 'O')}- with a type: convert the "
                "labels (to_bio, to_iobes), or name their scheme"
            )

    def allowed(a: str, b: str) -> bool:
        (before, old), (tag, new) = split[a], split[b]
        if tag in rules.continues:
            return before in rules.goes_on and (old == new or not rules.own_type)
        return before not in rules.unfinished

    return {
        "start": [k for k, (tag, _) in split.items() if tag in rules.continues],
        "end": [k for k, (tag, _) in split.items() if tag in rules.unfinished],
        "transition": [(a, b) for a in split for b in split if not allowed(a, b)],
    }


def are_chunk_labels(labels: Sequence[str]) -> bool:
    """Return whether labels are those of chunks: O, B-X, I-X and the like."""
    if not any("-" in label for label in labels):
        return False
    return all(label == "O" or (label[:1] in "BIESLU" and label[1:2] == "-") for label in labels)


def file_scheme(labels: Sequence[str]) -> str:
    """Return the scheme of chunk labels: "iobes", "bilou", or "bio" for IOB1 and IOB2."""
    tags = {label[0] for label in labels if label[1:2] == "-"}
    if tags & {"L", "U"}:
        return "bilou"
    return "iobes" if tags & {"S", "E"} else "bio"


def written(label: str, scheme: str) -> str:
    """Return a label of IOBES in the spelling of a scheme; IOB1 becomes IOB2."""
    if label[1:2] not in ("-", ""):
        return label
    return _TAGS[scheme].get(label[:1], label[:1]) + label[1:]


def _write(labels: Iterable[Any], *, single: str, last: str) -> list[str]:
    row = list(labels)
    for t, label in enumerate(row):
        tag, _ = split_label(label)
        if label is None or tag not in tuple("BIOESLU") or (tag == "O" and label != "O"):
            raise ValueError(
                f"position {t}: the label {label!r} is not a label of IOB1, IOB2, IOBES or BILOU; "
                "write 'O', or B-, I-, E-, S-, L- or U- with a type"
            )
    written = ["O"] * len(row)
    for start, end, kind in chunks(row):
        tags = ["B", *"I" * (end - start - 2), last] if end - start > 1 else [single]
        written[start:end] = [f"{tag}-{kind}" if kind else tag for tag in tags]
    return written
