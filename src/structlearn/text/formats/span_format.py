"""Formats of documents with spans: read as sentences of tokens, written with what was found."""

from __future__ import annotations

from collections.abc import Sequence

from .format import Format, Sentences

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

    from ... import _core
    from ..answers import Answer
    from ..spans import CutDocument, Document, Span


class SpanFormat(Format):
    """Documents with spans. A subclass parses its objects, fills them and writes them.

    Read, a token is a word and its label, B-, I- or O; "_" in documents that nobody has labelled.
    """

    #: The file is a folder: what is read of it, and written to it, is packed in one text.
    folder = False
    #: Offsets in the file count UTF-16 units, as JavaScript does.
    utf16 = False
    #: Documents that were looked at in part can be written.
    holds_looked = False
    spans = True

    def __init__(self, header: bool = False) -> None:
        super().__init__(header)
        self._chunked = True
        self._filled = False  # labels are written, not learned from

    # -- what a subclass has --------------------------------------------------------------------

    def _parsed(self, text: bytes, line: int) -> list[tuple[Any, Document]]:
        """Return the objects of a piece, each with its document."""
        raise AssertionError

    def _fresh(self, document: Document, number: int) -> Any:
        """Return the object of a document that comes from another format, without its spans."""
        raise AssertionError

    def _put(self, item: Any, document: Document, spans: list[Span], predicted: bool) -> None:
        """Set the spans of an object; ``predicted``: a model has found them."""
        raise AssertionError

    def _joined(self, items: list[Any]) -> bytes:
        """Return the text of objects."""
        raise AssertionError

    # -- documents ------------------------------------------------------------------------------

    def documents(self, text: bytes, line: int = 0) -> list[Document]:
        """Return the documents of a piece."""
        return [document for _, document in self._parsed(text, line)]

    def render(self, documents: Sequence[Document], predicted: bool = False) -> bytes:
        """Return a file of documents; ``predicted``: a model has found their spans."""
        items = []
        for number, document in enumerate(documents, 1):
            for span in document.spans or ():
                if fault := self.fault(span.label, ()):
                    reason = f"{self.called} cannot hold the label {span.label!r:.60}: {fault}"
                    raise document.fault(reason)
            if document.looked is not None and not (predicted or self.holds_looked):
                raise document.fault(
                    f"{self.called} cannot say that a text was looked at in part, and what nobody "
                    "has looked at would be outside of all spans. JSON lines with spans (prodigy) "
                    "and columns can"
                )
            item = self._fresh(document, number)
            if document.spans is not None:
                self._put(item, document, document.spans, predicted)
            items.append(item)
        return self._joined(items)

    # -- sentences ------------------------------------------------------------------------------

    def prepare(self, first: bytes, labels: Sequence[str], beside: bool = False) -> None:
        from ..spans import are_chunks

        self._chunked = are_chunks(labels)
        self._filled = True

    def fault(self, label: str, names: Sequence[str]) -> str:
        return ""

    def read(self, text: bytes, line: int) -> Sentences:
        from ..spans import cut_document
        from ..tokenisers import tokeniser

        cut = tokeniser(self.tokens or "words")
        self._items: list[tuple[Any, Document, CutDocument]] = []
        sentences: Sentences = []
        # Where a model puts its own spans, those of the file decide nothing.
        counts = self.known or not self._filled
        for item, document in self._parsed(text, line):
            if document.skipped and not self._filled:
                self.remarks.append((document.line, document.skipped))
                continue
            tokens = cut_document(document, cut, split=self.splits and counts)
            self.remarks += [(document.line, remark) for remark in tokens.remarks]
            self._items.append((item, document, tokens))
            for places, labels in zip(tokens.sentences, tokens.labels, strict=True):
                words = [document.text[begin:end] for begin, end in places]
                pairs = zip(words, labels, strict=True)
                sentences.append([(document.line, pair) for pair in pairs])
        return sentences

    def fill(self, core: _core.Corpus, text: bytes) -> None:
        super().fill(core, b"".join(piece for piece, _ in self.whole([(text, 0)])))

    def write(self, added: list[list[Answer]], names: Sequence[str], place: int | None) -> bytes:
        from ..spans import found_spans

        answers = iter(added)
        sure = names.index("confidence") if "confidence" in names else None
        for item, document, tokens in self._items:
            rows = [next(answers) for _ in tokens.sentences]
            labels: Any = [[more[0] for more in row] for row in rows]
            confidences: Any = sure and [[more[sure] for more in row] for row in rows]
            spans = found_spans(tokens.sentences, labels, confidences, self._chunked)
            self._put(item, document, spans, True)
        return self._joined([item for item, _, _ in self._items])
