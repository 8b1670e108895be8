"""What every structure can be asked, and what its author has to write.

A structure is a set of legal outputs. Its parts come in named *blocks* of scores; an output y is
the count vector μ(y) over parts, and its score is ⟨θ, μ(y)⟩. Everything else follows from one call,

    infer(θ, ε) → (value, p),   value = ε · log Σ_y exp(⟨θ, μ(y)⟩ / ε),   p = ∇value,

with ε = 0 the maximum and its argmax.

The author of a new structure writes, in one class:

* ``blocks(n_labels)``: the names of the score blocks and the shape of one site's outcomes;
* ``encode(y, **scores)``: the counts of an output's parts, and ``decode(parts)``: back;
* ``argmax(**scores)`` — or ``edges(**scores)``, its dynamic program as hyperedges, which gives
  argmax and every other query at once;
* optionally ``outputs(**scores)``, every legal output, so that
  :func:`structlearn.testing.check_structure` can prove the rest against enumeration;
* optionally ``runs_on_threads = True``, where several threads may ask at the same time.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..exceptions import CapabilityError, InfeasibleError
from .entropies import entropy_by_difference, entropy_by_others
from .fallback import exclude_parts, second_best
from .hypergraph import Hyperedges
from .others import sum_classes, without_output
from .score_arrays import as_scores
from .threads import n_threads, warn_of_one_thread

if TYPE_CHECKING:
    from .programs.program import Program
    from .programs.rows import RowBuilder

__all__ = ["Block", "Parts", "Solution", "Structure"]

#: Shapes whose edges are remembered.
_MOST_SHAPES = 256

Array = npt.NDArray[np.float64]
Parts = dict[str, Array]


class Block(NamedTuple):
    """One block of parts, as a learner sees it.

    Attributes
    ----------
    outcomes : tuple of int
        Shape of one site's outcomes: ``(K,)`` for a label, ``(K, K)`` for a label pair.
    shared : bool
        Without features of its own: one table of scores for all sites.
    optional : bool
        The structure works without it.
    inner : tuple of int
        Where a position has more than one site, their shape: ``(max_length,)`` for the segments
        that start there. The block's scores have the shape ``(positions, *inner, *outcomes)``.
    """

    outcomes: tuple[int, ...]
    shared: bool = False
    optional: bool = False
    inner: tuple[int, ...] = ()


class Solution(NamedTuple):
    """An output with what is known about it.

    Attributes
    ----------
    output : object
        The output itself.
    value : float
        Its score.
    exact : bool
        Whether it is proven to be the best.
    bound : float
        No output scores more than this.
    method : str
        The algorithm that found it.
    """

    output: Any
    value: float
    exact: bool
    bound: float
    method: str

    def _repr_html_(self) -> str:
        from ..drawing.solutions import solution_html

        return solution_html(self)


class Structure:
    """Base of all structures: the queries, built on what the author of a structure wrote.

    Scores are keyword arguments, one array a block; −∞ forbids a part. A list of arrays is a batch,
    and gives a list. Structures know no weights and learn nothing.
    """

    #: How ``argmax`` finds its output, for :class:`Solution`.
    method = "argmax"

    #: Names of arguments that say what the example looks like (edges, parents) and are no scores.
    topology: tuple[str, ...] = ()

    #: Outputs are made of labels, which a learner may know by other names (strings).
    has_labels = True

    #: The block that scores labels. An example that is no dictionary has features for it alone.
    label_block = "label"

    #: ``infer`` at temperature 0 gives what ``solve`` finds: a learner can ask ``solve`` instead,
    #: and hear whether it was exact.
    certifies = False

    #: Outputs are wrong in other ways than by their labels (heads, edges): the structure itself
    #: says what they cost and how much of one is right.
    judges_outputs = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # An author writes these for one example; batches come with them.
        for name, widen in (
            ("argmax", _argmax_of_batches),
            ("kbest", _kbest_of_batches),
            ("encode", _encode_of_batches),
            ("decode", _decode_of_batches),
        ):
            if name in vars(cls) and not cls._batches_itself:
                setattr(cls, name, widen(vars(cls)[name]))

    #: Whether argmax, kbest, encode and decode take batches where a subclass defines them.
    _batches_itself = False

    #: Whether several threads may ask at the same time, and the interpreter is let go of meanwhile.
    #: Batches, and training, run on ``n_jobs`` threads then.
    runs_on_threads = False

    # -- what an author writes ------------------------------------------------------------------

    def blocks(self, n_labels: int) -> dict[str, Block]:
        """Return the score blocks, by name, in the order of the flat part vector."""
        raise CapabilityError(f"{type(self).__name__} does not say what its blocks are")

    def encode(self, y: Any, **scores: Any) -> Parts:
        """Return μ(y), the counts of the output's parts, one array a block."""
        raise CapabilityError(f"{type(self).__name__} has no encode")

    def decode(self, parts: Mapping[str, Any]) -> Any:
        """Return the output whose parts these are; the inverse of :meth:`encode`."""
        raise CapabilityError(f"{type(self).__name__} has no decode")

    def edges(self, **scores: Any) -> Hyperedges | None:
        """Return the dynamic program as hyperedges, or None where there is none.

        May depend on the shapes of the scores (and on the topology), not on their values: −∞ is
        honoured by itself, and the edges are built once a shape.
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
        """Return μ(y) with shared blocks spread over their positions; default: as encoded."""
        return self.encode(y, **scores)

    # -- the queries ----------------------------------------------------------------------------

    def argmax(self, *, n_jobs: int | None = None, **scores: Any) -> Any:
        """Return the best output; a list of them for a batch.

        An author writes it for one example, and raises :class:`InfeasibleError` where every output
        scores −∞. :meth:`solve` calls the result exact: an author whose search is a heuristic
        writes ``solve`` too, and says there that it is not.
        """
        if is_batch(scores):
            return self._each(self.argmax, unbatch(scores), n_jobs)
        theta = self._scores(scores)
        program = self._program(theta, scores, "argmax")
        value, _, parts = program.best(flatten(theta))
        if value == -math.inf:
            raise nothing_legal()
        return self.decode(self._unflatten(parts, theta))

    def solve(self, *, n_jobs: int | None = None, **scores: Any) -> Any:
        """Return the best output with its value and a certificate: a :class:`Solution`."""
        if is_batch(scores):
            return self._each(self.solve, unbatch(scores), n_jobs)
        y = self.argmax(**scores)
        value = self.score(y, **scores)
        return Solution(y, value, True, value, self.method)

    def solve_without_bound(self, **scores: Any) -> Solution:
        """Return what :meth:`solve` finds for one example, without a bound where that costs extra.

        ``exact`` is then False where only the bound would have proven it.
        """
        found: Solution = self.solve(**scores)
        return found

    def infer(
        self, *, temperature: float = 1.0, n_jobs: int | None = None, **scores: Any
    ) -> tuple[float, Parts]:
        """Return (ε log Σ exp(score/ε), its gradient by block); ε = 0: (max, parts of argmax)."""
        check_temperature(temperature)
        if is_batch(scores):
            infer = functools.partial(self.infer, temperature=temperature)
            return self._each(infer, unbatch(scores), n_jobs)  # type: ignore[return-value]
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
        """Return ε log Σ_y exp(score(y)/ε); the maximum where ε = 0."""
        if is_batch(scores):
            query = functools.partial(self.log_partition, temperature=temperature)
            return self._each(query, unbatch(scores), n_jobs)
        return self.infer(temperature=temperature, **scores)[0]

    def marginals(
        self, *, temperature: float = 1.0, n_jobs: int | None = None, **scores: Any
    ) -> Any:
        """Return the expected counts of the parts, one array a block.

        Position by position where the structure says what that means
        (:meth:`encode_by_position`); otherwise a shared block's counts are summed.
        """
        if is_batch(scores):
            query = functools.partial(self.marginals, temperature=temperature)
            return self._each(query, unbatch(scores), n_jobs)
        return self.infer(temperature=temperature, **scores)[1]

    def kbest(self, n: int, *, n_jobs: int | None = None, **scores: Any) -> Any:
        """Return up to n legal outputs as (score, output), best first, no repeats."""
        check_count(n)
        if is_batch(scores):
            return self._each(functools.partial(self.kbest, n), unbatch(scores), n_jobs)
        theta = self._scores(scores)
        edges = self._edges_for(theta, scores)
        if edges is None:
            found = exclude_parts(self, n, theta, self._topology(scores))
        else:
            found = [
                (value, self.decode(self._unflatten(parts, theta)))
                for value, _, parts in edges.compile(n_parts(theta)).kbest(flatten(theta), n)
            ]
        if not found:
            raise nothing_legal()
        return found

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
        check_count(n)
        check_temperature(temperature)
        if is_batch(scores):
            return sample_batch(self, n, temperature, random_state, unbatch(scores), n_jobs)
        theta = self._scores(scores)
        if temperature == 0:
            return [self.argmax(**scores)] * n
        program = self._program(theta, scores, "sample")
        drawn = program.sample(flatten(theta), n, float(temperature), seed_of(random_state))
        if not drawn:
            raise nothing_legal()
        return [self.decode(self._unflatten(parts, theta)) for _, parts in drawn]

    def score(self, y: Any, **scores: Any) -> Any:
        """Return ⟨θ, μ(y)⟩, −∞ where a forbidden part is used; a list for a batch of outputs."""
        if is_batch(scores):
            return ask_each(self.score, unbatch(scores), y)
        theta = self._scores(scores)
        counts = self.encode(y, **scores)
        for name, a in theta.items():
            if np.shape(counts[name]) != a.shape:
                raise ValueError(
                    f"{name} has shape {a.shape}, the output's parts {np.shape(counts[name])}"
                )
        return float(sum(dot_counts(theta[name], counts[name]) for name in theta))

    def entropy(self, *, temperature: float = 1.0, n_jobs: int | None = None, **scores: Any) -> Any:
        """Return the entropy of P(y) ∝ exp(score(y)/ε) in nats; 0 where ε = 0.

        It keeps its digits where scores are large: a constant added to all of them costs no more
        than it costs the scores.
        """
        check_temperature(temperature)
        if is_batch(scores):
            query = functools.partial(self.entropy, temperature=temperature)
            return self._each(query, unbatch(scores), n_jobs)
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
            # The core is faster than hyperedges made for one call, and most often good enough.
            found, trusted = entropy_by_difference(self, theta, topology, temperature)
            if trusted or self.native is None:  # an author's own sums are all there is
                return found
            edges = self.edges(**theta, **topology)
        if edges is None:
            return entropy_by_others(self, theta, topology, temperature)
        entropy: float = edges.compile(n_parts(theta)).entropy(flatten(theta), temperature)
        if entropy == -math.inf:
            raise nothing_legal()
        return entropy

    def count(self, *, n_jobs: int | None = None, **scores: Any) -> Any:
        """Return the number of outputs with a finite score, as an exact integer."""
        if is_batch(scores):
            return self._each(self.count, unbatch(scores), n_jobs)
        theta = self._scores(scores)
        edges = self._edges_for(theta, scores)
        if edges is None:
            return sum(self.score(y, **scores) > -math.inf for y in self.outputs(**scores))
        return edges.count(flatten(theta))

    # -- where sums or maxima are hard ----------------------------------------------------------

    def sums_are_exact(self, **scores: Any) -> bool:
        """Tell whether :meth:`infer` at ε > 0 is exact for these scores; default: it is."""
        return True

    def loopy_infer(self, *, temperature: float = 1.0, **scores: Any) -> tuple[float, Parts]:
        """Return approximate sums, as :meth:`infer` does, whether there are exact ones or not."""
        raise CapabilityError(
            f"{type(self).__name__} has no loopy message passing; Grid and Graph have. What works: "
            "exact sums"
        )

    def pseudo_infer(
        self, y: Any, *, temperature: float = 1.0, **scores: Any
    ) -> tuple[float, Parts]:
        """Return score(y) − ε · log pseudo-likelihood of y, and its gradient by block."""
        raise CapabilityError(
            f"{type(self).__name__} has no pseudo-likelihood; Grid and Graph have. What works: "
            "exact sums, the likelihood itself"
        )

    def submodular_rows(self, n_labels: int) -> dict[str, npt.NDArray[np.float64] | None]:
        """Return what must not be negative at a site for cuts to find the best output.

        Returns
        -------
        dict of str to array or None
            Block name to rows of coefficients, (rows, ...) with the shape of a site's outcomes: no
            combination ⟨row, scores⟩ may be negative. None: the block has to be left out.
        """
        raise CapabilityError(
            f"submodular=True is for structures that are searched by cuts, Grid and Graph; "
            f"{type(self).__name__} is searched exactly whatever its weights"
        )

    # -- the integer program --------------------------------------------------------------------

    def as_program(self, **scores: Any) -> Program:
        """Return the integer program whose solutions are the outputs (eq. 17.33-34).

        Its parts are the first columns, in the order of the flattened blocks; where one table of
        scores is shared by all positions, each position has parts of its own. Helper columns
        follow. ``structure.as_program(**scores).argmax()`` equals ``structure.argmax(**scores)``
        (of equally good outputs it may find another), and
        :meth:`~structlearn.structures.Program.with_rows` adds constraints.
        """
        from .programs.program import Program

        if is_batch(scores):
            raise ValueError("a program is for one example, not for a batch")
        theta, topology = self._scores(scores), self._topology(scores)
        return Program.of_structure(self, self.program_rows(theta, **topology), theta, topology)

    def program_scores(self, theta: Parts, **topology: Any) -> Parts:
        """Return scores in terms of the blocks of :meth:`as_program`; default: as they are."""
        return theta

    @property
    def pair_block(self) -> str | None:
        """The block with a table of the labels of two places, if the dynamic program has one."""
        return None

    def joined(self, place: Any, other: Any, **scores: Any) -> tuple[str, int, bool] | None:
        """Return where the labels of two places are scored together, by the dynamic program.

        As (block, position in it, whether the second place comes first there); None where they are
        not. Masks of that table are then constraints on the two labels.
        """
        return None

    def program_rows(self, theta: Parts, **topology: Any) -> RowBuilder:
        """Return the rows of the program for scores of these shapes; default: from ``edges``."""
        edges = self._edges_for(theta, {**theta, **topology})
        if edges is None:
            raise CapabilityError(
                f"{type(self).__name__} has no program: it has no dynamic program (edges) and no "
                "program_rows. What works: argmax and what follows from it"
            )
        return edges.program_rows({name: a.shape for name, a in theta.items()})

    # -- for learners ---------------------------------------------------------------------------

    def labels_of(self, y: Any) -> list[Any]:
        """Return the labels that an output is made of, in some fixed order; None is unknown."""
        return list(y)

    def relabel(self, y: Any, labels: Any) -> Any:
        """Return the output with its labels replaced, in the order of :meth:`labels_of`."""
        return np.asarray(labels)

    def agreement(self, gold: Any, predicted: Any) -> tuple[float, float] | None:
        """Return (how much of both agrees, how much there is); None: count equal labels."""
        return None

    @classmethod
    def from_examples(cls, X: Any, y: Any) -> Structure:
        """Return a structure for these examples, where a learner knows its name alone."""
        return cls()

    def for_examples(self, X: Any, y: Any) -> Structure:
        """Return the structure as a learner needs it for these examples; default: itself."""
        return self

    def n_places(self, n_sites: int) -> int:
        """Return how many labels an output has where the label block has so many sites."""
        return n_sites

    def n_places_of(self, sites: tuple[int, ...]) -> int:
        """Return how many labels an output has where the label block's sites have this shape."""
        return self.n_places(math.prod(sites))

    def site_shape(self, block: str, n_sites: int) -> tuple[int, ...] | None:
        """Return how the sites of a block are laid out where features do not say it, or None."""
        return None

    def output_costs(
        self, y: Any, table: Array, missed: Array, weights: Array | float, **scores: Any
    ) -> tuple[Parts, float]:
        """Return (c by block, c₀) of an output that the structure judges itself.

        Parameters
        ----------
        table : (K, K) array
            δ(gold label, label) where all else is right.
        missed : (K,) array
            The cost, by gold label, where it is not.
        weights : array or float
            Of the places of the output.
        """
        raise CapabilityError(f"{type(self).__name__} does not say what an output costs")

    def label_costs(self, costs: Array, **scores: Any) -> Parts:
        """Return the cost of each part, where label k at place t costs ``costs[t, k]``.

        Places are those of :meth:`labels_of`.
        """
        return {self.label_block: costs.reshape(np.shape(scores[self.label_block]))}

    def allowed(self, y: Any, shape: tuple[int, ...]) -> npt.NDArray[np.bool_]:
        """Return which parts of the label block an output with unknown labels may use.

        Unknown is None, or an index below 0; a set holds the indices that are possible; ``shape``
        is that of the block.
        """
        rows = [allowed_labels(k, shape[-1]) for k in self.labels_of(y)]
        return np.array(rows, dtype=bool).reshape(shape)

    def runner_up(self, y: Any, **scores: Any) -> tuple[float, Any] | None:
        """Return the best output other than y with its score, or None if there is none."""
        return second_best(self, y, self._scores(scores), self._topology(scores))

    def infer_others(
        self, y: Any, *, temperature: float = 1.0, **scores: Any
    ) -> tuple[float, Parts]:
        """Return (ε log Σ exp(score/ε), its gradient by block) over all outputs but y, ε > 0.

        (−∞, {}) where there is no other. As exact where y has nearly all of the mass as anywhere:
        nothing is subtracted.
        """
        theta, topology = self._scores(scores), self._topology(scores)
        check_temperature(temperature)
        if temperature == 0:
            raise ValueError("temperature must be above 0 here; runner_up is for temperature 0")
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
        """Return scores with parts forbidden, whose outputs are all but y, each once; or None."""
        return None

    @property
    def native(self) -> Any:
        """The core's twin of this structure, or None for one written in Python."""
        return None

    def core_inference(self, behind: Any, likelihood: str, gold: Any) -> Any:
        """Return what the core needs to do the inference of a learner, or None where it cannot.

        Parameters
        ----------
        behind : object
            Does in Python what the core does not.
        likelihood : {"exact", "pseudo", "loopy"}
            What losses above temperature 0 are made of.
        gold : (array, array) or None
            Pointers and labels of the gold outputs.
        """
        return None

    def core_topology(self, example: Mapping[str, Any], sites: tuple[int, ...]) -> Any:
        """Return what the core has to know of an example's shape: whole numbers, None: nothing.

        Parameters
        ----------
        example : dict
            What it says of its topology.
        sites : tuple of int
            Shape of the sites of the label block.
        """
        return None

    def from_core(self, row: npt.NDArray[np.int64], sites: tuple[int, ...]) -> Any:
        """Return the output that a row of whole numbers of the core stands for."""
        return row

    # -- helpers --------------------------------------------------------------------------------

    def _each(
        self,
        query: Any,
        batch: list[dict[str, Any]],
        n_jobs: int | None,
        *,
        on_threads: bool = True,
    ) -> list[Any]:
        """Return what a query answers about each example of a batch, on threads where it can.

        Parameters
        ----------
        on_threads : bool
            Whether this query lets go of the interpreter, where the others do.
        """
        threads = min(n_threads(n_jobs), len(batch))
        if threads > 1 and not (on_threads and self.runs_on_threads):
            name = type(self).__name__
            if self.runs_on_threads:
                name += "." + getattr(query, "func", query).__name__
            warn_of_one_thread(name, n_jobs, structure=not self.runs_on_threads, stacklevel=3)
            threads = 1
        if threads <= 1:
            return ask_each(query, batch)
        with ThreadPoolExecutor(threads) as pool:
            singly = pool.map(
                lambda i: ask_each(query, batch[i : i + 1], first=i), range(len(batch))
            )
            return [answer for (answer,) in singly]

    def _scores(self, scores: Mapping[str, Any]) -> Parts:
        """Return the scores as arrays, in the order of :meth:`blocks` whatever that of the call."""
        names = list(self.blocks(1))
        unknown = set(scores) - set(names) - set(self.topology)
        if unknown:
            raise ValueError(
                f"{sorted(unknown)} are no score blocks of {type(self).__name__}; it has {names}"
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
        """Return the edges, remembered by the shapes of the scores: most inputs share one."""
        topology = self._topology(scores)
        if topology:
            return self.edges(**theta, **topology)
        known: dict[Any, Hyperedges | None] = self.__dict__.setdefault("_edges_by_shape", {})
        key = tuple((name, a.shape) for name, a in theta.items())
        if key not in known:
            if len(known) >= _MOST_SHAPES:
                known.clear()
            known[key] = self.edges(**theta)
        return known[key]

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in vars(self).items() if k != "_edges_by_shape"}

    def _program(self, theta: Parts, scores: Mapping[str, Any], what: str) -> Any:
        edges = self._edges_for(theta, scores)
        if edges is None:
            raise CapabilityError(
                f"{type(self).__name__} has no {what}: it gives an argmax and no dynamic program "
                "(edges). What works: argmax, solve, kbest, score, infer(temperature=0), and the "
                "learners that need no more (perceptron, structured SVM)"
            )
        return edges.compile(n_parts(theta))

    def _unflatten(self, parts: npt.NDArray[np.uint32], theta: Parts) -> Parts:
        counts = np.bincount(parts, minlength=n_parts(theta)).astype(np.float64)
        return unflatten_values(counts, theta)

    def __repr__(self) -> str:
        public = {k: v for k, v in vars(self).items() if not k.startswith("_")}
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in public.items())})"


