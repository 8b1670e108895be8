"""What the command line does for each task: a module a task, with five functions.

``train(o)`` fits and returns what saves it, ``load(path, description, tensors)`` an
estimator from a model file; ``predict(model, o, progress)``, ``evaluate(model, o)`` and
``inspect(model, o)`` do the commands of these names. ``o`` are the parsed arguments. Imported when
the task is asked for, because a start should not wait for the other tasks.
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

__all__ = ["TASKS", "commands_of", "read_model", "read_rival"]

#: Tasks of ``structlearn train``, as model files name them.
TASKS = ("tagger", "segments", "parser", "constituency", "segmenter")


def commands_of(task: str) -> Any:
    """Return the module of a task; model files that name none are taggers'."""
    from importlib import import_module

    return import_module(f"{__name__}.{task if task in TASKS else 'tagger'}")


def read_rival(path: str | None, evaluate: Any) -> Any:
    """Return the model that ``--against`` names, if it is judged in the same way; None: none."""
    if path is None:
        return None
    other, commands = read_model(path)
    if commands.evaluate is not evaluate:
        kind = type(other).__name__
        raise ValueError(f"{path}: the model of a {kind} cannot be compared with one of this kind")
    return other


def read_model(path: str) -> tuple[Any, Any]:
    """Return the estimator of a model file, and the module of its task."""
    from ..io.container import read_container

    description, tensors = read_container(path)
    commands = commands_of(description.get("task", "tagger"))
    return commands.load(path, description, tensors), commands
