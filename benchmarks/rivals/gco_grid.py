"""gco-wrapper: Veksler and Delong's gco, alpha-expansion on grids, energies in whole numbers."""

from __future__ import annotations

from typing import Any

import gco
import numpy as np
import numpy.typing as npt

__all__ = ["argmax"]

Array = npt.NDArray[np.float64]


def argmax(label: Array, strength: float) -> Any:
    """Return a labelling that no expansion improves; scores are whole numbers."""
    unequal = 1 - np.eye(label.shape[-1], dtype=np.int32)
    labels = gco.cut_grid_graph_simple(
        (-label).astype(np.int32), np.int32(strength) * unequal, n_iter=-1, connect=4
    )
    return labels.reshape(label.shape[:2]).astype(np.int64)
