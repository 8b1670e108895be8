"""What taggers of tokens and taggers of segments share: parameters, reading, labelling files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from ..estimators.declared import Parameters
from ..exceptions import FileError
from ..io.container import Tensor, read_container, refused_as_file
from ..io.stored_model import StoredModel
from ..models.model import Model
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


class FileTagger(Model, Parameters):
    """A learner over files, with scikit-learn's conventions for its parameters."""

    features: Any
    learner: str
    n_jobs: int | None
    functions: Any
    model_: Any
    history_: list[dict[str, Any]]

    #: What pages call it.
    _title: str
    #: The class of ``model_``.
    _model_kind: type[StoredModel]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model, all that it needs included, to one file; the same bytes if it is the
        same model.
        """
        self._fitted().save(path)

    @classmethod
    def load(
        cls: type[Task],
        path: str | os.PathLike[str],
        functions: Mapping[str, Callable[[str], Any]] | None = None,
    ) -> Task:
        """Read a model from a file, with the parameters that it was trained with.

        Parameters
        ----------
        functions : dict of str to callable, optional
            What ``call(…)`` in the feature templates of taggers names: functions are not stored.
        """
        return cls.from_container(os.fspath(path), *read_container(path), functions)

    @classmethod
    def from_container(
        cls: type[Task],
        name: str,
        description: dict[str, Any],
        tensors: dict[str, Tensor],
        functions: Mapping[str, Callable[[str], Any]] | None = None,
    ) -> Task:
        """Return the estimator of a model file that has been read already."""
        kind = cls._model_kind
        model = kind.from_container(name, description, tensors, functions)
        with refused_as_file(name):
            task: Task = cls.from_model(model)
        if kind.calls_functions:
            task.functions = functions
        return task

    @classmethod
    def from_model(cls: type[Task], model: Any) -> Any:
        """Return an estimator with this model; of its parameters those that the model file has."""
        raise AssertionError

    def _fitted(self) -> Any:
        if not hasattr(self, "model_"):
            kind = type(self).__name__
            from ..exceptions import NotFittedError  # slow to import where it is scikit-learn's

            raise NotFittedError(
                f"this {kind} has not learned anything yet: call fit, or load a model"
            )
        return self.model_

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
