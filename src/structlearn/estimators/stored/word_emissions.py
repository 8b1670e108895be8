"""The emissions of words of a hidden Markov model as counts, in the files of taggers."""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...io.container import Tensor, check_dtype
from ..emissions import CategoricalEmissions, WordCounts

__all__ = ["emission_tensors", "load_emissions", "stored_words", "word_scores"]

_OPTIONS = ("alpha", "word_alpha", "suffix_length", "rare")


def word_scores(emissions: Any) -> Callable[[str], Any]:
    """Return the function from a word to its scores, log P(word | label)."""

    def scores(word: str) -> Any:
        return np.ascontiguousarray(emissions.scores([word])[0], dtype=np.float32)

    return scores


def emission_tensors(hmm: Any) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Return what a model file needs to make the emissions again: options and arrays."""
    counts = hmm._emission_counts
    words = [word.encode() for word in counts.index]
    ends = array("I", itertools.accumulate(map(len, words)))
    table = counts.table.astype("<f8")
    options = {name: getattr(hmm, name) for name in _OPTIONS}
    return options, {
        "emission.words": Tensor("U8", b"".join(words)),
        "emission.ends": Tensor("U32", ends),
        "emission.counts": Tensor("F64", array("d", table.tobytes()), table.shape),
    }


def stored_words(tensors: Mapping[str, Tensor]) -> list[str]:
    """Return the words that a model file has counts of."""
    text = bytes(tensors["emission.words"].data)
    check_dtype("emission.ends", tensors["emission.ends"], "U32")
    bounds = [0, *array("I", bytes(tensors["emission.ends"].data))]
    if bounds[-1] != len(text) or bounds != sorted(bounds):
        raise ValueError("the words of the counts do not fit together")
    return [text[a:b].decode() for a, b in itertools.pairwise(bounds)]


def load_emissions(options: dict[str, Any], tensors: dict[str, Tensor]) -> Callable[[str], Any]:
    """Return the function that scores a word, from a model file."""
    words = stored_words(tensors)
    table = np.frombuffer(tensors["emission.counts"].data, dtype="<f8")
    table = table.reshape(len(words), -1)
    if len(set(words)) != len(words) or not np.isfinite(table).all() or (table < 0).any():
        raise ValueError("the counts of words make no sense")
    index = {word: i for i, word in enumerate(words)}
    chosen = {name: options[name] for name in _OPTIONS}
    return word_scores(CategoricalEmissions(WordCounts(index, table.copy()), **chosen))
