"""Wapiti's model files, read without Wapiti.

A file is text: a header with the kind of model and the number of nonzero weights, patterns, labels
and observations as netstrings (``3:u:a,``), and the weights, ``number=0x1.8p+0``. An observation
that begins with u has a weight per label, with b one per pair of labels, with * both.

References
----------
T. Lavergne, O. Cappé & F. Yvon (2010), Practical very large scale CRFs.
"""

from __future__ import annotations

import math
import re
from array import array
from collections import Counter
from typing import TYPE_CHECKING

from ..exceptions import CapabilityError
from ..text.wapiti import parse_pattern
from .foreign import FeatureWeights, ForeignFile, ForeignTagger

if TYPE_CHECKING:
    from ..text.templates import Template

_HEAD = re.compile(rb"#mdl#(?:(\d)#)?(\d+)")
_READER = re.compile(rb"#rdr#(\d+)/(\d+)(?:/([01]))?")
_MEMM = b"1"
#: Label pairs are counted in 32 bits.
_MOST_LABELS = 2**15
#: A table of all label pairs is always made, however few have weights.
_MOST_PAIRS = 2**26


def parse_wapiti_model(data: bytes, name: str) -> ForeignTagger:
    """Return the content of a model file.

    Parameters
    ----------
    data : bytes
        The file.
    name : str
        Its name, for messages.
    """
    file = ForeignFile(name, "Wapiti model", data)
    head = _HEAD.fullmatch(file.line("the head"))
    if head is None:
        file.refuse("the file does not begin with #mdl#", 0)
    if head[1] == _MEMM:
        raise CapabilityError(
            f"{name} is a maximum-entropy Markov model, whose scores are normalised label by "
            "label: it is not a chain of scores. Train it with Wapiti's --type crf"
        )
    patterns = _read_patterns(file)
    labels = [file.text(label, "a label") for label in _read_strings(file, "labels")]
    if not labels or len(labels) > _MOST_LABELS:
        file.refuse(f"the model has {len(labels)} labels; 1 to {_MOST_LABELS} are supported")
    if len(set(labels)) != len(labels):
        file.refuse("a label occurs twice")
    observations = _read_strings(file, "observations")
    weights = _Weights(file, file.number(head[2], "the number of weights"))
    if len(labels) ** 2 > _MOST_PAIRS:
        file.refuse(f"a table of all pairs of {len(labels)} labels would be too large")
    templates = [template for pattern in patterns for template in _templates(file, pattern)]
    constant = Counter((p[0].lower() + p[1:]).encode() for p in patterns if "%" not in p)
    varying = any(t.transition for t in templates)
    state, pair = FeatureWeights(), FeatureWeights()
    transition = array("d", bytes(8 * len(labels) ** 2))
    n, at = len(labels), 0
    for observation in observations:
        kind = observation[:1]
        if kind not in (b"u", b"b", b"*"):
            file.refuse(f"an observation begins with u, b or *, not with {kind!r}")
        if kind in b"u*":
            state.add(observation, weights.take(at, n))
            at += n
        if kind in b"b*":
            own = weights.take(at, n * n)
            at += n * n
            for outcome, weight in own:
                transition[outcome] += constant[observation] * weight
            if varying:  # a pattern may repeat the constant feature of another one
                pair.add(observation, own)
    weights.end(at)
    columns = [int(a.column[1:]) for t in templates for a, _ in t.atoms]
    return ForeignTagger(
        "Wapiti", labels, templates, max(columns, default=1), state, pair, transition
    )


def _read_patterns(file: ForeignFile) -> list[str]:
    head = _READER.fullmatch(file.line("the head of the patterns"))
    if head is None:
        file.refuse("the patterns do not begin with #rdr#")
    n = file.number(head[1], "the number of patterns")
    patterns = [file.text(_read_string(file), "a pattern") for _ in range(_possible(file, n))]
    if head[3] == b"1":
        raise CapabilityError(
            f"{file.name} is a maximum-entropy model of single lines (--me), not of sequences"
        )
    if not patterns:
        raise CapabilityError(
            f"{file.name} has no patterns: it was trained on features made by another program. "
            "What works: models with patterns"
        )
    return patterns


def _templates(file: ForeignFile, pattern: str) -> list[Template]:
    try:
        if not pattern:
            raise ValueError("an empty pattern")
        return parse_pattern(pattern)
    except ValueError as error:
        file.refuse(str(error))


def _possible(file: ForeignFile, n: int) -> int:
    """Return a number of strings; refuse one too large for the file."""
    if 4 * n > len(file.data) - file.at:
        file.refuse(f"{n} strings cannot be in the rest of the file")
    return n


def _read_string(file: ForeignFile) -> bytes:
    """Return the string of a line ``3:abc,``."""
    colon = file.data.find(b":", file.at, file.at + 20)
    if colon < 0:
        file.refuse("a string does not begin with its length and a colon")
    size = file.number(file.take(colon - file.at, "a length"), "the length of a string")
    file.take(1, "a colon")
    string = file.take(size, "a string")
    if file.take(2, "the end of a string") != b",\n":
        file.refuse("a string does not end with a comma and the line", file.at - 2)
    return string


def _read_strings(file: ForeignFile, what: str) -> list[bytes]:
    head = file.line(f"the head of the {what}")
    if not head.startswith(b"#qrk#"):
        file.refuse(f"the {what} do not begin with #qrk#")
    n = file.number(head[5:], f"the number of {what}")
    return [_read_string(file) for _ in range(_possible(file, n))]


class _Weights:
    """The nonzero weights, by their numbers."""

    def __init__(self, file: ForeignFile, n: int) -> None:
        self._file = file
        self._number, self._value = array("Q"), array("d")
        lines = file.data[file.at :].split(b"\n")
        if lines[-1] == b"":
            lines.pop()
        if len(lines) != n:
            file.refuse(f"there are {len(lines)} weights; the head says {n}")
        before = -1
        for line in lines:
            number, _, value = line.partition(b"=")
            place = file.number(number, "the number of a weight")
            weight = self._parsed(value)
            if place <= before:
                file.refuse(f"the weight {line[:40]!r} is out of order")
            if not math.isfinite(weight):
                file.refuse(f"the weight {line[:40]!r} is not finite: training has failed")
            before = place
            self._number.append(place)
            self._value.append(weight)
        self._next = 0

    def _parsed(self, value: bytes) -> float:
        try:
            return float.fromhex(value.decode("ascii"))
        except (ValueError, OverflowError):
            self._file.refuse(f"{value[:40]!r} is not a weight")

    def take(self, begin: int, size: int) -> list[tuple[int, float]]:
        """Return the weights numbered ``begin`` and on, with numbers counted from there."""
        first = self._next
        while self._next < len(self._number) and self._number[self._next] < begin + size:
            self._next += 1
        places = range(first, self._next)
        return [(self._number[j] - begin, self._value[j]) for j in places]

    def end(self, size: int) -> None:
        """Refuse weights beyond the last observation."""
        if self._next < len(self._number):
            number = self._number[self._next]
            self._file.refuse(f"weight {number} has no observation: there are {size} weights")
