"""Feature names and their column numbers, frozen after fitting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from ..array_types import Integers, Vector


class Vocabulary:
    """A growing, then frozen, table of feature names.

    Columns are numbered in order of first occurrence, so the same data gives the same model. The
    table is the core's (``native/bindings/text/names.cpp``).

    Parameters
    ----------
    names : sequence of str, default=()
        Initial names, in the order of their columns.
    """

    def __init__(self, names: Sequence[str] = ()) -> None:
        self._table = _core.NameTable()
        self._table.add(list(names))
        if len(self._table) != len(names):
            raise ValueError("a name appears twice in the vocabulary")

    @property
    def table(self) -> _core.NameTable:
        """The native table."""
        return self._table

    def __len__(self) -> int:
        return len(self._table)

    def __getstate__(self) -> list[str]:
        return self.names()

    def __setstate__(self, names: list[str]) -> None:
        self.__init__(names)  # type: ignore[misc]

    def read(
        self, examples: list[Any], separator: str, *, learn: bool, single_sites: bool = False
    ) -> tuple[Integers, Integers, npt.NDArray[np.int32], Vector | None]:
        """Read examples, lists of tokens; a ValueError names an invalid token.

        Parameters
        ----------
        separator : str
            Between a name and its value, if that is a string or in a list.
        learn : bool
            Whether new names get new columns; none do if an example is refused.
        single_sites : bool
            Whether messages call tokens examples.

        Returns
        -------
        tuple
            (site_ptr, number of features of each token, columns, values): columns −1 for unknown
            names, the values None if all are 1.
        """
        site_ptr, lengths, columns, values = self._table.read(
            examples, learn, separator, single_sites
        )
        return (
            np.frombuffer(site_ptr, np.int64),
            np.frombuffer(lengths, np.int64),
            np.frombuffer(columns, np.int32),
            None if values is None else np.frombuffer(values),
        )

    def keep(self, kept: npt.NDArray[np.bool_]) -> npt.NDArray[np.int32]:
        """Drop columns; return the new index of each old one, −1 for dropped ones."""
        renumbered = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
        names = self.names()
        self._table = Vocabulary([names[c] for c in np.flatnonzero(kept)])._table
        return renumbered

    def names(self) -> list[str]:
        """Return the names in the order of their columns."""
        return self._table.names()
