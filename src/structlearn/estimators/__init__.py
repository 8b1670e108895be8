"""The scikit-learn interface of the library: estimators with fit, predict and the rest.

Names are imported when first used: taggers need only the parts that do not need scikit-learn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names

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
