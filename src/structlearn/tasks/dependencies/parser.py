"""Dependency parsers: from a treebank in CoNLL-U to trees of bare tokens."""

from __future__ import annotations

import os
from collections.abc import Callable

from ...exceptions import FileError
from ...text.corpus import Corpus, read_corpus
from ...text.files import written_text
from ..base import FileTagger, label_pieces
from .model import ParserModel

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import IO, Any

__all__ = ["DependencyParser"]

LEARNERS = ("perceptron", "svm", "crf")


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
    learner : {"svm", "perceptron", "crf"}, default="svm"
        The structured hinge with one unit of cost for each wrong head and relation, learned by
        passive-aggressive steps; the perceptron; or, of order 1, the log loss with marginals by the
        matrix-tree theorem (projective: inside–outside), learned by AdaGrad. Weights are averaged
        over all steps.
    projective : bool, default=False
        Only trees without crossing arcs.
    max_iter : int, default=10
        Passes over the sentences.
    patience : int, default=3
        With a dev set: end after so many passes without a better LAS. 0: never.
    C : float, optional
        The longest step: svm 0.002, crf 0.02. The perceptron's are of length 1.
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
    hash_bits : int, default=24
        The table has 2^bits weights of four bytes.
    most_heads, least_share : int, float
        What the pruner leaves: so many heads a word, of at least this share of the most probable
        one's probability.
    iterations, training_iterations : int
        At most so many rounds of dual decomposition a sentence, in parsing and in learning (order
        2, not projective).
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
        learner: str = "svm",
        *,
        projective: bool = False,
        max_iter: int = 10,
        patience: int = 3,
        C: float | None = None,
        gold_tags: bool = False,
        folds: int = 5,
        lemmas: bool = False,
        n_models: int = 1,
        hash_bits: int = 24,
        most_heads: int = 10,
        least_share: float = 1e-3,
        iterations: int = 60,
        training_iterations: int = 20,
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
    max_iter: int
    patience: int
    C: float | None
    gold_tags: bool
    folds: int
    lemmas: bool
    n_models: int
    hash_bits: int
    most_heads: int
    least_share: float
    iterations: int
    training_iterations: int
    n_jobs: int | None
    random_state: int
    verbose: int
    model_: ParserModel
    history_: list[dict[str, Any]]

    def _check(self) -> None:
        if self.learner not in LEARNERS:
            raise ValueError(f"learner must be one of {', '.join(LEARNERS)}, got {self.learner!r}")
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
            value = getattr(self, name)
            if type(value) is not int or not least <= value <= most:
                raise ValueError(
                    f"{name} must be a whole number from {least} to {most}, got {value!r}"
                )
        if self.learner == "crf" and self.order != 1:
            raise ValueError("learner='crf' needs order=1: with siblings there are no exact sums")
        for name in ("C", "least_share"):
            value = getattr(self, name)
            if name == "C" and value is None:
                continue
            if not isinstance(value, (int, float)) or not 0 < value < float("inf"):
                raise ValueError(f"{name} must be a number above 0, got {value!r}")
        _ = self.n_threads

    # -- learning -------------------------------------------------------------------------------

    def fit(self, train: Any, dev: Any = None, *, format: str | None = None) -> DependencyParser:
        """Learn from sentences with their trees.

        Parameters
        ----------
        train : path, Corpus, or list of sentences
            CoNLL-U. In a list a token is a tuple: (form, tag, head, relation), or all ten columns.
            Every tree must have one root and no cycle.
        dev : the same, optional
            Scored after each pass (LAS); the best pass is kept.
        """
        from .training import ParserFitting

        self._check()
        run = ParserFitting(self, _trees(train), None if dev is None else _trees(dev))
        self.model_, self.history_, interrupted = run.run()
        if interrupted:
            raise KeyboardInterrupt(
                "training was interrupted; the model holds the weights reached so far"
            )
        return self

    # -- the model ------------------------------------------------------------------------------

    @property
    def classes_(self) -> list[str]:
        """The relations, the most frequent in training first."""
        return list(self._fitted().labels)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model, taggers included, to one file."""
        self._fitted().save(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> DependencyParser:
        """Read a model from a file."""
        return cls.from_model(ParserModel.load(path))

    @classmethod
    def from_model(cls, model: ParserModel) -> DependencyParser:
        """Return a parser with this model."""
        training = model.training
        parser = cls(
            model.order,
            str(training.get("learner", "svm")),
            projective=model.projective,
            gold_tags=not model.taggers,
            lemmas=model.lemmas,
            most_heads=model.most,
            least_share=model.least,
            iterations=model.iterations,
        )
        parser.model_ = model
        parser.history_ = list(training.get("history", []))
        return parser

    # -- parsing --------------------------------------------------------------------------------

    def predict(self, source: Any, *, gold_tags: bool = False) -> list[list[tuple[int, str]]]:
        """Return the (head, relation) of each word of each sentence; head 0 is the root.

        Parameters
        ----------
        source : path, Corpus or list of sentences
            In a list a sentence is a list of words, or of tuples as :meth:`fit` takes them.
        gold_tags : bool, default=False
            Read the tags instead of predicting them.
        """
        return self._parse(_trees(source), gold_tags)[0]

    def _corpus(self, source: Any) -> Corpus:
        return _trees(source)

    def draw(self, source: Any, sentence: int = 0, *, gold: bool = False) -> Any:
        """Return a picture of the predicted tree of a sentence, which notebooks show.

        Parameters
        ----------
        source : as :meth:`predict` takes it
        sentence : int, default=0
            Which of its sentences.
        gold : bool, default=False
            Draw the tree of ``source`` too: what differs is red, or dashed and green.

        Returns
        -------
        structlearn.drawing.arcs.ArcDrawing
        """
        from ...drawing.arcs import draw_arcs

        corpus = _trees(source)
        tree = self.predict([list(corpus[sentence])])[0]
        wanted = gold_tree(corpus, sentence) if gold else None
        if gold and wanted is None:
            raise ValueError(f"sentence {sentence + 1} has no tree of its own to draw: no heads")
        return draw_arcs(corpus.cells(sentence, "form"), tree, wanted)

    def _parse(self, corpus: Corpus, gold_tags: bool) -> tuple[list[list[tuple[int, str]]], int]:
        from .tags import column_tags, predicted_tags

        model: ParserModel = self._fitted()
        if gold_tags or not model.taggers:
            _check_tags(corpus)
            tags = column_tags()
        else:
            tags = predicted_tags(model.taggers, corpus, self.n_threads)
        return model.parse_corpus(corpus, tags, self.n_threads)

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
            CoNLL-U, of which comments, multi-word tokens and empty nodes stay; or a column file,
            of which the first column, the words, is read.
        output : path or binary file
            CoNLL-U. A path is replaced only when the new file is whole.
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
        return label_pieces(
            None,
            lambda chosen: model.labeller(chosen, gold_tags),
            source,
            output,
            format,
            self.n_threads,
            progress,
        )

    # -- judging --------------------------------------------------------------------------------

    def score(self, source: Any, y: Any = None) -> float:
        """Return the labelled attachment score on sentences with their trees."""
        return float(self.evaluate(source)["las"])

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
            tokens_per_second (tagging included), proven (share of the trees proven the best).
        """
        import time

        from ...metrics.attachment import attachment_report
        from .training import gold_trees

        corpus = _trees(source)
        gold = gold_trees(corpus)
        begin = time.perf_counter()
        trees, exact = self._parse(corpus, gold_tags)
        seconds = time.perf_counter() - begin
        result = attachment_report(gold, trees).as_dict()
        result["tokens_per_second"] = round(corpus.n_tokens / max(seconds, 1e-9))
        result["proven"] = exact / len(corpus)
        if confidence or against is not None:
            from ..significance import significance

            other = None if against is None else against._parse(corpus, gold_tags)[0]
            for name, view in (("uas", _heads), ("las", list)):
                found = significance(
                    list(map(view, gold)),
                    list(map(view, trees)),
                    ["token_accuracy"],
                    confidence=confidence,
                    other=None if other is None else list(map(view, other)),
                )
                for kind, values in found.items():
                    result.setdefault(kind, {})[name] = values["token_accuracy"]
        return result

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
        from ...metrics import confusion
        from ...metrics.attachment import attachment_interval, attachment_report
        from .training import gold_trees

        corpus = _trees(source)
        gold = gold_trees(corpus)
        trees, exact = self._parse(corpus, gold_tags)
        lines = [attachment_report(gold, trees).text().rstrip()]
        lines.append(f"trees proven the best: {exact} of {len(corpus)}")
        if confidence:
            lines += [
                str(attachment_interval(gold, trees, labelled=x, random_state=0))
                for x in (False, True)
            ]
        if confusions:
            labels = ([[label for _, label in tree] for tree in t] for t in (gold, trees))
            lines += ["", confusion(*labels).text(confusions).rstrip()]
        if against is not None:
            from ..significance import significance

            other = against._parse(corpus, gold_tags)[0]
            found = significance(gold, trees, ["token_accuracy"], confidence=False, other=other)
            lines += ["", f"LAS differs with p = {found['p_values']['token_accuracy']:.4g}"]
        return "\n".join(lines)

    def __repr__(self) -> str:
        state = "" if hasattr(self, "model_") else ", not trained"
        return f"DependencyParser(order={self.order}, learner={self.learner!r}{state})"


