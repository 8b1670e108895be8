"""Files with their labels, written piece by piece."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Sequence

from .. import _core
from ..exceptions import FileError, LineError
from .formats import split_heading
from .layouts import Layout, format_advice
from .tokens import add_tokens

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import IO, Any

    from .formats import Format

#: Bytes that are labelled at a time, at most, and at least where there are several threads.
#: Parsers are much slower than taggers: smaller pieces show sooner how far they have come.
_PIECE, _LEAST = 1 << 20, 1 << 16
_SLOW_PIECE, _SLOW_LEAST = 1 << 16, 1 << 13


def piece_size(source: str | os.PathLike[str], threads: int, slow: bool = False) -> int:
    """Return how many bytes to read at a time: enough pieces for all threads.

    ``slow``: a token takes long.
    """
    least, most = (_SLOW_LEAST, _SLOW_PIECE) if slow else (_LEAST, _PIECE)
    if threads == 1:
        return most
    return max(least, min(most, _size_of(source) // (4 * threads) or 2 * least))


def has_labels(model: Any, format: str, text: bytes, header: bool) -> bool:
    """Tell whether the first token of a column file or of CoNLL-U has a label already."""
    if format != model.format:
        return False
    for line in text.removeprefix(b"\xef\xbb\xbf").splitlines()[int(header) :]:
        if line.strip() and not (format == "conllu" and line.startswith(b"#")):
            cells = line.split(b"\t") if b"\t" in line else line.split()
            return bool(len(cells) == model.n_columns and cells[model.target] != b"_")
    return False


def label_pieces(
    model: Any,
    labeller: Any,
    source: str | os.PathLike[str],
    output: IO[bytes],
    format: str,
    threads: int,
    progress: Callable[[int], None] | None,
    read: Iterable[tuple[bytes, int]],
    header: Sequence[str] | None = None,
    separator: str | None = None,
) -> int:
    """Write a file with its labels, piece by piece; return the number of tokens.

    Parameters
    ----------
    model : TaggerModel or SegmentModel or None
        Whose format the file has; None: any.
    labeller : _core.Labeller or _core.ParseLabeller
        Of files of this format.
    format : {"columns", "conllu"}
    progress : callable or None
        Called with the number of tokens labelled so far; a :class:`~structlearn.meter.Meter` is
        told the share of the file too.
    read : iterable of (bytes, int)
        Pieces of the file, with the number of lines before each.
    header : sequence of str, optional
        The first line of a column file names its columns; these are the names of what is added.
    separator : str, optional
        What stands between these names.
    """
    size, n_read = _size_of(source), 0

    def write(labelled: bytes | None) -> None:
        if labelled:
            output.write(labelled)
            _tell(progress, labeller.n_tokens, n_read, size)

    try:
        for number, (text, line) in enumerate(read):
            n_read += len(text)
            if number == 0 and format == "columns":
                heading, text = split_heading(text, header is not None)
                line += heading.count(b"\n")
                output.write(_headed(heading, header or (), model, separator))
            if threads == 1:
                write(labeller.label(text, line, 1))
                continue
            # While pieces are labelled, those before are written and the next one is read.
            write(labeller.start(text, line, threads))
        while (labelled := labeller.finish()) is not None:
            write(labelled)
    except LineError as error:
        raise error.in_file(os.fspath(source), format_advice(model)) from None
    if labeller.n_tokens == 0:
        raise FileError(os.fspath(source), "there are no sentences in it")
    return int(labeller.n_tokens)


def _tell(progress: Any, n_tokens: int, n_read: int, size: int) -> None:
    """Tell how many tokens are labelled and, if the size is known, the share of the file."""
    if progress is None:
        return
    progress(n_tokens)
    if size and hasattr(progress, "share"):
        progress.share(min(1.0, n_read / size))


def _size_of(source: str | os.PathLike[str]) -> int:
    """Return the bytes of a file's text; 0 where they are not known, as of standard input."""
    if not os.path.isfile(source):
        return 0
    size = os.path.getsize(source)
    try:
        with open(source, "rb") as file:
            if file.read(2) != b"\x1f\x8b" or size < 18:
                return size
            file.seek(-4, os.SEEK_END)  # gzip: the size of what is compressed
            return int.from_bytes(file.read(4), "little")
    except OSError:
        return 0  # reading it will say why


def _headed(heading: bytes, names: Sequence[str], model: Any, separator: str | None) -> bytes:
    """Return a heading with the names of what is added to the lines."""
    line = heading.rstrip()
    if not line or model is None:
        return heading
    mark = b"\t" if b"\t" in line else (separator or " ").encode()
    given = len(line.split(mark))
    added = names[len(model.targets) :] if given > min(model.targets) else names
    return mark.join([line, *(name.encode() for name in added)]) + b"\n"


def label_converted(
    model: Any,
    labeller: Any,
    written: Format,
    source: str | os.PathLike[str],
    output: IO[bytes],
    names: Sequence[str],
    known: bool,
    threads: int,
    progress: Callable[[int], None] | None,
    read: Iterable[tuple[bytes, int]],
    notice: Callable[[], None] | None = None,
    append: bool = False,
    remark: Callable[[str], None] | None = None,
) -> int:
    """Label a file of another format than the model's, and write it back in its own.

    Parameters
    ----------
    labeller : _core.Labeller
        Of files of the model's format.
    written : Format
        The file's, made ready to write labels.
    names : sequence of str
        What is added to a token: the label, and what else was asked for.
    known : bool
        The labeller keeps labels that the file has.
    read : iterable of (bytes, int)
        Pieces of the file, with the number of lines before each.
    notice : callable, optional
        Called if labels that the file has are replaced.
    append : bool
        None is: labels are added to the tokens.
    remark : callable, optional
        Called with what there is to say about how the file was read.
    """
    layout: Layout | None = None
    size, n_read = _size_of(source), 0
    for text, line in written.whole(read):
        n_read += len(text)
        corpus = _core.Corpus(model.format)
        try:
            for number, sentence in enumerate(written.read(text, line)):
                if layout is None:
                    (at, cells), *_ = sentence
                    layout = _laid_out(model, written, len(cells), at)
                    _tell_of(written, source, remark)
                    old = layout.target
                    replaced = written.replaces and old is not None and cells[old] != "_"
                    if notice is not None and replaced:
                        notice()
                lines, tokens = zip(*sentence, strict=True)
                rows = [layout.row(i, cells, known) for i, cells in enumerate(tokens, 1)]
                add_tokens(corpus, rows, number, lines)
            if layout is None:
                output.write(text)
                continue
            answers = labeller.answers(corpus, threads)
        except LineError as error:
            raise error.in_file(os.fspath(source), format_advice(model)) from None
        # A label of several parts is added as a whole.
        place = None if append or model.further else layout.target
        output.write(written.write(answers, names, place))
        _tell(progress, labeller.n_tokens, n_read, size)
    if layout is None:
        raise FileError(os.fspath(source), "there are no sentences in it")
    return int(labeller.n_tokens)


def _tell_of(
    written: Format, source: str | os.PathLike[str], remark: Callable[[str], None] | None
) -> None:
    """Say how a file was read, once its first piece is."""
    for doubt in written.doubts:
        warnings.warn(f"{os.fspath(source)}, {doubt}", stacklevel=2)
    for said in written.findings if remark is not None else ():
        remark(f"{os.fspath(source)}: {said}")  # type: ignore[misc]


def _laid_out(model: Any, written: Format, n_given: int, line: int) -> Layout:
    try:
        return Layout(model, written.named_as, n_given, written.names)
    except ValueError as error:
        raise LineError(line, str(error)) from None
