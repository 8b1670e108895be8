"""A fitted estimator built from given labels, features and weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from ..array_types import Array
from ..features.encoder import BlockEncoder
from ..scoring.layout import WeightBlock, WeightLayout
from ..scoring.rows import SparseWeights
from .constraints import constrain
from .preparation import Frame, make_blocks, make_encoder, make_structure

if TYPE_CHECKING:
    from .model import StructuredModel

Model = TypeVar("Model", bound="StructuredModel")


def assemble(
    estimator: Model,
    classes: npt.NDArray[Any],
    encoders: Mapping[str, BlockEncoder],
    weights: Mapping[str, Any],
) -> Model:
    """Give an estimator labels, features and weights, as if ``fit`` had learned them.

    The estimator's parameters determine which blocks of weights exist (``structure``,
    ``boundaries``), what is forbidden and which classes share weights; nothing is learned.

    Parameters
    ----------
    estimator : StructuredModel
        Unchanged if anything is wrong.
    classes : array of shape (K,)
        The labels, each once, in the order of the weights.
    encoders : mapping of str to encoder
        Block name to the encoder of its features, for arrays or
        :class:`~structlearn.features.tokens.TokenEncoder` with its vocabulary.
    weights : mapping of str to array or SparseWeights
        Block name to its weights: dense as in ``coef_``, outcomes first, or sparse. For a block
        with a hierarchy: (nodes, features).

    Returns
    -------
    estimator
        The same object, fitted: ``n_iter_`` is 0, ``objective_`` is None.
    """
    names = np.asarray(classes)
    structure = constrain(make_structure(estimator.structure), estimator, names)
    if structure.has_labels and (names.ndim != 1 or len(names) == 0):
        raise ValueError("a model needs at least one label")
    if len(set(names.tolist())) != len(names):
        raise ValueError("a label appears twice in the classes")
    n_features = {name: encoder.n_features for name, encoder in encoders.items()}
    blocks = make_blocks(estimator, structure, n_features, names)
    expected = sorted(name for name, block in blocks.items() if block is not None)
    if sorted(weights) != expected:
        raise ValueError(f"expected weights of {expected}, got {sorted(weights)}")
    parts = [
        _stored(block, name, weights[name]) for name, block in blocks.items() if block is not None
    ]
    vector = np.concatenate(parts) if parts else np.empty(0)
    if not np.isfinite(vector).all():
        raise ValueError("the weights must be finite")
    encoder = make_encoder(estimator, structure)
    encoder.encoders.update(encoders)
    estimator._hold(Frame(encoder, structure, names, WeightLayout(blocks)), vector, [])
    return estimator


def _stored(block: WeightBlock, name: str, given: Any) -> Array:
    """Return the weights in the block's storage order."""
    if isinstance(given, SparseWeights):
        return given.place(block, name)
    if not block.hierarchy:
        try:
            return block.from_dense(given)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    table = np.asarray(given, dtype=np.float64)
    if table.shape != (block.n_columns, block.n_features):
        raise ValueError(
            f"{name}: expected weights of shape {(block.n_columns, block.n_features)}, one row per "
            f"node of the hierarchy, got {table.shape}"
        )
    return np.ascontiguousarray(table.T).ravel()
