"""The training images, and what learning asks of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...array_types import Array, Floats, Integers
from ...features.pixel_pairs import Contrast, contrast_sums
from ...features.pixels import Basis, PixelFeatures
from .model import in_parallel, make_sites
from .scenes import Scene

#: Features that are kept rather than worked out again, over all images: half a gigabyte.
_MOST_KEPT = 1 << 27


class Gallery:
    """Images of one machine, or of one shard.

    Parameters
    ----------
    images : sequence of (H, W, 3) arrays
    gold : sequence of (H, W) arrays of int
        Classes, −1 where void.
    features : PixelFeatures
    threads : int
    """

    def __init__(
        self,
        images: Sequence[Floats],
        gold: Sequence[Integers],
        features: PixelFeatures,
        threads: int,
    ) -> None:
        self._features, self._threads = features, threads
        self.n_pixels = sum(one.size for one in gold)
        keep = self.n_pixels * len(features) <= _MOST_KEPT

        def scene(pair: tuple[Floats, Integers]) -> Scene:
            base = features.compute(pair[0]).reshape(-1, len(features)) if keep else None
            return Scene(*pair, base)

        self.scenes = in_parallel(scene, list(zip(images, gold, strict=True)), threads)

    def class_counts(self, n_classes: int) -> Integers:
        """Return the (n, K) numbers of pixels of each class."""
        known = [scene.gold[scene.known] for scene in self.scenes]
        return np.array([np.bincount(one, minlength=n_classes) for one in known])

    def contrast_sums(self, copies: Sequence[int]) -> tuple[Array, int]:
        """Return what :class:`~structlearn.features.pixel_pairs.Contrast` is made of."""
        return contrast_sums([scene.image for scene in self.scenes], copies)

    def sample(self, chosen: Sequence[Integers]) -> list[tuple[Floats, Integers]]:
        """Return features and classes of some pixels of each image, numbers of its known ones."""
        found = []
        for scene, numbers in zip(self.scenes, chosen, strict=True):
            at = np.flatnonzero(scene.known)[numbers]
            found.append((scene.base(self._features)[at], scene.gold[at]))
        return found

    def prepare(self, contrast: Contrast, basis: Basis, superpixels: int, n_classes: int) -> None:
        """Get ready for the problems of neighbours."""

        def prepare_scene(scene: Scene) -> None:
            sites = make_sites(scene.image, contrast, superpixels)
            scene.prepare(sites, basis, self._features, n_classes)

        in_parallel(prepare_scene, self.scenes, self._threads)

    def neighbours(
        self, seeds: Sequence[int], alone: Array, most: int
    ) -> list[tuple[Array, Array, Integers]]:
        """Return pair features, own scores and classes of at most so many sites of each image."""

        def sites(pair: tuple[Scene, int]) -> tuple[Array, Array, Integers]:
            scene, seed = pair
            at = np.flatnonzero(scene.site_known)
            if len(at) > most:
                at = np.sort(np.random.default_rng(seed).permutation(at)[:most])
            near = scene.neighbours(alone.shape[1])[at]
            return near, scene.scores(alone, at), scene.site_gold[at]

        return in_parallel(sites, list(zip(self.scenes, seeds, strict=True)), self._threads)
