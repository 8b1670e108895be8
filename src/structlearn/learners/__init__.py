"""From a problem to weights. Nothing here knows a structure or a feature."""

from .annealing import Annealing
from .base import Learner, Training
from .cccp import CCCP
from .lbfgs import LBFGS
from .online import Online, OnlineState
from .owlqn import OWLQN

__all__ = [
    "CCCP",
    "LBFGS",
    "OWLQN",
    "Annealing",
    "Learner",
    "Online",
    "OnlineState",
    "Training",
]
