"""CRFsuite's model files, written without CRFsuite.

References
----------
N. Okazaki (2007), CRFsuite: a fast implementation of conditional random fields.
"""

from __future__ import annotations

import math
import os
from array import array
from typing import Any

from .. import _core
from ..exceptions import CapabilityError
from ..models.string_chain import StringChain
from ..text.files import replaced


def write_crfsuite(
    model: Any, path: str | os.PathLike[str], *, boundaries: tuple[str, str] | None = None
) -> None:
    """Write a chain over strings as a CRFsuite file, with which CRFsuite gives the same labels.

    Parameters
    ----------
    model : StringChain, estimator or Tagger
        A chain of order 0 or 1 over strings, or a model with a method ``to_chain()``: a fitted
        estimator whose tokens are strings, lists of strings or dictionaries; or a
        :class:`~structlearn.tasks.Tagger`, whose features become attributes.
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
    chain = model if isinstance(model, StringChain) else model.to_chain()
    data = crfsuite_bytes(chain, boundaries)
    with replaced(path) as file:
        file.write(data)


def crfsuite_bytes(chain: StringChain, boundaries: tuple[str, str] | None = None) -> bytes:
    """Return the content of a chain's file."""
    problem = ""
    if chain.order > 1:
        problem = f"the chain is of order {chain.order}"
    elif "mask" in chain.arrays:
        problem = "labels are forbidden"
    elif not all(map(math.isfinite, _numbers(chain.arrays.get("transition1", b"")))):
        problem = "pairs of labels are forbidden"
    elif not all(
        math.isfinite(x) for end in ("start", "end") for x in _numbers(chain.arrays.get(end, b""))
    ):
        problem = "labels are forbidden at the first or the last token"
    if problem:
        raise CapabilityError(
            f"{problem}, but CRFsuite only has chains of order 1 without constraints. What works: "
            "save, in structlearn's own format"
        )
    n = len(chain.labels)
    names, arrays = chain.names.names(), dict(chain.arrays)
    if any(x for end in ("start", "end") for x in _numbers(arrays.get(end, b""))):
        names, arrays = _with_boundaries(names, arrays, boundaries)
    return _core.crfsuite_bytes(
        chain.labels,
        names,
        arrays["row_ptr"],
        arrays["column"],
        arrays["weight"],
        arrays.get("transition1", bytes(8 * n * n)),
    )


def _numbers(buffer: Any) -> memoryview[float]:
    return memoryview(buffer).cast("B").cast("d")


def _with_boundaries(
    names: list[str], arrays: dict[str, Any], boundaries: tuple[str, str] | None
) -> tuple[list[str], dict[str, Any]]:
    """Return names and weights, with those of the first and the last label as two attributes."""
    if boundaries is None:
        raise ValueError(
            "the model has weights for the first and the last label, which CRFsuite does not have: "
            'give boundaries=("BOS", "EOS") (--boundaries BOS EOS), the names of attributes that '
            "the first and the last token of each sequence will have, or train with "
            "boundaries=False"
        )
    if len(set(boundaries)) != 2 or set(boundaries) & set(names):
        raise ValueError(f"boundaries={boundaries!r}: these must be two names that no feature has")
    row_ptr, column = array("I", bytes(arrays["row_ptr"])), array("I", bytes(arrays["column"]))
    weight = array("d", bytes(arrays["weight"]))
    for end in ("start", "end"):
        values = array("d", bytes(arrays.get(end, b"")))
        weight.extend(values)
        column.extend(range(len(values)))
        row_ptr.append(len(weight))
    return [*names, *boundaries], {**arrays, "row_ptr": row_ptr, "column": column, "weight": weight}
