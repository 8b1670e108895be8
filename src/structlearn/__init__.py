"""structlearn: structured prediction.

Predicts many correlated outputs at once — the tags of a sentence, its parse, the segments of an
image — by scoring input and output jointly and finding the best output. Every learner works on
every structure::

    from structlearn import CRF, StructuredPerceptron, StructuredSVM
    from structlearn.structures import Chain

Names are imported when first used, so that ``import structlearn`` costs next to nothing.
"""

from __future__ import annotations

import sys

from .lazy import lazy_names
from .missing import MissingPackages

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from .estimators import (
        AROW,
        CRF,
        HMM,
        AdaGrad,
        MultiLabelClassifier,
        PassiveAggressive,
        StructuredModel,
        StructuredPerceptron,
        StructuredSVM,
    )
    from .exceptions import CapabilityError, ConvergenceWarning, InfeasibleError
    from .loading import load

#: The version of all distributions; both pyproject files read it here.
__version__ = "0.1.0"

_HOMES = {
    "AROW": "estimators",
    "AdaGrad": "estimators",
    "MultiLabelClassifier": "estimators",
    "PassiveAggressive": "estimators",
    "CRF": "estimators",
    "HMM": "estimators",
    "StructuredModel": "estimators",
    "StructuredPerceptron": "estimators",
    "StructuredSVM": "estimators",
    "CapabilityError": "exceptions",
    "ConvergenceWarning": "exceptions",
    "InfeasibleError": "exceptions",
    "load": "loading",
}
_MODULES = (
    "constraints",
    "datasets",
    "distributed",
    "estimators",
    "io",
    "learners",
    "losses",
    "metrics",
    "models",
    "plotting",
    "scoring",
    "structures",
    "tasks",
    "testing",
    "text",
    "traces",
)

__all__ = [
    "AROW",
    "CRF",
    "HMM",
    "AdaGrad",
    "CapabilityError",
    "ConvergenceWarning",
    "InfeasibleError",
    "MultiLabelClassifier",
    "PassiveAggressive",
    "StructuredModel",
    "StructuredPerceptron",
    "StructuredSVM",
    "__version__",
    "load",
]

sys.meta_path.append(MissingPackages)
__getattr__, __dir__ = lazy_names(__name__, _HOMES, _MODULES)
