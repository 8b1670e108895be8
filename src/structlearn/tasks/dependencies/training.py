"""Learning of a dependency parser: tags, the pruner, then the parser itself."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from operator import and_, eq
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ... import _core
from ...exceptions import LineError
from ...fitting.jackknife import jackknifed, numbered
from ...fitting.learner_registry import AdaGradParameters, learner_parameters
from ...fitting.learning import learn
from ...fitting.parts import Parts
from ...fitting.presets import preset_of
from ...fitting.split_corpus import SplitCorpus
from ...fitting.task_learning import Learned, learn_task
from ...meter import Meter
from ...problem import Problem
from ...text.corpus import Corpus
from ...text.dependency_treebank import gold_trees
from ..tagging.model import TaggerModel
from ..tree_losses import loss_weights
from .heaviest import heaviest_features
from .model import ParserModel
from .scores import tag_hits
from .tags import TAG_COLUMNS, Tags, column_tags, make_tagger, predicted_tags

Vector = npt.NDArray[np.float64]

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


class LabelSets:
    """The relations that arcs of a part may have, as masks of bits by key; parts are joined."""

    def __init__(self, keys: bytes, masks: bytes) -> None:
        self.keys = np.frombuffer(keys, np.uint64)
        self.masks = np.frombuffer(masks, np.uint64).reshape(len(self.keys), -1)

    def __add__(self, other: LabelSets) -> LabelSets:
        keys = np.union1d(self.keys, other.keys)
        masks = np.zeros((len(keys), self.masks.shape[1]), np.uint64)
        for part in (self, other):
            masks[np.searchsorted(keys, part.keys)] |= part.masks
        return LabelSets(keys.tobytes(), masks.tobytes())

    def stored(self) -> tuple[bytes, bytes]:
        """Return keys and masks as the core has them."""
        return self.keys.tobytes(), self.masks.tobytes()


class Bank(NamedTuple):
    """A part of a treebank, read by the core, and the weights of its losses."""

    core: _core.ParserTreebank
    losses: Vector | None
    n_tokens: int


class Shape(NamedTuple):
    """What a parser's parameters say of its problem."""

    most_heads: int
    least_share: float
    projective: bool
    order: int
    iterations: int
    bits: int
    #: There are sums over trees.
    has_sums: bool
    dtype: npt.DTypeLike


