"""Batches of random scores, with every query answered by enumeration.

The outputs of a shape are enumerated once, as rows of part counts; values, sums and gradients of a
whole batch of scores are then products of matrices.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fuzz.cases import Case
from structlearn.structures.canonical import canonical

Array = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]

#: Sizes of scores, each as frequent as it is here.
SIZES = (1e-300, 1e-9, 1.0, 1.0, 1.0, 30.0, 1e3, 1e6, 1e12, 1e20, 1e150)
#: Shares of forbidden parts.
SHARES = (0.0, 0.0, 0.0, 0.1, 0.3, 0.6)
#: The probability that a block other than the first is the same in all examples.
SHARED = 0.3


class Sums(NamedTuple):
    """The answers of enumeration at one temperature.

    Attributes
    ----------
    values, entropies : (examples,)
    p : (examples, outputs)
        Probabilities.
    means : (examples, parts)
        Expected counts.
    least, most : (examples, parts)
        Bounds of expected counts.
    openest : (examples,)
        The largest possible entropy if rounding decides which output is best, separately for each
        choice in an output.
    """

    values: Array
    p: Array
    means: Array
    entropies: Array
    least: Array
    most: Array
    openest: Array


class Batch:
    """Scores of many examples of one shape, and every query answered by enumeration.

    Parameters
    ----------
    precision : dtype
        The type of the scores.
    shared : float
        The probability that a block other than the first is the same in all examples.

    Attributes
    ----------
    parts : (outputs, parts)
        The counts of each output. Rows may be equal: without spans, different trees can have the
        same rules.
    rows : dict
        Output -> its row.
    theta : (examples, parts)
        Scores.
    values : (examples, outputs)
        −∞ for outputs with a forbidden part.
    sizes : (examples,)
        The sum of the magnitudes of one output's scores, which determines rounding.
    alike : set of str
        The blocks that are the same in all examples.
    """

    def __init__(
        self,
        case: Case,
        rng: np.random.Generator,
        size: int,
        precision: Any = np.float64,
        shared: float = SHARED,
    ) -> None:
        self.case, self.precision = case, precision
        zeros = {name: np.zeros(shape) for name, shape in case.shapes.items()}
        arguments = {**zeros, **case.topology}
        listed = case.outputs is not None
        self.outputs = case.outputs if listed else list(case.structure.outputs(**arguments))
        free = case.free or case.structure
        counts = [free.encode(y, **arguments) for y in self.outputs]
        self.rows = {canonical(y): i for i, y in enumerate(self.outputs)}
        ends = np.cumsum([0] + [int(np.prod(shape)) for shape in case.shapes.values()])
        rows = [self.gradient(count) for count in counts]
        self.parts = np.array(rows).reshape(len(counts), int(ends[-1]))  # a grammar may have none
        self.columns = {
            name: slice(int(a), int(b))
            for name, a, b in zip(case.shapes, ends[:-1], ends[1:], strict=True)
        }
        most = 1e30 if precision == np.float32 else np.inf
        drawn = _draw(case, rng, size)
        drawn = np.where(np.isneginf(drawn), drawn, np.clip(drawn, -most, most))
        self.theta = drawn.astype(precision).astype(np.float64)
        self.alike = {name for name in list(case.shapes)[1:] if rng.random() < shared}
        for name in self.alike:
            self.theta[:, self.columns[name]] = self.theta[0, self.columns[name]]
        self.forbidden = np.isneginf(self.theta)
        plain = np.where(self.forbidden, 0.0, self.theta)
        self.values = plain @ self.parts.T
        self.values[(self.forbidden @ (self.parts.T > 0)) > 0] = -np.inf
        self.best = self.values.max(axis=1, initial=-np.inf)
        self.legal = np.flatnonzero(np.isfinite(self.best))
        self.sizes = (np.abs(plain) @ np.abs(self.parts.T)).max(axis=1, initial=0.0)

    def block(self, name: str, chosen: Any = slice(None)) -> Array:
        """Return one block of some examples, with their axis first."""
        columns = self.theta[chosen, self.columns[name]]
        return columns.reshape(len(columns), *self.case.shapes[name])

    def scores(self, i: int) -> dict[str, Any]:
        """Return the scores of one example."""
        blocks = {name: self.block(name, [i])[0] for name in self.case.shapes}
        return {**blocks, **self.case.topology}

    def listed(self, chosen: Rows) -> dict[str, Any]:
        """Return the scores of some examples, a list for each block that is not shared."""
        blocks: dict[str, Any] = {}
        for name in self.case.shapes:
            block = self.block(name, chosen)
            blocks[name] = block[0] if name in self.alike else list(block)
        return {**blocks, **{name: [a] * len(chosen) for name, a in self.case.topology.items()}}

    def gradient(self, p: dict[str, Any]) -> Array:
        """Return the expected counts of one example as a row."""
        return np.concatenate([np.ravel(p[name]) for name in self.case.shapes])

    def slack(self, epsilon: float = 1e-12) -> Array:
        """Return the allowed error of each example's value."""
        return 1e-300 + epsilon * self.sizes

    def sums(
        self, chosen: Rows, temperature: float, epsilon: float = 1e-13, floor: float = 1e-9
    ) -> Sums:
        """Return values, gradients and entropies of some examples; NaN without a legal output.

        ``epsilon`` times the size of the scores is the allowed error of a score, ``floor`` that of
        any expected count.
        """
        below = self.values[chosen] - self.best[chosen, np.newaxis]
        weights = np.exp(below / temperature)
        totals = weights.sum(axis=1)
        p = weights / totals[:, np.newaxis]
        logs = np.where(p > 0, below / temperature - np.log(totals)[:, np.newaxis], 0.0)
        means = p @ self.parts
        # Expected counts lie between those of the outputs that might be as good as the best.
        blur = self.blur(chosen, temperature, epsilon, floor)
        least, most = means - blur[:, np.newaxis], means + blur[:, np.newaxis]
        near = below >= -(50.0 * temperature + epsilon * 10.0 * self.sizes[chosen])[:, np.newaxis]
        for k in np.flatnonzero((blur > 0.01) & np.isfinite(self.best[chosen])):
            candidates = self.parts[near[k]]
            least[k], most[k] = candidates.min(axis=0) - 0.02, candidates.max(axis=0) + 0.02
        values = self.best[chosen] + temperature * np.log(totals)
        choices = self.parts.sum(axis=1).max(initial=1.0)
        openest = choices * np.log(np.maximum(near.sum(axis=1), 1))
        return Sums(values, p, means, -(p * logs).sum(axis=1), least, most, openest)

    def blur(
        self, chosen: Rows, temperature: float, epsilon: float = 1e-13, floor: float = 1e-9
    ) -> Array:
        """Return the allowed error of each example's expected counts."""
        return floor + epsilon * self.sizes[chosen] / temperature


