"""Features times weights: which weights exist, and where each one lives."""

from .cone import WeightCone, WeightFloor, check_features
from .layout import WeightBlock, WeightLayout
from .rows import SparseWeights

__all__ = [
    "SparseWeights",
    "WeightBlock",
    "WeightCone",
    "WeightFloor",
    "WeightLayout",
    "check_features",
]
