"""Formulas with the numbers of a step in them, as lines of text."""

from __future__ import annotations

import math
from collections.abc import Sequence

_DIGITS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def number(x: float, digits: int = 3) -> str:
    """Return a number as a reader writes it: 12.7, −5, 0.333, −∞; rounding errors are 0."""
    if math.isnan(x):
        return "–"
    if x == -math.inf:
        return "−∞"
    if x == math.inf:
        return "∞"
    text = f"{x:.{digits}f}".rstrip("0").rstrip(".") if digits else f"{x:.0f}"
    if text in ("-0", ""):
        text = "0"
    if text == "0" and abs(x) > 1e-7:
        text = f"{x:.1e}"
    return text.replace("-", "−")


def added(terms: Sequence[float]) -> str:
    """Return a sum: 9 + 1.2 − 5."""
    if not terms:
        return "0"
    text = number(terms[0])
    for x in terms[1:]:
        x = 0.0 if abs(x) < 1e-7 else x
        text += f" − {number(-x)}" if x < 0 and x > -math.inf else f" + {number(x)}"
    return text


def equals(*sides: str) -> str:
    """Return = 3 + 1 = 4; sides that read the same stand once."""
    return f"= {' = '.join(dict.fromkeys(sides))}"


def braces(function: str, terms: Sequence[str]) -> str:
    """Return max{a, b} or log Σ exp{a, b}; one term stands alone."""
    if len(terms) == 1:
        return terms[0]
    return f"{function}{{ {',  '.join(terms)} }}"


def subscript(n: int) -> str:
    """Return a number as a subscript."""
    return str(n).translate(_DIGITS)


def plural(n: int, one: str, many: str | None = None) -> str:
    """Return "1 step", "2 steps"."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"
