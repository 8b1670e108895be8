"""From a problem to weights. Nothing here knows a structure or a feature."""

from .base import Learner, Training
from .lbfgs import LBFGS
from .online import Online, OnlineState
from .owlqn import OWLQN

__all__ = ["LBFGS", "OWLQN", "Learner", "Online", "OnlineState", "Training"]
