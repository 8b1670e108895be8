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

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ... import _core
from ...array_types import Integers, Vector
from ...fitting.parts import Parts
from ...io.weight_tables import packed_table
from ...problem.problem import Problem
from ...scoring.layout import SeenOutcomes
from .first_pass import FirstPass
from .inventory import Inventory
from .lawful import chain_under
from .token_problem import TokenProblem


class CandidateWeights:
    """Which weights a tagger with candidates has. Can be sent.

    Parameters
    ----------
    inventory : Inventory
        The features.
    first : FirstPass
        Which labels are likely.
    observed : SeenOutcomes
        The labels that each feature has weights for.
    order : int
        Of the chain.
    width : int
        Number of candidates.
    constraints, written : list of str
        What outputs keep to, and how the labels are written, as constraints have them.
    """

    #: Of each order, the label windows that have weights: histories, row pointers, labels.
    windows: list[tuple[Any, Any, Any]]
    #: Row pointers and label pairs of the features of label pairs.
    pairs: tuple[Any, Any] | None = None

    def __init__(
        self,
        inventory: Inventory,
        first: FirstPass,
        observed: SeenOutcomes,
        order: int,
        width: int,
        constraints: Sequence[str] = (),
        written: Sequence[str] = (),
    ) -> None:
        self.inventory, self.first, self.observed = inventory, first, observed
        self.order, self.width = order, width
        self.constraints, self.written = constraints, written
        self.n_labels = len(inventory.vocabulary.labels)

    def find_windows(self, chosen: Parts) -> None:
        """Find out which windows of labels the candidates of all parts have.

        Parameters
        ----------
        chosen : Parts
            Tokens with their candidates, of each part.
        """
        n, n_pairs = self.n_labels, self.inventory.vocabulary.pair_size
        *found, pairs = chosen.sum(_codes_of, self.order, n, bool(n_pairs))
        self.windows = []
        for codes in found:
            history, row_ptr, column = _rows(codes.values, n)
            self.windows.append((history.astype(np.uint64), row_ptr, column))
        if pairs is not None:
            features, first, column = _rows(pairs.values, n**2)
            row_ptr = np.zeros(n_pairs + 1, dtype=np.uint32)
            row_ptr[features + 1] = np.diff(first)
            self.pairs = np.cumsum(row_ptr, dtype=np.uint32), column

    def model_arrays(self, w: Vector, prune: float) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the arrays of a model with these weights, and which features they kept.

        As :meth:`TokenWeights.model_arrays` does, with a table for the first pass, and tables for
        label windows, whose keys are histories plus one.
        """
        w, n, keys = np.asarray(w, dtype=np.float64), self.n_labels, self.inventory.keys
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

        row_ptr, column = self.observed.row_ptr, self.observed.column
        add("state", keys, (row_ptr, column, take(len(column))), n, prune)
        add("first", keys, self.first.rows, n, 0.0)
        for name in ("start", "end"):
            arrays[name] = take(n).copy()
        for m, (history, row_ptr, column) in enumerate(self.windows, 1):
            rows = row_ptr, column, take(len(column))
            add(f"transition{m}", history + np.uint64(1), rows, n, 0.0)
        if self.pairs is not None:
            row_ptr, column = self.pairs
            pair_keys = self.inventory.vocabulary.pair_keys()
            add("pair", pair_keys, (row_ptr, column, take(len(column))), n * n, prune)
        if len(self.first.forbidden):
            arrays["forbidden"] = self.first.forbidden
        return arrays, {name: kept[name] for name in ("state", "pair") if name in kept}


class Chosen(NamedTuple):
    """Tokens with their candidates."""

    tokens: TokenProblem
    candidates: npt.NDArray[np.uint16]
    arrays: dict[str, Any]


class CandidateProblem(Problem):
    """Tokens with candidate labels, a chain a sentence.

    Parameters
    ----------
    chosen : Chosen
    weights : CandidateWeights
        Those that there are, of all parts.
    """

    name = "a tagger"

    def __init__(self, chosen: Chosen, weights: CandidateWeights) -> None:
        tokens, candidates, arrays = chosen
        self.weights = weights
        width, forbidden = weights.width, weights.first.forbidden
        rows: Any = tokens.examples.blocks["label"]
        gold = tokens.gold_numbers
        pairs = None
        if weights.pairs is not None:
            place = (arrays[name] for name in ("pair_sentence", "pair_begin", "pair_feature"))
            pairs = (*place, *weights.pairs)
        chain = chain_under(weights.order, weights.constraints, weights.written).native
        bare = _core.candidate_problem(
            chain,
            rows.site_ptr,
            rows.indptr,
            rows.indices,
            rows.values,
            candidates.ravel(),
            width,
            weights.n_labels,
            weights.observed.row_ptr,
            weights.observed.column,
            weights.windows,
            pairs,
            forbidden,
        )
        local = (candidates == gold[:, np.newaxis]).argmax(axis=1).astype(np.int32)
        part_ptr, parts = bare.encode_all(local, rows.site_ptr)
        self._told = {
            "features": rows.indices,
            "candidates": candidates.ravel(),
            "part": parts,
            "forbidden": forbidden,
            "pairs": () if pairs is None else pairs[2],
        }
        cost = {"delta": 1.0 - np.eye(width), "label": local}
        weight = tokens.sample_weight
        core = bare.labelled(chain, {"ptr": part_ptr, "part": parts}, cost, weight)
        super().__init__(core, sample_weight=weight, dtype=np.float32)

    @property
    def has_beam(self) -> bool:
        """Whether inference can be replaced by a beam search."""
        return not self.weights.constraints

    def specification(self) -> dict[str, Any]:
        """Return what the objective depends on, as plain data."""
        return {**super().specification(), **self._told}


class _Codes:
    """Different numbers, ascending; those of parts are joined."""

    def __init__(self, values: Integers) -> None:
        self.values = values

    def __add__(self, other: _Codes) -> _Codes:
        return _Codes(np.union1d(self.values, other.values))


def _codes_of(chosen: Chosen, order: int, n_labels: int, pairs: bool) -> tuple[_Codes | None, ...]:
    """Return the label windows of each order that a part has, and features with label pairs."""
    tokens, candidates, arrays = chosen
    gold, sentence = tokens.gold_numbers, arrays["sentence"]
    found = [_windows(gold, candidates, sentence, m, n_labels) for m in range(1, order + 1)]
    codes = None
    if pairs:
        feature, label = arrays["pair_feature"], arrays["label"].astype(np.int64)
        at = _later(sentence, 1)
        pair = np.repeat(label[at - 1] * n_labels + label[at], np.diff(arrays["pair_begin"]))
        codes = _Codes(np.unique(feature * np.int64(n_labels**2) + pair))
    return (*map(_Codes, found), codes)


def _windows(
    gold: npt.NDArray[np.int32],
    candidates: npt.NDArray[np.uint16],
    sentence: Integers,
    order: int,
    n_labels: int,
) -> Integers:
    """Return the label windows of one order that have weights.

    Each is the number that its labels make in base K, the oldest label first.
    """
    at = _later(sentence, order)
    if order == 1:
        beside = np.zeros((n_labels, n_labels), dtype=bool)
        for a in range(candidates.shape[1]):
            for b in range(candidates.shape[1]):
                beside[candidates[at - 1, a], candidates[at, b]] = True
        return np.flatnonzero(beside)
    code = np.zeros(len(at), dtype=np.int64)
    for i in range(order, -1, -1):
        code = code * n_labels + gold[at - i]
    return np.unique(code)


def _later(sentence: Integers, n: int) -> Integers:
    """Return the tokens that have n others before them in their sentence."""
    position = np.arange(sentence[-1]) - np.repeat(sentence[:-1], np.diff(sentence))
    return np.flatnonzero(position >= n)


def _rows(codes: Integers, n_columns: int) -> tuple[Any, Any, Any]:
    """Return ascending codes, row · n_columns + column, as rows: numbers, pointers, columns."""
    row, first = np.unique(codes // n_columns, return_index=True)
    row_ptr = np.append(first, len(codes)).astype(np.uint32)
    return row, row_ptr, (codes % n_columns).astype(np.uint32)
