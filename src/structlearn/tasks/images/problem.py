"""Images as a learning problem: classes of sites, and neighbours of unequal class."""

from __future__ import annotations

import copy
import math
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...array_types import Array
from ...exceptions import CapabilityError
from ...features.pixel_pairs import N_PAIR
from ...problem import Problem
from ...problem.inexact import Inexact
from ...scoring.cone import WeightCone
from ...scoring.layout import WeightBlock, WeightLayout
from .model import NO_SUMS
from .scenes import Scene

Parts = npt.NDArray[np.uint32]

#: Weights of pairs are multiplied by this: there are few of them, and their steps should be longer.
PAIR_SCALE = 2.0


class ImageProblem(Problem):
    """Segmentations of training images.

    The parts of an image are a label of a site, and a pair of neighbours of unequal label, which
    counts −1. Weights are (F, K) of the sites' features and, after them, one for each feature of
    pairs; those are kept at least 0, so that every search is a cut or a series of cuts. A wrong
    pixel of known class costs 1; void ones are hidden variables (Yu & Joachims 2009), and a loss
    is divided by the number of pixels.

    Parameters
    ----------
    scenes : sequence of Scene
        Prepared.
    n_features, n_classes : int
    image_weight : array of shape (n,), optional
        Multiplies the losses of the images.
    class_weight : array of shape (K,), optional
        Multiplies what a wrong pixel costs, by its class.
    """

    name = "segmentation of images"

    def __init__(
        self,
        scenes: Sequence[Scene],
        n_features: int,
        n_classes: int,
        image_weight: Array | None = None,
        class_weight: Array | None = None,
    ) -> None:
        self._scenes, self._n_classes = scenes, n_classes
        self._partial = np.array([not scene.site_known.all() for scene in scenes])
        self._search = _Search(scenes, n_classes)
        layout = WeightLayout(
            {
                "label": WeightBlock((n_classes,), n_features, shared=False),
                "pair": WeightBlock((), N_PAIR, shared=False),
            }
        )
        bare = _core.Problem(
            self._search,
            _Scorer(scenes, n_features, n_classes),
            layout.n_weights,
            [[(s.sites.n_sites, n_classes), (len(s.sites.ends), 1)] for s in scenes],
        )
        self._gold = _gold(scenes, n_classes, self._partial)
        self._cost = _costs(scenes, n_classes, class_weight)
        weight = np.array([1.0 / scene.n_pixels for scene in scenes])
        if image_weight is not None:
            weight *= image_weight
        super().__init__(
            bare.labelled(self._search, self._gold, self._cost, weight),
            sample_weight=weight,
            cone=WeightCone(layout, {"pair": np.ones(1)}),
        )

    @property
    def partial(self) -> npt.NDArray[np.bool_]:
        """Which images have void sites."""
        return self._partial

    def random_weights(self, rng: np.random.Generator) -> Array:
        """Return standard normal weights, those of pairs without their sign."""
        w = super().random_weights(rng)
        w[-N_PAIR:] = np.abs(w[-N_PAIR:])
        return w

    def completed(
        self,
        w: Array,
        temperature: float,
        *,
        sample_weight: Array | None = None,
        n_jobs: int | None = None,
    ) -> Problem:
        """Return the same problem with the best labels at void sites."""
        threads = self.threads(n_jobs)
        ptr, part, value = _core.complete_all(self.native, w, float(temperature), threads)
        twin = copy.copy(self)
        twin._partial = np.zeros(len(self._scenes), dtype=np.bool_)
        twin._gold = {"ptr": ptr, "part": part, "value": value}
        if sample_weight is not None:
            twin.sample_weight = sample_weight
        twin._native = self.native.labelled(
            self._search, twin._gold, self._cost, twin.sample_weight
        )
        return twin

    def specification(self) -> dict[str, Any]:
        """Return what the objective depends on: images, sites, gold parts and costs."""
        return {
            **super().specification(),
            "images": [scene.image for scene in self._scenes],
            "pairs": [scene.sites.pairs for scene in self._scenes],
            "regions": [scene.sites.regions for scene in self._scenes],
            "gold": self._gold,
            "cost": self._cost,
        }


