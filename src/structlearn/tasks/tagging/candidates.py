"""Taggers with many labels: each token has a few candidates, chosen by a first pass.

The best labels of the first pass (:mod:`~structlearn.tasks.tagging.first_pass`) are the candidates
among which the model chooses, in training and in prediction; in training the gold label is always
one of them. A sentence is then a chain over candidates
(``native/tasks/tagging/candidate_scorer.hpp``), for every learner and any order, and a token costs
what its features know of its candidates, whatever the number of labels. This is the coarse-to-fine
training of T. Mueller, H. Schmid & H. Schütze (2013), Efficient higher-order CRFs for morphological
tagging, with a fixed number of candidates.

Pairs of labels have weights if they were candidates side by side, longer windows of labels if they
were seen. What a scheme of labels forbids has no score at all; one best allowed sequence of the
first pass is always among the candidates of a sentence.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...io.weight_tables import packed_table
from ...problem.problem import Problem
from ...structures.chains.chain import Chain
from .first_pass import FirstPass

__all__ = ["CandidateProblem"]

Vector = npt.NDArray[np.float64]


class CandidateProblem(Problem):
    """Tokens with candidate labels, a chain a sentence.

    Parameters
    ----------
    first : FirstPass
        Knows the tokens, and which labels are likely.
    observed : (row pointers, labels)
        The labels that each feature has weights for.
    order : int
        Of the chain.
    width : int
        Number of candidates.
    pairs : dict of str to array, optional
        With features of label pairs: the tokens, as ``_core.TokenRows.arrays`` gives them.
    """

    name = "a tagger"

    def __init__(
        self,
        first: FirstPass,
        observed: tuple[Any, Any],
        order: int,
        width: int,
        pairs: dict[str, Any] | None = None,
    ) -> None:
        tokens = first.tokens
        rows: Any = tokens.examples.blocks["label"]
        gold, self.n_labels, self.order = tokens.gold_numbers, tokens.n_labels, order
        self._first = first.rows
        self._row_ptr, self._column = observed
        candidates = first.best(width)
        self._windows = [
            _windows(gold, candidates, rows.site_ptr, m, self.n_labels) for m in range(1, order + 1)
        ]
        self._pairs = None if pairs is None else _pair_features(pairs, self.n_labels)
        self._forbidden = first.forbidden
        chain = Chain(order=order).native
        bare = _core.candidate_problem(
            chain,
            rows.site_ptr,
            rows.indptr,
            rows.indices,
            rows.values,
            candidates.ravel(),
            width,
            self.n_labels,
            self._row_ptr,
            self._column,
            self._windows,
            self._pairs,
            self._forbidden,
        )
        local = (candidates == gold[:, np.newaxis]).argmax(axis=1).astype(np.int32)
        part_ptr, parts = bare.encode_all(local, rows.site_ptr)
        self._told = {
            "features": rows.indices,
            "candidates": candidates.ravel(),
            "part": parts,
            "forbidden": self._forbidden,
            "pairs": () if self._pairs is None else self._pairs[2],
        }
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
        kept: dict[str, Any] = {}
        at = 0

        def take(count: int) -> Vector:
            nonlocal at
            at += count
            return w[at - count : at]

        def add(name: str, keys: Any, rows: Any, outcomes: int, prune: float) -> None:
            packed, kept[name] = packed_table(name, keys, *rows, outcomes, prune)
            arrays.update(packed)

        add("state", keys, (self._row_ptr, self._column, take(len(self._column))), n, prune)
        add("first", keys, self._first, n, 0.0)
        for name in ("start", "end"):
            arrays[name] = take(n).copy()
        for m, (history, row_ptr, column) in enumerate(self._windows, 1):
            rows = row_ptr, column, take(len(column))
            add(f"transition{m}", history + np.uint64(1), rows, n, 0.0)
        if self._pairs is not None:
            row_ptr, column = self._pairs[3:]
            add("pair", pair_keys, (row_ptr, column, take(len(column))), n * n, prune)
        if len(self._forbidden):
            arrays["forbidden"] = self._forbidden
        return arrays, {name: kept[name] for name in ("state", "pair") if name in kept}


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
    at = _later(sentence, order)
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
    history, row_ptr, column = _rows(codes, n_labels)
    return history.astype(np.uint64), row_ptr, column


def _pair_features(arrays: dict[str, Any], n_labels: int) -> tuple[Any, ...]:
    """Return the features of label pairs, and the pairs that each was seen with.

    Sentences, features of each pair of neighbours, row pointers, label pairs as numbers in base K.
    """
    sentence, begin = arrays["pair_sentence"], arrays["pair_begin"]
    feature, label = arrays["pair_feature"], arrays["label"].astype(np.int64)
    at = _later(arrays["sentence"], 1)
    pair = np.repeat(label[at - 1] * n_labels + label[at], np.diff(begin))
    codes = np.unique(feature * np.int64(n_labels**2) + pair)
    features, first, column = _rows(codes, n_labels**2)
    row_ptr = np.zeros(int(feature.max(initial=-1)) + 2, dtype=np.uint32)
    row_ptr[features + 1] = np.diff(first)
    return sentence, begin, feature, np.cumsum(row_ptr, dtype=np.uint32), column


def _later(sentence: npt.NDArray[np.int64], n: int) -> npt.NDArray[np.int64]:
    """Return the tokens that have n others before them in their sentence."""
    position = np.arange(sentence[-1]) - np.repeat(sentence[:-1], np.diff(sentence))
    return np.flatnonzero(position >= n)


def _rows(codes: npt.NDArray[np.int64], n_columns: int) -> tuple[Any, Any, Any]:
    """Return ascending codes, row · n_columns + column, as rows: numbers, pointers, columns."""
    row, first = np.unique(codes // n_columns, return_index=True)
    row_ptr = np.append(first, len(codes)).astype(np.uint32)
    return row, row_ptr, (codes % n_columns).astype(np.uint32)
