"""Taggers with many labels: a first pass chooses a few candidates for each token.

The first pass labels every token by itself: a chain of order 0 with weights for the pairs of
feature and label that were seen, learned by an averaged perceptron. Its best labels of a token are
the candidates among which the model chooses, in training and in prediction; in training the gold
label is always one of them. A sentence is then a chain over candidates
(``native/tasks/tagging/candidate_scorer.hpp``), for every learner and any order, and a token costs
what its features know of its candidates, whatever the number of labels. This is the coarse-to-fine
training of T. Mueller, H. Schmid & H. Schütze (2013), Efficient higher-order CRFs for morphological
tagging, with a fixed number of candidates.

Weights exist for the pairs of feature and label that were seen. Features seen with several labels
(``all_possible_states``) have weights for the best two labels of the first pass too, at each of
their tokens: those that a perceptron takes for right when it is wrong. Pairs of labels have weights
if they were candidates side by side, longer windows of labels if they were seen.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...io.weight_tables import packed_table
from ...learners.base import Progress, Settings
from ...learners.online import Online
from ...problem.problem import Problem
from ...structures.chains.chain import Chain
from .problem import TokenProblem

__all__ = ["CandidateProblem", "n_candidates"]

Vector = npt.NDArray[np.float64]

#: From more labels than this on tokens have candidates, and how many.
_MOST_LABELS = 64
_CANDIDATES = 12
#: Passes of the perceptron that chooses the candidates.
_FIRST_PASSES = 2
#: How many of the best labels features seen with several labels have weights for.
_LIKELY = 2


def n_candidates(run: Any) -> int:
    """Return how many labels a training run considers at each token; 0: all.

    Parameters
    ----------
    run : TokenFitting
        Its features are known.
    """
    tagger, asked = run.tagger, run.tagger.candidates
    labels = set(run.corpus.core.strings(run.target))
    n_labels = len(labels - {tagger.unknown})
    width = _CANDIDATES if asked is None else int(asked)
    if width == 0 or width >= n_labels or (asked is None and n_labels <= _MOST_LABELS):
        return 0
    reasons = {
        "a scheme of labels": tagger.scheme is not None,
        "order 0": tagger.order == 0,
        "features of label pairs": run.features.has_transitions,
        "unknown labels": tagger.unknown in labels,
        "start": run.start is not None,
    }
    against = [reason for reason, holds in reasons.items() if holds]
    if against and asked is not None:
        raise ValueError(
            f"candidates={asked} does not go with {against[0]}: use candidates=0, which considers "
            "all labels at each token"
        )
    return 0 if against else width


class CandidateProblem(Problem):
    """Tokens with candidate labels, a chain a sentence.

    Parameters
    ----------
    tokens : TokenProblem
        The same tokens with all labels, each by itself: of order 0, with weights for the pairs of
        feature and label that were seen.
    seen : (row pointers, labels)
        These pairs.
    order : int
        Of the chain.
    width : int
        Number of candidates.
    fill : int
        Features seen with at least this many labels have more weights: see the module; 0: none has.
    random_state : int
        Seed of the first pass.
    """

    name = "a tagger"

    def __init__(
        self,
        tokens: TokenProblem,
        seen: tuple[Any, Any],
        order: int,
        width: int,
        fill: int,
        random_state: int,
        n_jobs: int,
    ) -> None:
        rows: Any = tokens.examples.blocks["label"]
        place = rows.site_ptr, rows.indptr, rows.indices
        gold, self.n_labels, self.order = tokens.gold_numbers, tokens.n_labels, order
        first = _first_pass(tokens, random_state)
        self._first = tokens.rows("label", first)

        def best(n: int) -> Any:
            return _core.best_candidates(tokens.native, first, n, gold, n_jobs)

        likely = min(_LIKELY, self.n_labels)
        self._row_ptr, self._column = _core.candidate_pairs(
            *place, best(likely), likely, *seen, self.n_labels, fill
        )
        flat = best(width)
        candidates = flat.reshape(-1, width)
        self._windows = [
            _windows(gold, candidates, rows.site_ptr, m, self.n_labels) for m in range(1, order + 1)
        ]
        weights = self._row_ptr, self._column, self._windows
        chain = Chain(order=order).native
        bare = _core.candidate_problem(
            chain, *place, rows.values, flat, width, self.n_labels, *weights
        )
        local = (candidates == gold[:, np.newaxis]).argmax(axis=1).astype(np.int32)
        part_ptr, parts = bare.encode_all(local, rows.site_ptr)
        self._told = {"features": rows.indices, "candidates": flat, "part": parts}
        cost = {"delta": 1.0 - np.eye(width), "label": local}
        weight = tokens.sample_weight
        core = bare.labelled(chain, {"ptr": part_ptr, "part": parts}, cost, weight)
        super().__init__(core, sample_weight=weight, dtype=np.float32)

    @property
    def has_beam(self) -> bool:
        """Whether inference can be replaced by a beam search."""
        return True

    def specification(self) -> dict[str, Any]:
        """Return what the objective depends on, as plain data."""
        return {**super().specification(), **self._told}

    def model_arrays(
        self, keys: Any, pair_keys: Any, w: Vector, prune: float
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the arrays of a model with these weights, and which features they kept.

        As :meth:`TokenProblem.model_arrays` does, with a table for the first pass, and tables for
        label windows, whose keys are histories plus one.
        """
        w, n = np.asarray(w, dtype=np.float64), self.n_labels
        arrays: dict[str, Any] = {}
        rows = (self._row_ptr, self._column, w[: len(self._column)])
        state, kept = packed_table("state", keys, *rows, n, prune)
        arrays.update(state)
        arrays.update(packed_table("first", keys, *self._first, n, 0.0)[0])
        at = len(self._column)
        for name in ("start", "end"):
            arrays[name] = w[at : at + n].copy()
            at += n
        for m, (history, row_ptr, column) in enumerate(self._windows, 1):
            values = w[at : at + len(column)]
            at += len(column)
            table = packed_table(
                f"transition{m}", history + np.uint64(1), row_ptr, column, values, n, 0.0
            )
            arrays.update(table[0])
        return arrays, {"state": kept}


