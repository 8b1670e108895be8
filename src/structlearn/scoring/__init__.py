"""Features times weights: which weights exist, and where each one lives."""

from .rows import SparseWeights

__all__ = [
    "SparseWeights",
]
