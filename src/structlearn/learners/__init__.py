"""From a problem to weights. Nothing here knows a structure or a feature."""

from .base import Learner, Training
from .cutting_planes import NSlack, Round
from .dual import DualState
from .frank_wolfe import FrankWolfe
from .lbfgs import LBFGS
from .one_slack import OneSlack
from .online import Online, OnlineState

__all__ = [
    "LBFGS",
    "DualState",
    "FrankWolfe",
    "Learner",
    "NSlack",
    "OneSlack",
    "Online",
    "OnlineState",
    "Round",
    "Training",
]
