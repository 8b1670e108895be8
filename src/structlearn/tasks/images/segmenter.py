"""Segmenters: from images with masks to a model to masks."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ...exceptions import FileError
from ...text.files import replaced
from ..base import FileTagger
from ..parameters import check_whole
from .folders import Example, check_images, find_images, read_examples
from .images import as_image, png_bytes, read_image
from .masks import read_names
from .model import SegmenterModel
from .overlay import overlay
from .scores import Overlap, compare

__all__ = ["ImageSegmenter", "Segmenter"]

Floats = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]

#: Those of :mod:`~structlearn.tasks.learning`, the best first.
LEARNERS = ("adagrad", "svm", "crf", "perceptron", "passive-aggressive", "arow")
#: Images that are labelled before they are written, times the threads.
_CHUNK = 4


class ImageSegmenter(FileTagger):
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
    learner : {"adagrad", "svm", "crf", "perceptron", "passive-aggressive", "arow"}, \
            default="adagrad"
        How all weights are learned together: the structured hinge with Hamming cost by AdaGrad's
        steps, without a regulariser; the same to its optimum, with ½‖w‖² and a proven gap where
        there are two classes (:class:`~structlearn.StructuredSVM`); or steps after mistakes. "crf"
        ends with the pseudo-likelihood, which learns the weights of neighbours, given those of
        pixels: the sum over all segmentations of a grid cannot be had. With a handful of small
        images the others can learn them by heart and end below single pixels: "crf", or a dev set,
        is safer there.
    superpixels : int, default=0
        Give one class each to this many compact regions of an image, or a few less (SLIC; needs
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
        and do not count in evaluation. "auto": 255, except in grey masks with two values only,
        and #e0e0c0 in masks of colours. −1 in arrays is always void.
    C : float, optional
        Weight of the images, each by its mean loss over pixels, against ½‖w‖²: by default 1 for
        "svm", 10⁴ divided by the number of images for "crf", and for "adagrad" infinite, which is
        no regulariser. For "passive-aggressive" the longest step, by default 0.3.
    margin : float, optional
        Of "adagrad": what a wrong pixel costs in training; by default 1.
    eta0, delta : float, optional
        Of "adagrad": the first step of a weight is eta0·g / (delta + abs(g)); by default 0.03 and
        0.05.
    r : float, optional
        Of "arow": how slowly it becomes confident; by default 100.
    max_iter : int, optional
        Passes over the images; by default 4 for "adagrad", as many as ``tol`` takes for "svm" and
        "crf", otherwise 6.
    tol : float, optional
        "svm" and "crf" stop at a gap of ``tol`` times the objective; by default 10⁻² and 10⁻⁷.
    average, shuffle : bool, default=True
        Average the weights over all steps; a new order of the images for each pass. Not for "svm"
        and "crf".
    n_models : int, default=1
        Average the weights of this many runs with different seeds.
    patience : int, default=5
        With a dev set: end after this many passes without a better IoU. 0: never.
    class_weight : dict of str to float or "balanced", optional
        Multiplies, by the class of a pixel, what it costs if it is wrong, and its log loss. Not for
        "perceptron".
    callbacks : callable or list of callables, optional
        Called after each pass, see :class:`~structlearn.StructuredSVM`.
    checkpoint : path, optional
        File to go on from after a break; removed at the end.
    n_jobs : int or None, default=1
        Threads. The result does not depend on it.
    random_state : int, default=0
        Seed of samples and of the order of the images.
    verbose : int, default=0
        Above 0: lines about the progress on standard error.

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

    #: What the command line tells segmenters from others by.
    task = "segmenter"

    def __init__(
        self,
        learner: str = "adagrad",
        *,
        superpixels: int = 0,
        scales: Any = (1, 2, 4, 8),
        place: bool = True,
        classes: Any = None,
        void: Any = "auto",
        C: float | None = None,
        margin: float | None = None,
        eta0: float | None = None,
        delta: float | None = None,
        r: float | None = None,
        max_iter: int | None = None,
        tol: float | None = None,
        average: bool = True,
        shuffle: bool = True,
        n_models: int = 1,
        patience: int = 5,
        class_weight: Any = None,
        callbacks: Any = None,
        checkpoint: Any = None,
        n_jobs: int | None = 1,
        random_state: int = 0,
        verbose: int = 0,
    ) -> None:
        for name, value in locals().items():
            if name != "self":
                setattr(self, name, value)

    learner: str
    superpixels: int
    scales: Any
    place: bool
    classes: Any
    void: Any
    C: float | None
    margin: float | None
    eta0: float | None
    delta: float | None
    r: float | None
    max_iter: int | None
    tol: float | None
    average: bool
    shuffle: bool
    n_models: int
    patience: int
    class_weight: Any
    callbacks: Any
    checkpoint: Any
    n_jobs: int | None
    random_state: int
    verbose: int

    model_: SegmenterModel
    history_: list[dict[str, Any]]

    def _check(self) -> None:
        from ..learning import check_learner

        check_learner(self)
        least = {"superpixels": 0, "n_models": 1, "patience": 0, "random_state": 0}
        for name, bound in least.items():
            check_whole(name, getattr(self, name), bound)
        if self.margin is not None and self.learner == "crf":
            raise ValueError("margin is for learner='adagrad': a pseudo-likelihood has none")
        if self.class_weight is not None and self.learner == "perceptron":
            raise ValueError("learner='perceptron' has no cost for class_weight; the others have")
        try:
            good = all(0 < float(s) <= 64 for s in self.scales)
        except (TypeError, ValueError):
            good = False
        if not good:
            raise ValueError(f"scales must be numbers above 0 and up to 64, got {self.scales!r}")

    # -- learning -------------------------------------------------------------------------------

    def fit(
        self, train: Any, y: Any = None, *, dev: Any = None, sample_weight: Any = None
    ) -> ImageSegmenter:
        """Learn from images with masks.

        Parameters
        ----------
        train : path, list of images, list of (image, mask), or an object with ``images``, ``masks``
            A folder with ``images/`` and ``masks/``, or with ``dog.jpg`` beside ``dog_mask.png``.
            In lists, images and masks are paths or arrays.
        y : list of masks, optional
            Where ``train`` is a list of images.
        dev : as ``train`` with its masks, optional
            Segmented after each pass; the best pass is kept.
        sample_weight : array of shape (n,), optional
            Multiplies the loss of each image; ≥ 0.
        """
        from .fitting import fit_segmenter

        self._check()
        names = self.classes
        if isinstance(names, (str, os.PathLike)):
            names = read_names(names)
        examples = read_examples(train, y)
        held_out = None if dev is None else read_examples(dev)
        self.model_, learned = fit_segmenter(
            self._plain(), examples, held_out, names, sample_weight
        )
        self.history_ = learned.history
        if learned.interrupted:
            raise KeyboardInterrupt(
                "training was interrupted; the model holds the weights reached so far"
            )
        return self

    @property
    def classes_(self) -> list[str]:
        """The names of the classes."""
        names: list[str] = self._fitted().coding.names
        return names

    # -- the model ------------------------------------------------------------------------------

    _model_kind = SegmenterModel

    @classmethod
    def from_model(cls, model: SegmenterModel) -> ImageSegmenter:
        """Return a segmenter with this model; of its parameters those that the model file has."""
        segmenter = cls(
            str(model.training.get("learner", "adagrad")),
            superpixels=model.n_superpixels,
            scales=model.features.scales,
            place=model.features.place,
        )
        segmenter._restore(model.training)
        segmenter.model_ = model
        segmenter.history_ = []
        return segmenter

    # -- labelling ------------------------------------------------------------------------------

    def predict(self, source: Any, *, neighbours: bool = True) -> list[npt.NDArray[np.uint8]]:
        """Return the masks of images, written as the training masks are.

        Parameters
        ----------
        source : path, or list of paths and arrays
            A file, a folder, or images.
        neighbours : bool, default=True
            False: by the model of single pixels, for comparison.

        Returns
        -------
        list of (H, W) arrays of values, or of (H, W, 3) arrays of colours
        """
        model: SegmenterModel = self._fitted()
        images = _read_images(source)
        found = model.segment_all(images, neighbours=neighbours, threads=self.n_threads)
        return [model.coding.decode(labels) for labels in found]

    def label_files(
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
            For one image a file; for a folder a folder, made where there is none, of masks with
            the names of their images. No image is ever replaced.
        overlays : path, optional
            A folder for pictures of the images under their classes.
        progress : callable, optional
            Called with the number of pixels done so far.
        """
        model: SegmenterModel = self._fitted()
        images = find_images(source)
        masks, shown = _targets(os.fspath(source), images, output, overlays)
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
        return n_pixels

    # -- judging --------------------------------------------------------------------------------

    def score(self, source: Any, y: Any = None) -> float:
        """Return the mean IoU on images with masks."""
        return float(self.evaluate(source, y)["iou"])

    def evaluate(self, source: Any, y: Any = None) -> dict[str, Any]:
        """Compare predicted with gold masks.

        Parameters
        ----------
        source, y : as :meth:`fit` takes them

        Returns
        -------
        dict
            accuracy of pixels, iou (the mean over classes), iou_by_class, alone (the same of the
            model of single pixels), images, pixels, pixels_per_second.
        """
        return self._evaluate(source, y)[0]

    def _evaluate(self, source: Any, y: Any = None) -> tuple[dict[str, Any], Overlap, Overlap]:
        model: SegmenterModel = self._fitted()
        examples: list[Example] = read_examples(source, y)
        gold = [model.coding.encode(e.mask) for e in examples]
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

    def report(self, source: Any, *, confusions: int = 0) -> str:
        """Return the scores as text, with a table by class."""
        scores, overlap, alone = self._evaluate(source)
        names = self._fitted().coding.names
        width = max(len(name) for name in (*names, "mean"))
        lines = [
            f"mean IoU {100 * overlap.mean_iou:.2f} (pixels alone {100 * alone.mean_iou:.2f}), "
            f"accuracy {100 * overlap.accuracy:.2f} (alone {100 * alone.accuracy:.2f}); "
            f"{scores['images']} images, {scores['pixels_per_second']:,} pixels a second",
            "",
            f"{'class':{width}}     IoU   alone     pixels",
        ]
        for k, name in enumerate(names):
            cells = [
                f"{100 * one.iou[k]:7.2f}" if np.isfinite(one.iou[k]) else "      –"
                for one in (overlap, alone)
            ]
            lines.append(f"{name:{width}} {' '.join(cells)} {overlap.counts[k].sum():10,}")
        if confusions:
            lines += ["", overlap.confusions(names, confusions)]
        return "\n".join(lines).rstrip()

    def __repr__(self) -> str:
        state = "" if hasattr(self, "model_") else ", not trained"
        return f"{type(self).__name__}(learner={self.learner!r}{state})"


