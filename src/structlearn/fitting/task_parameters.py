"""The parameters that all tasks have."""

from __future__ import annotations

from .parameters import DeclaredParameters

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

__all__ = ["LearnerParameters", "refuse_unused"]


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
    n_jobs : int or None, default=1
        Threads; None is one, -1 all cores. The result does not depend on it.
    random_state : int, default=0
        Seed of the order of the sentences.
    verbose : int, default=0
        Above 0: a line for each pass on standard error.
"""

    C: float | None = None
    l1: float | None = None
    margin: float | None = None
    temperature: float | None = None
    solver: Any = None
    tol: float | None = None
    eta0: float | None = None
    delta: float | None = None
    r: float | None = None
    max_iter: int | None = None
    average: bool = True
    shuffle: bool = True
    patience: int = 5
    n_models: int | None = None
    class_weight: Any = None
    callbacks: Any = None
    checkpoint: Any = None
    n_jobs: int | None = 1
    random_state: int = 0
    verbose: int = 0


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
    shared = [name for name in vars(LearnerParameters) if name not in (*_WITH_COUNTS, *used)]
    for name, value in task.get_params().items():
        usual = (getattr(type(task), name), 1 if name == "n_models" else None)
        if (name in unused or name in shared) and value not in usual:
            raise ValueError(
                f"learner {task.learner!r} counts and does not use {name}: leave it at its default"
            )
