"""Random draws of the statistics: the generator, the number of draws, and blocks of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

#: Random numbers in a block: they fit into the cache, which is three times as fast.
_AT_ONCE = 1 << 18


def generator(random_state: Any) -> np.random.Generator:
    """Return the generator for a ``random_state``, in scikit-learn's convention.

    None takes fresh entropy, an int ≥ 0 is a seed, a Generator is used as it is (and moves on), a
    RandomState lends a seed (and moves on).
    """
    import numpy as np

    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**31, size=4, dtype=np.int64))
    whole = isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool)
    if random_state is None or (whole and random_state >= 0):
        return np.random.default_rng(random_state)
    raise ValueError(f"random_state must be None, an int >= 0 or a generator, got {random_state!r}")


def check_draws(name: str, n: Any) -> int:
    """Return the number of draws as an int ≥ 1."""
    if isinstance(n, bool) or not hasattr(n, "__index__") or n.__index__() < 1:
        raise ValueError(f"{name} must be an int >= 1, got {n!r}")
    return int(n.__index__())


def blocks(draws: int, width: int) -> Iterator[slice]:
    """Divide draws of ``width`` numbers each into blocks of at least one draw."""
    step = max(1, _AT_ONCE // max(1, width))
    for first in range(0, draws, step):
        yield slice(first, min(first + step, draws))
