"""What taggers of tokens and taggers of segments share: parameters, reading, labelling files."""

from __future__ import annotations

import os
from collections.abc import Callable

from ..estimators.declared import Parameters
from ..exceptions import FileError
from ..models.model import Model
from ..models.storage import StoredTask
from ..text.corpus import Corpus, corpus_of
from ..text.files import read_bytes
from ..text.layouts import Layout, as_trained, format_advice, input_format
from ..text.sources import (
    check_source,
    named_file,
    not_empty,
    read_source,
    with_empty,
    with_labels,
)

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any, TypeVar

    from ..models.calibration import Calibration

    Task = TypeVar("Task", bound="FileTagger")

__all__ = ["FileTagger"]


class FileTagger(StoredTask, Model, Parameters):
    """A learner over files, with scikit-learn's conventions for its parameters."""

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
    def _loss_temperature(self) -> float | None:  # type: ignore[override]
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

    # -- reading --------------------------------------------------------------------------------

    def _read_training(
        self, train: Any, y: Any, dev: Any, format: str | None
    ) -> tuple[Corpus, Corpus | None]:
        """Read the corpora of a training run, which must have the same columns."""
        corpus = not_empty(read_source(train if y is None else with_labels(train, y), format))
        return corpus, self._read_dev(dev, corpus, format)

    def _read_dev(self, dev: Any, corpus: Any, format: str | None) -> Corpus | None:
        """Read a dev corpus, which must have the columns of the training corpus."""
        if dev is None:
            return None
        held_out = not_empty(read_source(dev, format), "the dev corpus")
        if held_out.n_columns != corpus.n_columns or held_out.format != corpus.format:
            raise FileError(
                held_out.path or "the dev corpus",
                f"{held_out.format} with {held_out.n_columns} columns, where the training file is "
                f"{corpus.format} with {corpus.n_columns}",
            )
        return held_out

    def _gold_source(self, source: Any, format: str | None = None) -> Any:
        """Read what ``evaluate`` can be given several times."""
        return self._gold_corpus(source, format)

    def _gold_corpus(self, source: Any, format: str | None) -> Corpus:
        """Read sentences that must have their labels."""
        model = self._fitted()
        given = not_empty(read_source(check_source(source), format))
        corpus = self._as_trained(given)
        if corpus.n_columns <= max(model.targets) or _lacks_labels(model, given):
            raise FileError(
                corpus.path or "the corpus",
                f"it has {given.n_columns} columns: the gold labels must be in column "
                f"{model.target_numbers}",
            )
        return corpus

    def _read_input(self, source: Any) -> Corpus:
        """Read sentences to label: of any format, with or without labels."""
        model = self._fitted()
        if isinstance(source, (str, os.PathLike)):
            path = named_file(source)
            text = read_bytes(path)
            format = input_format(model, path, text)
            return self._as_trained(corpus_of(path, text, format, advice=format_advice(model)))
        return self._as_trained(read_source(source))

    def _as_trained(self, corpus: Corpus) -> Corpus:
        """Return a corpus with the columns of the training files."""
        try:
            return as_trained(self._fitted(), corpus)
        except ValueError as error:
            raise FileError(corpus.path or "the sentences", str(error)) from None

    def _repr_html_(self) -> str:
        """What notebooks show: what the model is and how it was trained."""
        from ..estimators.summary import facts_html

        facts = self._facts() if hasattr(self, "model_") else []
        return facts_html(repr(self), facts)

    def _facts(self) -> list[tuple[str, str]]:
        """Return what the model is and how it was trained, as ``inspect`` lists it."""
        raise AssertionError

    def __repr__(self) -> str:
        state = "" if hasattr(self, "model_") else ", not trained"
        kind = type(self).__name__
        return f"{kind}(features={self.features!r}, learner={self.learner!r}{state})"


def _lacks_labels(model: Any, corpus: Corpus) -> bool:
    return Layout(model, corpus.format, corpus.n_columns).target is None
