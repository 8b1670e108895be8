"""The first pass of taggers with many labels: every token is labelled by itself.

A chain of order 0 with weights for the pairs of feature and label that were seen, learned by an
averaged perceptron. Its best labels of a token are the candidates of models that consider a few
labels only, and tell which other pairs of feature and label are worth a weight.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...learners.base import Progress, Settings
from ...learners.online import Online
from .problem import TokenProblem

__all__ = ["FirstPass"]

#: Passes of the perceptron.
_PASSES = 2
#: How many of the best labels of their tokens features seen with several labels have weights for.
_LIKELY = 2


class FirstPass:
    """Which labels are likely at each token.

    Parameters
    ----------
    tokens : TokenProblem
        Of order 0, with weights for the pairs of feature and label that were seen.
    random_state : int
        Seed.
    n_jobs : int
        Threads.

    Attributes
    ----------
    rows : (row pointers, labels, weights)
        What it has learned.
    """

    def __init__(self, tokens: TokenProblem, random_state: int, n_jobs: int) -> None:
        self.tokens, self._n_jobs = tokens, n_jobs
        learner = Online(
            Settings(margin=0.0, temperature=0.0, max_iter=_PASSES),
            step="unit",
            average=True,
            shuffle=True,
            random_state=np.random.default_rng(random_state),
        )
        training = learner.run(tokens, progress=Progress())
        if training.interrupted:
            raise KeyboardInterrupt
        self._weights = training.weights
        self.rows = tokens.rows("label", training.weights)

    def best(self, n: int) -> npt.NDArray[np.uint16]:
        """Return the n best labels of each token, ascending, the gold label among them."""
        gold = self.tokens.gold_numbers
        flat: Any = _core.best_candidates(
            self.tokens.native, self._weights, n, gold, self._n_jobs
        )
        return flat.reshape(-1, n)

    def likely_pairs(self, seen: tuple[Any, Any], fill: int) -> tuple[Any, Any]:
        """Return the labels that each feature has weights for: row pointers, labels.

        Those that it was seen with; features seen with at least ``fill`` labels (0: none) have
        weights for the two best labels of their tokens too, which are those that a perceptron takes
        for right when it is wrong.
        """
        rows: Any = self.tokens.examples.blocks["label"]
        n = min(_LIKELY, self.tokens.n_labels)
        place = rows.site_ptr, rows.indptr, rows.indices
        found: tuple[Any, Any] = _core.candidate_pairs(
            *place, self.best(n).ravel(), n, *seen, self.tokens.n_labels, fill
        )
        return found
