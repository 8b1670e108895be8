"""JSON lines of texts with spans: Prodigy's, doccano's and spaCy's spellings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ...exceptions import LineError
from ..answers import as_json
from ..tokens import NO_TEXT, is_text
from .format import first_line
from .span_format import SpanFormat

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

    from ..spans import Document, Span

#: Keys of texts, and of their spans; the first one that is there is read.
_TEXTS = ("text", "data")
_SPANS = ("spans", "label", "labels", "entities")
_STARTS, _ENDS = ("start", "start_offset"), ("end", "end_offset")
#: Answers of annotators who did not accept what is there.
_NOT_ACCEPTED = ("reject", "ignore")
#: The key of the stretches that somebody has looked at.
_LOOKED = "looked"
_TEXT_KEY = rb'"(?:text|data)"\s*:\s*"'
_WORDS_KEY = rb'"(?:tokens|words|forms?)"\s*:\s*\[\s*"'


class Prodigy(SpanFormat):
    """JSON lines as Prodigy has them: {"text": ..., "spans": [{"start", "end", "label"}]}.

    Read are doccano's spellings too, with whole files as arrays. Texts whose "answer" is "reject"
    or "ignore" are left out, and said. Tokens outside of "looked", a list of [start, end], are
    unknown: nobody has looked at them. What else an object holds stays.
    """

    name = "prodigy"
    called = "JSON lines with spans"
    extensions = (".jsonl", ".ndjson")
    ends = re.compile(rb"\n")
    holds_looked = True
    #: The key of spans in objects that have none.
    key = "spans"

    @classmethod
    def sniff(cls, head: bytes) -> bool:
        keys = _keys_of(head)
        return keys is not None and (
            "spans" in keys or not any(_is_spans(keys.get(key)) for key in _SPANS)
        )

    def whole(self, pieces: Iterable[tuple[bytes, int]]) -> Iterable[tuple[bytes, int]]:
        from .json_lines import JsonLines

        return JsonLines().whole(pieces)

    def _parsed(self, text: bytes, line: int) -> list[tuple[Any, Document]]:
        from .json_lines import JsonLines

        content = self._decoded(text, line)
        self._array = line == 0 and content.lstrip()[:1] == "["
        lines = JsonLines()
        items = lines._in_array(content) if self._array else lines._on_lines(content, line)
        return [(item, self._document(item, n)) for n, item in items]

    def _document(self, item: Any, line: int) -> Document:
        from ..spans import Document

        text = next((item[k] for k in _TEXTS if k in item), None) if isinstance(item, dict) else 0
        if not isinstance(text, str):
            raise LineError(line, 'a text with spans is an object, {"text": "...", "spans": [...]}')
        if not is_text(text):
            raise LineError(line, f"the text {text!r:.60}: {NO_TEXT}")
        name = item.get("id")
        name = str(name) if isinstance(name, (str, int)) and not isinstance(name, bool) else ""
        name = name if is_text(name) else ""
        document = Document(text, name=name, line=line, utf16=self.utf16)
        if item.get("answer") in _NOT_ACCEPTED:
            document.skipped = f"the answer is {item['answer']!r}"
        key = next((key for key in _SPANS if item.get(key) is not None), None)
        if key is not None:  # null: nobody has labelled it
            document.spans = _spans_of(document, item[key], key)
        if item.get(_LOOKED) is not None:
            from ..spans import checked_stretches

            document.looked = checked_stretches(document, item[_LOOKED])
        return document

    def _fresh(self, document: Document, number: int) -> Any:
        return {**({"id": document.name} if document.name else {}), "text": document.text}

    def _put(self, item: Any, document: Document, spans: list[Span], predicted: bool) -> None:
        key = next((key for key in _SPANS if key in item), self.key)
        before = item.get(key)
        listed = key in ("label", "labels") and not (before and isinstance(before[0], dict))
        offsets = (_STARTS[0], _ENDS[0])
        if before and isinstance(before[0], dict):
            offsets = _key(before[0], _STARTS), _key(before[0], _ENDS)
            listed = False
        elif before and isinstance(before[0], list):
            listed = True
        item.pop(f"{key}_confidence", None)
        item.pop(_LOOKED, None)
        if document.looked is not None and not predicted:
            item[_LOOKED] = [list(stretch) for stretch in document.looked]
        entries: list[Any] = []
        if listed:
            item[key] = [[s.start, s.end, s.label] for s in spans]
            if spans and spans[0].confidence is not None:
                item[f"{key}_confidence"] = [as_json(s.confidence) for s in spans]
        else:
            small = bool(before) and isinstance(before[0].get("labels"), list)  # Label Studio's
            for span in spans:
                text = document.text[span.start : span.end]
                entries.append(_entry(span, *offsets, text if small else None))
            item[key] = entries

    def _joined(self, items: list[Any]) -> bytes:
        if getattr(self, "_array", False):
            return self._encoded("[" + ",\n ".join(map(as_line, items)) + "]\n")
        return self._encoded("".join(f"{as_line(item)}\n" for item in items))


class Doccano(Prodigy):
    """JSON lines as doccano has them: {"text": ..., "label": [[start, end, label]]}."""

    name = "doccano"
    called = "doccano's JSON lines"
    key = "label"

    @classmethod
    def sniff(cls, head: bytes) -> bool:
        keys = _keys_of(head)
        return keys is not None and not Prodigy.sniff(head)


def _keys_of(head: bytes) -> dict[str, Any] | None:
    """Return the first object of a file of texts; None: it is none."""
    line = first_line(head).strip()
    if line[:1] == b"[":
        line = head.removeprefix(b"\xef\xbb\xbf").strip()[1:].strip()[: 1 << 16]
    if line[:1] != b"{" or not re.search(_TEXT_KEY, line) or re.search(_WORDS_KEY, line):
        return None
    import json

    try:
        first, _ = json.JSONDecoder().raw_decode(line.decode(errors="replace"))
    except (ValueError, RecursionError):
        # The beginning of a long one: whoever reads it says what is wrong with it.
        return {key: [] for key in _SPANS if f'"{key}"'.encode() in line}
    if not any(isinstance(first.get(key), str) for key in _TEXTS):
        return None
    return dict(first)


def _is_spans(value: Any) -> bool:
    return isinstance(value, list)


def _key(entry: dict[str, Any], names: Sequence[str]) -> str:
    return next((name for name in names if name in entry), names[0])


def _spans_of(document: Document, entries: Any, key: str) -> list[Span]:
    """Return the spans in an object, in any of the spellings."""
    from ..spans import checked_span

    if not isinstance(entries, list):
        raise document.fault(
            f"{key!r} is {entries!r:.60}, a label of the whole text? Spans are a list, "
            '[{"start": 0, "end": 5, "label": "PER"}] or [[0, 5, "PER"]]'
        )
    spans = []
    for entry in entries:
        if isinstance(entry, dict):
            several = entry.get("labels")
            labels = several if isinstance(several, list) else [entry.get("label")]
            sure = entry.get("confidence", entry.get("score"))
            start, end = entry.get(_key(entry, _STARTS)), entry.get(_key(entry, _ENDS))
            spans += [checked_span(document, start, end, label, sure) for label in labels]
        elif isinstance(entry, list) and len(entry) == 3:
            spans.append(checked_span(document, *entry))
        else:
            raise document.fault(
                f'{entry!r:.60} is no span: {{"start": 0, "end": 5, "label": "PER"}} or '
                '[0, 5, "PER"]'
            )
    return spans


def _entry(span: Span, start: str, end: str, text: str | None) -> Any:
    """Return a span as an object; with its ``text``, as Label Studio's small export has it."""
    entry: dict[str, Any] = {start: span.start, end: span.end}
    entry |= {"label": span.label} if text is None else {"text": text, "labels": [span.label]}
    if span.confidence is not None:
        entry["confidence"] = as_json(span.confidence)
    return entry


def as_line(item: Any) -> str:
    """Return an object as JSON on one line."""
    import json

    row = json.dumps(item, ensure_ascii=False)
    return row if is_text(row) else json.dumps(item)
