"""Recognisers of entities and chunks as whole segments: from a file to a model to labels."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from ... import _core
from ...exceptions import LineError
from ...text.files import written_text
from ...text.segment_templates import SegmentTemplates
from ..base import FileTagger, label_pieces, read_source, with_labels
from .model import SegmentModel

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import IO, Any

__all__ = ["SegmentTagger"]

LEARNERS = ("perceptron", "svm", "crf", "passive-aggressive", "arow", "adagrad")
_MOST_LENGTH = 1000


class SegmentTagger(FileTagger):
    """Finds chunks and entities as segments: a semi-Markov model over a sentence's tokens.

    Unlike a :class:`Tagger`, which labels tokens, it scores a chunk as a whole: its words in order,
    its length, what stands before and after it. It reads chunk labels in IOB1, IOB2, IOBES or any
    mixture of them and writes IOB2.

    Parameters
    ----------
    features : {"segments"}, path or SegmentTemplates, default="segments"
        What it looks at (:mod:`structlearn.text.segment_templates`).
    learner : {"perceptron", "svm", "crf", "passive-aggressive", "arow", "adagrad"}
        By default "perceptron".
        The averaged perceptron, the structured SVM, the semi-Markov conditional random field.
    target : str or int, optional
        The column of the labels: its name, or its number from 1. By default the last column.
    max_length : int, optional
        Tokens of the longest segment; longer ones are cut in training. By default the longest in
        training, at most 8. Time and memory grow with it.
    max_iter : int, optional
        Passes over the data, or iterations; by default 10, svm 30, crf 100.
    patience : int, default=5
        With a dev set: end after so many passes without a better score. 0: never.
    C : float, default=1.0
        Weight of the losses against ½‖w‖² (svm, crf).
    l1 : float, default=0.0
        Weight of ‖w‖₁ (crf): most weights become 0.
    all_states : bool, optional
        Weights for every feature with every label; otherwise for the pairs seen in training. None:
        as the preset has it, else False. Features that no segment of the training text has get no
        weights either way.
    min_count : int, default=0
        Leave out features that fewer segments of the training text have.
    prune : float, default=0.0
        Leave weights of at most this absolute value out of the model.
    n_models : int, optional
        Average the weights of so many runs with different seeds (perceptron). None: as the preset
        has it, else 1.
    average, shuffle : bool, default=True
        Average the weights over all steps; a new order of the sentences for each pass.
    functions : dict of str to callable, optional
        Functions of a string that templates call by name; they are not stored with the model.
    n_jobs : int or None, default=1
        Threads. The result does not depend on it.
    random_state : int, default=0
        Seed of the order of the sentences.
    verbose : int, default=0
        Above 0: a line a pass on standard error.

    Attributes
    ----------
    model_ : SegmentModel
        What was learned.
    classes_ : list of str
        "O" and the types of segments.
    history_ : list of dict
        A record a pass.
    n_cut_ : int
        Chunks of the training text that were longer than ``max_length``.

    References
    ----------
    S. Sarawagi & W. W. Cohen (2004), Semi-Markov conditional random fields for information
    extraction.

    Examples
    --------
    >>> from structlearn.datasets import make_treebank
    >>> from structlearn.tasks import SegmentTagger
    >>> bank = make_treebank(300, random_state=0)
    >>> sentences = [list(zip(s.words, s.tags, s.chunks)) for s in bank]
    >>> tagger = SegmentTagger().fit(sentences[:250])
    >>> round(tagger.evaluate(sentences[250:])["f1"], 1)
    1.0
    """

    def __init__(
        self,
        features: str | os.PathLike[str] | SegmentTemplates = "segments",
        learner: str = "perceptron",
        *,
        target: str | int | None = None,
        max_length: int | None = None,
        max_iter: int | None = None,
        patience: int = 5,
        C: float = 1.0,
        l1: float = 0.0,
        all_states: bool | None = None,
        min_count: int = 0,
        prune: float = 0.0,
        n_models: int | None = None,
        average: bool = True,
        shuffle: bool = True,
        functions: Mapping[str, Callable[[str], Any]] | None = None,
        n_jobs: int | None = 1,
        random_state: int = 0,
        verbose: int = 0,
    ) -> None:
        for name, value in locals().items():
            if name != "self":
                setattr(self, name, value)

    features: Any
    learner: str
    target: str | int | None
    max_length: int | None
    max_iter: int | None
    patience: int
    C: float
    l1: float
    all_states: bool | None
    min_count: int
    prune: float
    n_models: int | None
    average: bool
    shuffle: bool
    functions: Mapping[str, Callable[[str], Any]] | None
    n_jobs: int | None
    random_state: int
    verbose: int

    def _check(self) -> None:
        whole: dict[str, tuple[int, int | None]] = {
            "patience": (0, None),
            "min_count": (0, None),
            "n_jobs": (1, None),
            "random_state": (0, 2**63),
            "max_iter": (1, None),
            "n_models": (1, None),
            "max_length": (1, _MOST_LENGTH),
        }
        self._check_parameters(LEARNERS, whole)

    # -- learning -------------------------------------------------------------------------------

    def fit(
        self, train: Any, y: Any = None, *, dev: Any = None, format: str | None = None
    ) -> SegmentTagger:
        """Learn from sentences with chunk labels.

        Parameters
        ----------
        train : path, Corpus, or list of sentences
            A sentence is a list of tuples, the label last.
        y : list of lists of str, optional
            The labels, where the sentences are without them, as scikit-learn has it.
        dev : as ``train``, optional
            Scored after each pass by chunk F1; the best pass is kept, and probabilities are
            calibrated on it.
        format : {"columns", "conllu"}, optional
            Of the files; by default it goes by their names, else by their content.
        """
        from .fitting import SegmentFitting

        self._check()
        corpus, held_out = self._read_training(train, y, dev, format)
        run = SegmentFitting(self._plain(), corpus)
        self.model_, self.history_, interrupted = run.run(held_out)
        self.model_.training["parameters"] = self._stored()
        self.n_cut_ = run.n_cut
        if interrupted:
            raise KeyboardInterrupt(
                "training was interrupted; the model holds the weights reached so far"
            )
        return self

    # -- the model ------------------------------------------------------------------------------

    history_: list[dict[str, Any]]
    model_: SegmentModel
    _model_kind = SegmentModel
    n_cut_: int

    @property
    def classes_(self) -> list[str]:
        """ "O" and the types of segments."""
        return list(self._fitted().labels)

    @classmethod
    def from_model(cls, model: SegmentModel) -> SegmentTagger:
        """Return a tagger with this model; of its parameters those that the model file has."""
        tagger = cls(
            model.templates,
            str(model.training.get("learner", "perceptron")),
            target=model.target + 1,
            max_length=model.max_length,
        )
        tagger._restore(model.training)
        tagger.model_ = model
        tagger.history_ = []
        tagger.n_cut_ = 0
        return tagger

    # -- labelling ------------------------------------------------------------------------------

    def predict(self, source: Any) -> list[list[str]]:
        """Return the labels of the tokens of each sentence, in IOB2.

        Parameters
        ----------
        source : path, Corpus or list of sentences
            With or without the column of labels.
        """
        model: SegmentModel = self._fitted()
        return model.label_corpus(read_source(source, model.format), self.n_threads)

    def predict_segments(self, source: Any) -> list[list[tuple[int, int, str]]]:
        """Return the chunks of each sentence as (start, end, type), end exclusive."""
        model: SegmentModel = self._fitted()
        found = model.segment_corpus(read_source(source, model.format), self.n_threads)
        return [[(a, b, model.labels[k]) for a, b, k in row if k] for row in found]

    def predict_marginals(
        self, source: Any, least: float = 0.001
    ) -> list[dict[tuple[int, int, str], float]]:
        """Return P(segment | sentence), by sentence and (start, end, label).

        Calibrated where the model was trained with a dev set; otherwise as the scores have it.

        Parameters
        ----------
        least : float
            Segments with a smaller probability are left out.
        """
        model: SegmentModel = self._fitted()
        corpus = read_source(source, model.format)
        try:
            return [model.marginals(corpus, s, least) for s in range(len(corpus))]
        except LineError as error:
            raise error.in_file(corpus.path or "the corpus") from None

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
        nbest, marginals, known
            For taggers of tokens; refused.
        confidence : bool
            A column with the probability of the segment that the token is in.
        progress : callable, optional
            Called with the number of tokens labelled so far.
        """
        model: SegmentModel = self._fitted()
        for name, given in (("nbest", nbest > 1), ("marginals", marginals), ("known", known)):
            if given:
                raise ValueError(f"{name} is for taggers of tokens; this model finds segments")
        if isinstance(output, (str, os.PathLike)):
            with written_text(output) as file:
                return self.label_file(
                    source, file, format=format, confidence=confidence, progress=progress
                )
        return label_pieces(
            model,
            lambda chosen: _core.SegmentLabeller(
                model.core,
                model.first,
                model.later,
                chosen,
                model.target,
                model.n_columns,
                confidence,
                model.temperature or 1.0,
            ),
            source,
            output,
            format,
            self.n_threads,
            progress,
        )

    # -- judging --------------------------------------------------------------------------------

    def score(self, source: Any, y: Any = None) -> float:
        """Return the F1 of chunks on labelled sentences, or on sentences and their labels."""
        given = source if y is None else with_labels(source, y)
        return float(self.evaluate(given)["f1"])

    def evaluate(
        self,
        source: Any,
        format: str | None = None,
        *,
        confidence: bool = False,
        against: Any = None,
    ) -> dict[str, Any]:
        """Compare predicted with gold labels.

        Parameters
        ----------
        confidence : bool
            95 % confidence intervals by the bootstrap over sentences too.
        against : SegmentTagger or Tagger, optional
            Another one: the p-value of the difference too (approximate randomisation).

        Returns
        -------
        dict
            f1, precision and recall of chunks, overall, and f1 by_type; accuracy and
            sentence_accuracy of labels, tokens, sentences, tokens_per_second.
        """
        from ..significance import significance
        from .scores import evaluate_segments

        model: SegmentModel = self._fitted()
        corpus = self._gold_corpus(source, format)
        gold = corpus.column(self._fitted().target)
        result, predicted = evaluate_segments(model, corpus, gold, self.n_threads)
        other = None if against is None else against.predict(corpus)
        scored = significance(gold, predicted, ["chunk_f1"], confidence=confidence, other=other)
        return {**result, **scored}

    def report(
        self,
        source: Any,
        format: str | None = None,
        *,
        confidence: bool = False,
        confusions: int = 0,
        against: Any = None,
    ) -> str:
        """Return a table of scores by chunk type, as conlleval prints it.

        Parameters
        ----------
        confidence : bool
            95 % confidence intervals by the bootstrap over sentences.
        confusions : int
            So many of the most frequent confusions of labels too.
        against : SegmentTagger or Tagger, optional
            Another one: is the difference significant (approximate randomisation)?
        """
        from .scores import report_segments

        corpus = self._gold_corpus(source, format)
        gold = corpus.column(self._fitted().target)
        predicted = self._fitted().label_corpus(corpus, self.n_threads)
        other = None if against is None else against.predict(corpus)
        return report_segments(gold, predicted, confidence, confusions, other)
