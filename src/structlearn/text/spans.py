"""Spans of characters, and labels of tokens: documents become sentences, and labels spans.

A document is a text with spans (start, end, label), counted in characters of the text as it is
given. Its lines are its sentences, unless a span goes on in the next line.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ..exceptions import LineError
from ..metrics.boundaries import chunks
from .tokens import NO_TEXT, is_text

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

    from .tokenisers import Tokeniser

    Place = tuple[int, int]

#: The label of tokens of a document that nobody has labelled.
UNKNOWN = "_"
#: What marks the first and the later tokens of chunks, in any scheme.
_TAGS = ("B-", "I-", "E-", "S-", "L-", "U-")
_LINE_END = re.compile(r"[\r\n]")


class Span(NamedTuple):
    """A stretch of a text with a label.

    Attributes
    ----------
    start, end : int
        Its first character, and the one behind its last, counted from 0.
    label : str
    confidence : float or None
        The probability that it is right, with its label and both of its ends; None: it is not
        known.
    """

    start: int
    end: int
    label: str
    confidence: float | None = None


@dataclass
class Document:
    """A text with spans.

    Attributes
    ----------
    text : str
    spans : list of Span or None
        In the order of the file; None: nobody has labelled it.
    name : str
        Of its file, or its id.
    where : str
        Of which file, if it is one of several; for messages.
    line : int
        Where it begins in its file, from 1; 0: that is not known.
    looked : list of (start, end) or None
        The stretches that somebody has looked at: tokens elsewhere are unknown. None: all of it.
    utf16 : bool
        Offsets of its file count UTF-16 units, as JavaScript does: an emoji is two.
    skipped : str
        Why it is nothing to learn from, such as an answer that was rejected.
    """

    text: str
    spans: list[Span] | None = None
    name: str = ""
    where: str = ""
    line: int = 0
    skipped: str = ""
    utf16: bool = False
    looked: list[Place] | None = None

    def fault(self, reason: str) -> LineError:
        """Return an error that says where the document is."""
        return LineError(self.line, f"{self.where}: {reason}" if self.where else reason)

    def shown(self, span: Span) -> str:
        """Return a span as messages name it."""
        return f"{self.text[span.start : span.end]!r:.60} ({span.label}, {span.start}-{span.end})"


@dataclass
class CutDocument:
    """The tokens of a document.

    Attributes
    ----------
    sentences : list of lists of (begin, end)
    labels : list of lists of str
        B-, I- and O; or that nobody knows them.
    remarks : list of str
        Tokens that were split, one for each.
    """

    sentences: list[list[Place]] = field(default_factory=list)
    labels: list[list[str]] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def checked_span(
    document: Document, start: Any, end: Any, label: Any, confidence: Any = None
) -> Span:
    """Return a span of a document, read from a file; an error if there is no such thing."""
    for offset in (start, end):
        if isinstance(offset, bool) or not isinstance(offset, int):
            raise document.fault(f"the offset of a span is a whole number, not {offset!r:.40}")
    if not isinstance(label, str) or not label.strip():
        raise document.fault(f"the label of a span is a string, not {label!r:.40}")
    if not is_text(label):
        raise document.fault(f"the label {label!r:.40}: {NO_TEXT}")
    if document.utf16:
        start, end = (_in_characters(document.text, offset) for offset in (start, end))
    if not 0 <= start < end <= len(document.text):
        raise document.fault(
            f"there is no span from {start} to {end} ({label:.40}) in a text of "
            f"{len(document.text)} characters: offsets are counted in characters from 0, the end "
            "is behind the last one. If the tool counts UTF-16 units, structlearn convert "
            "--offsets utf16 mends that"
        )
    known = isinstance(confidence, (int, float)) and not isinstance(confidence, bool)
    return Span(start, end, label, float(confidence) if known else None)


def checked_stretches(document: Document, given: Any) -> list[Place]:
    """Return the stretches of a text that somebody has looked at, read from a file."""
    entries: list[Any] = given if isinstance(given, list) else [None]
    if not all(isinstance(one, list) and len(one) == 2 for one in entries):
        raise document.fault(
            f"what was looked at is a list of stretches, [[0, 12]], not {given!r:.60}"
        )
    found = [checked_span(document, start, end, UNKNOWN) for start, end in entries]
    return [(start, end) for start, end, *_ in found]


def _in_characters(text: str, offset: int) -> int:
    """Return an offset in UTF-16 units as one in characters; −1: it is inside a character."""
    units = text.encode("utf-16-le")
    if not 0 <= 2 * offset <= len(units):
        return -1
    try:
        return len(units[: 2 * offset].decode("utf-16-le"))
    except UnicodeDecodeError:
        return -1


def refuse_overlaps(document: Document, spans: Iterable[Span], why: str) -> None:
    """Raise if two spans have characters in common; ``why`` says who cannot have that."""
    before: Span | None = None
    for span in sorted(spans, key=lambda s: (s.start, -s.end)):
        if before is not None and span.start < before.end:
            inside = "lies inside" if span.end <= before.end else "overlaps"
            if span[:2] == before[:2]:
                inside = "has the same place as"
            raise document.fault(
                f"the span {document.shown(span)} {inside} {document.shown(before)}: {why}. Keep "
                "one of them, or train a model for each kind of label"
            )
        before = span


def cut_document(document: Document, cut: Tokeniser, split: bool = True) -> CutDocument:
    """Return the sentences of a document with their labels.

    Parameters
    ----------
    split : bool
        Split tokens where spans begin and end inside of them. Otherwise tokens and sentences are
        those of the text alone, whatever the spans are, which get whole tokens.
    """
    text, spans = document.text, document.spans
    places = cut(text)
    result = CutDocument()
    if spans is None:
        labels = [UNKNOWN] * len(places)
        inner: set[int] = set()
    else:
        if split:
            refuse_overlaps(document, spans, "a tagger gives each token one label")
            places = _split(document, places, spans, result.remarks)
        labels, inner = _labels(document, places, spans, split)
        inner = inner if split else set()
    looked = document.looked
    if looked is not None:
        for t, (begin, end) in enumerate(places):
            if not any(first <= begin and end <= last for first, last in looked):
                labels[t] = UNKNOWN
    for t, (begin, _) in enumerate(places):
        if t == 0 or (t not in inner and _LINE_END.search(text, places[t - 1][1], begin)):
            result.sentences.append([])
            result.labels.append([])
        result.sentences[-1].append(places[t])
        result.labels[-1].append(labels[t])
    return result


def _split(
    document: Document, places: list[Place], spans: Sequence[Span], remarks: list[str]
) -> list[Place]:
    """Return the tokens, split where spans begin and end."""
    text = document.text
    borders = sorted({at for span in spans for at in _trimmed(text, span)})
    tokens: list[Place] = []
    for begin, end in places:
        cuts = borders[bisect_right(borders, begin) : bisect_left(borders, end)]
        if not cuts:
            tokens.append((begin, end))
            continue
        pieces = [_trimmed(text, p) for p in zip([begin, *cuts], [*cuts, end], strict=True)]
        tokens += [(a, b) for a, b in pieces if a < b]
        cutting = next(s for s in spans if {*_trimmed(text, s)} & set(cuts))
        where = f"{document.where}: " if document.where else ""
        remarks.append(f"{where}the span {document.shown(cutting)} cuts {text[begin:end]!r:.60}")
    return tokens


def _trimmed(text: str, place: Sequence[Any]) -> Place:
    """Return a place without blanks at its ends."""
    begin, end = place[:2]
    piece = text[begin:end]
    return begin + len(piece) - len(piece.lstrip()), begin + len(piece.rstrip())


def _labels(
    document: Document, places: list[Place], spans: Sequence[Span], strict: bool
) -> tuple[list[str], set[int]]:
    """Return the labels of tokens, and the numbers of tokens that continue a span."""
    labels, inner = ["O"] * len(places), set[int]()
    ends = [end for _, end in places]
    begins = [begin for begin, _ in places]
    for span in spans:
        first, last = bisect_right(ends, span.start), bisect_left(begins, span.end)
        if first >= last:
            if strict:
                raise document.fault(f"the span {document.shown(span)} has no token in it")
            continue
        for t in range(first, last):
            labels[t] = f"{'B' if t == first else 'I'}-{span.label}"
        inner.update(range(first + 1, last))
    return labels, inner


def are_chunks(labels: Iterable[str]) -> bool:
    """Tell labels of chunks, B-PER, from labels of single tokens."""
    return any(label.startswith(_TAGS) for label in labels)


def found_spans(
    sentences: Sequence[Sequence[Place]],
    labels: Sequence[Sequence[str | None]],
    confidences: Sequence[Sequence[float]] | None = None,
    chunked: bool = True,
) -> list[Span]:
    """Return the spans that labels of tokens stand for.

    Parameters
    ----------
    confidences : list of lists of float, optional
        Of the tokens; those of a chunk all have that of the chunk.
    chunked : bool
        Labels are those of chunks; otherwise each token that has one other than O is a span.
    """
    spans = []
    for number, (places, row) in enumerate(zip(sentences, labels, strict=True)):
        if chunked:
            parts = chunks(None if label == UNKNOWN else label for label in row)
        else:
            parts = [(t, t + 1, k) for t, k in enumerate(row) if k not in ("O", UNKNOWN, None)]
        for first, last, kind in parts:
            sure = None if confidences is None else confidences[number][first]
            spans.append(Span(places[first][0], places[last - 1][1], kind, sure))
    return spans
