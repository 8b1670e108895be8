"""The solvers by name: how each is made, what it can do, and which one suits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from .base import Learner, OwnLearner, Progress, Settings, Training
from .online import Beam, Online
from .orders import generator

TYPE_CHECKING = False  # importing NumPy costs more than many a training
if TYPE_CHECKING:
    import numpy as np

    from ..problem import Problem


@dataclass(frozen=True)
class Options:
    """What some solvers take besides the settings.

    Attributes
    ----------
    step : {"decaying", "constant"}
        Of "sgd".
    average, shuffle : bool
        Of the online learners; ``shuffle`` of Frank-Wolfe too.
    violation_tol : float or None
        Of cutting planes.
    random_state : int, Generator, RandomState or None
        For the order of the examples.
    rate : float
        η of AdaGrad, r of AROW.
    delta : float
        δ of AdaGrad.
    least : float
        Of the online learners: parts with a smaller part of the gradient are left out of a step.
    squared : bool
        Passive-aggressive steps for squared slacks.
    beam : Beam or None
        Of the learners that move after a mistake: search by it.
    """

    step: str
    average: bool
    shuffle: bool
    violation_tol: float | None
    random_state: Any
    rate: float
    delta: float
    least: float
    squared: bool
    beam: Beam | None

    @property
    def seeded(self) -> np.random.Generator:
        """A generator that is the same every time without a seed: convex fits do not change."""
        return generator(0 if self.random_state is None else self.random_state)


@dataclass(frozen=True)
class Solver:
    """A solver.

    Attributes
    ----------
    make : callable
        Makes the learner; refuses settings that it cannot have.
    online : bool
        Looks at one example and moves on: can go on with other data.
    keeps : bool
        Its state, as large as the data, makes a better start than weights do.
    from_weights : bool
        Can begin at given weights; otherwise it begins anew.
    minimises : bool
        It has an objective; otherwise it moves after mistakes only.
    needs_labels : bool
        Its proofs need every label; with unknown ones they are filled in round by round.
    in_cone : bool
        Keeps weights in a cone (``problem.cone``).
    in_bounds : bool
        Keeps them in one whose every inequality is about one weight (``problem.cone.bounds``).
    any_loss : bool
        Takes any value and gradient for a loss at ε > 0, such as those of a pseudo-likelihood;
        others need that they are sums over outputs.
    over_shards : bool
        Asks for sums over all examples, or passes over all of them, and for nothing else.
    """

    make: Callable[[Settings, Options], Learner]
    online: bool = False
    keeps: bool = False
    from_weights: bool = True
    minimises: bool = True
    needs_labels: bool = False
    in_cone: bool = False
    in_bounds: bool = False
    any_loss: bool = False
    over_shards: bool = False


def _online(settings: Settings, options: Options, step: str) -> Learner:
    return Online(
        settings,
        step=step,
        average=options.average,
        shuffle=options.shuffle,
        random_state=options.random_state,
        rate=options.rate,
        delta=options.delta,
        least=options.least,
        beam=options.beam,
    )


def _passive_aggressive(settings: Settings, options: Options) -> Learner:
    step = "passive-aggressive squared" if options.squared else "passive-aggressive"
    return _online(settings, options, step)


def _made(home: str, *given: Any, **named: Any) -> Learner:
    """Make a learner of a module that is imported now: few are needed at a time."""
    module, name = home.split(".")
    learner: Learner = getattr(import_module(f".{module}", __package__), name)(*given, **named)
    return learner


SOLVERS: dict[str, Solver] = {
    "perceptron": Solver(
        lambda s, o: _online(s, o, "unit"),
        online=True,
        minimises=False,
        in_cone=True,
        over_shards=True,
    ),
    "sgd": Solver(
        lambda s, o: _online(s, o, o.step),
        online=True,
        in_cone=True,
        any_loss=True,
        over_shards=True,
    ),
    "passive-aggressive": Solver(
        _passive_aggressive, online=True, minimises=False, in_cone=True, over_shards=True
    ),
    "adagrad": Solver(
        lambda s, o: _online(s, o, "adagrad"), online=True, in_bounds=True, over_shards=True
    ),
    "arow": Solver(
        lambda s, o: _online(s, o, "arow"),
        online=True,
        minimises=False,
        in_bounds=True,
        over_shards=True,
    ),
    "lbfgs": Solver(
        lambda s, o: _made("owlqn.OWLQN" if s.l1 else "lbfgs.LBFGS", s),
        any_loss=True,
        over_shards=True,
    ),
    "projected": Solver(
        lambda s, o: _made("projected.ProjectedGradient", s),
        in_cone=True,
        any_loss=True,
        over_shards=True,
    ),
    "sag": Solver(
        lambda s, o: _made("sag.SAG", s, random_state=o.seeded), keeps=True, needs_labels=True
    ),
    "dual": Solver(
        lambda s, o: _made("dual_ascent.DualAscent", s, random_state=o.seeded),
        keeps=True,
        from_weights=False,
        needs_labels=True,
    ),
    "frank-wolfe": Solver(
        lambda s, o: _made("frank_wolfe.FrankWolfe", s, random_state=o.seeded, shuffle=o.shuffle),
        keeps=True,
        needs_labels=True,
        in_cone=True,
    ),
    "n-slack": Solver(
        lambda s, o: _made("cutting_planes.NSlack", s, violation_tol=o.violation_tol),
        keeps=True,
        needs_labels=True,
        in_cone=True,
    ),
    "one-slack": Solver(
        lambda s, o: _made("one_slack.OneSlack", s, violation_tol=o.violation_tol),
        keeps=True,
        needs_labels=True,
        in_cone=True,
        over_shards=True,
    ),
    "annealing": Solver(lambda s, o: _made("annealing.Annealing", s), needs_labels=True),
}


class _Bound:
    """A learner of a user's with the settings that it is to have."""

    def __init__(self, learner: OwnLearner, settings: Settings) -> None:
        self.learner, self.settings = learner, settings

    def run(
        self, problem: Problem, *, start: Any, progress: Progress, n_jobs: int | None
    ) -> Training:
        """Call the user's."""
        name = type(self.learner).__name__
        found = self.learner.run(problem, self.settings, progress, start=start, n_jobs=n_jobs)
        if not isinstance(found, Training):
            raise TypeError(f"{name}.run must return a Training, got {type(found).__name__}")
        import numpy as np

        found.weights = np.asarray(found.weights, dtype=np.float64)
        if found.weights.shape != (problem.n_weights,) or not np.isfinite(found.weights).all():
            raise ValueError(
                f"{name}.run must return {problem.n_weights} finite weights, got shape "
                f"{found.weights.shape}"
            )
        found.history = found.history or progress.records
        found.stopped = found.stopped or progress.stopped
        return found


