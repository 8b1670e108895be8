"""The n best outputs by best-first search over classes of outputs.

One search finds the best output of a class; its other outputs are split into
smaller classes, each with its own best output. The best of all classes not yet
split is the next best output.

References
----------
E. L. Lawler (1972), A procedure for computing the K best solutions to discrete optimization
problems.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Class = TypeVar("Class")
Output = TypeVar("Output")


def best_first(
    whole: Class,
    best: Callable[[Class], tuple[float, Output] | None],
    split: Callable[[Output, Class], Iterable[Class]],
) -> Iterator[tuple[float, Output]]:
    """Iterate over (score, output), best first; a class is split only when needed.

    Parameters
    ----------
    whole : object
        The class of all outputs.
    best : callable
        Returns the score and the best output of a class, or None if the class is empty.
    split : callable
        Takes the best output of a class and the class; returns classes that together hold all of
        its other outputs. Outputs in several of these classes are repeated.
    """
    tie = itertools.count()  # ties go to the one found first
    heap: list[tuple[float, int, Output, Class]] = []
    classes: Iterable[Class] = (whole,)
    while True:
        for smaller in classes:
            result = best(smaller)
            if result is not None:
                heapq.heappush(heap, (-result[0], next(tie), result[1], smaller))
        if not heap:
            return
        negative, _, y, parent = heapq.heappop(heap)
        yield -negative, y
        classes = split(y, parent)
