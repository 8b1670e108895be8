"""Problems of a structure over rows of features, made by the estimators from X and y."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from ..array_types import Vector
from ..features.rows import Examples
from ..losses.costs import Cost
from ..scoring.cone import WeightCone
from ..scoring.layout import WeightLayout
from ..structures.base import Structure
from ..structures.beam import BeamSearch
from ..structures.native import NativeStructure
from ..structures.parts import unflatten_values
from ..threads import n_threads, warn_of_one_thread
from .approximate_inference import LIKELIHOODS
from .cost_parts import cost_parts
from .gold import GoldOutputs
from .gold_parts import gold_parts, refuse_forbidden
from .inexact import Inexact
from .parts import PartVector, Shaped
from .problem import Problem
from .python_inference import PythonInference
from .reader import OutputReader

#: Held while one thread computes a value that others wait for.
_MAKING = threading.RLock()
#: The number of examples scored at once for a structure that predicts in batches.
_BATCH = 1024


class ArrayProblem(Problem):
    """A learning problem over a structure and rows of features.

    Parameters
    ----------
    structure : Structure
        The structure of the outputs.
    examples : Examples
        Feature rows.
    layout : WeightLayout
        The existing weights.
    gold : GoldOutputs, optional
        Without it the problem can only score and predict.
    cost : Cost, optional
        Required if there is a margin.
    sample_weight : array, optional
        One weight ≥ 0 per example; multiplies its loss.
    label_names : array, optional
        Names of the labels, for costs that weight positions by label.
    cone : WeightCone, optional
        Linear inequalities that the weights must satisfy.
    likelihood : {"exact", "pseudo", "loopy"}
        How losses at ε > 0 are computed: by sums over outputs, or an approximation
        (:mod:`~structlearn.problem.approximate_inference`).
    known_parts : dict, optional
        The gold parts (:func:`~structlearn.problem.gold_parts.gold_parts`), if already computed.
    """

    def __init__(
        self,
        structure: Structure,
        examples: Examples,
        layout: WeightLayout,
        gold: GoldOutputs | None = None,
        cost: Cost | None = None,
        sample_weight: Vector | None = None,
        label_names: npt.NDArray[Any] | None = None,
        cone: WeightCone | None = None,
        likelihood: str = "exact",
        known_parts: dict[str, Any] | None = None,
    ) -> None:
        self.structure = structure
        self.name = type(structure).__name__
        self.examples = examples
        self.layout = layout
        self._gold = gold
        self._fill_gold: Callable[[], GoldOutputs] | None = None
        self.cost = cost
        self.label_names = label_names
        #: Blocks with one site per example, stored without an axis for it.
        self._siteless = {n for n, block in structure.blocks(1).items() if block.boundary}
        if examples.single_site:
            self._siteless.add(structure.label_block)
        self._check_sites()
        super().__init__(None, sample_weight=sample_weight, cone=cone, likelihood=likelihood)
        self.zero_one_cost = cost is not None and cost.zero_one
        self._specs: list[dict[str, Any]] = []
        self._gold_spec = known_parts
        self._cost_spec: dict[str, Any] = {}

    @property
    def native(self) -> Any:
        """The argument of the core's loops; built when first used.

        Tasks with their own passes never need it.
        """
        if self._native is None:
            with _MAKING:
                if self._native is None:
                    self._native = self._make_native()
        return self._native

    def _make_native(self) -> Any:
        examples, gold = self.examples, self._gold
        self._specs = self.layout.specification(examples)
        self._inference = self._make_inference()
        core = _core.Problem(
            self._inference,
            examples.n,
            self.layout.n_weights,
            self._specs,
            self._topology_specification(),
        )
        if gold is None:
            self._gold_spec = {}
            return core
        if self._gold_spec is None:
            self._gold_spec = gold_parts(self, core, gold)
        refuse_forbidden(self, self._gold_spec)
        self._cost_spec = cost_parts(self, core, gold, self.cost)
        return core.labelled(self._inference, self._gold_spec, self._cost_spec, self.sample_weight)

    @property
    def n_examples(self) -> int:
        """Number of examples."""
        return self.examples.n

    @property
    def n_weights(self) -> int:
        """Number of weights."""
        return self.layout.n_weights

    @property
    def inexact(self) -> Inexact:
        """The number of inexact inference calls so far."""
        return Inexact(0, 0) if self._native is None else super().inexact

    def relaxed(self) -> Problem | None:
        """Return the problem without automata if their product is large."""
        structure: Any = self.structure
        if not hasattr(structure, "certified_to"):  # only products with automata have it
            return None
        states = prod(len(automaton.accepting) for automaton in structure.automata)
        if states <= structure.max_states or any(self.examples.topology):
            return None
        return self._of(structure.free())

    def certified(self, tolerance: float) -> Problem:
        """Return the same problem with its sums certified to this relative tolerance."""
        structure: Any = self.structure
        if not hasattr(structure, "certified_to"):  # only products with automata have it
            return self
        return self._of(structure.certified_to(tolerance))

    def _of(self, structure: Structure) -> ArrayProblem:
        """Return the same problem over another structure with the same parts."""
        other = copy.copy(self)
        other.structure, other._native = structure, None
        return other

    @property
    def native_structure(self) -> NativeStructure | None:
        """The structure, if the core does its inference."""
        structure = self.structure
        native = isinstance(structure, NativeStructure) and structure.native is not None
        return structure if native else None  # type: ignore[return-value]

    def _make_inference(self) -> Any:
        if self.native_structure is not None and self.likelihood not in LIKELIHOODS:
            return self.structure.native
        behind = LIKELIHOODS.get(self.likelihood, PythonInference)(self)
        gold = None
        if self.likelihood == "pseudo" and self.gold is not None:
            gold = self.gold.ptr, self.gold.labels
        return self.structure.core_inference(behind, self.likelihood, gold) or behind

    def _topology_specification(self) -> dict[str, Any]:
        """Return the topology of the examples, for the core."""
        native = self.native_structure
        if native is not None:
            pair = native.topology_rows(self.examples.topology)
            return {} if pair is None else {"ptr": pair[0], "value": pair[1]}
        labels = self.examples.blocks.get(self.structure.label_block)
        if labels is None:
            return {}
        topology = self.examples.topology
        sites = [labels.sites(i) for i in range(self.examples.n)]
        alike = not any(topology) and len(set(sites)) <= 1
        rows = [
            self.structure.core_topology(topology[i] if topology else {}, sites[i])
            for i in range(min(1, self.examples.n) if alike else self.examples.n)
        ]
        if not rows or rows[0] is None:
            return {}
        if alike:
            return {"value": rows[0]}
        ptr = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
        return {"ptr": ptr, "value": np.concatenate(rows)}

    def specification(self) -> dict[str, Any]:
        """Return the arguments of the core, features, gold parts and costs, as plain arrays."""
        options: dict[str, Any] = {}
        native = self.native
        if self.cone is not None:
            options["cone"] = [self.cone.ptr, self.cone.index, self.cone.value]
        if self.likelihood != "exact":
            options["likelihood"] = self.likelihood
        return {
            **options,
            "structure": self.structure,
            "n_weights": native.n_weights,
            "blocks": self._specs,
            "sites": {name: rows.site_shapes for name, rows in self.examples.blocks.items()},
            "topology": self.examples.topology,
            "gold": self._gold_spec,
            "cost": self._cost_spec,
            "sample_weight": self.sample_weight,
        }

    @property
    def one_outcome_each(self) -> bool:
        """Whether an output has one outcome per site, with no sites besides those of labels."""
        present = self.layout.present()
        return len(present) == 1 or all(
            block.outcomes for name, block in self.structure.blocks(1).items() if name in present
        )

    def _check_sites(self) -> None:
        """Refuse features for too many or too few sites: the core does not check them."""
        structure = self.structure
        block = structure.label_block
        labels = self.examples.blocks.get(block)
        if not isinstance(structure, NativeStructure) or labels is None or self.single_site:
            return
        present = self.layout.present()
        blocks = [n for n, b in present.items() if not b.shared and n != block]
        if not blocks and labels.site_shapes is None:
            return
        for i in range(self.examples.n):
            shape = labels.sites(i)
            if len(shape) + 1 != structure._label_rank:
                raise ValueError(f"example {i}: {block} has sites of shape {shape}, not a sequence")
            scores = {block: Shaped((*shape, 1))}
            for name in blocks:
                positions = structure._positions(name, scores)
                expected = prod(positions[: len(positions) - len(present[name].outcomes)])
                actual = prod(self.examples.blocks[name].sites(i))
                if actual != expected:
                    raise ValueError(
                        f"example {i}: {name} has features for {actual} places, "
                        f"the structure has {expected}"
                    )

    @property
    def gold(self) -> GoldOutputs | None:
        """The gold outputs; those of a completed problem are computed on demand."""
        if self._fill_gold is not None:
            self._gold, self._fill_gold = self._fill_gold(), None
        return self._gold

    # -- sizes and scores -----------------------------------------------------------------------

    def shapes(self, i: int) -> dict[str, tuple[int, ...]]:
        """Return the shape of each block of example i."""
        shapes = {}
        for name, block in self.layout.present().items():
            sites = () if block.shared else self.examples.blocks[name].sites(i)
            if name in self._siteless:
                sites = ()
            shapes[name] = (*sites, *block.outcomes)
        return shapes

    @property
    def single_site(self) -> bool:
        """Whether an example is one site, as in multiclass classification."""
        return self.examples.single_site

    def scores(self, i: int, w: Vector) -> dict[str, Any]:
        """Return θ = A_i w by block, with the example's topology: the arguments of a structure."""
        return self.as_arguments(i, self.native.score(i, w))

    def scores_between(self, begin: int, end: int, w: Vector) -> list[dict[str, Any]]:
        """Return the scores of neighbouring examples, in one call of the core."""
        scores = self.native.scores_between(begin, end, w)
        return [self.as_arguments(i, theta) for i, theta in enumerate(scores, begin)]

    def as_arguments(self, i: int, theta: Vector) -> dict[str, Any]:
        """Return a flat vector over the parts of example i as keyword arguments by block."""
        blocks = unflatten_values(theta, Shaped.of(self.shapes(i)))
        if self.examples.topology:
            return {**blocks, **self.examples.topology[i]}
        return dict(blocks)

    # -- unknown labels -------------------------------------------------------------------------

    def completed(
        self,
        w: Vector,
        temperature: float,
        *,
        sample_weight: Vector | None = None,
        n_jobs: int | None = None,
    ) -> Problem:
        """Return the same problem with the unknown labels filled in; features are shared.

        Its losses are infer(θ + γc, ε) + γc₀ − ⟨p_clamp, θ⟩ with p_clamp fixed, that of the weights
        w: convex, and, up to one constant per example, an upper bound of the original losses that
        touches them at w. At ε = 0 p_clamp is the best output that the labels allow; above it holds
        the marginals over all of them (``soft_gold``), while ``gold`` has the best one. The cost is
        unchanged: unknown labels cost nothing.

        Parameters
        ----------
        sample_weight : array, optional
            Replaces the examples' weights.
        """
        w = w.copy()
        completion = _core.complete_all(self.native, w, float(temperature), n_threads(n_jobs))
        ptr, part, value = completion
        whole = temperature == 0 and bool((value == np.rint(value)).all())
        if whole and (value > 0).all():  # repeat parts by their counts; Potts terms count −1
            counts = np.concatenate(([0], np.cumsum(value)))
            ptr = counts[ptr].astype(np.int64)
            part, value = np.repeat(part, value.astype(np.int64)), np.ones(0)
        native = self.native
        twin = copy.copy(self)
        twin._fill_gold = lambda: self._completed_gold(w)
        spec = {"ptr": ptr, "part": part}
        twin.soft_gold = not whole
        if len(value):
            spec["value"] = value
        if sample_weight is not None:
            twin.sample_weight = sample_weight
        twin._inference = twin._make_inference()
        twin._gold_spec = spec
        twin._native = native.labelled(twin._inference, spec, self._cost_spec, twin.sample_weight)
        return twin

    def random_weights(self, rng: np.random.Generator) -> Vector:
        """Return standard normal weights, 0 for the padding of rows."""
        w = rng.normal(size=self.n_weights)
        for block in self.layout.present().values():
            if block.real is not None:
                w[block.offset : block.offset + block.size][block.real == 0] = 0.0
        return w

    def _completed_gold(self, w: Vector) -> GoldOutputs:
        """Return the gold outputs, with unknown labels set to the best ones allowed."""
        gold = self.gold
        assert gold is not None
        ptr, part, value = _core.complete_all(self.native, w, 0.0, 1)
        outputs, labels = list(gold.outputs), gold.labels.copy()
        for i in np.flatnonzero(gold.partial).tolist():
            at = slice(ptr[i], ptr[i + 1])
            dense = PartVector(part[at], value[at]).dense(self.native.parts(i))
            y = self.structure.decode(unflatten_values(dense, Shaped.of(self.shapes(i))))
            outputs[i] = y
            labels[gold.ptr[i] : gold.ptr[i + 1]] = self.structure.labels_of(y)
        return GoldOutputs(outputs, labels, gold.ptr)

    # -- prediction -----------------------------------------------------------------------------

    @property
    def has_beam(self) -> bool:
        """Whether the structure can be searched with a beam."""
        return isinstance(self.structure, BeamSearch)

    def argmax_all(
        self, w: Vector, n_jobs: int | None = None, beam: int | None = None
    ) -> list[Any]:
        """Return the best output of every example, labels as indices; with a beam, its best one."""
        native = self.native_structure
        if not self.native.gives_rows:
            outputs: list[Any] = []
            for begin in range(0, self.n_examples, _BATCH):
                batch = self.scores_between(begin, min(begin + _BATCH, self.n_examples), w)
                columns = {name: [scores[name] for scores in batch] for name in batch[0]}
                if beam and isinstance(self.structure, BeamSearch):
                    solutions = self.structure.beam(beam, n_jobs=n_jobs, **columns)
                    outputs += [solution.output for solution in solutions]
                else:
                    outputs += self.structure.argmax(n_jobs=n_jobs, **columns)
            return outputs
        flat, ptr = self.native.argmax_all(w, n_threads(n_jobs), int(beam or 0))
        if native is None:
            labels = self.examples.blocks[self.structure.label_block]
            return [
                self.structure.from_core(flat[ptr[i] : ptr[i + 1]], labels.sites(i))
                for i in range(self.n_examples)
            ]
        block = self.layout.blocks[native.label_block]
        assert block is not None
        return native._read_outcomes(flat, ptr, block.outcomes)

    def output_reader(self) -> OutputReader:
        """Return a reader of outputs from differences to the gold ones, without this problem."""
        assert self.gold is not None
        shapes = [self.shapes(i) for i in range(self.n_examples)]
        topology = list(self.examples.topology) if self.examples.topology else None
        return OutputReader(self.structure, self.gold.outputs, shapes, topology)

    def check_threads(self, n_jobs: int | None) -> None:
        """Warn if ``n_jobs`` requests threads but inference runs on one."""
        if n_threads(n_jobs) > 1 and not self.native.threads_allowed:
            warn_of_one_thread(self.name, n_jobs, stacklevel=4)
