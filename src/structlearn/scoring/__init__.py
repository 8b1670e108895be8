"""Features times weights: which weights exist, and where each one lives."""

from .layout import WeightBlock, WeightLayout

__all__ = ["WeightBlock", "WeightLayout"]
