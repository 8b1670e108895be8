"""From a problem to weights. Nothing here knows a structure or a feature."""

from .base import Learner, OwnLearner, Progress, Settings, Training

__all__ = [
    "Learner",
    "OwnLearner",
    "Progress",
    "Settings",
    "Training",
]
