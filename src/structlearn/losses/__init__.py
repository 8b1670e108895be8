"""The one loss of all learners, and its costs."""

from .costs import Cost, Hamming, LabelCost, ZeroOne
from .loss import StructuredLoss, hinge_loss, log_loss, perceptron_loss, softmax_margin_loss

__all__ = [
    "Cost",
    "Hamming",
    "LabelCost",
    "StructuredLoss",
    "ZeroOne",
    "hinge_loss",
    "log_loss",
    "perceptron_loss",
    "softmax_margin_loss",
]
