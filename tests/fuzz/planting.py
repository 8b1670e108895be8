"""Planting bugs in the library, to see whether the metamorphic relations report them."""

import functools
import importlib
from collections.abc import Callable
from typing import Any, NamedTuple


class Bug(NamedTuple):
    """A bug, and the relation that must find it.

    Attributes
    ----------
    relation : str
        The name of the relation.
    place : str
        The function or method to replace, as "module:name".
    wrong : callable
        Maps the original function to its wrong replacement.
    draws : int
        Number of draws in which the relation must find the bug.
    subjects : tuple of str
        Subjects to draw from; all of them if empty.
    """

    relation: str
    place: str
    wrong: Callable[[Any], Any]
    draws: int = 20
    subjects: tuple[str, ...] = ()


def after(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Make a bug that changes the result."""
    return lambda right: lambda *args, **options: change(right(*args, **options))


def given(**options: Any) -> Callable[[Any], Any]:
    """Make a bug that overrides keyword arguments, if given; a value of None drops them."""

    def wrong(right: Any) -> Any:
        def changed(*args: Any, **found: Any) -> Any:
            for name in options.keys() & found.keys():
                found[name] = options[name]
                if options[name] is None:
                    del found[name]
            return right(*args, **found)

        return changed

    return wrong


def plant(monkeypatch: Any, bug: Bug) -> None:
    """Replace a function of the library by its wrong version."""
    module, _, path = bug.place.partition(":")
    *holders, name = path.split(".")
    target = functools.reduce(getattr, holders, importlib.import_module(module))
    right = getattr(target, name)
    monkeypatch.setattr(target, name, functools.wraps(right)(bug.wrong(right)))
