"""From the problem of a task to its weights: learners by name, several seeds, a dev set.

Every task learns here. What a task brings is a :class:`~structlearn.problem.Problem` and, for a dev
set, a function that scores weights. A learner's name stands for an estimator, and the parameters of
the task that go with it have that estimator's names and meaning.
"""

from __future__ import annotations

import glob
import os
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

from .. import _core
from ..learners.base import Training
from ..meter import Meter, say
from ..threads import one_blas_thread
from .dev_monitor import Watch
from .learner_registry import effective_parameters, learner_parameters
from .learning import learn, warn_unless_converged

TYPE_CHECKING = False  # importing NumPy costs more than many a training
if TYPE_CHECKING:
    import numpy.typing as npt

    from ..problem import Problem

    Vector = npt.NDArray[Any]

Score = Callable[[Any], float]

#: Seconds from one look at whether a run is complete to the next.
_LOOK = 0.2


@dataclass
class Learned:
    """What a task has learned.

    Attributes
    ----------
    weights : array
        The mean over the runs, of each run the best pass by the dev set, or what the learner found.
    n_models : int
        The number of runs that are in it.
    history : list of dict
        One record for each pass of each run.
    passes : int
        The pass whose weights were taken, of the last run.
    interrupted : bool
        Ctrl-C ended it: the runs that were complete count; without any, what the first one had.
    objective, gap : float or None
        Of the last run, where its learner knows them and no dev set chose another pass.
    parameters : dict
        The parameters that the learner had, those of presets included; plain values.
    """

    weights: Vector
    n_models: int
    history: list[dict[str, Any]] = field(default_factory=list)
    passes: int = 0
    interrupted: bool = False
    objective: float | None = None
    gap: float | None = None
    parameters: dict[str, Any] = field(default_factory=dict)

    def record(self, learner: str) -> dict[str, Any]:
        """Return what a model file tells of it; no times, so that equal models are equal files."""
        found: dict[str, Any] = {
            "learner": learner,
            "learner_parameters": self.parameters,
            "n_models": self.n_models,
            "passes": self.passes,
            "history": [{k: v for k, v in r.items() if k != "seconds"} for r in self.history],
        }
        if self.objective is not None:
            found.update(objective=self.objective, gap=self.gap)
        return found


def learn_task(
    task: Any,
    problem: Problem,
    *,
    start: Vector | None = None,
    preset: dict[str, Any] | None = None,
    score: Score | None = None,
    measure: str = "score",
    side_by_side: bool = False,
) -> Learned:
    """Learn the weights of a task's problem, ``task.n_models`` times with different seeds.

    Parameters
    ----------
    task : object
        Read only: its parameters. Besides those of :func:`learner_parameters` it may have
        ``n_models``, ``random_state``, ``patience``, ``callbacks``, ``checkpoint`` and ``verbose``.
    start : array, optional
        Weights to begin at, by default zeros; a dev set looks at them too, as pass 0.
    preset : dict, optional
        The task's own defaults of the learner's parameters.
    score : callable, optional
        Gives the dev score of weights, the larger the better.
    measure : str
        What the score is called.
    side_by_side : bool
        Inference is exact and runs on threads: several models may be learned at a time, on
        ``task.n_threads`` threads. The result is the same.
    """
    n_runs = int(getattr(task, "n_models", None) or 1)
    callbacks = getattr(task, "callbacks", None)
    more = [callbacks] if callable(callbacks) else list(callbacks or [])
    more = [_given_arrays(callback) for callback in more]
    path = getattr(task, "checkpoint", None)
    shown = _Shown(task, preset, n_runs) if getattr(task, "verbose", 0) else None
    asked = "max_iter" in (preset or {}) or getattr(task, "max_iter", None) is not None
    if problem.sharded and task.learner == "svm":
        # A task's own number of passes is that of Frank-Wolfe; cutting planes take more rounds.
        preset = {name: v for name, v in (preset or {}).items() if name != "max_iter"}
    found = Learned(None, 0)  # type: ignore[arg-type]  # until the end
    total: Vector | None = None

    def learn_one(run: int, watch: Watch) -> Training:
        if start is not None:
            watch.start(start)
        seed = int(task.random_state) + run - 1
        parameters = learner_parameters(task, seed, **(preset or {}))
        parameters.callbacks = [watch, *more]
        if path is not None:
            parameters.checkpoint = _checkpoint(path, run)
        training = learn(parameters, problem, weights=start)
        if shown is not None:
            shown.reached[run] = shown.n_passes  # it may have ended early
        found.parameters = effective_parameters(task.learner, parameters, training.solver)
        if score is None and not asked:
            warn_unless_converged("the learner", training, parameters.tol, stacklevel=4)
        return training

    def watches(first: int = 1) -> Iterator[tuple[int, Watch]]:
        patience = int(getattr(task, "patience", None) or 0)
        for run in range(first, n_runs + 1):
            told: dict[str, Any] = (
                {} if shown is None else {"tell": shown.of(run), "n_passes": shown.n_passes}
            )
            yield run, Watch(score, measure, patience, run=run, n_runs=n_runs, **told)

    def one_after_another() -> Iterator[tuple[int, Watch, Training]]:
        for run, watch in watches(_run_to_go_on_with(path, n_runs)):
            watch.total, watch.earlier = total, list(found.history)
            yield run, watch, learn_one(run, watch)

    threads = min(n_runs, int(getattr(task, "n_threads", 1)))
    if side_by_side and threads > 1 and path is None and not more and not problem.sharded:
        results = _side_by_side(learn_one, list(watches()), threads)
    else:
        results = one_after_another()
    for run, watch, training in _metered(results, shown):
        if run == 1 or watch.total is not None:
            total = watch.total  # a checkpoint brings that of the runs before it
        found.history = [*(watch.earlier or found.history), *watch.history]
        found.interrupted = training.interrupted
        if training.interrupted and total is not None:
            break  # the runs that are complete count
        found.passes = watch.best_pass if watch.best is not None else len(watch.history)
        if watch.best is None:
            found.objective, found.gap = training.objective, training.gap
        best = watch.best if watch.best is not None else training.weights
        total = best if total is None else _sum(total, best)
        found.n_models = run
        if training.interrupted:
            break
    if total is None:
        raise KeyboardInterrupt
    found.weights = total if found.n_models == 1 else _divided(total, found.n_models)
    if shown is not None:
        shown.close(found, measure if score is not None else None)
        if score is not None and found.n_models > 1:
            reached = f"dev {measure} {score(found.weights):.4f}"
            say(f"mean of {found.n_models} models, which is kept: {reached}")
    return found


