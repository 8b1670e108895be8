"""scikit-learn's face of the library: fit, predict, and everything that goes with them."""

from .crf import CRF
from .hmm import HMM
from .model import StructuredModel
from .perceptron import StructuredPerceptron
from .svm import StructuredSVM

__all__ = ["CRF", "HMM", "StructuredModel", "StructuredPerceptron", "StructuredSVM"]
