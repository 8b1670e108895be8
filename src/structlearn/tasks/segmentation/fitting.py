"""How a segmenter learns: single pixels first, then pairs, then all together."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .features import Basis, PixelFeatures
from .folders import Example
from .likelihood import fit_alone, fit_pseudo
from .masks import MaskCoding
from .model import SegmenterModel, in_parallel, make_sites, one_blas_thread
from .scenes import Scene
from .scores import compare
from .sites import Contrast
from .structured import learn_together

__all__ = ["fit_segmenter"]

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

#: Pixels that the model of single ones learns from, and the likelihood of pairs an image.
_SAMPLE = 60_000
_PAIR_SAMPLE = 60_000
#: Features that are kept rather than worked out again, over all images: half a gigabyte.
_MOST_KEPT = 1 << 27
_STEPS = 80
_PASSES = 6
#: What pairs weigh where the data tells nothing, as scribbles of a few pixels do.
_PRIOR = np.array([4.0, 4.0, 12.0])


def fit_segmenter(
    segmenter: Any, examples: Sequence[Example], dev: Sequence[Example] | None, names: Any
) -> tuple[SegmenterModel, list[dict[str, Any]]]:
    """Learn from examples; return the model and a record a pass."""
    coding = MaskCoding.fit([e.mask for e in examples], names, segmenter.void)
    gold = [coding.encode(e.mask) for e in examples]
    held_out = None if dev is None else [coding.encode(e.mask) for e in dev]
    with one_blas_thread():
        return _Fitting(segmenter, examples, gold, coding).run(dev, held_out)


class _Fitting:
    def __init__(
        self, segmenter: Any, examples: Sequence[Example], gold: list[Integers], coding: MaskCoding
    ) -> None:
        self.segmenter, self.coding = segmenter, coding
        self.begin = time.perf_counter()
        self.threads: int = segmenter.n_threads
        self.rng = np.random.default_rng(segmenter.random_state)
        self.n_classes = len(coding.names)
        self.features = PixelFeatures(segmenter.scales, segmenter.place)
        total = sum(one.size for one in gold)
        self.say(f"{len(gold)} images, {total:,} pixels, {self.n_classes} classes")
        keep = total * len(self.features) <= _MOST_KEPT

        def scene(pair: tuple[Example, Integers]) -> Scene:
            image = pair[0].image
            base = None
            if keep:
                base = self.features.compute(image).reshape(-1, len(self.features))
            return Scene(image, pair[1], base)

        self.scenes = in_parallel(scene, list(zip(examples, gold, strict=True)), self.threads)
        self.contrast = Contrast.fit([e.image for e in examples])

    def say(self, line: str) -> None:
        if self.segmenter.verbose:
            print(line, file=sys.stderr, flush=True)

    # -- the stages -----------------------------------------------------------------------------

    def run(
        self, dev: Sequence[Example] | None, gold: list[Integers] | None
    ) -> tuple[SegmenterModel, list[dict[str, Any]]]:
        learner = self.segmenter.learner
        alone = self.learn_alone()
        seconds = time.perf_counter() - self.begin
        self.say(f"pixels alone: {seconds:.1f} s")

        def prepare(scene: Scene) -> None:
            sites = make_sites(scene.image, self.contrast, self.segmenter.superpixels)
            scene.prepare(sites, self.basis, self.features, self.n_classes)

        in_parallel(prepare, self.scenes, self.threads)
        pair = self.learn_pairs(alone)
        history: list[dict[str, Any]] = []
        best: tuple[float, Array, Array] | None = None

        def judge(number: int, error: float | None, label: Array, pair: Array) -> bool:
            nonlocal best
            record: dict[str, Any] = {
                "pass": number,
                "training_error": error,
                "seconds": time.perf_counter() - self.begin,
            }
            score = float(number)  # without a dev set the last pass is the best
            line = f"pass {number}: {record['seconds']:.1f} s"
            if error is not None:
                line += f", wrong in training {100 * error:.2f} %"
            if dev is not None and gold is not None:
                model = self.model(label, pair, alone)
                found = model.segment_all([e.image for e in dev], threads=self.threads)
                score = record["dev_iou"] = compare(gold, found, self.n_classes).mean_iou
                line += f", dev IoU {100 * score:.2f}"
            self.say(line)
            history.append(record)
            if best is None or score > best[0]:
                best = (score, label, pair)
                record["best"] = True
            patience = self.segmenter.patience
            since = len(history) - 1 - max(i for i, r in enumerate(history) if "best" in r)
            return dev is not None and patience > 0 and since >= patience

        judge(0, None, alone, pair)
        if learner != "crf":
            learn_together(
                self.scenes,
                alone,
                pair,
                margin=self.segmenter.cost if learner == "svm" else 0.0,
                decay=self.decay,
                passes=self.segmenter.max_iter or _PASSES,
                threads=self.threads,
                seed=self.segmenter.random_state,
                after_pass=judge,
            )
        assert best is not None
        model = self.model(best[1], best[2], alone)
        model.training = {
            "learner": learner,
            "images": len(self.scenes),
            "pixels": int(sum(s.n_pixels for s in self.scenes)),
            "passes": len(history) - 1,
            "random_state": self.segmenter.random_state,
        }
        return model, history

    @property
    def decay(self) -> float:
        return 1e-4 / float(self.segmenter.C)

    def learn_alone(self) -> Array:
        """Return the weights of the model of single pixels, from a sample of known ones."""
        known = [np.flatnonzero(scene.known) for scene in self.scenes]
        counts = np.cumsum([0, *(len(k) for k in known)])
        n = int(counts[-1])
        chosen = np.sort(self.rng.permutation(n)[:_SAMPLE]) if n > _SAMPLE else np.arange(n)
        base, gold = [], []
        for e, scene in enumerate(self.scenes):
            mine = chosen[(chosen >= counts[e]) & (chosen < counts[e + 1])] - counts[e]
            if len(mine):
                base.append(scene.base(self.features)[known[e][mine]])
                gold.append(scene.gold[known[e][mine]])
        sample, labels = np.concatenate(base), np.concatenate(gold)
        self.basis = Basis.fit(sample)
        last = time.perf_counter()

        def report(step: int) -> None:
            nonlocal last
            if time.perf_counter() - last > 2.0:
                last = time.perf_counter()
                self.say(f"pixels alone: step {step} of {_STEPS}")

        return fit_alone(
            self.basis.expand(sample), labels, self.n_classes, self.decay, _STEPS, report
        )

    def learn_pairs(self, alone: Array) -> Array:
        """Return the weights of pairs by pseudo-likelihood, the pixels' own weights given."""
        single = alone.astype(np.float32)
        share = max(1, _PAIR_SAMPLE // len(self.scenes))
        draws = self.rng.integers(2**63, size=len(self.scenes)).tolist()

        def terms(pair: tuple[Scene, int]) -> tuple[Array, Array, Integers]:
            scene, seed = pair
            at = np.flatnonzero(scene.site_known)
            if len(at) > share:
                at = np.sort(np.random.default_rng(seed).permutation(at)[:share])
            scores = (scene.rows()[at] @ single).astype(np.float64)
            return scores, scene.neighbours(self.n_classes)[at], scene.site_gold[at]

        found = in_parallel(terms, list(zip(self.scenes, draws, strict=True)), self.threads)
        label, near, gold = (np.concatenate(part) for part in zip(*found, strict=True))
        return fit_pseudo(label, near, gold, _PRIOR, self.decay)

    def model(self, label: Array, pair: Array, alone: Array) -> SegmenterModel:
        return SegmenterModel(
            self.coding,
            self.features,
            self.basis,
            self.contrast,
            label,
            pair,
            alone,
            self.segmenter.superpixels,
        )
