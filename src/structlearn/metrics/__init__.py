"""How good predicted labels are: accuracy, confusions, chunks; and how sure one can be of it.

Gold and predicted labels are lists of sentences, each a sequence of labels::

    from structlearn.metrics import chunk_report, randomization_test

    print(chunk_report(gold, predicted))  # as conlleval prints it
    print(randomization_test(gold, predicted, baseline, "chunk_f1", random_state=0))

Nothing here imports NumPy but the two statistics, when they are called.
"""

from .accuracy import sequence_accuracy, sequence_counts, token_accuracy, token_counts
from .attachment import AttachmentReport, attachment_interval, attachment_report
from .bootstrap import Interval, bootstrap_interval
from .boundaries import chunks, split_label
from .chunking import ChunkReport, chunk_counts, chunk_f1, chunk_report
from .confusion import Confusion, confusion
from .counts import METRICS, CountMetric
from .labels import LabelReport, label_report
from .randomization import Comparison, randomization_test
from .schemes import Forbidden, legal_transitions, to_bio, to_iobes
from .scores import Averages, Scores

__all__ = [
    "METRICS",
    "AttachmentReport",
    "Averages",
    "ChunkReport",
    "Comparison",
    "Confusion",
    "CountMetric",
    "Forbidden",
    "Interval",
    "LabelReport",
    "Scores",
    "attachment_interval",
    "attachment_report",
    "bootstrap_interval",
    "chunk_counts",
    "chunk_f1",
    "chunk_report",
    "chunks",
    "confusion",
    "label_report",
    "legal_transitions",
    "randomization_test",
    "sequence_accuracy",
    "sequence_counts",
    "split_label",
    "to_bio",
    "to_iobes",
    "token_accuracy",
    "token_counts",
]
