"""Training images as problems see them: sites with features and gold classes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...array_types import Array, Floats, Integers
from ...features.pixels import Basis, PixelFeatures
from .sites import Sites


class Scene:
    """One training image.

    Parameters
    ----------
    image : (H, W, 3) array
    gold : (H, W) array of int
        Classes, −1 where void.
    base : (H·W, B) array or None
        Features, where there is room to keep them.
    """

    def __init__(self, image: Floats, gold: Integers, base: Floats | None) -> None:
        self.image, self.gold, self._base = image, gold.ravel(), base
        self.known = self.gold >= 0
        self.n_pixels = self.gold.size

    def base(self, features: PixelFeatures) -> Floats:
        """Return the features of the pixels."""
        if self._base is not None:
            return self._base
        return features.compute(self.image).reshape(-1, len(features))

    def prepare(self, sites: Sites, basis: Basis, features: PixelFeatures, n_classes: int) -> None:
        """Get ready for a problem; superpixels keep sums over their pixels.

        ``counts`` are then the (n_sites, K) numbers of known pixels of each class, and the gold
        class of a site is the most frequent one; single pixels have no counts.
        """
        self.sites, self._basis, self._features = sites, basis, features
        self._rows: Floats | None = None
        self.counts: Array | None = None
        self.site_gold = self.gold
        if sites.regions is not None:
            expanded = basis.expand(self.base(features))
            self._rows = np.asarray(sites.gather(expanded), dtype=np.float32)
            self.counts = sites.class_counts(self.gold, n_classes).astype(np.float64)
            self.site_gold = sites.majority(self.gold, n_classes)
        self.site_known = self.site_gold >= 0

    def _chunks(self, at: Integers | None) -> Iterator[tuple[slice, Array]]:
        """Iterate over the features of some sites (None: all)."""
        wanted = slice(None) if at is None else at
        if self._rows is not None:
            yield slice(None), self._rows[wanted].astype(np.float64)
            return
        for part, rows in self._basis.chunks(self.base(self._features)[wanted]):
            yield part, rows.astype(np.float64)

    def scores(self, weights: Array, at: Integers | None = None) -> Array:
        """Return features · weights of some sites (None: all), one row for each site."""
        count = self.sites.n_sites if at is None else len(at)
        found = np.empty((count, weights.shape[1]))
        for part, rows in self._chunks(at):
            found[part] = rows @ weights
        return found

    def feature_sums(self, values: Array, at: Integers | None = None) -> Array:
        """Return Σ features · valuesᵀ over some sites (None: all): the transpose of scores."""
        total = np.zeros((len(self._basis), values.shape[1]))
        for part, rows in self._chunks(at):
            total += rows.T @ values[part]
        return total

    def neighbours(self, n_classes: int) -> Array:
        """Return (n_sites, K, P) pair features summed over the neighbours of each known class."""
        sites = self.sites
        n_pair = sites.pairs.shape[1]
        found = np.zeros((sites.n_sites, n_classes, n_pair))
        first, second = sites.ends.T
        for here, there in ((first, second), (second, first)):
            known = self.site_known[there]
            keys = here[known] * n_classes + self.site_gold[there[known]]
            for j in range(n_pair):
                added = np.bincount(
                    keys, sites.pairs[known, j], minlength=sites.n_sites * n_classes
                )
                found[..., j] += added.reshape(sites.n_sites, n_classes)
        return found