def _draw(case: Case, rng: np.random.Generator, size: int) -> Array:
    """Draw scores: plain, tied or of mixed sizes, each example at a scale of its own."""
    blocks = []
    scale = rng.choice(SIZES, size=size)
    tied, mixed = rng.random(size) < 0.3, rng.random(size) < 0.15
    scale[mixed] = 1.0
    share = rng.choice(SHARES, size=size)
    for name, shape in case.shapes.items():
        n = int(np.prod(shape))
        x = rng.normal(size=(size, n))
        x[tied] = np.round(x[tied])
        x[mixed] *= 10.0 ** rng.integers(-8, 9, size=(int(mixed.sum()), n))
        x *= scale[:, np.newaxis]
        if case.symmetric:
            square = x.reshape(size, *shape)
            x = np.where(np.tril(np.ones(shape)) > 0, square, square.swapaxes(1, 2)).reshape(
                size, n
            )
        if name.startswith("potts"):
            blocks.append(np.abs(x))
            continue
        hidden = rng.random((size, n)) < share[:, np.newaxis]
        if case.symmetric:
            square = hidden.reshape(size, *shape)
            hidden = (square | square.swapaxes(1, 2)).reshape(size, n)
        blocks.append(np.where(hidden, -np.inf, x))
    return np.concatenate(blocks, axis=1)
