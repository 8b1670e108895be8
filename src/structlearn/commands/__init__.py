"""What the command line does for each task: a module a task, with four functions.

``train(o)`` fits and returns what saves it; ``predict(model, o, progress)``, ``evaluate(model, o)``
and ``inspect(model, o)`` do the commands of these names. ``o`` are the parsed arguments. Imported
when the task is asked for, because a start should not wait for the other tasks.
"""

from __future__ import annotations

from ..loading import TASKS as HOMES

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

__all__ = ["TASKS", "commands_of", "read_model", "read_rival"]

#: Tasks of ``structlearn train``, as model files name them; arrays are for Python alone.
TASKS = tuple(task for task in HOMES if task != "estimator")


def commands_of(task: str) -> Any:
    """Return the module of a task."""
    from importlib import import_module

    return import_module(f"{__name__}.{task}")


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
    from ..exceptions import FileError
    from ..io.container import kind_of_file, read_container
    from ..loading import from_container

    description, tensors = read_container(path)
    task = description.get("task")
    if task not in TASKS:
        told = f"{kind_of_file(description)}; commands are for {', '.join(TASKS)}"
        raise FileError(path, f"{told}. In Python: structlearn.load")
    return from_container(path, description, tensors), commands_of(task)
