"""Scores of a program by block, and as the one vector that a solver reads."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...array_types import Vector
from ..base import Structure
from ..parts import Parts


class PartScores(Structure):
    """Blocks of parts of fixed shapes, with scores that a call may leave out.

    Attributes
    ----------
    shapes : dict of str to tuple of int
        The shape of each block, position by position.
    given : dict of arrays
        The scores where a call gives none.
    """

    shapes: dict[str, tuple[int, ...]]
    given: dict[str, Any]

    def part_name(self, part: int) -> str:
        """Return what a part is called in a message: ``label[3, 1]``."""
        for name, shape in self.shapes.items():
            size = math.prod(shape)
            if part < size:
                place = ", ".join(str(int(i)) for i in np.unravel_index(part, shape))
                return f"{name}[{place}]"
            part -= size
        return f"helper {part}"

    def _merged(self, scores: Mapping[str, Any]) -> Parts:
        """Return the scores of a call, those of the program where left out."""
        given = {name: value for name, value in scores.items() if value is not None}
        if not given and self.given:
            return self.given
        unknown = set(given) - set(self.shapes)
        if unknown:
            raise ValueError(
                f"{sorted(unknown)} are no score blocks of this program; it has {list(self.shapes)}"
            )
        missing = [n for n in self.shapes if n not in given and n not in self.given]
        if missing:
            raise ValueError(f"this program needs scores: {', '.join(missing)}")
        theta = self._scores(given)
        return {name: theta.get(name, self.given.get(name)) for name in self.shapes}  # type: ignore[misc]

    def _is_shared(self, name: str, shape: tuple[int, ...]) -> bool:
        """Tell whether scores of this shape are one table of a block, for all its positions."""
        outcomes = self.blocks(1)[name].outcomes
        return bool(outcomes) and shape == self.shapes[name][-len(outcomes) :]

    def _flat(self, scores: Mapping[str, Any]) -> Vector:
        """Return one score a part; a shared block's are repeated at each position."""
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
