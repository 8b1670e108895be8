"""Options that several commands have."""

from __future__ import annotations

from ...fitting.learner_registry import LEARNERS
from ...fitting.presets import default_of
from .values import amount, count

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from argparse import ArgumentParser

__all__ = [
    "add_cluster",
    "add_files",
    "add_folds",
    "add_header",
    "add_learner",
    "add_precision",
    "add_running",
    "add_threads",
    "add_training",
]

#: What parameters of learners mean.
_LEARNER_OPTIONS = {
    "C": "weight of the losses; passive-aggressive: longest step",
    "l1": "crf: weight of the L1 norm",
    "margin": "crf, adagrad: margin of the loss",
    "temperature": "crf, adagrad: temperature of the loss",
    "tol": "svm, crf, adagrad: relative gap to stop at",
    "eta0": "adagrad: first step of a weight",
    "delta": "adagrad: shortens the first steps",
    "r": "arow: regularisation",
}


def add_files(p: ArgumentParser, what: str, metavar: str = "TRAIN") -> None:
    """Add the files of training."""
    p.add_argument("train", metavar=metavar, help=what)
    p.add_argument("--model", "-o", metavar="FILE", required=True, help="model file to write")
    p.add_argument(
        "--dev",
        metavar="FOLDER" if metavar == "FOLDER" else "FILE",
        help="development data, scored after each pass; the best pass is kept",
    )


def add_learner(
    p: ArgumentParser,
    task: str,
    default: str,
    more: str = "",
    extra: tuple[str, ...] = (),
) -> None:
    """Add the learner and its parameters, which have the names and the meaning of the estimators.

    Parameters
    ----------
    task : str
        Whose defaults to tell.
    more : str
        What else to say about the learners.
    extra : tuple of str
        Learners that this task has and others do not.
    """
    p.add_argument(
        "--learner",
        choices=(*LEARNERS, *extra),
        default=default,
        help=f"learning algorithm (default: {default})" + (f"; {more}" if more else ""),
    )
    for name, text in _LEARNER_OPTIONS.items():
        text = f"{text} (default: {default_of(task, name)})"
        p.add_argument(f"--{name}", metavar="X", type=amount, help=text)
    p.add_argument(
        "--solver", metavar="NAME", help="svm, crf: solver, as in the estimators (default: auto)"
    )
    p.add_argument(
        "--max-iter",
        metavar="N",
        type=count(1),
        help=f"maximum number of passes or iterations (default: {default_of(task, 'max_iter')})",
    )
    p.add_argument(
        "--patience",
        metavar="N",
        type=count(0),
        default=5,
        help="with --dev: stop after N passes without improvement (default: 5)",
    )


def add_precision(p: ArgumentParser, default: str) -> None:
    """Add the precision of the file."""
    p.add_argument(
        "--precision",
        choices=("float32", "float16", "int8"),
        default=default,
        help=f"precision of the weights in the file (default: {default})",
    )


def add_cluster(p: ArgumentParser) -> None:
    """Add the options of a cluster."""
    p.add_argument(
        "--cluster",
        metavar="WHERE",
        help="use Ray: local (this machine), auto (the cluster it is part of) or an address",
    )
    p.add_argument(
        "--workers",
        metavar="N",
        type=count(1),
        help="with --cluster: number of workers, each with --threads threads (default: all cores)",
    )


def add_folds(p: ArgumentParser) -> None:
    """Add the number of folds of jack-knifing."""
    p.add_argument(
        "--folds",
        metavar="N",
        type=count(2),
        default=5,
        help="number of folds for predicting the tags of the training data (default: 5)",
    )


def add_training(p: ArgumentParser, n_models: int | None = 1) -> None:
    """Add how training runs: models, checkpoints, seed, threads, a cluster."""
    p.add_argument(
        "--n-models",
        metavar="N",
        type=count(1),
        default=n_models,
        help="average the weights of N models with different seeds"
        + (f" (default: {n_models})" if n_models else ""),
    )
    p.add_argument(
        "--checkpoint",
        metavar="FILE",
        help="save the state of training here; if the file exists, training resumes from it",
    )
    add_running(p)
    add_cluster(p)
    p.add_argument(
        "--shard-size",
        metavar="MB",
        type=amount,
        help="with --cluster: size of the parts of the training data (default: 32, or less)",
    )


def add_running(p: ArgumentParser) -> None:
    """Add the seed, and how much to show."""
    p.add_argument(
        "--random-state", metavar="S", type=count(0), default=0, help="random seed (default: 0)"
    )
    p.add_argument("--quiet", "-q", action="store_true", help="do not show progress")
    add_threads(p)


def add_header(p: ArgumentParser) -> None:
    """Add the header of column files."""
    p.add_argument(
        "--header",
        action="store_true",
        help="taggers: the first line of the column file names the columns, skip it",
    )


def add_threads(p: ArgumentParser) -> None:
    """Add the number of threads."""
    p.add_argument(
        "--threads", metavar="N", type=count(1), default=1, help="number of threads (default: 1)"
    )
