"""The parameters that all tasks have."""

from __future__ import annotations

from .learner_registry import LearningParameters
from .parameters import DeclaredParameters, Whole, parameter, same_as

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any


class LearnerParameters(DeclaredParameters):
    """The parameters that go with ``learner`` in every task that has them, and their text.

    Those that are None are the preset's, else the estimator's.
    """

    _text = """\
    C : float, optional
        svm, crf, adagrad: weight of the losses against ½‖w‖². passive-aggressive: the longest step.
        The default of this and of the next ones depends on the task and the learner:
        ``structlearn train TASK --help`` lists it, and ``structlearn inspect`` what a model had.
    l1 : float, optional
        crf: weight of ‖w‖₁, which makes most weights 0.
    margin, temperature : float, optional
        crf, adagrad: which loss, see :class:`~structlearn.estimators.StructuredModel`.
    solver : str or learner, optional
        svm, crf: how the optimum is found, as in the estimators. With every learner: a learner
        of your own (:class:`~structlearn.learners.OwnLearner`) for the same loss.
    tol : float, optional
        svm, crf, adagrad: end at a gap of this share of the objective.
    eta0, delta : float, optional
        adagrad: the first step of a weight is eta0·g / (delta + abs(g)).
    r : float, optional
        arow: how slowly confidence grows.
    max_iter : int, optional
        Passes over the data, or iterations.
    average, shuffle : bool, default=True
        Learners that take steps: average the weights over all steps; a new order of the sentences
        for each pass.
    patience : int, default=5
        With a dev set: end after this many passes without a better score. 0: never.
    n_models : int, optional
        Average the weights of this many runs with different seeds. None: as the preset of the
        features has it for the perceptron, else 1.
    class_weight : dict or "balanced", optional
        Weights of the labels; a sentence weighs as much as its labels do on average.
    callbacks : callable or list of callable, optional
        Called with a record of each pass; one that returns True ends the learning.
    checkpoint : str or path, optional
        A file from which ``fit`` resumes after it was interrupted, see
        :class:`~structlearn.estimators.StructuredModel`.
    n_jobs : int, optional
        Threads; None is one, -1 all cores. The result does not depend on it.
    random_state : int, default=0
        Seed of the order of the sentences.
    verbose : int, default=0
        Above 0: a line for each pass on standard error.
"""

    C: float | None = same_as(LearningParameters, "C", default=None)
    l1: float | None = same_as(LearningParameters, "l1", default=None)
    margin: float | None = same_as(LearningParameters, "margin", default=None)
    temperature: float | None = same_as(LearningParameters, "temperature", default=None)
    solver: Any = same_as(LearningParameters, "solver", default=None)
    tol: float | None = same_as(LearningParameters, "tol", default=None)
    eta0: float | None = same_as(LearningParameters, "eta0", default=None)
    delta: float | None = same_as(LearningParameters, "delta", default=None)
    r: float | None = same_as(LearningParameters, "r", default=None)
    max_iter: int | None = same_as(LearningParameters, "max_iter", default=None)
    average: bool = same_as(LearningParameters, "average", default=True)
    shuffle: bool = same_as(LearningParameters, "shuffle", default=True)
    patience: int = parameter(
        default=5, check=Whole(0), help="with --dev: stop after N passes without improvement"
    )
    n_models: int | None = parameter(
        default=None,
        check=Whole(1, 1000),
        help="average the weights of N models with different seeds (default: 1; taggers: as their "
        "features have it)",
    )
    class_weight: Any = None
    callbacks: Any = same_as(LearningParameters, "callbacks", default=None)
    checkpoint: Any = same_as(LearningParameters, "checkpoint", default=None)
    n_jobs: int | None = same_as(LearningParameters, "n_jobs", default=None)
    random_state: int = parameter(default=0, check=Whole(0, 2**62), help="random seed", metavar="S")
    verbose: int = same_as(LearningParameters, "verbose", default=0)


#: Parameters above that a model which is counted, not learned, makes use of or can do without.
_WITH_COUNTS = ("average", "shuffle", "patience", "n_jobs", "random_state", "verbose", "max_iter")


def refuse_unused(task: Any, *unused: str, used: tuple[str, ...] = ()) -> None:
    """Refuse parameters that a learner which only counts would ignore.

    Parameters
    ----------
    task : object
        Its learner makes a model of counts.
    *unused : str
        Parameters of the task itself that the learner ignores.
    used : tuple of str
        Parameters of :class:`LearnerParameters` that it does use.
    """
    shared = [name for name in LearnerParameters._declared if name not in (*_WITH_COUNTS, *used)]
    for name, value in task.get_params().items():
        usual = (getattr(type(task), name), 1 if name == "n_models" else None)
        if (name in unused or name in shared) and value not in usual:
            raise ValueError(
                f"learner {task.learner!r} counts and does not use {name}: leave it at its default"
            )
