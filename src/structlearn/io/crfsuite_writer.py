"""CRFsuite's model files, written without CRFsuite.

References
----------
N. Okazaki (2007), CRFsuite: a fast implementation of conditional random fields.
"""

from __future__ import annotations

import os
from array import array

from .. import _core
from ..models.string_weights import StringWeights
from ..text.files import replaced

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

__all__ = ["crfsuite_bytes", "write_crfsuite"]


def write_crfsuite(
    model: Any, path: str | os.PathLike[str], *, boundaries: tuple[str, str] | None = None
) -> None:
    """Write a chain over strings as a file of CRFsuite's, which labels with it as we do.

    Parameters
    ----------
    model : estimator or Tagger
        A fitted chain of order 0 or 1 whose tokens are strings, lists of strings or dictionaries;
        or a :class:`~structlearn.tasks.Tagger`, whose features become attributes of the names that
        ``top_features`` shows.
    path : path
        The file.
    boundaries : (str, str), optional
        CRFsuite has no weights for the first and the last label of a sequence. If the model has
        such weights, they go to two attributes of these names, which the first and the last token
        of every sequence must then have.

    Raises
    ------
    CapabilityError
        The model has something that CRFsuite does not have; the message says what.
    """
    data = crfsuite_bytes(model._string_weights(), boundaries)
    with replaced(path) as file:
        file.write(data)


def crfsuite_bytes(weights: StringWeights, boundaries: tuple[str, str] | None = None) -> bytes:
    """Return the file of a chain over strings."""
    if any(_numbers(weights.start)) or any(_numbers(weights.end)):
        weights = _with_boundaries(weights, boundaries)
    return _core.crfsuite_bytes(*weights[:6])


def _numbers(buffer: Any) -> memoryview[float]:
    return memoryview(buffer).cast("B").cast("d")


def _with_boundaries(weights: StringWeights, names: tuple[str, str] | None) -> StringWeights:
    """Return the weights of the first and the last label as those of two attributes."""
    if names is None:
        raise ValueError(
            "the model has weights for the first and the last label, which CRFsuite does not have: "
            'train it with boundaries=False, or give boundaries=("BOS", "EOS"), the names of '
            "attributes that the first and the last token of each sequence will have"
        )
    first, last = names
    taken = [name for name in names if name in weights.attributes]
    if taken or first == last:
        raise ValueError(f"boundaries={names!r}: these must be two names that no feature has")
    row_ptr, column = array("I", bytes(weights.row_ptr)), array("I", bytes(weights.column))
    weight = array("d", bytes(weights.weight))
    for values in (weights.start, weights.end):
        given = array("d", bytes(values))
        weight.extend(given)
        column.extend(range(len(given)))
        row_ptr.append(len(weight))
    return weights._replace(
        attributes=[*weights.attributes, first, last],
        row_ptr=row_ptr,
        column=column,
        weight=weight,
    )
