"""Estimators over strings and dictionaries as native chains, which predict for them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from ..array_types import Vector
from ..exceptions import CapabilityError
from ..features.tokens import TokenEncoder
from ..features.vocabulary import Vocabulary
from ..models.inputs import NativeInputs, Solutions
from ..models.string_chain import StringChain
from ..problem.array_problem import ArrayProblem
from ..scoring.layout import WeightBlock
from ..scoring.rows import SparseWeights
from ..structures.base import Structure
from ..structures.chains.chain import Chain
from .assembly import assemble
from .problem_inputs import ProblemInputs


class ChainInputs(ProblemInputs):
    """Sequences that the core reads and labels in one call.

    Other queries go to the problem, which is built on demand.

    Parameters
    ----------
    chain : _core.StringChain
    X : list of lists of tokens
    structure : Structure
    make : callable
        Makes the problem.
    """

    def __init__(
        self,
        chain: _core.StringChain,
        X: list[Any],
        structure: Structure,
        make: Callable[[], ArrayProblem],
        weights: Vector,
    ) -> None:
        self._lengths = list(map(len, X))
        self._native = NativeInputs(chain.inputs(X), X)
        self._make = make
        self._prepare(structure, len(X), weights, None)

    @cached_property
    def problem(self) -> ArrayProblem:  # type: ignore[override]
        """The examples as a problem, for the other queries."""
        return self._make()

    def sites(self) -> list[int]:
        """Return the number of tokens of each sequence."""
        return self._lengths

    def solve(self, threads: int = 1) -> Solutions:
        """Return the best outputs."""
        flat, ends, values, _ = self._native.core.solve(threads)
        labels = np.frombuffer(flat, np.int32).astype(np.int64)
        places = pairwise((0, *np.frombuffer(ends, np.int64).tolist()))
        return Solutions([labels[a:b] for a, b in places], np.frombuffer(values).tolist())

    def kbest(self, n: int, threads: int = 1) -> list[list[tuple[float, Any]]]:
        """Return up to n outputs of each input with their scores, best first."""
        ranked = self._native.kbest(n, threads)
        return [[(score, np.array(y, np.int64)) for score, y in row] for row in ranked]

    def sample(self, n: int, temperature: float, seed: int, threads: int = 1) -> list[Any]:
        """Return n outputs of each input, drawn from P(output) ∝ exp(score / temperature)."""
        drawn = self._native.sample(n, temperature, seed, threads)
        return [list(np.array(outputs, np.int64)) for outputs in drawn]

    def entropy(self, temperature: float, threads: int = 1) -> list[float]:
        """Return the entropies of the distributions, in nats."""
        return self._native.entropy(temperature, threads)

    def log_partition(self, temperature: float, threads: int = 1) -> list[float]:
        """Return temperature · log Σ exp(score / temperature) over the outputs of each input."""
        return self._native.log_partition(temperature, threads)

    def certainties(
        self, outputs: list[Any], temperature: float, threads: int = 1
    ) -> list[list[float]]:
        """Return the probability of each label of an output of each input."""
        return self._native.certainties(outputs, temperature, threads)

    def score(self, outputs: list[Any], threads: int = 1) -> list[float]:
        """Return the score of an output of each input; −∞ if it is forbidden."""
        return self._native.score(outputs, threads)

    def rivals(
        self, outputs: list[Any], threads: int = 1
    ) -> list[list[tuple[int | None, float, Any]]]:
        """Return (position, margin, output) of the best outputs with a different label there."""
        return [
            [(t, margin, None if y is None else np.array(y, np.int64)) for t, margin, y in row]
            for row in self._native.rivals(outputs, threads)
        ]

    def block_marginals(
        self, temperature: float, block: str | None, threads: int = 1
    ) -> list[dict[str, Any]] | list[Vector]:
        """Return the probabilities of the parts of one block of each input, or of all blocks."""
        if block != "label":
            return super().block_marginals(temperature, block, threads)
        answers = self._native.core.marginals(temperature, 0.0, threads, False)
        return [
            np.frombuffer(p).reshape(n, -1).copy()
            for (_, p), n in zip(answers, self._lengths, strict=True)
        ]


def are_token_lists(X: Any) -> bool:
    """Tell whether X is a list of lists, whose items are tokens if features are named."""
    plain = isinstance(X, list) and all(type(x) is list or type(x) is tuple for x in X)
    return plain and bool(X)


class HeldChain:
    """The native chain equivalent to a fitted model, built on demand."""

    def __init__(self) -> None:
        self._made = False
        self._chain: _core.StringChain | None = None

    def of(self, model: Any) -> _core.StringChain | None:
        """Return the chain of the model that owns this; None if it has no equivalent chain."""
        if not self._made:
            if not _why_not(model):
                encoder = model._encoder.encoders["label"]
                self._chain = _core.StringChain(
                    encoder.vocabulary.table,
                    encoder.separator,
                    model.classes_.tolist(),
                    model.structure_.order,
                    _arrays(model),
                )
            self._made = True
        return self._chain

    def __reduce__(self) -> tuple[type[HeldChain], tuple[()]]:
        return HeldChain, ()  # it is rebuilt


def to_chain(model: Any) -> StringChain:
    """Return a fitted model as a chain that needs only Python and the core."""
    why = _why_not(model)
    if not why and model.classes_.dtype.kind not in "UO":
        why = "its labels are not strings"
    if why:
        raise CapabilityError(
            f"this {type(model).__name__} is not a chain over strings: {why}. What works: save, "
            "and load where NumPy and scikit-learn are installed"
        )
    encoder = model._encoder.encoders["label"]
    return StringChain(
        model.classes_.tolist(),
        _core.NameTable.from_joined(*encoder.vocabulary.table.joined()),
        {name: np.array(values) for name, values in _arrays(model).items()},
        order=model.structure_.order,
        separator=encoder.separator,
        loss_temperature=model._loss_temperature,
        calibration=model.calibration_,
    )


def from_chain(kind: type[Any], chain: StringChain, parameters: dict[str, Any]) -> Any:
    """Return an estimator with the labels, features and weights of a chain."""
    arrays: dict[str, Any] = {
        name: np.frombuffer(values, np.uint32 if name in ("row_ptr", "column") else np.float64)
        for name, values in chain.arrays.items()
    }
    if "mask" in arrays:
        raise CapabilityError("labels of this chain are forbidden: it cannot be trained further")
    n, boundaries = len(chain.labels), "start" in arrays or "end" in arrays
    structure = "chain" if chain.order == 1 else Chain(chain.order)
    derived = {"structure": structure, "boundaries": boundaries}
    weights: dict[str, Any] = {
        "label": SparseWeights(arrays["row_ptr"], arrays["column"], arrays["weight"])
    }
    if boundaries:
        weights |= {name: arrays.get(name, np.zeros(n)) for name in ("start", "end")}
    for m in range(1, chain.order + 1):
        table = arrays.get(f"transition{m}", np.zeros(n ** (m + 1)))
        name = "transition" if m == chain.order else f"transition{m}"
        weights[name] = table.reshape((n,) * (m + 1))
    encoder = TokenEncoder(separator=chain.separator, vocabulary=Vocabulary(chain.names.names()))
    return assemble(
        kind(**{**derived, **parameters}), _as_classes(chain.labels), {"label": encoder}, weights
    )


def _as_classes(labels: list[str]) -> npt.NDArray[Any]:
    # NumPy makes every string as long as the longest: too much memory if one is very long.
    wide = len(labels) * max(map(len, labels)) > 2**24
    return np.array(labels, dtype=object if wide else np.str_)


def _why_not(model: Any) -> str:
    """Return why a model is not a native chain; "" if it is one."""
    if type(model.structure_) is not Chain:
        return f"its structure is {model.structure_!r}"
    encoders, blocks = model._encoder.encoders, model._layout.present()
    label = blocks.get("label")
    if set(encoders) != {"label"} or not isinstance(encoders["label"], TokenEncoder):
        return "its features are not strings and dictionaries of tokens alone"
    if label is None or label.hierarchy is not None or model.beam is not None:
        return "it has a hierarchy of classes, or a beam"
    if label.n_features * label.n_columns >= 2**32:
        return "it has too many weights"
    return ""


def _arrays(model: Any) -> dict[str, Any]:
    """Return the arrays of a chain; those of the features are shared with the model."""
    arrays: dict[str, Any] = {}
    order = model.structure_.order
    for name, block in model._layout.present().items():
        values = model._weights[block.offset : block.offset + block.size]
        if name == "label":
            arrays["row_ptr"], arrays["column"] = _rows(block)
            arrays["weight"] = values
            if block.mask is not None:
                arrays["mask"] = np.ascontiguousarray(block.mask, dtype=np.float64)
            continue
        table = block.to_dense(values)
        if block.mask is not None:
            table = table + block.mask
        arrays[f"transition{order}" if name == "transition" else name] = table
    return arrays


def _rows(block: WeightBlock) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    if block.row_ptr is not None and block.column is not None:
        return block.row_ptr, block.column
    n, width = block.n_features, block.n_columns
    pointers = np.arange(n + 1, dtype=np.uint32) * np.uint32(width)
    return pointers, np.tile(np.arange(width, dtype=np.uint32), n)
