"""Canonical outputs: a list, a tuple and an array of the same labels become equal."""

from __future__ import annotations

from typing import Any

import numpy as np


def canonical(y: Any) -> Any:
    """Return an output as nested tuples of plain Python numbers and strings."""
    if isinstance(y, np.ndarray):
        return canonical(y.tolist())
    if isinstance(y, np.generic):
        return y.item()
    if isinstance(y, (list, tuple)):
        return tuple(canonical(x) for x in y)
    if isinstance(y, (set, frozenset)):
        return frozenset(canonical(x) for x in y)
    if isinstance(y, dict):
        return tuple(sorted((k, canonical(v)) for k, v in y.items()))
    return y
