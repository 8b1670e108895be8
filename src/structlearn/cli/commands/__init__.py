"""What the command line does: a module for tasks over files, one for pipelines.

Each has four functions: ``train(o)`` fits a model and returns a function that saves it;
``predict(model, o, progress)``, ``evaluate(model, o)`` and ``inspect(model, o)`` run the commands
of these names. ``o`` holds the parsed arguments. The modules are imported on demand, to keep the
start fast.
"""

from __future__ import annotations

from ...loading import TASKS as HOMES

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

__all__ = ["TASKS", "commands_of", "read_model", "read_rival"]

#: Tasks of ``structlearn train``, by their names in model files. Estimators and their chains
#: have none.
TASKS = tuple(task for task in HOMES if task not in ("estimator", "chain"))


def commands_of(task: str) -> Any:
    """Return the module of a task."""
    from importlib import import_module

    return import_module(f"{__name__}.{'pipeline' if task == 'pipeline' else 'tasks'}")


def read_rival(path: str | None, model: Any) -> Any:
    """Return the model that ``--against`` names (None if not given), if it can be compared."""
    if path is None:
        return None
    other, _ = read_model(path)
    if type(other).evaluate is not type(model).evaluate:
        kind = type(other).__name__
        raise ValueError(f"{path}: a {kind} cannot be compared with a model of another task")
    return other


def read_model(path: str) -> tuple[Any, Any]:
    """Return the estimator of a model file, and the module of its task."""
    from ...exceptions import FileError
    from ...io.container import kind_of_file, read_container
    from ...loading import from_container, model_file

    path = model_file(path)
    description, tensors = read_container(path)
    task = description.get("task")
    if task not in TASKS:
        found = f"{kind_of_file(description)}; commands work with models of {', '.join(TASKS)}"
        raise FileError(path, f"{found}. Use structlearn.load in Python")
    return from_container(path, description, tensors), commands_of(task)
