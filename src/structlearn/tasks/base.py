"""What all tasks over files share: models in files, queries, what notebooks show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from ..exceptions import INTERRUPTED, CapabilityError
from ..fitting.parameters import Parameters
from ..models.model import Model
from ..models.storage import StoredTask
from ..text.sources import without_empty

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any, TypeVar

    from ..drawing.report import Report, Weights
    from ..models.calibration import Calibration
    from .doubts import Looked, Pool, Seen

    Task = TypeVar("Task", bound="FileTask")


class FileTask(StoredTask, Model, Parameters):
    """A task over files, with scikit-learn's conventions for its parameters."""

    features: Any
    learner: str
    n_jobs: int | None
    verbose: int
    functions: Any
    model_: Any
    history_: list[dict[str, Any]]

    #: What pages call it, and what it counts when it labels files.
    _title: str
    _unit = "tokens"
    #: Labelled files are text, which a terminal shows.
    _writes_text = True

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

    def _keep(self: Task, model: Any, learned: Any, dev: Any) -> Task:
        """End a training: keep what was learned, calibrated on the dev set if there is one."""
        from ..meter import Meter

        self.model_, self.history_ = model, learned.history
        model.training["parameters"] = self._stored()
        if learned.interrupted:
            raise KeyboardInterrupt(INTERRUPTED)
        if dev is not None:
            # Large images have no probabilities.
            with Meter("calibrating", shown=bool(self.verbose)), suppress(CapabilityError):
                self.calibrate(dev)
        return self

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

    def _without_empty(self, X: Any) -> tuple[Any, list[int]]:
        return without_empty(X)

    _tells_shares = True

    #: Which of the scores of ``evaluate`` is that of ``score``.
    _measure: str
    evaluate: Callable[..., dict[str, Any]]

    def score(self, X: Any, y: Any = None) -> float:
        """Return one of the scores of :meth:`evaluate`, for inputs with their gold outputs.

        The accuracy of a tagger, the F1 of chunks or of brackets, the labelled attachment score of
        dependencies, the mean IoU of images.
        """
        return float(self.evaluate(X, y)[self._measure])

    def _gold_source(self, source: Any, format: str | None = None) -> Any:
        """Read what ``evaluate`` can be given several times."""
        return source

    def _repr_html_(self) -> str:
        """What notebooks show: what the model is and how it was trained."""
        from ..models.facts import facts_html
        from .inspection import task_facts

        return facts_html(repr(self), task_facts(self) if hasattr(self, "model_") else [])

    def _typed(self, text: str) -> Any:
        """Return what a text on the command line stands for, as ``predict`` takes a sentence."""
        return text.split()

    # -- what is worth a look -------------------------------------------------------------------

    #: What the parts of outputs are called.
    _parts: str

    def least_sure(
        self, X: Any, n: int = 100, *, by: str = "entropy", format: str | None = None
    ) -> list[Looked]:
        """Return the sentences that the model doubts most, with the reason.

        Parameters
        ----------
        X : as ``predict`` takes it
        n : int
            How many.
        by : {"entropy", "mean", "least", "whole"}
            What doubt is: the entropy of all outputs of the sentence, in nats; the same divided by
            the number of tokens; 1 − the probability of the label, arc, span or word that is least
            sure; or 1 − the probability of the output as a whole.
        format : str, optional
            Of the file, as for ``label_file``; by default it is guessed.

        Returns
        -------
        list of Looked
            number, line, words, labels, confidence, doubt, reason of each.
        """
        from .doubts import least_sure

        return least_sure(self, X, n, by, format)

    def _pool(self, X: Any, format: str | None = None) -> Pool:
        """Return sentences to be ranked."""
        raise CapabilityError(
            f"{self._title.lower()}s cannot be ranked sentence by sentence; confidence(X) says how "
            "sure the model is of each part of each output"
        )

    def _seen(self, inputs: Any, i: int, output: Any, sure: list[float]) -> Seen:
        """Return an output as it is shown, with the probabilities that its parts are right."""
        raise AssertionError

    # -- what ``inspect`` shows -----------------------------------------------------------------

    def _own_facts(self) -> list[tuple[str, str]]:
        """Return what else there is to say of the model."""
        raise AssertionError

    def _report(self) -> Report:
        """Return a report with the names of what it shows."""
        from ..drawing.report import Report

        return Report(self._title)

    def _names_of_features(self) -> Sequence[str]:
        """Return the labels that ``_heaviest`` may have."""
        raise AssertionError

    def _table(self, labels: Sequence[str] | None, page: bool) -> Weights | None:
        """Return the weights of pairs of labels as a table; None: there is none, or no room."""
        return None

    def _to_show(self, X: Any, most: int) -> tuple[Any, list[Any], list[str], int]:
        """Return the first inputs of X, their gold outputs (None: not known), their names.

        And how many inputs there are in all.
        """
        raise AssertionError

    def _said(
        self, inputs: Any, i: int, decision: dict[str, Any], gold: Any
    ) -> tuple[str, str, str | None, str]:
        """Return what is said of a decision: of what, the label, the gold one, the runner-up."""
        raise AssertionError

    def _drawn(self, inputs: Any, i: int, output: Any, gold: Any, page: bool) -> dict[str, Any]:
        """Return what is shown of an output beside the decisions: parts of a ``Shown``."""
        return {}

    def __repr__(self) -> str:
        state = "" if hasattr(self, "model_") else ", not trained"
        features = f"features={self.features!r}, " if "features" in self._declared else ""
        return f"{type(self).__name__}({features}learner={self.learner!r}{state})"
