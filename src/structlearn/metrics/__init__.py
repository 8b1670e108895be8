"""Metrics of predicted labels: accuracy, confusions, chunks, and statistical significance.

Gold and predicted labels are lists of sentences, each a sequence of labels::

    from structlearn.metrics import chunk_report, randomization_test

    print(chunk_report(gold, predicted))  # as conlleval prints it
    print(randomization_test(gold, predicted, baseline, "chunk_f1", random_state=0))

Only the two statistics import NumPy, when they are called. Names are imported when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from .accuracy import sequence_accuracy, token_accuracy, token_counts
    from .agreement import alpha_by_label, cohen_kappa, krippendorff_alpha
    from .attachment import attachment_interval, attachment_report
    from .bootstrap import bootstrap_interval
    from .boundaries import chunks
    from .calibration import reliability
    from .chunking import chunk_f1, chunk_report
    from .confusions import confusion
    from .counts import CountMetric
    from .entities import BILOU, IOB1, IOB2, IOBES, IOE1, IOE2, EntityScheme, get_entities
    from .entity_scores import (
        accuracy_score,
        classification_report,
        f1_score,
        performance_measure,
        precision_recall_fscore_support,
        precision_score,
        recall_score,
    )
    from .labels import label_report
    from .randomization import randomization_test
    from .schemes import legal_transitions, to_bio, to_iobes
    from .scorers import scorer

_HOMES = {
    "sequence_accuracy": "accuracy",
    "token_accuracy": "accuracy",
    "token_counts": "accuracy",
    **dict.fromkeys(("alpha_by_label", "cohen_kappa", "krippendorff_alpha"), "agreement"),
    "attachment_interval": "attachment",
    "attachment_report": "attachment",
    "bootstrap_interval": "bootstrap",
    "chunks": "boundaries",
    "reliability": "calibration",
    "chunk_f1": "chunking",
    "chunk_report": "chunking",
    "confusion": "confusions",
    "CountMetric": "counts",
    **dict.fromkeys(
        ("BILOU", "IOB1", "IOB2", "IOBES", "IOE1", "IOE2", "EntityScheme", "get_entities"),
        "entities",
    ),
    **dict.fromkeys(
        (
            "accuracy_score",
            "classification_report",
            "f1_score",
            "performance_measure",
            "precision_recall_fscore_support",
            "precision_score",
            "recall_score",
        ),
        "entity_scores",
    ),
    "label_report": "labels",
    "randomization_test": "randomization",
    "legal_transitions": "schemes",
    "scorer": "scorers",
    "to_bio": "schemes",
    "to_iobes": "schemes",
}

__all__ = [
    "BILOU",
    "IOB1",
    "IOB2",
    "IOBES",
    "IOE1",
    "IOE2",
    "CountMetric",
    "EntityScheme",
    "accuracy_score",
    "alpha_by_label",
    "attachment_interval",
    "attachment_report",
    "bootstrap_interval",
    "chunk_f1",
    "chunk_report",
    "chunks",
    "classification_report",
    "cohen_kappa",
    "confusion",
    "f1_score",
    "get_entities",
    "krippendorff_alpha",
    "label_report",
    "legal_transitions",
    "performance_measure",
    "precision_recall_fscore_support",
    "precision_score",
    "randomization_test",
    "recall_score",
    "reliability",
    "scorer",
    "sequence_accuracy",
    "to_bio",
    "to_iobes",
    "token_accuracy",
    "token_counts",
]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
