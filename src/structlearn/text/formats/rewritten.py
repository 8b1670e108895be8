"""Documents read from files of one format and written in another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .span_format import SpanFormat

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

    from ..spans import Document, Span


class Rewritten(SpanFormat):
    """Texts of one format, labelled and written in another.

    Parameters
    ----------
    source : SpanFormat or None
        What reads the file; None: it is running text, and each line is a document.
    target : SpanFormat
        What writes it.
    """

    replaces = False

    def __init__(self, source: SpanFormat | None, target: SpanFormat) -> None:
        super().__init__()
        self._source, self._target = source, target
        self.called, self.folder = target.called, target.folder

    def fault(self, label: str, names: Sequence[str]) -> str:
        return self._target.fault(label, names)

    def whole(self, pieces: Iterable[tuple[bytes, int]]) -> Iterable[tuple[bytes, int]]:
        read = pieces if self._source is None else self._source.whole(pieces)
        if self._target.ends is not None:
            return read
        return [(b"".join(text for text, _ in read), 0)]  # its files are written as a whole

    def _parsed(self, text: bytes, line: int) -> list[tuple[Any, Document]]:
        if self._source is None:
            documents = text_documents(self._decoded(text, line), line)
        else:
            documents = self._source.documents(text, line)
        return [(document, document) for document in documents]

    def _put(self, item: Any, document: Document, spans: list[Span], predicted: bool) -> None:
        document.spans = spans

    def _joined(self, items: list[Any]) -> bytes:
        self._target.tokens = self.tokens
        return self._target.render(items, predicted=True)


def text_documents(text: str, line: int = 0) -> list[Document]:
    """Return each line of a text that is not blank as a document.

    ``line``: the number of lines before the text.
    """
    from ..spans import Document

    rows = ((n, row.rstrip("\r")) for n, row in enumerate(text.split("\n"), line + 1))
    return [Document(row, line=n) for n, row in rows if row.strip()]
