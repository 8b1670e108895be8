"""The first pass of taggers with many labels: every token is labelled by itself.

A chain of order 0 with weights for the pairs of feature and label that were seen, learned by an
averaged perceptron. Its best labels of a token are the candidates of models that consider a few
labels only, and tell which other pairs of feature and label are worth a weight.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...learners.base import Progress, Settings
from ...learners.online import Online
from ...problem import Problem
from ...scoring.layout import SeenOutcomes
from .token_problem import TokenProblem
from .weights import TokenWeights

#: Passes of the perceptron.
_PASSES = 2
#: How many of the best labels of their tokens features seen with several labels have weights for.
_LIKELY = 2


class FirstPass:
    """Which labels are likely at each token. Can be sent.

    Parameters
    ----------
    tokens : TokenProblem or SplitProblem
        Of order 0, with weights for the pairs of feature and label that were seen.
    which : TokenWeights
        These weights.
    forbidden : array of uint8
        What a scheme of labels forbids (:func:`forbidden_bits`): a label is as likely then as the
        best sequence that has it and is allowed, so that the labels of a chunk speak for each
        other. Empty: every label stands for itself.
    random_state : int
        Seed.
    n_jobs : int
        Threads.

    Attributes
    ----------
    weights : array
        What it has learned.
    """

    def __init__(
        self,
        tokens: Problem,
        which: TokenWeights,
        forbidden: npt.NDArray[np.uint8],
        random_state: int,
        n_jobs: int,
    ) -> None:
        self.which, self.forbidden, self._n_jobs = which, forbidden, n_jobs
        learner = Online(
            Settings(margin=0.0, temperature=0.0, max_iter=_PASSES),
            step="unit",
            average=True,
            shuffle=True,
            random_state=random_state,
        )
        training = learner.run(tokens, progress=Progress())
        if training.interrupted:
            raise KeyboardInterrupt
        self.weights = training.weights

    def best(self, tokens: TokenProblem, n: int) -> npt.NDArray[np.uint16]:
        """Return the n best labels of each token, ascending, the gold label among them."""
        gold = tokens.gold_numbers
        flat: npt.NDArray[np.uint16] = _core.best_candidates(
            tokens.native, self.weights, n, gold, self.forbidden, self._n_jobs
        )
        return flat.reshape(-1, n)

    def likely_pairs(self, tokens: TokenProblem, fill: int) -> SeenOutcomes:
        """Return the labels that each feature has weights for, as far as these tokens tell.

        Those that it was seen with; features seen with at least ``fill`` labels (0: none) have
        weights for the two best labels of their tokens too, which are those that a perceptron takes
        for right when it is wrong.
        """
        rows: Any = tokens.examples.blocks["label"]
        n, seen = min(_LIKELY, tokens.n_labels), self.which.observed
        assert seen is not None
        place = rows.site_ptr, rows.indptr, rows.indices
        best = self.best(tokens, n).ravel()
        row_ptr, column = _core.candidate_pairs(
            *place, best, n, seen.row_ptr, seen.column, tokens.n_labels, fill
        )
        return SeenOutcomes(row_ptr, column, tokens.n_labels)

    @property
    def rows(self) -> tuple[Any, Any, Any]:
        """Row pointers, labels and weights of the features."""
        return self.which.layout.rows("label", self.weights)


def forbidden_bits(forbid: Mapping[str, Any], labels: list[str]) -> npt.NDArray[np.uint8]:
    """Return what is forbidden as the core reads it: bits of K rows, of the start and of the end.

    Parameters
    ----------
    forbid : mapping of str to list
        As :func:`~structlearn.metrics.legal_transitions` gives it; may be empty.
    """
    if not forbid:
        return np.zeros(0, dtype=np.uint8)
    n, index = len(labels), {label: k for k, label in enumerate(labels)}
    table = np.zeros((n + 2, n), dtype=bool)
    for row, name in ((n, "start"), (n + 1, "end")):
        table[row, [index[label] for label in forbid[name]]] = True
    for before, label in forbid["transition"]:
        table[index[before], index[label]] = True
    return np.packbits(table.ravel(), bitorder="little")
