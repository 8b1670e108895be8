"""Recognisers of entities and chunks as whole segments: from a file to a model to labels."""

from __future__ import annotations

import itertools

from ...fitting.learner_registry import LEARNERS
from ...fitting.parameters import Choice, Whole, parameter
from ..tagging.base import LabelTagger
from .model import SegmentModel

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

    from ...fitting.split_corpus import SplitCorpus
    from ...models.inputs import NativeInputs
    from ..doubts import Seen

_MOST_LENGTH = 1000


class SegmentTagger(LabelTagger):
    """Finds chunks and entities as segments: a semi-Markov model over a sentence's tokens.

    Unlike a :class:`Tagger`, which labels tokens, it scores a chunk as a whole: its words in order,
    its length, what stands before and after it. It reads chunk labels in IOB1, IOB2, IOBES or any
    mixture of them and writes IOB2.

    Parameters
    ----------
    features : {"segments"}, path or FeatureTemplates, default="segments"
        What it looks at: templates with places (:mod:`structlearn.text.templates`).
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

    features: Any = parameter(
        default="segments",
        kw_only=False,
        help="file with segment templates (default: the preset segments)",
        metavar="FILE",
    )
    learner: str = parameter(
        default="perceptron", kw_only=False, check=Choice(*LEARNERS), help="learning algorithm"
    )
    max_length: int | None = parameter(
        default=None,
        check=Whole(1, _MOST_LENGTH),
        help="maximum length of a segment in tokens (default: as in training, at most 8)",
    )

    _model_kind = SegmentModel
    _title = "Segment tagger"
    _parts = "segments"
    _measure = "f1"
    _keeps_known = False
    _least_shown = 0.001

    def _fitting(self, corpus: SplitCorpus, start: Any, dev: bool = False) -> Any:
        from .fitting import SegmentFitting

        return SegmentFitting(self, corpus, None if start is None else start._fitted())

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

    def _inputs(self, X: Any, constraints: Any = None) -> NativeInputs:
        """Return the sentences of X: a path, a corpus or a list, with or without their labels.

        ``constraints`` are on the labels of segments, beside those of the model.
        """
        inputs: NativeInputs = self._fitted().inputs(self._read_input(X), constraints)
        return inputs

    def _best(self, inputs: NativeInputs) -> list[list[str]]:
        return inputs.best_labels(self._fitted().written_as, self.n_threads)

    def _named(self, inputs: Any, i: int, output: Any) -> list[str]:
        labels: list[str] = self._fitted().written(output)
        return labels

    def _seen(self, inputs: Any, i: int, output: Any, sure: list[float]) -> Seen:
        segments = zip(self._fitted().segments(output), sure, strict=True)
        of_tokens = [p for (begin, end, _), p in segments for _ in range(begin, end)]
        return super()._seen(inputs, i, output, of_tokens)

    def predict_segments(self, X: Any, **reading: Any) -> list[list[tuple[int, int, str]]]:
        """Return the chunks of each sentence as (start, end, type), end exclusive.

        ``constraints``, as for :meth:`predict`.
        """
        model: SegmentModel = self._fitted()

        def answer(inputs: NativeInputs) -> list[Any]:
            return list(map(model.segments, inputs.solve(self.n_threads).outputs))

        rows = self._ask(X, answer, list, reading)
        return [[segment for segment in row if segment[2] != "O"] for row in rows]

    def _named_parts(self, inputs: Any, i: int, parts: Any) -> dict[tuple[int, int, str], float]:
        labels = self._fitted().labels
        return {(begin, end, labels[k]): p for begin, end, k, p in parts}

    def _no_parts(self) -> dict[Any, float]:
        return {}

    def _scores_of(self, inputs: Any, outputs: list[Any], temperature: float) -> list[float]:
        from ...metrics.boundaries import chunks

        number = {label: k for k, label in enumerate(self.classes_)}
        rows = []
        for labels in self._as_written(outputs):
            row = [0] * len(labels)
            for begin, end, kind in chunks(labels):
                # A type that the model does not have is no output of it.
                row[begin:end] = [number.get(kind, len(number)), *[-1] * (end - begin - 1)]
            rows.append(row)
        scores: list[float] = inputs.score(rows, self.n_threads)
        return scores

    _part_names = ("start", "end", "label")

    def _places_of(self, inputs: Any, i: int, part: Any) -> list[tuple[int, int, int]]:
        begin, end, label = part
        if label not in self.classes_ or not 0 <= begin < end <= inputs.source.core.length(i):
            raise ValueError(f"the model has no segment {part!r}")
        return [(begin, end, self.classes_.index(label))]

    def _with_gold(
        self, X: Any, y: Any, format: str | None = None, constraints: Any = None
    ) -> tuple[NativeInputs, Any]:
        model: SegmentModel = self._fitted()
        corpus = self._gold_corpus(X, y, format)
        inputs = model.inputs(corpus, constraints=constraints)
        return inputs, self._as_written(model.gold(corpus))

    def _right(self, inputs: Any, outputs: list[Any], gold: Any) -> list[list[bool | None]]:
        from ...metrics.boundaries import chunks

        model: SegmentModel = self._fitted()
        right: list[list[bool | None]] = []
        for labels, output in zip(gold, outputs, strict=True):
            true = set(chunks(labels))
            # What is outside of all segments is not a prediction of one; and of one in labels that
            # nobody knows, or beside them, it is not known if it is right.
            right.append(
                [
                    None
                    if s[2] == "O" or None in labels[max(0, s[0] - 1) : s[1] + 1]
                    else s in true
                    for s in model.segments(output)
                ]
            )
        return right

    def _comparison(self, inputs: Any) -> Any:
        from .decisions import comparison

        return comparison(self._fitted(), inputs.source)

    def _said(
        self, inputs: Any, i: int, decision: dict[str, Any], gold: Any
    ) -> tuple[str, str, str | None, str]:
        from ...metrics.boundaries import chunks

        begin, end, label = decision["label"]
        words = inputs.source.cells(i, 1 if self._fitted().format == "conllu" else 0)

        def told(segments: list[Any]) -> str:
            """Return segments as text: a label, or, elsewhere, labels with their words."""
            if [(a, b) for a, b, _ in segments] == [(begin, end)]:
                return str(segments[0][2])
            inside = (f"{k} ({_shortened(words[a:b])})" for a, b, k in segments if k != "O")
            return ", ".join(inside) or "O"

        right = None
        if gold is not None and None not in gold[begin:end]:
            there = [(a, b, k) for a, b, k in chunks(gold) if a < end and begin < b]
            covered = {t for a, b, _ in there for t in range(a, b)}
            there += [(t, t + 1, "O") for t in range(begin, end) if t not in covered]
            right = told(sorted(there))
        rival = decision["runner_up"]
        return decision["token"], label, right, "" if rival is None else told(rival)

    def _labels_in_files(self) -> list[str]:
        model = self._fitted()
        return [*model.first, *model.later]

    def _labeller(self, lone: str, nbest: int, constraints: Any = None, **columns: bool) -> Any:
        for name in filter(columns.get, ("marginals", "known")):
            raise ValueError(f"{name} is for taggers of tokens; this model finds segments")
        return super()._labeller(lone, nbest, constraints, **columns)

    def _written_labels(self) -> list[str]:
        first: list[str] = self._fitted().first
        return first

    def _as_written(self, gold: list[list[Any]]) -> list[list[Any]]:
        from ...metrics import to_bio

        written = []
        for number, labels in enumerate(gold):
            row: list[Any] = []
            try:
                for known, run in itertools.groupby(labels, lambda label: label is not None):
                    there = list(run)
                    of_run = to_bio(there) if known else there
                    if known and row and there[0][:2] in ("I-", "E-"):  # it goes on from before
                        of_run[0] = f"I{of_run[0][1:]}"
                    row += of_run
            except ValueError as error:
                raise ValueError(f"sentence {number}, {error}") from None
            written.append(row)
        return written


def _shortened(words: list[str]) -> str:
    return " ".join(words if len(words) < 4 else [words[0], "…", words[-1]])
