"""Sequences of items: tokens with their attributes, parsed once."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping

from .. import _core

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any


class ItemSequence:
    """The attributes of the items of one sequence, as in CRFsuite.

    Parameters
    ----------
    pyseq : iterable of items
        An item is an iterable of strings, the attributes; or a dictionary. There
        ``{"word": "fish"}`` is the attribute ``word:fish``, a number or a boolean the attribute's
        value, and nested entries are named ``outer:inner``. Strings may be bytes of UTF-8.

    Examples
    --------
    >>> from structlearn.crfsuite import ItemSequence
    >>> ItemSequence([["foo"], {"bar": {"baz": 1}, "size": 0.5}]).items()
    [{'foo': 1.0}, {'bar:baz': 1.0, 'size': 0.5}]
    """

    def __init__(self, pyseq: Any) -> None:
        #: The attributes of each item with their values, repeats included.
        self._tokens: list[list[tuple[str, float]]] = []
        if isinstance(pyseq, ItemSequence):
            self._tokens = pyseq._tokens
            return
        table = _core.NameTable()
        lengths, attributes, known = read_items(table, pyseq)
        names, columns = table.names(), memoryview(attributes).cast("i")
        values = None if known is None else memoryview(known).cast("d")
        ends = list(itertools.accumulate(memoryview(lengths).cast("q"), initial=0))
        for begin, end in itertools.pairwise(ends):
            numbers = [1.0] * (end - begin) if values is None else values[begin:end].tolist()
            self._tokens.append(
                [(names[c], x) for c, x in zip(columns[begin:end], numbers, strict=True)]
            )

    def items(self) -> list[dict[str, float]]:
        """Return the attributes of each item with their values."""
        return [dict(token) for token in self._tokens]

    def __len__(self) -> int:
        return len(self._tokens)

    def __repr__(self) -> str:
        return f"<ItemSequence of size {len(self)}>"


def read_items(table: Any, xseq: Any) -> tuple[Any, Any, Any]:
    """Return a sequence as indices into a table of names, which adds new names.

    Returns
    -------
    tuple of buffers
        The number of attributes of each item (int64), the attributes (int32) and their values
        (float64; None if all are 1).
    """
    tokens = readable(xseq)
    try:
        _, *arrays = table.read([tokens], True, ":", False)
    except ValueError:
        decoded = decoded_items(tokens)
        if decoded is None:
            raise
        _, *arrays = table.read([decoded], True, ":", False)
    lengths, attributes, values = arrays
    return lengths, attributes, values


def readable(xseq: Any) -> Any:
    """Return a sequence of items in a form that the core reads; ValueError if it is not one."""
    if isinstance(xseq, ItemSequence):
        return xseq._tokens
    if isinstance(xseq, (str, bytes)):
        raise ValueError(f"a sequence is a list of items, not the string {xseq!r:.40}")
    tokens = xseq if isinstance(xseq, (list, tuple)) else list(xseq)
    for token in tokens:
        if isinstance(token, (str, bytes)):
            raise ValueError(
                f"an item is a list of strings or a dictionary, not the string {token!r:.40}"
            )
    return tokens


def decoded_items(tokens: Any) -> Any:
    """Return the tokens with strings in place of bytes; None if there are no bytes."""
    has_bytes = False

    def text(value: Any) -> Any:
        nonlocal has_bytes
        if isinstance(value, bytes):
            has_bytes = True
            return value.decode("utf-8")
        if isinstance(value, Mapping):
            return {text(name): text(inner) for name, inner in value.items()}
        if isinstance(value, (list, tuple, set, frozenset)):
            return [text(inner) for inner in value]
        return value

    decoded = [text(t if isinstance(t, Mapping) or not _plain(t) else list(t)) for t in tokens]
    return decoded if has_bytes else None


def as_text(value: Any, what: str) -> str:
    """Return a string, decoded from UTF-8 if given as bytes; TypeError for anything else."""
    if isinstance(value, bytes):
        return value.decode("utf-8")
    if not isinstance(value, str):
        raise TypeError(f"{what} is a string, not {type(value).__name__}")
    return value


def as_integer(value: Any, what: str) -> int:
    """Return a number truncated to an integer, as Cython does; TypeError if it is not one."""
    if isinstance(value, (str, bytes)) or not hasattr(value, "__int__"):
        raise TypeError(f"{what} is an integer, not {type(value).__name__}")
    return int(value)


def _plain(token: Any) -> bool:
    return isinstance(token, Iterable)
