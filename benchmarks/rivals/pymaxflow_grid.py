"""PyMaxflow: Boykov and Kolmogorov's own maximum flow, with a layer for grids."""

from __future__ import annotations

from typing import Any

import maxflow
import numpy as np
import numpy.typing as npt

__all__ = ["argmax"]

Array = npt.NDArray[np.float64]


def argmax(label: Array, potts_right: Array, potts_down: Array) -> Any:
    """Return the best of two labels a pixel; the graph is built and cut."""
    height, width = label.shape[:2]
    graph = maxflow.GraphFloat(height * width, 2 * height * width)
    pixels = graph.add_grid_nodes((height, width))
    weights = np.zeros((height, width))
    weights[:, :-1] = potts_right
    to_the_right = np.array([[0, 0, 0], [0, 0, 1], [0, 0, 0]])
    graph.add_grid_edges(pixels, weights=weights, structure=to_the_right, symmetric=True)
    weights = np.zeros((height, width))
    weights[:-1] = potts_down
    graph.add_grid_edges(pixels, weights=weights, structure=to_the_right.T, symmetric=True)
    graph.add_grid_tedges(pixels, -label[..., 1], -label[..., 0])
    graph.maxflow()
    return graph.get_grid_segments(pixels).astype(np.int64)
