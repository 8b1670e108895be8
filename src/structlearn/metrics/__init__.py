"""How good predicted labels are: accuracy, confusions, chunks; and how sure one can be of it.

Gold and predicted labels are lists of sentences, each a sequence of labels::

    from structlearn.metrics import chunk_report, randomization_test

    print(chunk_report(gold, predicted))  # as conlleval prints it
    print(randomization_test(gold, predicted, baseline, "chunk_f1", random_state=0))

Nothing here imports NumPy but the two statistics, when they are called. Names are imported when
first used.
"""

from __future__ import annotations

from ..lazy import lazy_names

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from .accuracy import sequence_accuracy, token_accuracy, token_counts
    from .attachment import attachment_interval, attachment_report
    from .bootstrap import bootstrap_interval
    from .boundaries import chunks
    from .calibration import reliability
    from .chunking import chunk_f1, chunk_report
    from .confusions import confusion
    from .counts import CountMetric
    from .labels import label_report
    from .randomization import randomization_test
    from .schemes import legal_transitions, to_bio, to_iobes

_HOMES = {
    "sequence_accuracy": "accuracy",
    "token_accuracy": "accuracy",
    "token_counts": "accuracy",
    "attachment_interval": "attachment",
    "attachment_report": "attachment",
    "bootstrap_interval": "bootstrap",
    "chunks": "boundaries",
    "reliability": "calibration",
    "chunk_f1": "chunking",
    "chunk_report": "chunking",
    "confusion": "confusions",
    "CountMetric": "counts",
    "label_report": "labels",
    "randomization_test": "randomization",
    "legal_transitions": "schemes",
    "to_bio": "schemes",
    "to_iobes": "schemes",
}

__all__ = [
    "CountMetric",
    "attachment_interval",
    "attachment_report",
    "bootstrap_interval",
    "chunk_f1",
    "chunk_report",
    "chunks",
    "confusion",
    "label_report",
    "legal_transitions",
    "randomization_test",
    "reliability",
    "sequence_accuracy",
    "to_bio",
    "to_iobes",
    "token_accuracy",
    "token_counts",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
