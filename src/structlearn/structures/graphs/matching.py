"""Assignments: each row gets its own column."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

import numpy as np

from ... import _core
from ...array_types import Array, Integers
from ...exceptions import CapabilityError, InfeasibleError
from ..base import Structure
from ..checks import nothing_legal
from ..lawler import best_first
from ..parts import Block, Parts, part_of
from ..programs.rows import RowBuilder
from ..solution import Solution


class Matching(Structure):
    """A partner for each of n rows among m columns, no column twice.

    The score of y is Σ_i pair[i, y_i]. With n ≤ m every row has a partner; with n > m every column
    has one, and the remaining rows have −1. The search uses shortest augmenting paths, O(n²·m).
    Sums over all matchings are permanents, #P-hard: there are no marginals.

    Score blocks
    ------------
    pair : (n, m)

    References
    ----------
    R. Jonker & A. Volgenant (1987), A shortest augmenting path algorithm for dense and sparse
    linear assignment problems; K. Murty (1968), An algorithm for ranking all the assignments in
    order of increasing cost; L. Valiant (1979), The complexity of computing the permanent.

    Examples
    --------
    >>> import numpy as np
    >>> Matching().argmax(pair=np.array([[3.0, 2.0], [3.0, 0.0]]))
    array([1, 0])
    """

    method = "shortest augmenting paths"
    has_labels = False
    label_block = "pair"
    judges_outputs = True
    runs_on_threads = True
    _label_rank = 2

    def blocks(self, n_labels: int) -> dict[str, Block]:
        """Return the one block: a site is a pair, with one outcome."""
        return {"pair": Block(())}

    # -- maxima ---------------------------------------------------------------------------------

    def argmax(self, **scores: Any) -> Integers:
        """Return the column of each row, −1 if it has none; a list of them for a batch."""
        return self._best(self._pair(scores))[1]

    def solve(self, **scores: Any) -> Any:
        """Return the best matching with its value and a certificate: a :class:`Solution`."""
        value, y = self._best(self._pair(scores))
        return Solution(y, value, True, value, self.method)

    def _best(self, pair: Array) -> tuple[float, Integers]:
        value, y = _core.best_assignment(pair)
        if value == -math.inf:
            raise nothing_legal()
        return value, y

    def kbest(self, n: int, **scores: Any) -> Any:
        """Return up to n matchings as (score, partners), best first, no repeats.

        Murty's partition: the matchings other than the best are split by the first of its pairs
        that they lack. One assignment per pair and output.
        """
        pair = self._pair(scores)
        # Along the side whose members all have partners, so that every choice is a pair.
        turned = len(pair) > pair.shape[1]

        def best(matchings: tuple[Array, int]) -> tuple[float, Integers] | None:
            try:
                return self._best(matchings[0])
            except InfeasibleError:
                return None

        def split(y: Integers, matchings: tuple[Array, int]) -> Iterator[tuple[Array, int]]:
            table, first = matchings
            pairs = sorted(
                (int(j), i) if turned else (i, int(j)) for i, j in enumerate(y) if j >= 0
            )
            fixed = table.copy()
            view = fixed.T if turned else fixed
            for a, b in pairs[first:]:
                original = view[a, b]
                view[a, b] = -np.inf
                yield fixed.copy(), a
                view[a] = -np.inf
                view[:, b] = -np.inf
                view[a, b] = original

        ranked = list(itertools.islice(best_first((pair, 0), best, split), n))
        if not ranked:
            raise nothing_legal()
        return ranked

    def infer(self, *, temperature: float = 1.0, n_jobs: int | None = None, **scores: Any) -> Any:
        """Return (maximum, parts of argmax) at temperature 0; there are no sums."""
        if temperature != 0:
            self._no_sums()
        return super().infer(temperature=temperature, n_jobs=n_jobs, **scores)

    def sample(
        self,
        n: int,
        *,
        temperature: float = 1.0,
        random_state: Any = None,
        n_jobs: int | None = None,
        **scores: Any,
    ) -> Any:
        """Return n times the argmax at temperature 0; there are no sums to draw from."""
        if temperature != 0:
            self._no_sums()
        return super().sample(
            n, temperature=temperature, random_state=random_state, n_jobs=n_jobs, **scores
        )

    def _no_sums(self) -> NoReturn:
        raise CapabilityError(
            "sums over matchings are permanents, which are #P-hard: no log-partition, marginals or "
            "samples. What works: argmax, solve, kbest, infer(temperature=0), perceptron, SVM"
        )

    # -- outputs and parts ----------------------------------------------------------------------

    def _scores(self, scores: Mapping[str, Any]) -> Parts:
        """Return the scores of the pairs."""
        theta = super()._scores(scores)
        shape = theta["pair"].shape
        if len(shape) != 2 or 0 in shape:
            raise ValueError(f"pair must have shape (n, m), at least one of each, got {shape}")
        return theta

    def _pair(self, scores: Mapping[str, Any]) -> Array:
        return self._scores(scores)["pair"]

    def _partners(self, y: Any, shape: tuple[int, ...]) -> Integers:
        """Return an output, checked."""
        n, m = shape
        partners = np.asarray(y)
        if partners.shape != (n,) or not np.issubdtype(partners.dtype, np.integer):
            raise ValueError(f"an output is a column for each of {n} rows, got {y!r}")
        matched = partners[partners >= 0]
        if (partners < -1).any() or (matched >= m).any():
            raise ValueError(f"columns must be among 0..{m - 1}, or -1 for none: {y!r}")
        if len(np.unique(matched)) != len(matched):
            raise ValueError(f"a column appears twice: {y!r}")
        if len(matched) != min(n, m):
            raise ValueError(f"{min(n, m)} of the rows must have a column: {y!r}")
        return partners.astype(np.int64)

    def encode(self, y: Any, **scores: Any) -> Parts:
        """Return the pairs of an output."""
        pair = self._pair(scores)
        partners = self._partners(y, pair.shape)
        counts = np.zeros(pair.shape)
        matched = np.flatnonzero(partners >= 0)
        counts[matched, partners[matched]] = 1.0
        return {"pair": counts}

    def decode(self, parts: Mapping[str, Any]) -> Integers:
        """Return the column of each row whose count is one."""
        counts = part_of(parts, "pair")
        if (
            counts.ndim != 2
            or not np.isin(counts, (0.0, 1.0)).all()
            or (counts.sum(axis=1) > 1).any()
        ):
            raise ValueError("these parts are not an output: a row has at most one pair of count 1")
        y = np.where(counts.any(axis=1), counts.argmax(axis=1), -1)
        return self._partners(y, counts.shape)

    def outputs(self, **scores: Any) -> Iterator[Integers]:
        """Iterate over all matchings."""
        n, m = self._pair(scores).shape
        if n <= m:
            for y in itertools.permutations(range(m), n):
                yield np.array(y, dtype=np.int64)
            return
        for rows in itertools.permutations(range(n), m):
            partners = np.full(n, -1, dtype=np.int64)
            partners[list(rows)] = np.arange(m)
            yield partners

    def program_rows(self, theta: Parts, **topology: Any) -> RowBuilder:
        """Return the rows: one partner each on the smaller side, at most one on the other."""
        n, m = theta["pair"].shape
        build = RowBuilder({"pair": (n, m)})
        pair = build.parts["pair"]
        for columns, few, what in ((pair, n <= m, "row"), (pair.T, m <= n, "column")):
            build.add(
                (columns, 1),
                lower=1 if few else 0,
                upper=1,
                name=what + " {0} has one partner" if few else what + " {0} has at most one",
            )
        return build

    # -- for learners ---------------------------------------------------------------------------

    def core_inference(self, behind: Any, likelihood: str, gold: Any) -> Any:
        """Return the core's assignments, with second bests behind them."""
        if type(self) is not Matching:
            return None  # a subclass may search differently
        return _core.matching_inference(behind)

    def core_topology(self, example: Mapping[str, Any], sites: tuple[int, ...]) -> Integers:
        """Return (rows, columns)."""
        return np.array(sites if len(sites) == 2 else (), dtype=np.int64)

    def n_places(self, n_sites: int) -> int:
        """Return the number of rows, assuming as many as columns."""
        return math.isqrt(n_sites)

    def n_places_of(self, sites: tuple[int, ...]) -> int:
        """Return the number of rows."""
        return sites[0] if len(sites) == 2 else super().n_places_of(sites)

    def output_costs(
        self, y: Any, table: Array, missed: Array, weights: Array | float, **scores: Any
    ) -> tuple[Parts, float]:
        """Return the number of pairs of y that are missing: all, minus 1 for each present."""
        counts = self.encode(y, **scores)["pair"]
        by_row = np.broadcast_to(np.asarray(weights) * missed[0], len(counts))
        cost = -counts * by_row[:, np.newaxis]
        return {"pair": cost}, float(-cost.sum())

    def agreement(self, gold: Any, predicted: Any) -> tuple[int, int]:
        """Return the number of rows with the right column, and of all rows."""
        return int((np.asarray(gold) == np.asarray(predicted)).sum()), len(gold)