def find_solver(solver: Any) -> tuple[str, Solver]:
    """Return the name and the abilities of a solver that is named, or of a user's learner."""
    if isinstance(solver, str):
        if solver not in SOLVERS:
            known = ", ".join(("auto", *SOLVERS))
            raise ValueError(f"solver must be one of {known}, or a learner, got {solver!r}")
        return solver, SOLVERS[solver]
    able = {k: bool(getattr(solver, k, False)) for k in ("needs_labels", "any_loss", "in_cone")}
    minimises = bool(getattr(solver, "minimises", True))
    # Of a user's own, what it asks for is not known: sums are what most take.
    made = Solver(lambda s, o: _Bound(solver, s), minimises=minimises, over_shards=True, **able)
    return type(solver).__name__, made


def best_solver(settings: Settings, problem: Problem, *, at_weights: bool = False) -> str:
    """Return the name of the solver that "auto" stands for.

    The perceptron at γ = ε = 0; for the hinge (ε = 0) Frank-Wolfe, or "sgd" where labels are
    unknown; for ε > 0 dual ascent where it suits, else L-BFGS (Potts terms among it, and sums that
    are certified only), or projected gradients where the weights stay in a cone. Where examples are
    in shards, one-slack cutting planes for the hinge, and L-BFGS for ε > 0.

    Parameters
    ----------
    at_weights : bool
        Training begins at given weights.
    """
    if settings.temperature == 0:
        if settings.margin == 0:
            return "perceptron"
        if not settings.convex:
            return "sgd"
        return "one-slack" if problem.sharded else "frank-wolfe"
    if problem.cone is not None:
        return "projected"
    if problem.likelihood != "exact" or at_weights or problem.sharded:
        return "lbfgs"
    if not problem.one_outcome_each or problem.relaxed() is not None:
        return "lbfgs"
    from .dual_ascent import DualAscent

    if not DualAscent.suits(problem, settings):
        return "lbfgs"
    return "dual"


def check_solver(name: str, solver: Solver, problem: Problem) -> None:
    """Refuse a solver that cannot do what a problem asks for; say which can."""
    cone = problem.cone
    if problem.sharded and not solver.over_shards:
        able = [other for other, known in SOLVERS.items() if known.over_shards]
        raise ValueError(
            f"solver={name!r} keeps something for each example, which cannot be where examples are "
            f"in shards; those that work over shards: {able}"
        )

    def keeps_in(known: Solver) -> bool:
        return cone is None or known.in_cone or (known.in_bounds and cone.bounds)

    if not keeps_in(solver):
        able = [other for other, known in SOLVERS.items() if keeps_in(known)]
        raise ValueError(
            f"solver={name!r} cannot keep the weights submodular; those that can: {able}, and "
            "learners of your own with the attribute in_cone = True"
        )
    if problem.likelihood != "exact" and not solver.any_loss:
        able = [other for other, known in SOLVERS.items() if known.any_loss]
        raise ValueError(
            f"solver={name!r} needs exact sums over outputs, not likelihood="
            f"{problem.likelihood!r}; those that do not: {able}"
        )
