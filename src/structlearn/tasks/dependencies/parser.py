"""Dependency parsers: from a treebank in CoNLL-U to trees of bare tokens."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from ...text.corpus import Corpus
from ...text.files import written_text
from ..base import FileTagger, label_pieces, not_empty
from ..parameters import check_number, check_whole
from .model import ParserModel
from .reading import (
    check_tags,
    gold_tree,
    label_text,
    read_treebank,
    settled_format,
    with_trees,
)

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import IO, Any

__all__ = ["DependencyParser"]

LEARNERS = ("passive-aggressive", "perceptron", "svm", "crf", "adagrad", "arow")


class DependencyParser(FileTagger):
    """Finds the head of each word and its relation to it; learns from a treebank in CoNLL-U.

    The score of a tree is the sum of its parts': arcs with their relations, and, for order 2, two
    neighbouring modifiers of a head on one side (siblings) and arcs one above the other
    (grandparents). Before that a pruner, a softmax over few features, leaves each word a handful
    of heads. The best tree is found by Chu-Liu/Edmonds or, projective, by Eisner's chart. For order
    2, projective trees have a chart of their own (Koo & Collins 2010), always exact; others are
    found by dual decomposition (Koo et al. 2010) with local search (McDonald & Pereira 2006), which
    proves most of its trees the best (``evaluate`` says how many): of those that the pruner leaves.
    Relations that the treebank has below the root alone are given to no other word, and the root's
    word has one of those. Features are hashed into one table. Parsing takes O(n²) for the pruner
    and about O(n) for the rest, with a chart O(n²).

    Parameters
    ----------
    order : {1, 2}, default=2
        1: arcs alone.
    learner : {"passive-aggressive", "perceptron", "svm", "crf", "adagrad", "arow"}
        The estimator that learns the weights, by default
        :class:`~structlearn.estimators.PassiveAggressive`. The cost is half a unit for each wrong
        head and half for each wrong relation. "svm" and "crf" minimise ½‖w‖² + C·Σ loss to a proven
        gap and take many times as long; the log loss ("crf", or temperature=1 with "adagrad") needs
        order 1, where sums over trees are exact.
    projective : bool, default=False
        Only trees without crossing arcs.
    max_iter : int, optional
        Passes over the sentences, or iterations: 10; svm and crf 100.
    patience : int, default=3
        With a dev set: end after so many passes without a better LAS. 0: never.
    C : float, optional
        passive-aggressive: the longest step, 0.002. svm, crf: the weight of the losses against
        ½‖w‖², 0.1. adagrad: the same; by default infinite, no regulariser.
    eta0, delta : float, optional
        Of adagrad: the first step of a weight is eta0·g / (delta + abs(g)); 0.02 and 0.
    r : float, optional
        Of arow: 10.
    margin, temperature : float, optional
        Of crf and adagrad: which loss, see :class:`~structlearn.estimators.StructuredModel`.
    tol : float, optional
        Of svm, crf and adagrad: end at a gap of so much of the objective.
    average, shuffle : bool, default=True
        Average the weights over all steps; a new order of the sentences for each pass.
    gold_tags : bool, default=False
        Learn on the tags in the treebank, and have no taggers. By default UPOS, XPOS and FEATS are
        predicted by taggers of the parser's own, jack-knifed for learning.
    folds : int, default=5
        Of jack-knifing.
    lemmas : bool, default=False
        Read lemmas too; they have to be in every file then.
    n_models : int, default=1
        Average the weights of so many runs with different seeds: slower to learn, no slower to
        parse with.
    hash_bits : int, optional
        The table has 2^bits weights: 24, of four bytes. svm and crf, whose solvers keep some thirty
        vectors of eight bytes a weight, have 20: more need the memory, fewer share weights more.
    most_heads, least_share : int, float
        What the pruner leaves: so many heads a word, of at least this share of the most probable
        one's probability.
    iterations, training_iterations : int
        At most so many rounds of dual decomposition a sentence, in parsing and in learning (order
        2, not projective).
    callbacks : callable or list of callable, optional
        Called with a record of each pass; one that returns True ends the learning.
    checkpoint : str or path, optional
        A file from which ``fit`` goes on after it was killed, see
        :class:`~structlearn.estimators.StructuredModel`. Taggers and pruner are learned again.
    n_jobs : int or None, default=1
        Threads. The result does not depend on it.
    random_state : int, default=0
        Seed of the order of the sentences.
    verbose : int, default=0
        Above 0: a line a pass on standard error.

    Attributes
    ----------
    model_ : ParserModel
        What was learned.
    classes_ : list of str
        The relations.
    history_ : list of dict
        A record a pass.

    Examples
    --------
    >>> from structlearn.datasets import make_treebank
    >>> from structlearn.tasks import DependencyParser
    >>> trees = [
    ...     list(zip(s.words, s.tags, s.heads, s.deprels))
    ...     for s in make_treebank(220, random_state=0)
    ... ]
    >>> parser = DependencyParser(gold_tags=True, hash_bits=18, max_iter=4).fit(trees[:200])
    >>> parser.evaluate(trees[200:])["las"] > 0.8
    True
    """

    def __init__(
        self,
        order: int = 2,
        learner: str = "passive-aggressive",
        *,
        projective: bool = False,
        max_iter: int | None = None,
        patience: int = 3,
        C: float | None = None,
        eta0: float | None = None,
        delta: float | None = None,
        r: float | None = None,
        margin: float | None = None,
        temperature: float | None = None,
        tol: float | None = None,
        average: bool = True,
        shuffle: bool = True,
        gold_tags: bool = False,
        folds: int = 5,
        lemmas: bool = False,
        n_models: int = 1,
        hash_bits: int | None = None,
        most_heads: int = 10,
        least_share: float = 1e-3,
        iterations: int = 60,
        training_iterations: int = 20,
        callbacks: Any = None,
        checkpoint: str | os.PathLike[str] | None = None,
        n_jobs: int | None = 1,
        random_state: int = 0,
        verbose: int = 0,
    ) -> None:
        for name, value in locals().items():
            if name != "self":
                setattr(self, name, value)

    order: int
    learner: str
    projective: bool
    max_iter: int | None
    patience: int
    C: float | None
    eta0: float | None
    delta: float | None
    r: float | None
    margin: float | None
    temperature: float | None
    tol: float | None
    average: bool
    shuffle: bool
    gold_tags: bool
    folds: int
    lemmas: bool
    n_models: int
    hash_bits: int | None
    most_heads: int
    least_share: float
    iterations: int
    training_iterations: int
    callbacks: Any
    checkpoint: str | os.PathLike[str] | None
    n_jobs: int | None
    random_state: int
    verbose: int
    model_: ParserModel
    history_: list[dict[str, Any]]

    def _check(self) -> None:
        from ..learning import check_learner

        bounds = {
            "order": (1, 2),
            "max_iter": (1, 10**6),
            "patience": (0, 10**6),
            "folds": (2, 1000),
            "n_models": (1, 1000),
            "hash_bits": (10, 28),
            "most_heads": (1, 1000),
            "iterations": (1, 10**6),
            "training_iterations": (1, 10**6),
            "random_state": (0, 2**62),
        }
        for name, (least, most) in bounds.items():
            if getattr(self, name) is not None or name not in ("max_iter", "hash_bits"):
                check_whole(name, getattr(self, name), least, most)
        check_learner(self)
        if self.order != 1 and (self.learner == "crf" or self.temperature):
            from ...exceptions import CapabilityError

            raise CapabilityError(
                "the log loss (learner 'crf', or temperature > 0) needs order 1: sums over pairs "
                "of arcs do not exist for non-projective trees and are not built for projective "
                "ones. What works at order 2: "
                + ", ".join(repr(learner) for learner in LEARNERS if learner != "crf")
            )
        check_number("least_share", self.least_share, above=True)
        _ = self.n_threads

    # -- learning -------------------------------------------------------------------------------

    def fit(
        self,
        train: Any,
        y: Any = None,
        *,
        dev: Any = None,
        sample_weight: Any = None,
        format: str | None = None,
    ) -> DependencyParser:
        """Learn from sentences with their trees.

        Parameters
        ----------
        train : path, Corpus, or list of sentences
            CoNLL-U. In a list a token is a tuple: (form, tag, head, relation), or all ten columns.
            Every tree must have one root and no cycle.
        y : list of trees, optional
            Lists of (head, relation), as :meth:`predict` gives them, where the sentences of
            ``train`` are words or (form, tag) alone: scikit-learn's way.
        dev : as ``train``, optional
            Scored after each pass (LAS); the best pass is kept.
        sample_weight : array of shape (n_sentences,), optional
            Weights ≥ 0 of the losses of the sentences, the pruner's too. Taggers learn from all
            sentences alike.
        """
        from ...estimators.outputs import check_sample_weight
        from .heaviest import heaviest_features
        from .training import ParserFitting

        self._check()
        corpus = not_empty(read_treebank(train if y is None else with_trees(train, y), format))
        held_out = None
        if dev is not None:
            held_out = not_empty(read_treebank(dev, format), "the dev corpus")
        if self.gold_tags:
            for given in (corpus, held_out):
                if given is not None:
                    check_tags(given)
        weights = check_sample_weight(sample_weight, len(corpus))
        self.model_, learned = ParserFitting(self._plain(), corpus, held_out, weights).run()
        self.history_ = learned.history
        self.model_.training["parameters"] = self._stored()
        if learned.interrupted:
            raise KeyboardInterrupt(
                "training was interrupted; the model holds the weights reached so far"
            )
        self.model_.training["features"] = heaviest_features(self.model_, corpus)
        return self

    # -- the model ------------------------------------------------------------------------------

    @property
    def classes_(self) -> list[str]:
        """The relations, the most frequent in training first."""
        return list(self._fitted().labels)

    _model_kind = ParserModel

    @classmethod
    def from_model(cls, model: ParserModel) -> DependencyParser:
        """Return a parser with this model."""
        training = model.training
        parser = cls(
            model.order,
            str(training.get("learner", "passive-aggressive")),
            projective=model.projective,
            gold_tags=not model.taggers,
            lemmas=model.lemmas,
            most_heads=model.most,
            least_share=model.least,
            iterations=model.iterations,
        )
        parser._restore(training)
        parser.model_ = model
        parser.history_ = list(training.get("history", []))
        return parser

    # -- parsing --------------------------------------------------------------------------------

    def predict(self, source: Any, *, gold_tags: bool = False) -> list[list[tuple[int, str]]]:
        """Return the (head, relation) of each word of each sentence; head 0 is the root.

        Parameters
        ----------
        source : path, Corpus or list of sentences
            In a list a sentence is a list of words, or of tuples as :meth:`fit` takes them, or a
            string, which is split at white space.
        gold_tags : bool, default=False
            Read the tags instead of predicting them.
        """
        return self._parse(read_treebank(source), gold_tags)[0]

    def predict_marginals(
        self, source: Any, *, gold_tags: bool = False, least: float = 0.001
    ) -> list[list[dict[tuple[int, str], float]]]:
        """Return, for each word, P((head, relation) | sentence), as the scores have it.

        For parsers of order 1: sums over all trees of the arcs that the pruner leaves, by the
        matrix-tree theorem in O(n³), or inside–outside for projective trees.

        Parameters
        ----------
        least : float, default=0.001
            Arcs with a smaller probability are left out.

        Raises
        ------
        CapabilityError
            Of order 2: there are no exact sums.
        """
        from .sums import marginals_of

        names = self._fitted().labels
        return [
            marginals_of(scores, names, least) for scores in self._arc_scores(source, gold_tags)
        ]

    def predict_kbest(
        self, source: Any, k: int = 5, *, gold_tags: bool = False
    ) -> list[list[tuple[float, list[tuple[int, str]]]]]:
        """Return the k best trees of each sentence as (score, tree), best first (order 1)."""
        from .sums import kbest_trees

        check_whole("k", k, 1)
        names = self._fitted().labels
        return [kbest_trees(scores, names, k) for scores in self._arc_scores(source, gold_tags)]

    def predict_proba(self, source: Any, y: Any = None, *, gold_tags: bool = False) -> list[float]:
        """Return P(tree | sentence) of the best trees, or of those in ``y`` (order 1)."""
        from .sums import probability_of

        names = self._fitted().labels
        scores = self._arc_scores(source, gold_tags)
        if y is None:
            return [probability_of(one, names) for one in scores]
        found = list(scores)
        if len(found) != len(y):
            raise ValueError(f"there are {len(found)} sentences, y has {len(y)}")
        return [probability_of(one, names, tree) for one, tree in zip(found, y, strict=True)]

    def _arc_scores(self, source: Any, gold_tags: bool) -> Iterator[Any]:
        from .sums import ArcScores

        corpus = read_treebank(source)
        tags = self._tags(corpus, gold_tags)
        for s in range(len(corpus)):
            yield ArcScores(self._fitted(), corpus, tags, s)

    def draw(
        self, source: Any, sentence: int = 0, *, gold: bool = False, gold_tags: bool = False
    ) -> Any:
        """Return a picture of the predicted tree of a sentence, which notebooks show.

        Parameters
        ----------
        source : as :meth:`predict` takes it
        sentence : int, default=0
            Which of its sentences.
        gold : bool, default=False
            Draw the tree of ``source`` too: what differs is red, or dashed and green.
        gold_tags : bool, default=False
            Read the tags instead of predicting them.

        Returns
        -------
        structlearn.drawing.arcs.ArcDrawing
        """
        from ...drawing.arcs import draw_arcs

        corpus = not_empty(read_treebank(source))
        one = list(corpus[sentence])
        tree = self.predict([one], gold_tags=gold_tags)[0]
        wanted = gold_tree(corpus, sentence) if gold else None
        if gold and wanted is None:
            raise ValueError(f"sentence {sentence + 1} has no tree of its own to draw: no heads")
        return draw_arcs(corpus.cells(sentence, "form"), tree, wanted)

    def _tags(self, corpus: Corpus, gold_tags: bool) -> list[Any]:
        """Return the tags that parsing reads, as the native parser takes them."""
        from .tags import column_tags, predicted_tags

        model: ParserModel = self._fitted()
        if gold_tags or not model.taggers:
            check_tags(corpus)
            return column_tags()
        return predicted_tags(model.taggers, corpus, self.n_threads)

    def _parse(
        self, corpus: Corpus, gold_tags: bool, tags: list[Any] | None = None
    ) -> tuple[list[list[tuple[int, str]]], int]:
        used = self._tags(corpus, gold_tags) if tags is None else tags
        return self._fitted().parse_corpus(corpus, used, self.n_threads)  # type: ignore[no-any-return]

    def label_file(
        self,
        source: str | os.PathLike[str],
        output: str | os.PathLike[str] | IO[bytes],
        *,
        format: str | None = None,
        gold_tags: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> int:
        """Parse a file piece by piece, whatever its size; return the number of tokens.

        Parameters
        ----------
        source : path
            CoNLL-U, of which comments, multi-word tokens and empty nodes stay; a word a line with
            blank lines between sentences; or what ``format`` says.
        output : path or binary file
            CoNLL-U. A path is replaced only when the new file is whole.
        format : {"conllu", "columns", "text"}, optional
            "columns": the first column has the words; "text": a sentence a line, words separated
            by white space.
        gold_tags : bool, default=False
            Read the tags instead of predicting them.
        progress : callable, optional
            Called with the number of tokens parsed so far.
        """
        model: ParserModel = self._fitted()
        if isinstance(output, (str, os.PathLike)):
            with written_text(output) as file:
                return self.label_file(
                    source, file, format=format, gold_tags=gold_tags, progress=progress
                )
        if format == "text":
            return label_text(
                lambda chosen: model.labeller(chosen, gold_tags),
                source,
                output,
                self.n_threads,
                progress,
            )
        return label_pieces(
            None,
            lambda chosen: model.labeller(chosen, gold_tags),
            source,
            output,
            format,
            self.n_threads,
            progress,
            guess=lambda text: settled_format(source, text, format),
        )

    # -- judging --------------------------------------------------------------------------------

    def score(self, source: Any, y: Any = None) -> float:
        """Return the labelled attachment score on sentences with their trees.

        A parser that was trained on gold tags reads those of the sentences.
        """
        given = source if y is None else with_trees(source, y)
        return float(self.evaluate(given)["las"])

    def evaluate(
        self,
        source: Any,
        format: str | None = None,
        *,
        gold_tags: bool = False,
        confidence: bool = False,
        against: DependencyParser | None = None,
    ) -> dict[str, Any]:
        """Compare predicted with gold trees; all words count, relations whole.

        Parameters
        ----------
        gold_tags : bool
            Read the tags instead of predicting them.
        confidence : bool
            95 % confidence intervals by the bootstrap over sentences too.
        against : DependencyParser, optional
            Another parser: the p-values of the difference too (approximate randomisation).

        Returns
        -------
        dict
            uas, las, label_accuracy, root_accuracy, exact, by_label; tokens, sentences,
            tokens_per_second (tagging included), proven (share of the trees proven the best);
            tags: the accuracy of the predicted upos, xpos and feats, where they were predicted
            and the file has gold ones.
        """
        from .scores import Comparison

        found = Comparison(self, not_empty(read_treebank(source, format)), gold_tags)
        return found.as_dict(confidence=confidence, against=against)

    def report(
        self,
        source: Any,
        format: str | None = None,
        *,
        gold_tags: bool = False,
        confidence: bool = False,
        confusions: int = 0,
        against: DependencyParser | None = None,
    ) -> str:
        """Return a table of scores, overall and by relation.

        Parameters
        ----------
        confusions : int
            So many of the most frequent confusions of relations too.
        """
        from .scores import Comparison

        found = Comparison(self, not_empty(read_treebank(source, format)), gold_tags)
        return found.text(confidence=confidence, confusions=confusions, against=against)

    def __repr__(self) -> str:
        state = "" if hasattr(self, "model_") else ", not trained"
        return f"DependencyParser(order={self.order}, learner={self.learner!r}{state})"