def gold_tree(corpus: Corpus, sentence: int) -> list[tuple[int, str]] | None:
    """Return the tree that a sentence comes with, (head, relation) a word; None: it has none."""
    heads, labels = (corpus.cells(sentence, name) for name in ("head", "deprel"))
    if not all(head.isdecimal() for head in heads):
        return None
    return [(int(head), label) for head, label in zip(heads, labels, strict=True)]


def _check_tags(corpus: Corpus) -> None:
    """Refuse to read tags that are not there: the parser would guess without a word."""
    names = ("upos", "xpos")
    if any(tag != "_" for name in names for cells in corpus.column(name) for tag in cells):
        return
    if len(corpus):
        raise ValueError(
            "no word has a tag (UPOS or XPOS), and tags are to be read: tag the text first, "
            "or take a parser that was trained without --gold-tags"
        )


def _heads(tree: list[tuple[int, str]]) -> list[int]:
    return [head for head, _ in tree]


def _trees(source: Any) -> Corpus:
    """Return the corpus of CoNLL-U that a path, a corpus or a list of sentences stands for."""
    if isinstance(source, (str, os.PathLike)):
        source = read_corpus(source)
    if isinstance(source, Corpus):
        if source.format != "conllu":
            raise FileError(source.path or "the corpus", "a parser's trees are read from CoNLL-U")
        return source
    from .training import as_conllu

    return as_conllu(source)
