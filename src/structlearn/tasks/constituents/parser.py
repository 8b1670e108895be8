"""Parsers of constituents: from a treebank to a model to trees."""

from __future__ import annotations

import os
from collections.abc import Callable

from ...text.files import written_text
from ...text.trees import Tree
from ..base import FileTagger
from .model import ConstituencyModel
from .treebank import read_sentences, read_treebank

TYPE_CHECKING = False  # importing typing costs more than parsing a sentence
if TYPE_CHECKING:
    from typing import IO, Any

__all__ = ["ConstituencyParser"]

LEARNERS = ("svm", "perceptron", "pcfg")
_PASSES = 4
#: Sentences that are parsed before they are written.
_CHUNK = 256


class ConstituencyParser(FileTagger):
    """Parses sentences into constituents; learns from bracketed trees (the Penn format).

    A tree is scored by features of its spans — words, tags and shapes at their borders, inside and
    outside, lengths, split points — with their labels, and by which label stands under which
    (Hall, Durrett & Klein 2014, "Less grammar, more features"). Unary chains are one label while
    parsing (S over VP is S+VP) and several in the result. The tags come from our own
    :class:`Tagger`, which in training tags only sentences that it has not learned from.

    Parameters
    ----------
    learner : {"svm", "perceptron", "pcfg"}, default="svm"
        The structured hinge (loss-augmented CKY) by averaged steps of AdaGrad; the averaged
        perceptron; or the generative baseline, a grammar counted with Markovisation.
    max_iter : int, optional
        Passes over the data; by default 4.
    patience : int, default=5
        With a dev set: end after so many passes without a better score. 0: never.
    cost : float, default=1.0
        What a wrong or missing span costs in training (svm).
    rate : float, default=0.1
        Size of the steps (svm).
    min_count : int, default=2
        Leave out features that gold trees have fewer times.
    gold_tags : bool, default=False
        Learn, and parse, with the tags of the trees; without a tagger.
    folds : int, default=5
        Parts that training is cut into for tags of unseen sentences.
    max_length : int, default=100
        Longer sentences are not learned from.
    functions, traces : bool, default=False
        Keep functional tags (NP-SBJ), and empty elements.
    vertical, horizontal : int, default=2
        Markovisation of the grammar (pcfg): 2 annotates the category above, and remembers two
        sisters.
    n_models : int, default=1
        Average the weights of so many runs with different seeds.
    n_jobs : int or None, default=1
        Threads of tagging and parsing. The result does not depend on it.
    random_state : int, default=0
        Seed of the order of the sentences.
    verbose : int, default=0
        Above 0: a line a pass on standard error.

    Attributes
    ----------
    model_ : ConstituencyModel
        What was learned.
    history_ : list of dict
        A record a pass.

    Examples
    --------
    >>> from structlearn.datasets import make_treebank
    >>> from structlearn.tasks import ConstituencyParser
    >>> trees = [s.brackets for s in make_treebank(120, random_state=0)]
    >>> parser = ConstituencyParser(max_iter=3).fit(trees[:100])
    >>> parser.evaluate(trees[100:])["f1"] > 0.8
    True
    """

    #: What the command line tells parsers of constituents from others by.
    task = "constituency"

    def __init__(
        self,
        learner: str = "svm",
        *,
        max_iter: int | None = None,
        patience: int = 5,
        cost: float = 1.0,
        rate: float = 0.1,
        min_count: int = 2,
        gold_tags: bool = False,
        folds: int = 5,
        max_length: int = 100,
        functions: bool = False,
        traces: bool = False,
        vertical: int = 2,
        horizontal: int = 2,
        n_models: int = 1,
        n_jobs: int | None = 1,
        random_state: int = 0,
        verbose: int = 0,
    ) -> None:
        for name, value in locals().items():
            if name != "self":
                setattr(self, name, value)

    learner: str
    max_iter: int | None
    patience: int
    cost: float
    rate: float
    min_count: int
    gold_tags: bool
    folds: int
    max_length: int
    functions: bool
    traces: bool
    vertical: int
    horizontal: int
    n_models: int
    n_jobs: int | None
    random_state: int
    verbose: int

    model_: ConstituencyModel
    history_: list[dict[str, Any]]

    def _check(self) -> None:
        if self.learner not in LEARNERS:
            raise ValueError(f"learner must be one of {', '.join(LEARNERS)}, got {self.learner!r}")
        least = {
            "max_iter": 1, "patience": 0, "min_count": 1, "folds": 2, "max_length": 1,
            "vertical": 1, "horizontal": 0, "n_models": 1, "random_state": 0,
        }  # fmt: skip
        for name, bound in least.items():
            value = getattr(self, name)
            if value is None and name == "max_iter":
                continue
            if type(value) is not int or value < bound:
                raise ValueError(
                    f"{name} must be a whole number of at least {bound}, got {value!r}"
                )
        for name in ("cost", "rate"):
            value = getattr(self, name)
            if not isinstance(value, (int, float)) or not 0 < value < float("inf"):
                raise ValueError(f"{name} must be a number above 0, got {value!r}")

    @property
    def passes(self) -> int:
        """Passes over the data."""
        return self.max_iter or _PASSES

    # -- learning -------------------------------------------------------------------------------

    def fit(self, train: Any, dev: Any = None) -> ConstituencyParser:
        """Learn from trees.

        Parameters
        ----------
        train : path, list of Tree, or list of bracketed strings
        dev : the same, optional
            Parsed after each pass; the best pass is kept.
        """
        from .fitting import fit_parser

        self._check()
        keep = {"functions": self.functions, "traces": self.traces}
        trees = read_treebank(train, **keep)
        held_out = None if dev is None else read_treebank(dev, **keep)
        self.model_, self.history_, interrupted = fit_parser(self, trees, held_out)
        self.model_.training.update(keep)
        if interrupted:
            raise KeyboardInterrupt(
                "training was interrupted; the model holds the weights reached so far"
            )
        return self

    # -- the model ------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file."""
        self._fitted().save(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ConstituencyParser:
        """Read a model from a file."""
        return cls.from_model(ConstituencyModel.load(path))

    @classmethod
    def from_model(cls, model: ConstituencyModel) -> ConstituencyParser:
        """Return a parser with this model; of its parameters those that the model file has."""
        parser = cls(
            str(model.training.get("learner", "svm")),
            gold_tags=model.tagger is None,
            functions=bool(model.training.get("functions", False)),
            traces=bool(model.training.get("traces", False)),
        )
        parser.model_ = model
        parser.history_ = []
        return parser

    # -- parsing --------------------------------------------------------------------------------

    def predict(self, source: Any, *, gold_tags: bool | None = None) -> list[Tree]:
        """Return the trees of sentences.

        Parameters
        ----------
        source : path, list of lists of words, list of Tree or of bracketed strings
            A file holds trees, of which the words are read, or plain text, a sentence a line.
        gold_tags : bool, optional
            Use the tags of the trees given. By default as the parser was trained.
        """
        return self._parse(read_sentences(source, traces=self.traces), gold_tags)

    def _parse(
        self, sentences: list[tuple[list[str], list[str]]], gold_tags: bool | None
    ) -> list[Tree]:
        model: ConstituencyModel = self._fitted()
        if self.gold_tags if gold_tags is None else gold_tags:
            for number, (words, tags) in enumerate(sentences, 1):
                if len(tags) != len(words):
                    raise ValueError(
                        f"sentence {number} has no tags, and tags are to be read: give trees, "
                        "or a parser that was trained without --gold-tags"
                    )
            tagged = sentences
        else:
            bare = [words for words, _ in sentences]
            tagged = list(zip(bare, model.tag(bare, self.n_threads), strict=True))
        return model.parse(tagged, self.n_threads)

    def label_file(
        self,
        source: str | os.PathLike[str],
        output: str | os.PathLike[str] | IO[bytes],
        *,
        gold_tags: bool | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> int:
        """Parse a file and write a tree a line; return the number of words.

        Parameters
        ----------
        output : path or binary file
            A path is replaced only when the new file is whole.
        progress : callable, optional
            Called with the number of words parsed so far.
        """
        if isinstance(output, (str, os.PathLike)):
            with written_text(output) as file:
                return self.label_file(source, file, gold_tags=gold_tags, progress=progress)
        sentences = read_sentences(source, traces=self.traces)
        root = self._fitted().root
        n_words = 0
        for at in range(0, len(sentences), _CHUNK):
            chunk = sentences[at : at + _CHUNK]
            for tree in self._parse(chunk, gold_tags):
                line = str(tree) if tree.label == root else f"({root} {tree})"
                output.write(f"{line}\n".encode())
            n_words += sum(len(words) for words, _ in chunk)
            if progress is not None:
                progress(n_words)
        return n_words

    # -- judging --------------------------------------------------------------------------------

    def score(self, source: Any, y: Any = None) -> float:
        """Return the F1 of labelled brackets on gold trees."""
        return float(self.evaluate(source)["f1"])

    def evaluate(self, source: Any, *, gold_tags: bool | None = None) -> dict[str, Any]:
        """Compare predicted with gold trees, brackets counted as evalb does.

        Returns
        -------
        dict
            f1, precision, recall and exact_match of labelled brackets
            (:mod:`structlearn.metrics.brackets`), the same of sentences of up to 40 words (f1_40,
            ...), tag_accuracy, sentences, tokens, sentences_per_second, tokens_per_second (tagging
            included).
        """
        return self._evaluate(source, gold_tags)[0]

    def _evaluate(
        self, source: Any, gold_tags: bool | None
    ) -> tuple[dict[str, Any], list[Tree], list[Tree]]:
        from .scores import evaluate_trees

        model: ConstituencyModel = self._fitted()
        gold = read_treebank(source, functions=self.functions, traces=self.traces)
        use_gold = self.gold_tags if gold_tags is None else gold_tags
        found, trees = evaluate_trees(model, gold, use_gold, self.n_threads)
        return found, gold, trees

    def report(self, source: Any, *, gold_tags: bool | None = None) -> str:
        """Return the scores, and a table by label, as text."""
        from .scores import label_table

        found, gold, trees = self._evaluate(source, gold_tags)
        head = (
            f"labelled F1 {100 * found['f1']:.2f}, precision {100 * found['precision']:.2f}, "
            f"recall {100 * found['recall']:.2f}, exact match {100 * found['exact_match']:.2f}; up "
            f"to 40 words F1 {100 * found['f1_40']:.2f}; tags {100 * found['tag_accuracy']:.2f}; "
            f"{found['sentences_per_second']:.0f} sentences a second"
        )
        return f"{head}\n\n{label_table(gold, trees)}"

    def __repr__(self) -> str:
        state = "" if hasattr(self, "model_") else ", not trained"
        return f"ConstituencyParser(learner={self.learner!r}{state})"
