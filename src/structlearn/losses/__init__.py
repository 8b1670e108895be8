"""One loss for every learner, and the costs that it can be told to respect."""

from .costs import Cost, Hamming, LabelCost, ZeroOne, as_cost
from .loss import StructuredLoss, hinge_loss, log_loss, perceptron_loss, softmax_margin_loss

__all__ = [
    "Cost",
    "Hamming",
    "LabelCost",
    "StructuredLoss",
    "ZeroOne",
    "as_cost",
    "hinge_loss",
    "log_loss",
    "perceptron_loss",
    "softmax_margin_loss",
]
