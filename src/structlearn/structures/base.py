"""The interface of all structures: their queries, and the methods that an author defines.

A structure is a set of legal outputs. Its parts come in named *blocks* of scores; an output y is
the count vector μ(y) over parts, and its score is ⟨θ, μ(y)⟩. Everything else follows from one call,

    infer(θ, ε) → (value, p),   value = ε · log Σ_y exp(⟨θ, μ(y)⟩ / ε),   p = ∇value,

with ε = 0 the maximum and its argmax.

The author of a new structure defines, in one class:

* ``blocks(n_labels)``: the names of the score blocks and the shape of one site's outcomes;
* ``encode(y, **scores)``: the counts of an output's parts, and ``decode(parts)``: back;
* ``argmax(**scores)`` — or ``edges(**scores)``, its dynamic program as hyperedges, which gives
  argmax and all other queries;
* optionally ``outputs(**scores)``, every legal output, so that
  :func:`structlearn.testing.check_structure` can prove the rest against enumeration;
* optionally ``runs_on_threads = True``, if several threads may call at the same time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..exceptions import CapabilityError
from .batches import is_batch, widen_queries
from .checks import check_temperature, nothing_legal, seed_of
from .entropies import entropy_by_difference, entropy_by_others
from .fallback import exclude_parts, second_best
from .hypergraph import Hyperedges
from .learnable import Learnable
from .others import sum_classes, without_output
from .parts import Block, Parts, dot_counts, flatten, n_parts, unflatten_values
from .score_arrays import as_scores, rank_of
from .solution import Solution

if TYPE_CHECKING:
    from .programs.program import Program
    from .programs.rows import RowBuilder

#: The number of shapes whose edges are cached.
_MOST_SHAPES = 256


class Structure(Learnable):
    """Base class of all structures: the queries, built on the author's methods.

    Scores are keyword arguments, one array per block; −∞ forbids a part. A list of arrays is a
    batch, and gives a list. Structures have no weights and learn nothing.
    """

    #: The search method of ``argmax``, for :class:`Solution`.
    method = "argmax"
    #: Whether ``solve`` takes a ``time_limit``.
    takes_time_limit = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        widen_queries(cls)

    # -- for authors to define ------------------------------------------------------------------

    def blocks(self, n_labels: int) -> dict[str, Block]:
        """Return the score blocks, by name, in the order of the flat part vector."""
        raise CapabilityError(f"{type(self).__name__} does not define blocks()")

    def encode(self, y: Any, **scores: Any) -> Parts:
        """Return μ(y), the counts of the output's parts, one array per block."""
        raise CapabilityError(f"{type(self).__name__} has no encode")

    def decode(self, parts: Mapping[str, Any]) -> Any:
        """Return the output with these parts; the inverse of :meth:`encode`."""
        raise CapabilityError(f"{type(self).__name__} has no decode")

    def edges(self, **scores: Any) -> Hyperedges | None:
        """Return the dynamic program as hyperedges, or None if there is none.

        It may depend on the shapes of the scores (and on the topology), not on their values: −∞ is
        handled automatically, and the edges are built once per shape.
        """
        return None

    def outputs(self, **scores: Any) -> Iterator[Any]:
        """Iterate over every output, legal or not (those of score −∞ may be among them)."""
        raise CapabilityError(
            f"{type(self).__name__} cannot enumerate its outputs; define outputs(**scores)"
        )

    def position_shapes(self, theta: Parts) -> dict[str, tuple[int, ...]]:
        """Return the shapes of :meth:`encode_by_position` for scores of these shapes."""
        return {name: a.shape for name, a in theta.items()}

    def encode_by_position(self, y: Any, **scores: Any) -> Parts:
        """Return μ(y) with one copy of shared blocks per position; default: as encoded."""
        return self.encode(y, **scores)

    # -- the queries ----------------------------------------------------------------------------

    def argmax(self, *, n_jobs: int | None = None, **scores: Any) -> Any:
        """Return the best output; a list of them for a batch.

        An author defines it for one example, and raises :class:`InfeasibleError` if every output
        scores −∞. :meth:`solve` reports the result as exact: if the search is a heuristic, define
        ``solve`` too, and report ``exact=False`` there.
        """
        theta = self._scores(scores)
        program = self._program(theta, scores, "argmax")
        value, _, parts = program.best(flatten(theta))
        if value == -math.inf:
            raise nothing_legal()
        return self.decode(self._unflatten(parts, theta))

    def solve(self, *, n_jobs: int | None = None, **scores: Any) -> Any:
        """Return the best output with its value and a certificate: a :class:`Solution`."""
        y = self.argmax(**scores)
        value = self.score(y, **scores)
        return Solution(y, value, True, value, self.method)

    def solve_without_bound(self, **scores: Any) -> Solution:
        """Return the solution of one example, without a bound if the bound costs extra.

        ``exact`` is then False if only the bound would have proven it.
        """
        solution: Solution = self.solve(**scores)
        return solution

    def infer(
        self, *, temperature: float = 1.0, n_jobs: int | None = None, **scores: Any
    ) -> tuple[float, Parts]:
        """Return (ε log Σ exp(score/ε), its gradient by block); ε = 0: (max, parts of argmax)."""
        theta = self._scores(scores)
        if temperature == 0:
            y = self.argmax(**scores)
            return self.score(y, **scores), self.encode(y, **scores)
        program = self._program(theta, scores, "log_partition and marginals")
        value, p = program.infer(flatten(theta), float(temperature))
        if value == -math.inf:
            raise nothing_legal()
        return value, unflatten_values(p, theta)

    def log_partition(
        self, *, temperature: float = 1.0, n_jobs: int | None = None, **scores: Any
    ) -> Any:
        """Return ε log Σ_y exp(score(y)/ε); the maximum if ε = 0."""
        return self.infer(temperature=temperature, **scores)[0]

    def marginals(
        self, *, temperature: float = 1.0, n_jobs: int | None = None, **scores: Any
    ) -> Any:
        """Return the expected counts of the parts, one array per block.

        Position by position if the structure defines positions (:meth:`encode_by_position`);
        otherwise a shared block's counts are summed.
        """
        return self.infer(temperature=temperature, **scores)[1]

    def kbest(self, n: int, *, n_jobs: int | None = None, **scores: Any) -> Any:
        """Return up to n legal outputs as (score, output), best first, no repeats."""
        theta = self._scores(scores)
        edges = self._edges_for(theta, scores)
        if edges is None:
            outputs = exclude_parts(self, n, theta, self._topology(scores))
        else:
            outputs = [
                (value, self.decode(self._unflatten(parts, theta)))
                for value, _, parts in edges.compile(n_parts(theta)).kbest(flatten(theta), n)
            ]
        if not outputs:
            raise nothing_legal()
        return outputs

    def sample(
        self,
        n: int,
        *,
        temperature: float = 1.0,
        random_state: Any = None,
        n_jobs: int | None = None,
        **scores: Any,
    ) -> Any:
        """Draw n outputs from P(y) ∝ exp(score(y)/ε)."""
        theta = self._scores(scores)
        if temperature == 0:
            return [self.argmax(**scores)] * n
        program = self._program(theta, scores, "sample")
        drawn = program.sample(flatten(theta), n, float(temperature), seed_of(random_state))
        if not drawn:
            raise nothing_legal()
        return [self.decode(self._unflatten(parts, theta)) for _, parts in drawn]

    def score(self, y: Any, **scores: Any) -> Any:
        """Return ⟨θ, μ(y)⟩, −∞ if a forbidden part is used; a list for a batch of outputs."""
        theta = self._scores(scores)
        counts = self.encode(y, **scores)
        for name, a in theta.items():
            if np.shape(counts[name]) != a.shape:
                raise ValueError(
                    f"{name} has shape {a.shape}, the output's parts {np.shape(counts[name])}"
                )
        return float(sum(dot_counts(theta[name], counts[name]) for name in theta))

    def entropy(self, *, temperature: float = 1.0, n_jobs: int | None = None, **scores: Any) -> Any:
        """Return the entropy of P(y) ∝ exp(score(y)/ε) in nats; 0 if ε = 0.

        It stays precise for large scores: a constant added to all of them costs no more precision
        than it costs the scores.
        """
        if temperature == 0:
            self.argmax(**scores)
            return 0.0
        return self._entropy(self._scores(scores), self._topology(scores), float(temperature))

    def _entropy(
        self, theta: dict[str, Any], topology: Mapping[str, Any], temperature: float
    ) -> float:
        """Return the entropy of one example, ε > 0."""
        program = type(self).infer is Structure.infer
        edges = self._edges_for(theta, topology) if program else None
        if edges is None:
            # The core is faster than hyperedges made for one call, and usually precise enough.
            difference, trusted = entropy_by_difference(self, theta, topology, temperature)
            if trusted or self.native is None:  # the author's own sums are the only ones
                return difference
            edges = self.edges(**theta, **topology)
        if edges is None:
            return entropy_by_others(self, theta, topology, temperature)
        entropy: float = edges.compile(n_parts(theta)).entropy(flatten(theta), temperature)
        if entropy == -math.inf:
            raise nothing_legal()
        return entropy

    def count(self, *, n_jobs: int | None = None, **scores: Any) -> Any:
        """Return the number of outputs with a finite score, as an exact integer."""
        theta = self._scores(scores)
        edges = self._edges_for(theta, scores)
        if edges is None:
            return sum(self.score(y, **scores) > -math.inf for y in self.outputs(**scores))
        return edges.count(flatten(theta))

    # -- the integer program --------------------------------------------------------------------

    def as_program(self, **scores: Any) -> Program:
        """Return the integer program whose solutions are the outputs (eq. 17.33-34).

        Its parts are the first columns, in the order of the flattened blocks; if one table of
        scores is shared by all positions, each position has its own parts. Helper columns follow.
        ``structure.as_program(**scores).argmax()`` equals ``structure.argmax(**scores)`` (ties may
        be broken differently), and :meth:`~structlearn.structures.Program.with_rows` adds
        constraints.
        """
        from .programs.program import Program

        if self._is_batch(scores):
            raise ValueError("as_program takes one example, not a batch")
        theta, topology = self._scores(scores), self._topology(scores)
        return Program.of_structure(self, self.program_rows(theta, **topology), theta, topology)

    def program_scores(self, theta: Parts, **topology: Any) -> Parts:
        """Return the scores over the blocks of :meth:`as_program`; default: unchanged."""
        return theta

    @property
    def pair_block(self) -> str | None:
        """The block with a table over the labels of two places, if the dynamic program has one."""
        return None

    def joined(self, place: Any, other: Any, **scores: Any) -> tuple[str, int, bool] | None:
        """Return the table that scores the labels of two places jointly, in the dynamic program.

        As (block, position in it, whether the second place is its first axis); None if there is
        none. Masks of that table express constraints on the two labels.
        """
        return None

    def program_rows(self, theta: Parts, **topology: Any) -> RowBuilder:
        """Return the rows of the program for scores of these shapes; default: from ``edges``."""
        edges = self._edges_for(theta, {**theta, **topology})
        if edges is None:
            raise CapabilityError(
                f"{type(self).__name__} has no program: it has no dynamic program (edges) and no "
                "program_rows. What works: argmax and the queries built on it"
            )
        return edges.program_rows({name: a.shape for name, a in theta.items()})

    def runner_up(self, y: Any, **scores: Any) -> tuple[float, Any] | None:
        """Return the best output other than y with its score, or None if there is none."""
        return second_best(self, y, self._scores(scores), self._topology(scores))

    def infer_others(
        self, y: Any, *, temperature: float = 1.0, **scores: Any
    ) -> tuple[float, Parts]:
        """Return (ε log Σ exp(score/ε), its gradient by block) over all outputs but y, ε > 0.

        (−∞, {}) if there is no other. It stays exact if y has nearly all of the mass: nothing is
        subtracted.
        """
        theta, topology = self._scores(scores), self._topology(scores)
        check_temperature(temperature)
        if temperature == 0:
            raise ValueError("temperature must be > 0 here; use runner_up for temperature 0")
        classes = self._others(y, theta, topology)
        if classes is not None:
            return sum_classes(self, classes, float(temperature), topology)
        edges = self.edges(**theta, **topology)
        if edges is None:
            raise CapabilityError(
                f"{type(self).__name__} has no sums over all outputs but one: it has no dynamic "
                "program (edges). What works: runner_up, and infer where it is defined"
            )
        counts = self.encode(y, **theta, **topology)
        flat = flatten({name: counts[name] for name in theta})
        program = without_output(edges, flat, self).compile(n_parts(theta))
        value, p = program.infer(flatten(theta), float(temperature))
        return (value, unflatten_values(p, theta)) if value > -math.inf else (value, {})

    def _others(
        self, y: Any, theta: Parts, topology: Mapping[str, Any]
    ) -> Iterator[dict[str, Any]] | None:
        """Return scores with parts forbidden that cover all outputs but y, each once; or None."""
        return None

    # -- batches --------------------------------------------------------------------------------

    #: Rank of the label block of one example, if it is always the same.
    _label_rank: int | None = None

    def _is_batch(self, arguments: Mapping[str, Any]) -> bool:
        """Tell whether the arguments of a query are those of several examples."""
        if self._label_rank is None:
            return is_batch(arguments)
        label = arguments.get(self.label_block)
        return isinstance(label, (list, tuple)) and (
            len(label) == 0 or rank_of(label[0]) == self._label_rank
        )

    def _is_listed(self, name: str, value: Any) -> bool:
        """Tell whether an argument of a batch is a list with one entry per example."""
        return isinstance(value, (list, tuple))

    # -- helpers --------------------------------------------------------------------------------

    def _scores(self, scores: Mapping[str, Any]) -> Parts:
        """Return the scores as arrays, in the order of :meth:`blocks`."""
        names = list(self.blocks(1))
        unknown = set(scores) - set(names) - set(self.topology)
        if unknown:
            raise ValueError(
                f"{type(self).__name__} has no score block "
                f"{' or '.join(map(repr, sorted(unknown)))}; its blocks are "
                f"{', '.join(map(repr, names))}"
            )
        theta: Parts = {}
        for name in names:
            if scores.get(name) is None:
                continue
            array = as_scores(name, scores[name])
            if array.size and not array.max() < np.inf:  # NaN is the largest of all
                raise ValueError(
                    f"{name} contains NaN or +inf; scores are finite, or -inf to forbid"
                )
            theta[name] = array
        if not theta:
            raise ValueError(f"{type(self).__name__} needs scores: {', '.join(names)}")
        return theta

    def _topology(self, scores: Mapping[str, Any]) -> dict[str, Any]:
        return {name: scores[name] for name in self.topology if name in scores}

    def _edges_for(self, theta: Parts, scores: Mapping[str, Any]) -> Hyperedges | None:
        """Return the edges, cached by the shapes of the scores: most inputs share one."""
        topology = self._topology(scores)
        if topology:
            return self.edges(**theta, **topology)
        cache: dict[Any, Hyperedges | None] = self.__dict__.setdefault("_edges_by_shape", {})
        key = tuple((name, a.shape) for name, a in theta.items())
        if key not in cache:
            if len(cache) >= _MOST_SHAPES:
                cache.clear()
            cache[key] = self.edges(**theta)
        return cache[key]

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in vars(self).items() if k != "_edges_by_shape"}

    def _program(self, theta: Parts, scores: Mapping[str, Any], what: str) -> Any:
        edges = self._edges_for(theta, scores)
        if edges is None:
            if type(self).argmax is Structure.argmax:
                raise CapabilityError(
                    f"{type(self).__name__} has no search: define edges(**scores), a dynamic "
                    "program, or argmax(**scores)"
                )
            raise CapabilityError(
                f"{type(self).__name__} has no {what}: that needs a dynamic program, edges(). "
                "What works: argmax, solve, kbest, score, infer(temperature=0), and the "
                "learners that need only these (perceptron, structured SVM)"
            )
        return edges.compile(n_parts(theta))

    def _unflatten(self, parts: npt.NDArray[np.uint32], theta: Parts) -> Parts:
        counts = np.bincount(parts, minlength=n_parts(theta)).astype(np.float64)
        return unflatten_values(counts, theta)

    def __repr__(self) -> str:
        public = {k: v for k, v in vars(self).items() if not k.startswith("_")}
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in public.items())})"


widen_queries(Structure)