#: The former name, for one release more.
Segmenter = ImageSegmenter


def _read_images(source: Any) -> list[Floats]:
    if isinstance(source, (str, os.PathLike)):
        return [read_image(path) for path in find_images(source)]
    if isinstance(source, np.ndarray) and (
        source.ndim == 2 or (source.ndim == 3 and source.shape[2] in (3, 4))
    ):
        source = [source]
    return [as_image(one, f"image {number}") for number, one in enumerate(check_images(source))]


def _targets(
    source: str, images: list[str], output: Any, overlays: Any
) -> tuple[list[str] | None, list[str] | None]:
    """Return where masks and overlays go, checked before any work is done."""
    stems = [os.path.splitext(os.path.basename(path))[0] for path in images]
    shown = None
    if overlays is not None:
        shown = [os.path.join(_folder(overlays), f"{stem}.png") for stem in stems]
    masks: list[str] | None = None
    if isinstance(output, (str, os.PathLike)):
        name = os.fspath(output)
        if os.path.isdir(source) or os.path.isdir(name):
            masks = [os.path.join(_folder(name), f"{stem}.png") for stem in stems]
        else:
            masks = [name]
    elif os.path.isdir(source):
        raise FileError(source, "a folder of images needs a folder for their masks: --output DIR")
    sources = set(map(os.path.realpath, images))
    for target in (*(masks or ()), *(shown or ())):
        if os.path.realpath(target) in sources:
            raise FileError(target, "the result would replace an image; choose another folder")
    if masks and shown and {os.path.realpath(m) for m in masks} & set(map(os.path.realpath, shown)):
        raise FileError(shown[0], "masks and overlays have the same names; choose another folder")
    return masks, shown


def _folder(path: Any) -> str:
    name: str = os.fspath(path)
    try:
        os.makedirs(name, exist_ok=True)
    except OSError as error:
        raise FileError(name, f"cannot be made a folder: {error.strerror}") from None
    return name


def _write(path: str, content: bytes) -> None:
    with replaced(path) as file:
        file.write(content)
