"""From a problem to weights. Nothing here knows a structure or a feature."""

from .base import Learner, Training
from .dual import DualAscent, DualState
from .lbfgs import LBFGS
from .online import Online, OnlineState

__all__ = ["LBFGS", "DualAscent", "DualState", "Learner", "Online", "OnlineState", "Training"]
