"""Features times weights: the layout of the weights and their storage."""

from .rows import SparseWeights

__all__ = [
    "SparseWeights",
]
