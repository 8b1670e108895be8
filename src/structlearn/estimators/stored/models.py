"""What a file holds of a :class:`~structlearn.estimators.StructuredModel`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...learners.online import OnlineState
from ...learners.snapshot import pack, unpack
from ..preparation import Frame
from .frames import read_frame, write_frame
from .kinds import Unstorable
from .values import Reader, Writer

__all__ = ["read_model", "write_model"]


def write_model(model: Any, writer: Writer) -> tuple[dict[str, Any], list[str]]:
    """Return what a model has learned, as entries of a description, and what was left out."""
    frame = Frame(
        model._encoder, model.structure_, model.classes_, model._layout, columns=model._columns
    )
    history, left_out = _write_history(model.history_, writer)
    state = None
    if isinstance(getattr(model, "_online", None), OnlineState):
        text, arrays = pack(model._online)
        state = {"state": text, "arrays": [writer.array(array) for array in arrays]}
    training = {
        "history": history,
        "objective": writer.value(model.objective_),
        "gap": writer.value(model.duality_gap_),
        "online": state,
    }
    if hasattr(model, "class_count_"):
        training["class_count_"] = model.class_count_.tolist()
    if hasattr(model, "temperature_"):
        training["temperature_"] = float(model.temperature_)
    for name in ("solver_", "approximate_"):
        if hasattr(model, name):
            training[name] = getattr(model, name)
    return {**write_frame(frame, model._weights, writer), "training": training}, left_out


def _write_history(
    history: list[dict[str, Any]], writer: Writer
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the records without what another run would change, or a file cannot hold."""
    records, left_out = [], []
    for record in history:
        kept = {}
        for name, value in record.items():
            if name == "seconds":
                continue
            try:
                with writer.whole_or_nothing():
                    kept[str(name)] = writer.value(value)
            except Unstorable as error:
                left_out.append(f"{name!r} of history_ ({error})")
        records.append(kept)
    return records, list(dict.fromkeys(left_out))


def read_model(model: Any, d: dict[str, Any], reader: Reader) -> None:
    """Make a model what was stored; all is checked before the model is changed."""
    frame, weights = read_frame(d, reader)
    training = d["training"]
    history = [
        {str(name): reader.value(value) for name, value in record.items()}
        for record in training["history"]
    ]
    for record in history:
        float(record["loss"])
    objective, gap = (_number(reader.value(training[name])) for name in ("objective", "gap"))
    state = training["online"]
    online = None if state is None else _read_online(state, len(weights), reader)
    told = {name: training[name] for name in ("solver_", "approximate_") if name in training}
    if not all(value is None or isinstance(value, str) for value in told.values()):
        raise ValueError("a solver without a name")
    temperature = _number(training.get("temperature_"))
    if temperature is not None and not 0 < temperature < math.inf:
        raise ValueError(f"a temperature of {temperature}")
    counts = training.get("class_count_")
    if counts is not None:
        counts = [float(n) for n in counts]
        if len(counts) != len(frame.classes) or not all(0 <= n < math.inf for n in counts):
            raise ValueError("a count for each class is needed")
    model._hold(frame, weights, history, objective, gap)
    if counts is not None:
        model.class_count_ = np.array(counts, dtype=np.float64)
    if temperature is not None:
        model.temperature_ = float(temperature)
    if online is not None:
        model._online = online
    for name, value in told.items():
        setattr(model, name, value)


def _number(value: Any) -> float | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))):
        raise ValueError(f"{value!r} is not a number")
    return value


def _read_online(d: dict[str, Any], n_weights: int, reader: Reader) -> OnlineState:
    """Return where an online learner stopped: vectors as long as the weights, finite numbers."""
    state = unpack(d["state"], [reader.numbers(name, (-1,)) for name in d["arrays"]])
    if not isinstance(state, OnlineState):
        raise ValueError("not the state of an online learner")
    for vector, may_be_empty in ((state.v, False), (state.behind, True), (state.squares, True)):
        sizes = (n_weights, 0) if may_be_empty else (n_weights,)
        if not isinstance(vector, np.ndarray) or len(vector) not in sizes:
            raise ValueError("the state of another model's weights")
    for name in ("scale", "ahead", "total", "steps", "cost", "epochs"):
        value = getattr(state, name)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ValueError(f"{name} is {value!r}")
        if not math.isfinite(value):
            raise ValueError(f"{name} is {value!r}")
    if type(state.epochs) is not int:
        raise ValueError(f"epochs is {state.epochs!r}")
    return state
