"""States of learners as JSON and arrays, and back: nothing in a stored state is ever run.

A state is made of dictionaries with strings for keys, lists, numbers, strings, None, NumPy arrays
and the classes below. JSON keeps every bit of a float, and whole numbers of any size.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .cutting_planes import Round
from .dual_ascent import AscentState
from .hinge_dual import DualState
from .joint_constraints import JointConstraints
from .online import OnlineState
from .sag import SAGState

__all__ = ["STATES", "pack", "unpack"]

#: Data classes that may be part of a state; a learner with one of its own adds it here.
STATES: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (AscentState, DualState, JointConstraints, OnlineState, Round, SAGState)
}
#: Entries that stand for an array and for an object of one of the classes.
_ARRAY, _STATE = "$array", "$state"


def pack(state: Any) -> tuple[str, list[npt.NDArray[Any]]]:
    """Return a state as JSON text and the arrays that it refers to by their numbers."""
    arrays: list[npt.NDArray[Any]] = []

    def plain(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            if value.dtype.kind not in "fiub":
                raise TypeError(f"a state contains an array of {value.dtype}")
            arrays.append(np.asarray(value, order="C"))
            return {_ARRAY: len(arrays) - 1}
        if isinstance(value, np.generic):
            return value.item()
        if STATES.get(type(value).__name__) is type(value):
            # Not dataclasses.asdict, which would copy all arrays.
            fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
            return {_STATE: type(value).__name__, **plain(fields)}
        if isinstance(value, dict):
            return {str(key): plain(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [plain(item) for item in value]
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        raise TypeError(f"a state contains a {type(value).__name__}")

    return json.dumps(plain(state)), arrays


def unpack(text: str, arrays: Sequence[npt.NDArray[Any]]) -> Any:
    """Return the state that :func:`pack` has taken apart; arrays are used, not copied.

    Raises
    ------
    ValueError
        If it is not such a state.
    """

    def whole(value: dict[str, Any]) -> Any:  # from the inside to the outside
        if _ARRAY in value:
            number = value[_ARRAY]
            if type(number) is not int or not 0 <= number < len(arrays):
                raise ValueError(f"there is no array {number!r}")
            return arrays[number]
        if _STATE in value:
            kind = STATES.get(str(value.pop(_STATE)))
            if kind is None or {f.name for f in dataclasses.fields(kind)} != set(value):
                raise ValueError("a state of an unknown class")
            return kind(**value)
        return value

    return json.loads(text, object_hook=whole)
