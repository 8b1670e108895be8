"""The perceptron of taggers in whole numbers: the same bits as the estimators', in less time.

Its steps are +1 and −1. On first-order chains whose features have no values and whose sentences
have no weights all weights are whole numbers, and 32-bit integers compute what
:class:`~structlearn.learners.online.Online` computes with unit steps, to the last bit.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from ... import _core
from ...learners.base import Progress, Settings, Training
from .problem import TokenProblem

__all__ = ["IntegerPerceptron"]

Batches = Callable[[_core.IntegerPerceptron], Iterable[_core.IntegerBatch]]


class IntegerPerceptron:
    """A learner for :func:`~structlearn.tasks.learning.learn_task`.

    Parameters
    ----------
    problem : TokenProblem
        Knows which weights there are.
    masks : mapping of str to array
        What :func:`~structlearn.tasks.tagging.problem.scheme_masks` says.
    batches : callable
        Gives the sentences of a pass, read by the learner of the core that it is called with.
    tagger : Tagger
        Says whether to ``average`` and to ``shuffle``.
    """

    minimises = False

    def __init__(
        self, problem: TokenProblem, masks: Mapping[str, Any], batches: Batches, tagger: Any
    ) -> None:
        block = problem.layout.blocks["label"]
        assert block is not None
        real: Any = b"" if block.real is None else block.real
        tables = (masks.get(name, b"") for name in ("start", "end", "transition1"))
        self._layout = (problem.n_labels, block.row_ptr, block.column, real, *tables)
        self._batches = batches
        self.average, self.shuffle = tagger.average, tagger.shuffle
        self.random_state = 0

    @classmethod
    def in_memory(
        cls, problem: TokenProblem, masks: Mapping[str, Any], tagger: Any
    ) -> IntegerPerceptron:
        """Return one over the sentences of a problem that ``suits_integers``."""
        rows = problem.examples.blocks["label"]
        made = cls(problem, masks, lambda _: [batch], tagger)
        assert rows.indptr is not None
        assert rows.indices is not None
        # Laid out for the one way they are used, once for all runs.
        batch = made._native().read(rows.site_ptr, rows.indptr, rows.indices, problem.gold_numbers)
        return made

    def _native(self) -> _core.IntegerPerceptron:
        return _core.IntegerPerceptron(*self._layout)

    def seeded(self, seed: int) -> IntegerPerceptron:
        """Return one over the same sentences that shuffles by this seed."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, random_state=seed)
        return other

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
