"""The learners by name: which parameters each has, with their defaults, checks and help.

An estimator has the parameters of its learner (StructuredPerceptron, StructuredSVM, CRF,
PassiveAggressive, AROW, AdaGrad), and so has a task whose ``learner`` names it. Nothing here needs
NumPy before parameters are checked: the command line makes its help from it.
"""

from __future__ import annotations

from ..checks import check_path
from .parameters import Choice, Declared, Number, Switch, Whole, parameter

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any, ClassVar


def _check_callbacks(name: str, given: Any) -> None:
    callbacks = given if isinstance(given, (list, tuple)) else [given]
    if not all(callable(c) for c in callbacks):
        raise ValueError(f"{name} must be a callable or a list of callables, got {callbacks!r}")


def _check_threads(name: str, value: Any) -> None:
    from ..threads import n_threads

    n_threads(value)


def _check_seed(name: str, value: Any) -> None:
    if isinstance(value, int) and value >= 0:
        return  # generators need NumPy
    from ..learners.orders import generator

    generator(value)


_SEARCHING = ("perceptron", "passive-aggressive", "arow")


class LearningParameters(Declared):
    """Every parameter of learning; those of a learner that has not all are a subclass.

    A learner's parameters that it has not are constants of its class.
    """

    C: float = parameter(
        default=1.0,
        check=Number(above=True, infinite=True),
        help="how much errors in training count against small weights; passive-aggressive: the "
        "most that one example changes the weights",
        learners=("svm", "crf", "passive-aggressive", "adagrad"),
    )
    l1: float = parameter(
        default=0.0, check=Number(), help="weight of the L1 norm", learners=("crf",)
    )
    margin: float = parameter(
        default=1.0, check=Number(), help="margin of the loss", learners=("crf", "adagrad")
    )
    temperature: float = parameter(
        default=0.0, check=Number(), help="temperature of the loss", learners=("crf", "adagrad")
    )
    tol: float = parameter(
        default=1e-3,
        check=Number(),
        help="relative gap to stop at",
        learners=("svm", "crf", "adagrad"),
    )
    solver: Any = parameter(
        default="auto",
        help="solver, as in the estimators",
        metavar="NAME",
        learners=("svm", "crf"),
    )
    eta0: float = parameter(
        default=1.0,
        check=Number(above=True),
        help="first step of a weight",
        learners=("adagrad",),
    )
    delta: float = parameter(
        default=1.0,
        check=Number(),
        help="greater: the first steps are shorter",
        learners=("adagrad",),
    )
    r: float = parameter(
        default=10.0, check=Number(above=True), help="regularisation", learners=("arow",)
    )
    max_iter: int = parameter(
        default=100, check=Whole(1), help="maximum number of passes or iterations"
    )
    average: bool = parameter(default=True, check=Switch())
    shuffle: bool = parameter(default=True, check=Switch())
    cost: Any = parameter(
        default="hamming", learners=("svm", "crf", "passive-aggressive", "arow", "adagrad")
    )
    loss: str = parameter(
        default="hinge", check=Choice("hinge", "squared_hinge"), learners=("passive-aggressive",)
    )
    step: str = parameter(
        default="decaying", check=Choice("decaying", "constant"), learners=("svm", "crf")
    )
    violation_tol: float | None = parameter(default=None, check=Number(), learners=("svm",))
    beam: int | None = parameter(default=None, check=Whole(1, 2**31 - 1), learners=_SEARCHING)
    update_at: str = parameter(
        default="early", check=Choice("early", "max-violation", "end"), learners=_SEARCHING
    )
    latent: str = parameter(
        default="auto", check=Choice("auto", "cccp", "direct"), learners=("svm", "crf")
    )
    warm_start: bool = parameter(default=False, check=Switch())
    checkpoint: Any = parameter(
        default=None,
        check=check_path,
        help="save the state of training here; if the file exists, training resumes from it",
        metavar="FILE",
        stored=False,
    )
    callbacks: Any = parameter(default=None, check=_check_callbacks, stored=False)
    n_jobs: int | None = parameter(default=None, check=_check_threads, stored=False)
    random_state: Any = parameter(default=None, check=_check_seed)
    verbose: int = parameter(default=0, check=Whole(0, switch=True), stored=False)

    #: AdaGrad leaves parts of a smaller gradient out; no user has asked for it.
    least = 0.0
    #: Names that ``solver`` may have; none: all.
    _solvers: ClassVar[tuple[str, ...]] = ()

    @property
    def _rate(self) -> float:
        """The η of AdaGrad, the r of AROW."""
        return self.r if self.solver == "arow" else self.eta0

    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense, by themselves or together."""
        self._check_declared()
        solver = self.solver
        if isinstance(solver, str) or not callable(getattr(solver, "run", None)):
            self._check_solver()
        if float("inf") == self.C and solver != "adagrad":
            raise ValueError("C must be a finite number: it may be infinite for AdaGrad only")
        if self.violation_tol is not None and solver not in ("n-slack", "one-slack"):
            raise ValueError(
                f"violation_tol is for solver='n-slack' and 'one-slack'; {solver!r} stops at tol"
            )
        if self.step != "decaying" and solver not in ("sgd", "auto"):
            raise ValueError(
                f"step={self.step!r} works with solver='sgd' only, not with {solver!r}"
            )
        if solver in ("passive-aggressive", "arow") and not (
            self.margin > 0 and self.temperature == 0
        ):
            raise ValueError(f"solver={solver!r} needs margin > 0 and temperature = 0")
        if self.l1 and solver not in ("auto", "lbfgs"):
            raise ValueError(f"l1 > 0 needs solver='lbfgs', not {solver!r}")

    def _check_solver(self) -> None:
        if "solver" in self._declared and self.solver not in self._solvers:
            from ..learners.solvers import SOLVERS

            known = self._solvers or ("auto", *SOLVERS)
            if self.solver not in known:
                raise ValueError(
                    f"solver must be one of {', '.join(known)}, or a learner of your own (an "
                    f"object with run, see structlearn.learners.OwnLearner), got {self.solver!r}"
                )


class SearchingParameters(LearningParameters):
    """Parameters of learners that can search with a beam, and the text of those of the search."""

    _text = """\
    beam : int, optional
        Width of the beam search for training and prediction, where exact inference is too expensive
        (a :class:`Chain` of high order, or structures that inherit from :class:`BeamSearch`). The
        outputs are then not proven to be the best.
    update_at : {"early", "max-violation", "end"}, default="early"
        Where to update with a beam if the output is wrong: at the step where the gold prefix leaves
        the beam; at the step where it is outscored by most; on complete outputs. "end" may update
        towards an output that scores less than the gold one, and then need not converge;
        ``history_`` counts such steps as ``invalid_updates``.
