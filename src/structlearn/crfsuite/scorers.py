"""sklearn-crfsuite's scorers, for ``cross_val_score``, ``GridSearchCV`` and their kin."""

from __future__ import annotations

from sklearn.metrics import make_scorer

from .metrics import flat_accuracy_score, sequence_accuracy_score

flat_accuracy = make_scorer(flat_accuracy_score)
sequence_accuracy = make_scorer(sequence_accuracy_score)
