"""Subjects of relations between scores: every structure, with scores drawn for one example."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fuzz.cases import CASES, Case
from fuzz.metamorphic.answers import Refusal
from structlearn.exceptions import CapabilityError, InfeasibleError
from structlearn.structures import Structure

Rng = np.random.Generator

#: The share of instances that are too large for enumeration, and their factor.
LARGE, GROW = 0.5, 3
#: Sizes of scores, each as frequent as it is here.
SIZES = (1e-3, 1.0, 1.0, 1.0, 30.0, 1e3, 1e6)
#: Shares of forbidden parts.
SHARES = (0.0, 0.0, 0.0, 0.1, 0.3)
#: The probability that scores are whole multiples of their size, so that outputs are tied.
TIED = 0.3
#: Structures that are integer programs stay small.
SMALL = ("programs", "constraints", "enumeration")


@dataclass(frozen=True)
class Instance:
    """A structure with the scores of one example.

    Attributes
    ----------
    scores : dict
        Blocks.
    case : Case or None
        The case it was drawn from.
    large : bool
        Whether it has too many outputs for enumeration.
    """

    structure: Structure
    scores: dict[str, Any]
    case: Case | None = None
    large: bool = False

    @functools.cached_property
    def best(self) -> Any:
        """The best output, or a `Refusal`."""
        return attempt(lambda: self.structure.argmax(**self.scores))

    @functools.cached_property
    def size(self) -> float:
        """The magnitudes of one output's scores and of the largest score: rounding goes by it."""
        if isinstance(self.best, Refusal):
            return 0.0
        counts = self.structure.encode(self.best, **self.scores)
        largest = max(magnitude(self.scores[name]) for name in counts)
        return largest + sum(magnitude(self.scores[name]) * float(np.abs(a).sum())
                             for name, a in counts.items())  # fmt: skip

    @property
    def slack(self) -> float:
        """The allowed error of a value."""
        return 1e-300 + 1e-12 * self.size

    def blur(self, temperature: float) -> float:
        """Return the allowed error of an expected count.

        A score of size s is rounded by 1e-16·s, an expected count by that over the temperature, and
        sums of exponentials by some parts in 1e9 if the scores differ widely.
        """
        return 1e-9 + 1e-13 * self.size / temperature


def magnitude(scores: Any) -> float:
    """Return the largest finite score of a block."""
    finite = np.abs(np.asarray(scores, dtype=float))
    return float(np.max(finite[np.isfinite(finite)], initial=0.0))


def attempt(question: Callable[[], Any]) -> Any:
    """Return an answer, or the `Refusal`: there is no algorithm, or no legal output."""
    try:
        return question()
    except InfeasibleError:  # or the ConflictError of a program
        return Refusal("InfeasibleError")
    except CapabilityError:
        return Refusal("CapabilityError")


def draw_scores(
    rng: Rng,
    shapes: Mapping[str, tuple[int, ...]],
    *,
    symmetric: bool = False,
    sizes: tuple[float, ...] = SIZES,
) -> dict[str, Any]:
    """Draw scores of these shapes: plain or tied, of one size, some of them forbidden."""
    scale, share = float(rng.choice(sizes)), float(rng.choice(SHARES))
    tied = rng.random() < TIED
    scores: dict[str, Any] = {}
    for name, shape in shapes.items():
        x = rng.normal(size=shape)
        x = scale * (np.round(x) if tied else x)
        if name.startswith("potts"):
            scores[name] = np.abs(x)
            continue
        hidden = rng.random(shape) < share
        x[hidden] = -np.inf
        scores[name] = np.minimum(x, x.T) if symmetric else x
    return scores


def _drawing(name: str) -> Callable[[Rng], Instance]:
    def draw(rng: Rng) -> Instance:
        large = name not in SMALL and rng.random() < LARGE
        case = CASES[name](rng, GROW if large else 1)
        scores = draw_scores(rng, case.shapes, symmetric=case.symmetric)
        # Automata of the example belong to the structure here, not to the scores.
        return Instance(case.alone or case.structure, scores, case, large)

    return draw


#: Name -> a function that draws an instance of the structure. Written constraints are left out:
#: they name labels, which relations rename.
STRUCTURES: dict[str, Callable[[Rng], Instance]] = {
    name: _drawing(name) for name in CASES if not name.startswith("written")
}
