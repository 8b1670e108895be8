"""The scikit-learn interface of the library: fit, predict, and everything that goes with them.

Imported when first used: taggers learn by the parts of this package that need no scikit-learn.
"""

from __future__ import annotations

from ..lazy import lazy_names

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from .adagrad import AdaGrad
    from .annotators import AnnotatorModel, majority_vote
    from .arow import AROW
    from .crf import CRF
    from .hmm import HMM
    from .model import StructuredModel
    from .multilabel import MultiLabelClassifier
    from .passive_aggressive import PassiveAggressive
    from .perceptron import StructuredPerceptron
    from .sequences import PerToken, cross_val_predict
    from .svm import StructuredSVM

_HOMES = {
    "AROW": "arow",
    "CRF": "crf",
    "HMM": "hmm",
    "AdaGrad": "adagrad",
    "AnnotatorModel": "annotators",
    "MultiLabelClassifier": "multilabel",
    "PerToken": "sequences",
    "PassiveAggressive": "passive_aggressive",
    "StructuredModel": "model",
    "StructuredPerceptron": "perceptron",
    "StructuredSVM": "svm",
    "cross_val_predict": "sequences",
    "majority_vote": "annotators",
}

__all__ = [
    "AROW",
    "CRF",
    "HMM",
    "AdaGrad",
    "AnnotatorModel",
    "MultiLabelClassifier",
    "PassiveAggressive",
    "PerToken",
    "StructuredModel",
    "StructuredPerceptron",
    "StructuredSVM",
    "cross_val_predict",
    "majority_vote",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
