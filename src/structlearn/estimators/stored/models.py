"""The file contents of a :class:`~structlearn.estimators.StructuredModel`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...fitting.values import Reader, Writer
from ...io.arrays import checked_numbers
from ...models.calibration import Calibration
from ...problem.online_state import OnlineState
from ..preparation import Frame
from .frames import read_frame, write_frame


def write_model(model: Any, writer: Writer) -> dict[str, Any]:
    """Return the learned state of a model, as entries of a description."""
    frame = Frame(
        model._encoder, model.structure_, model.classes_, model._layout, columns=model._columns
    )
    online = getattr(model, "_online", None)
    training = {
        "objective": model.objective_,
        "gap": model.duality_gap_,
        "online": online if isinstance(online, OnlineState) else None,
        "calibration": write_calibration(model),
    }
    if hasattr(model, "class_count_"):
        training["class_count_"] = model.class_count_.tolist()
    for name in ("solver_", "approximate_"):
        if hasattr(model, name):
            training[name] = getattr(model, name)
    history = _history(model.history_, writer)
    return {
        **write_frame(frame, model._weights, writer),
        "training": {"history": history, **writer.value(training)},
    }


def _history(history: list[dict[str, Any]], writer: Writer) -> list[dict[str, Any]]:
    """Return the records without run times, and without values that a file cannot hold."""
    records = []
    for record in history:
        stored = {}
        for name, value in record.items():
            if name != "seconds":
                with writer.or_left_out(f"{name!r} of history_"):
                    stored[str(name)] = writer.value(value)
        records.append(stored)
    return records


def read_model(model: Any, d: dict[str, Any], reader: Reader) -> None:
    """Restore a stored model; everything is checked before the model is changed."""
    frame, weights = read_frame(d, reader)
    training = reader.value(d["training"])
    history = training["history"]
    for record in history:
        float(record["loss"])
    objective, gap = _number(training["objective"]), _number(training["gap"])
    online = training["online"]
    if online is not None:
        _check_online(online, len(weights))
    texts = {name: training[name] for name in ("solver_", "approximate_") if name in training}
    if not all(value is None or isinstance(value, str) for value in texts.values()):
        raise ValueError("a solver without a name")
    calibration = read_calibration(training["calibration"])
    counts = training.get("class_count_")
    if counts is not None:
        counts = [float(n) for n in counts]
        if len(counts) != len(frame.classes) or not all(0 <= n < math.inf for n in counts):
            raise ValueError("a count for each class is needed")
    model._hold(frame, weights, history, objective, gap)
    if counts is not None:
        model.class_count_ = np.array(counts, dtype=np.float64)
    model._keep_calibration(calibration)
    if online is not None:
        model._online = online
    for name, value in texts.items():
        setattr(model, name, value)


def write_calibration(model: Any) -> dict[str, Any] | None:
    """Return the calibration of a model on a dev set; None if there is none."""
    return None if model.calibration_ is None else model.calibration_.as_dict()


def read_calibration(d: Any) -> Calibration | None:
    """Return the calibration from :func:`write_calibration`."""
    return None if d is None else Calibration.from_dict(d)


def _number(value: Any) -> float | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float))):
        raise ValueError(f"{value!r} is not a number")
    return value


def _check_online(state: Any, n_weights: int) -> None:
    """Refuse anything but vectors as long as the weights, and finite numbers."""
    if not isinstance(state, OnlineState):
        raise ValueError("not the state of an online learner")
    for name in ("v", "behind", "squares"):
        size = len(checked_numbers(getattr(state, name), name, (-1,)))
        if size != n_weights and (size or name == "v"):
            raise ValueError("the state of another model's weights")
    for name in ("scale", "ahead", "total", "steps", "cost", "epochs"):
        if not math.isfinite(getattr(state, name)):
            raise ValueError(f"{name} is {getattr(state, name)!r}")
