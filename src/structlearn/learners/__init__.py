"""From a problem to weights. Nothing here knows a structure or a feature."""

from .annealing import Annealing
from .base import Learner, Training
from .cutting_planes import NSlack, Round
from .dual import DualState
from .dual_ascent import AscentState, DualAscent
from .frank_wolfe import FrankWolfe
from .lbfgs import LBFGS
from .one_slack import OneSlack
from .online import Online, OnlineState
from .owlqn import OWLQN
from .sag import SAG, SAGState

__all__ = [
    "LBFGS",
    "OWLQN",
    "SAG",
    "Annealing",
    "AscentState",
    "DualAscent",
    "DualState",
    "FrankWolfe",
    "Learner",
    "NSlack",
    "OneSlack",
    "Online",
    "OnlineState",
    "Round",
    "SAGState",
    "Training",
]
