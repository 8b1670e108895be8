"""What parsers of dependencies and of constituents share: fitting, results, drawings."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping

from ..fitting.learner_registry import check_learner
from ..fitting.parameters import Switch, Whole, parameter
from ..fitting.task_parameters import LearnerParameters
from ..meter import say
from ..text.files import written_text
from .base import FileTask

TYPE_CHECKING = False  # importing typing costs more than parsing a sentence
if TYPE_CHECKING:
    from typing import IO, Any, TypeVar

    Parser = TypeVar("Parser", bound="TreeParser")


class _Hooks(FileTask):
    """What a parser brings."""

    #: (X, y, format, name) -> sentences with their trees, of which there is at least one;
    _treebank: Callable[..., Any]
    #: (X, y) -> sentences with the trees that are given apart;
    _joined: Callable[..., Any]
    #: (X, format) -> the treebank in parts, to learn from;
    _read_parts: Callable[..., Any]
    #: treebank -> its trees;
    _gold_trees: Callable[..., list[Any]]
    #: (treebank in parts, dev) -> the model, and what ``learn_task`` returned;
    _learn: Callable[..., tuple[Any, Any]]
    #: (X, number, gold) -> a sentence, and its own tree where that is asked for;
    _sentence: Callable[..., tuple[Any, Any]]
    #: (inputs, number, output) -> the parts of the tree, in the order of their certainties; tree ->
    #: the same of a gold one;
    _parts_of: Callable[..., list[Any]]
    _gold_parts: Callable[[Any], Iterable[Any]]
    #: what ``label_file`` does.
    _label: Callable[..., int]


class TreeParser(LearnerParameters, _Hooks):
    """Finds trees; learns from a treebank. A subclass reads the files and has the model."""

    gold_tags: bool = parameter(
        default=False,
        check=Switch(),
        help="train on the tags of the file, without training taggers",
    )
    folds: int = parameter(
        default=5,
        check=Whole(2, 1000),
        help="number of folds for predicting the tags of the training data",
    )

    def _check(self) -> None:
        """Refuse parameters that make no sense."""
        check_learner(self)

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
        treebank = self._read_parts(X if y is None else self._joined(X, y), format)
        held_out = None if dev is None else self._treebank(dev, None, format, "the dev corpus")
        model, learned = self._plain()._learn(treebank.weighted(sample_weight), held_out)
        if learned.parameters:
            model.training.update(learned.record(self.learner))
        return self._keep(model, learned, held_out)

    def _with_gold(
        self, X: Any, y: Any, format: str | None = None, gold_tags: bool | None = None
    ) -> tuple[Any, list[Any]]:
        bank = self._treebank(X, y, format)
        return self._inputs(bank, gold_tags=gold_tags), self._gold_trees(bank)

    def _right(self, inputs: Any, outputs: list[Any], gold: Any) -> list[list[bool | None]]:
        right: list[list[bool | None]] = []
        for i, (output, tree) in enumerate(zip(outputs, gold, strict=True)):
            true = set(self._gold_parts(tree))
            right.append([part in true for part in self._parts_of(inputs, i, output)])
        return right

    def _gold_source(self, source: Any, format: str | None = None) -> Any:
        return self._treebank(source, None, format)

    def _label_weights(self, totals: Callable[[], Mapping[str, float]]) -> dict[str, float] | None:
        """Return the weight of each label, of which there is so much; None: all 1."""
        if self.class_weight is None:
            return None
        import numpy as np

        from ..estimators.outputs import class_weight_table

        counts = dict(sorted(totals().items()))
        labels, sizes = np.array(list(counts)), np.array(list(counts.values()))
        table = class_weight_table(self.class_weight, labels, sizes)
        assert table is not None
        return dict(zip(counts, table.tolist(), strict=True))

    def _say(self, line: str) -> None:
        """Write a line of progress."""
        if self.verbose:
            say(line)

    # -- parsing --------------------------------------------------------------------------------

    #: Most parts of a sentence are next to impossible.
    _least_shown = 0.001

    def predict(  # type: ignore[override]
        self, X: Any, *, gold_tags: bool | None = None, confidence: bool = False
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
        confidence : bool, default=False
            Set the probabilities of the trees, and the confidence in their parts, too.
        """

        def answer(inputs: Any) -> list[Any]:
            outputs = inputs.solve(self.n_threads).outputs
            trees: list[Any] = self._all_named(inputs, outputs)
            if confidence:
                at = self._at(None)
                shares = self._log_shares(inputs, trees, at)
                parts = self._confidences(inputs, outputs)
                for tree, share, sure in zip(trees, shares, parts, strict=True):
                    tree.probability = math.exp(share)
                    self._set_confidence(tree, sure)
            return trees

        return self._ask(X, answer, self._no_output, {"gold_tags": gold_tags})

    def _set_confidence(self, tree: Any, confidence: list[float]) -> None:
        """Keep the confidence in the parts of a tree, where trees have a place for it."""

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
        confidence: bool = False,
        progress: Callable[[int], None] | None = None,
        notice: Callable[[str], None] | None = None,
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
        confidence : bool
            Write what :meth:`confidence` says of each part of a tree, rounded to four digits:
            ``Confidence=0.9310`` in the column MISC of CoNLL-U. Trees of constituents become JSON,
            an object on each line, ``{"tree": "(S ...)", "spans": [{"start": 0, "end": 2, "label":
            "NP", "confidence": 0.931}, ...]}``.
        progress : callable, optional
            Called with the number of words parsed so far.
        notice : callable, optional
            Called with a sentence if the confidences that are written are sums over other trees
            than those that are predicted: over projective ones, where the parser is of order 2.
        """
        if confidence:
            self._at(None)  # warns if it cannot be trusted
            if notice is not None and self._summed:
                notice(f"{os.fspath(source)}: confidences are sums over {self._summed}")
        with written_text(output) as file:
            return self._label(source, file, format, gold_tags, confidence, progress)