"""


class PerceptronParameters(SearchingParameters):
    """Parameters of :class:`~structlearn.estimators.StructuredPerceptron`."""

    _learner = "perceptron"
    solver = "perceptron"
    margin = 0.0
    cost = None
    tol = 0.0
    max_iter: int = 10


class SVMParameters(LearningParameters):
    """Parameters of :class:`~structlearn.estimators.StructuredSVM`."""

    _learner = "svm"
    _solvers = ("frank-wolfe", "sgd", "n-slack", "one-slack", "annealing", "auto")
    solver: Any = "frank-wolfe"
    tol: float = 1e-2
    max_iter: int = 1000


#: CRFsuite's parameters in our words.
_OF_CRFSUITE = {
    name: f"CRFsuite's {name} is {ours} here; structlearn.crfsuite.CRF takes its parameters as "
    "they are"
    for name, ours in {
        "c1": "l1 = c1 / (2·c2)",
        "c2": "C = 1 / (2·c2)",
        "algorithm": "solver, or another estimator,",
        "max_iterations": "max_iter",
        "min_freq": "min_count, of features whatever their label,",
    }.items()
}


class CRFParameters(LearningParameters):
    """Parameters of :class:`~structlearn.estimators.CRF`."""

    _learner = "crf"
    _solvers = ("auto", "dual", "lbfgs", "sag", "projected", "sgd")
    _elsewhere = _OF_CRFSUITE
    margin: float = 0.0
    temperature: float = 1.0
    max_iter: int = 1000


class PassiveAggressiveParameters(SearchingParameters):
    """Parameters of :class:`~structlearn.estimators.PassiveAggressive`."""

    _learner = "passive-aggressive"
    solver = "passive-aggressive"
    tol = 0.0
    max_iter: int = 10


class AROWParameters(SearchingParameters):
    """Parameters of :class:`~structlearn.estimators.AROW`."""

    _learner = "arow"
    solver = "arow"
    tol = 0.0
    max_iter: int = 10


class AdaGradParameters(LearningParameters):
    """Parameters of :class:`~structlearn.estimators.AdaGrad`."""

    _learner = "adagrad"
    solver = "adagrad"
    tol: float = 1e-2
    max_iter: int = 20


#: What a learner's name stands for.
LEARNERS: dict[str, type[LearningParameters]] = {
    "perceptron": PerceptronParameters,
    "svm": SVMParameters,
    "crf": CRFParameters,
    "passive-aggressive": PassiveAggressiveParameters,
    "arow": AROWParameters,
    "adagrad": AdaGradParameters,
}
#: The parameters of learners that tasks have too.
OF_TASKS = (
    "C", "l1", "margin", "temperature", "tol", "solver", "eta0", "delta", "r", "max_iter",
    "average", "shuffle",
)  # fmt: skip


def learners_with(name: str) -> tuple[str, ...]:
    """Return the learners that have a parameter."""
    return tuple(learner for learner, kind in LEARNERS.items() if name in kind._declared)


def learner_parameters(task: Any, seed: int = 0, **preset: Any) -> LearningParameters:
    """Return the parameters of the estimator that a task's learner names.

    Parameters
    ----------
    task : object
        Has ``learner``, ``n_jobs`` and those of the estimator's parameters that the task offers;
        one that is absent or None is left to ``preset``, else to the estimator.
    seed : int
        Of this run.
    **preset
        What the task does otherwise than the estimator where its user says nothing.
    """
    parameters = LEARNERS[task.learner](random_state=seed, n_jobs=task.n_jobs)
    for name, value in preset.items():
        setattr(parameters, name, value)
    for name in OF_TASKS:
        value = getattr(task, name, None)
        if value is not None:
            setattr(parameters, name, value)
    return parameters


def check_learner(task: Any) -> None:
    """Refuse a task's parameters that make no sense, by themselves or with its learner.

    They are None where their user says nothing. Learners of the task's own have none of these.
    """
    task._check_declared()
    named = task.learner in LEARNERS
    for name in OF_TASKS:
        value, learners = getattr(task, name, None), learners_with(name)
        own = name == "solver" and not isinstance(value, str) and named
        shared = len(learners) == len(LEARNERS)
        if not (value is None or task.learner in learners or own or shared):
            raise ValueError(
                f"{name} is a parameter of {', '.join(learners)} only; learner is {task.learner!r}"
            )
    if named:
        learner_parameters(task)._check_parameters()


def effective_parameters(
    learner: str, parameters: LearningParameters, solver: str
) -> dict[str, Any]:
    """Return the parameters that a learner had and tasks have too."""
    names = [name for name in OF_TASKS if name in LEARNERS[learner]._declared]
    if learner in learners_with("solver"):  # no steps: nothing to average, no order that matters
        names = [name for name in names if name not in ("average", "shuffle")]
    values = {**{name: getattr(parameters, name) for name in names}, "solver": solver}
    return {name: "inf" if values[name] == float("inf") else values[name] for name in names}


def learner_facts(training: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what a model's training record says of its learner, for people to read.

    Each parameter with its value; where the estimator has another default, that too.
    """
    known = training.get("learner_parameters")
    if not isinstance(known, dict):
        return []
    learner = training["learner"]
    default = effective_parameters(learner, LEARNERS[learner](), str(known.get("solver")))
    words = [
        f"{name} {value}"
        + ("" if default.get(name) == value else f" (estimator's default: {default[name]})")
        for name, value in known.items()
        if name in default
    ]
    facts = [("parameters", ", ".join(words))]
    if training.get("objective") is not None:
        gap = training.get("gap")
        proven = "" if gap is None else f", at most {gap:.3g} above the optimum"
        facts.append(("objective", f"{training['objective']:.6g}{proven}"))
    return facts
