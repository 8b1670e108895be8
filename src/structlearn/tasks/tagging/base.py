"""What taggers of tokens and of segments share: parameters, learning, queries, judging."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Mapping, Sequence

from ...exceptions import FileError
from ...fitting.learner_registry import LEARNERS, check_learner
from ...fitting.parameters import Choice, Number, Whole, parameter
from ...fitting.task_parameters import LearnerParameters
from ...models.ranking import label_pairs
from ...models.token_labels import OneCall
from ...text.corpus import Corpus, corpus_of
from ...text.files import read_bytes
from ...text.layouts import Layout, as_trained, format_advice, input_format
from ...text.sources import (
    as_documents,
    check_source,
    labelled_texts,
    named_file,
    not_empty,
    read_source,
    with_labels,
)
from ...text.tables import Naming
from ...text.tokenisers import TokeniserName, words_of
from .files import LabelledFiles

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any, TypeVar

    from ...drawing.report import Report, Weights
    from ...fitting.split_corpus import SplitCorpus
    from ...models.inputs import NativeInputs
    from ...text.spans import Span
    from ..doubts import Looked, Pool, Seen

    Kind = TypeVar("Kind", bound="LabelTagger")


class LabelTagger(OneCall, LearnerParameters, LabelledFiles):
    """Learns labels from a column file or a CoNLL-U file, and writes them.

    A subclass says how it learns (``_fitting``).
    """

    _text = (
        """\
    tokens : {"blank", "words", "characters", "english"} or a regular expression, optional
        How texts are cut into tokens (:mod:`structlearn.text.tokenisers`), in training and in
        prediction: those with spans, and sentences that are strings. By default texts with spans
        into "words", strings at blanks.
    unknown : str, default="_"
        A label that is not known: left open in training, left out of all scores.
    sets : str, default=""
        What separates labels of which one is right, nobody knows which: with ``"|"`` the label
        ``B-PER|B-ORG`` is one of these two. Empty: it is a label like others.
    functions : dict of str to callable, optional
        Functions of a string that templates call by name; they are not stored with the model.
    constraints : list of Constraint, or str, optional
        Hard constraints on the labels as they are written (:mod:`structlearn.constraints`), in
        training and in prediction: ``"contiguous()"``. They are stored with the model.
    illegal : {"error", "drop"}, default="error"
        What to do with training sentences whose labels break a constraint: refuse them by file and
        line, or leave them out.
