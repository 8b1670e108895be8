"""What every learner takes and gives back, and how it tells of its progress."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from ..exceptions import InexactInferenceWarning
from ..meter import Meter

TYPE_CHECKING = False  # importing NumPy costs more than many a training
if TYPE_CHECKING:
    from ..array_types import Vector
    from ..problem import Problem

Callback = Callable[[dict[str, Any]], Any]
Snapshot = Callable[[], dict[str, Any] | None]

#: A gap that rounding errors alone may explain, as a share of the objective.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Settings:
    """The objective ½‖w‖² + l1·‖w‖₁ + C·Σ loss(γ, ε), and when to stop.

    Attributes
    ----------
    tol : float
        Stop where a proven gap is at most ``tol`` times the objective. Below 1e-9 rounding may not
        let it get there: a learner that finds nothing better stops at 1e-9.
    """

    margin: float
    temperature: float
    C: float = 1.0
    l1: float = 0.0
    max_iter: int = 10
    tol: float = 1e-3
    convex: bool = True

    def good_enough(self, gap: float | None, objective: float | None) -> bool:
        """Tell whether a proven gap has reached the tolerance."""
        if gap is None or objective is None or not math.isfinite(gap):
            return False
        return gap <= self.tol * objective

    def as_good_as_it_gets(self, gap: float | None, objective: float | None) -> bool:
        """Tell whether rounding errors may explain a gap, where nothing makes it smaller."""
        return replace(self, tol=max(self.tol, ROUNDING)).good_enough(gap, objective)


@dataclass
class Training:
    """What a learner found.

    Attributes
    ----------
    weights : array
        The weights to predict with.
    history : list of dict
        One record per iteration: iteration, seconds, loss and what else the learner knows
        (see ``history_`` of :class:`~structlearn.estimators.StructuredModel`).
    objective, gap : float or None
        The primal at ``weights`` and a bound on how far it is from the optimum; None where the
        learner proves none.
    converged : bool
        The gap reached the tolerance, or the violations theirs; True for learners that have none.
    interrupted : bool
        Ctrl-C ended it.
    stopped : bool
        A callback ended it.
    state : object
        What is needed to go on from here, with the same problem.
    key : str
        Names the problem and the objective that ``state`` belongs to; empty where nobody asked.
    rounds : list
        The rounds of cutting planes; empty for other learners. Where labels are filled in round by
        round: of the round that found the weights.
    filled : Problem or None
        The problem of that round, labels filled in, which ``rounds`` and ``state`` are of.
    unfinished : str
        What was not reached, where that is not a proven gap; for the warning.
    solver : str
        The name of what found it.
    """

    weights: Vector
    history: list[dict[str, Any]] = field(default_factory=list)
    objective: float | None = None
    gap: float | None = None
    converged: bool = True
    interrupted: bool = False
    stopped: bool = False
    state: Any = None
    key: str = ""
    rounds: list[Any] = field(default_factory=list)
    filled: Problem | None = None
    unfinished: str = ""
    solver: str = ""


def check_finite(value: float) -> None:
    """Raise where a loss has overflowed."""
    if not math.isfinite(value):
        raise ValueError(
            f"the loss became {value}: the features or C are too large for floating point; "
            "scale the features down"
        )


def warn_of_inexact_inference(
    problem: Problem, training: Training, settings: Settings, n_jobs: int | None = None
) -> None:
    """Say which guarantee is lost where inference did not find the best outputs.

    Under-generating inference (greedy, local search) may miss the most violated output: losses,
    objective and gap are then lower bounds of what they should be. Where it has upper bounds, which
    may cost more than the search itself, they are asked for once, at the final weights: what may be
    missing is added to the gap, which is a proof again. Over-generating inference (a relaxation)
    looks at more than the outputs: losses are upper bounds, so the gap still bounds the distance,
    to the optimum of the relaxed objective. See T. Finley & T. Joachims (2008), Training structural
    SVMs when exact inference is intractable.
    """
    inexact = problem.inexact
    missing = math.inf
    if inexact.under and training.gap is not None and not training.interrupted:
        missing = settings.C * problem.shortfall(training.weights, settings.margin, n_jobs)
    if math.isfinite(missing):
        assert training.gap is not None
        training.gap += missing
    if missing > 0.0 and math.isfinite(missing):
        warnings.warn(
            f"inference was not exact {inexact.under} times (under-generating: the most violated "
            f"output may have been missed): objective_ may be too small by at most {missing:.3g}, "
            "which duality_gap_ includes",
            InexactInferenceWarning,
            stacklevel=4,
        )
    elif inexact.under and missing > 0.0:
        lost = "" if training.gap is None else ", and duality_gap_ may be too small"
        warnings.warn(
            f"inference was not exact {inexact.under} times (under-generating: the most violated "
            f"output may have been missed): objective_ may be too small{lost}",
            InexactInferenceWarning,
            stacklevel=4,
        )
    if inexact.over:
        warnings.warn(
            f"inference gave fractional outputs {inexact.over} times (over-generating: a "
            "relaxation): objective_ and duality_gap_ are those of the relaxed problem, whose "
            "objective is an upper bound of the exact one",
            InexactInferenceWarning,
            stacklevel=4,
        )


class OwnLearner(Protocol):
    """A learner of one's own, given to an estimator or a task as ``solver=MyLearner(...)``.

    Write :meth:`run`, in one class in one file. It sees the four operations of the problem and the
    sums over them, and nothing else, so it works with every structure and every task. What it can
    do besides may be said by attributes:

    ==================  ==============================================================
    ``minimises``       False where it has no objective, like the perceptron's (True)
    ``needs_labels``    True where unknown labels must be filled in first (False)
    ``any_loss``        True where it takes losses that are no sums over outputs (False)
    ``in_cone``         True where it keeps weights in ``problem.cone`` (False)
    ==================  ==============================================================
    """

    def run(
        self,
        problem: Problem,
        settings: Settings,
        progress: Progress,
        *,
        start: Vector | None,
        n_jobs: int | None,
    ) -> Training:
        """Learn.

        Parameters
        ----------
        problem : Problem
            The examples.
        settings : Settings
            The objective, the number of iterations and the tolerance, as the estimator has them.
        progress : Progress
            To be told of every iteration by :meth:`Progress.report`, which returns True where a
            callback wants the training to end.
        start : array or None
            Weights to begin at.
        n_jobs : int or None
            Threads; the result must not depend on it.

        Returns
        -------
        Training
            With weights, history and, where there is a proof, objective and gap.
        """
        ...


class Learner(Protocol):
    """Anything that turns a problem into weights, its settings given at construction."""

    def run(
        self, problem: Problem, *, start: Any, progress: Progress, n_jobs: int | None
    ) -> Training:
        """Learn, from ``start`` (a :class:`Training` or None).

        Where ``progress.saved`` is not None, the run was ended from outside and goes on: ``start``
        does not count, and the run ends as it would have ended without the break.
        """
        ...


class Progress:
    """Collects records, prints them where asked to, and passes them to callbacks.

    Parameters
    ----------
    verbose : int
        0 is silent; above it each iteration is shown: a bar on a terminal, lines elsewhere.
    callbacks : sequence of callable
        Called with each record; one that returns True ends the training.
    name : str
        Of the learner, for the lines.
    n_iterations : int, optional
        The most iterations that there will be.

    Attributes
    ----------
    stopped : bool
        A callback has asked for the end.
    saved : dict or None
        What an earlier run offered as ``state`` in its last report, and a learner should go on
        from; its records are in ``records``, so that their number is that of the iterations done.
    keep : callable or None
        Told of every ``state`` that is offered (see :meth:`report`).
    """

    def __init__(
        self,
        verbose: int = 0,
        callbacks: Sequence[Callback] | Callback | None = None,
        name: str = "",
        n_iterations: int | None = None,
    ) -> None:
        self.verbose = verbose
        self.callbacks: Sequence[Callback] = (
            [] if callbacks is None else [callbacks] if callable(callbacks) else list(callbacks)
        )
        self.name = name
        self.records: list[dict[str, Any]] = []
        self.stopped = False
        #: Callbacks with a method ``step``, which is told of every example of an online learner.
        self.watchers = [c.step for c in self.callbacks if hasattr(c, "step")]
        #: Shows the iterations; entered by whoever knows when they end.
        self.meter = Meter(name, n_iterations, shown=bool(verbose))
        self.saved: dict[str, Any] | None = None
        self.keep: Callable[[Snapshot, bool], None] | None = None
        #: Gives a few words on who does the work, for the line of an iteration.
        self.describe: Callable[[], str] = str
        self._begin = time.perf_counter()

    def tell(self, **step: Any) -> None:
        """Tell of one example: its number, the weights before and after, and the loss."""
        for watcher in self.watchers:
            watcher(step)

    @property
    def seconds(self) -> float:
        """Time since the start."""
        return time.perf_counter() - self._begin

    def resume(self, saved: dict[str, Any], records: list[dict[str, Any]], seconds: float) -> None:
        """Go on with what an earlier run has left."""
        self.saved, self.records = saved, records
        self._begin = time.perf_counter() - seconds

    def report(
        self,
        weights: Callable[[], Vector],
        *,
        state: Snapshot | None = None,
        lasting: bool = False,
        **record: Any,
    ) -> bool:
        """Take a record; return True where a callback wants to stop.

        Callbacks get it with one more entry: ``weights``, which when called gives the weights that
        the learner would return if it ended now; no later iteration changes them.

        Parameters
        ----------
        state : callable, optional
            Gives all that the next iterations depend on, in a dictionary of arrays, numbers, lists,
            dictionaries and the states that ``structlearn.fitting.kinds.KINDS`` lists. None
            where there is no next iteration.
        lasting : bool
            ``state`` may be called at any time until the next report, and gives the same, or None
            where that is lost; otherwise it is called now or never.
        """
        record["seconds"] = self.seconds
        self.records.append(record)
        if self.verbose:
            self.meter.note(record["iteration"], self._line(record))
        stop = False
        told = self.describe()
        shown = {**record, "weights": weights, **({"workers": told} if told else {})}
        for callback in self.callbacks:
            stop = callback(shown) is True or stop
        self.stopped = self.stopped or stop
        # After the callbacks: one that fails is called again when the run goes on.
        if self.keep is not None and state is not None and not stop:
            self.keep(state, lasting)
        return stop

    def _line(self, record: dict[str, Any]) -> str:
        fields = [f"{self.name} iteration {record['iteration']:>3}"]
        for key in ("loss", "objective", "dual", "gap", "bound", "estimated_gap", "updates"):
            if key == "estimated_gap" and "gap" in record:
                continue
            value = record.get(key)
            if value is not None:
                fields.append(f"{key} {value}" if key == "updates" else f"{key} {value:.6g}")
        return "  ".join([*fields, *filter(None, [self.describe()]), f"{record['seconds']:.2f} s"])
