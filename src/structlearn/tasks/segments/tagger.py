"""Recognisers of entities and chunks as whole segments: from a file to a model to labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from ... import _core
from ...estimators.declared import check_whole, parameter
from ...exceptions import LineError
from ..base import Distribution
from ..tagging.base import LabelTagger
from .model import SegmentModel

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

    from ...text.corpus import Corpus

__all__ = ["SegmentTagger"]

_MOST_LENGTH = 1000


class SegmentTagger(LabelTagger):
    """Finds chunks and entities as segments: a semi-Markov model over a sentence's tokens.

    Unlike a :class:`Tagger`, which labels tokens, it scores a chunk as a whole: its words in order,
    its length, what stands before and after it. It reads chunk labels in IOB1, IOB2, IOBES or any
    mixture of them and writes IOB2.

    Parameters
    ----------
    features : {"segments"}, path or SegmentTemplates, default="segments"
        What it looks at (:mod:`structlearn.text.segment_templates`).
    learner : {"perceptron", "svm", "crf", "passive-aggressive", "arow", "adagrad"}
        The estimator that learns the weights, by default
        :class:`~structlearn.estimators.StructuredPerceptron`. "svm" and "crf" minimise
        ½‖w‖² + C·Σ loss to a proven gap.
    target : str or int, optional
        The column of the labels: its name, or its number from 1. By default the last column.
    max_length : int, optional
        Tokens of the longest segment; longer ones are cut in training. By default the longest in
        training, at most 8. Time and memory grow with it.
    all_possible_states : bool, optional
        Weights for every feature with every label; otherwise for the pairs seen in training. None:
        as the preset has it, else False. Features that no segment of the training text has get
        no weights either way.
    min_count : int, default=0
        Leave out features that fewer segments of the training text have.
    prune : float, default=0.0
        Leave weights of at most this absolute value out of the model.
    functions : dict of str to callable, optional
        Functions of a string that templates call by name; they are not stored with the model.
    {learning}

    Attributes
    ----------
    model_ : SegmentModel
        What was learned.
    classes_ : list of str
        "O" and the types of segments.
    history_ : list of dict
        A record for each pass.
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

    features: Any = parameter(default="segments", kw_only=False)
    learner: str = parameter(default="perceptron", kw_only=False)
    max_length: int | None = None

    _WHOLE: Mapping[str, tuple[int, int | None]] = {
        **LabelTagger._WHOLE,
        "max_length": (1, _MOST_LENGTH),
    }
    _model_kind = SegmentModel
    _title = "Segment tagger"
    _parts = "segments"
    _judged_by = "f1"
    _keeps_known = False

    def _fitting(self, corpus: Corpus, start: Any) -> Any:
        from .fitting import SegmentFitting

        if start is not None:
            raise ValueError("start is for a Tagger: a SegmentTagger cannot continue from a model")
        return SegmentFitting(self, corpus)

    # -- the model ------------------------------------------------------------------------------

    @property
    def classes_(self) -> list[str]:
        """ "O" and the types of segments."""
        return list(self._fitted().labels)

    @property
    def n_cut_(self) -> int:
        """Chunks of the training text that were longer than ``max_length``."""
        return int(self._fitted().training.get("cut", 0))

    # -- labelling ------------------------------------------------------------------------------

    def predict(self, X: Any) -> list[list[str]]:
        """Return the labels of the tokens of each sentence, in IOB2.

        Parameters
        ----------
        X : path, Corpus or list of sentences
            With or without the column of labels.
        """
        model: SegmentModel = self._fitted()
        return self._ask_each(
            X, lambda given: model.label_corpus(self._read_input(given), self.n_threads), list
        )

    def predict_segments(self, X: Any) -> list[list[tuple[int, int, str]]]:
        """Return the chunks of each sentence as (start, end, type), end exclusive."""
        model: SegmentModel = self._fitted()
        found = self._ask_each(
            X, lambda given: model.segment_corpus(self._read_input(given), self.n_threads), list
        )
        return [[segment for segment in row if segment[2] != "O"] for row in found]

    def predict_kbest(self, X: Any, n: int = 5) -> list[list[tuple[float, list[str]]]]:
        """Return the n best labellings of each sentence, in IOB2, with their scores, best first."""
        n = check_whole("n", n, 1)
        model: SegmentModel = self._fitted()
        return self._asked(X, lambda corpus, s: model.kbest(corpus, s, n), lambda: [(0.0, [])])

    def predict_marginals(
        self, X: Any, least: float = 0.001
    ) -> list[dict[tuple[int, int, str], float]]:
        """Return P(segment | sentence), by sentence and (start, end, label).

        Calibrated if the model was trained with a dev set or a log loss; otherwise a warning says
        that they are not (:attr:`calibrated`).

        Parameters
        ----------
        least : float
            Segments with a smaller probability are left out.
        """
        model: SegmentModel = self._fitted()
        found = self._asked(X, lambda corpus, s: model.marginals(corpus, s, least), dict)
        return self._warned(found)

    def _certainties(
        self, X: Any, format: str | None, gold_tags: bool | None
    ) -> Iterator[tuple[float, bool]]:
        from ...metrics.boundaries import chunks

        model: SegmentModel = self._fitted()
        corpus = self._gold_corpus(X, format)
        gold = self._as_written(model.gold(corpus))
        for s, segments in enumerate(self.predict_segments(corpus)):
            p, true = model.marginals(corpus, s, 0.0), set(chunks(gold[s]))
            for segment in segments:
                yield min(1.0, p[segment]), segment in true

    def _decisions(self, X: Any) -> list[list[dict[str, Any]]]:
        """Compare each segment with the best segmentation that does not have it."""
        from .decisions import explain

        model: SegmentModel = self._fitted()
        return self._asked(X, lambda corpus, s: explain(model, corpus, s), list)

    def _choices(self, corpus: Corpus, gold: list[list[str | None]]) -> list[list[Any]]:
        from ...drawing.report import Choice
        from ...metrics.boundaries import chunks

        words = corpus.column(1 if self._fitted().format == "conllu" else 0)

        def told(s: int, begin: int, end: int, segments: list[Any]) -> str:
            """Return segments as text: a label, or, elsewhere, labels with their words."""
            if [(a, b) for a, b, _ in segments] == [(begin, end)]:
                return str(segments[0][2])
            inside = (f"{k} ({_shortened(words[s][a:b])})" for a, b, k in segments if k != "O")
            return ", ".join(inside) or "O"

        rows = []
        for s, decisions in enumerate(self._decisions(corpus)):
            right = chunks(gold[s])
            row = []
            for d in decisions:
                begin, end, label = d["label"]
                known = all(k is not None for k in gold[s][begin:end])
                there = [(a, b, k) for a, b, k in right if a < end and begin < b]
                covered = {t for a, b, _ in there for t in range(a, b)}
                there += [(t, t + 1, "O") for t in range(begin, end) if t not in covered]
                row.append(
                    Choice(
                        d["token"],
                        label,
                        told(s, begin, end, sorted(there)) if known else None,
                        d["probability"],
                        told(s, begin, end, d["runner_up"]),
                        d["margin"],
                        d["contributions"],
                    )
                )
            rows.append(row)
        return rows

    def _asked(self, X: Any, ask: Any, empty: Any) -> list[Any]:
        """Return the answer for each sentence."""

        def answer(given: Any) -> list[Any]:
            corpus = self._read_input(given)
            try:
                return [ask(corpus, s) for s in range(len(corpus))]
            except LineError as error:
                raise error.in_file(corpus.path or "the corpus") from None

        return self._ask_each(X, answer, empty)

    def _distributions(self, X: Any, gold_tags: bool | None) -> Iterator[Distribution]:
        model: SegmentModel = self._fitted()
        corpus = self._read_input(X)
        for s in range(len(corpus)):
            yield Distribution(partial(model.sample, corpus, s), partial(model.entropy, corpus, s))

    def _labels_in_files(self) -> list[str]:
        model = self._fitted()
        return [*model.first, *model.later]

    def _labeller(self, lone: str, nbest: int, **columns: bool) -> Any:
        given = {"nbest": nbest > 1, "marginals": columns["marginals"], "known": columns["known"]}
        for name in filter(given.get, given):
            raise ValueError(f"{name} is for taggers of tokens; this model finds segments")
        model = self._fitted()
        return _core.SegmentLabeller(
            model.core,
            model.first,
            model.later,
            model.format,
            model.target,
            model.n_columns,
            columns["confidence"],
            model.temperature or 1.0,
            lone,
        )

    def _written_labels(self) -> list[str]:
        first: list[str] = self._fitted().first
        return first

    def _as_written(self, gold: list[list[Any]]) -> list[list[str]]:
        from ...metrics import to_bio

        written = []
        for number, labels in enumerate(gold):
            try:
                written.append(to_bio(labels))
            except ValueError as error:
                raise ValueError(f"sentence {number}, {error}") from None
        return written


def _shortened(words: list[str]) -> str:
    return " ".join(words if len(words) < 4 else [words[0], "…", words[-1]])
