"""Files with their labels, written piece by piece."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from ..exceptions import FileError, LineError
from .corpus import guess_format
from .files import pieces, written_text

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import IO, Any

__all__ = ["label_pieces"]

#: Bytes that a thread labels at a time, and the threads beyond which pieces do not grow.
_PIECE = 1 << 20
_MOST_PIECES = 16


def label_pieces(
    model: Any,
    make_labeller: Callable[[str], Any],
    source: str | os.PathLike[str],
    output: str | os.PathLike[str] | IO[bytes],
    format: str | None,
    threads: int,
    progress: Callable[[int], None] | None,
    read: Callable[[str | os.PathLike[str], int], Iterator[tuple[bytes, int]]] = pieces,
    guess: Callable[[bytes], str] | None = None,
) -> int:
    """Write a file with its labels, piece by piece; return the number of tokens.

    Parameters
    ----------
    model : TaggerModel or SegmentModel or None
        Whose format the file must have; None: any.
    make_labeller : callable
        Makes the native labeller for files of a format.
    output : path or binary file
        A path is replaced only when the new file is complete.
    format : {"columns", "conllu"} or None
        None: by the file's name, else by its content.
    progress : callable or None
        Called with the number of tokens labelled so far.
    read : callable
        Yields pieces of a file with the lines before each, given its name and their size.
    guess : callable, optional
        Returns the format of the file, given its first piece.
    """
    if isinstance(output, (str, os.PathLike)):
        with written_text(output) as file:
            return label_pieces(
                model, make_labeller, source, file, format, threads, progress, read, guess
            )
    labeller: Any = None

    def write(labelled: bytes, n_tokens: int) -> None:
        output.write(labelled)
        if progress is not None and labelled:
            progress(n_tokens)

    try:
        for text, line in read(source, _PIECE * min(threads, _MOST_PIECES)):
            if labeller is None:
                chosen = guess(text) if guess else format or guess_format(source, text)
                if model is not None and chosen != model.format:
                    raise FileError(
                        os.fspath(source),
                        f"the format is {chosen}, but the model was trained on {model.format}"
                        + ("" if format else "; if that is wrong, give --format"),
                    )
                labeller = make_labeller(chosen)
            if threads == 1:
                write(labeller.label(text, line, 1), labeller.n_tokens)
                continue
            # While a piece is labelled, the one before is written and the next one read.
            labelled, n_tokens = labeller.finish(), labeller.n_tokens
            labeller.start(text, line, threads)
            write(labelled, n_tokens)
        if labeller is not None and threads > 1:
            write(labeller.finish(), labeller.n_tokens)
    except LineError as error:
        raise error.in_file(os.fspath(source)) from None
    if labeller is None or labeller.n_tokens == 0:
        raise FileError(os.fspath(source), "there are no sentences in it")
    return int(labeller.n_tokens)
