"""Enumeration: every query computed from the list of all outputs; the test oracle."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ..array_types import Array
from ..exceptions import InfeasibleError
from .base import Structure
from .canonical import canonical
from .chains.chain import Chain
from .checks import nothing_legal, seed_of
from .entropies import entropy_of_choices
from .multiclass import Multiclass
from .parts import Block, Parts, flatten, unflatten_values
from .solution import Solution


class Exhaustive(Structure):
    """A structure given by the list of its outputs; O(number of outputs) per query.

    Parameters
    ----------
    outputs : iterable, callable or Structure
        The outputs; or a function from the scores to the outputs (if they depend on the length of
        the input); or a structure, whose outputs are then enumerated.
    structure : Structure, optional
        Gives the parts of an output (``encode``). Without it, outputs that are ints have the parts
        of :class:`Multiclass` and sequences those of a first-order :class:`Chain`.

    Examples
    --------
    >>> import itertools, numpy as np
    >>> U, T = np.array([[0., 1.], [2., 0.]]), np.array([[0., 3.], [0., 0.]])
    >>> oracle = Exhaustive(itertools.product(range(2), repeat=2))
    >>> oracle.argmax(label=U, transition=T)
    (0, 1)
    """

    method = "enumeration"

    def __init__(
        self,
        outputs: Iterable[Any] | Callable[..., Iterable[Any]] | Structure,
        structure: Structure | None = None,
    ) -> None:
        if isinstance(outputs, Structure):
            structure = structure or outputs
            self._outputs: Callable[..., Iterable[Any]] = outputs.outputs
        elif callable(outputs):
            self._outputs = outputs
        else:
            fixed = list(outputs)
            if not fixed:
                raise ValueError("Exhaustive needs at least one output")
            if structure is None:
                structure = Multiclass() if np.ndim(fixed[0]) == 0 else Chain()
            self._outputs = _Listed(fixed)
        if structure is None:
            structure = Chain()
        self.structure = structure
        self.topology = structure.topology
        self.has_labels = structure.has_labels
        self.label_block = structure.label_block

    def blocks(self, n_labels: int) -> dict[str, Block]:
        """Return the blocks of the underlying structure."""
        return self.structure.blocks(n_labels)

    def labels_of(self, y: Any) -> list[Any]:
        """Return the labels of an output, by the underlying structure."""
        return self.structure.labels_of(y)

    def relabel(self, y: Any, labels: Any) -> Any:
        """Return the output with other labels."""
        return self.structure.relabel(y, labels)

    def empty_output(self, labels: Any) -> Any:
        """Return the output for an input without positions; None: inputs are never empty."""
        return self.structure.empty_output(labels)

    def label_costs(self, costs: Array, **scores: Any) -> Parts:
        """Return the cost of each part, by the underlying structure."""
        return self.structure.label_costs(costs, **scores)

    def allowed(self, y: Any, shape: tuple[int, ...]) -> npt.NDArray[np.bool_]:
        """Return which parts of the label block an output with unknown labels may use."""
        return self.structure.allowed(y, shape)

    def encode(self, y: Any, **scores: Any) -> Parts:
        """Return μ(y)."""
        return self.structure.encode(y, **scores)

    def decode(self, parts: Mapping[str, Any]) -> Any:
        """Return the output whose parts these are."""
        return self.structure.decode(parts)

    def outputs(self, **scores: Any) -> Iterator[Any]:
        """Iterate over the outputs."""
        return iter(self._outputs(**scores))

    def _scores(self, scores: Mapping[str, Any]) -> Parts:
        """Return the scores as arrays, read by the underlying structure."""
        return self.structure._scores(scores)

    def _table(self, given: Mapping[str, Any]) -> tuple[list[Any], Array, Any]:
        """Return the outputs, their scores, and their counts as the rows of a matrix."""
        theta, topology = self._scores(given), self._topology(given)
        outputs = list(self._outputs(**theta, **topology))
        if not outputs:
            raise nothing_legal()
        rows = []
        for y in outputs:
            counts = self.structure.encode(y, **theta, **topology)
            rows.append(flatten({name: counts[name] for name in theta}))
        matrix = np.array(rows)
        values = flatten(theta)
        finite = np.where(np.isfinite(values), values, 0.0)
        scores = matrix @ finite
        scores[(matrix[:, ~np.isfinite(values)] > 0).any(axis=1)] = -np.inf
        return outputs, scores, matrix

    def argmax(self, **scores: Any) -> Any:
        """Return the best output; the first one in case of a tie."""
        return self.solve(**scores).output

    def solve(self, **scores: Any) -> Any:
        """Return the best output with its value."""
        outputs, values, _ = self._table(scores)
        best = int(np.argmax(values))
        if values[best] == -math.inf:
            raise nothing_legal()
        value = float(values[best])
        return Solution(outputs[best], value, True, value, self.method)

    def infer(self, *, temperature: float = 1.0, **scores: Any) -> Any:
        """Return (ε log Σ exp(score/ε), its gradient), by summation."""
        theta = self._scores(scores)
        _, values, matrix = self._table(scores)
        value, p = _softmax(values, temperature)
        return value, unflatten_values(p @ matrix, theta)

    def marginals(self, *, temperature: float = 1.0, **scores: Any) -> Any:
        """Return the probability of each part, position by position if the structure can."""
        outputs, values, _ = self._table(scores)
        _, p = _softmax(values, temperature)
        total: Parts = {}
        for y, weight in zip(outputs, p, strict=True):
            for name, counts in self.structure.encode_by_position(y, **scores).items():
                total[name] = total.get(name, 0.0) + weight * counts
        return total

    def kbest(self, n: int, **scores: Any) -> Any:
        """Return up to n legal outputs as (score, output), best first."""
        outputs, values, _ = self._table(scores)
        order = np.argsort(-values, kind="stable")
        best = [(float(values[i]), outputs[i]) for i in order[:n] if values[i] > -math.inf]
        if not best:
            raise nothing_legal()
        return best

    def sample(
        self, n: int, *, temperature: float = 1.0, random_state: Any = None, **scores: Any
    ) -> Any:
        """Draw n outputs from P(y) ∝ exp(score(y)/ε)."""
        outputs, values, _ = self._table(scores)
        _, p = _softmax(values, temperature)
        rng = np.random.default_rng(seed_of(random_state))
        return [outputs[i] for i in rng.choice(len(outputs), size=n, p=p)]

    def infer_others(
        self, y: Any, *, temperature: float = 1.0, **scores: Any
    ) -> tuple[float, Parts]:
        """Return (ε log Σ exp(score/ε), its gradient by block) over all outputs but y."""
        theta = self._scores(scores)
        outputs, values, matrix = self._table(scores)
        rivals = [i for i, z in enumerate(outputs) if canonical(z) != canonical(y)]
        if not rivals or values[rivals].max() == -math.inf:
            return -math.inf, {}
        value, p = _softmax(values[rivals], temperature)
        return value, unflatten_values(p @ matrix[rivals], theta)

    def _entropy(
        self, theta: dict[str, Any], topology: Mapping[str, Any], temperature: float
    ) -> float:
        _, p = _softmax(self._table({**theta, **topology})[1], temperature)
        return entropy_of_choices(p[np.newaxis])

    def count(self, **scores: Any) -> Any:
        """Return the number of outputs with a finite score."""
        return int(np.isfinite(self._table(scores)[1]).sum())

    def __repr__(self) -> str:
        return f"Exhaustive(structure={self.structure!r})"


class _Listed:
    """The same outputs for every input; a class, so that it can be pickled."""

    def __init__(self, outputs: list[Any]) -> None:
        self.outputs = outputs

    def __call__(self, **scores: Any) -> list[Any]:
        return self.outputs


def _softmax(values: Array, temperature: float) -> tuple[float, Array]:
    top = values.max()
    if top == -math.inf:
        raise InfeasibleError("no legal output is left: every output scores -inf")
    if temperature == 0:
        p = np.zeros(len(values))
        p[int(np.argmax(values))] = 1.0
        return float(top), p
    weights = np.exp((values - top) / temperature)
    return float(top + temperature * np.log(weights.sum())), weights / weights.sum()