def _argmax_of_batches(argmax: Any) -> Any:
    """Let an argmax for one example take a batch as well."""

    @functools.wraps(argmax)
    def either(self: Structure, *, n_jobs: int | None = None, **scores: Any) -> Any:
        if is_batch(scores):
            return self._each(functools.partial(argmax, self), unbatch(scores), n_jobs)
        return argmax(self, **scores)

    return either


def _kbest_of_batches(kbest: Any) -> Any:
    """Let a kbest for one example take a batch as well."""

    @functools.wraps(kbest)
    def either(self: Structure, n: int, *, n_jobs: int | None = None, **scores: Any) -> Any:
        check_count(n)
        if is_batch(scores):
            return self._each(functools.partial(kbest, self, n), unbatch(scores), n_jobs)
        return kbest(self, n, **scores)

    return either


def _encode_of_batches(encode: Any) -> Any:
    """Let an encode for one example take a batch as well."""

    @functools.wraps(encode)
    def either(self: Structure, y: Any, **scores: Any) -> Any:
        if is_batch(scores):
            return ask_each(functools.partial(encode, self), unbatch(scores), y)
        return encode(self, y, **scores)

    return either


def _decode_of_batches(decode: Any) -> Any:
    """Let a decode for one example take a list of parts as well."""

    @functools.wraps(decode)
    def either(self: Structure, parts: Any) -> Any:
        if isinstance(parts, (list, tuple)):
            return [decode(self, one) for one in parts]
        return decode(self, parts)

    return either


