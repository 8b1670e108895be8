"""Scores of a program by block, and as the one vector for the solver."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...array_types import Vector
from ..base import Structure
from ..parts import Parts


class PartScores(Structure):
    """Blocks of parts of fixed shapes, with default scores.

    Attributes
    ----------
    shapes : dict of str to tuple of int
        The shape of each block, position by position.
    given : dict of arrays
        The default scores.
    """

    shapes: dict[str, tuple[int, ...]]
    given: dict[str, Any]

    def part_name(self, part: int) -> str:
        """Return the name of a part in a message: ``label[3, 1]``."""
        for name, shape in self.shapes.items():
            size = math.prod(shape)
            if part < size:
                place = ", ".join(str(int(i)) for i in np.unravel_index(part, shape))
                return f"{name}[{place}]"
            part -= size
        return f"helper {part}"

    def _merged(self, scores: Mapping[str, Any]) -> Parts:
        """Return the scores of a call, with the program's defaults for missing ones."""
        present = {name: value for name, value in scores.items() if value is not None}
        if not present and self.given:
            return self.given
        unknown = set(present) - set(self.shapes)
        if unknown:
            raise ValueError(
                f"{sorted(unknown)} are not blocks of this program; it has {list(self.shapes)}"
            )
        missing = [n for n in self.shapes if n not in present and n not in self.given]
        if missing:
            raise ValueError(f"this program needs scores: {', '.join(missing)}")
        theta = self._scores(present)
        return {name: theta.get(name, self.given.get(name)) for name in self.shapes}  # type: ignore[misc]

    def _is_shared(self, name: str, shape: tuple[int, ...]) -> bool:
        """Tell whether scores of this shape are one table shared by all positions of a block."""
        outcomes = self.blocks(1)[name].outcomes
        return bool(outcomes) and shape == self.shapes[name][-len(outcomes) :]

    def _flat(self, scores: Mapping[str, Any]) -> Vector:
        """Return one score per part; those of a shared block are repeated at each position."""
        pieces = []
        for name, table in self._merged(scores).items():
            shape = self.shapes[name]
            if table.shape != shape and not self._is_shared(name, table.shape):
                raise ValueError(f"{name} has shape {table.shape}, the program's is {shape}")
            pieces.append(np.broadcast_to(table, shape).ravel())
        return np.concatenate(pieces)

    def _unflat(self, vector: Vector) -> Parts:
        parts: Parts = {}
        at = 0
        for name, shape in self.shapes.items():
            parts[name] = vector[at : at + math.prod(shape)].reshape(shape)
            at += math.prod(shape)
        return parts
