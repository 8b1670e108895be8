"""The n best outputs by best-first search over classes of outputs.

The best output of a class is found by one search; the other outputs of the class are split into
smaller classes, each with a best output of its own. Whatever is best in any class that has not been
split yet is the next best of all.

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
    """Iterate over (score, output), best first; a class is split when the next output is asked for.

    Parameters
    ----------
    whole : object
        The class of all outputs.
    best : callable
        Returns the score and the best output of a class, or None if the class is empty.
    split : callable
        Takes the best output of a class and the class; returns classes that together hold all of
        its other outputs. Outputs that are in several of them come several times.
    """
    tie = itertools.count()  # of equal outputs the one found first comes first
    heap: list[tuple[float, int, Output, Class]] = []
    classes: Iterable[Class] = (whole,)
    while True:
        for smaller in classes:
            found = best(smaller)
            if found is not None:
                heapq.heappush(heap, (-found[0], next(tie), found[1], smaller))
        if not heap:
            return
        negative, _, y, parent = heapq.heappop(heap)
        yield -negative, y
        classes = split(y, parent)
