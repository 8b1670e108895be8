"""The state of an online learner between two passes: weights and their average."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from ..array_types import Vector

#: Steps that store the sum of squared gradients of each weight.
WITH_SQUARES = ("adagrad", "arow")
#: Bytes of a cache line.
_LINE = 64


@dataclass
class OnlineState:
    """Everything that the next step needs: w = scale·v, average = (ahead·v + behind) / total.

    ``squares`` are the sums of squared gradients, empty for steps that do not use them.
    """

    v: Vector
    behind: Vector
    squares: Vector = field(default_factory=lambda: np.zeros(0))
    scale: float = 1.0
    ahead: float = 0.0
    total: float = 0.0
    steps: float = 0.0
    cost: float = 0.0
    epochs: int = 0

    @staticmethod
    def zero(n_weights: int, *, average: bool, dtype: npt.DTypeLike = np.float64) -> OnlineState:
        """Return the state before the first step."""
        behind = np.zeros(n_weights if average else 0, dtype)
        return OnlineState(np.zeros(n_weights, dtype), behind, np.zeros(0, dtype))

    @staticmethod
    def at(w: Vector, *, average: bool, steps: float) -> OnlineState:
        """Return a state that begins at w, with step sizes as after that many steps."""
        return replace(OnlineState.zero(len(w), average=average), v=w.copy(), steps=steps)

    def copy(self) -> OnlineState:
        """Return a state that shares nothing with this one."""
        return self.moved(_aligned_copy)

    def moved(self, move: Callable[[Vector], Vector]) -> OnlineState:
        """Return the state moved to another layout of the weights."""
        behind, squares = (move(x) if len(x) else x.copy() for x in (self.behind, self.squares))
        return replace(self, v=move(self.v), behind=behind, squares=squares)

    @property
    def last(self) -> Vector:
        """The weights after the last step."""
        return np.multiply(self.v, self.scale, out=_aligned_like(self.v))

    @property
    def mean(self) -> Vector:
        """The averaged weights."""
        if self.total == 0.0:
            return self.last
        mean = np.multiply(self.v, self.ahead, out=_aligned_like(self.v))
        mean += self.behind
        mean /= self.total
        return mean

    def skip(self, examples: int) -> None:
        """Skip examples known to be right: they count in the average."""
        self.steps += examples
        if len(self.behind):
            self.ahead += examples * self.scale
            self.total += examples

    def plain(self) -> OnlineState:
        """Return the state in arrays that later passes do not change."""
        return self


def _aligned_like(x: Vector) -> Vector:
    """Return room that begins at a line of the cache: tables are read in lines, at random."""
    room = np.empty(x.nbytes + _LINE, np.uint8)
    begin = -room.ctypes.data % _LINE
    return room[begin : begin + x.nbytes].view(x.dtype)


def _aligned_copy(x: Vector) -> Vector:
    out = _aligned_like(x)
    out[:] = x
    return out
