"""Features times weights: which weights exist, and where each one lives."""

from .layout import WeightBlock, WeightLayout
from .rows import SparseWeights

__all__ = ["SparseWeights", "WeightBlock", "WeightLayout"]
