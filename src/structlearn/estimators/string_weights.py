"""A fitted chain over strings as plain weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from ..exceptions import CapabilityError
from ..features.tokens import TokenEncoder
from ..models.string_weights import StringWeights
from ..structures.chains.chain import Chain

__all__ = ["string_weights"]


def string_weights(model: Any) -> StringWeights:
    """Return the weights of a fitted estimator; CapabilityError if it is no plain chain."""
    check_is_fitted(model)
    structure, blocks = model.structure_, model._layout.present()
    encoder = model._encoder.encoders.get("label")
    problem = ""
    if type(structure) is not Chain or structure.order > 1:
        problem = f"its structure is {structure!r}"
    elif not isinstance(encoder, TokenEncoder):
        problem = "its features are numbers of arrays, which have no names"
    elif any(block.mask is not None for block in blocks.values()):
        problem = "labels or pairs of labels are forbidden in it"
    elif structure.order and not blocks["transition"].shared:
        problem = "its label pairs have features"
    if problem:
        raise CapabilityError(
            "only a plain chain of order 0 or 1 over strings can be written as one, and of this "
            f"model {problem}"
        )
    assert isinstance(encoder, TokenEncoder)
    n = len(model.classes_)
    table: dict[str, npt.NDArray[np.float64]] = {}
    for name in ("transition", "start", "end"):
        block = blocks.get(name)
        if block is not None:
            table[name] = block.to_dense(model._weights[block.offset : block.offset + block.size])
    label = blocks["label"]
    weights = model._weights[label.offset : label.offset + label.size]
    if label.column is None or label.hierarchy:
        dense = label.to_dense(weights).T
        row_ptr = np.arange(0, dense.size + 1, n)
        column, weights = np.tile(np.arange(n), len(dense)), dense.ravel()
    else:
        row_ptr, column = label.row_ptr, label.column
    return StringWeights(
        list(map(str, model.classes_.tolist())),
        encoder.vocabulary.names(),
        np.ascontiguousarray(row_ptr, dtype=np.uint32),
        np.ascontiguousarray(column, dtype=np.uint32),
        np.ascontiguousarray(weights, dtype=np.float64),
        table.get("transition", np.zeros((n, n))),
        *(table.get(name, b"") for name in ("start", "end")),
    )
