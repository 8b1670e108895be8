"""Vectors over the parts of one example, and their division into blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..array_types import Vector


@dataclass
class PartVector:
    """A vector over the parts of one example, flat in the order of the blocks.

    Attributes
    ----------
    index : uint32 array or None
        The parts with a value, repeats allowed; None if every part has one.
    value : float64 array
        Their values.
    """

    index: npt.NDArray[np.uint32] | None
    value: Vector

    def dense(self, n_parts: int) -> Vector:
        """Return one value per part."""
        if self.index is None:
            return self.value
        dense = np.zeros(n_parts)
        np.add.at(dense, self.index, self.value)
        return dense


class Shaped:
    """A shape with a size, to cut flat vectors without allocating arrays."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.size = int(np.prod(shape))

    @staticmethod
    def of(shapes: dict[str, tuple[int, ...]]) -> Any:
        return {name: Shaped(shape) for name, shape in shapes.items()}
