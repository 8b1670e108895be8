"""What taggers of tokens and taggers of segments share: parameters, reading, labelling files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from ..estimators.declared import Parameters, check_whole
from ..exceptions import FileError
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

    from ..metrics.calibration import Reliability

    Task = TypeVar("Task", bound="FileTagger")

__all__ = ["Distribution", "FileTagger"]

_PAIR = ("before", "after", "weight")


class Distribution:
    """P(output | sentence): draws from it, and its entropy.

    Parameters
    ----------
    sample : callable
        (n, seed) -> n outputs.
    entropy : callable
        () -> the entropy in nats.
    """

    def __init__(
        self, sample: Callable[[int, int], list[Any]], entropy: Callable[[], float]
    ) -> None:
        self.sample, self.entropy = sample, entropy


class FileTagger(StoredTask, Parameters):
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

    @property
    def n_threads(self) -> int:
        """Threads that ``n_jobs`` stands for; None is one."""
        if self.n_jobs is None:
            return 1
        if type(self.n_jobs) is int and self.n_jobs >= 1:  # the short way, without an import
            return self.n_jobs
        return check_whole("n_jobs", self.n_jobs, 1)

    # -- distributions --------------------------------------------------------------------------

    def sample(
        self, X: Any, n: int = 1, *, random_state: int = 0, gold_tags: bool | None = None
    ) -> list[list[Any]]:
        """Return n outputs of each sentence, drawn from P(output | sentence).

        Parameters
        ----------
        X : as ``predict`` takes it
        random_state : int, default=0
            The same number gives the same outputs.
        gold_tags : bool, optional
            Parsers: read the tags instead of predicting them.
        """
        number, seed = check_whole("n", n, 1), check_whole("random_state", random_state, 0)
        drawn = self._ask_each(
            X,
            lambda given: [
                one.sample(number, seed + i)
                for i, one in enumerate(self._distributions(given, gold_tags))
            ],
            lambda: [self._no_output() for _ in range(number)],
        )
        return self._warned(drawn)

    def entropy(self, X: Any, *, gold_tags: bool | None = None) -> list[float]:
        """Return the entropy of P(output | sentence) of each sentence, in nats.

        0 where the model is certain. Probabilities are those of ``predict_marginals``.

        Parameters
        ----------
        X : as ``predict`` takes it
        gold_tags : bool, optional
            Parsers: read the tags instead of predicting them.
        """
        found = self._ask_each(
            X,
            lambda given: [one.entropy() for one in self._distributions(given, gold_tags)],
            float,
        )
        return self._warned(found)

    def _distributions(self, X: Any, gold_tags: bool | None) -> Iterable[Any]:
        """Return for each sentence what has ``sample(n, seed)`` and ``entropy()``."""
        from ..exceptions import CapabilityError

        raise CapabilityError(
            f"{type(self).__name__} has no probabilities of outputs, so there are no draws and no "
            "entropies. What works: predict"
        )

    def _no_output(self) -> Any:
        """Return the output of a sentence without words."""
        return []

    def _ask_each(
        self, X: Any, answer: Callable[[Any], list[Any]], empty: Callable[[], Any]
    ) -> list[Any]:
        """Return the answers for all sentences; ``empty()`` for those without words."""
        self._fitted()
        found: list[Any] = with_empty(X, answer, empty)
        return found

    # -- certainty ------------------------------------------------------------------------------

    @property
    def calibrated(self) -> bool:
        """Whether probabilities are those of a log loss, or were calibrated on a dev set."""
        return self._fitted().temperature is not None

    def _warned(self, found: list[Any]) -> list[Any]:
        """Return what rests on probabilities, with a warning where these are not calibrated."""
        if found and not self.calibrated:
            import warnings

            warnings.warn(
                f"the probabilities of this {type(self).__name__} are not calibrated: it was "
                "learned without a log loss. Training with a dev set, fit(X, dev=...), calibrates "
                "them",
                UserWarning,
                stacklevel=3,
            )
        return found

    def calibration(
        self, X: Any, format: str | None = None, *, gold_tags: bool | None = None
    ) -> Reliability | None:
        """Compare the probabilities of predictions with how often these are right.

        Parameters
        ----------
        X : as ``evaluate`` takes it
            With gold labels or trees.
        gold_tags : bool, optional
            Parsers: read the tags instead of predicting them.

        Returns
        -------
        structlearn.metrics.calibration.Reliability or None
            Of tokens, segments, arcs or brackets. None where the model has no probabilities.
        """
        from ..exceptions import CapabilityError
        from ..metrics.calibration import reliability

        self._fitted()
        try:
            pairs = list(self._certainties(X, format, gold_tags))
        except CapabilityError:
            return None
        return reliability((p for p, _ in pairs), (right for _, right in pairs)) if pairs else None

    def _certainties(
        self, X: Any, format: str | None, gold_tags: bool | None
    ) -> Iterable[tuple[float, bool]]:
        """Return the probability of each prediction, and whether it is right."""
        return ()

    # -- what was learned -----------------------------------------------------------------------

    def top_features(
        self,
        label: str | None = None,
        n: int = 10,
        *,
        in_words: bool = False,
        as_frame: bool = False,
    ) -> Any:
        """Return the features with the largest weights of a label.

        Parameters
        ----------
        label : str, optional
            A label, relation, category or class; by default all of them.
        n : int, default=10
            Features of each label.
        in_words : bool, default=False
            Phrases instead of the names of features: 'the word ends in "ing"'.
        as_frame : bool, default=False
            A pandas DataFrame instead of a list.

        Returns
        -------
        list of dict
            label, feature, weight; by label. Where a tagger learns chunks as IOBES, the features of
            B- are those of S- and B-, the ones of I- those of I- and E-: their names begin with
            the label that is meant, "as S-NP: ...".
        """
        from ..estimators.frames import as_records

        self._fitted()
        n = check_whole("n", n, 1)
        found = self._heaviest(n, None if label is None else [label])
        if label is not None and label not in found:
            raise ValueError(f"the model has no label {label!r}; it has {', '.join(found)}")
        said = self._phrases() if in_words else str
        rows = [
            {"label": one, "feature": said(name), "weight": float(weight)}
            for one, features in found.items()
            for name, weight in features
        ]
        return as_records(rows, ("label", "feature", "weight"), as_frame)

    def transitions(self, *, as_frame: bool = False) -> Any:
        """Return the weights of pairs of neighbouring labels.

        Parameters
        ----------
        as_frame : bool, default=False
            A pandas DataFrame instead of a list: a row for each label before, a column for each
            label after.

        Returns
        -------
        list of dict
            before, after, weight; −∞ is forbidden. Labels are those that were learned (S- and E-
            too where a tagger has the scheme IOBES). "(start)" is before the first label, "(end)"
            after the last; at order 0 these are all. Of a constituency parser: a label, what stands
            under it, and the weight of both; of counted rules their probability.
        """
        from ..estimators.frames import as_records

        self._fitted()
        rows = [dict(zip(_PAIR, row, strict=True)) for row in self._pairs()]
        return as_records(rows, _PAIR, as_frame, wide=True)

    def explain(self, X: Any, *, in_words: bool = False, as_frame: bool = False) -> Any:
        """Return what decided the predictions, against their runners-up.

        Parameters
        ----------
        X : as ``predict`` takes it
        in_words : bool, default=False
            Phrases instead of the names of features: 'the word ends in "ing"'.
        as_frame : bool, default=False
            A pandas DataFrame instead of a list, with a row for each contribution.

        Returns
        -------
        list of list of dict
            By sentence, for each token: position, token, label, runner_up, margin (the difference
            of their scores), contributions: (name, value), the largest (by its absolute value)
            first; taggers give the probability of the label too, with a warning where it is not
            calibrated. Where there was no other choice, runner_up is None and margin infinite. The
            margin of an arc is negative if it alone would have lost and the rest of the tree
            decided. Segments are explained as such, labels are (start, end, type) then, and the
            runner-up is a list of them; the labels of dependency trees are (head, relation). A tree
            of constituents is explained as a whole, with position None, and an image class by
            class.
        """
        from ..estimators.frames import contributions_frame

        found = self._ask_each(X, self._decisions, list)
        if any("probability" in one for row in found for one in row):
            self._warned(found)
        if in_words:
            said = self._phrases()
            for decision in (one for row in found for one in row):
                parts = decision["contributions"]
                decision["contributions"] = [(said(name), value) for name, value in parts]
        return contributions_frame(found) if as_frame else found

    def _phrases(self) -> Callable[[str], str]:
        """Return what puts names of features in words; here they are words already."""
        return str

    def _heaviest(self, n: int, labels: list[str] | None) -> dict[str, list[tuple[str, float]]]:
        """Return (name, weight) of the heaviest features by label."""
        raise AssertionError

    def _pairs(self) -> list[tuple[str, str, float]]:
        """Return (before, after, weight) of pairs of labels."""
        from ..exceptions import CapabilityError

        raise CapabilityError(
            f"{type(self).__name__} has no transitions between labels. What works: top_features, "
            "explain"
        )

    def _decisions(self, X: Any) -> list[list[dict[str, Any]]]:
        """Return what ``explain`` gives."""
        raise AssertionError

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
