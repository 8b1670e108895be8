"""Functions that the commands of several tasks share."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

__all__ = ["make_task", "output_of", "print_json", "refuse", "write_page"]


def make_task(kind: Any, o: Any, **more: Any) -> Any:
    """Return a task with the options of the command line that are parameters of it.

    Parameters
    ----------
    kind : class
    o : argparse.Namespace
    **more
        Parameters that are not options of the same name.
    """
    options = {name: getattr(o, name) for name in kind._parameter_names() if hasattr(o, name)}
    return kind(**{**options, "n_jobs": o.threads, "verbose": 0 if o.quiet else 1, **more})


def output_of(o: Any) -> Any:
    """Return the destination of the result: a file name, or standard output."""
    return sys.stdout.buffer if o.output in (None, "-") else o.output


def refuse(what: str, o: Any, *options: str) -> None:
    """Raise if an option was given that models of this kind do not have.

    Parameters
    ----------
    what : str
        The kind of the model, with its article.
    o : argparse.Namespace
    *options : str
    """
    for name in options:
        value = getattr(o, name)
        if value not in (None, False, 1 if name == "nbest" else 0, ""):
            option = name.replace("_", "-")
            raise ValueError(f"--{option} does not work with {what}, and {o.model} is one")


def print_json(found: Any) -> None:
    """Print a JSON object on one line."""
    import json

    print(json.dumps(found))


def write_page(path: str, page: str) -> None:
    """Write a page; an old file is kept until the new one is complete."""
    from ..text.files import replaced

    with replaced(path) as file:
        file.write(page.encode())
