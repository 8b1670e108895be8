"""A file larger than memory as corpora, read anew each time."""

from __future__ import annotations

from collections.abc import Iterator

from .. import _core
from ..exceptions import FileError, LineError
from .corpus import Corpus
from .files import pieces
from .formats import FORMATS, guess_format
from .sources import LABELLED

#: Bytes of text a piece, and of strings to be kept from piece to piece.
_PIECE = 4 << 20
_MOST_STRINGS = 64 << 20


class CorpusStream:
    """The pieces of a file as corpora that share their strings."""

    def __init__(self, path: str, format: str | None) -> None:
        if path == "-":
            raise ValueError("standard input cannot be read more than once: name a file")
        self.path = path
        first = next(pieces(path, 1 << 16), None)
        self.format = format or guess_format(path, first[0] if first else b"")
        if not FORMATS[self.format].native:
            told = f"streams are columns or CoNLL-U, and this is {self.format}"
            if FORMATS[self.format].spans:
                told += "; structlearn convert makes columns of it"
            raise FileError(path, told)
        self.corpus = Corpus(_core.Corpus(self.format), self.format, path)

    def __iter__(self) -> Iterator[Corpus]:
        core = self.corpus.core
        for text, line in pieces(self.path, _PIECE):
            if core.n_bytes > _MOST_STRINGS:
                core.clear()
            else:
                core.clear_tokens()
            core.set_line(line)
            try:
                core.read(text)
            except LineError as error:
                raise error.in_file(self.path, f"{LABELLED}.") from None
            if core.n_tokens:
                yield self.corpus
