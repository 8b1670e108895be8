"""Parsers of constituents: from a treebank to a model to trees."""

from __future__ import annotations

import os
from collections.abc import Callable

from ...text.files import written_text
from ...text.trees import Tree
from ..base import FileTagger
from ..parameters import check_whole
from .model import ConstituencyModel
from .treebank import Sentence, placed_trees, read_sentences, read_treebank, with_trees

TYPE_CHECKING = False  # importing typing costs more than parsing a sentence
if TYPE_CHECKING:
    from typing import IO, Any

__all__ = ["ConstituencyParser"]

LEARNERS = ("adagrad", "perceptron", "passive-aggressive", "arow", "svm", "crf", "pcfg")
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
    learner : {"adagrad", "perceptron", "passive-aggressive", "arow", "svm", "crf", "pcfg"}
        "adagrad" (the default) takes steps along the structured hinge (loss-augmented CKY), each
        weight with a step of its own, and keeps their average; with ``margin=0, temperature=1``
        along the log loss (inside–outside), whose probabilities are the best calibrated and which
        takes several times longer. The others are the estimators of the same name:
        :class:`~structlearn.StructuredPerceptron`, :class:`~structlearn.PassiveAggressive`,
        :class:`~structlearn.AROW`, and the convex objectives of
        :class:`~structlearn.StructuredSVM` and :class:`~structlearn.CRF`, solved up to a proven
        gap, for treebanks of some hundred sentences. "pcfg" is the generative baseline, a grammar
        counted with Markovisation.
    C : float, optional
        Weight of the losses against ½‖w‖² (svm, crf: 1; adagrad: infinite, no regulariser), or the
        longest step (passive-aggressive: 1).
    eta0 : float, optional
        Size of the steps (adagrad: 0.1).
    r : float, optional
        How slowly confidence grows (arow: 10).
    delta : float, optional
        Makes the first steps of adagrad shorter (0).
    margin : float, optional
        What a labelled span that only one of two trees has costs in training (adagrad 1, crf 0;
        the other learners have no choice).
    temperature : float, optional
        Of the loss: 0 for the best tree, 1 for sums over all trees (0; crf 1).
    tol : float, optional
        Stop where gap ≤ tol · objective (svm 0.01, crf 0.001).
    max_iter : int, optional
        Passes over the data, or iterations; by default those of the learner (adagrad 4).
    patience : int, default=5
        With a dev set: end after so many passes without a better score. 0: never.
    average : bool, default=True
        Online learners: the mean of the weights after all steps, not the last ones.
    shuffle : bool, default=True
        Online learners: a new order of the sentences for each pass.
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
    callbacks : callable or list of callables, optional
        Called after each pass with a record of it; a true result ends the training.
    checkpoint : path, optional
        A file that is written while training; where it exists, training goes on from there.
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
        learner: str = "adagrad",
        *,
        C: float | None = None,
        eta0: float | None = None,
        r: float | None = None,
        delta: float | None = None,
        margin: float | None = None,
        temperature: float | None = None,
        tol: float | None = None,
        max_iter: int | None = None,
        patience: int = 5,
        average: bool = True,
        shuffle: bool = True,
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
        callbacks: Any = None,
        checkpoint: Any = None,
        verbose: int = 0,
    ) -> None:
        for name, value in locals().items():
            if name != "self":
                setattr(self, name, value)

    learner: str
    C: float | None
    eta0: float | None
    r: float | None
    delta: float | None
    margin: float | None
    temperature: float | None
    tol: float | None
    max_iter: int | None
    patience: int
    average: bool
    shuffle: bool
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
    callbacks: Any
    checkpoint: Any
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
            if getattr(self, name) is not None or name != "max_iter":
                check_whole(name, getattr(self, name), bound)
        _ = self.n_threads

    # -- learning -------------------------------------------------------------------------------

    def fit(
        self, train: Any, y: Any = None, *, dev: Any = None, sample_weight: Any = None
    ) -> ConstituencyParser:
        """Learn from trees.

        Parameters
        ----------
        train : path, list of Tree, or list of bracketed strings
        y : list of Tree or of bracketed strings, optional
            The trees, where ``train`` has the words of the sentences: scikit-learn's way.
        dev : as ``train``, optional
            Parsed after each pass; the best pass is kept.
        sample_weight : array of shape (n_trees,), optional
            Weights ≥ 0 of the trees: 2 is as having one twice.
        """
        from ...estimators.outputs import check_sample_weight
        from .fitting import fit_parser

        self._check()
        keep = {"functions": self.functions, "traces": self.traces}
        trees = read_treebank(train if y is None else with_trees(train, y), **keep)
        held_out = None if dev is None else read_treebank(dev, **keep)
        weight = check_sample_weight(sample_weight, len(trees))
        if weight is not None and self.learner == "pcfg":
            raise ValueError("a counted grammar takes no sample_weight: give a tree twice")
        self.model_, self.history_, interrupted = fit_parser(self._plain(), trees, held_out, weight)
        self.model_.training.update(keep, parameters=self._stored())
        if interrupted:
            raise KeyboardInterrupt(
                "training was interrupted; the model holds the weights reached so far"
            )
        return self

    # -- the model ------------------------------------------------------------------------------

    _model_kind = ConstituencyModel

    @classmethod
    def from_model(cls, model: ConstituencyModel) -> ConstituencyParser:
        """Return a parser with this model; of its parameters those that the model file has."""
        parser = cls(
            str(model.training.get("learner", "adagrad")),
            gold_tags=model.tagger is None,
            functions=bool(model.training.get("functions", False)),
            traces=bool(model.training.get("traces", False)),
        )
        parser._restore(model.training)
        parser.model_ = model
        parser.history_ = []
        return parser

    # -- parsing --------------------------------------------------------------------------------

    def predict(self, source: Any, *, gold_tags: bool | None = None) -> list[Tree]:
        """Return the trees of sentences.

        Parameters
        ----------
        source : path, or list of lists of words, of strings, of Tree or of bracketed strings
            A file holds trees, of which the words are read, or plain text, a sentence a line. A
            string that begins with a bracket is a tree; others are split at white space. Words may
            come with their tags, as pairs (word, tag).
        gold_tags : bool, optional
            Use the tags of the trees or words given. By default as the parser was trained.
        """
        return self._parse(read_sentences(source, traces=self.traces), gold_tags)

    def predict_marginals(
        self, source: Any, *, gold_tags: bool | None = None, least: float = 0.001
    ) -> list[dict[tuple[int, int, str], float]]:
        """Return P(a node with this label covers this span), by sentence and (begin, end, label).

        Sums over all trees by inside–outside, as the scores have it; a learner "crf" or "pcfg"
        has learned probabilities.

        Parameters
        ----------
        least : float, default=0.001
            Spans with a smaller probability are left out.
        """
        from .sums import span_marginals

        model = self._fitted()
        tagged = self._tagged(read_sentences(source, traces=self.traces), gold_tags)
        return [span_marginals(model, words, tags, least) for words, tags in tagged]

    def predict_kbest(
        self, source: Any, k: int = 5, *, gold_tags: bool | None = None
    ) -> list[list[tuple[float, Tree]]]:
        """Return the k best trees of each sentence as (score, tree), best first."""
        from .sums import kbest_trees

        number = check_whole("k", k, 1)
        model = self._fitted()
        tagged = self._tagged(read_sentences(source, traces=self.traces), gold_tags)
        return [kbest_trees(model, words, tags, number) for words, tags in tagged]

    def predict_proba(self, source: Any, *, gold_tags: bool | None = None) -> list[float]:
        """Return P(tree | sentence) of the best tree of each sentence.

        0 where the grammar of ``learner="pcfg"`` derives none: the flat tree is a makeshift.
        """
        from .sums import probability_of_best

        model = self._fitted()
        tagged = self._tagged(read_sentences(source, traces=self.traces), gold_tags)
        return [probability_of_best(model, words, tags) for words, tags in tagged]

    def draw(
        self, source: Any, sentence: int = 0, *, gold: bool = False, gold_tags: bool | None = None
    ) -> Any:
        """Return a picture of the predicted tree of a sentence, which notebooks show.

        Parameters
        ----------
        source : as :meth:`predict` takes it
        sentence : int, default=0
            Which of its sentences.
        gold : bool, default=False
            Draw the tree of ``source`` too, above the words, the predicted one below.
        gold_tags : bool, optional
            Use the tags of the trees given. By default as the parser was trained.

        Returns
        -------
        structlearn.drawing.trees.TreeDrawing
        """
        from ...drawing.trees import TreeDrawing, draw_tree, draw_trees

        if not gold:
            one = _pick(read_sentences(source, traces=self.traces), sentence)
            return TreeDrawing(draw_tree(self._parse([one], gold_tags)[0]))
        trees = read_treebank(source, functions=self.functions, traces=self.traces)
        wanted = _pick(trees, sentence)
        found = self.predict([wanted], gold_tags=gold_tags)[0]
        return TreeDrawing(draw_trees(wanted, found))

    def _tagged(
        self, sentences: list[Sentence], gold_tags: bool | None
    ) -> list[tuple[list[str], list[str]]]:
        """Return words with the tags that parsing reads, lengths checked."""
        from .sums import check_length

        model: ConstituencyModel = self._fitted()
        for sentence in sentences:
            check_length(model, sentence)
        bare = [sentence.words for sentence in sentences]
        if not (self.gold_tags if gold_tags is None else gold_tags):
            return list(zip(bare, model.tag(bare, self.n_threads), strict=True))
        for sentence in sentences:
            if len(sentence.tags) != len(sentence.words):
                raise sentence.place.error(
                    "has no tags, and tags are to be read: give trees or pairs (word, tag), or "
                    "take a parser that was trained without gold_tags (--gold-tags)"
                )
        return [(sentence.words, sentence.tags) for sentence in sentences]

    def _parse(self, sentences: list[Sentence], gold_tags: bool | None) -> list[Tree]:
        tagged = self._tagged(sentences, gold_tags)
        return self._fitted().parse(tagged, self.n_threads)  # type: ignore[no-any-return]

    def label_file(
        self,
        source: str | os.PathLike[str],
        output: str | os.PathLike[str] | IO[bytes],
        *,
        format: str | None = None,
        gold_tags: bool | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> int:
        """Parse a file and write a tree a line; return the number of words.

        Parameters
        ----------
        output : path or binary file
            A path is replaced only when the new file is whole.
        format : {"brackets", "text"}, optional
            Of the file; by default brackets where that is what it begins with.
        progress : callable, optional
            Called with the number of words parsed so far.
        """
        if isinstance(output, (str, os.PathLike)):
            with written_text(output) as file:
                return self.label_file(
                    source, file, format=format, gold_tags=gold_tags, progress=progress
                )
        sentences = read_sentences(source, traces=self.traces, format=format)
        root = self._fitted().root
        n_words = 0
        for at in range(0, len(sentences), _CHUNK):
            chunk = sentences[at : at + _CHUNK]
            for tree in self._parse(chunk, gold_tags):
                line = str(tree) if tree.label == root else f"({root} {tree})"
                output.write(f"{line}\n".encode())
            n_words += sum(len(sentence.words) for sentence in chunk)
            if progress is not None:
                progress(n_words)
        return n_words

    # -- judging --------------------------------------------------------------------------------

    def score(self, source: Any, y: Any = None) -> float:
        """Return the F1 of labelled brackets on gold trees, or on words and their trees."""
        return float(self.evaluate(source if y is None else with_trees(source, y))["f1"])

    def evaluate(self, source: Any, *, gold_tags: bool | None = None) -> dict[str, Any]:
        """Compare predicted with gold trees, brackets counted as evalb does.

        Returns
        -------
        dict
            f1, precision, recall and exact_match of labelled brackets
            (:mod:`structlearn.metrics.brackets`), the same of sentences of up to 40 words (f1_40,
            ...; None where there are no such sentences), tag_accuracy, sentences, tokens,
            sentences_per_second, tokens_per_second (tagging included).
        """
        return self._evaluate(source, gold_tags)[0]

    def _evaluate(
        self, source: Any, gold_tags: bool | None
    ) -> tuple[dict[str, Any], list[Tree], list[Tree]]:
        from .scores import evaluate_trees
        from .sums import check_length

        model: ConstituencyModel = self._fitted()
        placed = placed_trees(source, functions=self.functions, traces=self.traces)
        for tree, place in placed:
            check_length(model, Sentence(tree.words, [], place))
        gold = [tree for tree, _ in placed]
        use_gold = self.gold_tags if gold_tags is None else gold_tags
        found, trees = evaluate_trees(model, gold, use_gold, self.n_threads)
        return found, gold, trees

    def report(self, source: Any, *, gold_tags: bool | None = None) -> str:
        """Return the scores, and a table by label, as text."""
        from .scores import label_table

        found, gold, trees = self._evaluate(source, gold_tags)
        short = found["f1_40"]
        shorter = "no sentence has up to 40 words"
        if short is not None:
            shorter = f"up to 40 words F1 {100 * short:.2f}"
        head = (
            f"labelled F1 {100 * found['f1']:.2f}, precision {100 * found['precision']:.2f}, "
            f"recall {100 * found['recall']:.2f}, exact match {100 * found['exact_match']:.2f}; "
            f"{shorter}; tags {100 * found['tag_accuracy']:.2f}; "
            f"{found['sentences_per_second']:.0f} sentences a second"
        )
        return f"{head}\n\n{label_table(gold, trees)}"

    def __repr__(self) -> str:
        state = "" if hasattr(self, "model_") else ", not trained"
        return f"ConstituencyParser(learner={self.learner!r}{state})"


def _pick(sentences: list[Any], number: int) -> Any:
    """Return one of the sentences, or say that there is none."""
    if not sentences:
        raise ValueError("there are no sentences")
    if not -len(sentences) <= number < len(sentences):
        raise IndexError(f"there is no sentence {number}: there are {len(sentences)}")
    return sentences[number]
