"""From a problem to weights. Nothing here knows a structure or a feature."""

from .annealing import Annealing
from .base import Learner, Training
from .lbfgs import LBFGS
from .online import Beam, Online, OnlineState
from .owlqn import OWLQN

__all__ = ["LBFGS", "OWLQN", "Annealing", "Beam", "Learner", "Online", "OnlineState", "Training"]
