"""A structure around another one, which answers what the outer one does not change."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..array_types import Array, Integers
from ..structures.base import Structure
from ..structures.parts import Block, Parts


class Delegating(Structure):
    """The parts, the labels and the costs of another structure.

    Parameters
    ----------
    structure : Structure
        Who is asked.
    """

    def __init__(self, structure: Structure) -> None:
        self.structure = structure
        self.topology = structure.topology
        self.has_labels = structure.has_labels
        self.label_block = structure.label_block
        self.judges_outputs = structure.judges_outputs
        self.single_site = structure.single_site

    def blocks(self, n_labels: int) -> dict[str, Block]:
        """Return the blocks of the structure."""
        return self.structure.blocks(n_labels)

    def decode(self, parts: Any) -> Any:
        """Return the output whose parts these are."""
        return self.structure.decode(parts)

    def position_shapes(self, theta: Parts) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the parts, position by position."""
        return self.structure.position_shapes(theta)

    def encode_by_position(self, y: Any, **scores: Any) -> Parts:
        """Return μ(y) with shared blocks spread over their positions."""
        return self.structure.encode_by_position(y, **scores)

    def program_scores(self, theta: Parts, **topology: Any) -> Parts:
        """Return the scores in terms of the blocks of the program."""
        return self.structure.program_scores(theta, **topology)

    # -- for learners ---------------------------------------------------------------------------

    def empty_output(self, labels: Any) -> Any:
        """Return the output of an input without positions; None: there is no such input."""
        return self.structure.empty_output(labels)

    def places(self, y: Any, **scores: Any) -> tuple[Integers, ...]:
        """Return where the parts of an output stand that are right or wrong one by one."""
        return self.structure.places(y, **scores)

    def judged(self, gold: Any, y: Any, **scores: Any) -> list[bool | None]:
        """Tell of each of these parts whether it is right; None: that is not known."""
        return self.structure.judged(gold, y, **scores)

    def labels_of(self, y: Any) -> list[Any]:
        """Return the labels of an output."""
        return self.structure.labels_of(y)

    def relabel(self, y: Any, labels: Any) -> Any:
        """Return the output with other labels."""
        return self.structure.relabel(y, labels)

    def n_places(self, n_sites: int) -> int:
        """Return how many labels an output has for this number of sites of the label block."""
        return self.structure.n_places(n_sites)

    def n_places_of(self, sites: tuple[int, ...]) -> int:
        """Return how many labels an output has where the label block's sites have this shape."""
        return self.structure.n_places_of(sites)

    def site_shape(self, block: str, n_sites: int) -> tuple[int, ...] | None:
        """Return how the sites of a block are laid out where features do not say it, or None."""
        return self.structure.site_shape(block, n_sites)

    def output_costs(
        self, y: Any, table: Array, missed: Array, weights: Array | float, **scores: Any
    ) -> tuple[Parts, float]:
        """Return (c by block, c₀) of an output that the structure judges itself."""
        return self.structure.output_costs(y, table, missed, weights, **scores)

    def label_costs(self, costs: Array, **scores: Any) -> Parts:
        """Return the cost of each part."""
        return self.structure.label_costs(costs, **scores)

    def allowed(self, y: Any, shape: tuple[int, ...]) -> npt.NDArray[np.bool_]:
        """Return which parts of the label block an output with unknown labels may use."""
        return self.structure.allowed(y, shape)

    def agreement(self, gold: Any, predicted: Any) -> tuple[float, float] | None:
        """Return (how much of both agrees, how much there is); None: count equal labels."""
        return self.structure.agreement(gold, predicted)
