"""What parsers of dependencies and of constituents share: fitting, results, drawings."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator

from ..estimators.declared import check_whole
from ..meter import Meter, say
from ..text.files import written_text
from .base import FileTagger
from .parameters import LearnerParameters

TYPE_CHECKING = False  # importing typing costs more than parsing a sentence
if TYPE_CHECKING:
    from typing import IO, Any, TypeVar

    Parser = TypeVar("Parser", bound="TreeParser")

__all__ = ["TreeParser"]


#: Sentences of a dev set that probabilities are calibrated on.
_CALIBRATED = 200


class _Hooks(FileTagger):
    """What a parser brings."""

    #: Parameters that are whole numbers, with the least and the most;
    _whole: tuple[tuple[str, int, int | None], ...]
    #: those that may be None; which of the scores of ``evaluate`` is that of ``score``;
    _optional: tuple[str, ...] = ("max_iter", "n_models")
    _measure: str
    #: (X, y, format, name) -> sentences with their trees, of which there is at least one;
    _treebank: Callable[..., Any]
    #: (X, y) -> sentences with the trees that are given apart; the labels of trees;
    _joined: Callable[..., Any]
    _tree_labels: Callable[..., list[list[str]]]
    #: treebank -> its trees;
    _gold_trees: Callable[..., list[Any]]
    #: (treebank, its weights, dev) -> the model, and what ``learn_task`` returned;
    _learn: Callable[..., tuple[Any, Any]]
    #: (X, gold_tags) -> the sentences with the tags that parsing reads, as the model takes them;
    _tagged: Callable[..., Any]
    #: (X, number, gold) -> a sentence, and its own tree where that is asked for;
    _sentence: Callable[..., tuple[Any, Any]]
    #: the tree of a sentence without words, and its marginals;
    _no_tree: Callable[[], Any]
    _no_marginals: Callable[[], Any]
    #: what ``label_file`` does, and the scores.
    _label: Callable[..., int]
    evaluate: Callable[..., dict[str, Any]]


class TreeParser(LearnerParameters, _Hooks):
    """Finds trees; learns from a treebank. A subclass reads the files and has the model."""

    def _check(self) -> None:
        """Refuse parameters that make no sense."""
        for name, least, most in self._whole:
            if getattr(self, name) is not None or name not in self._optional:
                check_whole(name, getattr(self, name), least, most)
        _ = self.n_threads

    # -- learning -------------------------------------------------------------------------------

    def fit(
        self: Parser,
        X: Any,
        y: Any = None,
        *,
        dev: Any = None,
        sample_weight: Any = None,
        format: str | None = None,
    ) -> Parser:
        """Learn from sentences with their trees.

        Parameters
        ----------
        X : path, or list of sentences
            A treebank: the class says what it may be.
        y : list of trees, optional
            Trees as :meth:`predict` returns them, where ``X`` has the words of the sentences (or
            words and tags) alone.
        dev : as ``X``, optional
            Scored after each pass; the best pass is kept.
        sample_weight : array of shape (n_sentences,), optional
            Weights ≥ 0 of the sentences. One of weight k is the same as k copies of it in its
            place, one of weight 0 is absent: its loss is multiplied by k, that of the taggers too,
            and it counts as k sentences (rounded, at least 1) where words and features are counted.
            The convex learners ("crf", "svm") and "pcfg" learn what they would from the copies; the
            others make one step for k times the loss, and so do the taggers and the model that
            chooses likely heads.
        format : str, optional
            Format of the files.
        """
        self._check()
        treebank = self._treebank(X, y, format)
        held_out = None if dev is None else self._treebank(dev, None, format, "the dev corpus")
        present = self._present(treebank, sample_weight)
        model, learned = self._plain()._learn(*present, held_out)
        return self._accept(model, learned, held_out)

    def _accept(self: Parser, model: Any, learned: Any, held_out: Any) -> Parser:
        """Keep what was learned."""
        self.model_ = model
        self.history_ = learned.history
        record = self.model_.training
        if held_out is not None and not learned.interrupted:
            self._calibrate(held_out)
        if learned.parameters:
            record.update(learned.record(self.learner))
        record["parameters"] = self._stored()
        if learned.interrupted:
            raise KeyboardInterrupt(
                "training was interrupted; the model holds the weights reached so far"
            )
        return self

    def _calibrate(self, dev: Any) -> None:
        """Set the temperature at which the parts of the dev set's trees are most probable."""
        from ..estimators.calibration import best_temperature

        if not self._fitted().has_temperature:
            return
        some = dev[:_CALIBRATED] if isinstance(dev, list) else dev.subset(_first(dev))
        gold = self._gold_trees(some)
        sums = list(self._sums(some, None))

        def log_loss(temperature: float) -> float:
            found = 0.0
            for one, tree in zip(sums, gold, strict=True):
                one.temperature = temperature
                # A part that the model cannot have has probability 0 at any temperature.
                found -= sum(math.log(max(p, 1e-30)) for p in one.certainties(tree))
            return found

        with Meter("calibrating", shown=bool(self.verbose)):
            self.model_.training["temperature"] = best_temperature(log_loss)

    def _certainties(
        self, X: Any, format: str | None, gold_tags: bool | None
    ) -> Iterator[tuple[float, bool]]:
        bank = self._treebank(X, None, format)
        trees = self.predict(bank, gold_tags=gold_tags)
        sums = self._sums(bank, gold_tags)
        for one, tree, gold in zip(sums, trees, self._gold_trees(bank), strict=True):
            true = set(one.parts(gold))
            for part, p in zip(one.parts(tree), one.certainties(tree), strict=True):
                yield p, part in true

    def _gold_source(self, source: Any, format: str | None = None) -> Any:
        return self._treebank(source, None, format)

    def _present(self, treebank: Any, sample_weight: Any) -> tuple[Any, Any]:
        """Return the sentences of weight above 0 and their weights; None: all alike."""
        from ..estimators.outputs import check_sample_weight, refuse_no_weight

        weights = check_sample_weight(sample_weight, len(treebank))
        refuse_no_weight(weights)
        if weights is None:
            return treebank, None
        if isinstance(treebank, list):
            kept: Any = [tree for tree, weight in zip(treebank, weights, strict=True) if weight]
        else:
            kept = treebank.weighted(weights.tolist())
        return kept, weights[weights > 0]

    def _loss_weights(self, treebank: Any, weights: Any) -> Any:
        """Return the weights of the losses: those of the sentences times those of their labels."""
        from ..estimators.outputs import refuse_no_weight

        if self.class_weight is not None:
            by_label = _mean_weights(self.class_weight, self._tree_labels(treebank), weights)
            weights = by_label if weights is None else weights * by_label
        refuse_no_weight(weights)
        return weights

    def _say(self, line: str) -> None:
        """Write a line of progress."""
        if self.verbose:
            say(line)

    # -- parsing --------------------------------------------------------------------------------

    def predict(
        self, X: Any, *, gold_tags: bool | None = None, probabilities: bool = False
    ) -> list[Any]:
        """Return the best tree of each sentence.

        Parameters
        ----------
        X : path, or list of sentences
            In a list a sentence is a list of words, each with or without its tags, or a string,
            which is split at white space; or a sentence with its tree, which is not looked at. The
            tree of a sentence without words is empty.
        gold_tags : bool, optional
            Read the tags of the input (True) or predict them (False); by default as the parser
            was trained.
        probabilities : bool, default=False
            Set the probabilities of the trees too.
        """

        def parse(sentences: Any) -> list[Any]:
            tagged = self._tagged(sentences, gold_tags)
            trees: list[Any] = self._fitted().parse(tagged, self.n_threads)
            if probabilities:
                for tree, sums in zip(trees, self._fitted().sums(tagged), strict=True):
                    sums.describe(tree)
            return trees

        found = self._ask_each(X, parse, self._no_tree)
        return self._warned(found) if probabilities else found

    def predict_marginals(
        self, X: Any, *, gold_tags: bool | None = None, least: float = 0.001
    ) -> list[Any]:
        """Return the probabilities of the parts of each sentence's trees, those above ``least``.

        Sums over all trees, at the temperature that a dev set gave; without one they are not
        calibrated, unless the parser was learned with a log loss (:attr:`calibrated`), and a
        warning says so.
        """
        found = self._ask_each(
            X,
            lambda given: [sums.marginals(least) for sums in self._sums(given, gold_tags)],
            self._no_marginals,
        )
        return self._warned(found)

    def predict_kbest(
        self,
        X: Any,
        n: int = 5,
        *,
        gold_tags: bool | None = None,
        probabilities: bool = False,
    ) -> list[list[tuple[float, Any]]]:
        """Return the n best trees of each sentence as (score, tree), best first.

        Parameters
        ----------
        gold_tags, probabilities : bool
            As for :meth:`predict`.
        """
        number = check_whole("n", n, 1)

        def ranked(sums: Any) -> list[tuple[float, Any]]:
            found: list[tuple[float, Any]] = sums.kbest(number)
            for score, tree in found if probabilities else ():
                sums.describe(tree, score)
            return found

        found = self._ask_each(
            X,
            lambda given: [ranked(sums) for sums in self._sums(given, gold_tags)],
            lambda: [(0.0, self._no_tree())],
        )
        return self._warned(found) if probabilities else found

    def _no_output(self) -> Any:
        return self._no_tree()

    def _distributions(self, X: Any, gold_tags: bool | None) -> Iterator[Any]:
        return self._sums(X, gold_tags)

    def _sums(self, X: Any, gold_tags: bool | None) -> Iterator[Any]:
        found: Iterator[Any] = self._fitted().sums(self._tagged(X, gold_tags))
        return found

    def _reads_tags(self, gold_tags: bool | None) -> bool:
        """Tell whether parsing reads the tags of its input; None: as the parser was trained."""
        tags_itself = self._fitted().has_taggers
        if gold_tags is None:
            return not tags_itself
        if not gold_tags and not tags_itself:
            raise ValueError(
                "the parser was trained with gold tags and has no tagger: let it read the tags of "
                "its input, gold_tags=True (--gold-tags)"
            )
        return gold_tags

    def draw(
        self, X: Any, sentence: int = 0, *, gold: bool = False, gold_tags: bool | None = None
    ) -> Any:
        """Return a picture of the predicted tree of a sentence, which notebooks show.

        Parameters
        ----------
        X : as :meth:`predict` takes it
        sentence : int, default=0
            Which of its sentences.
        gold : bool, default=False
            Draw the tree of ``X`` too.
        gold_tags : bool, optional
            As for :meth:`predict`.

        Returns
        -------
        structlearn.drawing.picture.Picture
        """
        one, wanted = self._sentence(X, sentence, gold)
        return self.predict([one], gold_tags=gold_tags)[0].draw(wanted)

    def label_file(
        self,
        source: str | os.PathLike[str],
        output: str | os.PathLike[str] | IO[bytes],
        *,
        format: str | None = None,
        gold_tags: bool | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> int:
        """Parse a file and write it with its trees; return the number of words.

        Parameters
        ----------
        source : path
            As :meth:`predict` takes it.
        output : path or binary file
            A path is replaced only when the new file is complete.
        format : str, optional
            Format of the file; by default by its content.
        gold_tags : bool, optional
            As for :meth:`predict`.
        progress : callable, optional
            Called with the number of words parsed so far.
        """
        if not isinstance(output, (str, os.PathLike)):
            return self._label(source, output, format, gold_tags, progress)
        with written_text(output) as file:
            return self._label(source, file, format, gold_tags, progress)

    # -- judging --------------------------------------------------------------------------------

    def score(self, X: Any, y: Any = None) -> float:
        """Return the score that :meth:`evaluate` gives for sentences with their trees."""
        return float(self.evaluate(X if y is None else self._joined(X, y))[self._measure])

    def __repr__(self) -> str:
        state = "" if hasattr(self, "model_") else ", not trained"
        return f"{type(self).__name__}(learner={self.learner!r}{state})"


def _first(corpus: Any) -> range:
    return range(min(len(corpus), _CALIBRATED))


def _mean_weights(class_weight: Any, labels: list[list[str]], sample_weight: Any) -> Any:
    """Return the mean class weight of each example's labels."""
    import numpy as np

    from ..estimators.outputs import class_weights
    from ..problem.gold import GoldOutputs

    classes, numbers = np.unique([k for row in labels for k in row], return_inverse=True)
    ptr = np.cumsum([0, *map(len, labels)])
    gold = GoldOutputs(labels, numbers.astype(np.int64), ptr)
    return class_weights(class_weight, classes, gold, sample_weight)
