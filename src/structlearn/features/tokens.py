"""Sites described by strings or by dictionaries: what sklearn-crfsuite's users have.

A token is a string (one feature), a list, tuple or set of strings, or a dictionary; a list may hold
pairs (name, number) too. In a dictionary
``{"word": "fish", "upper": True, "length": 4.0, "parts": ["a", "b"]}`` a string value makes the
feature ``word:fish`` of value 1, a number the feature ``length`` of that value (True is 1), and a
list, set or dictionary goes one level down (``parts:a``, ``parts:b``). These are CRFsuite's
names. The core reads all of it (``native/bindings/text/token_reading.hpp``).
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
        Stands between a name and its value where that is a string or in a list; CRFsuite's is ":".
    vocabulary : Vocabulary, optional
        What was learned before.
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
        """Learn the vocabulary (further names where one exists) and return the rows.

        Parameters
        ----------
        copies : array, optional
            How often each example counts, or each token where they are single ones.
        """
        known = len(self.vocabulary)
        site_ptr, lengths, ids, values = self.vocabulary.read(
            examples, self.separator, learn=True, single_sites=where.single_site
        )
        if self.min_count > 1:
            each = None
            if copies is not None:
                sites = copies if where.single_site else np.repeat(copies, np.diff(site_ptr))
                each = np.repeat(sites, lengths)
            counts = np.bincount(ids, each, minlength=len(self.vocabulary))
            kept = counts >= self.min_count
            kept[:known] = True  # what an earlier call learned stays
            ids = self.vocabulary.keep(kept)[ids]
        return self._rows(site_ptr, lengths, ids, values)

    def transform(self, examples: list[Any], where: Where) -> FeatureRows:
        """Return the rows; names that were never learned are left out."""
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
        known = ids >= 0
        if not known.all():
            # Rows shrink by the number of unknown features before each boundary.
            indptr = np.concatenate(([0], np.cumsum(known)))[indptr].astype(np.int64)
            ids = ids[known]
            values = None if values is None else values[known]
        return FeatureRows(site_ptr, self.n_features, values, indptr, np.ascontiguousarray(ids))
