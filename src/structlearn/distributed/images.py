"""Segmenters of images over shards: samples of pixels come here, whole images stay there."""

from __future__ import annotations

import os
from itertools import chain, pairwise
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from ..features.pixels import PixelFeatures
from ..io.image_folders import Example, example_pairs, read_examples
from ..io.masks import MaskCoding, RawMask
from ..problem import Problem
from ..tasks.images.fitting import ImageFitting, pixel_features
from ..tasks.images.gallery import Gallery
from ..threads import one_blas_thread
from .corpora import by_shard, present_weights
from .crew import Crew, Held
from .problem import ShardedProblem
from .shards import ListShard, list_ends

__all__ = ["fit_images", "image_shards"]


def image_shards(X: Any, y: Any, size: int | None, n: int | None) -> list[ListShard]:
    """Return shards of images with their masks; files are read where the shards are.

    Parameters
    ----------
    size : int, optional
        Bytes of a shard.
    n : int, optional
        Number of shards, where no size is given.
    """
    pairs = example_pairs(X, y)
    paths = [image for image, _ in pairs if isinstance(image, (str, os.PathLike))]
    bytes_ = sum(map(os.path.getsize, paths))
    bytes_ += sum(getattr(image, "nbytes", 0) for image, _ in pairs)
    ends = list_ends(len(pairs), bytes_, n if size is None else -(-bytes_ // size))
    return [ListShard(f"images {a} to {b - 1}", pairs[a:b], b - a) for a, b in pairwise(ends)]


def fit_images(
    segmenter: Any, crew: Crew, dev: Any, format: str | None, sample_weight: Any
) -> None:
    """Fit a segmenter to shards of images."""
    if format is not None:
        raise ValueError("format is for text, not for images")
    segmenter._check()
    plain = segmenter._plain()
    examples = crew.files().then(_read)
    sizes, weights = [shard.size for shard in crew.shards], None
    if sample_weight is not None:
        parts = present_weights(crew, sample_weight, sizes)
        examples = examples.then(_present, parts)
        sizes = [int((part > 0).sum()) for part in parts]
        weights = np.concatenate([part[part > 0] for part in parts])
    masks = list(chain.from_iterable(examples.each(_mask_values)))
    coding = MaskCoding.fit(masks, segmenter._names(), segmenter.void)
    held_out = None if dev is None else read_examples(dev)
    gold = None if held_out is None else coding.encode_judges([e.mask for e in held_out])
    held = examples.then(_gallery, coding, pixel_features(plain), crew.threads)
    with one_blas_thread():  # puts the limits of this process back
        gallery = _ShardedGallery(held, sizes)
        examples.release()
        found = ImageFitting(plain, gallery, coding, weights).run(held_out, gold)
    segmenter._accept(*found)


class _ShardedGallery:
    """What a :class:`~structlearn.tasks.images.gallery.Gallery` is asked for, over shards."""

    def __init__(self, held: Held, sizes: list[int]) -> None:
        self.held, self.sizes = held, sizes
        self.n_pixels = int(held.sum(_n_pixels))

    def class_counts(self, n_classes: int) -> Any:
        """Return the (n, K) numbers of pixels of each class."""
        return np.concatenate(self.held.each(_class_counts, n_classes))

    def contrast_sums(self, copies: list[int]) -> tuple[Any, int]:
        """Return the sums over all images."""
        sums, count = self.held.sum(_contrast_sums, self._parts(copies))
        return sums, count

    def sample(self, chosen: list[Any]) -> list[Any]:
        """Return features and classes of some pixels of each image."""
        return list(chain.from_iterable(self.held.each(_sample, self._parts(chosen))))

    def prepare(self, *args: Any) -> None:
        """Get ready for the problems of neighbours."""
        self.held = self.held.then(_prepared, *args)

    def neighbours(self, alone: Any, most: int, seeds: list[int]) -> list[Any]:
        """Return pair features, own scores and classes of some sites of each image."""
        found = self.held.each(_neighbours, alone, most, self._parts(seeds))
        return list(chain.from_iterable(found))

    def problem(self, *shape: int, image_weight: Any, class_weight: Any) -> Problem:
        """Return the sum of the shards' problems."""
        weights = by_shard(image_weight, self.sizes)
        return ShardedProblem(self.held.then(_make_problem, shape, weights, class_weight))

    def _parts(self, items: list[Any]) -> list[list[Any]]:
        ends = np.cumsum([0, *self.sizes]).tolist()
        return [items[a:b] for a, b in pairwise(ends)]


# -- what is computed where the shards are --------------------------------------------------------


def _read(shard: ListShard, number: int) -> list[Example]:
    return read_examples(shard.examples())


def _present(examples: list[Example], number: int, weights: list[Any]) -> list[Example]:
    return [e for e, weight in zip(examples, weights[number], strict=True) if weight]


def _mask_values(examples: list[Example], number: int) -> list[RawMask]:
    return [e.mask._replace(values=np.unique(e.mask.values)) for e in examples]


def _gallery(
    examples: list[Example], number: int, coding: MaskCoding, features: PixelFeatures, threads: int
) -> Gallery:
    threadpool_limits(limits=1, user_api="blas")  # sums depend on how products are cut
    gold = [coding.encode(e.mask) for e in examples]
    return Gallery([e.image for e in examples], gold, features, threads)


def _n_pixels(gallery: Gallery, number: int) -> int:
    return gallery.n_pixels


def _class_counts(gallery: Gallery, number: int, n_classes: int) -> Any:
    return gallery.class_counts(n_classes)


def _contrast_sums(gallery: Gallery, number: int, copies: list[list[int]]) -> tuple[Any, int]:
    return gallery.contrast_sums(copies[number])


def _sample(gallery: Gallery, number: int, chosen: list[Any]) -> list[Any]:
    return gallery.sample(chosen[number])


def _prepared(gallery: Gallery, number: int, *args: Any) -> Gallery:
    gallery.prepare(*args)
    return gallery


def _neighbours(gallery: Gallery, number: int, alone: Any, most: int, seeds: list[Any]) -> Any:
    return gallery.neighbours(alone, most, seeds[number])


def _make_problem(
    gallery: Gallery, number: int, shape: tuple[int, int], weights: list[Any], class_weight: Any
) -> Problem:
    return gallery.problem(*shape, image_weight=weights[number], class_weight=class_weight)
