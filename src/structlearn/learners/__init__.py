"""From a problem to weights. Nothing here knows a structure or a feature."""

from .annealing import Annealing
from .base import Learner, OwnLearner, Progress, Settings, Training
from .cccp import CCCP
from .cutting_planes import NSlack, Round
from .dual_ascent import AscentState, DualAscent
from .frank_wolfe import FrankWolfe
from .hinge_dual import DualState
from .lbfgs import LBFGS
from .one_slack import OneSlack
from .online import Beam, Online, OnlineState
from .owlqn import OWLQN
from .sag import SAG, SAGState

__all__ = [
    "CCCP",
    "LBFGS",
    "OWLQN",
    "SAG",
    "Annealing",
    "AscentState",
    "Beam",
    "DualAscent",
    "DualState",
    "FrankWolfe",
    "Learner",
    "NSlack",
    "OneSlack",
    "Online",
    "OnlineState",
    "OwnLearner",
    "Progress",
    "Round",
    "SAGState",
    "Settings",
    "Training",
]
