"""Options that several commands have."""

from __future__ import annotations

from importlib import import_module

from ...fitting.learner_registry import OF_TASKS
from ...fitting.parameters import Choice, Number, Switch, Whole
from ...fitting.presets import default_of
from ...loading import TASKS
from .values import amount, count, threads

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from argparse import ArgumentParser
    from typing import Any

    from ...fitting.parameters import Parameter


def add_files(p: ArgumentParser, what: str, metavar: str = "TRAIN") -> None:
    """Add the files of training."""
    p.add_argument("train", metavar=metavar, help=what)
    p.add_argument("--model", "-o", metavar="FILE", required=True, help="model file to write")
    p.add_argument(
        "--dev",
        metavar="FOLDER" if metavar == "FOLDER" else "FILE",
        help="development data, scored after each pass; the best pass is kept",
    )


def add_parameters(p: ArgumentParser, task: str, *names: str) -> None:
    """Add the parameters of a task that have a line of help, or those of them that are named."""
    module, name = TASKS[task]
    kind = getattr(import_module(f"structlearn.{module}"), name)
    for name, known in kind._declared.items():
        if known.help and (not names or name in names):
            _add_parameter(p, task, name, known, getattr(kind, name))


def _add_parameter(p: ArgumentParser, task: str, name: str, known: Parameter, default: Any) -> None:
    """Add an option whose name, values, default and help are those of a parameter."""
    option, check, text = name.replace("_", "-"), known.check, known.help
    if isinstance(check, Switch):
        action = "store_false" if default else "store_true"
        p.add_argument(
            f"--no-{option}" if default else f"--{option}", dest=name, action=action, help=text
        )
        return
    if known.learners is not None:
        text = f"{', '.join(known.learners)}: {text}"
    if name in OF_TASKS:
        text += f" (default: {default_of(task, name)})"
    elif default is not None and "(default: " not in text:
        text += f" (default: {default})"
    how: dict[str, Any] = {"metavar": known.metavar or None}
    if isinstance(check, Whole):
        how = {"metavar": known.metavar or "N", "type": count(check.least, check.most)}
    elif isinstance(check, Number):
        how = {"metavar": known.metavar or "X", "type": amount}
    elif isinstance(check, Choice):
        how = {"choices": check.choices}
    p.add_argument(f"--{option}", default=default, help=text, **how)


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


def add_training(p: ArgumentParser) -> None:
    """Add how training runs: threads, a cluster."""
    add_running(p)
    add_cluster(p)
    p.add_argument(
        "--shard-size",
        metavar="MB",
        type=amount,
        help="with --cluster: size of the parts of the training data (default: 32, or less)",
    )


def add_running(p: ArgumentParser) -> None:
    """Add the number of threads, and how much to show."""
    p.add_argument("--quiet", "-q", action="store_true", help="do not show progress")
    add_threads(p)


def add_constraints(p: ArgumentParser) -> None:
    """Add hard constraints on the labels."""
    p.add_argument(
        "--constraint",
        metavar="TEXT",
        action="append",
        help="taggers: a hard constraint on the labels, as 'contiguous()' or 'at_most(1, V)' (may "
        "be repeated)",
    )
    p.add_argument(
        "--constraints", metavar="FILE", help="taggers: a file of such constraints, one on a line"
    )


def add_header(p: ArgumentParser) -> None:
    """Add the header of column files."""
    p.add_argument(
        "--header",
        action="store_true",
        help="taggers: the first line of the column file names the columns, skip it",
    )


def add_table(p: ArgumentParser) -> None:
    """Add the names that a table gives its columns."""
    add_header(p)
    p.add_argument(
        "--sentence",
        metavar="COLUMN",
        help="taggers: the column of a table that tells sentences apart (default: sentence_id or "
        "the like, one that changes with the sentence, or blank lines)",
    )
    p.add_argument(
        "--word", metavar="COLUMN", help="taggers: the column with the words, one in each row"
    )
    p.add_argument(
        "--text",
        metavar="COLUMN",
        help="taggers: the column with whole sentences; their labels are in one cell, too",
    )


def add_threads(p: ArgumentParser) -> None:
    """Add the number of threads."""
    p.add_argument(
        "--threads",
        metavar="N",
        type=threads,
        default=1,
        help="number of threads; -1: all cores (default: 1)",
    )
