"""CRFsuite's model files, read without CRFsuite."""

from __future__ import annotations

import os

from .. import _core
from ..models.string_chain import StringChain

__all__ = ["read_crfsuite"]

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
    try:
        with open(path, "rb") as file:
            data = file.read(_HEADER)
            _core.check_crfsuite_header(data, os.fstat(file.fileno()).st_size)
            data += file.read()
        labels, names, arrays = _core.read_crfsuite(data)
    except ValueError as error:
        name = os.fspath(path)
        raise ValueError(f"{name} is not a valid CRFsuite model: {error}") from None
    return StringChain(labels, names, arrays, separator=":")
