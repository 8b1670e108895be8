"""Segmenters: from images with masks to a model to masks."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from ...array_types import Array
from ...drawing.overlay import overlay
from ...drawing.report import Report, Weights
from ...exceptions import CapabilityError
from ...fitting.learner_registry import LEARNERS, check_learner
from ...fitting.parameters import Choice, Switch, Whole, parameter
from ...fitting.task_parameters import LearnerParameters
from ...io.image_folders import (
    example_pairs,
    find_images,
    output_files,
    read_examples,
    read_images,
)
from ...io.images import png_bytes, read_image
from ...io.masks import mask_of_array, read_names
from ...metrics.overlap import Overlap, compare
from ...printing import joined_lines
from ...text.files import replaced
from ..base import FileTask
from .model import NO_SUMS, ImageInputs, SegmenterModel

#: Images that are labelled before they are written, times the threads.
_CHUNK = 4


class ImageSegmenter(LearnerParameters, FileTask):
    """Gives every pixel of an image a class; learns from images with masks.

    A pixel is scored by its colour and its surroundings at some scales, bent piecewise linearly;
    neighbours of unequal class lose a learned amount, more where their colours are alike. The best
    segmentation is one minimum cut for two classes, and within a factor of two of the best (in
    what it loses) by α-expansion for more. Weights of neighbours are kept at least 0, so that cuts
    apply.

    All learners begin with the logistic model of single pixels and with the pseudo-likelihood of
    pixels given their neighbours.

    Parameters
    ----------
    learner : {"adagrad", "svm", "crf", "perceptron", "passive-aggressive", "arow"}
        The estimator that learns all weights together. The default takes AdaGrad's steps down the
        structured hinge; a wrong pixel costs 1, and an image's loss is divided by its pixels.
        "svm" minimises ½‖w‖² + C·Σ loss, to a proven gap where there are two classes. "crf" ends
        with the pseudo-likelihood, which learns the weights of neighbours given those of pixels:
        the sum over all segmentations of a grid has no fast algorithm. With a handful of small
        images the others may overfit and end below single pixels: "crf", or a dev set, is safer
        there. Presets: adagrad eta0 0.03, delta 0.05, C infinite (no regulariser), 4 passes;
        passive-aggressive C 0.3; arow r 100; both and perceptron 6 passes; crf C 10⁴ divided by
        the number of images, tol 10⁻⁷.
    superpixels : int, default=0
        Give one class each to about this many compact regions of an image (SLIC; needs
        scikit-image); 0: to every pixel.
    scales : sequence of float, default=(1, 2, 4, 8)
        Standard deviations in pixels of the blurs whose results are features.
    place : bool, default=True
        Whether the place in the image is a feature.
    classes : list, dict or path, optional
        Names of classes: a list by value, a dictionary {value or "#rrggbb": name}, or a file with
        either as JSON, or with one name in each line.
    void : "auto", None, int or "#rrggbb", default="auto"
        The value of mask pixels whose class is not known; they are hidden variables in training
        and do not count in evaluation. "auto": 255, except where grey masks have it and one
        other value only, and #e0e0c0 in masks of colours. −1 in arrays is always void.
    {learning}

    Attributes
    ----------
    model_ : SegmenterModel
        What was learned.
    classes_ : list of str
        The names of the classes.
    history_ : list of dict
        One record for each pass.

    References
    ----------
    Y. Boykov & M.-P. Jolly (2001), Interactive graph cuts for optimal boundary & region
    segmentation of objects in N-D images; M. Szummer, P. Kohli & D. Hoiem (2008), Learning CRFs
    using graph cuts.

    Examples
    --------
    >>> from structlearn.datasets import make_shapes
    >>> from structlearn.tasks import ImageSegmenter
    >>> data = make_shapes(4, size=48, n_classes=2, random_state=0)
    >>> segmenter = ImageSegmenter(max_iter=2).fit(data.images[:3], data.masks[:3])
    >>> segmenter.predict(data.images[3:])[0].shape
    (48, 48)
    """

    _text = LearnerParameters._text.replace(
        "Weights of the labels; a sentence weighs as much as its labels do on average.",
        "Multiplies, by the class of a pixel, its cost and its log loss. perceptron, which has no\n"
        "        costs: an image weighs as much as its pixels do on average.",
    ).replace("sentence", "image")

    learner: str = parameter(
        default="adagrad",
        kw_only=False,
        check=Choice(*LEARNERS),
        help="learning algorithm; crf learns by pseudo-likelihood, with C 10,000 divided by the "
        "number of images",
    )
    superpixels: int = parameter(
        default=0,
        check=Whole(0),
        help="label about N regions per image instead of pixels; needs scikit-image (default: 0, "
        "pixels)",
    )
    scales: Any = (1, 2, 4, 8)
    place: bool = parameter(
        default=True,
        check=Switch(),
        help="do not use the position in the image as a feature",
    )
    classes: Any = parameter(
        default=None,
        help="class names: one line per mask value, or JSON (a list, or an object by value)",
        metavar="FILE",
    )
    void: Any = parameter(
        default="auto",
        help="mask value that means unknown: 0 to 255, #rrggbb, or none (default: 255, unless "
        "masks have it and one other value only)",
        metavar="VALUE",
    )

    def _check(self) -> None:
        check_learner(self)
        if self.l1 is not None:
            raise CapabilityError(
                "l1 needs learner='crf' with L-BFGS, which cannot keep weights of neighbours at "
                "least 0. What works: C"
            )
        if self.margin is not None and self.learner == "crf":
            raise ValueError("margin is for learner='adagrad', a pseudo-likelihood has none")
        if self.temperature and self.learner != "crf":
            raise CapabilityError(NO_SUMS)
        try:
            good = all(0 < float(s) <= 64 for s in self.scales)
        except (TypeError, ValueError):
            good = False
        if not good:
            raise ValueError(f"scales must be numbers above 0 and up to 64, got {self.scales!r}")

    # -- learning -------------------------------------------------------------------------------

    def fit(
        self, X: Any, y: Any = None, *, dev: Any = None, sample_weight: Any = None
    ) -> ImageSegmenter:
        """Learn from images with masks.

        Parameters
        ----------
        X : path, list of images, list of (image, mask), or an object with ``images``, ``masks``
            A folder with ``images/`` and ``masks/``, or with ``dog.jpg`` beside ``dog_mask.png``.
            In lists, images and masks are paths or arrays.
        y : list of masks, optional
            The masks, if ``X`` is a list of images.
        dev : as ``X`` with its masks, optional
            Segmented after each pass; the best pass is kept. Probabilities are calibrated on it if
            the images are small enough to have any.
        sample_weight : array of shape (n,), optional
            Multiplies the loss of each image; ≥ 0. An image of weight 0 is as if it were not there.
            Pixels are drawn from an image once, whatever it weighs.
        """
        from ...fitting.split_corpus import in_parts
        from .fitting import fit_segmenter

        self._check()
        examples = in_parts(X, read_examples, y)
        pairs = None if dev is None else example_pairs(dev)
        held_out = None if pairs is None else read_examples(pairs)
        learned = fit_segmenter(self._plain(), examples, held_out, self._names(), sample_weight)
        return self._keep(*learned, pairs)

    def _names(self) -> Any:
        """Return the names of the classes, read if they are in a file; None: none were given."""
        names = self.classes
        return read_names(names) if isinstance(names, (str, os.PathLike)) else names

    @property
    def classes_(self) -> list[str]:
        """The names of the classes."""
        names: list[str] = self._fitted().coding.names
        return names

    # -- the model ------------------------------------------------------------------------------

    _model_kind = SegmenterModel
    _title, _unit = "Image segmenter", "pixels"
    _writes_text = False

    @staticmethod
    def _held_by(model: SegmenterModel) -> dict[str, Any]:
        return {"scales": model.features.scales}

    # -- labelling ------------------------------------------------------------------------------

    def predict(  # type: ignore[override]
        self, X: Any, *, neighbours: bool = True
    ) -> list[npt.NDArray[np.uint8]]:
        """Return the masks of images, written as the training masks are.

        Parameters
        ----------
        X : path, or list of paths and arrays
            A file, a folder, or images.
        neighbours : bool, default=True
            False: by the model of single pixels, for comparison.

        Returns
        -------
        list of (H, W) arrays of values, or of (H, W, 3) arrays of colours
        """
        masks: list[npt.NDArray[np.uint8]] = super().predict(X, neighbours=neighbours)
        return masks

    def predict_kbest(self, X: Any, n: int = 5, **reading: Any) -> NoReturn:
        """Raise: the n best segmentations of an image have no fast algorithm."""
        raise CapabilityError(
            "the n best segmentations of an image have no fast algorithm. What works: predict, "
            "which returns the best one"
        )

    def _inputs(self, X: Any, neighbours: bool = True) -> ImageInputs:
        model: SegmenterModel = self._fitted()
        return model.inputs(read_images(X), neighbours=neighbours, threads=self.n_threads)

    def _without_empty(self, X: Any) -> tuple[Any, list[int]]:
        return X, []  # there are no images without pixels

    def _named(self, inputs: Any, i: int, output: Any) -> npt.NDArray[np.uint8]:
        mask: npt.NDArray[np.uint8] = self._fitted().coding.decode(inputs.spread(i, output))
        return mask

    def _named_parts(self, inputs: Any, i: int, parts: Any) -> Array:
        """Return the (H, W, K) probabilities of the classes of pixels."""
        p: Array = inputs.spread(i, parts["label"])
        return p

    def _scores_of(self, inputs: Any, outputs: list[Any], temperature: float) -> list[float]:
        model: SegmenterModel = self._fitted()
        masks = [mask_of_array(mask, f"mask {i}") for i, mask in enumerate(outputs)]
        classes = list(map(model.coding.encode, masks))
        sites = [inputs.gather(i, one, len(self.classes_)) for i, one in enumerate(classes)]
        scores = inputs.open_scores(sites, temperature)
        for i, one in enumerate(classes):  # all pixels of a superpixel have one class
            if (inputs.spread(i, sites[i]) != one)[one >= 0].any():
                scores[i] = -math.inf
        return list(scores)

    def _with_gold(self, X: Any, y: Any) -> tuple[ImageInputs, list[Any]]:
        model: SegmenterModel = self._fitted()
        examples = read_examples(X, y)
        inputs = model.inputs([e.image for e in examples], threads=self.n_threads)
        inputs.check_sums()
        gold = model.coding.encode_judges([e.mask for e in examples])
        n_classes = len(model.coding.names) + 1  # one for those that were never seen
        return inputs, [inputs.gather(i, classes, n_classes) for i, classes in enumerate(gold)]

    def _right(self, inputs: Any, outputs: list[Any], gold: Any) -> list[list[bool | None]]:
        right: list[list[bool | None]] = inputs.judged(gold, outputs)
        return right

    def label_file(
        self,
        source: str | os.PathLike[str],
        output: Any,
        *,
        overlays: str | os.PathLike[str] | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> int:
        """Write the masks of an image file or a folder as PNG; return the number of pixels.

        Parameters
        ----------
        output : path or binary file
            A file for one image; a folder for a folder, which is created if it does not exist.
            Masks have the names of their images. No image is ever overwritten.
        overlays : path, optional
            A folder for pictures of the images under their classes.
        progress : callable, optional
            Called with the number of pixels done so far.
        """
        model: SegmenterModel = self._fitted()
        images = find_images(source)
        masks, shown = output_files(os.fspath(source), images, output, overlays)
        n_pixels = 0
        step = _CHUNK * self.n_threads
        for at in range(0, len(images), step):
            pictures = [read_image(path) for path in images[at : at + step]]
            found = model.segment_all(pictures, threads=self.n_threads)
            for i, (image, labels) in enumerate(zip(pictures, found, strict=True), at):
                if masks is not None:
                    _write(masks[i], model.coding.png(labels))
                else:
                    output.write(model.coding.png(labels))
                if shown is not None:
                    _write(shown[i], png_bytes(overlay(image, labels, model.coding.colours())))
                n_pixels += labels.size
                if progress is not None:
                    progress(n_pixels)
                    if hasattr(progress, "share"):
                        progress.share((i + 1) / len(images))
        return n_pixels

    # -- what was learned -----------------------------------------------------------------------

    def _heaviest(self, n: int) -> dict[str, list[tuple[str, float]]]:
        from .inspection import class_weights

        return class_weights(self._fitted(), n)

    def _pairs(self) -> list[tuple[str, str, float]]:
        """Return what unequal neighbours lose by each feature of pairs of pixels."""
        from .inspection import pair_weights

        return [("(unequal)", name, w) for name, w in pair_weights(self._fitted())]

    def _decisions(self, inputs: Any) -> list[list[dict[str, Any]]]:
        from .decisions import explain

        outputs = inputs.solve(self.n_threads).outputs
        return [
            explain(self._fitted(), inputs.source[i], inputs.spread(i, y))
            for i, y in enumerate(outputs)
        ]

    def _typed(self, text: str) -> NoReturn:
        raise ValueError("--sentence does not work with an image segmenter: name images with INPUT")

    def _own_facts(self) -> list[tuple[str, str]]:
        from .inspection import pixel_facts

        return pixel_facts(self._fitted())

    def _report(self) -> Report:
        from .inspection import fill_report

        return fill_report(super()._report(), self._fitted())

    def _names_of_features(self) -> list[str]:
        return list(self.classes_)

    def _to_show(self, X: Any, most: int) -> tuple[ImageInputs, list[Any], list[str], int]:
        from .inspection import images_to_show

        model: SegmenterModel = self._fitted()
        images, gold, names, n_images = images_to_show(model, X, most)
        return model.inputs(images, threads=self.n_threads), gold, names, n_images

    def _table(self, labels: Sequence[str] | None, page: bool) -> Weights:
        names, weights = zip(*((name, w) for _, name, w in self._pairs()), strict=True)
        note = "what they lose"
        return Weights("Neighbours of unequal class", note, [*names], [("(unequal)", [*weights])])

    def _said(
        self, inputs: Any, i: int, decision: dict[str, Any], gold: Any
    ) -> tuple[str, str, str | None, str]:
        share = f"{100 * decision['pixels'] / inputs.source[i][..., 0].size:.1f} % of the image"
        return decision["label"], share, None, decision["runner_up"]

    def _drawn(self, inputs: Any, i: int, output: Any, gold: Any, page: bool) -> dict[str, Any]:
        from .inspection import drawn

        model: SegmenterModel = self._fitted()
        found = model.coding.encode(mask_of_array(output, "the mask"))
        return drawn(model, inputs.source[i], found, gold, page)

    # -- judging --------------------------------------------------------------------------------

    _measure = "iou"

    def evaluate(self, X: Any, y: Any = None) -> dict[str, Any]:
        """Compare predicted with gold masks.

        Parameters
        ----------
        X, y : as :meth:`fit` takes them

        Returns
        -------
        dict
            accuracy of pixels, iou (the mean over classes), iou_by_class, alone (the same of the
            model of single pixels), images, pixels, pixels_per_second.
        """
        return self._evaluate(X, y)[0]

    def _evaluate(self, X: Any, y: Any = None) -> tuple[dict[str, Any], Overlap, Overlap]:
        model: SegmenterModel = self._fitted()
        examples = read_examples(X, y)
        gold = model.coding.encode_judges([e.mask for e in examples])
        images = [e.image for e in examples]
        begin = time.perf_counter()
        found = model.segment_all(images, threads=self.n_threads)
        seconds = time.perf_counter() - begin
        single = model.segment_all(images, neighbours=False, threads=self.n_threads)
        names = model.coding.names
        overlap, alone = (compare(gold, one, len(names)) for one in (found, single))
        scores = overlap.as_dict(names)
        scores["alone"] = alone.as_dict(names)
        scores["images"] = len(images)
        scores["pixels"] = overlap.pixels
        labelled = sum(one.size for one in found)
        scores["pixels_per_second"] = round(labelled / max(seconds, 1e-9))
        return scores, overlap, alone

    def report(self, X: Any, y: Any = None, *, confusions: int = 0) -> str:
        """Return the scores as text, with a table by class."""
        scores, overlap, alone = self._evaluate(X, y)
        names = self._fitted().coding.names
        lines = [
            f"mean IoU {100 * overlap.mean_iou:.2f} (pixels alone {100 * alone.mean_iou:.2f}), "
            f"accuracy {100 * overlap.accuracy:.2f} (alone {100 * alone.accuracy:.2f}); "
            f"{scores['images']} images, {scores['pixels_per_second']:,} pixels per second",
            "",
            *overlap.table(names, alone=alone).split("\n"),
        ]
        if confusions:
            lines += ["", *overlap.confusions(names, confusions).split("\n")]
        return joined_lines(lines).rstrip()


def _write(path: str, content: bytes) -> None:
    with replaced(path) as file:
        file.write(content)
