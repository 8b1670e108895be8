"""Lazy packages: names are imported when first used, because most commands need few of them."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any


def lazy_names(
    package: str, homes: Mapping[str, str], modules: Sequence[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and ``__dir__`` of a package.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    homes : mapping of str to str
        The names, and the modules of the package that define them. A name must not also be a module
        of the package: once imported, the module would hide it.
    modules : sequence of str
        Modules of the package that are available as its attributes.
    """

    def getattribute(name: str) -> Any:
        if name in homes:
            return getattr(import_module(f".{homes[name]}", package), name)
        if name in modules:
            return import_module(f".{name}", package)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return getattribute, lambda: sorted([*homes, *modules])
