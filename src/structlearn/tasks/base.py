"""What taggers of tokens and taggers of segments share: parameters, reading, labelling files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from ..estimators.declared import Parameters, check_whole
from ..exceptions import FileError
from ..io.container import Tensor, read_container
from ..io.stored_model import StoredModel
from ..text.corpus import Corpus
from ..text.sources import check_source, not_empty, read_source, with_labels

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any, TypeVar

    Task = TypeVar("Task", bound="FileTagger")

__all__ = ["FileTagger"]


class FileTagger(Parameters):
    """A learner over files, with scikit-learn's conventions for its parameters."""

    features: Any
    learner: str
    n_jobs: int | None
    functions: Any
    model_: Any
    history_: list[dict[str, Any]]

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
        task: Task = cls.from_model(model)
        if kind.calls_functions:
            task.functions = functions
        return task

    @classmethod
    def from_model(cls: type[Task], model: Any) -> Any:
        """Return an estimator with this model; of its parameters those that the model file has."""
        raise AssertionError

    @property
    def n_threads(self) -> int:
        """Threads that ``n_jobs`` stands for; None is one."""
        if self.n_jobs is None:
            return 1
        if type(self.n_jobs) is int and self.n_jobs >= 1:  # the short way, without an import
            return self.n_jobs
        return check_whole("n_jobs", self.n_jobs, 1)

    def _fitted(self) -> Any:
        if not hasattr(self, "model_"):
            kind = type(self).__name__
            from sklearn.exceptions import NotFittedError  # a ValueError and an AttributeError

            raise NotFittedError(
                f"this {kind} has not learned anything yet: call fit, or load a model"
            )
        return self.model_

    def _read_training(
        self, train: Any, y: Any, dev: Any, format: str | None
    ) -> tuple[Corpus, Corpus | None]:
        """Read the corpora of a training run, which must have the same columns."""
        corpus = not_empty(read_source(train if y is None else with_labels(train, y), format))
        if dev is None:
            return corpus, None
        held_out = not_empty(read_source(dev, format), "the dev corpus")
        if held_out.n_columns != corpus.n_columns or held_out.format != corpus.format:
            raise FileError(
                held_out.path or "the dev corpus",
                f"{held_out.format} with {held_out.n_columns} columns, where the training file is "
                f"{corpus.format} with {corpus.n_columns}",
            )
        return corpus, held_out

    def _gold_corpus(self, source: Any, format: str | None) -> Corpus:
        """Read sentences that must have their labels."""
        model = self._fitted()
        corpus = not_empty(read_source(check_source(source), format or model.format))
        if corpus.n_columns <= model.target:
            raise FileError(
                corpus.path or "the corpus",
                f"it has {corpus.n_columns} columns: the gold labels must be in column "
                f"{model.target + 1}",
            )
        return corpus

    def __repr__(self) -> str:
        state = "" if hasattr(self, "model_") else ", not trained"
        kind = type(self).__name__
        return f"{kind}(features={self.features!r}, learner={self.learner!r}{state})"