class _Scorer:
    """Scores of the parts of an image, and the transpose, as the core calls them."""

    def __init__(self, scenes: Sequence[Scene], n_features: int, n_classes: int) -> None:
        self._scenes, self._n_classes = scenes, n_classes
        self._split = n_features * n_classes

    def score(self, i: int, w: Array) -> Array:
        """Return the scores of the labels of the sites, then what unequal neighbours lose."""
        scene = self._scenes[i]
        label = scene.scores(w[: self._split].reshape(-1, self._n_classes))
        return np.concatenate((label.ravel(), PAIR_SCALE * (scene.sites.pairs @ w[self._split :])))

    def gather(self, i: int, index: Parts | None, value: Array) -> Array:
        """Return the sums over parts of their features times these values."""
        scene, n_classes = self._scenes[i], self._n_classes
        n_labels = scene.sites.n_sites * n_classes
        if index is None:
            at, label = None, value[:n_labels].reshape(-1, n_classes)
            pair = value[n_labels:]
        else:
            is_label = index < n_labels
            sites, outcome = np.divmod(index[is_label].astype(np.int64), n_classes)
            at, row = np.unique(sites, return_inverse=True)
            label = np.zeros((len(at), n_classes))
            np.add.at(label, (row, outcome), value[is_label])
            edges = index[~is_label].astype(np.int64) - n_labels
            n_pairs = len(scene.sites.ends)
            pair = np.bincount(edges, value[~is_label], minlength=n_pairs).astype(np.float64)
        sums = scene.feature_sums(label, at).ravel()
        return np.concatenate((sums, PAIR_SCALE * (pair @ scene.sites.pairs)))


class _Search:
    """The best segmentation of an image, as the core asks for it."""

    threads_allowed = True

    def __init__(self, scenes: Sequence[Scene], n_classes: int) -> None:
        self._scenes, self._n_classes = scenes, n_classes
        #: How often the search was α-expansion, which may miss the best segmentation.
        self.inexact = Inexact()
        self._lock = threading.Lock()

    def infer(self, i: int, theta: Array, temperature: float) -> tuple[float, Parts, Array]:
        """Return (score, parts, their counts) of the best segmentation; costs are in the scores."""
        if temperature:
            raise CapabilityError(NO_SUMS)
        sites, n_classes = self._scenes[i].sites, self._n_classes
        n_labels = sites.n_sites * n_classes
        label = theta[:n_labels].reshape(-1, n_classes)
        labels = sites.best(label, theta[n_labels:])
        with self._lock:
            self.inexact.under += n_classes > 2
        index, counts = sites.parts(labels, n_classes)
        return float(theta[index] @ counts), index, counts

    def missed(self, i: int, theta: Array) -> float:
        """Return by how much a segmentation may score more than that of :meth:`infer`."""
        return math.inf if self._n_classes > 2 else 0.0  # α-expansion has no bound


def _gold(
    scenes: Sequence[Scene], n_classes: int, partial: npt.NDArray[np.bool_]
) -> dict[str, Any]:
    """Return the gold parts, or, of images with void sites, which labels are allowed."""
    rows: list[Parts] = []
    counts: list[Array] = []
    allowed: list[npt.NDArray[np.uint8]] = []
    pointers, at = np.full(len(scenes), -1, dtype=np.int64), 0
    for i, scene in enumerate(scenes):
        if partial[i]:
            table = np.arange(n_classes) == scene.site_gold[:, np.newaxis]
            table[~scene.site_known] = True
            allowed.append(table.astype(np.uint8).ravel())
            pointers[i] = at
            at += table.size
            rows.append(np.empty(0, np.uint32))
            counts.append(np.empty(0))
            continue
        index, value = scene.sites.parts(scene.site_gold, n_classes)
        rows.append(index)
        counts.append(value)
    ptr = np.concatenate(([0], np.cumsum([len(row) for row in rows]))).astype(np.int64)
    found: dict[str, Any] = {"ptr": ptr, "part": np.concatenate(rows)}
    found["value"] = np.concatenate(counts)
    if allowed:
        found |= {"allowed_ptr": pointers, "allowed": np.concatenate(allowed)}
    return found


def _costs(scenes: Sequence[Scene], n_classes: int, class_weight: Array | None) -> dict[str, Any]:
    """Return what labels cost: wrong pixels of known class, by the weights of their classes."""
    if scenes[0].counts is None:
        labels = np.concatenate([scene.site_gold for scene in scenes])
        spec = {"delta": 1.0 - np.eye(n_classes), "label": labels.astype(np.int32)}
        if class_weight is not None:
            spec["site_weight"] = class_weight[labels]  # where void, that of any: it costs nothing
        return spec
    values = []
    for scene in scenes:
        assert scene.counts is not None
        counts = scene.counts if class_weight is None else scene.counts * class_weight
        values.append((counts.sum(axis=1, keepdims=True) - counts).ravel())
    ptr = np.concatenate(([0], np.cumsum([len(v) for v in values]))).astype(np.int64)
    parts = np.concatenate([np.arange(len(v), dtype=np.uint32) for v in values])
    return {"ptr": ptr, "part": parts, "value": np.concatenate(values)}
