"""How a segmenter learns: single pixels first, then pairs, then all together."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from ...array_types import Array, Integers
from ...estimators.outputs import (
    class_weight_table,
    whole_copies,
)
from ...exceptions import InexactInferenceWarning
from ...features.pixel_pairs import N_PAIR, Contrast
from ...features.pixels import Basis, PixelFeatures
from ...fitting.example_weights import check_sample_weight, refuse_no_weight
from ...fitting.learner_registry import CRFParameters
from ...fitting.learning import learn
from ...fitting.parts import Parts
from ...fitting.presets import preset_of
from ...fitting.split_corpus import by_part, joined
from ...fitting.task_learning import Learned, learn_task
from ...io.image_folders import Example
from ...io.masks import MaskCoding, RawMask
from ...meter import Meter, say
from ...metrics.overlap import compare
from ...problem import Problem
from ...scoring.cone import WeightFloor
from ...threads import one_blas_thread
from .gallery import Gallery
from .model import SegmenterModel
from .pixels import PixelProblem, Pixels
from .problem import PAIR_SCALE, ImageProblem

#: Pixels that the model of single ones learns from, and all pixels that pairs are learned from.
_SAMPLE = 60_000
#: Most steps for single pixels and for pairs, which end at this share of their objective.
_STEPS = 40
_TOL = 1e-7
#: Pixels whose features are multiplied by weights at once.
_GROUP = 4096
#: C of log losses is this divided by the number of images, or by their weights.
_DATA = 1e4
#: What pairs weigh where the data tells nothing, as scribbles of a few pixels do.
_PRIOR = np.array([4.0, 4.0, 12.0])


def fit_segmenter(
    segmenter: Any,
    examples: Parts,
    dev: Sequence[Example] | None,
    names: Any,
    sample_weight: Any = None,
) -> tuple[SegmenterModel, Learned]:
    """Learn from examples, in parts; return the model, and how it was learned."""
    sizes = [n or 0 for n in examples.each(len)]
    weights = check_sample_weight(sample_weight, sum(sizes))
    refuse_no_weight(weights)
    if weights is not None:
        examples = examples.then(_present, own=by_part(weights, sizes))
        weights = weights[weights > 0]
    coding = MaskCoding.fit(joined(examples.each(_mask_values)), names, segmenter.void)
    held_out = None if dev is None else coding.encode_judges([e.mask for e in dev])
    threads = examples.threads or segmenter.n_threads
    with one_blas_thread():  # puts the limits of this process back
        gallery = examples.then(_gallery, coding, pixel_features(segmenter), threads)
        del examples
        return ImageFitting(segmenter, gallery, coding, weights).run(dev, held_out)


def pixel_features(segmenter: Any) -> PixelFeatures:
    """Return the features that a segmenter asks for."""
    return PixelFeatures(segmenter.scales, segmenter.place)


class ImageFitting:
    """One training run.

    Parameters
    ----------
    segmenter : ImageSegmenter
        Read only: its parameters.
    gallery : Parts
        The :class:`~structlearn.tasks.images.gallery.Gallery` of each part.
    coding : MaskCoding
    image_weight : array of shape (n,), optional
    """

    def __init__(
        self, segmenter: Any, gallery: Parts, coding: MaskCoding, image_weight: Array | None
    ) -> None:
        self.segmenter, self.coding, self.image_weight = segmenter, coding, image_weight
        self.gallery = gallery
        self.threads: int = segmenter.n_threads
        self.rng = np.random.default_rng(segmenter.random_state)
        self.n_classes = len(coding.names)
        counts = gallery.each(Gallery.class_counts, self.n_classes)
        self.sizes = [0 if one is None else len(one) for one in counts]
        self.counts: Integers = np.concatenate([one for one in counts if one is not None])
        self.n_images, self.n_pixels = len(self.counts), int(gallery.sum(_n_pixels))
        self.say(f"{self.n_images} images, {self.n_pixels:,} pixels, {self.n_classes} classes")
        self.sample_weight = np.ones(self.n_images) if image_weight is None else image_weight
        self.total_weight = float(self.sample_weight.sum())
        self.copies = whole_copies(self.sample_weight)
        copies = by_part(self.copies.tolist(), self.sizes)
        self.contrast = Contrast.of_sums(*gallery.sum(Gallery.contrast_sums, own=copies))
        self.class_weight = class_weight_table(
            segmenter.class_weight,
            np.array(coding.names),
            self.sample_weight @ self.counts,
        )

    def say(self, line: str) -> None:
        if self.segmenter.verbose:
            say(line)

    @property
    def C(self) -> float:
        """The weight of an image's mean log loss against ½‖w‖²."""
        given = self.segmenter.C if self.segmenter.learner == "crf" else None
        return _DATA / self.total_weight if given is None else float(given)

    # -- the stages -----------------------------------------------------------------------------

    def run(
        self, dev: Sequence[Example] | None, gold: list[Integers] | None
    ) -> tuple[SegmenterModel, Learned]:
        segmenter = self.segmenter
        with Meter("learning single pixels", shown=bool(segmenter.verbose)):
            alone = self.learn_alone()
        self.say("learned single pixels")

        shape = segmenter.superpixels, self.n_classes
        self.gallery = self.gallery.then(_prepared, self.contrast, self.basis, *shape)
        pairs = self.pair_problem(alone)
        by_pairs = segmenter.learner == "crf"
        if not by_pairs:
            found = learn(self.likelihood(solver="projected", tol=_TOL), pairs)
            pair = np.maximum(_PRIOR + found.weights, 0.0)
            start = np.concatenate((alone.ravel(), pair / PAIR_SCALE))

        def model(w: Array) -> SegmenterModel:
            if by_pairs:
                return self.model(alone, np.maximum(_PRIOR + w, 0.0), alone)
            label = w[:-N_PAIR].reshape(alone.shape)
            return self.model(label, PAIR_SCALE * w[-N_PAIR:], alone)

        def dev_iou(w: Array) -> float:
            assert dev is not None
            assert gold is not None
            found = model(w).segment_all([e.image for e in dev], threads=self.threads)
            return compare(gold, found, self.n_classes).mean_iou

        watched: dict[str, Any] = {"measure": "iou", "score": None if dev is None else dev_iou}
        if by_pairs:
            preset = {"C": self.C, **preset_of("segmenter", "crf")}
            learned = learn_task(segmenter, pairs, preset=preset, **watched)
        else:
            problem = self.gallery.problem(
                _problem,
                len(self.basis),
                self.n_classes,
                self.class_weight,
                own=by_part(self.image_weights, self.sizes),
            )
            with warnings.catch_warnings():
                if segmenter.learner != "svm":  # nothing is proven that α-expansion would spoil
                    warnings.simplefilter("ignore", InexactInferenceWarning)
                preset = preset_of("segmenter", segmenter.learner)
                learned = learn_task(segmenter, problem, start=start, preset=preset, **watched)
        made = model(learned.weights)
        made.training = {
            **learned.record(segmenter.learner),
            "images": self.n_images,
            "pixels": self.n_pixels,
        }
        return made, learned

    def likelihood(self, **more: Any) -> CRFParameters:
        """Return the parameters of ½‖w‖² + C · log losses."""
        chosen = {"C": self.C, "n_jobs": self.threads, **more}
        return CRFParameters(max_iter=_STEPS, **chosen)

    def weights(self, image: int, gold: Integers) -> Array:
        """Return the weights of pixels of an image, by their classes."""
        weight = np.ones(len(gold)) if self.class_weight is None else self.class_weight[gold]
        return weight if self.image_weight is None else weight * self.image_weight[image]

    @property
    def image_weights(self) -> Array | None:
        """The weights of images; for the perceptron those of their classes are in them."""
        if self.class_weight is None or self.segmenter.learner != "perceptron":
            return self.image_weight
        means: Array = self.counts @ self.class_weight / np.maximum(1, self.counts.sum(axis=1))
        return means if self.image_weight is None else means * self.image_weight

    def learn_alone(self) -> Array:
        """Return the (F, K) weights of the model of single pixels, from a sample of known ones."""
        begins = np.cumsum([0, *self.counts.sum(axis=1)])
        n = int(begins[-1])
        chosen = np.sort(self.rng.permutation(n)[:_SAMPLE]) if n > _SAMPLE else np.arange(n)
        parts = np.split(chosen, np.searchsorted(chosen, begins[1:-1]))
        shifted = [part - begin for part, begin in zip(parts, begins, strict=False)]
        sampled = joined(self.gallery.each(Gallery.sample, own=by_part(shifted, self.sizes)))
        sample, labels = (np.concatenate([one[k] for one in sampled]) for k in (0, 1))
        weights = np.concatenate([self.weights(e, gold) for e, (_, gold) in enumerate(sampled)])
        sizes = [len(gold) for _, gold in sampled]
        self.basis = Basis.fit(np.repeat(sample, np.repeat(self.copies, sizes), axis=0))
        groups = []
        for begin in range(0, len(sample), _GROUP):
            part = slice(begin, begin + _GROUP)
            rows = self.basis.expand(sample[part]).astype(np.float64)
            fixed = np.zeros((len(rows), self.n_classes))
            groups.append(Pixels(rows, fixed, labels[part], weights[part]))
        problem = PixelProblem(groups, len(self.basis) * self.n_classes)
        # As much as all images have together.
        C = self.C * self.total_weight / float(self.sample_weight @ sizes)
        found = learn(self.likelihood(solver="lbfgs", C=C), problem)
        return found.weights.reshape(-1, self.n_classes)

    def pair_problem(self, alone: Array) -> PixelProblem:
        """Return the pseudo-likelihood of the pairs, the pixels' own weights given.

        The weights of pairs are the prior's plus those of the problem, and at least 0.
        """
        draws = self.rng.integers(2**63, size=self.n_images).tolist()
        most = max(1, _SAMPLE // self.n_images)
        groups = []
        seeds = by_part(draws, self.sizes)
        sites = joined(self.gallery.each(Gallery.neighbours, alone, most, own=seeds))
        for image, (near, own, gold) in enumerate(sites):
            weight = self.weights(image, gold) / max(len(gold), 1)
            groups.append(Pixels(near, own + near @ _PRIOR, gold, weight))
        return PixelProblem(groups, N_PAIR, WeightFloor(-_PRIOR))

    def model(self, label: Array, pair: Array, alone: Array) -> SegmenterModel:
        return SegmenterModel(
            self.coding,
            pixel_features(self.segmenter),
            self.basis,
            self.contrast,
            label,
            pair,
            alone,
            self.segmenter.superpixels,
        )


# -- what is done where the parts are -------------------------------------------------------------


def _present(examples: list[Example], weights: Array) -> list[Example] | None:
    return [e for e, weight in zip(examples, weights, strict=True) if weight] or None


def _mask_values(examples: list[Example]) -> list[RawMask]:
    return [e.mask._replace(values=np.unique(e.mask.values)) for e in examples]


def _gallery(
    examples: list[Example], coding: MaskCoding, features: PixelFeatures, threads: int
) -> Gallery:
    threadpool_limits(limits=1, user_api="blas")  # sums depend on how products are cut
    gold = [coding.encode(e.mask) for e in examples]
    return Gallery([e.image for e in examples], gold, features, threads)


def _n_pixels(gallery: Gallery) -> int:
    return gallery.n_pixels


def _prepared(gallery: Gallery, *args: Any) -> Gallery:
    gallery.prepare(*args)
    return gallery


def _problem(
    gallery: Gallery,
    image_weight: Array | None,
    n_features: int,
    n_classes: int,
    class_weight: Array | None,
) -> Problem:
    return ImageProblem(
        gallery.scenes, n_features, n_classes, image_weight=image_weight, class_weight=class_weight
    )
