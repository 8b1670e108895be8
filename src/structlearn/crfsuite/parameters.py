"""CRFsuite's training algorithms and their parameters: names, defaults, types and help."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

_MOST_ITERATIONS = 2**31 - 1


class Parameter(NamedTuple):
    """One parameter of an algorithm.

    Attributes
    ----------
    default : int, float, bool or str
        Its type is also that of values returned to users.
    help : str
        What the parameter does.
    whole : bool
        Whether values are truncated to whole numbers although users get them as floats.
    """

    default: Any
    help: str
    whole: bool = False


_FEATURES = {
    "feature.minfreq": Parameter(0.0, "Leave out features that occur less often than this."),
    "feature.possible_states": Parameter(
        False, "Make a feature of every attribute with every label, seen together or not."
    ),
    "feature.possible_transitions": Parameter(
        False, "Make a feature of every pair of labels, seen one after the other or not."
    ),
}
_MEMORIES = Parameter(6, "How many gradient differences L-BFGS keeps.")
_PERIOD = Parameter(10, "How many iterations back the stopping test compares with.")
_MINIMISED = "Stop when the last ${period} iterations have lowered the loss by less than this part."

#: Algorithm, by its full name, to its parameters in CRFsuite's order.
ALGORITHMS: dict[str, dict[str, Parameter]] = {
    "lbfgs": {
        **_FEATURES,
        "c1": Parameter(0.0, "Coefficient for L1 regularization."),
        "c2": Parameter(1.0, "Coefficient for L2 regularization."),
        "max_iterations": Parameter(_MOST_ITERATIONS, "The maximum number of iterations."),
        "num_memories": _MEMORIES,
        "epsilon": Parameter(1e-5, "Stop when |gradient| / max(1, |weights|) is at most this."),
        "period": _PERIOD,
        "delta": Parameter(1e-5, _MINIMISED),
        "linesearch": Parameter(
            "MoreThuente",
            "MoreThuente, Backtracking or StrongBacktracking. Without effect here: steps meet the "
            "strong Wolfe conditions, or those of OWL-QN if c1 is above 0.",
        ),
        "max_linesearch": Parameter(
            20, "The maximum number of trials of a step. Without effect here."
        ),
    },
    "l2sgd": {
        **_FEATURES,
        "c2": Parameter(1.0, "Coefficient for L2 regularization."),
        "max_iterations": Parameter(1000, "The maximum number of passes over the data."),
        "period": _PERIOD,
        "delta": Parameter(1e-6, _MINIMISED),
        "calibration.eta": Parameter(0.1, "The first learning rate to be tried."),
        "calibration.rate": Parameter(2.0, "From one learning rate to the next: this factor."),
        "calibration.samples": Parameter(1000.0, "Try rates on this many sequences.", whole=True),
        "calibration.candidates": Parameter(10, "Stop after this many rates that lower the loss."),
        "calibration.max_trials": Parameter(20, "The maximum number of rates to try."),
    },
    "averaged-perceptron": {
        **_FEATURES,
        "max_iterations": Parameter(100, "The maximum number of passes over the data."),
        "epsilon": Parameter(0.0, "Stop when the mean share of wrong labels is below this."),
    },
    "passive-aggressive": {
        **_FEATURES,
        "type": Parameter(1, "0: no limit of a step; 1: PA-I, at most c; 2: PA-II, softly."),
        "c": Parameter(1.0, "How long steps may be."),
        "error_sensitive": Parameter(
            True, "The cost of an output is the root of its number of wrong labels; else 1."
        ),
        "averaging": Parameter(True, "Average the weights over all steps."),
        "max_iterations": Parameter(100, "The maximum number of passes over the data."),
        "epsilon": Parameter(0.0, "Stop when the mean loss is below this."),
    },
    "arow": {
        **_FEATURES,
        "variance": Parameter(1.0, "The variance of every weight in the beginning."),
        "gamma": Parameter(1.0, "How much the weights resist a change."),
        "max_iterations": Parameter(100, "The maximum number of passes over the data."),
        "epsilon": Parameter(0.0, "Stop when the mean loss is at most this."),
    },
}
_SHORT = {"ap": "averaged-perceptron", "pa": "passive-aggressive"}


def full_name(algorithm: str, type: str = "crf1d") -> str:
    """Return the full name of an algorithm; ValueError if it is unknown."""
    name = algorithm.lower()
    name = _SHORT.get(name, name)
    if name not in ALGORITHMS or type != "crf1d":
        raise ValueError(
            f"Bad arguments: algorithm={algorithm!r}, type={type!r}; algorithms are lbfgs, l2sgd, "
            "ap (averaged-perceptron), pa (passive-aggressive) and arow, the type is crf1d"
        )
    return name


def checked_value(name: str, parameter: Parameter, value: Any) -> Any:
    """Return a value converted to the parameter's type; ValueError if that is impossible.

    As in CRFsuite, a value may be a string, and values of whole-number parameters are truncated.
    """
    if isinstance(parameter.default, str):
        return value.decode("utf-8") if isinstance(value, bytes) else str(value)
    convert: Callable[[Any], Any] = float
    if isinstance(parameter.default, bool):
        convert = _as_flag
    elif isinstance(parameter.default, int):
        convert = _as_whole
    try:
        converted = convert(value)
    except (TypeError, ValueError, OverflowError):
        kind = "0 or 1" if convert is _as_flag else "a number"
        raise ValueError(f"the parameter {name} is {kind}, got {value!r}") from None
    if converted != converted:
        raise ValueError(f"the parameter {name} is a number, got {value!r}")
    return float(int(converted)) if parameter.whole else converted


def _as_whole(value: Any) -> int:
    return int(float(value))


def _as_flag(value: Any) -> bool:
    return bool(int(float(value)))
