"""Random orders of examples, and the generators that a ``random_state`` stands for.

The orders of a seed are those of ``numpy.random.default_rng(seed)``, in every version of NumPy and
without importing it.
"""

from __future__ import annotations

from .. import _core

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

    import numpy as np

_WORD = (1 << 64) - 1


def generator(random_state: Any) -> np.random.Generator:
    """Return the generator that a ``random_state`` stands for."""
    import numpy as np

    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**31))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ValueError(
            f"random_state must be None, an int >= 0 or a generator, got {random_state!r}"
        ) from None


class Orders:
    """Random orders, one after another: a generator as far as online learners need one.

    Parameters
    ----------
    random_state : int, Generator, RandomState or None
        As in the estimators.
    """

    def __init__(self, random_state: Any) -> None:
        self._seeded: Any = None
        self._generator: Any = None
        if isinstance(random_state, int) and 0 <= random_state <= _WORD:
            self._seeded = _core.Pcg64(int(random_state))
        else:
            self._generator = generator(random_state)

    @property
    def generator(self) -> np.random.Generator:
        """The generator itself, for other draws than orders."""
        if self._generator is None:
            state = self.state
            self._generator = generator(0)
            self._generator.bit_generator.state = state
        return self._generator  # type: ignore[no-any-return]

    def permutation(self, n: int) -> Any:
        """Return the numbers up to n in a random order, in a buffer of 64-bit integers."""
        if self._generator is not None:
            return self._generator.permutation(n)
        return self._seeded.permutation(n)

    @property
    def bit_generator(self) -> Orders:
        """What has the state."""
        return self

    @property
    def state(self) -> dict[str, Any]:
        """What later orders depend on, as the bit generator of NumPy has it."""
        if self._generator is not None:
            return dict(self._generator.bit_generator.state)
        high, low, above, below, has_half, half = self._seeded.state
        return {
            "bit_generator": "PCG64",
            "state": {"state": high << 64 | low, "inc": above << 64 | below},
            "has_uint32": int(has_half),
            "uinteger": half,
        }

    @state.setter
    def state(self, state: dict[str, Any]) -> None:
        if self._generator is not None:
            self._generator.bit_generator.state = state
            return
        number, stream = state["state"]["state"], state["state"]["inc"]
        words = (number >> 64, number & _WORD, stream >> 64, stream & _WORD)
        self._seeded.state = (*words, bool(state["has_uint32"]), state["uinteger"])
