"""From parameters and a problem to weights: what estimators and taggers share.

Nothing here needs scikit-learn, whose import takes longer than many a training.
"""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, NamedTuple

from ..exceptions import ConvergenceWarning
from ..learners.base import Progress, Settings, Training, warn_of_inexact_inference
from ..learners.online import Beam
from ..learners.orders import generator
from ..learners.solvers import SOLVERS, Options, best_solver, check_solver, find_solver
from ..threads import one_blas_thread
from .example_weights import refuse_no_weight
from .latent import around, fills_in, random_start
from .learner_registry import LearningParameters

TYPE_CHECKING = False  # importing NumPy costs more than many a training
if TYPE_CHECKING:
    from ..array_types import Array
    from ..problem import Problem
    from ..problem.online_state import OnlineState

    Vector = Array


class Kept(NamedTuple):
    """What a solver left behind, and of which problem it is."""

    solver: str
    key: str
    state: Any


def _key(problem: Problem, settings: Settings) -> str:
    """Name all that a solver's state depends on: the problem and the objective."""
    from ..problem.digest import problem_digest

    terms = (settings.margin, settings.temperature, settings.C, settings.l1)
    return " ".join([problem_digest(problem), *(f"{term!r}" for term in terms)])


def learn(
    parameters: LearningParameters,
    problem: Problem,
    *,
    weights: Vector | None = None,
    state: OnlineState | None = None,
    kept: Kept | None = None,
    before: OnlineState | None = None,
    max_iter: int | None = None,
    shuffle: bool | None = None,
) -> Training:
    """Solve a problem.

    Parameters
    ----------
    parameters : LearningParameters
        Read only.
    weights : array, optional
        Where to begin.
    state : OnlineState, optional
        Where an online learner goes on.
    kept : Kept, optional
        What an earlier training left behind: where it is of the same problem, objective and solver,
        a better beginning than weights, and otherwise none at all. The training is asked to name
        its own problem where the parameters' ``warm_start`` is set.
    before : OnlineState, optional
        Online learners that start from weights: as small as steps were then, with what is known of
        each weight; by default as after a pass.
    max_iter, shuffle : optional
        Instead of the parameters' own.

    Returns
    -------
    Training
        With ``solver``: the one that "auto" was.
    """
    if problem.n_examples:  # there are none where a learner reads a stream
        refuse_no_weight(problem.total_weight)
    partial = problem.has_unknown
    settings = Settings(
        margin=float(parameters.margin),
        temperature=float(parameters.temperature),
        C=float(parameters.C),
        l1=float(parameters.l1),
        max_iter=parameters.max_iter if max_iter is None else max_iter,
        tol=float(parameters.tol),
        convex=not partial and problem.likelihood != "loopy",
    )
    chosen = parameters.solver
    if problem.sharded and chosen == type(parameters).solver and chosen in SOLVERS:
        # A default that needs all examples in one place; it is refused where it was asked for.
        chosen = chosen if SOLVERS[chosen].over_shards else "auto"
    if chosen == "auto" and parameters.step != "decaying":
        chosen = "sgd"  # nothing else has steps
    elif chosen == "auto":
        chosen = best_solver(settings, problem, at_weights=weights is not None)
    name, solver = find_solver(chosen)
    check_solver(name, solver, problem)
    # With unknown labels a state is of the last round's problem, which no later fit will see.
    warm = parameters.warm_start and settings.convex and shuffle is None
    key = _key(problem, settings) if warm and solver.keeps else ""
    start: Any = state
    if kept is not None and kept.key == key and kept.solver == name:
        start = kept.state
    # partial_fit, which sets shuffle, has one pass to make and no time for rounds.
    by_rounds = shuffle is None and fills_in(problem, name, solver, parameters.latent)
    settings = replace(settings, convex=solver.minimises and (by_rounds or settings.convex))
    options = Options(
        step=parameters.step,
        average=bool(parameters.average),
        shuffle=bool(parameters.shuffle) if shuffle is None else shuffle,
        violation_tol=parameters.violation_tol,
        random_state=parameters.random_state,
        rate=float(parameters._rate),
        delta=float(parameters.delta),
        least=float(parameters.least),
        squared=parameters.loss == "squared_hinge",
        beam=None if parameters.beam is None else Beam(int(parameters.beam), parameters.update_at),
    )
    # partial_fit, which sets shuffle, makes one pass; there is nothing to go on with.
    path = parameters.checkpoint if shuffle is None else None
    checkpoint = None
    if path is not None:
        from .checkpoint import Checkpoint, identity

        origin = {"weights": weights, "state": start, "before": before}
        belongs_to = identity(
            problem, name, settings, options, latent=parameters.latent, start=origin
        )
        checkpoint = Checkpoint(path, belongs_to)
    if start is None and weights is not None and solver.from_weights:
        start = weights
        if solver.online:
            from ..problem.online_state import OnlineState

            after = float(problem.n_examples) if before is None else before.steps
            start = OnlineState.at(weights, average=options.average, steps=after)
            if before is not None:
                start.squares = before.squares
    learner = solver.make(settings, options)
    if by_rounds:
        learner, start = around(learner, settings, generator(parameters.random_state), start)
    elif start is None and partial and problem.gold is not None and len(problem.gold.sets):
        average = options.average if solver.online else None
        start = random_start(problem, generator(parameters.random_state), average=average)
    shown = (type(parameters).__name__, int(settings.max_iter))
    progress = Progress(parameters.verbose, parameters.callbacks, *shown)
    progress.describe = problem.progress
    if checkpoint is not None:
        checkpoint.attach(progress)
    problem.check_threads(parameters.n_jobs)
    # BLAS on one thread: its sums would depend on the number of threads, and its own threads get in
    # the way of ours.
    resuming = nullcontext() if checkpoint is None else checkpoint.resuming()
    with one_blas_thread(), progress.meter, resuming:
        training = learner.run(problem, start=start, progress=progress, n_jobs=parameters.n_jobs)
    if checkpoint is not None and training.interrupted:
        checkpoint.interrupted()
    elif checkpoint is not None:
        checkpoint.remove()
    training.solver = name
    training.key = key if solver.keeps else ""
    if solver.minimises:  # learners that move after mistakes have no guarantee to lose
        warn_of_inexact_inference(problem, training, settings, parameters.n_jobs)
    return training


def warn_unless_converged(name: str, training: Training, tol: float, stacklevel: int = 2) -> None:
    """Say that a training ended before it reached its tolerance."""
    if training.converged or training.stopped or training.interrupted:
        return
    told = f"{name} stopped after {len(training.history)} iterations "
    if training.unfinished:
        told += training.unfinished
    elif training.gap is None or training.objective is None:
        told += "before it converged; raise max_iter"
    else:
        told += (
            f"with a gap of {training.gap:.3g} to the optimum at objective "
            f"{training.objective:.6g}; tol={tol:g} asks for {tol * abs(training.objective):.3g}. "
            "Raise max_iter, or tol"
        )
    warnings.warn(told, ConvergenceWarning, stacklevel=stacklevel + 1)
