"""The temperature of a model, which defines its distribution over outputs."""

from __future__ import annotations

from collections.abc import Mapping

from .. import _core

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

    from .calibration import Calibration

#: Of a model whose scores have no known scale: they are taken as they are.
_UNKNOWN = 1.0


def temperature_of(temperature: float | None) -> float:
    """Return the temperature of a distribution; None, not calibrated, takes scores as they are."""
    return _UNKNOWN if temperature is None else temperature


def loss_temperature(training: Mapping[str, Any]) -> float | None:
    """Return the ε of the loss that a task has minimised, by its record; None: it had none."""
    given = (training.get("learner_parameters") or {}).get("temperature")
    return _core.loss_temperature(training.get("learner"), given)


def stored_calibration(
    training: Mapping[str, Any], name: str = "calibration"
) -> Calibration | None:
    """Return the calibration that the record of a task's training has by a name."""
    stored = training.get(name)
    if stored is None:
        return None
    from .calibration import Calibration

    return Calibration.from_dict(stored)


def curve_of(calibration: Calibration | None) -> list[float]:
    """Return the highest confidence, then the curve if there is one, as the core takes them."""
    return [] if calibration is None else calibration.certainty


class Tempered:
    """What was learned by a task, with the scale of its probabilities.

    Attributes
    ----------
    training : dict
        The record of the training, which files hold.
    """

    training: dict[str, Any]

    @property
    def calibration(self) -> Calibration | None:
        """What a dev set said of the probabilities; None: none was asked."""
        return stored_calibration(self.training)

    @calibration.setter
    def calibration(self, calibration: Calibration | None) -> None:
        self.training.pop("calibration", None)
        if calibration is not None:
            self.training["calibration"] = calibration.as_dict()

    @property
    def loss_temperature(self) -> float | None:
        """The ε of the loss that was minimised; None: it had none."""
        return loss_temperature(self.training)

    @property
    def temperature(self) -> float | None:
        """Of the distribution; None: not calibrated."""
        calibration = self.calibration
        return self.loss_temperature if calibration is None else calibration.temperature

    @property
    def certainty_curve(self) -> list[float]:
        """The highest confidence, then the curve if there is one, as the core takes them."""
        return curve_of(self.calibration)


def confidences(calibration: Calibration | None, rows: list[list[float]]) -> list[list[float]]:
    """Return the probabilities that parts are right, given those that a model has for them."""
    if calibration is None:
        return rows
    return [list(map(calibration.confidence, row)) for row in rows]


def doubt(temperature: float | None, calibration: Calibration | None) -> str:
    """Say why the probabilities of a model cannot be trusted; nothing if they can.

    Parameters
    ----------
    temperature : float, optional
        The ε of the loss that was minimised.
    """
    if calibration is None:
        return "no dev set has tried them" if temperature is None else ""
    if calibration.honest:
        return ""
    return (
        f"their reliability error was {calibration.error:.3f} on {calibration.n_parts:,} parts of "
        "the dev set"
    )


def warn_of(kind: str, doubts: Mapping[str, str]) -> None:
    """Warn, where the library was called, that probabilities cannot be trusted.

    Parameters
    ----------
    kind : str
        The class of the model.
    doubts : dict of str to str
        What :func:`doubt` says of each of its stages, by name; of a model without stages "".
    """
    reasons = [f"{name}: {why}" if name else why for name, why in doubts.items() if why]
    if reasons:
        import warnings

        warnings.warn(
            f"the probabilities of this {kind} are not calibrated ({'; '.join(reasons)}). Held-out "
            "examples calibrate them: fit(..., dev=...)",
            UserWarning,
            stacklevel=_level_of_user(),
        )


def _level_of_user() -> int:
    """Return the stack level of the first frame outside the library, for a warning."""
    import sys

    package = __name__.partition(".")[0]
    frame, level = sys._getframe(1), 1
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        frame, level = frame.f_back, level + 1
    return level


def certainty_fact(temperature: float | None, calibration: Calibration | None) -> str:
    """Say how far the probabilities of a model can be trusted."""
    if calibration is None:
        if temperature is None:
            return "not calibrated: train with a dev set (--dev)"
        return "those of a log loss; no dev set has tried them"
    error = f"reliability error {calibration.error:.3f} on {calibration.n_parts:,} held-out parts"
    if not calibration.honest:
        return f"not calibrated: {error}"
    return f"calibrated on the dev set, temperature {calibration.temperature:.3g}, {error}"
