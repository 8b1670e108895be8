"""Checks of the arguments of queries, and the error for inputs without a legal output."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from ..exceptions import InfeasibleError


def nothing_legal() -> InfeasibleError:
    """Return the error for an input whose every output is forbidden."""
    return InfeasibleError("no legal output is left: every output scores -inf")


def check_temperature(temperature: float) -> None:
    """Raise unless the temperature is a finite number ≥ 0."""
    if not 0 <= temperature < math.inf:
        raise ValueError(f"temperature must be a finite number >= 0, got {temperature!r}")


def check_count(n: int, name: str = "n") -> None:
    """Raise unless n is a whole number ≥ 1 that fits into 64 bits."""
    if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n < 1:
        raise ValueError(f"{name} must be a whole number >= 1, got {n!r}")
    if n > sys.maxsize:
        raise ValueError(f"{name} must be at most {sys.maxsize}, got {n!r}")


def check_width(width: Any) -> None:
    """Raise unless a beam can have this width."""
    check_count(width, "the width of a beam")


def seed_of(random_state: Any) -> int:
    """Return a 63-bit seed from a ``random_state`` as in scikit-learn."""
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
