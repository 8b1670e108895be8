"""A wrapper that passes to the inner structure every query that it does not change."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..array_types import Array, Integers
from ..structures.base import Structure
from ..structures.parts import Block, Parts


class Delegating(Structure):
    """A structure with the parts, the labels and the costs of another one.

    Parameters
    ----------
    structure : Structure
        The inner structure.
    """

    def __init__(self, structure: Structure) -> None:
        self.structure = structure
        self.topology = structure.topology
        self.has_labels = structure.has_labels
        self.label_block = structure.label_block
        self.judges_outputs = structure.judges_outputs
        self.single_site = structure.single_site

    def blocks(self, n_labels: int) -> dict[str, Block]:
        """Return the blocks of the inner structure."""
        return self.structure.blocks(n_labels)

    def decode(self, parts: Any) -> Any:
        """Return the output whose parts these are."""
        return self.structure.decode(parts)

    def position_shapes(self, theta: Parts) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the parts, position by position."""
        return self.structure.position_shapes(theta)

    def encode_by_position(self, y: Any, **scores: Any) -> Parts:
        """Return μ(y) with one copy of shared blocks per position."""
        return self.structure.encode_by_position(y, **scores)

    def program_scores(self, theta: Parts, **topology: Any) -> Parts:
        """Return the scores over the blocks of the program."""
        return self.structure.program_scores(theta, **topology)

    # -- for learners ---------------------------------------------------------------------------

    def empty_output(self, labels: Any) -> Any:
        """Return the output for an input without positions; None: inputs are never empty."""
        return self.structure.empty_output(labels)

    def places(self, y: Any, **scores: Any) -> tuple[Integers, ...]:
        """Return the places of an output's parts that are scored as right or wrong."""
        return self.structure.places(y, **scores)

    def judged(self, gold: Any, y: Any, **scores: Any) -> list[bool | None]:
        """Tell for each of these parts whether it is right; None: unknown."""
        return self.structure.judged(gold, y, **scores)

    def labels_of(self, y: Any) -> list[Any]:
        """Return the labels of an output."""
        return self.structure.labels_of(y)

    def relabel(self, y: Any, labels: Any) -> Any:
        """Return the output with other labels."""
        return self.structure.relabel(y, labels)

    def n_places(self, n_sites: int) -> int:
        """Return the number of labels in an output with this many sites of the label block."""
        return self.structure.n_places(n_sites)

    def n_places_of(self, sites: tuple[int, ...]) -> int:
        """Return the number of labels in an output whose label-block sites have this shape."""
        return self.structure.n_places_of(sites)

    def site_shape(self, block: str, n_sites: int) -> tuple[int, ...] | None:
        """Return the layout of a block's sites if features do not determine it, or None."""
        return self.structure.site_shape(block, n_sites)

    def output_costs(
        self, y: Any, table: Array, missed: Array, weights: Array | float, **scores: Any
    ) -> tuple[Parts, float]:
        """Return (c by block, c₀) for an output that the structure judges itself."""
        return self.structure.output_costs(y, table, missed, weights, **scores)

    def label_costs(self, costs: Array, **scores: Any) -> Parts:
        """Return the cost of each part."""
        return self.structure.label_costs(costs, **scores)

    def allowed(self, y: Any, shape: tuple[int, ...]) -> npt.NDArray[np.bool_]:
        """Return which parts of the label block an output with unknown labels may use."""
        return self.structure.allowed(y, shape)

    def agreement(self, gold: Any, predicted: Any) -> tuple[float, float] | None:
        """Return (agreement, total) of two outputs; None: count equal labels."""
        return self.structure.agreement(gold, predicted)
