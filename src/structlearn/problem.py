"""Examples, gold outputs and a cost as one object: all that a learner sees.

A learner needs four operations — infer(i, w, γ, ε), scatter(i, v, a): w += a·A_iᵀv, dot(i, θ, v),
sqnorm(i, v) = ‖A_iᵀv‖² — and, for batch methods, the sum of losses with its gradient. It knows
neither the structure nor the features.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from .features.rows import Examples
from .losses.costs import Cost
from .scoring.layout import WeightLayout
from .structures.base import Parts, Structure, flatten, unflatten_values
from .structures.beam import BeamSearch, find_violation
from .structures.native import NativeStructure, n_threads

__all__ = ["GoldOutputs", "PartVector", "Problem"]

Vector = npt.NDArray[np.float64]


@dataclass
class PartVector:
    """A vector over the parts of one example, flat in the order of the blocks.

    Attributes
    ----------
    index : uint32 array or None
        The parts that have a value, repeats allowed; None where every part has one.
    value : float64 array
        Their values.
    """

    index: npt.NDArray[np.uint32] | None
    value: Vector

    def dense(self, n_parts: int) -> Vector:
        """Return one value a part."""
        if self.index is None:
            return self.value
        dense = np.zeros(n_parts)
        np.add.at(dense, self.index, self.value)
        return dense


@dataclass
class GoldOutputs:
    """Gold outputs in terms of label indices.

    Attributes
    ----------
    outputs : sequence
        One output an example, labels replaced by their indices.
    labels, ptr : arrays
        All labels one after another, −1 where unknown; example i owns ``labels[ptr[i]:ptr[i+1]]``.
    """

    outputs: Sequence[Any]
    labels: npt.NDArray[np.int64]
    ptr: npt.NDArray[np.int64]

    @property
    def partial(self) -> npt.NDArray[np.bool_]:
        """Which examples have unknown labels."""
        unknown = np.concatenate(([0], np.cumsum(self.labels < 0)))
        return np.asarray(unknown[self.ptr[1:]] > unknown[self.ptr[:-1]])


class Problem:
    """A learning problem.

    Parameters
    ----------
    structure : Structure
        What the outputs are.
    examples : Examples
        Feature rows.
    layout : WeightLayout
        Which weights exist.
    gold : GoldOutputs, optional
        Without it the problem can score and predict, not learn.
    cost : Cost, optional
        Needed where a margin is.
    sample_weight : array, optional
        A weight ≥ 0 an example; multiplies its loss.
    label_names : array, optional
        Names of the labels, for costs that weigh positions by them.
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
    ) -> None:
        self.structure = structure
        self.examples = examples
        self.layout = layout
        self.gold = gold
        self.cost = cost
        self.sample_weight = sample_weight
        self._label_names = label_names
        self._check_sites()
        self._specs = layout.specification(examples)
        self._inference = structure.native or PythonInference(self)
        self._core = self._build({}, {})
        if gold is not None:
            gold_spec = self._gold_specification(gold)
            self._core = self._build(gold_spec, {})
            self._check_gold(gold_spec)
            self._core = self._build(gold_spec, self._cost_specification(gold, cost))

    @property
    def _native(self) -> NativeStructure | None:
        """The structure, where the core does its inference."""
        structure = self.structure
        native = isinstance(structure, NativeStructure) and structure.native is not None
        return structure if native else None  # type: ignore[return-value]

    def _build(self, gold: dict[str, Any], cost: dict[str, Any]) -> Any:
        return _core.Problem(
            self._inference,
            self.examples.n,
            self.layout.n_weights,
            self._specs,
            gold,
            cost,
            self.sample_weight,
        )

    def _check_sites(self) -> None:
        """Refuse features for more or fewer sites than the structure has: the core trusts them."""
        structure = self.structure
        block = structure.label_block
        labels = self.examples.blocks.get(block)
        if not isinstance(structure, NativeStructure) or labels is None or self.single_site:
            return
        present = self.layout.present()
        others = [n for n, b in present.items() if not b.shared and n != block]
        if not others and labels.site_shapes is None:
            return
        for i in range(self.n_examples):
            shape = labels.sites(i)
            if len(shape) + 1 != structure._label_rank:
                raise ValueError(f"example {i}: {block} has sites of shape {shape}, not a sequence")
            scores = {block: _Shaped((*shape, 1))}
            for name in others:
                positions = structure._positions(name, scores)
                expected = prod(positions[: len(positions) - len(present[name].outcomes)])
                found = prod(self.examples.blocks[name].sites(i))
                if found != expected:
                    raise ValueError(
                        f"example {i}: {name} has features for {found} places, "
                        f"the structure has {expected}"
                    )

    # -- sizes and scores -----------------------------------------------------------------------

    @property
    def n_examples(self) -> int:
        """Number of examples."""
        return self.examples.n

    @property
    def n_weights(self) -> int:
        """Number of weights."""
        return self.layout.n_weights

    @staticmethod
    def threads(n_jobs: int | None) -> int:
        """Return how many threads ``n_jobs`` asks for."""
        return n_threads(n_jobs)

    def shapes(self, i: int) -> dict[str, tuple[int, ...]]:
        """Return the shape of each block of example i."""
        shapes = {}
        for name, block in self.layout.present().items():
            sites = () if block.shared else self.examples.blocks[name].sites(i)
            if (name == "label" and self.single_site) or name in ("start", "end"):
                sites = ()  # one site, without an axis
            shapes[name] = (*sites, *block.outcomes)
        return shapes

    @property
    def single_site(self) -> bool:
        """Whether an example is one site, as in multiclass classification."""
        return self.examples.single_site

    def scores(self, i: int, w: Vector) -> dict[str, Any]:
        """Return θ = A_i w by block, with the example's topology: the arguments of a structure."""
        return self.as_arguments(i, self._core.score(i, w))

    def as_arguments(self, i: int, theta: Vector) -> dict[str, Any]:
        """Return a flat vector over the parts of example i as keyword arguments by block."""
        blocks = unflatten_values(theta, _Shaped.of(self.shapes(i)))
        if self.examples.topology:
            return {**blocks, **self.examples.topology[i]}
        return dict(blocks)

    # -- the four operations --------------------------------------------------------------------

    def infer(
        self, i: int, w: Vector, margin: float, temperature: float
    ) -> tuple[float, PartVector]:
        """Return infer(θ + γc, ε) of example i: its value (without c₀) and p."""
        value, (index, p) = self._core.infer(i, w, float(margin), float(temperature))
        return value, PartVector(index, p)

    def scatter(self, i: int, v: PartVector, a: float, w: Vector) -> None:
        """Add a · A_iᵀ v to w, in place."""
        self._core.scatter(i, v.index, v.value, float(a), w)

    def dot(self, theta: Vector, v: PartVector) -> float:
        """Return ⟨θ, v⟩ for flat scores θ, with 0 · −∞ = 0."""
        picked = theta if v.index is None else theta[v.index]
        used = v.value != 0
        return float(np.dot(picked[used], v.value[used]))

    def sqnorm(self, i: int, v: PartVector) -> float:
        """Return ‖A_iᵀ v‖², features that repeat inside the example added up first."""
        return float(self._core.sqnorm(i, v.index, v.value))

    # -- losses ---------------------------------------------------------------------------------

    def loss(
        self, i: int, w: Vector, margin: float, temperature: float
    ) -> tuple[float, PartVector]:
        """Return the loss of example i (its weight not multiplied in) and p − p_clamp."""
        value, (index, r) = self._core.loss(i, w, float(margin), float(temperature))
        return value, PartVector(index, r)

    def total_loss(
        self,
        w: Vector,
        margin: float,
        temperature: float,
        *,
        gradient: bool = True,
        out: Vector | None = None,
        n_jobs: int | None = None,
    ) -> tuple[float, Vector | None]:
        """Return Σ_i weight_i · L_i(w) and its gradient; the same bits for any thread count.

        Parameters
        ----------
        gradient : bool
            Whether to compute the gradient; None is returned in its place otherwise.
        out : array of shape (n_weights,), optional
            Where to write the gradient, instead of new memory.
        """
        if gradient and out is None:
            out = np.empty(self.n_weights)
        value, _ = self._total(w, margin, temperature, out if gradient else None, n_jobs)
        return value, out if gradient else None

    def total_cost(
        self,
        w: Vector,
        margin: float,
        temperature: float,
        *,
        out: Vector | None = None,
        n_jobs: int | None = None,
    ) -> tuple[float, float]:
        """Return Σ_i weight_i · L_i(w) and Σ_i weight_i · γ(⟨c_i, p_i⟩ + c₀), gradient in ``out``.

        p is what infer finds: the cost is that of the best output at ε = 0, its mean above.
        """
        return self._total(w, margin, temperature, out, n_jobs)

    def _total(
        self, w: Vector, margin: float, temperature: float, out: Vector | None, n_jobs: int | None
    ) -> tuple[float, float]:
        value, complete, cost = self._core.total(
            np.ascontiguousarray(w, dtype=np.float64),
            float(margin),
            float(temperature),
            out,
            n_threads(n_jobs),
        )
        if not complete:
            raise KeyboardInterrupt
        return value, cost

    def objective(
        self,
        w: Vector,
        *,
        C: float,
        margin: float,
        temperature: float,
        l1: float = 0.0,
        n_jobs: int | None = None,
    ) -> tuple[float, Vector]:
        """Return ½‖w‖² + l1·‖w‖₁ + C·Σ loss and the gradient of its smooth part (without l1)."""
        value, gradient = self.total_loss(w, margin, temperature, n_jobs=n_jobs)
        assert gradient is not None
        total = 0.5 * float(w @ w) + C * value + (l1 * float(np.abs(w).sum()) if l1 else 0.0)
        return total, w + C * gradient

    # -- prediction -----------------------------------------------------------------------------

    @property
    def has_beam(self) -> bool:
        """Whether the structure can be searched with a beam."""
        return isinstance(self.structure, BeamSearch)

    def argmax_all(
        self, w: Vector, n_jobs: int | None = None, beam: int | None = None
    ) -> list[Any]:
        """Return the best output of every example, labels as indices; or what a beam finds."""
        native = self._native
        if native is None and beam and isinstance(self.structure, BeamSearch):
            search = self.structure.beam
            return [search(beam, **self.scores(i, w)).output for i in range(self.n_examples)]
        if native is None:
            return [self.structure.argmax(**self.scores(i, w)) for i in range(self.n_examples)]
        flat, ptr = self._core.argmax_all(w, n_threads(n_jobs), int(beam or 0))
        return native._read(flat, ptr)

    # -- building -------------------------------------------------------------------------------

    def _gold_specification(self, gold: GoldOutputs) -> dict[str, Any]:
        partial = gold.partial
        native = self._native
        if native is not None:
            ptr = gold.ptr
            labels = gold.labels
            if partial.any():  # partial examples have no gold parts, only allowed labels
                keep = np.repeat(~partial, np.diff(ptr))
                sizes = np.where(partial, 0, np.diff(ptr))
                labels, ptr = labels[keep], np.concatenate(([0], np.cumsum(sizes)))
            labels = native._rows(gold.outputs, labels, ptr)
            part_ptr, parts = self._core.encode_all(labels.astype(np.int32), ptr.astype(np.int64))
        else:
            rows: list[npt.NDArray[np.int64]] = []
            for i, y in enumerate(gold.outputs):
                if partial[i]:
                    rows.append(np.empty(0, dtype=np.int64))
                    continue
                scores = self.as_arguments(i, np.zeros(self._core.parts(i)))
                try:
                    counts = self.structure.encode(y, **scores)
                except (ValueError, IndexError) as error:
                    raise ValueError(f"example {i}: {error}") from None
                flat = flatten({name: counts[name] for name in self.shapes(i)})
                used = np.flatnonzero(flat)
                rows.append(np.repeat(used, flat[used].astype(np.int64)))
            part_ptr = np.zeros(len(rows) + 1, dtype=np.int64)
            np.cumsum([len(r) for r in rows], out=part_ptr[1:])
            parts = np.concatenate(rows).astype(np.uint32)
        spec: dict[str, Any] = {"ptr": part_ptr, "part": parts}
        if partial.any():
            spec.update(self._allowed(gold, partial))
        return spec

    def _allowed(self, gold: GoldOutputs, partial: npt.NDArray[np.bool_]) -> dict[str, Any]:
        """Return which labels each site of a partially labelled example may take."""
        pointers = np.full(self.n_examples, -1, dtype=np.int64)
        tables, at = [], 0
        for i in np.flatnonzero(partial).tolist():
            shape = self.shapes(i)[self.structure.label_block]
            try:
                table = self.structure.allowed(gold.outputs[i], shape).astype(np.uint8)
            except ValueError as error:
                raise ValueError(f"example {i}: {error}") from None
            pointers[i] = at
            at += table.size
            tables.append(table.ravel())
        return {"allowed_ptr": pointers, "allowed": np.concatenate(tables)}

    def _check_gold(self, gold: dict[str, Any]) -> None:
        """Refuse a gold output that a mask forbids: no learner could ever reach it."""
        # A mask repeats itself from site to site.
        masks = {n: b.mask.ravel() for n, b in self.layout.present().items() if b.mask is not None}
        if not masks:
            return
        for i in range(self.n_examples):
            used = gold["part"][gold["ptr"][i] : gold["ptr"][i + 1]].astype(np.int64)
            at = 0
            for name, shape in self.shapes(i).items():
                size = prod(shape)
                if name in masks:
                    local = used[(used >= at) & (used < at + size)] - at
                    bad = local[masks[name][local % len(masks[name])] == -np.inf]
                    if len(bad):
                        raise ValueError(f"example {i}: {self._describe(i, at + int(bad[0]))}")
                at += size

    def _describe(self, i: int, part: int) -> str:
        """Say which constraint a gold part breaks."""
        names = self._label_names
        for name, shape in self.shapes(i).items():
            size = int(np.prod(shape))
            if part >= size:
                part -= size
                continue
            block = self.layout.blocks[name]
            assert block is not None
            place = np.unravel_index(part, shape)
            outcome = [int(k) for k in place[len(shape) - len(block.outcomes) :]]
            labels = outcome if names is None else [names[k] for k in outcome]
            text = " -> ".join(map(str, labels))
            position = f" at position {place[0]}" if len(shape) > len(block.outcomes) else ""
            return f"the gold output uses {name} {text}{position}, which a constraint forbids"
        return "a constraint forbids the gold output"

    def _cost_specification(self, gold: GoldOutputs, cost: Cost | None) -> dict[str, Any]:
        if cost is None:
            return {}
        if cost.zero_one:
            if gold.partial.any():
                i = int(np.flatnonzero(gold.partial)[0])
                raise ValueError(f"example {i}: the zero-one cost needs every label")
            return {"zero_one": True}
        block = self.layout.blocks.get(self.structure.label_block)
        table = None
        if self.structure.has_labels and block is not None:
            table = cost.label_table(block.outcomes[-1])
        if table is None:
            return self._cost_by_parts(
                lambda i, scores: cost.parts(self.structure, gold.outputs[i], **scores)
            )
        weights = self._site_weights(gold, cost) if cost.weighs_sites else None
        if not self.examples.blocks[self.structure.label_block].inner:
            spec: dict[str, Any] = {
                "delta": np.ascontiguousarray(table),
                "label": gold.labels.astype(np.int32),
            }
            return spec if weights is None else {**spec, "site_weight": weights}

        # A site is more than one label: the structure says what labels make of it.
        def spread(i: int, scores: dict[str, Any]) -> tuple[Parts, float]:
            at = slice(gold.ptr[i], gold.ptr[i + 1])
            labels = gold.labels[at]
            costs = np.where((labels >= 0)[:, np.newaxis], table[labels], 0.0)
            if weights is not None:
                costs *= weights[at, np.newaxis]
            return self.structure.label_costs(costs, **scores), 0.0

        return self._cost_by_parts(spread)

    def _site_weights(self, gold: GoldOutputs, cost: Cost) -> Vector:
        """Return the weight that a cost gives to each label, by the names of the labels."""
        names = self._label_names
        weights = np.ones(len(gold.labels))
        for i in range(self.n_examples):
            begin, end = gold.ptr[i], gold.ptr[i + 1]
            named = gold.labels[begin:end].tolist()
            if names is not None:
                named = [None if k < 0 else names[k] for k in named]
            weights[begin:end] = cost.site_weights(named, i)
        return weights

    def _cost_by_parts(
        self, cost_of: Callable[[int, dict[str, Any]], tuple[Parts, float]]
    ) -> dict[str, Any]:
        """Return the costs of the parts, from a function of the example and its (zero) scores."""
        ptr, parts, values, constants = [0], [], [], []
        for i in range(self.n_examples):
            c, constant = cost_of(i, self.as_arguments(i, np.zeros(self._core.parts(i))))
            zeros = {name: np.zeros(shape) for name, shape in self.shapes(i).items()}
            flat = flatten({name: np.asarray(c.get(name, z)) for name, z in zeros.items()})
            used = np.flatnonzero(flat)
            parts.append(used.astype(np.uint32))
            values.append(flat[used])
            constants.append(float(constant))
            ptr.append(ptr[-1] + len(used))
        return {
            "ptr": np.array(ptr, dtype=np.int64),
            "part": np.concatenate(parts),
            "value": np.concatenate(values),
            "constant": np.array(constants),
        }


