"""What all tasks over files share: models in files, queries, what notebooks show."""

from __future__ import annotations

from collections.abc import Callable

from ..fitting.parameters import Parameters
from ..models.model import Model
from ..models.storage import StoredTask
from ..text.sources import with_empty

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any, TypeVar

    from ..models.calibration import Calibration

    Task = TypeVar("Task", bound="FileTask")

__all__ = ["FileTask"]


class FileTask(StoredTask, Model, Parameters):
    """A task over files, with scikit-learn's conventions for its parameters."""

    features: Any
    learner: str
    n_jobs: int | None
    functions: Any
    history_: list[dict[str, Any]]

    #: What pages call it.
    _title: str

    @classmethod
    def from_model(cls: type[Task], model: Any) -> Task:
        """Return a task with this model; of its parameters those that the model file has."""
        task = cls(**cls._held_by(model))
        task._restore(model.training)
        task.model_ = model
        task.history_ = list(model.training.get("history", []))
        return task

    @staticmethod
    def _held_by(model: Any) -> dict[str, Any]:
        """Return the parameters that a model file holds as something else than plain values."""
        return {}

    # -- queries --------------------------------------------------------------------------------

    @property
    def calibration_(self) -> Calibration | None:  # type: ignore[override]
        """What a dev set said of the probabilities; None: none was asked."""
        calibration: Calibration | None = self._fitted().calibration
        return calibration

    @property
    def _loss_temperature(self) -> float | None:
        temperature: float | None = self._fitted().loss_temperature
        return temperature

    def _keep_calibration(self, calibration: Calibration | None) -> None:
        self._fitted().calibration = calibration

    def _ask(
        self,
        X: Any,
        answer: Callable[[Any], list[Any]],
        empty: Callable[[], Any],
        reading: dict[str, Any],
    ) -> list[Any]:
        self._fitted()
        answers: list[Any] = with_empty(
            X, lambda given: answer(self._inputs(given, **reading)), empty
        )
        return answers

    def _gold_source(self, source: Any, format: str | None = None) -> Any:
        """Read what ``evaluate`` can be given several times."""
        return source

    def _repr_html_(self) -> str:
        """What notebooks show: what the model is and how it was trained."""
        from ..models.facts import facts_html

        facts = self._facts() if hasattr(self, "model_") else []
        return facts_html(repr(self), facts)

    def _facts(self) -> list[tuple[str, str]]:
        """Return what the model is and how it was trained, as ``inspect`` lists it."""
        raise AssertionError

    def __repr__(self) -> str:
        state = "" if hasattr(self, "model_") else ", not trained"
        kind = type(self).__name__
        return f"{kind}(features={self.features!r}, learner={self.learner!r}{state})"
