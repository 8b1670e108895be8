"""The perceptron of taggers in whole numbers: the same bits as the estimators', in less time.

Its steps are +1 and −1. On first-order chains whose features have no values and whose sentences
have no weights all weights are whole numbers, and 32-bit integers compute what
:class:`~structlearn.learners.online.Online` computes with unit steps, to the last bit.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .. import _core
from .base import Progress, Settings, Training

__all__ = ["IntegerPerceptron"]

Batches = Callable[[_core.IntegerPerceptron], Iterable[_core.IntegerBatch]]


class IntegerPerceptron:
    """A learner over sentences that the core has read.

    Parameters
    ----------
    native : callable
        Makes the learner of the core, which knows the weights there are.
    batches : callable
        Gives the sentences of a pass, read by the learner of the core that it is called with.
    average, shuffle : bool
        As :class:`~structlearn.estimators.StructuredPerceptron` has them.
    random_state : int
        Seed of the order of the sentences.
    """

    minimises = False

    def __init__(
        self,
        native: Callable[[], _core.IntegerPerceptron],
        batches: Batches,
        *,
        average: bool,
        shuffle: bool,
        random_state: int,
    ) -> None:
        self._native, self._batches = native, batches
        self.average, self.shuffle, self.random_state = average, shuffle, random_state

    def run(
        self,
        problem: Any,
        settings: Settings,
        progress: Progress,
        *,
        start: Any = None,
        n_jobs: int | None = None,
    ) -> Training:
        """Pass over the sentences ``max_iter`` times, or until none is wrong."""
        native = self._native()
        rng = np.random.default_rng(self.random_state)
        calls = 0
        if progress.saved is not None:
            native.load(*(progress.saved[name] for name in ("v", "behind", "steps")))
            rng.bit_generator.state = progress.saved["rng"]
            calls = progress.saved["calls"]

        def state() -> dict[str, Any]:
            v, behind, steps = native.save()
            own = {"v": v, "behind": behind, "steps": steps}
            return {**own, "rng": dict(rng.bit_generator.state), "calls": calls}

        training = Training(np.zeros(0))
        try:
            for number in range(len(progress.records) + 1, settings.max_iter + 1):
                complete, seen, updates, loss = True, 0, 0, 0.0
                for batch in self._batches(native):
                    n = batch.n_sentences
                    order = rng.permutation(n) if self.shuffle else np.arange(n)
                    found = native.epoch(batch, order.astype(np.int64))
                    complete, seen = found[0], seen + found[1]
                    updates, loss = updates + found[2], loss + found[3]
                    if not complete:
                        break
                calls += seen
                training.interrupted = not complete
                if training.interrupted:
                    break
                done = updates == 0 or number == settings.max_iter
                # A pass changes what it begins with: what a checkpoint may want is kept.
                kept = None if done or progress.keep is None else state()
                training.stopped = progress.report(
                    lambda: native.weights(self.average),
                    state=None if kept is None else functools.partial(dict, kept),
                    lasting=True,
                    iteration=number,
                    loss=loss,
                    updates=updates,
                    oracle_calls=calls,
                )
                if training.stopped:
                    break
                if updates == 0:
                    # Every later pass would be the same: the rest of the average in one go.
                    native.skip((settings.max_iter - number) * seen)
                    break
        except KeyboardInterrupt:  # between two native loops; inside one, the loop ends by itself
            training.interrupted = True
        training.history = progress.records
        training.weights = native.weights(self.average)
        return training
