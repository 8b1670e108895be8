"""Probabilities of estimators: at which temperature, and whether they can be trusted."""

from __future__ import annotations

import warnings
from typing import Any, TypeVar

from sklearn.utils.validation import check_is_fitted

from .calibration import best_temperature
from .looking import Explained
from .predictor import as_columns

__all__ = ["Calibrated"]

Model = TypeVar("Model", bound="Calibrated")


class Calibrated(Explained):
    """An estimator whose probabilities can be calibrated on held-out examples.

    Attributes
    ----------
    temperature_ : float
        Of calibrated probabilities; only after :meth:`calibrate`.
    """

    temperature: float
    temperature_: float

    @property
    def calibrated_(self) -> bool:
        """Whether a log loss was minimised, or :meth:`calibrate` has been called."""
        return hasattr(self, "temperature_") or float(self.temperature) > 0

    def calibrate(self: Model, X: Any, y: Any) -> Model:
        """Set the temperature at which the outputs of held-out examples are most probable.

        Minimises −Σ log P(y | x) over the temperature. The order of outputs does not change with
        it, so neither do predictions. Learners without a log loss (perceptrons, support vector
        machines) have scores of no particular scale: without this, their probabilities mean little.

        Parameters
        ----------
        X, y : as ``fit`` takes them
            Examples that the model has not learned from.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        read = self._read(X)
        gold = self._read_outputs(read, y).outputs
        scored = list(self._score_chunks(read))
        outputs = iter(gold)
        pairs = [[(scores, next(outputs)) for scores in chunk] for chunk in scored]

        def log_loss(temperature: float) -> float:
            total = 0.0
            for chunk in pairs:
                columns = as_columns([scores for scores, _ in chunk])
                values = self.structure_.log_partition(
                    temperature=temperature, n_jobs=self.n_jobs, **columns
                )
                for (scores, output), value in zip(chunk, values, strict=True):
                    total += (value - self._score_of(output, scores, temperature)) / temperature
            return total

        self.temperature_ = best_temperature(log_loss)
        return self

    @property
    def _default_temperature(self) -> float:
        return getattr(self, "temperature_", 0.0) or float(self.temperature) or 1.0

    def _asked_temperature(self, temperature: float | None) -> float:
        if temperature is not None:
            return temperature
        if not self.calibrated_:
            warnings.warn(
                f"the probabilities of this {type(self).__name__} are not calibrated: it was "
                "learned without a log loss. calibrate(X, y) on held-out examples does that; "
                "temperature=... takes the scores as they are",
                UserWarning,
                stacklevel=3,
            )
        return self._default_temperature
