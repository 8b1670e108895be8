"""spaCy's DocBin: documents with entities, where spaCy is installed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from itertools import pairwise

from ...exceptions import LineError
from .span_format import SpanFormat

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

    from ..spans import Document, Span


class DocBin(SpanFormat):
    """spaCy's training files: documents and their entities (``doc.ents``)."""

    name = "docbin"
    called = "spaCy's DocBin"
    extensions = (".spacy",)

    @classmethod
    def sniff(cls, head: bytes) -> bool:
        if head[:1] != b"\x78":  # of zlib
            return False
        import zlib

        try:
            return b"tokens" in zlib.decompressobj().decompress(head[:4096], 4096)
        except zlib.error:
            return False

    def whole(self, pieces: Iterable[tuple[bytes, int]]) -> Iterable[tuple[bytes, int]]:
        return [(b"".join(text for text, _ in pieces), 0)]

    def _parsed(self, text: bytes, line: int) -> list[tuple[Any, Document]]:
        from ..spans import Document, checked_span

        spacy = _spacy()
        vocab = spacy.vocab.Vocab()
        try:
            held = spacy.tokens.DocBin().from_bytes(text)
            docs = list(held.get_docs(vocab))
            texts = [(doc, doc.text, doc.has_annotation("ENT_IOB")) for doc in docs]
            entities = [[(e.start_char, e.end_char, e.label_) for e in doc.ents] for doc in docs]
        except Exception as error:  # of a package that does not say which
            raise LineError(0, f"not a DocBin that this spaCy can read: {error!s:.80}") from None
        parsed = []
        for n, ((doc, whole, known), found) in enumerate(zip(texts, entities, strict=True), 1):
            document = Document(whole, where=f"document {n}")
            if known or not len(doc):
                document.spans = [checked_span(document, *entity) for entity in found]
            parsed.append((doc, document))
        return parsed

    def _fresh(self, document: Document, number: int) -> Any:
        from ..spans import refuse_overlaps
        from ..tokenisers import tokeniser

        spans = document.spans or []
        refuse_overlaps(document, spans, "entities of a spaCy document have no tokens in common")
        text = document.text
        places = tokeniser(self.tokens or "words")(text)
        edges = {0, len(text), *(at for place in places for at in place)}
        borders = sorted(edges.union(*((s.start, s.end) for s in spans)))
        words: list[str] = []
        spaces: list[bool] = []
        inside = {at for span in spans for at in (span.start, span.end)}
        for begin, end in pairwise(borders):
            piece = text[begin:end]
            # A space behind a token belongs to it, unless a span begins or ends between them.
            own = begin in inside or begin + 1 in inside
            if piece[0] == " " and words and not spaces[-1] and not own:
                spaces[-1] = True
                piece = piece[1:]
            if piece:
                words.append(piece)
                spaces.append(False)
        spacy = _spacy()
        doc = spacy.tokens.Doc(spacy.vocab.Vocab(), words=words, spaces=spaces)
        if doc.text != text:
            raise document.fault("spaCy cannot hold its text")
        return doc

    def _put(self, item: Any, document: Document, spans: list[Span], predicted: bool) -> None:
        entities: list[Any] = []
        for span in spans:
            made = item.char_span(span.start, span.end, span.label, alignment_mode="expand")
            if made is not None and not (entities and made.start < entities[-1].end):
                entities.append(made)
        item.set_ents(entities, default="outside")

    def fault(self, label: str, names: Sequence[str]) -> str:
        return ""

    def _joined(self, items: list[Any]) -> bytes:
        held = _spacy().tokens.DocBin(attrs=["ENT_IOB", "ENT_TYPE"])
        for doc in items:
            held.add(doc)
        content: bytes = held.to_bytes()
        return content


def _spacy() -> Any:
    """Return spaCy, with the modules that hold documents."""
    try:
        for module in ("spacy.tokens", "spacy.vocab"):
            import_module(module)
    except ImportError:
        raise ImportError(
            "spaCy's DocBin needs spaCy: pip install spacy. JSON lines with spans need nothing",
            name="spacy",
        ) from None
    return import_module("spacy")
