"""Names of features to column numbers, frozen after fitting."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core

__all__ = ["Vocabulary"]


class Vocabulary:
    """A growing, then frozen, table of feature names.

    Columns are numbered in the order in which names are first seen, so that the same data gives the
    same model. The table is the core's (``native/bindings/text/names.cpp``).

    Parameters
    ----------
    names : sequence of str, default=()
        Names known from the start, in the order of their columns.
    """

    def __init__(self, names: Sequence[str] = ()) -> None:
        self._table = _core.NameTable()
        self._table.columns(list(names), True)
        if len(self._table) != len(names):
            raise ValueError("a name appears twice in the vocabulary")

    def __len__(self) -> int:
        return len(self._table)

    def __getstate__(self) -> list[str]:
        return self.names()

    def __setstate__(self, names: list[str]) -> None:
        self.__init__(names)  # type: ignore[misc]

    def read(self, examples: list[Any], separator: str, *, learn: bool) -> Any:
        """Read examples of plain tokens: lists of strings, dictionaries of strings and numbers.

        Returns
        -------
        tuple or None
            (site_ptr, number of features of each token, columns, values), the columns −1 for names
            never learned, the values None where all are 1. None, and nothing is learned, where a
            token is of another kind.
        """
        buffers = self._table.read(examples, learn, separator)
        if buffers is None:
            return None
        site_ptr, lengths, columns, values = buffers
        return (
            np.frombuffer(site_ptr, np.int64),
            np.frombuffer(lengths, np.int64),
            np.frombuffer(columns, np.int32),
            None if values is None else np.frombuffer(values),
        )

    def learn(self, names: Iterable[str]) -> npt.NDArray[np.int32]:
        """Return the columns of the names; new ones get new columns."""
        return np.frombuffer(self._table.columns(list(names), True), np.int32)

    def look_up(self, names: Iterable[str]) -> npt.NDArray[np.int32]:
        """Return the columns of the names, −1 for those never learned."""
        return np.frombuffer(self._table.columns(list(names), False), np.int32)

    def keep(self, kept: npt.NDArray[np.bool_]) -> npt.NDArray[np.int32]:
        """Drop columns; return the new number of each old one, −1 for the dropped."""
        renumbered = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
        names = self.names()
        self._table = Vocabulary([names[c] for c in np.flatnonzero(kept)])._table
        return renumbered

    def names(self) -> list[str]:
        """Return the names in the order of their columns."""
        return self._table.names()
