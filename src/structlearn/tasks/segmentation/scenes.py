"""Training images as learners see them: sites with features, gold classes and costs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .features import Basis, PixelFeatures
from .sites import Sites

__all__ = ["Scene"]

Floats = npt.NDArray[np.float32]
Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


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
        """Get ready for a structured learner; superpixels keep sums over their pixels."""
        self.sites, self._basis, self._features = sites, basis, features
        if sites.regions is None:
            self._rows: Floats | None = None
            self.counts: Array | None = None
            self.site_gold = self.gold
        else:
            self._rows = np.asarray(
                sites.gather(basis.expand(self.base(features))), dtype=np.float32
            )
            keys = sites.regions[self.known] * n_classes + self.gold[self.known]
            counted = np.bincount(keys, minlength=sites.n_sites * n_classes)
            self.counts = counted.reshape(sites.n_sites, n_classes).astype(np.float64)
            majority = self.counts.argmax(axis=1)
            self.site_gold = np.where(self.counts.sum(axis=1) > 0, majority, -1)
        self.site_known = self.site_gold >= 0

    def rows(self) -> Floats:
        """Return the (n_sites, F) expanded features, summed over the pixels of a site."""
        if self._rows is not None:
            return self._rows
        return self._basis.expand(self.base(self._features))

    def add_cost(self, scores: Array, cost: float) -> None:
        """Add to each label what it would cost: wrong pixels of known class."""
        if self.counts is None:
            at = np.flatnonzero(self.known)
            scores[at] += cost
            scores[at, self.gold[at]] -= cost
        else:
            scores += cost * (self.counts.sum(axis=1, keepdims=True) - self.counts)

    def completed(self, scores: Array, strength: Array) -> Integers:
        """Return the gold labels, void ones filled in with what the model likes best there."""
        if self.site_known.all():
            return self.site_gold
        clamped = scores.copy()
        at = np.flatnonzero(self.site_known)
        # More than all that a site's scores and its neighbours could be worth.
        around = 4.0 * strength.max(initial=0.0) if self.counts is None else strength.sum()
        large = 1.0 + 2.0 * float(np.abs(scores).max()) + 2.0 * float(around)
        clamped[at] -= large
        clamped[at, self.site_gold[at]] += large
        return self.sites.best(clamped, strength)

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
