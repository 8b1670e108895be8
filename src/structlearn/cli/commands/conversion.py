"""Models from one program to another."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ...text.files import open_bytes

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

_ENDING = ".crfsuite"


def convert(
    source: str,
    output: str,
    *,
    columns: int | None = None,
    boundaries: Sequence[str] | None = None,
) -> str:
    """Read a model file of any program that we know, and write it as the new name says.

    Returns
    -------
    str
        What to tell the user: where something was assumed that the file does not say.
    """
    model = read_any(source, columns)
    if output.endswith(_ENDING):
        from ...io import write_crfsuite

        marks = (boundaries[0], boundaries[1]) if boundaries else None
        write_crfsuite(model, output, boundaries=marks)
    elif boundaries:
        raise ValueError(f"--boundaries is for files of CRFsuite, whose names end in {_ENDING}")
    else:
        model.save(output)
        if columns is None and _is_foreign(model):
            label = model.model_.n_columns
            return (
                f"labels are in column {label}, behind the last one that the patterns look at: if "
                "the training file had more columns, say how many with the labels (--columns N)"
            )
    return ""


def _is_foreign(model: Any) -> bool:
    return getattr(model, "model_", None) is not None and "source" in model.model_.training


def read_any(path: str, columns: int | None = None) -> Any:
    """Return the model in a file: ours, CRFsuite's, Wapiti's or CRF++'s, by its beginning."""
    from ...tasks.tagging.foreign import is_crfpp_model, is_wapiti_model, read_crfpp, read_wapiti

    with open_bytes(path) as file:
        head = file.read(16)
    if is_wapiti_model(head):
        return read_wapiti(path, columns=columns)
    if is_crfpp_model(head):
        return read_crfpp(path, columns=columns)
    if columns is not None:
        raise ValueError(f"--columns is for models of Wapiti and CRF++, and {path} is none")
    if head.startswith(b"lCRF"):
        from ...io import read_crfsuite

        return read_crfsuite(path)
    from ...loading import load

    return load(os.fspath(path))
