"""brat's standoff files: a folder of texts, each with a file of annotations beside it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...exceptions import LineError
from ..answers import as_text
from ..files import parsed_json
from ..tokens import is_text
from .span_format import SpanFormat
from .span_lines import as_line

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

    from ..spans import Document, Span

_SPAN = r"(T[^\t]*)\t([^\s]+) ([0-9]+ [0-9]+(?:;[0-9]+ [0-9]+)*)\t(.*)"
_BLANK = re.compile(r"\s")
#: Offsets of more digits than any text has characters.
_LONGEST = 18


class Brat(SpanFormat):
    """A folder with NAME.txt and NAME.ann, brat's standoff format, for each document.

    Its files are packed in one text, a line of JSON for each document (see
    :mod:`structlearn.text.brat_folders`). Only lines of spans (T1, T2, ...) are read. Spans in
    several pieces are refused: a tagger cannot learn them.
    """

    name = "brat"
    called = "brat's standoff files"
    extensions = (".ann",)
    ends = re.compile(rb"\n")
    folder = True

    @classmethod
    def sniff(cls, head: bytes) -> bool:
        return head.startswith(b'{"brat": ')

    def _parsed(self, text: bytes, line: int) -> list[tuple[Any, Document]]:
        parsed = []
        for n, row in enumerate(self._decoded(text, line).split("\n"), line + 1):
            if row.strip():
                try:
                    item = parsed_json(row)
                except LineError as error:
                    raise LineError(n, f"not a document of brat: {error.reason}") from None
                parts = [item.get(k) for k in ("brat", "text", "ann")] if _is_item(item) else [0]
                if not all(
                    isinstance(part, str) and is_text(part) for part in parts if part is not None
                ):
                    raise LineError(n, "not a document of brat: name the folder of its files")
                parsed.append((item, self._document(item)))
        return parsed

    def _document(self, item: Any) -> Document:
        from ..spans import Document

        document = Document(item["text"], name=item["brat"], where=f"{item['brat']}.ann")
        if item["ann"] is not None:
            rows = enumerate(item["ann"].split("\n"), 1)
            document.spans = [
                self._span(document, row.rstrip("\r"), n) for n, row in rows if row[:1] == "T"
            ]
        return document

    def _span(self, document: Document, row: str, line: int) -> Span:
        from ..spans import checked_span

        file, document.where = document.where, f"{document.where}, line {line}"
        match = re.fullmatch(_SPAN, row, re.DOTALL)
        if match is None:
            raise document.fault(f"{row!r:.60} is no span: T1, a tab, LABEL START END, a tab, text")
        name, label, places, written = match.groups()
        if ";" in places:
            raise document.fault(
                f"{name}, {written!r:.60} ({label}, {places}), is in several pieces: a tagger "
                "learns spans of one piece. Make one span of it, or spans of its pieces"
            )
        start, end = places.split(" ")
        if max(len(start), len(end)) > _LONGEST:
            raise document.fault(f"{places:.60} are no offsets of a span")
        span = checked_span(document, int(start), int(end), label)
        there = document.text[span.start : span.end]
        if _BLANK.sub(" ", there) != _BLANK.sub(" ", written):
            raise document.fault(
                f"{name} is {written!r:.60}, and the text has {there!r:.60} from {start} to {end}: "
                "was the text changed, or are offsets not counted in characters"
            )
        document.where = file
        return span

    def _fresh(self, document: Document, number: int) -> Any:
        return {"brat": document.name or f"{number:05}", "text": document.text, "ann": None}

    def _put(self, item: Any, document: Document, spans: list[Span], predicted: bool) -> None:
        rows = []
        for n, span in enumerate(spans, 1):
            words = _BLANK.sub(" ", document.text[span.start : span.end])
            rows.append(f"T{n}\t{span.label} {span.start} {span.end}\t{words}\n")
        for n, span in enumerate(spans, 1):
            if span.confidence is not None:
                sure = as_text(float(span.confidence))
                rows.append(f"#{n}\tAnnotatorNotes T{n}\tconfidence {sure}\n")
        item["ann"] = "".join(rows)

    def fault(self, label: str, names: Sequence[str]) -> str:
        return "it has a blank in it, which ends a label" if _BLANK.search(label) else ""

    def _joined(self, items: list[Any]) -> bytes:
        return "".join(f"{as_line(item)}\n" for item in items).encode()


def _is_item(item: Any) -> bool:
    """Tell an object that has the parts of a document."""
    if not isinstance(item, dict) or "ann" not in item or not item.get("brat"):
        return False
    return all(isinstance(item.get(key), str) for key in ("brat", "text"))
