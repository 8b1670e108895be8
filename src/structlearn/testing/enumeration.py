"""Enumeration of all outputs of an input, with parts and scores, as reference answers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..array_types import Array
from ..exceptions import CapabilityError, InfeasibleError
from ..structures import Structure
from ..structures.canonical import canonical

#: The outputs of a structure: a list, or a function of the scores that returns one.
Outputs = Iterable[Any] | Callable[..., Iterable[Any]]


@dataclass(frozen=True)
class Enumeration:
    """All outputs of one input, and every query answered by summing over them.

    Attributes
    ----------
    scores : dict of str to ndarray
        The score blocks θ.
    topology : dict
        The other arguments of the input, which are not scores.
    outputs : list
        Every output, legal or not.
    counts : list of dict
        μ(y) of each output, by block.
    parts : ndarray of shape (n_outputs, n_parts)
        μ(y) of each output, the blocks one after another.
    values : ndarray of shape (n_outputs,)
        ⟨θ, μ(y)⟩; −∞ for outputs with a forbidden part.
    """

    scores: dict[str, Array]
    topology: dict[str, Any]
    outputs: list[Any]
    counts: list[dict[str, Array]]
    parts: Array
    values: Array
    _rows: dict[bytes, int]

    @property
    def n_legal(self) -> int:
        """The number of outputs with a finite score."""
        return int(np.isfinite(self.values).sum())

    @property
    def best(self) -> float:
        """The highest score; −∞ if no output is legal."""
        return float(self.values.max(initial=-np.inf))

    @property
    def size(self) -> float:
        """The largest finite magnitude of an output's or part's score, for tolerances."""
        every = [self.values, *(np.ravel(a) for a in self.scores.values())]
        return max(float(np.abs(a[np.isfinite(a)]).max(initial=0.0)) for a in every)

    def find(self, counts: Mapping[str, Any]) -> int | None:
        """Return the number of the output with these parts, or None."""
        return self._rows.get(_key(self.scores, counts))

    def probabilities(self, temperature: float) -> Array:
        """Return P(y) ∝ exp(score(y)/ε) of every output; at ε = 0 the best have all of it."""
        if self.best == -np.inf:
            raise InfeasibleError("no legal output is left: every output scores -inf")
        if temperature == 0:
            weights = (self.values == self.best).astype(np.float64)
        else:
            weights = np.exp((self.values - self.best) / temperature)
        return np.asarray(weights / weights.sum())

    def infer(self, temperature: float) -> tuple[float, dict[str, Array]]:
        """Return (ε log Σ exp(score/ε), its gradient); at ε = 0 the mean over the best outputs."""
        p = self.probabilities(temperature)
        value = self.best
        if temperature > 0:
            weights = np.exp((self.values - self.best) / temperature)
            value += temperature * float(np.log(weights.sum()))
        mean: dict[str, Array] = {}
        at = 0
        for name, a in self.scores.items():
            mean[name] = (p @ self.parts[:, at : at + a.size]).reshape(a.shape)
            at += a.size
        return value, mean

    def entropy(self, temperature: float) -> float:
        """Return −Σ P log P."""
        p = self.probabilities(temperature)
        p = p[p > 0]
        return float(-(p * np.log(p)).sum())


def enumerate_outputs(
    structure: Structure,
    scores: Mapping[str, Any],
    *,
    outputs: Outputs | None = None,
    limit: int = 50_000,
) -> Enumeration:
    """Enumerate the outputs of one input, with their parts and scores.

    Parameters
    ----------
    structure : Structure
        Has ``encode`` and, unless ``outputs`` is passed, ``outputs``.
    scores : mapping of str to array-like
        The score blocks, and the topology if it is part of the input.
    outputs : iterable or callable, optional
        The outputs, or a function of the scores (as keyword arguments) that returns them.
    limit : int
        More outputs than this are an error: enumeration is for small inputs.

    Examples
    --------
    >>> from structlearn.structures import Multiclass
    >>> table = enumerate_outputs(Multiclass(), {"label": [1.0, 3.0]})
    >>> table.outputs, table.best
    ([0, 1], 3.0)
    """
    theta, topology = split_scores(structure, scores)
    if outputs is None:
        try:
            source: Iterable[Any] = structure.outputs(**theta, **topology)
        except CapabilityError as error:
            raise CapabilityError(f"{error}, or pass outputs=") from None
    else:
        source = outputs(**theta, **topology) if callable(outputs) else outputs
    every = list(itertools.islice(source, limit + 1))
    if len(every) > limit:
        raise ValueError(f"more than {limit} outputs: use smaller inputs for enumeration")
    if not every:
        raise ValueError("the enumeration gave no output at all")
    counts = [_counts(structure, y, theta, topology) for y in every]
    parts = np.array([_flat(theta, c) for c in counts])
    values = _flat(theta, theta)
    forbidden = np.isneginf(values)
    totals = parts @ np.where(forbidden, 0.0, values)
    totals[(parts[:, forbidden] > 0).any(axis=1)] = -np.inf
    rows: dict[bytes, int] = {}
    for i, row in enumerate(parts):
        first = rows.setdefault(row.tobytes(), i)
        if first != i:
            again = "twice" if canonical(every[first]) == canonical(every[i]) else "with one μ"
            raise AssertionError(
                f"{structure!r}: outputs {every[first]!r} and {every[i]!r} are enumerated {again}; "
                "each output must come once and have parts of its own"
            )
    return Enumeration(theta, topology, every, counts, parts, totals, rows)


def split_scores(
    structure: Structure, scores: Mapping[str, Any]
) -> tuple[dict[str, Array], dict[str, Any]]:
    """Return (score blocks as arrays, other arguments)."""
    theta = {
        name: np.array(a, dtype=np.float64)
        for name, a in scores.items()
        if name not in structure.topology
    }
    return theta, {name: scores[name] for name in scores if name in structure.topology}


def _counts(
    structure: Structure, y: Any, theta: Mapping[str, Array], topology: Mapping[str, Any]
) -> dict[str, Array]:
    counts = structure.encode(y, **theta, **topology)
    if not isinstance(counts, dict) or set(counts) != set(theta):
        got = sorted(counts) if isinstance(counts, dict) else counts
        raise AssertionError(
            f"{structure!r}.encode({y!r}): expected a dict with the blocks {sorted(theta)}, "
            f"got {got}"
        )
    checked: dict[str, Array] = {}
    for name, a in theta.items():
        count = np.asarray(counts[name], dtype=np.float64)
        if count.shape != a.shape or not (np.isfinite(count).all() and (count >= 0).all()):
            raise AssertionError(
                f"{structure!r}.encode({y!r}): {name} must be counts >= 0 of shape {a.shape}, "
                f"got shape {count.shape}: {count!r}"
            )
        checked[name] = count
    return checked


def _flat(theta: Mapping[str, Array], blocks: Mapping[str, Any]) -> Array:
    pieces = [np.ravel(np.asarray(blocks[name], dtype=np.float64)) for name in theta]
    return np.concatenate(pieces) + 0.0  # −0 and 0 are the same key


def _key(theta: Mapping[str, Array], counts: Mapping[str, Any]) -> bytes:
    return _flat(theta, counts).tobytes()