def _first_pass(problem: TokenProblem, random_state: int) -> Vector:
    """Return the weights that choose the candidates."""
    learner = Online(
        Settings(margin=0.0, temperature=0.0, max_iter=_FIRST_PASSES),
        step="unit",
        average=True,
        shuffle=True,
        random_state=np.random.default_rng(random_state),
    )
    training = learner.run(problem, progress=Progress())
    if training.interrupted:
        raise KeyboardInterrupt
    return training.weights


def _windows(
    gold: npt.NDArray[np.int32],
    candidates: npt.NDArray[np.uint16],
    sentence: npt.NDArray[np.int64],
    order: int,
    n_labels: int,
) -> tuple[Any, Any, Any]:
    """Return the label windows of one order that have weights: histories, row pointers, labels.

    A history is the number that its labels make in base K, the oldest label first.
    """
    # Tokens with that many before them in their sentence.
    position = np.arange(len(gold)) - np.repeat(sentence[:-1], np.diff(sentence))
    at = np.flatnonzero(position >= order)
    if order == 1:
        beside = np.zeros((n_labels, n_labels), dtype=bool)
        for a in range(candidates.shape[1]):
            for b in range(candidates.shape[1]):
                beside[candidates[at - 1, a], candidates[at, b]] = True
        codes = np.flatnonzero(beside)
    else:
        code = np.zeros(len(at), dtype=np.int64)
        for i in range(order, -1, -1):
            code = code * n_labels + gold[at - i]
        codes = np.unique(code)
    history, first = np.unique(codes // n_labels, return_index=True)
    row_ptr = np.append(first, len(codes)).astype(np.uint32)
    return history.astype(np.uint64), row_ptr, (codes % n_labels).astype(np.uint32)
