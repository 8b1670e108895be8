"""Random generators of the datasets, from scikit-learn's ``random_state``."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

RandomStateLike = int | np.integer | np.random.Generator | np.random.RandomState | None
Draw = Callable[[], float]

_BLOCK = 4096


def as_generator(random_state: RandomStateLike) -> np.random.Generator:
    """Turn a ``random_state`` in scikit-learn's convention into a Generator.

    Parameters
    ----------
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState
        ``None`` takes fresh entropy, an int is a seed, a Generator is used as it is (and moves
        on), a RandomState lends a seed (and moves on).

    Returns
    -------
    numpy.random.Generator
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**31, size=4, dtype=np.int64))
    if isinstance(random_state, bool) or not isinstance(
        random_state, int | np.integer | type(None)
    ):
        raise TypeError(
            "random_state must be None, an int, a numpy.random.Generator or a "
            f"numpy.random.RandomState, not {type(random_state).__name__}"
        )
    return np.random.default_rng(random_state)


def uniform_draws(rng: np.random.Generator) -> Draw:
    """Return a function that returns one uniform number in [0, 1) per call.

    Numbers are taken from the generator in blocks: a scalar call of NumPy costs ten times as much.
    """

    def stream() -> Iterator[float]:
        while True:
            yield from rng.random(_BLOCK).tolist()

    return stream().__next__
