"""Files of any size, labelled with segments piece by piece."""

from __future__ import annotations

import os
from collections.abc import Callable

from .. import _core
from ..exceptions import FileError, LineError
from ..text.corpus import guess_format
from ..text.files import pieces
from .segment_model import SegmentModel

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import IO

__all__ = ["label_pieces"]

#: Bytes that a thread labels at a time.
_PIECE = 1 << 20


def label_pieces(
    model: SegmentModel,
    source: str | os.PathLike[str],
    output: IO[bytes],
    format: str | None,
    confidence: bool,
    threads: int,
    progress: Callable[[int], None] | None,
) -> int:
    """Write a file with its labels; return the number of tokens.

    Parameters
    ----------
    format : {"columns", "conllu"} or None
        None: by the file's name, else by its content.
    confidence : bool
        A column with the probability of the segment that the token is in.
    progress : callable or None
        Called with the number of tokens labelled so far.
    """
    labeller = None
    for text, line in pieces(source, _PIECE * min(threads, 16)):
        if labeller is None:
            chosen = format or guess_format(source, text)
            if chosen != model.format:
                raise FileError(
                    os.fspath(source),
                    f"a file of format {chosen}, where the model was trained on "
                    f"{model.format}; --format says otherwise",
                )
            labeller = _core.SegmentLabeller(
                model.core,
                model.first,
                model.later,
                chosen,
                model.target,
                model.n_columns,
                confidence,
                model.temperature or 1.0,
            )
        try:
            output.write(labeller.label(text, line, threads))
        except LineError as error:
            raise error.in_file(os.fspath(source)) from None
        if progress is not None:
            progress(labeller.n_tokens)
    if labeller is None or labeller.n_tokens == 0:
        raise FileError(os.fspath(source), "there are no sentences in it")
    return int(labeller.n_tokens)
