"""Scores of labels and pairs as searches read them: without offsets, and of one size."""

from __future__ import annotations

import functools
import math

import numpy as np
import numpy.typing as npt

from ..certificates import (
    largest_of,
    magnitude,
    magnitudes,
    offsets_of,
    power_of_two,
    proves,
    rounding,
)
from .elimination import Elimination
from .pair_model import PairGroup, PairModel

__all__ = ["StandardModel"]

Array = npt.NDArray[np.float64]


class StandardModel(PairModel):
    """A model with the same differences between labellings, in another unit.

    The largest score of a node, and of an edge's table, is 0, and the largest magnitude of all is
    from 1 to below 2. What searches take for rounding, and for small, is then a share of the
    differences between scores, whatever their offsets and their unit.

    Parameters
    ----------
    given : PairModel
        The model as it was given. A labelling that scores s here has ``offset + s / scale`` there.
    """

    def __init__(self, given: PairModel) -> None:
        self.given = given
        self._offsets = [offsets_of(given.label, 1)]
        label = given.label - self._offsets[0]
        groups = []
        for group in given.groups:
            table = group.table
            if table is not None and table.size:
                top = offsets_of(table, 2)
                table = table - top
                self._offsets.append(top if table.ndim == 3 else top * group.count)
            groups.append(PairGroup(group.count, table, group.strength))
        rewards = None if given.cliques is None else given.cliques[1]
        pairs = [a for group in groups for a in (group.table, group.strength)]
        largest = max(largest_of(a) for a in (label, rewards, *pairs) if a is not None)
        self.scale = scale = power_of_two(largest)
        label *= scale
        for group in groups:
            group.table = None if group.table is None else group.table * scale
            group.strength = None if group.strength is None else group.strength * scale
        cliques = None
        if given.cliques is not None and rewards is not None:
            cliques = given.cliques[0], rewards * scale
        super().__init__(label, groups, given._edges, given.shape, cliques)
        self.time_limit = given.time_limit

    @property
    def offset(self) -> float:
        """What was taken off the score of every labelling."""
        return math.fsum(float(offsets.sum()) for offsets in self._offsets)

    @functools.cached_property
    def elimination(self) -> Elimination | None:
        """The steps of exact elimination, which depend on no score."""
        return self.given.elimination

    @functools.cached_property
    def trivial_bound(self) -> float:
        """What all nodes, edges and groups score at most, each by itself; mostly 0."""
        bound = 0.0
        for group in self.groups:
            if group.table is None and group.strength is not None and group.count:
                most = np.maximum(0.0, -group.strength)  # of strengths below 0
                bound += float(most.sum() if most.ndim else most * group.count)
        if self.cliques is not None:
            bound += float(np.maximum(self.cliques[1].max(axis=1), 0.0).sum())
        return bound

    def given_bound(self, value: float, bound: float, given_value: float) -> float:
        """Return a bound of the given model, ``given_value`` itself where that is proven the best.

        Parameters
        ----------
        value, bound : float
            Of a labelling, and of all, in this model.
        given_value : float
            What the labelling scores in the given model.
        """
        if bound == math.inf:  # nobody asked for one
            return bound
        bound = min(bound, self.trivial_bound)
        if bound <= value:
            return given_value
        size = abs(value) + self._size(max(self.trivial_bound - value, 0.0))
        if proves(value, bound, size):
            return given_value
        gap = (bound - value + rounding(size)) / self.scale
        return math.nextafter(given_value + gap, math.inf)

    def _size(self, most: float) -> float:
        """Return the largest magnitude of each node, edge and group, each at most ``most``."""
        size = magnitude(_largest(self.label, 1), most)
        for group in self.groups:
            values = group.strength if group.table is None else _largest(group.table, 2)
            if values is not None:
                size += magnitude(values, most) * (1 if values.ndim else group.count)
        if self.cliques is not None:
            size += magnitude(_largest(self.cliques[1], 1), most)
        return size


def _largest(scores: Array, axes: int) -> Array:
    """Return the largest finite magnitude over the last axes."""
    most: Array = magnitudes(scores).max(axis=tuple(range(-axes, 0)), initial=0.0)
    return most