def is_open(label: Any) -> bool:
    """Tell whether a gold label leaves a choice: None, an index below 0, a set of indices."""
    return label is None or isinstance(label, (set, frozenset)) or label < 0


def allowed_labels(label: Any, n_labels: int) -> npt.NDArray[np.bool_]:
    """Return which of the labels a gold label stands for: itself, those of a set, or all."""
    if isinstance(label, (set, frozenset)):
        picked = [int(k) for k in label]
        if not picked:
            raise ValueError("the set of allowed labels is empty")
    elif is_open(label):
        return np.ones(n_labels, dtype=bool)
    else:
        picked = [int(label)]
    if min(picked) < 0 or max(picked) >= n_labels:
        raise ValueError(f"labels must be among 0..{n_labels - 1}: {sorted(picked)}")
    allowed = np.zeros(n_labels, dtype=bool)
    allowed[picked] = True
    return allowed


def n_parts(theta: Mapping[str, Array]) -> int:
    """Return the number of parts of an example."""
    return sum(a.size for a in theta.values())


def flatten(theta: Mapping[str, Array]) -> Array:
    """Return the blocks one after another as one vector."""
    return np.concatenate([np.ravel(a) for a in theta.values()]) if theta else np.empty(0)


def unflatten_values(values: Array, theta: Mapping[str, Array]) -> Parts:
    """Cut a flat part vector into blocks of the shapes of ``theta``."""
    parts: Parts = {}
    at = 0
    for name, a in theta.items():
        parts[name] = np.asarray(values[at : at + a.size]).reshape(a.shape)
        at += a.size
    return parts


