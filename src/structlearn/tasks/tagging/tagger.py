"""Taggers, chunkers, entity recognisers: from a file of labelled sentences to labels."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Mapping, Sequence

from ... import _core
from ...text.corpus import Corpus
from ...text.files import written_text
from ...text.templates import FeatureTemplates
from ..base import FileTagger, check_source, label_pieces, read_source, with_labels
from ..parameters import check_whole
from .chunk_labels import are_chunk_labels
from .model import TaggerModel

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import IO, Any

__all__ = ["Tagger"]

LEARNERS = ("perceptron", "svm", "crf", "hmm", "passive-aggressive", "arow", "adagrad")


class Tagger(FileTagger):
    """Labels the tokens of sentences; learns from a column file or a CoNLL-U file.

    Parameters
    ----------
    features : {"auto", "pos", "chunk", "ner", "none"}, path or FeatureTemplates, default="auto"
        What it looks at (:mod:`structlearn.text.templates`). "auto" goes by the labels.
    learner : {"perceptron", "svm", "crf", "hmm", "passive-aggressive", "arow", "adagrad"}
        By default "perceptron".
        The averaged perceptron, the structured SVM, the conditional random field, the hidden Markov
        model.
    order : int, optional
        Of the chain: 2 scores label triples too, with the pairs beside them. None: as the preset of
        the features has it, else 1.
    target : str or int, optional
        The column of the labels: its name, or its number from 1. By default the last column of a
        column file, ``upos`` of CoNLL-U.
    scheme : {None, "none", "bio", "iobes"}, default=None
        "iobes": chunk labels are learned as IOBES and written in the scheme of the training file
        (IOB1 as IOB2). Both make only legal sequences of labels possible, in training and in
        prediction. None: as the preset of the features has it, else "none".
    max_iter : int, optional
        Passes over the data, or iterations; by default 10, svm 30, crf 100.
    patience : int, default=5
        With a dev set: end after so many passes without a better score. 0: never.
    C : float, default=1.0
        Weight of the losses against ½‖w‖² (svm, crf).
    l1 : float, default=0.0
        Weight of ‖w‖₁ (crf): most weights become 0.
    all_states : bool or int, optional
        Weights for every feature with every label; otherwise for the pairs seen in training. A
        number n: for features seen with at least n labels (perceptron of order 1). None: as the
        preset has it, else False.
    min_count : int, default=0
        Leave out features seen fewer times than this in training.
    hash_bits : int, default=0
        Above 0: features are folded to 2^bits and their names are not kept.
    prune : float, default=0.0
        Leave weights of at most this absolute value out of the model.
    n_models : int, optional
        Average the weights of so many runs with different seeds (perceptron). None: as the preset
        has it, else 1.
    average, shuffle : bool, default=True
        Average the weights over all steps; a new order of the sentences for each pass.
    unknown : str, default="_"
        A label that is not known: left open in training.
    names : bool, default=True
        Keep the names of the features in the model, for ``inspect``.
    functions : dict of str to callable, optional
        Functions of a string that templates call by name; they are not stored with the model.
    checkpoint : str or path, optional
        A file from which ``fit`` goes on after it was killed, see :class:`StructuredModel`. For
        learners that take their time; the first-order perceptron, which does not, has none.
    n_jobs : int or None, default=1
        Threads. The result does not depend on it.
    random_state : int, default=0
        Seed of the order of the sentences.
    verbose : int, default=0
        Above 0: a line a pass on standard error.

    Attributes
    ----------
    model_ : TaggerModel
        What was learned.
    classes_ : list of str
        The labels as they are written.
    history_ : list of dict
        A record a pass.

    Examples
    --------
    >>> from structlearn.datasets import make_treebank
    >>> from structlearn.tasks import Tagger
    >>> sentences = [list(zip(s.words, s.tags)) for s in make_treebank(300, random_state=0)]
    >>> tagger = Tagger(features="pos").fit(sentences[:250])
    >>> round(tagger.evaluate(sentences[250:])["accuracy"], 1)
    1.0
    """

    def __init__(
        self,
        features: str | os.PathLike[str] | FeatureTemplates = "auto",
        learner: str = "perceptron",
        *,
        order: int | None = None,
        target: str | int | None = None,
        scheme: str | None = None,
        max_iter: int | None = None,
        patience: int = 5,
        C: float = 1.0,
        l1: float = 0.0,
        all_states: bool | int | None = None,
        min_count: int = 0,
        hash_bits: int = 0,
        prune: float = 0.0,
        n_models: int | None = None,
        average: bool = True,
        shuffle: bool = True,
        unknown: str = "_",
        names: bool = True,
        functions: Mapping[str, Callable[[str], Any]] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        n_jobs: int | None = 1,
        random_state: int = 0,
        verbose: int = 0,
    ) -> None:
        for name, value in locals().items():
            if name != "self":
                setattr(self, name, value)

    features: Any
    learner: str
    order: int | None
    target: str | int | None
    scheme: str | None
    max_iter: int | None
    patience: int
    C: float
    l1: float
    all_states: bool | int | None
    min_count: int
    hash_bits: int
    prune: float
    n_models: int | None
    average: bool
    shuffle: bool
    unknown: str
    names: bool
    functions: Mapping[str, Callable[[str], Any]] | None
    checkpoint: str | os.PathLike[str] | None
    n_jobs: int | None
    random_state: int
    verbose: int

    def _check(self) -> None:
        if self.scheme not in (None, "none", "bio", "iobes"):
            raise ValueError(f"scheme must be 'none', 'bio' or 'iobes', got {self.scheme!r}")
        whole: dict[str, tuple[int, int | None]] = {
            "patience": (0, None),
            "min_count": (0, None),
            "hash_bits": (0, 30),
            "n_jobs": (1, None),
            "random_state": (0, 2**63),
            "max_iter": (1, None),
            "n_models": (1, None),
            "order": (1, 4),
        }
        if not isinstance(self.all_states, bool):
            whole["all_states"] = (0, None)
        self._check_parameters(LEARNERS, whole)

    # -- learning -------------------------------------------------------------------------------

    def fit(
        self,
        train: Any,
        y: Any = None,
        *,
        dev: Any = None,
        start: Tagger | None = None,
        format: str | None = None,
    ) -> Tagger:
        """Learn from labelled sentences.

        Parameters
        ----------
        train : path, Corpus, or list of sentences
            A sentence is a list of tuples, the label last.
        y : list of lists of str, optional
            The labels, where the sentences are without them, as scikit-learn has it.
        dev : as ``train``, optional
            Scored after each pass (chunk F1, or accuracy); the best pass is kept, and probabilities
            are calibrated on it.
        start : Tagger, optional
            Go on from its weights; its features and labels stay.
        format : {"columns", "conllu"}, optional
            Of the files; by default it goes by their names, else by their content.
        """
        from .fitting import Fitting

        self._check()
        corpus, held_out = self._read_training(train, y, dev, format)
        if self.learner == "hmm":
            if start is not None:
                raise ValueError("start: a hidden Markov model is counted, it cannot go on")
            from .hidden_markov import fit_hmm_tagger

            self.model_, self.history_ = fit_hmm_tagger(self._plain(), corpus, held_out), []
            self.model_.training["parameters"] = self._stored()
            return self
        run = Fitting(self._plain(), corpus, None if start is None else start._fitted())
        self.model_, self.history_, interrupted = run.run(held_out)
        self.model_.training["parameters"] = self._stored()
        if interrupted:
            raise KeyboardInterrupt(
                "training was interrupted; the model holds the weights reached so far"
            )
        return self

    def fit_stream(self, train: str | os.PathLike[str], *, format: str | None = None) -> Tagger:
        """Learn from a file of any size by reading it anew for each pass.

        In memory are the features, their weights and a piece of the file at a time. The perceptron
        only; sentences are shuffled within pieces.

        Parameters
        ----------
        train : path
            A labelled file; not standard input.
        """
        from .streaming import fit_stream

        self._check()
        self.model_, self.history_ = fit_stream(self._plain(), os.fspath(train), format)
        self.model_.training["parameters"] = self._stored()
        return self

    # -- the model ------------------------------------------------------------------------------

    @property
    def classes_(self) -> list[str]:
        """The labels as they are written."""
        return list(self._fitted().core.names)

    def save(self, path: str | os.PathLike[str], precision: str = "float32") -> None:
        """Write the model to a file; the same bytes for the same model."""
        self._fitted().save(path, precision)

    @classmethod
    def from_model(cls, model: TaggerModel) -> Tagger:
        """Return a tagger with this model; of its parameters those that the model file has."""
        training = model.training
        tagger = cls(
            model.templates,
            str(training.get("learner", "perceptron")),
            order=model.order,
            target=model.target + 1,
            scheme=training.get("scheme"),
            unknown=str(training.get("unknown", "_")),
        )
        tagger._restore(training)
        tagger.model_ = model
        tagger.history_ = []
        return tagger

    history_: list[dict[str, Any]]
    model_: TaggerModel
    _model_kind = TaggerModel

    # -- labelling ------------------------------------------------------------------------------

    def predict(self, source: Any, known: Sequence[Sequence[str | None]] | None = None) -> Any:
        """Return the labels of sentences.

        Parameters
        ----------
        source : path, Corpus or list of sentences
            With or without the column of labels.
        known : list of lists, optional
            Labels known beforehand, None elsewhere: the others are the best beside them.

        Returns
        -------
        list of lists of str
        """
        model: TaggerModel = self._fitted()
        corpus = self._read_input(source)
        clamped = array("i")
        if known is not None:
            index = {name: i for i, name in enumerate(model.core.names)}
            if [len(labels) for labels in known] != [len(sentence) for sentence in corpus]:
                raise ValueError("known must have one entry a token")
            for s, labels in enumerate(known):
                try:
                    clamped.extend(-1 if k is None else index[k] for k in labels)
                except KeyError as error:
                    raise ValueError(f"sentence {s}: the model has no label {error}") from None
        flat = model.label_corpus(corpus, self.n_threads, clamped)
        out, at = [], 0
        for s in range(len(corpus)):
            n = corpus._core.length(s)
            out.append(flat[at : at + n])
            at += n
        return out

    def _read_input(self, source: Any) -> Corpus:
        """Read sentences to label; a list of sentences may leave the label out."""
        format = self._fitted().format
        if isinstance(source, (Corpus, str, os.PathLike)):
            return read_source(source, format)
        corpus = Corpus.from_sentences(check_source(source))
        if format == "conllu" and corpus.n_columns == 1:  # words alone: they go where forms are
            words = corpus.column(0)
            return Corpus.from_sentences(
                [("_", word, *"________") for word in sentence] for sentence in words
            )
        return corpus

    def predict_marginals(self, source: Any) -> list[list[dict[str, float]]]:
        """Return P(label | sentence) of each token, by label.

        Calibrated where the model was trained with a dev set; otherwise as the scores have it.
        """
        model: TaggerModel = self._fitted()
        corpus = self._read_input(source)
        names, n = model.shown, len(model.labels)
        reader = model.reader(corpus)
        out = []
        for s in range(len(corpus)):
            p = array("d", reader.marginals(s, model.temperature or 1.0))
            tokens = []
            for t in range(0, len(p), n):
                token = dict.fromkeys(model.core.names, 0.0)
                for k in range(n):
                    token[names[k]] += p[t + k]
                tokens.append(token)
            out.append(tokens)
        return out

    def predict_kbest(self, source: Any, k: int) -> list[list[tuple[float, list[str]]]]:
        """Return the k best labellings of each sentence with their scores, best first."""
        k = check_whole("k", k, 1)
        model: TaggerModel = self._fitted()
        corpus = self._read_input(source)
        reader = model.reader(corpus)
        return [
            [(score, [model.shown[i] for i in labels]) for score, labels in reader.kbest(s, k)]
            for s in range(len(corpus))
        ]

    def label_file(
        self,
        source: str | os.PathLike[str],
        output: str | os.PathLike[str] | IO[bytes],
        *,
        format: str | None = None,
        nbest: int = 1,
        confidence: bool = False,
        marginals: bool = False,
        known: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> int:
        """Label a file piece by piece, whatever its size; return the number of tokens.

        Parameters
        ----------
        output : path or binary file
            The input with the column of labels filled, or appended where it is missing. A path is
            replaced only when the new file is whole.
        nbest : int
            Above 1: so many columns of labels, the best sentence's, the second best's, ...
        confidence : bool
            A column with the probability of the label.
        marginals : bool
            A column with the probabilities of all labels.
        known : bool
            Keep the labels that stand in the target column already, other than the unknown one.
        progress : callable, optional
            Called with the number of tokens labelled so far.
        """
        model: TaggerModel = self._fitted()
        if isinstance(output, (str, os.PathLike)):
            with written_text(output) as file:
                return self.label_file(
                    source,
                    file,
                    format=format,
                    nbest=nbest,
                    confidence=confidence,
                    marginals=marginals,
                    known=known,
                    progress=progress,
                )
        return label_pieces(
            model,
            lambda chosen: _core.Labeller(
                model.core,
                chosen,
                model.target,
                model.n_columns,
                nbest,
                confidence,
                marginals,
                known,
                model.temperature or 1.0,
                str(model.training.get("unknown", "_")),
            ),
            source,
            output,
            format,
            self.n_threads,
            progress,
        )

    # -- judging --------------------------------------------------------------------------------

    def score(self, source: Any, y: Any = None) -> float:
        """Return the token accuracy on labelled sentences, or on sentences and their labels."""
        given = source if y is None else with_labels(source, y)
        return float(self.evaluate(given)["accuracy"])

    def evaluate(
        self,
        source: Any,
        format: str | None = None,
        *,
        confidence: bool = False,
        against: Tagger | None = None,
    ) -> dict[str, Any]:
        """Compare predicted with gold labels.

        Parameters
        ----------
        confidence : bool
            95 % confidence intervals by the bootstrap over sentences too.
        against : Tagger, optional
            Another tagger: the p-values of the difference too (approximate randomisation).

        Returns
        -------
        dict
            accuracy, sentence_accuracy, tokens, sentences, tokens_per_second; for chunk labels
            precision, recall and f1 too, overall and by type.
        """
        import time

        from ...metrics import chunk_report, sequence_accuracy, token_accuracy

        model: TaggerModel = self._fitted()
        corpus = self._gold_corpus(source, format)
        gold = corpus.column(model.target)
        begin = time.perf_counter()
        predicted = self.predict(corpus)
        seconds = time.perf_counter() - begin
        result: dict[str, Any] = {
            "accuracy": token_accuracy(gold, predicted),
            "sentence_accuracy": sequence_accuracy(gold, predicted),
            "tokens": corpus.n_tokens,
            "sentences": len(corpus),
            "tokens_per_second": round(corpus.n_tokens / max(seconds, 1e-9)),
        }
        if are_chunk_labels(model.labels):
            report = chunk_report(gold, predicted)
            result.update(
                f1=report.overall.f1,
                precision=report.overall.precision,
                recall=report.overall.recall,
                by_type={k: v.f1 for k, v in report.by_type.items()},
            )
        metrics = ("chunk_f1", "token_accuracy") if "f1" in result else ("token_accuracy",)
        if confidence or against is not None:
            from ..significance import significance

            other = None if against is None else self._comparable(against).predict(corpus)
            result.update(
                significance(gold, predicted, metrics, confidence=confidence, other=other)
            )
        return result

    def _comparable(self, other: Tagger) -> Tagger:
        """Return another tagger if it labels the same column of the same kind of file."""
        mine, theirs = self._fitted(), other._fitted()
        if (mine.format, mine.target) != (theirs.format, theirs.target):
            raise ValueError(
                f"the other model labels column {theirs.target + 1} of {theirs.format} files, "
                f"this one column {mine.target + 1} of {mine.format} files"
            )
        return other

    def report(
        self,
        source: Any,
        format: str | None = None,
        *,
        confidence: bool = False,
        confusions: int = 0,
        against: Tagger | None = None,
    ) -> str:
        """Return a table of scores: by label, or by chunk type as conlleval prints it.

        Parameters
        ----------
        confidence : bool
            95 % confidence intervals by the bootstrap over sentences.
        confusions : int
            So many of the most frequent confusions of labels too.
        against : Tagger, optional
            Another tagger: is the difference significant (approximate randomisation)?
        """
        from ...metrics import bootstrap_interval, chunk_report, confusion, label_report
        from ...metrics import randomization_test as compare

        model: TaggerModel = self._fitted()
        corpus = self._gold_corpus(source, format)
        gold, predicted = corpus.column(model.target), self.predict(corpus)
        chunked = are_chunk_labels(model.labels)
        table = chunk_report(gold, predicted) if chunked else label_report(gold, predicted)
        lines = [table.text().rstrip()]
        metrics = ("chunk_f1", "token_accuracy") if chunked else ("token_accuracy",)
        if confidence:
            intervals = (bootstrap_interval(gold, predicted, m, random_state=0) for m in metrics)
            lines += map(str, intervals)
        if confusions:
            lines += ["", confusion(gold, predicted).text(confusions).rstrip()]
        if against is not None:
            other = self._comparable(against).predict(corpus)
            tests = (compare(gold, predicted, other, m, random_state=0) for m in metrics)
            lines += ["", *map(str, tests)]
        return "\n".join(lines)