class ParserFitting:
    """One run of learning.

    Parameters
    ----------
    parser : DependencyParser
        Whose parameters count.
    corpus : SplitCorpus
        Of CoNLL-U, with the weights of its sentences.
    dev : Corpus, optional
    """

    def __init__(
        self, parser: Any, corpus: Corpus | SplitCorpus, dev: Corpus | None = None
    ) -> None:
        self.parser = parser
        self.corpus = SplitCorpus.of(corpus)
        self.dev = dev
        batch = parser.learner in _BATCH
        bits = parser.hash_bits
        self.shape = Shape(
            parser.most_heads,
            parser.least_share,
            parser.projective,
            parser.order,
            parser.training_iterations,
            bits if bits is not None else BATCH_BITS if batch else ONLINE_BITS,
            self._temperature > 0,
            np.float64 if batch else np.float32,
        )
        # As one treebank orders them: the most frequent first, then by name.
        counts = self.corpus.counts("deprel")
        self.labels = sorted(counts, key=lambda name: (-counts[name], name.encode()))
        self.gold = [] if dev is None else _gold_rows(dev, self.labels)
        deprel = self.corpus.find_column("deprel")
        self.class_weight = parser._label_weights(lambda: self.corpus.totals(deprel))

    def run(self) -> tuple[ParserModel, Learned]:
        """Learn; return the model and the record of the training."""
        p = self.parser
        problem = self.problem()
        score = None if self.dev is None else self._dev_las
        preset = preset_of("parser", p.learner)
        if self._temperature > 0 and p.learner not in _BATCH:
            preset = {**preset, "least": 1e-3}  # most arcs have next to no probability
        learned = learn_task(p, problem, preset=preset, score=score, measure="las")
        del problem  # the model takes memory, too
        tables = [learned.weights.astype(np.float32, copy=False), self.pruner]
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

    def problem(self) -> Problem:
        """Learn taggers and pruner; return what is left to learn."""
        p, shape, n_tokens = self.parser, self.shape, self.corpus.n_tokens
        tagged, self.dev_tags, self.taggers = self._tags()
        banks = tagged.then(_bank, self.labels, bool(p.lemmas), self.class_weight)
        del tagged
        self.sets: LabelSets = banks.sum(_label_sets)
        banks = banks.then(_with_sets, *self.sets.stored())
        with Meter("learning which heads are likely", shown=bool(p.verbose)):
            pruning = banks.problem(_pruner_problem, shape, n_tokens=n_tokens)
            self.pruner = self._pruner(pruning)
            pruned = banks.then(_pruned, self.pruner, shape)
        del banks, pruning
        if p.verbose:
            heads, crossing = pruned.sum(_facts)
            p._say(
                f"{len(self.labels)} relations; {heads / n_tokens:.2f} candidate heads per word on "
                "average"
            )
            if crossing and shape.projective and shape.has_sums:
                p._say(f"{crossing} sentences with crossing arcs are left out")
        return pruned.problem(_parser_problem, shape, n_tokens=n_tokens)

    @property
    def _temperature(self) -> float:
        return _temperature(self.parser)

    def _tags(self) -> tuple[Parts, Tags, list[Any]]:
        """Return the sentences with the tags to learn on, the dev set's tags, and the taggers."""
        p = self.parser
        if p.gold_tags:
            return self.corpus.parts.then(_with_own_tags), column_tags(), []
        n_taggers = len(TAG_COLUMNS) * (min(p.folds, len(self.corpus)) + 1)
        with Meter("tagging", n_taggers, shown=bool(p.verbose)) as meter:
            return self._predicted_tags(p, meter)

    def _predicted_tags(self, p: Any, meter: Meter) -> tuple[Parts, Tags, list[Any]]:
        threads, parts = p.n_threads, self.corpus.parts

        def learn(corpus: Any, n_models: int | None = 1) -> list[TaggerModel]:
            """Return the taggers of a corpus; a fold's sentences are put together once for all."""
            of = "all sentences" if n_models is None else f"{p.folds} folds"
            return [
                meter.counting(make_tagger, f"{column} in {of}")(
                    corpus, column, threads, p.random_state, n_models
                )
                for column in TAG_COLUMNS
            ]

        predict = partial(_labels, threads=parts.threads or threads)
        tagged = jackknifed(parts, _itself, p.folds, learn, predict).then(_with_tags)
        for name, (right, known) in tagged.sum(_tag_hits).items() if p.verbose else ():
            if known:
                told = f"tags of {name} in {p.folds} folds: accuracy {right / known:.4f}"
                self.parser._say(told)
        taggers = learn(self.corpus, None)
        dev = column_tags() if self.dev is None else predicted_tags(taggers, self.dev, threads)
        return tagged, dev, taggers

    def _pruner(self, problem: Problem) -> npt.NDArray[np.float32]:
        """Return the weights of the pruner."""
        seed = self.parser.random_state
        parameters = AdaGradParameters(**_PRUNER, random_state=seed, n_jobs=1)
        parameters.least = 1e-3  # most heads have next to no probability
        training = learn(parameters, problem)
        if training.interrupted:
            raise KeyboardInterrupt("interrupted while the pruner was learning")
        return training.weights.astype(np.float32)

    def _dev_las(self, weights: npt.NDArray[Any]) -> float:
        assert self.dev is not None
        model = self._model(weights.astype(np.float32, copy=False), self.pruner, lent=True)
        found = model.inputs(self.dev, self.dev_tags).solve(self.parser.n_threads).outputs
        return sum(map(_words_right, self.gold, found)) / self.dev.n_tokens

    def _model(
        self, weights: npt.NDArray[Any], pruner: npt.NDArray[Any], *, lent: bool = False
    ) -> ParserModel:
        p = self.parser
        keys, masks = self.sets.stored()
        return ParserModel(
            labels=self.labels,
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
            lent=lent,
        )


