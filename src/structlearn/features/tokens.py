"""Sites described by strings or dictionaries, as in sklearn-crfsuite.

A token is a string (one feature), a list, tuple or set of strings, or a dictionary; a list may also
contain pairs (name, number). In a dictionary
``{"word": "fish", "upper": True, "length": 4.0, "parts": ["a", "b"]}`` a string value makes the
feature ``word:fish`` of value 1, a number the feature ``length`` of that value (True is 1), and a
list, set or dictionary is nested one level deeper (``parts:a``, ``parts:b``). These are CRFsuite's
names. The core does the reading (``native/bindings/text/token_reading.hpp``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..array_types import Array, Integers
from .rows import FeatureRows, Where
from .vocabulary import Vocabulary


class TokenEncoder:
    """Turns lists of tokens into sparse rows.

    Parameters
    ----------
    min_count : int
        Features seen fewer times than this in the training data are left out.
    separator : str, default=":"
        Between a name and its value, if that is a string or in a list; CRFsuite's is ":".
    vocabulary : Vocabulary, optional
        An existing vocabulary.
    """

    def __init__(
        self, min_count: int = 0, *, separator: str = ":", vocabulary: Vocabulary | None = None
    ) -> None:
        self.min_count = min_count
        self.separator = separator
        self.vocabulary = Vocabulary() if vocabulary is None else vocabulary

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.vocabulary)

    def fit_transform(
        self, examples: list[Any], where: Where, copies: Integers | None = None
    ) -> FeatureRows:
        """Learn the vocabulary (or extend an existing one) and return the rows.

        Parameters
        ----------
        copies : array, optional
            The number of times that each example counts, or each token for single tokens.
        """
        n_known = len(self.vocabulary)
        site_ptr, lengths, ids, values = self.vocabulary.read(
            examples, self.separator, learn=True, single_sites=where.single_site
        )
        if self.min_count > 1:
            each = None
            if copies is not None:
                sites = copies if where.single_site else np.repeat(copies, np.diff(site_ptr))
                each = np.repeat(sites, lengths)
            counts = np.bincount(ids, each, minlength=len(self.vocabulary))
            is_kept = counts >= self.min_count
            is_kept[:n_known] = True  # names from earlier calls stay
            ids = self.vocabulary.keep(is_kept)[ids]
        return self._rows(site_ptr, lengths, ids, values)

    def transform(self, examples: list[Any], where: Where) -> FeatureRows:
        """Return the rows; unknown names are left out."""
        return self._rows(
            *self.vocabulary.read(
                examples, self.separator, learn=False, single_sites=where.single_site
            )
        )

    def _rows(
        self,
        site_ptr: Integers,
        lengths: Integers,
        ids: npt.NDArray[np.int32],
        values: Array | None,
    ) -> FeatureRows:
        indptr = np.zeros(len(lengths) + 1, dtype=np.int64)
        np.cumsum(lengths, out=indptr[1:])
        is_known = ids >= 0
        if not is_known.all():
            # Rows shrink by the number of unknown features before each boundary.
            indptr = np.concatenate(([0], np.cumsum(is_known)))[indptr].astype(np.int64)
            ids = ids[is_known]
            values = None if values is None else values[is_known]
        return FeatureRows(site_ptr, self.n_features, values, indptr, np.ascontiguousarray(ids))
