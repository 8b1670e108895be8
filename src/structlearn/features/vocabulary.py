"""Names of features to column numbers, frozen after fitting."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import repeat

import numpy as np
import numpy.typing as npt

__all__ = ["Vocabulary"]


class Vocabulary:
    """A growing, then frozen, table of feature names.

    Columns are numbered in the order in which names are first seen, so that the same data gives the
    same model. Looking a name up costs one hash.

    Parameters
    ----------
    names : sequence of str, default=()
        Names known from the start, in the order of their columns.
    """

    def __init__(self, names: Sequence[str] = ()) -> None:
        numbered = zip(names, range(len(names)), strict=True)
        self.columns: defaultdict[str, int] = defaultdict(None, numbered)  # plain once learned
        if len(self.columns) != len(names):
            raise ValueError("a name appears twice in the vocabulary")

    def __len__(self) -> int:
        return len(self.columns)

    def learn(self, names: Iterable[str], count: int) -> npt.NDArray[np.int32]:
        """Return the columns of the names; new ones get new columns."""
        table = self.columns
        table.default_factory = table.__len__
        try:
            return np.fromiter(map(table.__getitem__, names), dtype=np.int32, count=count)
        finally:
            table.default_factory = None

    def look_up(self, names: Iterable[str], count: int) -> npt.NDArray[np.int32]:
        """Return the columns of the names, −1 for those never learned."""
        return np.fromiter(map(self.columns.get, names, repeat(-1)), dtype=np.int32, count=count)

    def keep(self, kept: npt.NDArray[np.bool_]) -> npt.NDArray[np.int32]:
        """Drop columns; return the new number of each old one, −1 for the dropped."""
        renumbered = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
        self.columns = defaultdict(
            None, {name: int(renumbered[c]) for name, c in self.columns.items() if kept[c]}
        )
        return renumbered

    def names(self) -> list[str]:
        """Return the names in the order of their columns."""
        return list(self.columns)
