"""Learning of a dependency parser: tags, the pruner, then the parser itself."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...exceptions import LineError
from ...fitting.jackknife import jackknifed_tags
from ...fitting.learner_registry import AdaGradParameters, learner_parameters
from ...fitting.learning import learn
from ...fitting.presets import preset_of
from ...fitting.task_learning import Learned, learn_task
from ...meter import Meter
from ...metrics.attachment import attachment_report
from ...problem import Problem
from ...text.corpus import Corpus
from ...text.dependency_treebank import gold_trees
from .heaviest import heaviest_features
from .model import ParserModel
from .scores import tag_accuracies
from .tags import TAG_COLUMNS, Tags, column_tags, make_tagger, predicted_tags

__all__ = ["ParserFitting", "ParserProblem"]

#: How the pruner is learned: a softmax over the heads of each word, by AdaGrad without a
#: regulariser, and the bits of its table.
_PRUNER: dict[str, Any] = {
    "margin": 0.0,
    "temperature": 1.0,
    "C": math.inf,
    "delta": 0.0,
    "average": False,
    "max_iter": 2,
    "eta0": 0.1,
}
_PRUNER_BITS = 20
#: Learners that see all sentences before they move: they keep dozens of vectors of eight bytes
#: per weight.
_BATCH = ("svm", "crf")
#: The bits of the table, for them and for the others.
BATCH_BITS, ONLINE_BITS = 20, 24


class ParserProblem(Problem):
    """Sentences with the arcs that a pruner has left, their trees, and the weights of features.

    Parameters
    ----------
    examples : _core.ParserExamples
    projective : bool
        Only trees without crossing arcs.
    iterations : int
        The most rounds of dual decomposition for a sentence (order 2, not projective).
    bits : int
        There are 2^bits weights.
    sample_weight : array of shape (n_sentences,), optional
    dtype : {"float64", "float32"}
        Of the weights of online learners.
    """

    name = "a dependency parser"

    def __init__(
        self,
        examples: _core.ParserExamples,
        *,
        projective: bool,
        iterations: int,
        bits: int,
        sample_weight: npt.NDArray[np.float64] | None = None,
        dtype: npt.DTypeLike = np.float32,
    ) -> None:
        native = examples.problem(projective, iterations, bits, sample_weight)
        super().__init__(native, sample_weight=sample_weight, dtype=dtype)
        self._described = [examples.fingerprint, projective, iterations]

    def specification(self) -> dict[str, Any]:
        """Return what the objective depends on."""
        return {**super().specification(), "sentences": self._described}


class ParserFitting:
    """One run of learning.

    Parameters
    ----------
    parser : DependencyParser
        Whose parameters count.
    corpus, dev : Corpus
        Of CoNLL-U.
    loss_weight : array of shape (n_sentences,), optional
        Weights of the losses of the sentences.
    """

    def __init__(
        self,
        parser: Any,
        corpus: Corpus,
        dev: Corpus | None = None,
        loss_weight: npt.NDArray[np.float64] | None = None,
    ) -> None:
        self.parser = parser
        self.corpus = corpus
        self.dev = dev
        self.loss_weight = loss_weight
        self.check_trees()
        self.gold = None if dev is None else gold_trees(dev)
        self.bits = parser.hash_bits
        if self.bits is None:
            self.bits = BATCH_BITS if parser.learner in _BATCH else ONLINE_BITS

    def check_trees(self) -> None:
        """Refuse bad trees before the taggers take their time."""
        gold_trees(self.corpus)

    def run(self) -> tuple[ParserModel, Learned]:
        """Learn; return the model and the record of the training."""
        p = self.parser
        problem = self.problem()
        score = None if self.dev is None else self._dev_las
        preset = preset_of("parser", p.learner)
        if self._temperature > 0 and p.learner not in _BATCH:
            preset = {**preset, "least": 1e-3}  # most arcs have next to no probability
        learned = learn_task(p, problem, preset=preset, score=score, measure="las")
        tables = [learned.weights.astype(np.float32), self.pruner]
        model = self._model(*(map(_without_small, tables) if p.prune else tables))
        model.training = {
            "random_state": p.random_state,
            "gold_tags": p.gold_tags,
            "sentences": len(self.corpus),
            "tokens": self.corpus.n_tokens,
        }
        if not learned.interrupted:
            model.training["features"] = heaviest_features(model, self.corpus)
        return model, learned

    def problem(self) -> ParserProblem:
        """Learn taggers and pruner; return what is left to learn."""
        p = self.parser
        train_tags, self.dev_tags, self.taggers = self._tags()
        try:
            self.treebank = _core.ParserTreebank(self.corpus.core, train_tags, p.lemmas)
        except LineError as error:
            raise error.in_file(self.corpus.path or "the corpus") from None
        with Meter("learning which heads are likely", shown=bool(p.verbose)):
            self.pruner = self._pruner()
            examples = self.treebank.pruned(
                self.pruner, p.most_heads, p.least_share, p.projective, p.order
            )
        self.parser._say(
            f"{len(self.treebank.labels)} relations; "
            f"{examples.heads_per_word:.2f} candidate heads per word on average"
        )
        return parser_problem(p, self.treebank, examples, self.bits, self.loss_weight)

    @property
    def _temperature(self) -> float:
        return _temperature(self.parser)

    def _tags(self) -> tuple[Tags, Tags, list[Any]]:
        p = self.parser
        if p.gold_tags:
            return column_tags(), column_tags(), []
        n_taggers = len(TAG_COLUMNS) * (min(p.folds, len(self.corpus)) + 1)
        with Meter("tagging", n_taggers, shown=bool(p.verbose)) as meter:
            return self._predicted_tags(p, meter)

    def _predicted_tags(self, p: Any, meter: Meter) -> tuple[Tags, Tags, list[Any]]:
        threads = p.n_threads
        train: Tags = []
        for column in TAG_COLUMNS:
            learn = partial(
                make_tagger, column=column, n_jobs=threads, random_state=p.random_state, n_models=1
            )
            counted = meter.counting(learn, f"{column} in {p.folds} folds")
            train.append(jackknifed_tags(self.corpus, p.folds, counted, threads))
        for name, accuracy in tag_accuracies(self.corpus, train).items() if p.verbose else ():
            self.parser._say(f"tags of {name} in {p.folds} folds: accuracy {accuracy:.4f}")
        taggers = [
            meter.counting(make_tagger, column)(self.corpus, column, threads, p.random_state)
            for column in TAG_COLUMNS
        ]
        dev = column_tags() if self.dev is None else predicted_tags(taggers, self.dev, threads)
        return train, dev, taggers

    def _pruner(self) -> npt.NDArray[np.float32]:
        """Return the weights of the pruner."""
        problem = self._pruner_problem()
        seed = self.parser.random_state
        parameters = AdaGradParameters(**_PRUNER, random_state=seed, n_jobs=1)
        parameters.least = 1e-3  # most heads have next to no probability
        training = learn(parameters, problem)
        if training.interrupted:
            raise KeyboardInterrupt("interrupted while the pruner was learning")
        return training.weights.astype(np.float32)

    def _pruner_problem(self) -> Problem:
        return pruner_problem(self.treebank, self.bits, self.loss_weight)

    def _dev_las(self, weights: npt.NDArray[Any]) -> float:
        assert self.dev is not None
        assert self.gold is not None
        model = self._model(weights.astype(np.float32), self.pruner)
        trees, _ = model.parse_corpus(self.dev, self.dev_tags, self.parser.n_threads)
        return attachment_report(self.gold, trees).las

    def _model(self, weights: npt.NDArray[Any], pruner: npt.NDArray[Any]) -> ParserModel:
        p = self.parser
        keys, masks = self.treebank.label_sets()
        return ParserModel(
            labels=self.treebank.labels,
            order=p.order,
            projective=p.projective,
            iterations=p.iterations,
            most=p.most_heads,
            least=p.least_share,
            lemmas=p.lemmas,
            arrays={
                "weights": weights,
                "pruner": pruner,
                "set_keys": keys,
                "set_masks": masks,
            },
            taggers=self.taggers,
        )


def _without_small(weights: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Return weights with zeros for those below the mean size of the ones that are not 0."""
    size = np.abs(weights)
    mean = size.sum(dtype=np.float64) / max(np.count_nonzero(weights), 1)
    return np.where(size >= mean, weights, np.float32(0))


def _temperature(parser: Any) -> float:
    return float(learner_parameters(parser, 0).temperature)


def pruner_problem(
    treebank: Any, bits: int, sample_weight: npt.NDArray[np.float64] | None = None
) -> Problem:
    """Return the problem of the pruner."""
    native = treebank.pruner_problem(min(_PRUNER_BITS, bits), sample_weight)
    return Problem(native, sample_weight=sample_weight, dtype=np.float32)


def parser_problem(
    parser: Any,
    treebank: Any,
    examples: _core.ParserExamples,
    bits: int,
    sample_weight: npt.NDArray[np.float64] | None = None,
) -> ParserProblem:
    """Return the problem of the parser.

    Sentences whose gold tree a sum over trees leaves out have weight 0.
    """
    if parser.projective and _temperature(parser) > 0:
        fits = np.array(treebank.projective)
        if not fits.all():
            parser._say(f"{np.sum(~fits)} sentences with crossing arcs are left out")
            sample_weight = fits * (1.0 if sample_weight is None else sample_weight)
    return ParserProblem(
        examples,
        projective=parser.projective,
        iterations=parser.training_iterations,
        bits=bits,
        sample_weight=sample_weight,
        dtype=np.float64 if parser.learner in _BATCH else np.float32,
    )
