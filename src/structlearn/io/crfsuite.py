"""CRFsuite's model files, read without CRFsuite."""

from __future__ import annotations

import os

from .. import _core
from ..models.string_chain import StringChain

_HEADER = 48


def read_crfsuite(path: str | os.PathLike[str]) -> StringChain:
    """Return the model in a CRFsuite file as a :class:`~structlearn.models.StringChain`.

    Reads models of CRFsuite, python-crfsuite and sklearn-crfsuite, from any training algorithm.
    Inputs are the same as there: a sequence is a list of tokens, a token a list of attributes or a
    dictionary; ``{"word": "fish"}`` is the attribute ``word:fish``, as in python-crfsuite. Unknown
    attributes are ignored.

    Needs only Python and the core. :meth:`CRF.from_chain <structlearn.estimators.CRF.from_chain>`
    turns it into an estimator, for further training.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    StringChain
        Its ``classes_`` are in CRFsuite's order, so that ties are broken the same way.

    Raises
    ------
    ValueError
        The file is not such a model, or damaged; the message says where.
    """
    with open(path, "rb") as file:
        data = file.read(_HEADER)
        # Read only the beginning, in case the file is something else.
        _checked(os.fspath(path), data, os.fstat(file.fileno()).st_size)
        data += file.read()
    return parse_crfsuite(data, os.fspath(path))


def parse_crfsuite(data: bytes, name: str) -> StringChain:
    """Return the model in the bytes of a file; its name is for messages."""
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
