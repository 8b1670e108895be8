"""scikit-learn's face of the library: fit, predict, and everything that goes with them."""

from .adagrad import AdaGrad
from .arow import AROW
from .crf import CRF
from .hmm import HMM
from .model import StructuredModel
from .passive_aggressive import PassiveAggressive
from .perceptron import StructuredPerceptron
from .svm import StructuredSVM

__all__ = [
    "AROW",
    "CRF",
    "HMM",
    "AdaGrad",
    "PassiveAggressive",
    "StructuredModel",
    "StructuredPerceptron",
    "StructuredSVM",
]