"""
        + LearnerParameters._text
    )

    features: Any = parameter(default="auto", kw_only=False)
    learner: str = parameter(
        default="perceptron", kw_only=False, check=Choice(*LEARNERS), help="learning algorithm"
    )
    target: str | int | Sequence[str | int] | None = parameter(
        default=None,
        help="column of the labels: a number from 1, or a name (default: the last; CoNLL-U: upos); "
        "taggers of tokens: several, as upos,xpos,feats, are learned as one joined label",
        metavar="COLUMN",
    )
    all_possible_states: bool | int | None = parameter(
        default=None,
        check=Whole(0, switch=True),
        help="give a feature weights for all labels if it was seen with at least N labels; "
        "1: always, 0: never",
    )
    min_count: int = parameter(
        default=0, check=Whole(0), help="drop features seen fewer times than this"
    )
    prune: float = parameter(
        default=0.0, check=Number(), help="drop weights of at most this absolute value"
    )
    tokens: str | None = parameter(
        default=None,
        check=TokeniserName(),
        help="how texts are cut into tokens: blank, words, characters, english, or a regular "
        "expression (default: words for texts with spans, else blank)",
        metavar="NAME|REGEX",
    )
    unknown: str = parameter(default="_", help="label that means unknown", metavar="LABEL")
    sets: str = parameter(
        default="",
        help="separates labels of which one is right: with --sets '|', B-PER|B-ORG is one of the "
        "two",
        metavar="MARK",
    )
    functions: Mapping[str, Callable[[str], Any]] | None = parameter(default=None, stored=False)
    constraints: Any = parameter(default=None, stored=False)
    illegal: str = parameter(
        default="error",
        check=Choice("error", "drop"),
        help="what to do with sentences whose labels break a constraint: error; drop: leave them "
        "out",
    )

    #: What decisions are about.
    _parts = "labels"

    def _check(self) -> None:
        check_learner(self)
        if self.constraints is not None:
            from ...constraints.text import stored

            stored(self.constraints)  # before a file is read

    # -- learning -------------------------------------------------------------------------------

    def _fitting(self, corpus: SplitCorpus, start: Any, dev: bool = False) -> Any:
        """Return the training run; its ``run`` gives the model and what was learned.

        ``dev``: whether it will be judged by a dev set.
        """
        raise AssertionError

    def fit(
        self: Kind,
        X: Any,
        y: Any = None,
        *,
        dev: Any = None,
        sample_weight: Any = None,
        start: Kind | None = None,
        format: str | None = None,
    ) -> Kind:
        """Learn from labelled sentences.

        Parameters
        ----------
        X : path, Corpus, or list of sentences
            A sentence is a list of tuples, the label last.
        y : list of lists of str, optional
            The labels, if the sentences come without them.
        dev : as ``X``, optional
            Scored after each pass (chunk F1, or accuracy); the best pass is kept, and probabilities
            are calibrated on it.
        sample_weight : array of shape (n_sentences,), optional
            Weights ≥ 0 of the sentences. One of weight k is the same as k copies of it in its
            place, one of weight 0 is absent: its loss is multiplied by k, and it counts as k
            sentences (rounded, at least 1) in ``min_count`` and for ``seen(…)``. The convex
            learners ("crf", "svm") and "hmm" learn what they would from the copies; the others make
            one step for k times the loss, and so does the first pass that chooses ``candidates``.
        start : Tagger or SegmentTagger, optional
            Go on from its weights; its features and labels stay, and its constraints unless others
            are given. New labels begin at zero.
        format : {"columns", "conllu"}, optional
            Of the files; by default it is guessed from their names, else from their content.
        """
        from ...fitting.split_corpus import SplitCorpus, in_parts  # NumPy

        self._check()
        given = X if y is None else with_labels(X, y)
        corpus = SplitCorpus(in_parts(given, _read_part, format, self.tokens))
        held_out = self._read_dev(dev, corpus, format)
        weighted = corpus.weighted(sample_weight)
        run = self._plain()._fitting(weighted, start, held_out is not None)
        model, learned = run.run(None if held_out is None else run.held_out(held_out))
        return self._keep(model, learned, held_out)

    def fit_stream(
        self: Kind,
        train: str | os.PathLike[str],
        *,
        dev: Any = None,
        sample_weight: Any = None,
        start: Kind | None = None,
        format: str | None = None,
    ) -> Kind:
        """Learn from a file of any size by reading it again whenever it is looked at.

        In memory are the features, their weights and a piece of the file at a time. What is learned
        is what :meth:`fit` learns; learners that take steps shuffle the sentences within pieces,
        and solvers that keep something for each sentence are replaced by ones over sums.

        Parameters
        ----------
        train : path
            A labelled file; not standard input.
        dev, sample_weight, start, format
            As for :meth:`fit`.
        """
        from ...fitting.parts import LocalParts
        from ...text.stream import CorpusStream

        self._check()
        pieces = CorpusStream(os.fspath(train), format)
        if next(iter(pieces), None) is None:
            raise FileError(pieces.path, "there are no sentences in it")
        stream: Any = LocalParts(pieces, kept=False, in_turn=True)
        return self.fit(stream, dev=dev, sample_weight=sample_weight, start=start)

    @staticmethod
    def _held_by(model: Any) -> dict[str, Any]:
        target = model.target_numbers if model.further else model.target + 1
        constraints = model.constraints or None
        return {"features": model.templates, "target": target, "constraints": constraints}

    # -- reading --------------------------------------------------------------------------------

    def _read_dev(self, dev: Any, corpus: Any, format: str | None) -> Corpus | None:
        """Read a dev corpus, which must have the columns of the training corpus."""
        if dev is None:
            return None
        held_out = labelled_texts(read_source(dev, format, self.tokens))
        held_out = not_empty(held_out, "the dev corpus")
        alike = held_out.names == corpus.names or not (held_out.names and corpus.names)
        if not alike:
            raise FileError(
                held_out.path or "the dev corpus",
                f"its columns are {', '.join(held_out.names)}, those of the training file are "
                f"{', '.join(corpus.names)}",
            )
        if held_out.n_columns != corpus.n_columns or held_out.format != corpus.format:
            raise FileError(
                held_out.path or "the dev corpus",
                f"{held_out.format} with {held_out.n_columns} columns, where the training file is "
                f"{corpus.format} with {corpus.n_columns}",
            )
        return held_out

    def _gold_source(self, source: Any, format: str | None = None) -> Any:
        """Read what ``evaluate`` can be given several times."""
        return self._gold_corpus(source, None, format)

    def _gold_corpus(self, X: Any, y: Any = None, format: str | None = None) -> Corpus:
        """Read sentences that must have their labels."""
        model = self._fitted()
        source = X if y is None else with_labels(X, y)
        naming = Naming(trained=model.table_names)
        read = read_source(_checked(source), format, model.tokens, naming)
        given = not_empty(labelled_texts(read))
        corpus = self._as_trained(given)
        if corpus.n_columns <= max(model.targets) or _lacks_labels(model, given):
            raise FileError(
                corpus.path or "the corpus",
                f"it has {given.n_columns} columns: the gold labels must be in column "
                f"{model.target_numbers}",
            )
        return corpus

    def _read_input(self, source: Any, format: str | None = None) -> Corpus:
        """Read sentences to label: of any format, with or without labels."""
        model = self._fitted()
        if isinstance(source, (str, os.PathLike)):
            path = named_file(source)
            text = read_bytes(path)
            format = input_format(model, path, text, format)
            naming = Naming(trained=model.table_names)
            found = corpus_of(
                path, text, format, naming=naming, advice=format_advice(model),
                tokens=model.tokens, split=False,
            )  # fmt: skip
            return self._as_trained(found)
        return self._as_trained(read_source(model.cut(source), tokens=model.tokens))

    def _as_trained(self, corpus: Corpus) -> Corpus:
        """Return a corpus with the columns of the training files."""
        try:
            return as_trained(self._fitted(), corpus)
        except ValueError as error:
            raise FileError(corpus.path or "the sentences", str(error)) from None

    @property
    def classes_(self) -> list[str]:
        """The labels."""
        raise AssertionError

    # -- labelling ------------------------------------------------------------------------------

    def predict_spans(
        self, X: Any, *, confidence: bool | None = None, constraints: Any = None
    ) -> list[list[Span]]:
        """Return the spans of each text: start and end in characters, label, confidence.

        Parameters
        ----------
        X : path, list of str, or list of dict
            Texts, or documents such as ``{"text": "..."}``; a file of any format with spans.
        confidence : bool, optional
            With the probability that the span is right, with its label and both of its ends: the
            share of all labellings of the sentence that have it. By default where the model's
            probabilities mean something: with a log loss, or calibrated.
        constraints : list of Constraint, or str, optional
            Hard constraints on the labels, beside those of the model.

        Examples
        --------
        >>> from structlearn.tasks import Tagger
        >>> texts = [{"text": "Ann sleeps.", "spans": [{"start": 0, "end": 3, "label": "PER"}]}]
        >>> tagger = Tagger("ner").fit(texts)
        >>> [span[:3] for span in tagger.predict_spans(["Ann sleeps."])[0]]
        [(0, 3, 'PER')]
        """
        from ...text.conversion import read_documents
        from ...text.spans import Document
        from .spans import document_spans

        self._fitted()
        if isinstance(X, (str, os.PathLike)):
            documents = read_documents(named_file(X))
        elif isinstance(X, (list, tuple)) and all(isinstance(one, str) for one in X):
            documents = [Document(one) for one in X]
        elif (given := as_documents(X)) is not None:
            documents = given
        else:
            raise ValueError(
                "texts are a file's name, a list of strings, or of documents, "
                f'[{{"text": "..."}}], got {X!r:.60}'
            )
        if confidence:
            self._warn_of_spans()
        sure = self.temperature_ is not None if confidence is None else confidence
        return document_spans(self, documents, confidence=sure, constraints=constraints)

    def _single(self, x: Any) -> list[str] | None:
        model = self._fitted()
        if model.tokens and type(x) is str:
            return None
        labels: list[str] | None = None if model.constraints else model.calls.predict(x)
        return labels

    # -- what is worth a look -------------------------------------------------------------------

    def _pool(self, X: Any, format: str | None = None) -> Pool:
        from ..doubts import Pool

        model, corpus = self._fitted(), self._read_input(X, format)
        return Pool(
            len(corpus),
            lambda numbers: model.inputs(corpus.subset(numbers)),
            lambda n: int(corpus.core.line_number(n, 0)),
        )

    def _seen(self, inputs: Any, i: int, output: Any, sure: list[float]) -> Seen:
        from ..doubts import Seen

        words = inputs.source.cells(i, 1 if self._fitted().format == "conllu" else 0)
        labels = list(self._named(inputs, i, output))
        return Seen(words, labels, sure, lambda t: f"{words[t]!r} is {labels[t]}")

    def mistakes(self, X: Any, *, format: str | None = None) -> list[Looked]:
        """Return the sentences whose labels are wrong, those first whose wrong label is surest.

        Parameters
        ----------
        X : as ``evaluate`` takes it
        """
        from ..doubts import mistakes

        return mistakes(self, X, format)

    # -- what was learned -----------------------------------------------------------------------

    def _heaviest(self, n: int) -> dict[str, list[tuple[str, float]]]:
        from .inspection import heaviest_features

        return heaviest_features(self._fitted(), n)

    def _phrases(self) -> Callable[[str], str]:
        from ...text.phrases import Phrases

        return Phrases(self._fitted().templates)

    def _pairs(self) -> list[tuple[str, str, float]]:
        model = self._fitted()
        start, end = (array("d", bytes(model.arrays[name])) for name in ("start", "end"))
        return label_pairs(model.labels, start, model.pair_scores(), end)

    def _typed(self, text: str) -> list[Any]:
        """Return words with the columns that stand behind them: The|DT."""
        name = self._fitted().tokens
        if name:
            return [(word,) for word in words_of(text, name)]
        return [tuple(token.split("|")) for token in text.split()]

    def _own_facts(self) -> list[tuple[str, str]]:
        from .inspection import label_facts

        return label_facts(self._fitted())

    def _report(self) -> Report:
        report = super()._report()
        report.parts = self._parts
        return report

    def _names_of_features(self) -> Sequence[str]:
        return self.classes_

    def _table(self, labels: Sequence[str] | None, page: bool) -> Weights | None:
        from .inspection import transition_table

        return transition_table(self._fitted(), self._pairs(), labels, page)

    def _to_show(self, X: Any, most: int) -> tuple[NativeInputs, list[Any], list[str], int]:
        model, corpus = self._fitted(), self._read_input(X)
        part = corpus.subset(range(min(len(corpus), most)))
        gold: list[Any] = [None] * len(part)
        if max(model.targets) < part.n_columns:
            rows = [[None if k == "_" else k for k in labels] for labels in model.gold(part)]
            gold = [labels if any(labels) else None for labels in rows]
        return model.inputs(part), gold, [""] * len(part), len(corpus)

    def _word(self, inputs: Any, i: int, position: int) -> str:
        """Return a word of a sentence."""
        word: str = inputs.source.cells(i, 1 if self._fitted().format == "conllu" else 0)[position]
        return word

    # -- judging --------------------------------------------------------------------------------

    _measure = "accuracy"

    def evaluate(
        self,
        X: Any,
        y: Any = None,
        *,
        format: str | None = None,
        intervals: bool = False,
        against: Any = None,
    ) -> dict[str, Any]:
        """Compare predicted with gold labels; unknown ones are left out.

        Parameters
        ----------
        X, y : as :meth:`fit` takes them
        intervals : bool
            95 % confidence intervals by the bootstrap over sentences too.
        against : Tagger or SegmentTagger, optional
            Another one: the p-values of the difference too (approximate randomisation).

        Returns
        -------
        dict
            accuracy, sentence_accuracy, tokens (those whose label is known), sentences,
            tokens_per_second; for chunk labels precision, recall and f1 too, overall and by type
            (:func:`~structlearn.metrics.chunk_report` says what of chunks beside unknown labels).
        """
        from .scores import Comparison

        gold = self._gold_corpus(X, y, format)
        return Comparison(self, gold).as_dict(intervals=intervals, against=against)

    def report(
        self,
        X: Any,
        y: Any = None,
        *,
        format: str | None = None,
        intervals: bool = False,
        confusions: int = 0,
        against: Any = None,
    ) -> str:
        """Return a table of scores: by label, or by chunk type as conlleval prints it.

        Parameters
        ----------
        intervals : bool
            95 % confidence intervals by the bootstrap over sentences.
        confusions : int
            This many of the most frequent confusions of labels too.
        against : Tagger or SegmentTagger, optional
            Another one: is the difference significant (approximate randomisation)?
        """
        from .scores import Comparison

        found = Comparison(self, self._gold_corpus(X, y, format))
        return found.text(intervals=intervals, confusions=confusions, against=against)


def _read_part(source: Any, format: str | None, tokens: str | None) -> Corpus:
    return not_empty(labelled_texts(read_source(source, format, tokens)))


def _checked(source: Any) -> Any:
    """Refuse what is neither a path nor a list; documents are looked at when they are read."""
    return source if as_documents(source) is not None else check_source(source)


def _lacks_labels(model: Any, corpus: Corpus) -> bool:
    if corpus.cut_by and model.format == "columns":
        return False  # the labels of spans go where the model has its own
    return Layout(model, corpus.format, corpus.n_columns, corpus.names).target is None
