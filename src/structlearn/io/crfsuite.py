"""CRFsuite's model files, read without CRFsuite."""

from __future__ import annotations

import os

from .. import _core
from ..models.string_chain import StringChain

_HEADER = 48


def read_crfsuite(path: str | os.PathLike[str]) -> StringChain:
    """Return the model in a CRFsuite file as a :class:`~structlearn.models.StringChain`.

    Models of CRFsuite, python-crfsuite and sklearn-crfsuite, of whatever training algorithm. Inputs
    are what those take: a sequence is a list of tokens, a token a list of attributes or a
    dictionary; ``{"word": "fish"}`` is the attribute ``word:fish``, as python-crfsuite has it.
    Attributes that the model does not know count nothing.

    Needs Python and the core alone. :meth:`CRF.from_chain
    <structlearn.estimators.CRF.from_chain>` makes an estimator of it, to learn on.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    StringChain
        Its ``classes_`` have CRFsuite's order: of equally good outputs both then take the same.

    Raises
    ------
    ValueError
        The file is no such model, or damaged; the message says where.
    """
    with open(path, "rb") as file:
        data = file.read(_HEADER)
        # Of a file that is something else, only the beginning is read.
        _checked(os.fspath(path), data, os.fstat(file.fileno()).st_size)
        data += file.read()
    return parse_crfsuite(data, os.fspath(path))


def parse_crfsuite(data: bytes, name: str) -> StringChain:
    """Return the model in the bytes of a file, whose name is for messages."""
    _checked(name, data[:_HEADER], len(data))
    try:
        labels, names, arrays = _core.read_crfsuite(data)
    except ValueError as error:
        raise _refusal(name, error) from None
    return StringChain(labels, names, arrays)


def _checked(name: str, head: bytes, size: int) -> None:
    try:
        _core.check_crfsuite_header(head, size)
    except ValueError as error:
        raise _refusal(name, error) from None


def _refusal(name: str, error: ValueError) -> ValueError:
    return ValueError(f"{name} is not a valid CRFsuite model: {error}")
