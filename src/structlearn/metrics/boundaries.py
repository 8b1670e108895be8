"""Boundaries of chunks: the rules of the CoNLL shared tasks' scoring script, conlleval.

A label is a tag, or a tag, a hyphen and a type: "B-NP", "I-NP", "O"; the first hyphen divides, so
types may contain more. Of two neighbouring labels of **different types** (no type is a type too)

* a chunk ends between them unless the first tag is O or "." (outside),
* a chunk begins between them unless the second tag is O or ".".

Between two labels of the **same type** the tags decide. ``]`` is as ``[``, L as E, U as S:

======  ==========================  ========================
tag     a chunk begins here after   a chunk ends here before
======  ==========================  ========================
B       O B I E S                   O
I       O E S                       O
E (L)   O E S                       O
S (U)   anything                    anything
[ (])   anything                    anything
O .     nothing                     nothing
other   nothing                     nothing
======  ==========================  ========================

A chunk ends, too, where the next begins and where the sentence ends; before the first label stands
O. So an I- that follows no chunk of its type begins one (IOB1), and B- divides neighbours of one
type.

The script has no rules for S, L and U, and none for E followed by B: labels of IOBES and BILOU,
made after it. It would join chunks that these schemes keep apart; for labels of IOB1, IOB2, IOE1,
IOE2 and brackets, scores equal the script's. Three of its accidents are not followed: a chunk that
no rule ends (untyped B, then ".") continues into the next sentence, a chunk that ends only because
a bracket begins another is never right, and the type "0" counts as no type.

References
----------
E. F. Tjong Kim Sang and S. Buchholz, Introduction to the CoNLL-2000 shared task: chunking, 2000;
E. F. Tjong Kim Sang and J. Veenstra, Representing text chunks, EACL 1999.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

_ALIASES = {"L": "E", "U": "S", "]": "["}
_OUTSIDE = frozenset("O.")
_ALONE = frozenset("S[")  # tags of chunks with one token
_IN_CHUNK = frozenset("BIE")

#: For each tag, the tags after which it begins a chunk of the same type.
_BEGINS_AFTER = {"B": frozenset("OBIES"), "I": frozenset("OES"), "E": frozenset("OES")}

_NEVER: frozenset[str] = frozenset()


def split_label(label: Any) -> tuple[str, str]:
    """Return the tag and the type of a label; None (no label) is outside.

    Examples
    --------
    >>> split_label("B-NP"), split_label("I-date-time"), split_label("O")
    (('B', 'NP'), ('I', 'date-time'), ('O', ''))
    """
    if label is None:
        return "O", ""
    if not isinstance(label, str):
        raise TypeError(
            f"the label {label!r} is of type {type(label).__name__}; labels of chunks are strings "
            "such as 'B-NP' and 'O'"
        )
    tag, _, kind = str(label).partition("-")
    return tag, kind


def chunks(labels: Iterable[Any]) -> list[tuple[int, int, str]]:
    """Return the chunks of one sentence as (start, end, type): the tokens start ≤ t < end.

    Labels of IOB1, IOB2, IOBES, BILOU, IOE and brackets, in any mixture; see the rules of this
    module. None is outside.

    Parameters
    ----------
    labels : sequence of str

    Returns
    -------
    list of (int, int, str)
        From left to right, without overlap.

    Examples
    --------
    >>> chunks(["B-NP", "I-NP", "O", "I-VP", "B-VP"])
    [(0, 2, 'NP'), (3, 4, 'VP'), (4, 5, 'VP')]
    >>> chunks(["B-NP", "E-NP", "S-NP", "I-PP"])
    [(0, 2, 'NP'), (2, 3, 'NP'), (3, 4, 'PP')]
    """
    row = list(labels)
    try:
        boundaries = list(map(boundary, ["O", *row], row))  # a map takes half the time of a loop
    except TypeError:
        _refuse(row)
        raise
    spans: list[tuple[int, int, str]] = []
    start, kind = -1, ""
    for t, (ends, begins, new) in enumerate(boundaries):
        if begins:
            if start >= 0:
                spans.append((start, t, kind))
            start, kind = t, new
        elif ends and start >= 0:
            spans.append((start, t, kind))
            start = -1
    if start >= 0:
        spans.append((start, len(row), kind))
    return spans


def boundary_table(labels: Sequence[str | None]) -> tuple[list[int], list[int]]:
    """Return the boundaries between any two labels, and the number of each label's type.

    Returns
    -------
    between : list of int
        A row for each label before, and a last one for the beginning of a sentence, with a number
        for each label: 1 if a chunk ends between them, plus 2 if one begins.
    types : list of int
    """
    pairs = [boundary(before, label) for before in [*labels, "O"] for label in labels]
    number: dict[str, int] = {}
    types = [number.setdefault(split_label(label)[1], len(number)) for label in labels]
    return [ends + 2 * begins for ends, begins, _ in pairs], types


def _refuse(labels: list[Any]) -> None:
    """Raise the error that names the label that is not a string, if there is one."""
    for t, label in enumerate(labels):
        try:
            split_label(label)
        except TypeError as error:
            raise TypeError(f"position {t}: {error}") from None


@lru_cache(maxsize=1 << 16)  # few pairs of labels, many tokens
def boundary(previous: Any, label: Any) -> tuple[bool, bool, str]:
    """Return whether a chunk ends between two labels, whether one begins, and the second's type.

    If one begins, the one before ends in any case.
    """
    (before, old), (tag, new) = split_label(previous), split_label(label)
    before, tag = _ALIASES.get(before, before), _ALIASES.get(tag, tag)
    if old != new:
        return before not in _OUTSIDE, tag not in _OUTSIDE, new
    ends = before in _ALONE or (tag == "O" and before in _IN_CHUNK)
    begins = tag in _ALONE or before in _BEGINS_AFTER.get(tag, _NEVER)
    return ends, begins, new
