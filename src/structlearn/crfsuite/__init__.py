"""The interfaces of python-crfsuite and sklearn-crfsuite, on the core of this library.

A program only has to change its import to ``from structlearn import crfsuite as pycrfsuite``.
Loading models and labelling needs nothing but Python; training needs the full install.

Names are imported when first used.
"""

from __future__ import annotations

from ..lazy import lazy_names

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from .estimator import CRF
    from .items import ItemSequence
    from .model_dump import ParsedDump
    from .tagger import Tagger
    from .trainer import BaseTrainer, CRFSuiteError, Trainer

#: The CRFsuite version of this interface, its files and its parameters.
CRFSUITE_VERSION = "0.12.2"

_HOMES = {
    "BaseTrainer": "trainer",
    "CRF": "estimator",
    "CRFSuiteError": "trainer",
    "ItemSequence": "items",
    "ParsedDump": "model_dump",
    "Tagger": "tagger",
    "Trainer": "trainer",
}
_MODULES = ("log_parser", "metrics", "scorers")

__all__ = [
    "CRF",
    "CRFSUITE_VERSION",
    "BaseTrainer",
    "CRFSuiteError",
    "ItemSequence",
    "ParsedDump",
    "Tagger",
    "Trainer",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES, _MODULES)