class _Shaped:
    """A shape with a size, for cutting flat vectors without making arrays first."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.size = int(np.prod(shape))

    @staticmethod
    def of(shapes: dict[str, tuple[int, ...]]) -> Any:
        return {name: _Shaped(shape) for name, shape in shapes.items()}


class PythonInference:
    """What the core calls when the structure is written in Python."""

    def __init__(self, problem: Problem) -> None:
        # The core keeps this object and the problem keeps the core: no cycle, please.
        self._problem: Problem = weakref.proxy(problem)

    def infer(self, i: int, theta: Vector, temperature: float) -> tuple[float, Any, Vector]:
        """Return (value, parts or None, values) of infer(θ, ε) for example i."""
        scores = self._problem.as_arguments(i, theta)
        value, p = self._problem.structure.infer(temperature=temperature, **scores)
        return value, *self._flat(i, p, sparse=temperature == 0)

    def runner_up(
        self, i: int, theta: Vector, gold: npt.NDArray[np.uint32]
    ) -> tuple[float, Any, Vector] | None:
        """Return the best output that is not the gold one, as :meth:`infer` does."""
        scores = self._problem.as_arguments(i, theta)
        y = self._problem.structure.decode(self._parts(i, gold))
        found = self._problem.structure.runner_up(y, **scores)
        if found is None:
            return None
        counts = self._problem.structure.encode(found[1], **scores)
        return found[0], *self._flat(i, counts, sparse=True)

    def violation(
        self, i: int, theta: Vector, gold: npt.NDArray[np.uint32], width: int, update_at: str
    ) -> tuple[float, npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
        """Return (amount, parts found, gold parts), a part as often as it counts."""
        structure = self._problem.structure
        assert isinstance(structure, BeamSearch)
        scores = self._problem.as_arguments(i, theta)
        y = structure.decode(self._parts(i, gold))
        found = find_violation(structure, y, width, update_at, scores)
        if found is None:
            return 0.0, np.empty(0, np.uint32), np.empty(0, np.uint32)
        amount, *both = found
        lists = []
        for parts in both:
            used, counts = self._flat(i, parts, sparse=True)
            lists.append(np.repeat(used, counts.astype(np.int64)))
        return amount, lists[0], lists[1]

    def _parts(self, i: int, used: npt.NDArray[np.uint32]) -> Parts:
        shapes = _Shaped.of(self._problem.shapes(i))
        total = sum(s.size for s in shapes.values())
        counts = np.bincount(used, minlength=total).astype(np.float64)
        return unflatten_values(counts, shapes)

    def _flat(self, i: int, p: Parts, *, sparse: bool) -> tuple[Any, Vector]:
        shapes = self._problem.shapes(i)
        wrong = {n: np.shape(p[n]) for n in shapes if n not in p or np.shape(p[n]) != shapes[n]}
        if wrong:
            raise ValueError(f"example {i}: the structure returned parts of shapes {wrong}")
        flat = np.ascontiguousarray(flatten({name: p[name] for name in shapes}), dtype=np.float64)
        if not sparse:
            return None, flat
        used = np.flatnonzero(flat).astype(np.uint32)
        return used, flat[used]
