"""Labelled texts from one format to another."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from ..exceptions import FileError, LineError
from .corpus import Corpus, corpus_of, find_column, warn_of_remarks
from .files import read_bytes, written_text
from .formats import FORMATS, check_format, guess_format, span_formats, token_formats
from .formats.rewritten import text_documents
from .spans import Document, are_chunks, cut_document, found_spans
from .tokenisers import tokeniser

#: How the names of column files end.
_COLUMNS = (".txt", ".tsv", ".conll", ".bio", ".iob", ".col")
#: The same of the other formats.
_ENDINGS = {".jsonl": "prodigy", ".ndjson": "prodigy", ".json": "labelstudio", ".spacy": "docbin"}


def convert_file(
    source: str,
    output: str,
    *,
    format: str | None = None,
    to: str | None = None,
    target: str | None = None,
    tokens: str | None = None,
    offsets: str = "characters",
) -> tuple[int, int]:
    """Write labelled texts in another format; return the numbers of texts and of their spans.

    Parameters
    ----------
    source, output : path
        Files, or the folder of brat's.
    format, to : str, optional
        Their formats; by default they go by the names and the content.
    target : str, optional
        The column of the labels, where the source holds tokens; by default the last one.
    tokens : str, optional
        How texts are cut, where the output holds tokens; by default "words".
    offsets : {"characters", "utf16"}
        What offsets of the source count: characters, or UTF-16 units, as JavaScript does.
    """
    kind = format_of_name(output) if to is None else to
    documents = read_documents(source, format, target, utf16=offsets == "utf16")
    write_documents(documents, output, kind, tokens, source=source)
    return len(documents), sum(len(document.spans or ()) for document in documents)


def format_of_name(path: str) -> str:
    """Return the format that the name of a new file stands for."""
    name = path.lower().removesuffix(".gz")
    ending = os.path.splitext(name)[1]
    if ending in _ENDINGS:
        return _ENDINGS[ending]
    if ending in _COLUMNS:
        return "columns"
    if path.endswith(("/", os.sep)) or os.path.isdir(path) or not ending:
        return "brat"
    raise ValueError(
        f"{path}: its name does not say the format; choose one with --to: columns, prodigy, "
        "doccano, labelstudio, brat or docbin (models: structlearn convert-model)"
    )


def read_documents(
    path: str, format: str | None = None, target: str | None = None, *, utf16: bool = False
) -> list[Document]:
    """Return the texts of a file with their spans.

    Sentences of tokens are texts with a blank between tokens.
    """
    text = read_bytes(path)
    chosen = check_format(format, token_formats()) or guess_format(path, text, "text")
    reader: Any = FORMATS[chosen]()
    reader.utf16 = utf16
    if not reader.spans and chosen != "text":
        return _joined_sentences(corpus_of(path, text, chosen), target)
    try:
        if chosen == "text":
            documents = text_documents(text.decode("utf-8-sig"))
        else:
            whole = reader.whole([(text, 0)])
            documents = [
                document for piece, line in whole for document in reader.documents(piece, line)
            ]
    except UnicodeDecodeError:
        raise FileError(path, "not valid UTF-8: convert the file to UTF-8 first") from None
    except LineError as error:
        raise error.in_file(path) from None
    left_out = [(document.line, document.skipped) for document in documents if document.skipped]
    warn_of_remarks(path, left_out)
    return [document for document in documents if not document.skipped]


def _joined_sentences(corpus: Corpus, target: str | None) -> list[Document]:
    """Return sentences as texts; labels of chunks are spans, others are of single tokens."""
    word = 1 if corpus.format == "conllu" else 0
    try:
        column = find_column(target or "-1", corpus.format, corpus.n_columns)
    except ValueError as error:
        raise FileError(corpus.path or "the corpus", str(error)) from None
    rows = [[None if cell == "_" else cell for cell in s.column(column)] for s in corpus]
    chunked = are_chunks(label for row in rows for label in row if label is not None)
    documents = []
    for sentence, labels in zip(corpus, rows, strict=True):
        words, places, at = sentence.column(word), [], 0
        for one in words:
            places.append((at, at + len(one)))
            at += len(one) + 1
        known = column != word and any(label is not None for label in labels)
        spans = found_spans([places], [labels], None, chunked) if known else None
        documents.append(Document(" ".join(words), spans))
    return documents


def write_documents(
    documents: Sequence[Document],
    path: str,
    to: str,
    tokens: str | None = None,
    *,
    source: str = "",
) -> None:
    """Write texts with their spans in a format: one of texts with spans, or columns.

    ``source``: the file that they come from, which errors name.
    """
    if to == "columns":
        _write_columns(documents, path, tokens, source or path)
        return
    if to not in span_formats():
        names = ", ".join(("columns", *span_formats()))
        raise ValueError(f"texts with spans are written as one of {names}, not as {to!r}")
    writer: Any = FORMATS[to]()
    writer.tokens = tokens
    try:
        content = writer.render(documents)
    except LineError as error:
        raise error.in_file(source or path) from None
    with written_text(path, folder=writer.folder) as file:
        file.write(content)


def _write_columns(
    documents: Sequence[Document], path: str, tokens: str | None, source: str
) -> None:
    cut, sentences, remarks = tokeniser(tokens or "words"), [], []
    for number, document in enumerate(documents, 1):
        if not (document.line or document.where):
            document.where = f"text {number}"
        try:
            tokens_of_text = cut_document(document, cut)
        except LineError as error:
            raise error.in_file(source) from None
        remarks += [(document.line, remark) for remark in tokens_of_text.remarks]
        for places, labels in zip(tokens_of_text.sentences, tokens_of_text.labels, strict=True):
            words = [document.text[begin:end] for begin, end in places]
            sentences.append(list(zip(words, labels, strict=True)))
    warn_of_remarks(source, remarks)
    Corpus.from_sentences(sentences).write(path)
