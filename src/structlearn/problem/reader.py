"""Outputs decoded from part vectors, for records that show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..structures.base import Structure
from ..structures.parts import flatten, unflatten_values
from .parts import PartVector, Shaped


@dataclass
class OutputReader:
    """Decodes outputs from part vectors."""

    structure: Structure
    gold: Sequence[Any]
    shapes: list[dict[str, tuple[int, ...]]]
    topology: list[dict[str, Any]] | None

    def output(self, i: int, difference: PartVector) -> Any:
        """Return the output of example i whose parts are the gold ones plus this difference."""
        shapes = Shaped.of(self.shapes[i])
        size = sum(s.size for s in shapes.values())
        scores = dict(unflatten_values(np.zeros(size), shapes))
        if self.topology is not None:
            scores.update(self.topology[i])
        gold = self.structure.encode(self.gold[i], **scores)
        parts = flatten({name: gold[name] for name in shapes}) + difference.dense(size)
        return self.structure.decode(unflatten_values(parts, shapes))