def dot_counts(theta: Array, counts: Array) -> float:
    """Return ⟨θ, μ⟩ with 0 · −∞ = 0, and −∞ where a forbidden part has any other count."""
    used = counts != 0
    scores = theta[used]
    if np.isneginf(scores).any():  # times a count below 0 it would be ∞
        return -math.inf
    return float(np.dot(scores, counts[used]))


def nothing_legal() -> InfeasibleError:
    """Return the error for an input whose every output is forbidden."""
    return InfeasibleError("no legal output is left: every output scores -inf")


def check_temperature(temperature: float) -> None:
    """Raise unless the temperature is a finite number ≥ 0."""
    if not (math.isfinite(temperature) and temperature >= 0):
        raise ValueError(f"temperature must be a finite number >= 0, got {temperature!r}")


def part_of(parts: Any, name: str) -> npt.NDArray[np.float64]:
    """Return the counts of one block of parts, as ``decode`` takes them."""
    try:
        return np.asarray(parts[name], dtype=np.float64)
    except (KeyError, IndexError, TypeError, ValueError):
        raise ValueError(
            f"parts are arrays of counts by block, as encode gives them: {name!r} is missing, or "
            "no array of numbers"
        ) from None


def check_count(n: int) -> None:
    """Raise unless n is a whole number ≥ 1."""
    if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n < 1:
        raise ValueError(f"n must be a whole number >= 1, got {n!r}")


