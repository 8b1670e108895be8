"""Observations of a hidden Markov model, read from X: vectors or words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, Protocol

import numpy as np

from ..array_types import Integers
from ..features.arrays import is_sparse
from ..features.encoder import ExampleEncoder, as_list, is_numeric, len_or_rows
from ..structures.chains.chain import Chain


class Reader(Protocol):
    """Reads X into all observations, concatenated, and the start of each sequence."""

    def read(self, X: Any) -> tuple[Any, Integers]:
        """Return (observations, pointers)."""
        ...


class VectorReader:
    """Reads (positions, d) arrays."""

    def __init__(self) -> None:
        self._encoder = ExampleEncoder(Chain(), single_site=False)

    def read(self, X: Any) -> tuple[Any, Integers]:
        """Return the rows of all sequences, and the start of each."""
        encoder = self._encoder
        examples = encoder.transform(X) if encoder.encoders else encoder.fit_transform(X)
        rows = examples.blocks.get("label")
        if rows is None or not rows.is_dense or rows.site_shapes or len(examples.blocks) > 1:
            raise ValueError("Gaussian emissions need X to be a list of (positions, d) arrays")
        return rows.values, rows.site_ptr


class TokenReader:
    """Reads tokens: strings, or the observed entry of a list or dictionary."""

    def __init__(self, observation: Any) -> None:
        self._observation = observation

    def read(self, X: Any) -> tuple[Any, Integers]:
        """Return the words of all sequences, and the start of each."""
        examples = [_as_tokens(example, i) for i, example in enumerate(as_list(X))]
        ptr = np.zeros(len(examples) + 1, dtype=np.int64)
        np.cumsum([len(tokens) for tokens in examples], out=ptr[1:])
        words = list(chain.from_iterable(examples))
        if set(map(type, words)) <= {str}:
            return words, ptr
        for place, token in enumerate(words):
            try:
                words[place] = self._word(token)
            except ValueError as error:
                i = int(np.searchsorted(ptr, place, side="right")) - 1
                raise ValueError(f"example {i}, position {place - ptr[i]}: {error}") from None
        return words, ptr

    def _word(self, token: Any) -> str:
        if isinstance(token, str):
            return token
        if not isinstance(token, (list, tuple, Mapping)):
            kind = type(token).__name__
            raise ValueError(f"a token is a string, a list of strings or a dictionary, not {kind}")
        key = self._observation
        if key is None:
            key = next(iter(token), None) if isinstance(token, Mapping) else 0
        try:
            word = token[key]
        except (KeyError, IndexError, TypeError):
            raise ValueError(f"the token {token!r} has no {key!r} to observe") from None
        if not isinstance(word, str):
            raise ValueError(f"the observation {key!r} is {word!r}, not a string")
        return word


def _as_tokens(example: Any, i: int) -> Sequence[Any]:
    if isinstance(example, np.ndarray) and example.ndim and example.dtype.kind in "OUT":
        example = example.tolist()
    if isinstance(example, (str, bytes)) or not isinstance(example, Sequence):
        raise ValueError(f"example {i} is of type {type(example).__name__}, not a list of tokens")
    if not len(example):
        raise ValueError(f"example {i} is empty: it has no positions")
    return example


def has_vectors(X: Any) -> bool:
    """Tell numbers from tokens by the first sequence with positions."""
    for example in as_list(X):
        if is_sparse(example):
            raise ValueError("HMM reads dense arrays or tokens, not sparse matrices")
        if len_or_rows(example):
            return is_numeric(example)
    return False
