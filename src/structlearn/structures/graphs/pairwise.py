"""Common parts of grids and graphs: all queries, on a model of labels and neighbouring pairs."""

from __future__ import annotations

import itertools
import math
import warnings
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ... import _core
from ...array_types import Array, Integers
from ...exceptions import CapabilityError, InexactInferenceWarning, InfeasibleError
from ..base import Structure
from ..batches import holds_interpreter
from ..checks import check_temperature, nothing_legal, seed_of
from ..entropies import centred
from ..lawler import best_first
from ..others import differing_labels
from ..parts import Parts, part_of
from ..programs.solvers import seconds_of
from ..solution import Solution
from .pair_model import PairModel
from .pair_search import METHODS, Found, search
from .pair_sums import Sums, exact_sums, loopy_sums

_MOST_ENUMERATED = 2**20

#: Pairs of two labels are submodular if ⟨this, their scores⟩ ≥ 0.
SUBMODULAR = np.array([[1.0, -1.0], [-1.0, 1.0]])


class PairwiseStructure(Structure):
    """Labels on nodes with scores of neighbouring pairs. A subclass reads its own blocks.

    Parameters
    ----------
    method : str
        The default search method of ``argmax`` and ``solve``.
    damping : float
        The share of its old value that a message keeps in loopy sums, from 0 to below 1.
    """

    runs_on_threads = True
    takes_time_limit = True
    #: The axes of the label block.
    _label_axes: tuple[str, ...]
    #: ``infer`` at temperature 0 agrees with ``solve``, which adds a certificate.
    certifies = True

    def __init__(self, method: str, damping: float) -> None:
        if method not in METHODS:
            raise ValueError(f"method must be one of {sorted(METHODS)}, got {method!r}")
        if not 0 <= damping < 1:
            raise ValueError(f"damping must be from 0 to below 1, got {damping!r}")
        self.method = method
        self.damping = damping

    # -- for subclasses to define --------------------------------------------------------------

    @abstractmethod
    def _model(self, theta: Mapping[str, Any]) -> PairModel:
        """Return the model of one example, with checked shapes."""

    @abstractmethod
    def _spread(self, node: Array, pair: Array, theta: Mapping[str, Any]) -> Parts:
        """Return node (N, K) and pair (E, K, K) counts as blocks, position by position."""

    def _shaped(self, labels: Integers, model: PairModel) -> Integers:
        """Return a row of labels as an output."""
        return labels

    # -- reading scores -------------------------------------------------------------------------

    def _read(self, scores: Mapping[str, Any]) -> dict[str, Any]:
        """Return the checked scores of one example with its topology."""
        present = {name: value for name, value in scores.items() if value is not None}
        return {**self._scores(present), **self._topology(present)}

    def _scores(self, scores: Mapping[str, Any]) -> Parts:
        """Return the scores as arrays; the label block has the right number of axes."""
        if scores.get("label") is None:
            raise ValueError(f"{type(self).__name__} needs label scores: label=...")
        theta = super()._scores(scores)
        label = theta["label"]
        if label.ndim != len(self._label_axes) or not label.size:
            axes = ", ".join(self._label_axes)
            raise ValueError(f"label must have shape ({axes}), got {label.shape}")
        return theta

    # -- maxima ---------------------------------------------------------------------------------

    def argmax(
        self, *, method: str | None = None, time_limit: float | None = None, **scores: Any
    ) -> Any:
        """Return the best output that the method finds; a list of them for a batch."""
        model = self._model(self._read(scores))
        model.time_limit = None if time_limit is None else seconds_of(time_limit)
        result = search(model, method or self.method, bound=False)
        return self._shaped(result.labels, model)

    def solve(
        self, *, method: str | None = None, time_limit: float | None = None, **scores: Any
    ) -> Any:
        """Return the best output found with its value and a certificate: a :class:`Solution`.

        Parameters
        ----------
        method : str, optional
            "auto" chooses an exact method if there is one: a minimum cut (two labels, submodular),
            elimination (small treewidth), roof duality if it labels every node, branch and bound
            (few nodes). Otherwise α-expansion, with a bound by tree-reweighted messages. Or one of
            "elimination", "cut", "expansion", "swap", "max-product", "trws", "qpbo", "lp", "ilp".
        time_limit : float, optional
            Seconds for a linear or integer program; then the best output so far, with its bound.
        **scores : arrays
            One per block.
        """
        model = self._model(self._read(scores))
        model.time_limit = None if time_limit is None else seconds_of(time_limit)
        return self._solution(model, search(model, method or self.method))

    def solve_without_bound(self, **scores: Any) -> Solution:
        """Return the solution of one example, without a tree-reweighted bound.

        Its fifty sweeps cost more than the search; learners compute it once, at the end.
        """
        model = self._model(self._read(scores))
        return self._solution(model, search(model, self.method, bound=False))

    def _solution(self, model: PairModel, found: Found) -> Solution:
        output = self._shaped(found.labels, model)
        return Solution(output, found.value, found.exact, found.bound, found.method)

    def partial_labels(self, **scores: Any) -> tuple[Integers, float]:
        """Return labels that some best output has, −1 if unknown, and a bound.

        Roof duality (QPBO), for two labels and pairs of any kind. One maximum flow on 2N nodes.

        References
        ----------
        E. Boros & P. Hammer (2002), Pseudo-Boolean optimization; V. Kolmogorov & C. Rother (2007),
        Minimizing nonsubmodular functions with graph cuts.
        """
        from .pair_search import partial_labels

        model = self._model(self._read(scores))
        labels, bound = partial_labels(model)
        return self._shaped(labels, model), bound

    def kbest(self, n: int, **scores: Any) -> Any:
        """Return up to n legal outputs as (score, output), best first, no repeats.

        The outputs other than the best are split by the first node at which they differ from it
        (Lawler 1972): one exact search per node and output. Raises if no exact method is fast.
        """
        model = self._model(self._read(scores))

        def best(labellings: tuple[Array, int]) -> tuple[float, Integers] | None:
            try:
                result = search(model.replaced(labellings[0]), "auto")
            except InfeasibleError:
                return None
            if not result.exact:
                raise CapabilityError(
                    "kbest needs an exact search, but none is available (treewidth too large, "
                    "pairs not submodular). What works: as_program(...).kbest"
                )
            return result.value, result.labels

        def split(y: Integers, labellings: tuple[Array, int]) -> Iterator[tuple[Array, int]]:
            label, first = labellings
            fixed = label.copy()
            for v in range(first, model.n_nodes):
                without = fixed.copy()
                without[v, y[v]] = -np.inf
                if np.isfinite(without[v]).any():
                    yield without, v
                fixed[v, np.arange(model.n_labels) != y[v]] = -np.inf

        ranked = best_first((model.label, 0), best, split)
        result = [(value, self._shaped(y, model)) for value, y in itertools.islice(ranked, n)]
        if not result:
            raise nothing_legal()
        return result

    # -- sums -----------------------------------------------------------------------------------

    def infer(self, *, temperature: float = 1.0, **scores: Any) -> Any:
        """Return (ε log Σ exp(score/ε), its gradient by block); ε = 0: (max, parts of argmax).

        Exact if the treewidth is small (elimination). Otherwise loopy message passing with Bethe's
        approximation of the value, and an ``InexactInferenceWarning``.
        """
        check_temperature(temperature)
        theta = self._read(scores)
        if temperature == 0:
            solution = self.solve(**scores)
            return solution.value, self.encode(solution.output, **scores)
        value, node, pair, _ = self._sums(self._model(theta), float(temperature))
        return value, self._summed(self._spread(node, pair, theta), theta)

    def marginals(self, *, temperature: float = 1.0, **scores: Any) -> Any:
        """Return the probability of each part, one array per block, position by position."""
        check_temperature(temperature)
        theta = self._read(scores)
        if temperature == 0:
            return self.encode_by_position(self.argmax(**scores), **scores)
        _, node, pair, _ = self._sums(self._model(theta), float(temperature))
        return self._spread(node, pair, theta)

    # -- in the core ----------------------------------------------------------------------------

    #: Whether the core's examples are grids.
    _is_grid = False
    #: The share of a clique's nodes that may have other labels before its score is lost.
    tolerance = 0.0

    def core_inference(self, behind: Any, likelihood: str, gold: Any) -> Any:
        """Return the core's searches and sums; ``behind`` runs programs and words the errors."""
        if type(self).__module__.split(".")[0] != __name__.split(".")[0]:
            return None  # a subclass may search differently
        ptr, labels = (None, None) if gold is None else gold
        return _core.pairwise_inference(
            behind,
            self._is_grid,
            self.method,
            self.damping,
            self.tolerance,
            likelihood,
            ptr,
            labels,
        )

    def sums_are_exact(self, **scores: Any) -> bool:
        """Tell whether log-partition and marginals of these scores are exact (elimination)."""
        model = self._model(self._read(scores))
        return not model.has_pairs or model.native.order() is not None  # cliques allow neither

    def loopy_infer(self, *, temperature: float = 1.0, **scores: Any) -> tuple[float, Parts]:
        """Return Bethe's approximation of the log-partition and the beliefs of loopy messages.

        Once the messages have converged, the beliefs are the gradient of the value (J. Yedidia, W.
        Freeman & Y. Weiss 2005), and both are exact on trees.
        """
        check_temperature(temperature)
        theta = self._read(scores)
        model = self._model(theta)
        if model.cliques is not None or temperature == 0:
            raise CapabilityError("loopy sums are for pairs, not cliques, and temperature > 0")
        value, node, pair, _ = loopy_sums(model, float(temperature), self.damping)
        return value, self._summed(self._spread(node, pair, theta), theta)

    def pseudo_infer(
        self, y: Any, *, temperature: float = 1.0, **scores: Any
    ) -> tuple[float, Parts]:
        """Return score(y) − ε Σ_v log P_ε(y_v | y of its neighbours), and its gradient by block.

        Minus score(y) it is a loss that needs no sums over labellings, O((N + E)·K); without edges
        it is the log loss. It is convex in the scores, and consistent: with more and more data from
        a model of this kind, its minimum converges to that model.

        References
        ----------
        J. Besag (1975), Statistical analysis of non-lattice data.
        """
        check_temperature(temperature)
        theta = self._read(scores)
        model = self._model(theta)
        if model.cliques is not None or temperature == 0:
            raise CapabilityError(
                "pseudo-likelihood is for pairs, not cliques, and temperature > 0"
            )
        labels = self._labels(y, theta)
        value, node, pair = model.native.pseudo_likelihood(labels, float(temperature))
        n_labels = model.n_labels
        spread = self._spread(
            node.reshape(-1, n_labels), pair.reshape(-1, n_labels, n_labels), theta
        )
        return value, self._summed(spread, theta)

    def _sums(self, model: PairModel, temperature: float) -> Sums:
        exact = exact_sums(model, temperature)
        if exact is not None:
            if exact[0] == -math.inf:
                raise nothing_legal()
            return exact
        if model.cliques is not None:
            raise CapabilityError(
                "there are no sums over labellings with cliques. What works: argmax, solve, and "
                "the learners that need only these (perceptron, structured SVM)"
            )
        warnings.warn(
            "the treewidth is too large for exact sums: loopy message passing gives approximate "
            "marginals, and Bethe's approximation of the log-partition",
            InexactInferenceWarning,
            stacklevel=4,
        )
        return loopy_sums(model, temperature, self.damping)

    @holds_interpreter
    def sample(
        self, n: int, *, temperature: float = 1.0, random_state: Any = None, **scores: Any
    ) -> Any:
        """Draw n outputs from P(y) ∝ exp(score(y)/ε); needs a small treewidth."""
        check_temperature(temperature)
        model = self._model(self._read(scores))
        if temperature == 0:
            return np.array([self.argmax(**scores)] * n)
        plan = model.elimination
        if plan is None:
            raise CapabilityError(
                "the treewidth is too large for exact samples. What works: argmax, solve, and "
                "approximate marginals"
            )
        value, conditionals = plan.sums(model.label, model.tables, float(temperature))
        if value == -math.inf:
            raise nothing_legal()
        drawn = plan.sample(conditionals, float(temperature), n, seed_of(random_state))
        return np.array([self._shaped(y, model) for y in drawn])

    @holds_interpreter
    def count(self, **scores: Any) -> Any:
        """Return the number of labellings with a finite score; needs a small treewidth."""
        model = self._model(self._read(scores))
        if model.elimination is not None:
            return model.elimination.count(model.label, model.tables)
        if not np.isneginf(model.label).any() and not np.isneginf(model.tables).any():
            return model.n_labels**model.n_nodes
        raise CapabilityError("the treewidth is too large to count labellings with forbidden parts")

    def _entropy(
        self, theta: dict[str, Any], topology: Mapping[str, Any], temperature: float
    ) -> float:
        scores = centred(theta, {"label": 1, "edge": 2, "right": 2, "down": 2})
        return self._sums(self._model({**scores, **topology}), temperature)[3]

    def _others(
        self, y: Any, theta: Parts, topology: Mapping[str, Any]
    ) -> Iterator[dict[str, Any]]:
        if not self.sums_are_exact(**theta, **topology):
            raise CapabilityError(
                "the treewidth is too large for exact sums over all labellings but one"
            )
        return differing_labels(theta, "label", self._labels(y, theta))

    # -- outputs and parts ----------------------------------------------------------------------

    def _labels(self, y: Any, theta: Mapping[str, Any]) -> Integers:
        """Return an output as a row of labels, checked."""
        *sites, n_labels = theta["label"].shape
        labels = np.asarray(y)
        if labels.shape != tuple(sites):
            raise ValueError(f"the output has shape {labels.shape}, the labels {tuple(sites)}")
        if not np.issubdtype(labels.dtype, np.integer):
            raise ValueError(f"labels must be whole numbers, got dtype {labels.dtype}")
        if not (labels.min() >= 0 and labels.max() < n_labels):
            raise ValueError(f"labels must be among 0..{n_labels - 1}")
        return np.ascontiguousarray(labels, dtype=np.int64).ravel()

    def encode(self, y: Any, **scores: Any) -> Any:
        """Return μ(y): the counts of the output's parts, one array per block."""
        theta = self._read(scores)
        return self._summed(self._encoded(y, theta), theta)

    def encode_by_position(self, y: Any, **scores: Any) -> Parts:
        """Return μ(y) with one copy of shared blocks per position."""
        return self._encoded(y, self._read(scores))

    def _encoded(self, y: Any, theta: dict[str, Any]) -> Parts:
        model = self._model(theta)
        labels = self._labels(y, theta)
        node = np.zeros((model.n_nodes, model.n_labels))
        node[np.arange(model.n_nodes), labels] = 1.0
        first, second = model.edges.T
        pair = np.zeros((len(first), model.n_labels, model.n_labels))
        pair[np.arange(len(first)), labels[first], labels[second]] = 1.0
        return self._spread(node, pair, theta)

    def _summed(self, parts: Parts, theta: Mapping[str, Any]) -> Parts:
        """Return the counts in the shapes of the scores: those of a shared block are summed."""
        summed: Parts = {}
        for name, counts in parts.items():
            extra = counts.ndim - theta[name].ndim
            summed[name] = np.asarray(counts.sum(axis=tuple(range(extra))) if extra else counts)
        return summed

    def decode(self, parts: Any) -> Any:
        """Return the labels whose counts are one, from the ``label`` block; a list for a list."""
        label = part_of(parts, "label")
        if not (np.isin(label, (0.0, 1.0)).all() and (label.sum(axis=-1) == 1).all()):
            raise ValueError(
                "these parts are not an output: each node must have exactly one label of count 1"
            )
        labels: Integers = label.argmax(axis=-1)
        return labels

    def score(self, y: Any, **scores: Any) -> Any:
        """Return the score of y, −∞ if a part of it is forbidden; a list for a batch."""
        theta = self._read(scores)
        return self._model(theta).native.score(self._labels(y, theta))

    def outputs(self, **scores: Any) -> Iterator[Integers]:
        """Iterate over all K^N labellings."""
        *sites, n_labels = np.shape(scores["label"])
        n = math.prod(sites)
        if n * math.log(n_labels) > math.log(_MOST_ENUMERATED) + 1e-9:
            raise CapabilityError(f"{n_labels}^{n} labellings are too many to enumerate")
        for y in itertools.product(range(n_labels), repeat=n):
            yield np.array(y, dtype=np.int64).reshape(sites)
