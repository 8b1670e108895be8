"""Taggers, chunkers, entity recognisers: from a file of labelled sentences to labels."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from ... import _core
from ...estimators.declared import check_whole
from ...text.corpus import Corpus
from ..base import Distribution
from .base import LabelTagger
from .model import TaggerModel

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Tagger"]


class Tagger(LabelTagger):
    """Labels the tokens of sentences; learns from a column file or a CoNLL-U file.

    Parameters
    ----------
    features : {"auto", "pos", "chunk", "ner", "none"}, path or FeatureTemplates, default="auto"
        What it looks at (:mod:`structlearn.text.templates`). "auto": the labels decide.
    learner : {"perceptron", "svm", "crf", "hmm", "passive-aggressive", "arow", "adagrad"}
        The estimator that learns the weights, by default
        :class:`~structlearn.estimators.StructuredPerceptron`. "svm" and "crf" minimise
        ½‖w‖² + C·Σ loss to a proven gap. "hmm" counts words and labels.
    order : int, optional
        Of the chain: 0 labels each token by itself, 2 scores label triples too, with the pairs
        beside them. None: as the preset of the features has it, else 1.
    target : str, int or list of them, optional
        The column of the labels: its name, or its number from 1. By default the last column of a
        column file, ``upos`` of CoNLL-U. Several columns, ``["upos", "feats"]`` or
        ``"upos,feats"``, are learned as one label, their cells joined by "|"; files are labelled in
        each of these columns. Only cells of the last one may have "|" in them.
    scheme : {None, "none", "bio", "iobes", "beginnings"}, default=None
        "iobes": chunk labels are learned as IOBES and written in the scheme of the training file
        (IOB1 as IOB2). "beginnings": BIO where I-X may follow any B-. All three make only legal
        sequences of labels possible, in training and in prediction. None: as the preset of the
        features has it, else "none".
    all_possible_states : bool or int, optional
        Weights for every feature with every label; otherwise for the pairs seen in training. A
        number n: for features seen with at least n labels. None: as the preset has it for the
        perceptron, else False; with more than 64 labels features have weights for the likely
        labels of their tokens in the place of all.
    candidates : int, optional
        How many labels are considered at each token: the best ones of a first pass, which labels
        each token by itself. Memory and time then grow with what was seen and not with the number
        of labels. 0: all labels are considered, and labelling is exact. None: if there are more
        than 128 labels (64 from order 2 on) 12 to 48, a 24th of them; all otherwise. All too with
        unknown labels, ``start`` or order 0, and for chains of order 1 with a scheme.
    min_count : int, default=0
        Leave out features seen fewer times than this in training.
    hash_bits : int, default=0
        Above 0: features are folded to 2^bits and their names are not kept.
    prune : float, default=0.0
        Leave weights of at most this absolute value out of the model.
    unknown : str, default="_"
        A label that is not known: left open in training, left out of all scores.
    names : bool, default=True
        Keep the names of the features in the model, for ``inspect``.
    functions : dict of str to callable, optional
        Functions of a string that templates call by name; they are not stored with the model.
    {learning}

    Attributes
    ----------
    model_ : TaggerModel
        What was learned.
    classes_ : list of str
        The labels as they are written.
    history_ : list of dict
        A record for each pass.

    Examples
    --------
    >>> from structlearn.datasets import make_treebank
    >>> from structlearn.tasks import Tagger
    >>> sentences = [list(zip(s.words, s.tags)) for s in make_treebank(300, random_state=0)]
    >>> tagger = Tagger(features="pos").fit(sentences[:250])
    >>> round(tagger.evaluate(sentences[250:])["accuracy"], 1)
    1.0
    """

    order: int | None = None
    scheme: str | None = None
    candidates: int | None = None
    hash_bits: int = 0
    unknown: str = "_"
    names: bool = True

    _WHOLE: Mapping[str, tuple[int, int | None]] = {
        **LabelTagger._WHOLE,
        "hash_bits": (0, 30),
        "order": (0, 4),
        "candidates": (0, 255),
    }
    _own_learners = ("hmm",)
    _model_kind = TaggerModel
    _title = "Tagger"
    _parts = "labels"

    def _check(self) -> None:
        if self.scheme not in (None, "none", "bio", "iobes", "beginnings"):
            raise ValueError(
                f"scheme must be 'none', 'bio', 'iobes' or 'beginnings', got {self.scheme!r}"
            )
        super()._check()

    # -- learning -------------------------------------------------------------------------------

    def _fitting(self, corpus: Corpus, start: Any) -> Any:
        if self.learner == "hmm":
            from .hidden_markov import CountedFitting

            if start is not None:
                raise ValueError(
                    "start: a hidden Markov model is counted, it cannot continue from a model"
                )
            return CountedFitting(self, corpus)
        from .token_fitting import TokenFitting

        earlier = None if start is None else start._fitted()
        return TokenFitting(self, corpus, earlier)

    def fit_stream(self, train: str | os.PathLike[str], *, format: str | None = None) -> Tagger:
        """Learn from a file of any size by reading it again in each pass.

        In memory are the features, their weights and a piece of the file at a time. The perceptron
        only; sentences are shuffled within pieces.

        Parameters
        ----------
        train : path
            A labelled file; not standard input.
        """
        from .streaming import StreamFitting

        self._check()
        return self._learn(StreamFitting(self._plain(), os.fspath(train), format), None)

    # -- the model ------------------------------------------------------------------------------

    @property
    def classes_(self) -> list[str]:
        """The labels as they are written."""
        return list(self._fitted().core.names)

    # -- labelling ------------------------------------------------------------------------------

    def predict(
        self, X: Any, known: Sequence[Sequence[str | None]] | None = None
    ) -> list[list[str]]:
        """Return the labels of sentences.

        Parameters
        ----------
        X : path, Corpus or list of sentences
            With or without the column of labels.
        known : list of lists, optional
            Labels known beforehand, None elsewhere: the others are the best given these.
        """
        model: TaggerModel = self._fitted()
        clamped = array("i")
        index = {} if known is None else {name: i for i, name in enumerate(model.core.names)}
        for s, labels in enumerate(known or ()):
            try:
                clamped.extend(-1 if k is None else index[k] for k in labels)
            except KeyError as error:
                raise ValueError(f"sentence {s}: the model has no label {error}") from None

        def label(given: Any) -> list[list[str]]:
            corpus = self._read_input(given)
            if known is not None and len(clamped) != corpus.n_tokens:
                raise ValueError("known must have one entry for each token")
            return model.label_corpus(corpus, self.n_threads, clamped)

        found = self._ask_each(X, label, list)
        if known is not None and list(map(len, known)) != list(map(len, found)):
            raise ValueError("known must have one entry for each token")
        return found

    def predict_marginals(self, X: Any) -> list[list[dict[str, float]]]:
        """Return P(label | sentence) of each token, by label.

        Calibrated if the model was trained with a dev set or a log loss; otherwise a warning says
        that they are not (:attr:`calibrated`).
        """
        return self._warned(self._ask_each(X, self._marginals, list))

    def _marginals(self, X: Any) -> list[list[dict[str, float]]]:
        model: TaggerModel = self._fitted()
        corpus = self._read_input(X)
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

    def _distributions(self, X: Any, gold_tags: bool | None) -> Iterator[Distribution]:
        model: TaggerModel = self._fitted()
        corpus, temperature = self._read_input(X), model.temperature or 1.0
        reader = model.reader(corpus)

        def draw(s: int, n: int, seed: int) -> list[list[str]]:
            rows = reader.sample(s, n, temperature, seed)
            return [[model.shown[k] for k in row] for row in rows]

        for s in range(len(corpus)):
            yield Distribution(partial(draw, s), partial(reader.entropy, s, temperature))

    def _certainties(
        self, X: Any, format: str | None, gold_tags: bool | None
    ) -> Iterator[tuple[float, bool]]:
        model: TaggerModel = self._fitted()
        corpus = self._gold_corpus(X, format)
        gold, n = model.gold(corpus, some=True), len(model.labels)
        written: dict[str, list[int]] = {}  # labels of the model may be written alike
        for k, name in enumerate(model.shown):
            written.setdefault(name, []).append(k)
        reader = model.reader(corpus)
        for s, labels in enumerate(model.label_corpus(corpus, self.n_threads)):
            p = array("d", reader.marginals(s, model.temperature or 1.0))
            for t, (label, right) in enumerate(zip(labels, gold[s], strict=True)):
                if right is not None:
                    share = sum(p[t * n + k] for k in written[label])
                    yield min(1.0, share), label == right

    def _decisions(self, X: Any) -> list[list[dict[str, Any]]]:
        from .decisions import explain

        return [[decision._asdict() for decision in row] for row in explain(self, X)]

    def _choices(self, corpus: Corpus, gold: list[list[str | None]]) -> list[list[Any]]:
        import math

        from ...drawing.report import Choice
        from .decisions import explain

        model = self._fitted()
        words = corpus.column(1 if model.format == "conllu" else 0)
        labels = model.label_corpus(corpus, self.n_threads)
        rows = []
        for s, decisions in enumerate(explain(self, corpus)):
            # Where no other label is possible there is nothing to explain.
            row = [
                Choice(word, label, right, None, "", math.inf, [])
                for word, label, right in zip(words[s], labels[s], gold[s], strict=True)
            ]
            for d in decisions:
                row[d.position] = row[d.position]._replace(
                    probability=d.probability,
                    runner_up=d.runner_up,
                    margin=d.margin,
                    reasons=d.contributions,
                )
            rows.append(row)
        return rows

    def predict_kbest(self, X: Any, n: int = 5) -> list[list[tuple[float, list[str]]]]:
        """Return the n best labellings of each sentence with their scores, best first."""
        n = check_whole("n", n, 1)
        return self._ask_each(X, lambda given: self._ranked(given, n), lambda: [(0.0, [])])

    def _ranked(self, X: Any, n: int) -> list[list[tuple[float, list[str]]]]:
        model: TaggerModel = self._fitted()
        corpus = self._read_input(X)
        reader = model.reader(corpus)
        return [
            [(score, [model.shown[i] for i in labels]) for score, labels in reader.kbest(s, n)]
            for s in range(len(corpus))
        ]

    def _labels_in_files(self) -> list[str]:
        return self.classes_

    def _labeller(self, lone: str, nbest: int, **columns: bool) -> Any:
        model = self._fitted()
        return _core.Labeller(
            model.core,
            model.format,
            model.targets,
            model.n_columns,
            nbest,
            columns["confidence"],
            columns["marginals"],
            columns["known"],
            model.temperature or 1.0,
            model.unknown,
            lone,
        )

    def _written_labels(self) -> list[str]:
        labels: list[str] = self._fitted().labels
        return labels

    def _as_written(self, gold: list[list[str | None]]) -> list[list[str | None]]:
        return gold
