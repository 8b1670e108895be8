"""A trained segmenter as data: what it is made of, how it is stored and asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ...features.pixel_pairs import N_PAIR, Contrast, superpixels
from ...features.pixels import Basis, PixelFeatures
from ...io.container import Tensor, check_dtype
from ...io.masks import MaskCoding
from ...io.stored_model import StoredModel
from ...structures.threads import one_blas_thread
from .sites import Sites

__all__ = ["NO_SUMS", "SegmenterModel", "in_parallel"]

Floats = npt.NDArray[np.float32]
Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Item = TypeVar("Item")
Result = TypeVar("Result")

#: Why losses and predictions with probabilities are refused.
NO_SUMS = (
    "the sum over all segmentations of an image has no fast algorithm. What works: learner='crf', "
    "by pseudo-likelihood, and learners with temperature 0"
)

#: Array of a model file -> its type and how many dimensions it has.
_ARRAYS = {
    "mean": ("F32", 1),
    "deviation": ("F32", 1),
    "knots": ("F32", 2),
    "alone": ("F64", 2),
    "label": ("F64", 2),
    "pair": ("F64", 1),
    "spread": ("F64", 1),
}


def in_parallel(
    work: Callable[[Item], Result], items: Sequence[Item], threads: int
) -> list[Result]:
    """Return the results in order; what each is does not depend on the number of threads."""
    if threads == 1 or len(items) < 2:
        return [work(item) for item in items]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(threads, len(items))) as pool:
        return list(pool.map(work, items))


class SegmenterModel(StoredModel):
    """All that labelling needs.

    Attributes
    ----------
    coding : MaskCoding
        The classes and how masks write them.
    features : PixelFeatures
    basis : Basis
    contrast : Contrast
    label : (F, K) array
        Weights of the expanded features, one column for each class.
    pair : (3,) array
        Weights, at least 0, of what unequal neighbours lose.
    alone : (F, K) array
        The weights of the model of single pixels, for comparison.
    n_superpixels : int
        Regions of an image that get one label each; 0: pixels.
    training : dict
        How it came about.
    """

    task = "segmenter"
    called = "a segmenter"

    #: No probabilities to calibrate.
    temperature = None

    def __init__(
        self,
        coding: MaskCoding,
        features: PixelFeatures,
        basis: Basis,
        contrast: Contrast,
        label: Array,
        pair: Array,
        alone: Array,
        n_superpixels: int = 0,
        training: dict[str, Any] | None = None,
    ) -> None:
        shape = (len(basis), len(coding.names))
        if basis.mean.size != len(features) or basis.knots.shape[1:] != basis.mean.shape:
            raise ValueError("features and their basis do not agree")
        if label.shape != shape or alone.shape != shape or pair.shape != (N_PAIR,):
            raise ValueError(f"weights must have the shapes {shape} and {(N_PAIR,)}")
        arrays = (basis.mean, basis.deviation, basis.knots, label, alone, pair, contrast.spread)
        if not all(np.isfinite(a).all() for a in arrays):
            raise ValueError("its numbers are not all finite")
        if (pair < 0).any() or (basis.deviation <= 0).any() or (contrast.spread <= 0).any():
            raise ValueError("weights of pairs below 0, or deviations that are not above 0")
        self.coding, self.features, self.basis = coding, features, basis
        self.contrast, self.label, self.pair, self.alone = contrast, label, pair, alone
        self.n_superpixels = n_superpixels
        self.training = training or {}

    # -- labelling ------------------------------------------------------------------------------

    def scores(self, image: Floats, weights: Array, threads: int = 1) -> Array:
        """Return the (H·W, K) scores of the classes of pixels, strip by strip."""
        height, width = image.shape[:2]
        single = weights.astype(np.float32)

        def strip(bounds: tuple[int, int]) -> Array:
            base = self.features.rows(image, *bounds).reshape(-1, len(self.features))
            found = np.empty((len(base), single.shape[1]))
            for part, rows in self.basis.chunks(base):
                found[part] = rows @ single
            return found

        return np.concatenate(in_parallel(strip, self.features.strips(height, width), threads))

    def sites(self, image: Floats) -> Sites:
        """Return the pixels, or superpixels, of an image."""
        return make_sites(image, self.contrast, self.n_superpixels)

    def segment(self, image: Floats, *, neighbours: bool = True, threads: int = 1) -> Integers:
        """Return the (H, W) class numbers of an image.

        Parameters
        ----------
        neighbours : bool
            False: the classes by the model of single pixels.
        """
        if not neighbours:
            labels: Integers = self.scores(image, self.alone, threads).argmax(axis=1)
            return labels.reshape(image.shape[:2])
        scores = self.scores(image, self.label, threads)
        sites = self.sites(image)
        best = sites.best(np.asarray(sites.gather(scores), np.float64), sites.pairs @ self.pair)
        return sites.spread(best)

    def segment_all(
        self, images: Sequence[Floats], *, neighbours: bool = True, threads: int = 1
    ) -> list[Integers]:
        """Return the class numbers of images, which are shared out among the threads."""
        inner = threads if len(images) == 1 else 1
        with one_blas_thread():
            return in_parallel(
                lambda image: self.segment(image, neighbours=neighbours, threads=inner),
                images,
                threads,
            )

    # -- files ----------------------------------------------------------------------------------

    def _content(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return what a model file holds."""
        arrays: dict[str, npt.NDArray[Any]] = {
            "mean": self.basis.mean,
            "deviation": self.basis.deviation,
            "knots": self.basis.knots,
            "alone": self.alone,
            "label": self.label,
            "pair": self.pair,
            "spread": self.contrast.spread,
        }
        tensors = {
            name: Tensor(_ARRAYS[name][0], np.ascontiguousarray(a).tobytes(), a.shape)
            for name, a in arrays.items()
        }
        description = {
            "task": self.task,
            "classes": self.coding.to_json(),
            "scales": list(self.features.scales),
            "place": self.features.place,
            "superpixels": self.n_superpixels,
            "training": self.training,
        }
        return description, tensors

    @classmethod
    def _build(
        cls, name: str, d: dict[str, Any], tensors: dict[str, Tensor], functions: Any
    ) -> SegmenterModel:
        arrays: dict[str, Any] = {}
        for key, (dtype, dimensions) in _ARRAYS.items():
            tensor = tensors[key]
            check_dtype(key, tensor, dtype)
            if tensor.shape is None or len(tensor.shape) != dimensions:
                raise ValueError(f"the array {key!r} has the shape {tensor.shape}")
            kind = np.float32 if dtype == "F32" else np.float64
            arrays[key] = np.frombuffer(tensor.data, dtype=kind).reshape(tensor.shape)
        scales = [float(s) for s in d["scales"]]
        if not all(0 < s <= 64 for s in scales):
            raise ValueError(f"scales are from 0 to 64 pixels, got {scales}")
        if type(d["superpixels"]) is not int or d["superpixels"] < 0:
            raise ValueError("superpixels must be a whole number of at least 0")
        return cls(
            coding=MaskCoding.from_json(d["classes"]),
            features=PixelFeatures(scales, bool(d["place"])),
            basis=Basis(arrays["mean"], arrays["deviation"], arrays["knots"]),
            contrast=Contrast(arrays["spread"]),
            label=arrays["label"],
            pair=arrays["pair"],
            alone=arrays["alone"],
            n_superpixels=d["superpixels"],
            training=dict(d["training"]),
        )


def make_sites(image: Floats, contrast: Contrast, n_superpixels: int) -> Sites:
    """Return the pixels, or the superpixels, of an image with their neighbours."""
    height, width = image.shape[:2]
    regions = superpixels(image, n_superpixels) if n_superpixels else None
    return Sites((height, width), contrast.pairs(image), regions)
