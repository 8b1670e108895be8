"""Label Studio's JSON: tasks with annotations, and with the predictions of models."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ...exceptions import LineError
from ..answers import as_json
from ..files import parsed_json
from ..tokens import NO_TEXT, is_text
from .span_format import SpanFormat
from .span_lines import as_line

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

    from ..spans import Document, Span

_LOOKED_AT = 1 << 16
_TASKS = rb'\[\s*\{.*?"data"\s*:\s*\{'


class LabelStudio(SpanFormat):
    """Label Studio's JSON: an array of tasks, {"data": {"text": ...}, "annotations": [...]}.

    The first annotation that was not cancelled counts; if no task of the file has one, the first
    prediction. What a model finds is written as a prediction, beside the annotations.
    """

    name = "labelstudio"
    called = "Label Studio's JSON"
    replaces = False

    @classmethod
    def sniff(cls, head: bytes) -> bool:
        start = head[:_LOOKED_AT].removeprefix(b"\xef\xbb\xbf").lstrip()
        return start[:1] == b"[" and re.match(_TASKS, start, re.DOTALL) is not None

    def whole(self, pieces: Iterable[tuple[bytes, int]]) -> Iterable[tuple[bytes, int]]:
        return [(b"".join(text for text, _ in pieces), 0)]

    def _parsed(self, text: bytes, line: int) -> list[tuple[Any, Document]]:
        content = self._decoded(text, line)
        try:
            tasks = parsed_json(content)
        except LineError as error:
            reason = f"not a JSON array of Label Studio's tasks: {error.reason}"
            raise LineError(error.line or 1, reason) from None
        if not isinstance(tasks, list):
            raise LineError(1, "Label Studio's export is an array of tasks, [{...}, {...}]")
        judged = any(_annotations(task) for task in tasks)
        return [(task, self._document(task, n, judged)) for n, task in enumerate(tasks, 1)]

    def _document(self, task: Any, number: int, judged: bool) -> Document:
        from ..spans import Document

        where = f"task {number}"
        data = task.get("data") if isinstance(task, dict) else None
        if not isinstance(data, dict):
            raise LineError(0, f'{where}: a task is an object, {{"data": {{"text": "..."}}}}')
        answers = _annotations(task) if judged else _listed(task, "predictions")
        regions = _regions(answers[0]) if answers else []
        key = _text_key(data, regions)
        if key is None:
            raise LineError(0, f"{where}: its data has no text: {', '.join(map(repr, data))}")
        text = data[key]
        if not is_text(text):
            raise LineError(0, f"{where}: the text {text!r:.60}: {NO_TEXT}")
        name = data.get("name")
        document = Document(text, name=name if isinstance(name, str) else "", where=where)
        if answers:
            document.spans = [span for region in regions for span in _spans(document, region)]
        elif _listed(task, "annotations"):
            document.skipped = f"{where}: its annotation was cancelled"
        if len(answers) > 1 and judged:
            document.where = f"{where} (the first of {len(answers)} annotations)"
        return document

    def _fresh(self, document: Document, number: int) -> Any:
        named = {"name": document.name} if document.name else {}
        return {"data": {"text": document.text, **named}}

    def _put(self, item: Any, document: Document, spans: list[Span], predicted: bool) -> None:
        first: dict[str, Any] = next(
            (r for a in _annotations(item) for r in _regions(a)),
            next((r for a in _listed(item, "predictions") for r in _regions(a)), {}),
        )
        key = _text_key(item["data"], [first]) or "text"
        result = []
        for number, span in enumerate(spans, 1):
            value: dict[str, Any] = {"start": span.start, "end": span.end}
            value |= {"text": document.text[span.start : span.end], "labels": [span.label]}
            region: dict[str, Any] = {
                "id": f"s{number}",
                "from_name": first.get("from_name", "label"),
                "to_name": first.get("to_name", key),
                "type": "labels",
                "value": value,
            }
            if span.confidence is not None:
                region["score"] = as_json(span.confidence)
            result.append(region)
        if not predicted:
            item["annotations"] = [{"result": result}]
            return
        answer: dict[str, Any] = {"model_version": "structlearn", "result": result}
        sure = [span.confidence for span in spans if span.confidence is not None]
        if sure:
            answer["score"] = as_json(min(sure))
        item["predictions"] = [answer]

    def _joined(self, items: list[Any]) -> bytes:
        return self._encoded("[" + ",\n ".join(map(as_line, items)) + "]\n")


def _listed(task: Any, key: str) -> list[Any]:
    items = task.get(key) if isinstance(task, dict) else None
    return [one for one in items if isinstance(one, dict)] if isinstance(items, list) else []


def _annotations(task: Any) -> list[Any]:
    """Return the annotations of a task that were not cancelled."""
    answers = _listed(task, "annotations") or _listed(task, "completions")
    return [one for one in answers if not one.get("was_cancelled")]


def _regions(answer: Any) -> list[Any]:
    """Return the labelled regions of a text that an answer has."""
    return [
        region
        for region in _listed(answer, "result")
        if region.get("type") in (None, "labels", "hypertextlabels")
        and isinstance(region.get("value"), dict)
        and "start" in region["value"]
    ]


def _text_key(data: dict[str, Any], regions: list[Any]) -> str | None:
    """Return the key of the text that was labelled."""
    texts = [key for key, value in data.items() if isinstance(value, str)]
    wanted = [regions[0].get("to_name")] if regions else []
    first = [key for key in (*wanted, "text") if key in texts]
    return (first or texts or [None])[0]


def _spans(document: Document, region: Any) -> list[Span]:
    from ..spans import checked_span

    value = region["value"]
    labels = value.get("labels", value.get("hypertextlabels"))
    if not isinstance(labels, list):
        raise document.fault(f"the region {value!r:.80} has no list of labels")
    place = value.get("start"), value.get("end")
    written, sure = value.get("text"), region.get("score")
    if not isinstance(written, str):
        return [checked_span(document, *place, label, sure) for label in labels]
    # Older versions count as JavaScript does; the text of a region tells.
    for utf16 in (False, True):
        document.utf16 = utf16
        try:
            spans = [checked_span(document, *place, label, sure) for label in labels]
        except LineError:
            if utf16:
                break
            continue
        if all(document.text[s.start : s.end].strip() == written.strip() for s in spans):
            return spans
    document.utf16 = False
    spans = [checked_span(document, *place, label, sure) for label in labels]
    there = document.text[spans[0].start : spans[0].end] if spans else ""
    if not spans:
        return spans
    raise document.fault(
        f"the region from {place[0]} to {place[1]} is {written!r:.60}, and the text has "
        f"{there!r:.60} there: was the text changed"
    )