def _given_arrays(callback: Any) -> Any:
    """Return a callback that gets weights as an array, whatever the learner has."""
    import numpy as np

    def told(record: dict[str, Any]) -> Any:
        weights = record["weights"]
        return callback({**record, "weights": lambda: np.asarray(weights())})

    if hasattr(callback, "step"):
        told.step = callback.step  # type: ignore[attr-defined]
    return told


def _sum(total: Any, weights: Any) -> Any:
    return _core.added(total, weights) if isinstance(weights, memoryview) else total + weights


def _divided(total: Any, by: int) -> Any:
    return (
        _core.divided(total, by) if isinstance(total, memoryview) else total / total.dtype.type(by)
    )


def _side_by_side(
    learn_one: Callable[[int, Watch], Training], runs: list[tuple[int, Watch]], threads: int
) -> Iterator[tuple[int, Watch, Training]]:
    """Yield the runs, learned ``threads`` at a time, in their order.

    After Ctrl-C those that were complete, and then an interrupted one: where none was complete,
    what the first has reached.
    """
    from concurrent.futures import ThreadPoolExecutor, wait

    done: dict[int, Training] = {}
    begun, ended = set[int](), set[int]()

    def train(run: int, watch: Watch) -> None:
        begun.add(run)
        try:
            done[run] = learn_one(run, watch)
        finally:
            ended.add(run)

    interrupted = False
    # Learners set the limit one by one, and what they restore must be the same.
    with one_blas_thread(), ThreadPoolExecutor(threads) as pool:
        try:
            futures = [pool.submit(train, run, watch) for run, watch in runs]
            for future in futures:
                # Python misses a signal that comes just before it waits: so it looks again.
                while wait([future], timeout=_LOOK).not_done:
                    pass
                future.result()
        except KeyboardInterrupt:  # the passes under way are the last
            interrupted = True
            complete = set(done)
        finally:
            for _, watch in runs:
                watch.stopped = True
            pool.shutdown(wait=True, cancel_futures=True)
            while begun != ended:  # a thread that was interrupted as it began: the pool forgot it
                time.sleep(_LOOK)
    if not interrupted:
        complete = set(done)
    kept = [run for run, _ in runs if run in complete]
    for number, run in enumerate(kept, 1):
        yield number, runs[run - 1][1], done[run]
    if interrupted and done:
        first = min(done)
        done[first].interrupted = True
        yield len(kept) + 1, Watch() if kept else runs[first - 1][1], done[first]


def _checkpoint(path: Any, run: int) -> str:
    """Return the file of one run: the name itself, for later runs with a number behind it."""
    return os.fspath(path) if run == 1 else f"{os.fspath(path)}.{run}"


def _run_to_go_on_with(path: Any, n_runs: int) -> int:
    """Return the run to resume, by its checkpoint file; 1 if there is no file."""
    if path is None:
        return 1
    runs = (run for run in range(n_runs, 1, -1) if glob.glob(glob.escape(_checkpoint(path, run))))
    return next(runs, 1)


def _metered(results: Iterator[Any], shown: _Shown | None) -> Iterator[Any]:
    """Yield the runs while the bar is shown."""
    with nullcontext() if shown is None else shown.meter:
        yield from results


class _Shown:
    """The passes of all runs, as they are shown."""

    def __init__(self, task: Any, preset: dict[str, Any] | None, n_runs: int) -> None:
        self.n_passes = int(learner_parameters(task, 0, **(preset or {})).max_iter)
        self.meter = Meter("training", n_runs * self.n_passes)
        self.reached: dict[int, int] = {}
        if n_runs > 1:
            say(
                f"{n_runs} models with different seeds are trained, and the mean of their weights "
                "is kept; n_models=1 (--n-models 1) trains one"
            )

    def of(self, run: int) -> Callable[[int, str], None]:
        """Return what is told of the passes of a run."""

        def tell(number: int, line: str) -> None:
            self.reached[run] = number
            self.meter.note(sum(self.reached.values()), line)

        return tell

    def close(self, found: Learned, measure: str | None) -> None:
        """Say how it ended where the lines of the passes were not written."""
        if not self.meter.on_terminal or not found.history:
            return
        line = f"{len(found.history)} passes, {self.meter.seconds:.1f} s"
        if measure is not None:
            best = max(record[f"dev_{measure}"] for record in found.history)
            line += f"; best dev {measure} {best:.4f}"
        say(line)
