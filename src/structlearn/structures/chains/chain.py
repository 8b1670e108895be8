"""Label sequences: chains of any order (Daumé's chapter 17, §17.3 and §17.7)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ... import _core
from ...array_types import Integers
from ..batches import holds_interpreter
from ..beam import BeamSearch, beam_solution
from ..checks import check_width
from ..entropies import centred, entropy_of_choices
from ..native import NativeStructure
from ..others import differing_labels
from ..parts import Block, Parts, part_of
from ..programs.rows import RowBuilder
from .chain_program import chain_rows

#: The most tables that the core supports.
_MAX_ORDER = 13


class Chain(NativeStructure, BeamSearch):
    """A sequence of L labels out of K, with scores on windows of ``order + 1`` labels.

    The score of y is Σ_t label[t, y_t] + Σ_t transition[y_{t−m}, …, y_t] + start[y_1] + end[y_L].
    Viterbi (Algorithm 42 of the chapter) and forward–backward cost O(L · K^(order+1)).

    Score blocks
    ------------
    label : (L, K)
    transition : (K,)*(order+1), shared by all positions, or (max(L−order, 0),) + that
        Reads the labels oldest first: ``transition[previous, current]``. May be left out.
    transition1, transition2, … : further tables of lower orders (back-off), in the same shapes
    start, end : (K,)
        Scores of the first and of the last label.

    Parameters
    ----------
    order : int, default=1
        The number of previous labels that a transition depends on; 0 scores each position alone.

    References
    ----------
    H. Daumé III, A Course in Machine Learning, chapter 17; L. Rabiner (1989), A tutorial on hidden
    Markov models.

    Examples
    --------
    "Fish Sleep" with labels N = 0, V = 1:

    >>> import numpy as np
    >>> scores = dict(label=np.array([[2., 1.], [1., 0.]]), start=np.array([1., -1.]),
    ...               transition=np.array([[-2., 1.], [2., -2.]]))
    >>> Chain().argmax(**scores)
    array([0, 1])
    >>> Chain().kbest(2, **scores)
    [(4.0, array([0, 1])), (3.0, array([1, 0]))]
    """

    method = "viterbi"
    _label_rank = 2

    def __init__(self, order: int = 1) -> None:
        if isinstance(order, bool) or not isinstance(order, (int, np.integer)) or order < 0:
            raise ValueError(f"order must be a whole number >= 0, got {order!r}")
        if order > _MAX_ORDER:
            raise ValueError(f"order must be at most {_MAX_ORDER}, got {order}")
        self.order = int(order)
        self._core = _core.chain(self.order)

    def blocks(self, n_labels: int) -> dict[str, Block]:
        """Return the blocks in the order of the core: label, start, end, then the transitions."""
        blocks = {
            "label": Block((n_labels,)),
            "start": Block((n_labels,), shared=True, optional=True, boundary=True),
            "end": Block((n_labels,), shared=True, optional=True, boundary=True),
        }
        for j in range(1, self.order + 1):
            name = self._transition_name(j)
            blocks[name] = Block((n_labels,) * (j + 1), shared=True, optional=True)
        return blocks

    @property
    def pair_block(self) -> str | None:
        """The block of label pairs; orders above one have it too."""
        return self._transition_name(1) if self.order else None

    def joined(self, place: Any, other: Any, **scores: Any) -> tuple[str, int, bool] | None:
        """Return the transition between two neighbours."""
        block = self.pair_block
        if block is None or abs(place - other) != 1:
            return None
        return block, min(place, other), other < place

    def _transition_name(self, j: int) -> str:
        return "transition" if j == self.order else f"transition{j}"

    def _transition_order(self, name: str) -> int:
        return self.order if name == "transition" else int(name.removeprefix("transition"))

    # -- outputs and parts ----------------------------------------------------------------------

    def _positions(self, name: str, theta: Mapping[str, Any]) -> tuple[int, ...]:
        length, n_labels = theta["label"].shape
        if name == "label":
            return (length, n_labels)
        if name in ("start", "end"):
            return (n_labels,)
        j = self._transition_order(name)
        return (max(length - j, 0),) + (n_labels,) * (j + 1)

    def empty_output(self, labels: Any) -> Any:
        """Return no labels."""
        return labels

    def _windows(self, y: Integers, j: int) -> tuple[Integers, ...]:
        """Return the labels of the windows of order j, oldest first, one array per place."""
        n = max(len(y) - j, 0)
        return tuple(y[i : i + n] for i in range(j + 1))

    def _check_output(self, y: Any, theta: Mapping[str, Any]) -> Integers:
        length, n_labels = theta["label"].shape
        labels = np.asarray(y)
        if labels.shape != (length,):
            raise ValueError(f"the output has shape {labels.shape}, the input {length} positions")
        if not np.issubdtype(labels.dtype, np.integer):
            raise ValueError(f"labels must be whole numbers, got dtype {labels.dtype}")
        if length and not (labels.min() >= 0 and labels.max() < n_labels):
            raise ValueError(f"labels must be among 0..{n_labels - 1}: {labels}")
        return labels.astype(np.int64, copy=False)

    def _encode(self, y: Any, theta: Mapping[str, Any], by_position: bool) -> Parts:
        labels = self._check_output(y, theta)
        parts: Parts = {}
        for name, scores in theta.items():
            shape = self._positions(name, theta)
            counts = np.zeros(shape if by_position else scores.shape)
            if name == "label":
                counts[np.arange(len(labels)), labels] = 1.0
            elif name in ("start", "end"):
                counts[labels[0 if name == "start" else -1]] = 1.0
            else:
                windows = self._windows(labels, self._transition_order(name))
                if counts.ndim == len(windows):
                    np.add.at(counts, windows, 1.0)
                else:
                    places = (np.arange(len(windows[0])), *windows)
                    counts[places] = 1.0
            parts[name] = counts
        return parts

    def decode(self, parts: Any) -> Any:
        """Return the labels whose counts are one, from the ``label`` block; a list for a list."""
        label = part_of(parts, "label")
        if not (np.isin(label, (0.0, 1.0)).all() and (label.sum(axis=1) == 1).all()):
            raise ValueError(
                "these parts are not an output: each position must have exactly one label of "
                "count 1"
            )
        labels: Integers = label.argmax(axis=1)
        return labels

    def score(self, y: Any, **scores: Any) -> Any:
        """Return the score of y, −∞ if a part of it is forbidden; a list for a batch."""
        theta = self._one(scores)
        labels = self._check_output(y, theta)
        total = 0.0
        for name, table in theta.items():
            if name == "label":
                total += table[np.arange(len(labels)), labels].sum()
            elif name in ("start", "end"):
                total += table[labels[0 if name == "start" else -1]]
            else:
                windows = self._windows(labels, self._transition_order(name))
                if table.ndim > len(windows):
                    windows = (np.arange(len(windows[0])), *windows)
                total += table[windows].sum()
        return float(total)

    def outputs(self, **scores: Any) -> Iterator[Integers]:
        """Iterate over all K^L label sequences."""
        length, n_labels = np.shape(scores["label"])
        for y in itertools.product(range(n_labels), repeat=length):
            yield np.array(y, dtype=np.int64)

    def program_rows(self, theta: Parts, **topology: Any) -> RowBuilder:
        """Return the rows: consecutive windows agree on the labels they share."""
        return chain_rows(self, {name: self._positions(name, theta) for name in theta})

    def _others(
        self, y: Any, theta: Parts, topology: Mapping[str, Any]
    ) -> Iterator[dict[str, Any]]:
        return differing_labels(theta, "label", self.labels_of(y))

    def _local_entropy(
        self, theta: dict[str, Any], topology: Mapping[str, Any], temperature: float
    ) -> float:
        p = self.marginals(temperature=temperature, **self._centred_choices(theta))
        length, n_labels = theta["label"].shape
        orders = [self._transition_order(name) for name in theta if name.startswith("transition")]
        order = max((j for j in orders if j < length), default=0)
        if order == 0:
            return entropy_of_choices(p["label"])
        # Windows: the first one's labels, and then each next label given the previous ones.
        windows = p[self._transition_name(order)].reshape(length - order, -1, n_labels)
        first = entropy_of_choices(windows[:1].sum(axis=2))
        return first + entropy_of_choices(windows.reshape(-1, n_labels))

    def _centred_choices(self, theta: dict[str, Any]) -> dict[str, Any]:
        """Return scores minus a constant for each position."""
        return centred(theta, {n: len(block.outcomes) for n, block in self.blocks(1).items()})

    # -- beam search ----------------------------------------------------------------------------

    def beam(self, width: int, **scores: Any) -> Any:
        """Return the best output in a beam of this width: a :class:`Solution`.

        The beam holds prefixes that differ in their last ``order`` labels: with width K^order it is
        Viterbi. Time O(L · width · K · order). ``exact`` is True if no prefix was dropped.
        """
        check_width(width)
        theta = self._one(scores)
        return beam_solution(*self._core.beam(theta, int(width)))

    # -- counting -------------------------------------------------------------------------------

    @holds_interpreter
    def count(self, **scores: Any) -> Any:
        """Return the number of label sequences with a finite score, as an exact integer."""
        theta = self._one(scores)
        with np.errstate(over="ignore", invalid="ignore"):
            approximate = self._count_paths(theta, np.float64)
        if approximate < 2**53:  # floating point is exact up to here
            return int(approximate)
        return int(self._count_paths(theta, object))

    def _count_paths(self, theta: Mapping[str, Any], dtype: Any) -> Any:
        ways = np.ones((), dtype=dtype)  # by the window of the last labels, oldest first
        for legal, memory in self._legal_steps(theta, dtype):
            ways = ways[..., np.newaxis] * legal
            if ways.ndim > memory:
                ways = ways.sum(axis=0)
        return ways.sum()

    def _legal_steps(self, theta: Mapping[str, Any], dtype: Any) -> Iterator[tuple[Any, int]]:
        """Iterate over the positions: 1 for a label that is legal after a window, else 0.

        Each with the number of labels to remember after it.
        """
        length = len(theta["label"])
        finite = {name: np.isfinite(a).astype(dtype) for name, a in theta.items()}
        tables = {n: self._transition_order(n) for n in finite if n.startswith("transition")}
        for t in range(length):
            legal = finite["label"][t]
            if t == 0 and "start" in finite:
                legal = legal * finite["start"]
            if t == length - 1 and "end" in finite:
                legal = legal * finite["end"]
            for name, j in tables.items():
                table = finite[name]
                if j <= t:
                    legal = legal * (table[t - j] if table.ndim > j + 1 else table)
            yield legal, max(tables.values(), default=0) or 1
