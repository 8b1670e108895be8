"""Learning a tagger natively: the perceptron over the features of a corpus, pass by pass."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ... import _core
from ...text.corpus import Corpus
from .learned import LearnedWeights, Masks

__all__ = [
    "Monitor",
    "TrainingSet",
    "make_perceptron",
    "split_weights",
    "train_perceptron",
    "train_side_by_side",
]

Score = Callable[[LearnedWeights], float]


@dataclass
class TrainingSet:
    """A corpus as numbers of features and labels, and what can be said of it.

    Attributes
    ----------
    vocabulary, rows : native objects
        Features and labels; the tokens in terms of their numbers.
    masks : Masks
        Hard constraints.
    """

    corpus: Corpus
    extractor: _core.Extractor
    vocabulary: _core.Vocabulary
    rows: _core.TokenRows
    masks: Masks = field(default_factory=Masks)

    @property
    def labels(self) -> list[str]:
        """The labels, sorted."""
        return list(self.vocabulary.labels)


class Monitor:
    """Watches a training run: a line a pass, the dev score, and when to stop.

    Parameters
    ----------
    score : callable or None
        Gives the dev score of weights.
    measure : str
        What the score is called.
    patience : int
        Stop after so many passes without a better dev score; 0: never.
    verbose : bool
        Lines on standard error.
    """

    def __init__(
        self, score: Score | None, measure: str, patience: int, verbose: bool, n_tokens: int
    ) -> None:
        self.score = score
        self.measure = measure
        self.patience = patience
        self.verbose = verbose
        self.n_tokens = n_tokens
        self.history: list[dict[str, Any]] = []
        self._begin = time.perf_counter()
        self.stopped = False
        self.several = False
        self.run = 0
        self.restart()

    def restart(self) -> None:
        """Forget the best pass: another run begins."""
        self.run += 1
        self.best: LearnedWeights | None = None
        self.best_score = float("-inf")
        self.best_pass = 0

    def share_threads(self) -> None:
        """Score on one thread: the runs have them."""
        score: Any = self.score
        if score is not None:
            score.threads = 1

    def of_run(self, run: int) -> Monitor:
        """Return one for a run of its own, side by side with others."""
        other = Monitor(self.score, self.measure, self.patience, self.verbose, self.n_tokens)
        other.run, other.several, other._begin = run, True, self._begin
        return other

    def gather(self, runs: Sequence[Monitor]) -> None:
        """Take over what the runs have noted; the last one stands for all."""
        for other in runs:
            self.history += other.history
        last = runs[-1]
        self.run, self.best, self.best_pass = last.run, last.best, last.best_pass

    def look(self, number: int, weights: Callable[[], LearnedWeights], **shown: Any) -> bool:
        """Take note of a pass; return True where it should be the last."""
        record: dict[str, Any] = {"pass": number, **shown}
        stop = self.stopped
        if self.score is not None:
            reached = weights()
            score = self.score(reached)
            record[self.measure] = score
            if score > self.best_score:
                self.best, self.best_score, self.best_pass = reached, score, number
            stop = stop or (bool(self.patience) and number - self.best_pass >= self.patience)
        record["seconds"] = round(time.perf_counter() - self._begin, 3)
        self.history.append(record)
        if self.verbose:
            print(self._line(record), file=sys.stderr, flush=True)
        return stop

    def _line(self, record: dict[str, Any]) -> str:
        words = [
            f"run {self.run}  pass {record['pass']:>3}"
            if self.several
            else f"pass {record['pass']:>3}"
        ]
        if "wrong" in record:
            words.append(f"training accuracy {1 - record['wrong'] / self.n_tokens:8.4%}")
        for key in ("loss", "objective", "gap"):
            if record.get(key) is not None:
                words.append(f"{key} {record[key]:.6g}")
        if self.measure in record:
            words.append(f"dev {self.measure} {record[self.measure]:.4f}")
        return "  ".join([*words, f"{record['seconds']:.2f} s"])


def split_weights(row_ptr: Any, column: Any, w: memoryview[float], n_labels: int) -> LearnedWeights:
    """Return the parts of a flat weight vector: features, start, end, transitions."""
    n = len(memoryview(column).cast("B")) // 4
    return LearnedWeights(
        row_ptr,
        column,
        w[:n],
        start=w[n : n + n_labels],
        end=w[n + n_labels : n + 2 * n_labels],
        transitions=[w[n + 2 * n_labels :]],
    )


def train_perceptron(
    learner: _core.IntegerPerceptron,
    data: TrainingSet,
    *,
    max_iter: int,
    shuffle: bool,
    average: bool,
    seed: int,
    monitor: Monitor,
) -> tuple[LearnedWeights, bool]:
    """Run the averaged perceptron on first-order chains, natively and in whole numbers.

    Parameters
    ----------
    learner : IntegerPerceptron
        What :func:`make_perceptron` made; begins anew.

    Returns
    -------
    weights, interrupted
        The weights after the last pass, or the best ones by the dev score; and whether Ctrl-C ended
        it early.
    """
    learner.reset()
    row_ptr, column = data.vocabulary.row_ptr(), data.vocabulary.column()
    n_labels = len(data.labels)

    def weights() -> LearnedWeights:
        w = memoryview(learner.weights(average)).cast("d")
        return split_weights(row_ptr, column, w, n_labels)

    interrupted = False
    try:
        for number in range(1, max_iter + 1):
            complete, updates, wrong = learner.epoch(0, shuffle, seed, number)
            if not complete:
                interrupted = True
                break
            if monitor.look(number, weights, updates=updates, wrong=int(wrong)):
                break
            if updates == 0:
                # Every later pass would be the same: the rest of the average in one go.
                learner.skip((max_iter - number) * len(data.corpus))
                break
    except KeyboardInterrupt:  # between two native loops; inside one, the loop ends by itself
        interrupted = True
    return monitor.best or weights(), interrupted


def train_side_by_side(
    learner: _core.IntegerPerceptron,
    data: TrainingSet,
    seeds: Sequence[int],
    threads: int,
    monitor: Monitor,
    **options: Any,
) -> tuple[list[LearnedWeights], bool]:
    """Run :func:`train_perceptron` for several seeds, so many at a time.

    Returns
    -------
    weights, interrupted
        In the order of the seeds. After Ctrl-C those of the runs that were complete; without any,
        what the first one has.
    """
    import queue
    from concurrent.futures import ThreadPoolExecutor

    learners: queue.SimpleQueue[_core.IntegerPerceptron] = queue.SimpleQueue()
    learners.put(learner)
    for _ in range(min(threads, len(seeds)) - 1):
        other = _new_perceptron(data)
        other.share_batches(learner)
        learners.put(other)
    monitors = [monitor.of_run(run) for run in range(1, len(seeds) + 1)]

    found: dict[int, LearnedWeights] = {}

    def train(run: int) -> None:
        mine = learners.get()
        try:
            found[run] = train_perceptron(
                mine, data, seed=seeds[run], monitor=monitors[run], **options
            )[0]
        finally:
            learners.put(mine)

    interrupted = False
    kept = list(range(len(seeds)))
    with ThreadPoolExecutor(min(threads, len(seeds))) as pool:
        try:
            runs = [pool.submit(train, run) for run in kept]
            for run in runs:
                run.result()
        except KeyboardInterrupt:  # the passes under way are the last
            interrupted = True
            complete = sorted(found)
            for other_monitor in monitors:
                other_monitor.stopped = True
            pool.shutdown(wait=True, cancel_futures=True)
            kept = complete or sorted(found)[:1]
    if not kept:  # nothing had begun
        raise KeyboardInterrupt
    monitor.gather([monitors[i] for i in kept])
    return [found[i] for i in kept], interrupted


def make_perceptron(data: TrainingSet) -> _core.IntegerPerceptron:
    """Return the native learner with the corpus laid out in its own way; the rows are given up."""
    learner = _new_perceptron(data)
    learner.add_batch(data.rows)
    data.rows.clear()
    return learner


def _new_perceptron(data: TrainingSet) -> _core.IntegerPerceptron:
    masks = data.masks
    return _core.IntegerPerceptron(data.vocabulary, True, masks.start, masks.end, masks.transition)
