"""What is labelled: the pixels of an image on a grid, or superpixels on a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...array_types import Array, Floats, Integers
from ...structures.graphs.graph import Graph
from ...structures.graphs.grid import Grid


class Sites:
    """Pixels or superpixels of one image, with their neighbours.

    Parameters
    ----------
    shape : (height, width)
        Of the image.
    pairs : (E, 3) array
        Features of the pairs of pixels.
    regions : (H, W) array of int, optional
        The superpixel of each pixel, from 0 without gaps. A model of superpixels is the model of
        pixels in which all pixels of a region have one label: scores of a region, and pair
        features of two regions, are sums over pixels.
    """

    def __init__(
        self, shape: tuple[int, int], pairs: Floats, regions: Integers | None = None
    ) -> None:
        self.shape = shape
        self.regions = None if regions is None else regions.ravel()
        height, width = shape
        node = np.arange(height * width).reshape(shape) if regions is None else regions
        ends = np.stack(
            (
                np.concatenate((node[:, :-1].ravel(), node[:-1].ravel())),
                np.concatenate((node[:, 1:].ravel(), node[1:].ravel())),
            ),
            axis=1,
        )
        if self.regions is None:
            self.n_sites = height * width
            self.ends, self.pairs = ends, pairs
            self.sizes = None
        else:
            self.n_sites = int(self.regions.max()) + 1
            self.sizes = np.bincount(self.regions, minlength=self.n_sites).astype(np.float32)
            self.ends, self.pairs = _merged(ends, pairs, self.n_sites)

    @staticmethod
    def structure(n_labels: int, *, regions: bool) -> Grid | Graph:
        """Return the structure: exact for two labels (one minimum cut), else by α-expansion."""
        method = "cut" if n_labels <= 2 else "expansion"
        return Graph(method=method) if regions else Grid(method)

    def scores(self, label: Array, strength: Array) -> dict[str, Any]:
        """Return the arguments of the structure, for the score Σ label − Σ strength·[unequal]."""
        n_labels = label.shape[1]
        if self.regions is not None:
            table = -strength[:, np.newaxis, np.newaxis] * (1.0 - np.eye(n_labels))
            return {"label": label, "edge": table, "edges": self.ends}
        height, width = self.shape
        across = height * (width - 1)
        return {
            "label": label.reshape(height, width, n_labels),
            "potts_right": strength[:across].reshape(height, width - 1),
            "potts_down": strength[across:].reshape(height - 1, width),
        }

    def best(self, label: Array, strength: Array) -> Integers:
        """Return the labels of the highest score."""
        structure = self.structure(label.shape[1], regions=self.regions is not None)
        labels: Integers = np.asarray(structure.argmax(**self.scores(label, strength))).ravel()
        return labels

    def parts(self, labels: Integers, n_labels: int) -> tuple[npt.NDArray[np.uint32], Array]:
        """Return the parts of a labelling with their counts.

        Labels come first, ``n_labels`` for each site; then the pairs; unequal ones count −1.
        """
        first, second = self.ends.T
        apart = np.flatnonzero(labels[first] != labels[second])
        chosen = np.arange(self.n_sites) * n_labels + labels
        index = np.concatenate((chosen, self.n_sites * n_labels + apart)).astype(np.uint32)
        return index, np.concatenate((np.ones(self.n_sites), -np.ones(len(apart))))

    def gather(self, values: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
        """Return (n_sites, ...) sums over the pixels of each site of (H·W, ...) values."""
        if self.regions is None:
            return values
        columns = values.reshape(len(values), -1)
        summed = np.stack(
            [np.bincount(self.regions, c, minlength=self.n_sites) for c in columns.T], axis=1
        )
        return summed.reshape(self.n_sites, *values.shape[1:]).astype(values.dtype)

    def spread(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return (n_sites, ...) values, such as labels, as an (H, W, ...) array of pixels."""
        full = values if self.regions is None else values[self.regions]
        return full.reshape(*self.shape, *values.shape[1:])

    def class_counts(self, gold: Integers, n_classes: int) -> Integers:
        """Return the (n_sites, K) numbers of pixels of each class, −1 being none."""
        known = gold >= 0
        at = np.arange(gold.size) if self.regions is None else self.regions
        keys = at[known] * n_classes + gold[known]
        counts: Integers = np.bincount(keys, minlength=self.n_sites * n_classes)
        return counts.reshape(self.n_sites, n_classes)

    def majority(self, gold: Integers, n_classes: int) -> Integers:
        """Return the most frequent class of each site; −1 where none is known."""
        if self.regions is None:
            return gold
        counts = self.class_counts(gold, n_classes)
        return np.where(counts.any(axis=1), counts.argmax(axis=1), -1)


def _merged(ends: Integers, pairs: Floats, n_sites: int) -> tuple[Integers, Floats]:
    """Return one edge for all pixel pairs between two regions, with the sums of their features."""
    apart = ends[:, 0] != ends[:, 1]
    low, high = np.sort(ends[apart], axis=1).T
    keys, where = np.unique(low * n_sites + high, return_inverse=True)
    summed = np.stack([np.bincount(where, c, minlength=len(keys)) for c in pairs[apart].T], axis=1)
    merged = np.stack((keys // n_sites, keys % n_sites), axis=1).astype(np.int64)
    return merged, summed.reshape(-1, pairs.shape[1]).astype(np.float32)
