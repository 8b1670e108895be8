"""Types of the values of options."""

from __future__ import annotations

import argparse

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from collections.abc import Callable

#: Formats of cut text.
CUT_FORMATS = ("cut", "tagged", "partial", "columns", "conllu")

_MOST = 2**31 - 1


def count(least: int, most: int | None = None) -> Callable[[str], int]:
    """Return a reader of whole numbers from ``least`` to ``most``."""
    most = _MOST if most is None else most

    def whole_number(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None
        if number < least:
            raise argparse.ArgumentTypeError(f"{number} is less than {least}")
        if number > most:
            raise argparse.ArgumentTypeError(f"{text} is greater than {most}")
        return number

    return whole_number


def threads(text: str) -> int:
    """Read a number of threads; below 0, all cores but some, as ``n_jobs`` has it."""
    from ...threads import n_threads

    number = count(-_MOST)(text)
    if number == 0:
        raise argparse.ArgumentTypeError("0 threads are none; -1 is all cores")
    return n_threads(number)


def amount(text: str) -> float:
    """Read a finite number that is not negative."""
    try:
        number = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not a finite number >= 0")
    return number


def seconds(text: str) -> float:
    """Read a time above 0."""
    value = amount(text)
    if not value:
        raise argparse.ArgumentTypeError("it must be above 0")
    return value