def is_batch(scores: Mapping[str, Any]) -> bool:
    """Tell whether the scores are lists of arrays, one an example."""
    return any(
        isinstance(v, (list, tuple)) and (len(v) == 0 or isinstance(v[0], np.ndarray))
        for v in scores.values()
    )


def ask_each(
    query: Any,
    examples: list[dict[str, Any]],
    outputs: Any = None,
    *,
    first: int = 0,
    **options: Any,
) -> list[Any]:
    """Return what a query answers about each example of a batch; errors say which it was.

    Parameters
    ----------
    query : callable
        Takes the scores of one example, after the output where there are ``outputs``.
    outputs : sequence, optional
        An output an example.
    first : int
        The number of the first example, for messages.
    """
    if outputs is None:
        given: list[tuple[Any, ...]] = [()] * len(examples)
    elif not hasattr(outputs, "__len__"):
        raise ValueError(f"a batch has a list of outputs, one an example, got {outputs!r}")
    elif len(outputs) != len(examples):
        raise ValueError(f"a batch of {len(examples)} inputs has {len(outputs)} outputs")
    else:
        given = [(y,) for y in outputs]
    answers = []
    for i, (y, one) in enumerate(zip(given, examples, strict=True), first):
        try:
            answers.append(query(*y, **options, **one))
        except CapabilityError:  # of the structure, not of the example
            raise
        except ValueError as error:
            raise named_example(error, i) from None
    return answers


