"""Checks of arguments, with messages that name them."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any


def check_whole(name: str, value: Any, least: int, most: int | None = None) -> int:
    """Return a whole number within bounds as a Python int; NumPy's integers are accepted."""
    from numbers import Integral

    if isinstance(value, Integral) and not isinstance(value, bool):
        number = int(value)
        if number >= least and (most is None or number <= most):
            return number
    bound = f"of at least {least}" if most is None else f"from {least} to {most}"
    raise ValueError(f"{name} must be a whole number {bound}, got {value!r}")


def check_number(name: str, value: Any, *, above: bool) -> float:
    """Return a finite number above 0, or of at least 0."""
    from numbers import Real

    if isinstance(value, Real) and not isinstance(value, bool):
        number = float(value)
        if number < float("inf") and (number > 0 if above else number >= 0):
            return number
    bound = "above 0" if above else "of at least 0"
    raise ValueError(f"{name} must be a number {bound}, got {value!r}")


def check_path(name: str, path: Any) -> None:
    """Raise ValueError if a value cannot be the name of a checkpoint."""
    if path is not None and not (isinstance(path, (str, os.PathLike)) and os.fspath(path)):
        raise ValueError(f"{name} must be None or the name of a file, got {path!r}")
