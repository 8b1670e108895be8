"""How a bug is planted: which relation is to find it, where it is, and what is wrong."""

import functools
import importlib
from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = ["Bug", "after", "given", "plant"]


class Bug(NamedTuple):
    """A bug that a relation must find.

    Attributes
    ----------
    relation : str
        The name of the relation.
    place : str
        "module:name" of the function or method that is wrong.
    wrong : callable
        The right function -> the wrong one.
    draws : int
        In how many draws it must be found.
    subjects : tuple of str
        Whose draws these are; empty: those of all subjects.
    """

    relation: str
    place: str
    wrong: Callable[[Any], Any]
    draws: int = 20
    subjects: tuple[str, ...] = ()


def after(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return what is wrong where a result is changed."""
    return lambda right: lambda *args, **options: change(right(*args, **options))


def given(**options: Any) -> Callable[[Any], Any]:
    """Return what is wrong where options that are given are others; those of None are lost."""

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
    """Put the bug into the library."""
    module, _, path = bug.place.partition(":")
    *holders, name = path.split(".")
    target = functools.reduce(getattr, holders, importlib.import_module(module))
    right = getattr(target, name)
    monkeypatch.setattr(target, name, functools.wraps(right)(bug.wrong(right)))
