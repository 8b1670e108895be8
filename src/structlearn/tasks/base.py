"""What taggers of tokens and taggers of segments share: parameters, reading, labelling files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping

from ..exceptions import FileError, LineError
from ..io.container import Tensor, read_container
from ..text.corpus import Corpus, guess_format, read_corpus, split_sentence
from ..text.files import pieces
from .parameters import Parameters, check_whole
from .stored_model import StoredModel

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import IO, Any, TypeVar

    Task = TypeVar("Task", bound="FileTagger")

__all__ = [
    "FileTagger",
    "check_source",
    "label_pieces",
    "not_empty",
    "paired",
    "read_source",
    "with_labels",
]

#: Bytes that a thread labels at a time, and the threads beyond which pieces do not grow.
_PIECE = 1 << 20
_MOST_PIECES = 16


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
                f"it has {corpus.n_columns} columns: the gold labels are to be in column "
                f"{model.target + 1}",
            )
        return corpus

    def __repr__(self) -> str:
        state = "" if hasattr(self, "model_") else ", not trained"
        kind = type(self).__name__
        return f"{kind}(features={self.features!r}, learner={self.learner!r}{state})"


def read_source(source: Any, format: str | None = None) -> Corpus:
    """Return the corpus that a path, a corpus or a list of sentences stands for."""
    if isinstance(source, Corpus):
        return source
    if isinstance(source, (str, os.PathLike)):
        return read_corpus(source, format)
    return Corpus.from_sentences(check_source(source))


def not_empty(corpus: Corpus, name: str = "the corpus") -> Corpus:
    """Return a corpus to learn from or to be judged by, which must have sentences."""
    if not len(corpus):
        raise FileError(corpus.path or name, "there are no sentences in it")
    return corpus


def check_source(source: Any) -> Any:
    """Refuse what is neither a path nor a list of sentences, such as None."""
    named = isinstance(source, (str, os.PathLike))
    if not named and (isinstance(source, (bytes, dict)) or not hasattr(source, "__iter__")):
        kind = "None" if source is None else f"{type(source).__name__} {source!r:.40}"
        raise ValueError(
            f"sentences are a file's name, a Corpus or a list of sentences, got {kind}"
        )
    return source


def paired(X: Any, y: Any) -> list[tuple[Any, Any]]:
    """Return sentences with what scikit-learn keeps apart from them; a dev set is refused."""
    if isinstance(X, (str, os.PathLike)):
        raise ValueError("y goes with a list of sentences; a file has its labels in it")
    if isinstance(y, (str, os.PathLike, Corpus)):
        raise ValueError("y is a list with the labels of each sentence; a dev set is given as dev=")
    sentences, labels = list(check_source(X)), list(check_source(y))
    if len(sentences) != len(labels):
        raise ValueError(
            f"X has {len(sentences)} sentences, y has {len(labels)} (a dev set is given as dev=)"
        )
    return list(zip(sentences, labels, strict=True))


def with_labels(X: Any, y: Any) -> list[list[tuple[Any, ...]]]:
    """Return sentences whose tokens have their labels, given apart, as their last column."""
    found = []
    for number, (sentence, labels) in enumerate(paired(X, y)):
        tokens = split_sentence(sentence)
        if isinstance(labels, str) or not all(isinstance(label, str) for label in labels):
            raise ValueError(
                f"sentence {number}: y has a label, a string, for each token (a dev set is given "
                "as dev=)"
            )
        if len(tokens) != len(labels):
            raise ValueError(f"sentence {number} has {len(tokens)} tokens, y has {len(labels)}")
        cells = [(t,) if isinstance(t, str) else tuple(t) for t in tokens]
        found.append([(*t, label) for t, label in zip(cells, labels, strict=True)])
    return found


def label_pieces(
    model: Any,
    make_labeller: Callable[[str], Any],
    source: str | os.PathLike[str],
    output: IO[bytes],
    format: str | None,
    threads: int,
    progress: Callable[[int], None] | None,
    read: Callable[[str | os.PathLike[str], int], Iterator[tuple[bytes, int]]] = pieces,
    guess: Callable[[bytes], str] | None = None,
) -> int:
    """Write a file with its labels, piece by piece; return the number of tokens.

    Parameters
    ----------
    model : TaggerModel or SegmentModel or None
        Whose format the file must have; None: any.
    make_labeller : callable
        Makes the native labeller for files of a format.
    format : {"columns", "conllu"} or None
        None: by the file's name, else by its content.
    progress : callable or None
        Called with the number of tokens labelled so far.
    read : callable
        Yields pieces of a file with the lines before each, given its name and their size.
    guess : callable, optional
        Returns the format of the file, given its first piece.
    """
    labeller: Any = None

    def write(labelled: bytes, n_tokens: int) -> None:
        output.write(labelled)
        if progress is not None and labelled:
            progress(n_tokens)

    try:
        for text, line in read(source, _PIECE * min(threads, _MOST_PIECES)):
            if labeller is None:
                chosen = guess(text) if guess else format or guess_format(source, text)
                if model is not None and chosen != model.format:
                    raise FileError(
                        os.fspath(source),
                        f"a file of format {chosen}, where the model was trained on {model.format}"
                        + ("" if format else "; --format says otherwise"),
                    )
                labeller = make_labeller(chosen)
            if threads == 1:
                write(labeller.label(text, line, 1), labeller.n_tokens)
                continue
            # While a piece is labelled, the one before is written and the next one read.
            labelled, n_tokens = labeller.finish(), labeller.n_tokens
            labeller.start(text, line, threads)
            write(labelled, n_tokens)
        if labeller is not None and threads > 1:
            write(labeller.finish(), labeller.n_tokens)
    except LineError as error:
        raise error.in_file(os.fspath(source)) from None
    if labeller is None or labeller.n_tokens == 0:
        raise FileError(os.fspath(source), "there are no sentences in it")
    return int(labeller.n_tokens)
