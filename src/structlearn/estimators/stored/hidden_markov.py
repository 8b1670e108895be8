"""The file contents of an :class:`~structlearn.estimators.HMM`: counts and derived scores.

Scores of labels and factors of covariances are stored, not recomputed: other machines may round
differently. Scores of words, which are many, are recomputed from their counts.
"""

from __future__ import annotations

import math
from typing import Any

from ...features.arrays import DenseEncoder
from ...fitting.kinds import Names
from ...fitting.values import Reader, Writer
from ...io.arrays import checked_numbers
from ..emissions import GaussianEmissions, Moments
from ..observations import TokenReader, VectorReader
from ..word_emissions import CategoricalEmissions, WordCounts
from .frames import checked_columns, read_classes, whole_number, write_classes
from .models import write_calibration


def write_hmm(hmm: Any, writer: Writer) -> dict[str, Any]:
    """Return the labels, emissions, counts and scores, as entries of a description."""
    counts = hmm._label_counts
    learned = {
        "order": len(counts.initial),
        "counts": {"windows": counts.windows, "initial": counts.initial, "last": counts.last},
        "blocks": hmm._blocks,
        "transition": hmm.transition_,
        "emissions": _emissions(hmm),
        "calibration": write_calibration(hmm),
    }
    return {"labels": write_classes(hmm.classes_, writer), **writer.value(learned)}


def read_labels(d: dict[str, Any], reader: Reader) -> dict[str, Any]:
    """Return order, classes, counts and scores, all for the same number of labels."""
    classes = read_classes(d["labels"], reader, True)
    order = whole_number(d["order"], "the order", 8)
    k = len(classes)
    counts, blocks = reader.value(d["counts"]), reader.value(d["blocks"])

    def by_length(tables: Any, length: int) -> list[Any]:
        if len(tables) != length:
            raise ValueError(f"counts of {len(tables)} lengths, but the order is {order}")
        return [
            checked_numbers(table, "a table of counts", (k,) * j, 0.0)
            for j, table in enumerate(tables, 1)
        ]

    shapes = {"start": 1, "end": 1, **{f"transition{j}": j + 1 for j in range(1, order)}}
    shapes["transition"] = order + 1
    if order < 1 or set(blocks) != set(shapes):
        raise ValueError(f"scores of {sorted(blocks)}, but the order is {order}")
    return {
        "order": order,
        "classes": classes,
        "windows": by_length(counts["windows"], order + 1),
        "initial": by_length(counts["initial"], order),
        "last": checked_numbers(counts["last"], "the last counts", (k,), 0.0),
        "blocks": {n: checked_numbers(blocks[n], n, (k,) * r) for n, r in shapes.items()},
        "transition": checked_numbers(
            reader.value(d["transition"]), "transition", (k,) * (order + 1)
        ),
    }


# -- emissions -----------------------------------------------------------------------------------

#: Arrays and their shapes: labels (k), columns (d), known words (w), suffixes including none (s),
#: words in lower case (l).
_MOMENTS = {"weight": "k", "mean": "kd", "scatter": "kdd"}
_GAUSSIAN = {
    "_origin": "d",
    "means": "kd",
    "covariances": "kdd",
    "_whiten": "kdd",
    "_centres": "kd",
    "_constant": "k",
}
#: Those without negative numbers.
_COUNTS = ("weight",)


def _emissions(hmm: Any) -> dict[str, Any]:
    """Return the reader of X, the counts, and the parameters that turn them into scores."""
    emissions, counts = hmm.emissions_, hmm._emission_counts
    if isinstance(emissions, GaussianEmissions):
        return {
            "kind": "gaussian",
            "columns": emissions.means.shape[1],
            "names": hmm._columns,
            "moments": _attributes(counts, _MOMENTS),
            "scores": _attributes(emissions, _GAUSSIAN),
        }
    return {
        "kind": "categorical",
        "observation": hmm._reader._observation,
        "words": Names(counts.index),
        "counts": counts.table,
        **emissions.options,
    }


def _attributes(of: Any, shapes: dict[str, str]) -> dict[str, Any]:
    return {name: getattr(of, name) for name in shapes}


def _checked(stored: Any, shapes: dict[str, str], **sizes: int) -> dict[str, Any]:
    """Return arrays of finite numbers, with shapes given by these sizes."""
    return {
        name: checked_numbers(
            stored[name],
            name,
            tuple(sizes[letter] for letter in shape),
            0.0 if name in _COUNTS else -math.inf,
        )
        for name, shape in shapes.items()
    }


def read_emissions(d: dict[str, Any], k: int) -> tuple[Any, Any, Any, Any]:
    """Return the column names, the reader of X, the counts and the emissions."""
    if d["kind"] == "gaussian":
        return _read_gaussian(d, k)
    if d["kind"] != "categorical":
        raise ValueError(f"emissions of the kind {d['kind']!r}")
    words = _names(d["words"])
    table = checked_numbers(d["counts"], "counts", (len(words), k), 0.0)
    observation = d["observation"]
    if observation is not None and not isinstance(observation, (int, str)):
        raise ValueError(f"what is observed is {observation!r}")
    counts = WordCounts({word: number for number, word in enumerate(words)}, table)
    emissions = CategoricalEmissions(
        counts,
        alpha=_positive(d["alpha"], "alpha"),
        word_alpha=_positive(d["word_alpha"], "word_alpha"),
        suffix_length=whole_number(d["suffix_length"], "suffix_length"),
        rare=_positive(d["rare"], "rare", zero=True),
    )
    return {}, TokenReader(observation), counts, emissions


def _read_gaussian(d: dict[str, Any], k: int) -> tuple[Any, Any, Any, Any]:
    columns = whole_number(d["columns"], "the number of columns")
    moments = Moments(**_checked(d["moments"], _MOMENTS, k=k, d=columns))
    emissions = GaussianEmissions.__new__(GaussianEmissions)
    vars(emissions).update(_checked(d["scores"], _GAUSSIAN, k=k, d=columns))
    reads = VectorReader()
    encoder = DenseEncoder()
    encoder.n_features = columns
    reads._encoder.encoders["label"] = encoder
    return checked_columns(d["names"], {"label": columns}), reads, moments, emissions


def _names(value: Any) -> Names:
    if not isinstance(value, Names):
        raise ValueError("words that are not strings")
    return value


def _positive(value: Any, what: str, *, zero: bool = False) -> float:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not (0 < value < 1e308 or (zero and value == 0)):
        raise ValueError(f"{what} is {value!r}")
    return float(value)
