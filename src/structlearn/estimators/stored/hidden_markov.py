"""What a file holds of an :class:`~structlearn.estimators.HMM`: counts, and what was made of them.

Logarithms and factors of covariances are stored as they are and not worked out again: other
machines may round them in another way.
"""

from __future__ import annotations

from typing import Any

from ...features.arrays import DenseEncoder
from ..emissions import CategoricalEmissions, GaussianEmissions, Moments, WordCounts
from ..observations import TokenReader, VectorReader
from .frames import read_classes, read_columns, whole_number, write_classes, write_columns
from .values import Reader, Writer

__all__ = ["read_emissions", "read_labels", "write_emissions", "write_labels"]


def write_labels(hmm: Any, writer: Writer) -> dict[str, Any]:
    """Return the labels, their counts and their scores."""
    counts = hmm._label_counts
    return {
        "labels": write_classes(hmm.classes_, writer),
        "order": len(counts.initial),
        "counts": {
            "windows": [writer.array(table) for table in counts.windows],
            "initial": [writer.array(table) for table in counts.initial],
            "last": writer.array(counts.last),
        },
        "blocks": {name: writer.array(table) for name, table in hmm._blocks.items()},
        "transition": writer.array(hmm.transition_),
    }


def read_labels(d: dict[str, Any], reader: Reader) -> dict[str, Any]:
    """Return order, classes, counts and scores, all of the same number of labels."""
    classes = read_classes(d["labels"], reader, True)
    order = whole_number(d["order"], "the order", 8)
    k = len(classes)

    def counts(names: Any, length: int) -> list[Any]:
        if len(names) != length:
            raise ValueError(f"counts of {len(names)} lengths, where the order is {order}")
        return [reader.numbers(name, (k,) * (j + 1), 0.0) for j, name in enumerate(names)]

    stored = d["counts"]
    shapes = {"start": 1, "end": 1, **{f"transition{j}": j + 1 for j in range(1, order)}}
    shapes["transition"] = order + 1
    if order < 1 or set(d["blocks"]) != set(shapes):
        raise ValueError(f"scores of {sorted(d['blocks'])}, where the order is {order}")
    return {
        "order": order,
        "classes": classes,
        "windows": counts(stored["windows"], order + 1),
        "initial": counts(stored["initial"], order),
        "last": reader.numbers(stored["last"], (k,), 0.0),
        "blocks": {n: reader.numbers(d["blocks"][n], (k,) * r) for n, r in shapes.items()},
        "transition": reader.numbers(d["transition"], (k,) * (order + 1)),
    }


# -- what labels emit -----------------------------------------------------------------------------

#: Attributes of Gaussian emissions and their shapes: (K), (d).
_GAUSSIAN = {
    "_origin": "d",
    "means": "kd",
    "covariances": "kdd",
    "_whiten": "kdd",
    "_centres": "kd",
    "_constant": "k",
}
_MOMENTS = {"weight": "k", "mean": "kd", "scatter": "kdd"}


def write_emissions(hmm: Any, writer: Writer) -> dict[str, Any]:
    """Return how X is read, the counts, and the scores that were made of them."""
    emissions, counts = hmm.emissions_, hmm._emission_counts
    if isinstance(emissions, GaussianEmissions):
        return {
            "kind": "gaussian",
            "columns": emissions.means.shape[1],
            "names": write_columns(hmm._columns, writer),
            "moments": {name: writer.array(getattr(counts, name)) for name in _MOMENTS},
            "scores": {name: writer.array(getattr(emissions, name)) for name in _GAUSSIAN},
        }
    found = {
        "kind": "categorical",
        "observation": writer.value(hmm._reader._observation),
        "words": writer.strings(list(counts.index)),
        "counts": writer.array(counts.table),
        "alpha": emissions._alpha,
        "suffix_length": emissions._suffix_length,
        "unknown": writer.array(emissions._unknown),
        "log_normaliser": writer.array(emissions._log_normaliser),
        "log_unseen": emissions._log_unseen,
        "scores": writer.array(emissions._scores),
        "suffixes": writer.strings(list(emissions._suffixes)),
        "given_suffix": writer.array(emissions._given_suffix),
    }
    if emissions._suffix_length:
        found["lower"] = writer.strings(list(emissions._lower))
        found["lower_counts"] = writer.array(emissions._lower_counts)
    return found


def read_emissions(d: dict[str, Any], k: int, reader: Reader) -> tuple[Any, Any, Any, Any]:
    """Return the names of columns, the reader of X, the counts and the emissions."""
    if d["kind"] == "gaussian":
        return _read_gaussian(d, k, reader)
    if d["kind"] != "categorical":
        raise ValueError(f"emissions of the kind {d['kind']!r}")
    words = reader.strings(d["words"])
    table = reader.numbers(d["counts"], (len(words), k), 0.0)
    counts = WordCounts({word: i for i, word in enumerate(words)}, table)
    observation = reader.value(d["observation"])
    if observation is not None and not isinstance(observation, (int, str)):
        raise ValueError(f"what is observed is {observation!r}")
    emissions = CategoricalEmissions.__new__(CategoricalEmissions)
    emissions._alpha = _positive(d["alpha"], "alpha")
    emissions._suffix_length = whole_number(d["suffix_length"], "suffix_length")
    emissions._unknown = reader.numbers(d["unknown"], (k,), 0.0)
    emissions._log_normaliser = reader.numbers(d["log_normaliser"], (k,))
    emissions._log_unseen = -_positive(-d["log_unseen"], "log_unseen")
    seen = table.sum(axis=1) > 0  # as emissions tell known words
    known = [word for word, one in zip(words, seen.tolist(), strict=True) if one]
    emissions._index = {word: i for i, word in enumerate(known)}
    emissions._scores = reader.numbers(d["scores"], (len(known), k))
    suffixes = reader.strings(d["suffixes"])
    if not all(suffixes):
        raise ValueError("a suffix without a mark")
    emissions._suffixes = {suffix: i for i, suffix in enumerate(suffixes, 1)}
    emissions._given_suffix = reader.numbers(d["given_suffix"], (len(suffixes) + 1, k), 0.0)
    emissions._lower = {}
    if emissions._suffix_length:
        lower = reader.strings(d["lower"])
        emissions._lower = {word: i for i, word in enumerate(lower)}
        emissions._lower_counts = reader.numbers(d["lower_counts"], (len(lower), k), 0.0)
    return {}, TokenReader(observation), counts, emissions


def _read_gaussian(d: dict[str, Any], k: int, reader: Reader) -> tuple[Any, Any, Any, Any]:
    columns = whole_number(d["columns"], "the number of columns")
    sizes = {"k": k, "d": columns}

    def arrays(stored: Any, shapes: dict[str, str]) -> dict[str, Any]:
        return {n: reader.numbers(stored[n], tuple(sizes[c] for c in s)) for n, s in shapes.items()}

    moments = Moments(**arrays(d["moments"], _MOMENTS))
    if moments.weight.min() < 0:
        raise ValueError("counts below 0")
    emissions = GaussianEmissions.__new__(GaussianEmissions)
    vars(emissions).update(arrays(d["scores"], _GAUSSIAN))
    reads = VectorReader()
    encoder = DenseEncoder()
    encoder.n_features = columns
    reads._encoder.encoders["label"] = encoder
    return read_columns(d["names"], {"label": columns}, reader), reads, moments, emissions


def _positive(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1e308:
        raise ValueError(f"{what} is {value!r}")
    return float(value)