def _without_small(weights: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Return weights with zeros for those below the mean size of the ones that are not 0."""
    size = np.abs(weights)
    mean = size.sum(dtype=np.float64) / max(np.count_nonzero(weights), 1)
    return np.where(size >= mean, weights, np.float32(0))


def _gold_rows(corpus: Corpus, labels: list[str]) -> list[list[int]]:
    """Return the heads of each tree, then the numbers of its relations, −1 where one is new."""
    number = {label: k for k, label in enumerate(labels)}
    rows = []
    for tree in gold_trees(corpus):
        relations = [number.get(relation, -1) for _, relation in tree]
        rows.append([*(head for head, _ in tree), *relations])
    return rows


def _words_right(gold: Sequence[int], found: Sequence[int]) -> int:
    """Return how many words have the right head and relation."""
    right, n = list(map(eq, gold, found)), len(gold) // 2
    return sum(map(and_, right[:n], right[n:]))


def _temperature(parser: Any) -> float:
    return float(learner_parameters(parser, 0).temperature)


# -- what is done where the parts are -------------------------------------------------------------


def _with_own_tags(corpus: Corpus) -> tuple[Corpus, Tags]:
    return corpus, column_tags()


def _itself(corpus: Corpus) -> Corpus:
    return corpus


def _labels(models: Sequence[TaggerModel], corpus: Corpus, threads: int) -> Iterator[Any]:
    """Return the tags of each word, one by each model."""
    return zip(*(chain(*model.label_corpus(corpus, threads)) for model in models), strict=True)


def _with_tags(found: tuple[Corpus, list[tuple[str, ...]]]) -> tuple[Corpus, Tags]:
    corpus, tags = found
    return corpus, [numbered([word[c] for word in tags]) for c in range(len(TAG_COLUMNS))]


def _tag_hits(tagged: tuple[Corpus, Tags]) -> dict[str, tuple[int, int]]:
    return tag_hits(*tagged)


def _bank(
    tagged: tuple[Corpus, Tags],
    labels: list[str],
    lemmas: bool,
    class_weight: Mapping[str, float] | None,
) -> Bank:
    corpus, tags = tagged
    losses = loss_weights(corpus.column("deprel"), corpus.weights or None, class_weight)
    try:
        core = _core.ParserTreebank(corpus.core, tags, lemmas, labels)
    except LineError as error:
        raise error.in_file(corpus.path or "the corpus") from None
    return Bank(core, losses, corpus.n_tokens)


def _label_sets(bank: Bank) -> LabelSets:
    return LabelSets(*bank.core.label_sets())


def _with_sets(bank: Bank, keys: bytes, masks: bytes) -> Bank:
    bank.core.set_label_sets(keys, masks)
    return bank


def _pruner_problem(bank: Bank, shape: Shape) -> Problem:
    native = bank.core.pruner_problem(min(_PRUNER_BITS, shape.bits), bank.losses)
    return Problem(native, sample_weight=bank.losses, dtype=np.float32)


def _pruned(
    bank: Bank, pruner: npt.NDArray[np.float32], shape: Shape
) -> tuple[Bank, _core.ParserExamples]:
    weights = np.ascontiguousarray(pruner)
    return bank, bank.core.pruned(weights, *shape[:4])


def _facts(pruned: tuple[Bank, _core.ParserExamples]) -> tuple[float, int]:
    """Return the number of heads that are left, and of sentences with crossing arcs."""
    bank, examples = pruned
    return examples.heads_per_word * bank.n_tokens, bank.core.projective.count(False)


def _parser_problem(pruned: tuple[Bank, _core.ParserExamples], shape: Shape) -> ParserProblem:
    """Return the problem of a part: what a sum over projective trees leaves out has weight 0."""
    (bank, losses, _), examples = pruned
    if shape.projective and shape.has_sums:
        fits = np.array(bank.projective)
        if not fits.all():
            losses = fits * (1.0 if losses is None else losses)
    return ParserProblem(
        examples,
        projective=shape.projective,
        iterations=shape.iterations,
        bits=shape.bits,
        sample_weight=losses,
        dtype=shape.dtype,
    )
