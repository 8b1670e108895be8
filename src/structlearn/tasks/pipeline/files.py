"""Files of text, annotated piece by piece."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator

from ...exceptions import FileError
from ...text.files import open_bytes
from ...text.line_ends import ENDS, last_paragraph_end
from .doc import Doc

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import IO, Any

__all__ = ["FORMATS", "text_pieces", "write_annotated", "written_doc"]

FORMATS = ("conllu", "json", "html", "text")
#: Bytes that are read at a time, and the most that a piece without a blank line has.
_SIZE, _MOST = 1 << 17, 1 << 20
#: Characters at its end in which the beginning of a sentence is looked for.
_WINDOW = 1 << 14


def text_pieces(
    source: str | os.PathLike[str],
    size: int = _SIZE,
    last_sentence: Callable[[str], int] | None = None,
) -> Iterator[str]:
    """Yield a file as texts of about ``size`` bytes that end where a paragraph ends.

    Memory does not depend on the size of the file: a paragraph of more than a megabyte is cut where
    the last sentence begins, of those that ``last_sentence`` finds in its last 16,384 characters;
    where it finds one sentence alone, after the last line end or blank; and where there is no
    blank either, after the megabyte. Line ends may be any of :mod:`structlearn.text.line_ends`; a
    CRLF is never torn. The pieces together are the file, but for a byte order mark.

    Parameters
    ----------
    last_sentence : callable, optional
        From a text to the place where its last sentence begins.
    """
    import codecs

    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    held, n_read = "", 0
    with open_bytes(source) as file:
        while block := file.read(size):
            begin = len(held.rstrip())  # no blank line ends before
            try:
                held += decoder.decode(block)
            except UnicodeDecodeError as error:
                reason = (
                    f"not valid UTF-8 after byte {n_read + error.start}: convert the file first"
                )
                raise FileError(os.fspath(source), reason) from None
            n_read += len(block)
            if "\0" in held:
                raise FileError(
                    os.fspath(source), "it has NUL characters: not text, or not in UTF-8 (UTF-16?)"
                )
            end = len(held) - held.endswith("\r")  # which may be half of a line end
            cut = last_paragraph_end(held, begin, end)
            if not cut and len(held) > _MOST:
                cut = _cut(held[:end], last_sentence)
            if cut:
                yield held[:cut]
                held = held[cut:]
    try:
        held += decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise FileError(os.fspath(source), "not valid UTF-8: the last character is torn") from None
    if held:
        yield held


def _cut(text: str, last_sentence: Callable[[str], int] | None) -> int:
    """Return where a long text without the end of a paragraph is cut."""
    begin = max(len(text) - _WINDOW, 0)
    found = 0 if last_sentence is None else last_sentence(text[begin:])
    return begin + found if found else max(map(text.rfind, f"{ENDS} ")) + 1 or len(text)


def write_annotated(
    pipeline: Any,
    source: str | os.PathLike[str],
    output: IO[bytes],
    format: str,
    confidence: bool,
    progress: Callable[[int], None] | None,
) -> int:
    """Annotate a file; return the number of words."""
    if format not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}, got {format!r}")
    n_words, n_sentences, offset = 0, 0, 0
    if format == "html":
        name = "standard input" if source == "-" else os.path.basename(source)
        output.write(_page_start(os.fspath(name)).encode())
    pieces = text_pieces(source, last_sentence=pipeline._last_sentence)
    for doc in pipeline.pipe(pieces, confidence=confidence):
        try:
            written = written_doc(doc, format, confidence, n_sentences, offset)
        except ValueError as error:  # what the format cannot hold
            raise FileError(os.fspath(source), str(error)) from None
        output.write(written.encode())
        n_words += len(doc.words)
        n_sentences += len(doc.sentences)
        offset += len(doc.text)
        if progress is not None:
            progress(n_words)
    if format == "html":
        output.write(b"</body></html>\n")
    return n_words


def written_doc(
    doc: Doc, format: str, confidence: bool = False, before: int = 0, offset: int = 0
) -> str:
    """Return a document in a format.

    Parameters
    ----------
    before, offset : int
        Sentences and characters of the file before it, which are counted too.
    """
    if format == "conllu":
        return doc.to_conllu(first_id=before + 1, confidence=confidence)
    if format == "html":
        return doc.to_html() + "\n" if doc.sentences else ""
    if format == "text":
        for token in doc.tokens:
            if token.text.split() != [token.text]:
                raise ValueError(
                    f"text cannot hold the token {token.text!r:.60}: blanks separate tokens; "
                    "CoNLL-U and JSON can (--format conllu, --format json)"
                )
        lines = (" ".join(t.text for t in sentence.tokens) for sentence in doc.sentences)
        return "".join(f"{line}\n" for line in lines)
    rows = (_shifted(sentence.to_dict(), offset) for sentence in doc.sentences)
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _shifted(row: dict[str, Any], offset: int) -> dict[str, Any]:
    for one in (row, *row["tokens"]):
        one["begin"] += offset
        one["end"] += offset
    return row


def _page_start(title: str) -> str:
    from ...drawing.page import Page

    return Page(title, "structlearn annotate").html().removesuffix("</body></html>\n")
