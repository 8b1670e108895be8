"""Answers as plain values that can be compared, bit for bit or to a tolerance."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from structlearn.exceptions import CapabilityError


class Different(AssertionError):
    """Two ways of asking the same question gave different answers."""


class Refusal(str):
    """The class of the error that refused a question."""

    def __repr__(self) -> str:
        return f"Refusal({str(self)!r})"


def plain(answer: Any) -> Any:
    """Return an answer as nested lists and dictionaries of plain Python values.

    Trees become their brackets, arrays become lists, other objects their `repr`.
    """
    if isinstance(answer, np.ndarray):
        return answer.tolist() if answer.dtype.kind in "biuf" else plain(answer.tolist())
    if isinstance(answer, np.generic):
        return plain(answer.item())
    if isinstance(answer, (bool, int, float, str, bytes, type(None))):
        return answer
    if isinstance(answer, Mapping):
        return {key: plain(value) for key, value in answer.items()}
    if type(answer) in (list, tuple):
        return [plain(value) for value in answer]
    if hasattr(answer, "probability"):
        return [str(answer), plain(answer.probability)]
    return str(answer)


def ask(question: Callable[[], Any]) -> Any:
    """Return the plain answer, or the `Refusal` of a question that the model cannot answer."""
    try:
        return plain(question())
    except CapabilityError as error:
        return Refusal(type(error).__name__)


def difference(one: Any, other: Any, tolerance: float = 0.0, at: str = "") -> str | None:
    """Return the place and kind of the first difference of two plain answers, or None.

    Parameters
    ----------
    tolerance : float
        Numbers may differ by this much, or by this share of the larger one; 0 compares bits, so
        that 0.0 and -0.0 differ.
    at : str
        The path from the whole answer to this part.
    """
    if isinstance(one, float) and isinstance(other, float):
        if tolerance == 0.0:
            equal = one == other and math.copysign(1, one) == math.copysign(1, other)
        else:
            equal = math.isclose(one, other, rel_tol=tolerance, abs_tol=tolerance)
        if equal or (math.isnan(one) and math.isnan(other)):
            return None
    elif isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            return f"{at or 'answer'}: {len(one)} values, and {len(other)}"
        pairs = enumerate(zip(one, other, strict=True))
        steps = (difference(a, b, tolerance, f"{at}[{i}]") for i, (a, b) in pairs)
        return next((step for step in steps if step), None)
    elif isinstance(one, dict) and isinstance(other, dict):
        if one.keys() != other.keys():
            return f"{at or 'answer'}: keys {list(one)[:8]}, and {list(other)[:8]}"
        steps = (difference(one[k], other[k], tolerance, f"{at}[{k!r}]") for k in one)
        return next((step for step in steps if step), None)
    elif type(one) is type(other) and one == other:
        return None
    return f"{at or 'answer'}: {one!r}, and {other!r}"


def demand_same(question: str, one: Any, other: Any, tolerance: float = 0.0) -> None:
    """Raise `Different` unless two plain answers to a question are the same."""
    if repr(one) == repr(other):  # repr shows types and every bit, in a tenth of the time
        return
    if (reason := difference(one, other, tolerance)) is not None:
        raise Different(f"{question}: {reason[:400]}")
