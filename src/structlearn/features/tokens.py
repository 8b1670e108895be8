"""Sites described by strings or by dictionaries: what sklearn-crfsuite's users have.

A token is a string (one feature), a list, tuple or set of strings, or a dictionary; a list may hold
pairs (name, number) too. In a dictionary
``{"word": "fish", "upper": True, "length": 4.0, "parts": ["a", "b"]}`` a string value makes the
feature ``word=fish`` of value 1, a number the feature ``length`` of that value (True is 1), and a
list, set or dictionary goes one level down (``parts=a``, ``parts=b``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from .rows import FeatureRows, Where
from .vocabulary import Vocabulary

__all__ = ["TokenEncoder"]


class TokenEncoder:
    """Turns lists of tokens into sparse rows.

    Parameters
    ----------
    min_count : int
        Features seen fewer times than this in the training data are left out.
    separator : str, default="="
        Stands between a name and its value where that is a string or in a list; CRFsuite's is ":".
    vocabulary : Vocabulary, optional
        What was learned before.
    """

    def __init__(
        self, min_count: int = 0, *, separator: str = "=", vocabulary: Vocabulary | None = None
    ) -> None:
        self.min_count = min_count
        self.separator = separator
        self.vocabulary = Vocabulary() if vocabulary is None else vocabulary

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.vocabulary)

    def fit_transform(
        self, examples: list[Any], where: Where, copies: npt.NDArray[np.int64] | None = None
    ) -> FeatureRows:
        """Learn the vocabulary (further names where one exists) and return the rows.

        Parameters
        ----------
        copies : array, optional
            How often each example counts, or each token where they are single ones.
        """
        known = len(self.vocabulary)
        site_ptr, lengths, ids, values = self._read(examples, where, learn=True)
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
        return self._rows(*self._read(examples, where, learn=False))

    def _read(self, examples: list[Any], where: Where, *, learn: bool) -> Any:
        """Return (site_ptr, number of features per token, all columns, all values (None: ones))."""
        found = self.vocabulary.read(examples, self.separator, learn=learn)
        if found is None:  # the general way: token by token
            site_ptr, lengths, names, values = _flatten(examples, where, self.separator)
            ids = (self.vocabulary.learn if learn else self.vocabulary.look_up)(names)
            found = site_ptr, lengths, ids, values
        return found

    def _rows(
        self,
        site_ptr: npt.NDArray[np.int64],
        lengths: npt.NDArray[np.int64],
        ids: npt.NDArray[np.int32],
        values: npt.NDArray[np.float64] | None,
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


def _flatten(
    examples: list[Any], where: Where, separator: str
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], list[str], Any]:
    """Return (site_ptr, number of features per token, all names, all values (None: ones))."""
    site_ptr = np.zeros(len(examples) + 1, dtype=np.int64)
    np.cumsum([len(tokens) for tokens in examples], out=site_ptr[1:])
    names: list[str] = []
    numbers: list[float] = []
    sizes: list[int] = []
    for i, example in enumerate(examples):
        for t, token in enumerate(example):
            before = len(names)
            try:
                for name, value in _features(token, separator):
                    names.append(name)
                    numbers.append(value)
            except TypeError as error:
                raise ValueError(f"{where.site(i, t)}: {error}") from None
            sizes.append(len(names) - before)
    array = np.array(numbers, dtype=np.float64)
    if not np.isfinite(array).all():
        bad = int(np.flatnonzero(~np.isfinite(array))[0])
        token_index = int(np.searchsorted(np.cumsum(sizes), bad, side="right"))
        i = int(np.searchsorted(site_ptr, token_index, side="right")) - 1
        raise ValueError(
            f"{where.site(i, token_index - int(site_ptr[i]))}: "
            f"feature {names[bad]!r} is {array[bad]}; features must be finite"
        )
    ones = bool((array == 1.0).all())
    return site_ptr, np.array(sizes, dtype=np.int64), names, None if ones else array


def _features(token: Any, separator: str) -> Iterator[tuple[str, float]]:
    if isinstance(token, str):
        yield token, 1.0
    elif isinstance(token, Mapping):
        for name, value in token.items():
            yield from _entry(str(name), value, separator)
    elif isinstance(token, (set, frozenset)):
        for name in sorted(token):  # sets have no order, models must
            yield _name(name), 1.0
    elif isinstance(token, Iterable):
        for name in token:
            if isinstance(name, tuple) and len(name) == 2 and isinstance(name[1], Real):
                yield _name(name[0]), float(name[1])
            else:
                yield _name(name), 1.0
    else:
        raise TypeError(
            f"a token is a string, a list of strings or a dictionary, not {type(token).__name__}"
        )


def _name(name: Any) -> str:
    if not isinstance(name, str):
        raise TypeError(
            f"a feature in a list is a string, not {type(name).__name__}; "
            "give numbers in a dictionary or as an array"
        )
    return name


def _entry(name: str, value: Any, separator: str) -> Iterator[tuple[str, float]]:
    if isinstance(value, str):
        yield f"{name}{separator}{value}", 1.0
    elif isinstance(value, (bool, np.bool_, Real)):
        yield name, float(value)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _entry(f"{name}:{key}", inner, separator)
    elif isinstance(value, (set, frozenset)):
        for key in sorted(value):
            yield f"{name}{separator}{_name(key)}", 1.0
    elif isinstance(value, (list, tuple)):
        for key in value:
            yield f"{name}{separator}{_name(key)}", 1.0
    else:
        kind = type(value).__name__
        if hasattr(value, "__array__"):
            raise TypeError(
                f"feature {name!r} has a value of type {kind}; give the numbers of a vector as a "
                f"dictionary, {{{name!r}: dict(enumerate(vector.tolist()))}}, or all features of a "
                "sentence as one array"
            )
        raise TypeError(
            f"feature {name!r} has a value of type {kind}; it may be a string, a number, or a list "
            "or dictionary of these"
        )
