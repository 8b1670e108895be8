"""Word emissions of a hidden Markov model as counts, in the files of taggers."""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Callable, Mapping
from typing import Any

from ...io.container import Tensor, check_dtype
from ..word_emissions import CategoricalEmissions, WordCounts


def emission_tensors(
    emissions: CategoricalEmissions,
) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Return the options and arrays from which the emissions can be rebuilt."""
    counts = emissions.counts
    words = [word.encode() for word in counts.index]
    ends = array("I", itertools.accumulate(map(len, words)))
    table = counts.table.astype("<f8")
    return emissions.options, {
        "emission.words": Tensor("U8", b"".join(words)),
        "emission.ends": Tensor("U32", ends),
        "emission.counts": Tensor("F64", array("d", table.tobytes()), table.shape),
    }


def stored_words(tensors: Mapping[str, Tensor]) -> list[str]:
    """Return the counted words of a model file."""
    text = bytes(tensors["emission.words"].data)
    check_dtype("emission.ends", tensors["emission.ends"], "U32")
    bounds = [0, *array("I", bytes(tensors["emission.ends"].data))]
    if bounds[-1] != len(text) or bounds != sorted(bounds):
        raise ValueError("the words of the counts do not fit together")
    return [text[a:b].decode() for a, b in itertools.pairwise(bounds)]


def load_emissions(
    options: dict[str, Any], tensors: dict[str, Tensor], n_labels: int
) -> Callable[[str], Any]:
    """Return the function that scores a word, from a model file."""
    words = stored_words(tensors)
    if len(set(words)) != len(words):
        raise ValueError("a word is counted twice")
    check_dtype("emission.counts", tensors["emission.counts"], "F64")
    flat = memoryview(tensors["emission.counts"].data).cast("B")
    counts = WordCounts(
        {word: i for i, word in enumerate(words)}, flat.cast("d", (len(words), n_labels))
    )
    return CategoricalEmissions(counts, **options).vector
