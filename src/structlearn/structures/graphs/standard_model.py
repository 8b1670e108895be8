"""Label and pair scores normalised for searches: without offsets, and of standard size."""

from __future__ import annotations

from ...array_types import Array
from .pair_model import PairGroup, PairModel


class StandardModel(PairModel):
    """A model with the same differences between labellings, in another unit.

    The largest score of a node, and of an edge's table, is 0, and the largest magnitude of all is
    from 1 to below 2. The absolute tolerances of programs are then relative to the differences
    between scores, for any offsets and units.

    Parameters
    ----------
    given : PairModel
        The original model.
    """

    def __init__(self, given: PairModel) -> None:
        self.given = given
        label, *pairs, rewards, self.scale = given.native.standard()
        groups = []
        for group, values in zip(given.groups, pairs, strict=False):
            groups.append(
                PairGroup(
                    group.count, _shaped(values, group.table), _shaped(values, group.strength)
                )
            )
        cliques = None
        if given.cliques is not None:
            cliques = given.cliques[0], rewards.reshape(given.cliques[1].shape)
        super().__init__(
            label.reshape(given.label.shape), groups, given._edges, given.shape, cliques
        )
        self.time_limit = given.time_limit

    def given_bound(self, value: float, bound: float, given_value: float) -> float:
        """Return a bound of the original model; ``given_value`` itself if that is proven the best.

        Parameters
        ----------
        value, bound : float
            The value of a labelling, and the bound of all, in this model.
        given_value : float
            The score of the labelling in the original model.
        """
        original_bound: float = self.given.native.given_bound(value, bound, given_value)
        return original_bound


def _shaped(values: Array, like: Array | None) -> Array | None:
    """Return values in the shape of the original scores, if there are any."""
    return like if like is None or values.size != like.size else values.reshape(like.shape)
