"""Files of text, annotated piece by piece."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator

from ...exceptions import FileError
from ...text.files import open_bytes
from ...text.line_ends import PARAGRAPH_END, last_paragraph_end
from .doc import Doc
from .tokeniser import next_cut

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import IO, Any

FORMATS = ("conllu", "json", "html", "text")
#: Lists of a sentence in JSON whose items have places.
_PLACED = ("tokens", "multiword", "entities")
#: Bytes that are read at a time, and about the characters of a piece.
_SIZE = 1 << 17


def text_pieces(source: str | os.PathLike[str], size: int = _SIZE) -> Iterator[str]:
    """Yield a file as texts of about ``size`` bytes that end where a paragraph ends.

    Memory does not depend on the file: a long paragraph is cut where the tokeniser would cut it
    (:func:`~structlearn.tasks.pipeline.tokeniser.next_cut`). Line ends may be any of
    :mod:`structlearn.text.line_ends`; a CRLF is never torn. The pieces together are the file, but
    for a byte order mark.
    """
    return cut_text(_decoded(source, size), size)


def _decoded(source: str | os.PathLike[str], size: int) -> Iterator[str]:
    """Yield the text of a file in blocks."""
    import codecs

    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    n_read = 0
    with open_bytes(source) as file:
        while block := file.read(size):
            try:
                text = decoder.decode(block)
            except UnicodeDecodeError as error:
                reason = (
                    f"not valid UTF-8 after byte {n_read + error.start}: convert the file first"
                )
                raise FileError(os.fspath(source), reason) from None
            n_read += len(block)
            if "\0" in text:
                raise FileError(
                    os.fspath(source), "it has NUL characters: not text, or not in UTF-8 (UTF-16?)"
                )
            yield text
    try:
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        raise FileError(os.fspath(source), "not valid UTF-8: the last character is torn") from None


def cut_text(blocks: Iterable[str], size: int = _SIZE) -> Iterator[str]:
    """Yield a text, which comes in blocks, as pieces that are annotated as the whole would be."""
    held = ""
    for block in blocks:
        begin = len(held.rstrip())  # no blank line ends before
        held += block
        end = len(held) - held.endswith("\r")  # which may be half of a line end
        cut = last_paragraph_end(held, begin, end)
        if cut:  # blanks behind it belong to the gap between two paragraphs
            rest = held[cut:].lstrip()
            cut = len(held) - len(rest) if rest and len(rest) < len(held.lstrip()) else 0
        if not cut and end > size:
            cuts = [0]
            while (place := next_cut(held, cuts[-1], end)) is not None:
                cuts.append(place)
            # Alone, a piece that ends with blanks may be short enough not to be cut.
            while len(cuts) > 2 and next_cut(held, cuts[-3], cuts[-1]) is None:
                cuts.pop()
            cut = cuts[-1]
        if not cut and end - len(held.rstrip()) > 8 * size:  # so many blanks
            cut = end
        if cut:
            yield held[:cut]
            held = held[cut:]
    if held:
        yield held


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
    begins = True
    docs = pipeline.pipe(text_pieces(source, _SIZE), confidence=confidence)
    for doc, last in _with_last(docs):
        gap = PARAGRAPH_END.search(doc.text, len(doc.text.rstrip())) is not None
        try:
            written = written_doc(
                doc, format, confidence, n_sentences, offset, begins=begins, ends=last or gap
            )
        except ValueError as error:  # what the format cannot hold
            raise FileError(os.fspath(source), str(error)) from None
        output.write(written.encode())
        begins = gap
        n_words += len(doc)
        n_sentences += len(doc.sentences)
        offset += len(doc.text)
        _take_apart(doc)
        if progress is not None:
            progress(n_words)
    if format == "html":
        output.write(b"</body></html>\n")
    return n_words


def _take_apart(doc: Doc) -> None:
    """Free a document that nobody else has, at once.

    Its parts know each other. They would stay until Python looks for garbage in circles, which the
    command line has it do rarely, and memory would grow with the file.
    """
    for sentence in doc.sentences:
        for surface in sentence.surfaces:
            surface.tokens.clear()
        sentence.tokens.clear()
    doc.sentences.clear()


def _with_last(docs: Iterator[Doc]) -> Iterator[tuple[Doc, bool]]:
    """Yield documents, each with whether it is the last one."""
    doc = next(docs, None)
    while doc is not None:
        following = next(docs, None)
        yield doc, following is None
        doc = following


def written_doc(
    doc: Doc,
    format: str,
    confidence: bool = False,
    before: int = 0,
    offset: int = 0,
    *,
    begins: bool = True,
    ends: bool = True,
) -> str:
    """Return a document in a format.

    Parameters
    ----------
    before, offset : int
        Sentences and characters of the file before it, which are counted too.
    begins, ends : bool
        Whether it begins and ends where a paragraph does; pieces of a long one do not.
    """
    if format == "conllu":
        return doc.to_conllu(first_id=before + 1, confidence=confidence, begins=begins, ends=ends)
    if format == "html":
        return doc.to_html() + "\n" if doc.sentences else ""
    if format == "text":
        for surface in doc.surfaces:
            if surface.text.split() != [surface.text]:
                raise ValueError(
                    f"text cannot hold the token {surface.text!r:.60}: blanks separate tokens; "
                    "CoNLL-U and JSON can (--format conllu, --format json)"
                )
        lines = (" ".join(s.text for s in sentence.surfaces) for sentence in doc.sentences)
        return "".join(f"{line}\n" for line in lines)
    rows = (_shifted(sentence.to_dict(), offset) for sentence in doc.sentences)
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _shifted(row: dict[str, Any], offset: int) -> dict[str, Any]:
    for one in (row, *(x for name in _PLACED for x in row.get(name, ()))):
        one["begin"] += offset
        one["end"] += offset
    return row


def _page_start(title: str) -> str:
    from ...drawing.page import Page

    return Page(title, "structlearn annotate").html().removesuffix("</body></html>\n")
