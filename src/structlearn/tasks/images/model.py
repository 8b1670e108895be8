"""A trained segmenter as data: what it is made of, how it is stored and asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ...array_types import Array, Floats, Integers
from ...features.pixel_pairs import N_PAIR, Contrast, superpixels
from ...features.pixels import Basis, PixelFeatures
from ...io.arrays import array_of, checked_array, tensor_of
from ...io.container import Tensor
from ...io.masks import MaskCoding
from ...models.scored_inputs import ScoredInputs
from ...models.storage import StoredModel
from ...models.temperature import Tempered
from ...threads import one_blas_thread
from .sites import Sites

Item = TypeVar("Item")
Result = TypeVar("Result")

#: Images whose scores are worked out at once, times the threads.
_CHUNK = 4

#: Why losses with probabilities are refused.
NO_SUMS = (
    "the sum over all segmentations of an image has no fast algorithm. What works: learner='crf', "
    "by pseudo-likelihood, and learners with temperature 0"
)

#: Array of a model file -> its type and how many dimensions it has.
_ARRAYS = {
    "mean": (np.float32, 1),
    "deviation": (np.float32, 1),
    "knots": (np.float32, 2),
    "alone": (np.float64, 2),
    "label": (np.float64, 2),
    "pair": (np.float64, 1),
    "spread": (np.float64, 1),
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


class SegmenterModel(Tempered, StoredModel):
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
        if contrast.spread.shape != (N_PAIR - 1,):
            raise ValueError(f"a contrast of {contrast.spread.size} kinds of colours")
        if not all(np.isfinite(a).all() for a in arrays):
            raise ValueError("its numbers are not all finite")
        if (pair < 0).any() or (basis.deviation <= 0).any() or (contrast.spread <= 0).any():
            raise ValueError("weights of pairs below 0, or deviations that are not above 0")
        self.coding, self.features, self.basis = coding, features, basis
        self.contrast, self.label, self.pair, self.alone = contrast, label, pair, alone
        self.n_superpixels = n_superpixels
        self.training = training or {}

    @property
    def loss_temperature(self) -> float | None:
        """None: no learner minimises the log loss of whole images."""
        return None

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

    def inputs(
        self, images: Sequence[Floats], *, neighbours: bool = True, threads: int = 1
    ) -> ImageInputs:
        """Return images as the queries of a model see them.

        Parameters
        ----------
        neighbours : bool
            False: the classes of single pixels, by the model of these.
        """
        return ImageInputs(self, images, neighbours, threads)

    def segment_all(
        self, images: Sequence[Floats], *, neighbours: bool = True, threads: int = 1
    ) -> list[Integers]:
        """Return the (H, W) class numbers of images."""
        inputs = self.inputs(images, neighbours=neighbours, threads=threads)
        return [inputs.spread(i, y) for i, y in enumerate(inputs.solve(threads).outputs)]

    # -- files ----------------------------------------------------------------------------------

    def _content(self, precision: str = "float32") -> tuple[dict[str, Any], dict[str, Tensor]]:
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
        tensors = {name: tensor_of(array) for name, array in arrays.items()}
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
        cls, name: str, d: dict[str, Any], tensors: dict[str, Tensor], given: dict[str, Any]
    ) -> SegmenterModel:
        arrays = {
            key: checked_array(array_of(tensors[key]), key, dtype, (-1,) * dimensions)
            for key, (dtype, dimensions) in _ARRAYS.items()
        }
        scales = [float(s) for s in d["scales"]]
        if not all(0 < s <= 64 for s in scales):
            raise ValueError(f"scales are from 0 to 64 pixels, got {scales}")
        if type(d["superpixels"]) is not int or d["superpixels"] < 0:
            raise ValueError("superpixels must be a whole number of at least 0")
        made = cls(
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
        _ = made.temperature  # refuses what makes no sense
        return made


class ImageInputs(ScoredInputs):
    """Images with the scores of their sites: pixels on a grid, or superpixels on a graph."""

    def __init__(
        self, model: SegmenterModel, images: Sequence[Floats], neighbours: bool, threads: int
    ) -> None:
        self._model, self._sites = model, dict[int, Sites]()
        inner = threads if len(images) == 1 else 1

        def score_image(i: int) -> dict[str, Any]:
            image = images[i]
            if not neighbours:
                label = model.scores(image, model.alone, inner)
                return {"label": label.reshape(*image.shape[:2], -1)}
            label = model.scores(image, model.label, inner)
            sites = self.sites(i)
            return sites.scores(
                np.asarray(sites.gather(label), np.float64), sites.pairs @ model.pair
            )

        def score(part: range) -> list[dict[str, Any]]:
            with one_blas_thread():
                return in_parallel(score_image, part, threads)

        self._regions = neighbours and bool(model.n_superpixels)
        structure = Sites.structure(len(model.coding.names), regions=self._regions)
        super().__init__(structure, score, len(images), images, _CHUNK * threads)

    def sites(self, i: int) -> Sites:
        """Return what is labelled in an image, and its neighbours."""
        if i not in self._sites:
            self._sites[i] = self._model.sites(self.source[i])
        return self._sites[i]

    def spread(self, i: int, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return what the structure has for an image, such as labels, by pixels."""
        return self.sites(i).spread(values) if self._regions else values

    def gather(self, i: int, gold: Integers, n_classes: int) -> Integers:
        """Return (H, W) classes, −1 where not known, as the structure has them: the majority's."""
        return self.sites(i).majority(gold.ravel(), n_classes) if self._regions else gold


def make_sites(image: Floats, contrast: Contrast, n_superpixels: int) -> Sites:
    """Return the pixels, or the superpixels, of an image with their neighbours."""
    height, width = image.shape[:2]
    regions = superpixels(image, n_superpixels) if n_superpixels else None
    return Sites((height, width), contrast.pairs(image), regions)