def named_example(error: ValueError, i: int) -> ValueError:
    """Return the error with the number of the example in front of its message."""
    error.args = (f"example {i}: {error}", *error.args[1:])
    return error


def unbatch(scores: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Cut a batch into examples; blocks that are no lists belong to every one."""
    lists = {k: v for k, v in scores.items() if isinstance(v, (list, tuple))}
    sizes = {k: len(v) for k, v in lists.items()}
    if len(set(sizes.values())) > 1:
        raise ValueError(f"the blocks of a batch have different numbers of examples: {sizes}")
    n = next(iter(sizes.values()))
    return [{k: _entry(v[i]) if k in lists else v for k, v in scores.items()} for i in range(n)]


def _entry(value: Any) -> Any:
    """Return one example's block as an array: a list of arrays, or none, would be a batch again."""
    if not isinstance(value, (list, tuple)):
        return value
    try:
        return np.asarray(value)
    except ValueError:  # of different lengths, as groups of nodes are
        return value


def sample_batch(
    structure: Structure,
    n: int,
    temperature: float,
    random_state: Any,
    examples: list[dict[str, Any]],
    n_jobs: int | None,
    *,
    on_threads: bool = True,
) -> list[Any]:
    """Draw n outputs for each example of a batch, each with a seed of its own."""
    seeds = np.random.SeedSequence(seed_of(random_state)).generate_state(len(examples), np.uint64)
    seeded = [
        {"random_state": int(seed >> np.uint64(1)), **one}
        for seed, one in zip(seeds, examples, strict=True)
    ]
    query = functools.partial(structure.sample, n, temperature=temperature)
    return structure._each(query, seeded, n_jobs, on_threads=on_threads)


def seed_of(random_state: Any) -> int:
    """Return a 63-bit seed from what scikit-learn calls a random_state."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> np.uint64(1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(0, 2**63 - 1))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(0, 2**62, dtype=np.int64))
    if isinstance(random_state, (int, np.integer)) and 0 <= random_state < 2**64:
        return int(random_state)
    raise ValueError(
        f"random_state must be None, a non-negative int or a generator, got {random_state!r}"
    )
