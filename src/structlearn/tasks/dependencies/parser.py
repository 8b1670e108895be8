"""Dependency parsers: from a treebank in CoNLL-U to trees of bare tokens."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable

from ...exceptions import CapabilityError
from ...fitting.learner_registry import LEARNERS
from ...fitting.parameters import Choice, Number, Switch, Whole, parameter
from ...text.answers import TREES_INSTEAD, cell_fault, check_labels
from ...text.corpus import Corpus
from ...text.dependency_tree import DependencyTree
from ...text.dependency_treebank import (
    check_tags,
    check_trees,
    gold_tree,
    gold_trees,
    label_words,
    read_treebank,
    read_words,
    settled_format,
    with_trees,
)
from ...text.files import pieces
from ...text.formats import FORMATS
from ...text.labelling import label_pieces, piece_size
from ...text.sources import not_empty
from ..tree_parser import TreeParser
from .model import ParserModel

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import IO, Any

    from ...drawing.report import Report
    from ...fitting.split_corpus import SplitCorpus
    from ...models.inputs import NativeInputs
    from ..doubts import Pool, Seen
    from .scores import Comparison

_LEGEND = (
    'Arcs that the gold tree does not have are <span class="red">red</span>; those that are '
    'missing are dashed and <span class="green">green</span>, below the words.'
)


class DependencyParser(TreeParser):
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

    Treebanks are files in CoNLL-U, corpora of that format, or lists of sentences, in which a token
    is a tuple: (form, tag, head, relation), or all ten columns. Every tree must have one root and
    no cycle. Sentences to parse need no more than words, or (form, tag). Trees are
    :class:`~structlearn.text.DependencyTree`: lists of (head, relation), head 0 being the root.
    Probabilities, draws and the n best trees of order 1 are those of all trees, by the matrix-tree
    theorem in O(n³), or of projective ones, by inside–outside. Those of order 2 are of projective
    trees, whatever the best tree may be: over others there are no exact sums of pairs of arcs. So
    without ``projective=True`` a tree with crossing arcs has the probability 0, and the first of
    the n best may differ from what ``predict`` finds. Marginals are, for each word,
    P((head, relation) | sentence). Files to parse are CoNLL-U, of which comments, multiword tokens
    and empty nodes stay; "columns", of which the first has the words; or "text", with a sentence on
    each line.

    Parameters
    ----------
    order : {1, 2}, default=2
        1: arcs alone.
    learner : {"passive-aggressive", "perceptron", "svm", "crf", "adagrad", "arow"}
        The estimator that learns the weights, by default
        :class:`~structlearn.estimators.PassiveAggressive`. The cost is half a unit for each wrong
        head and half for each wrong relation. "svm" and "crf" minimise ½‖w‖² + C·Σ loss to a proven
        gap and take many times as long; the log loss ("crf", or temperature=1 with "adagrad") needs
        sums over trees: order 1, or projective trees. Presets: passive-aggressive C 0.002; svm, crf
        C 0.1; adagrad eta0 0.02, delta 0, C infinite (no regulariser), 10 passes.
    projective : bool, default=False
        Only trees without crossing arcs.
    gold_tags : bool, default=False
        Learn on the tags in the treebank, and have no taggers. By default UPOS, XPOS and FEATS are
        predicted by taggers of the parser's own, jack-knifed for learning.
    folds : int, default=5
        Of jack-knifing.
    lemmas : bool, default=False
        Read lemmas too; they have to be in every file then.
    hash_bits : int, optional
        The table has 2^bits weights: 24, of four bytes; for svm and crf, whose solvers keep some
        thirty vectors of eight bytes for each weight, 20. More bits need more memory; with fewer
        bits more features share a weight.
    prune : bool, default=False
        Leave the weights that are smaller than the mean, mostly what single sentences have left
        behind, out of the model: files are half as large, and parsers lose a tenth of a percent.
    most_heads, least_share : int, float
        What the pruner leaves of the heads of a word: at most this many, of at least this share of
        the most probable one's probability.
    iterations, training_iterations : int
        The most rounds of dual decomposition for a sentence, in parsing and in learning (order 2,
        not projective).
    {learning}

    Attributes
    ----------
    model_ : ParserModel
        What was learned.
    classes_ : list of str
        The relations.
    history_ : list of dict
        A record of each pass.

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

    order: int = parameter(
        default=2,
        kw_only=False,
        check=Whole(1, 2),
        help="1: score single arcs, 2: siblings and grandparents too (default: 2; crf: 1)",
    )
    learner: str = parameter(
        default="passive-aggressive",
        kw_only=False,
        check=Choice(*LEARNERS),
        help="learning algorithm",
    )
    projective: bool = parameter(
        default=False, check=Switch(), help="predict trees without crossing arcs only"
    )
    lemmas: bool = parameter(default=False, check=Switch(), help="use lemmas as features")
    hash_bits: int | None = parameter(
        default=None,
        check=Whole(10, 28),
        help="hash features to 2^B weights (default: 24; svm, crf: 20)",
        metavar="B",
    )
    prune: bool = parameter(
        default=False, check=Switch(), help="drop weights below the mean, for a smaller file"
    )
    most_heads: int = parameter(default=10, check=Whole(1, 1000))
    least_share: float = parameter(default=1e-3, check=Number(above=True))
    iterations: int = parameter(default=60, check=Whole(1, 10**6))
    training_iterations: int = parameter(default=20, check=Whole(1, 10**6))

    _measure = "las"
    _joined = staticmethod(with_trees)

    def _check(self) -> None:
        super()._check()
        if self.order != 1 and not self.projective and (self.learner == "crf" or self.temperature):
            raise CapabilityError(
                "the log loss (learner 'crf', or temperature > 0) needs order=1 or "
                "projective=True: over non-projective trees there are no exact sums of pairs of "
                "arcs. What works here: "
                + ", ".join(repr(learner) for learner in LEARNERS if learner != "crf")
            )

    # -- learning -------------------------------------------------------------------------------

    def _treebank(self, X: Any, y: Any, format: str | None, name: str = "the corpus") -> Corpus:
        corpus = not_empty(read_treebank(X if y is None else with_trees(X, y), format), name)
        if self.gold_tags:
            check_tags(corpus)
        return corpus

    def _gold_trees(self, treebank: Corpus) -> list[Any]:
        return gold_trees(treebank)

    def _read_parts(self, X: Any, format: str | None) -> SplitCorpus:
        from ...fitting.split_corpus import SplitCorpus, in_parts

        return SplitCorpus(in_parts(X, _read_part, format, bool(self.gold_tags)))

    def _learn(self, treebank: SplitCorpus, dev: Corpus | None) -> tuple[ParserModel, Any]:
        from .training import ParserFitting

        return ParserFitting(self, treebank, dev).run()

    # -- the model ------------------------------------------------------------------------------

    @property
    def classes_(self) -> list[str]:
        """The relations, the most frequent in training first."""
        return list(self._fitted().labels)

    _model_kind = ParserModel
    _title = "Dependency parser"

    @property
    def _summed(self) -> str:
        model: ParserModel = self._fitted()
        return "" if model.order == 1 or model.projective else "projective trees"

    # -- parsing --------------------------------------------------------------------------------

    def _tagged(self, X: Any, gold_tags: bool | None) -> tuple[Corpus, list[Any]]:
        from .tags import column_tags, predicted_tags

        corpus = read_words(X)
        if self._reads_tags(gold_tags):
            check_tags(corpus)
            return corpus, column_tags()
        return corpus, predicted_tags(self._fitted().taggers, corpus, self.n_threads)

    def _inputs(self, X: Any, gold_tags: bool | None = None) -> NativeInputs:
        """Return the sentences of X with their tags."""
        inputs: NativeInputs = self._fitted().inputs(*self._tagged(X, gold_tags))
        return inputs

    def _named(self, inputs: Any, i: int, output: Any) -> DependencyTree:
        words, tags = inputs.source.words[i], inputs.source.upos[i]
        return DependencyTree(self._fitted().arcs(output), words, tags)

    def _named_parts(self, inputs: Any, i: int, parts: Any) -> list[dict[tuple[int, str], float]]:
        labels = self._fitted().labels
        words: list[dict[tuple[int, str], float]] = [{} for _ in inputs.source.upos[i]]
        for word, head, label, p in parts:
            if p > 0.0:  # the core has lines of labels, some of which are none
                words[word - 1][head, labels[label]] = p
        return words

    def _no_output(self) -> DependencyTree:
        return DependencyTree((), ())

    def _scores_of(self, inputs: Any, outputs: list[Any], temperature: float) -> list[float]:
        number = {label: k for k, label in enumerate(self.classes_)}
        rows = []
        for i, (tree, tags) in enumerate(zip(outputs, inputs.source.upos, strict=True)):
            if len(tree) != len(tags):
                raise ValueError(f"sentence {i} has {len(tags)} words, the tree {len(tree)}")
            # A relation that the model does not have is in no tree of it.
            relations = [number.get(relation, -1) for _, relation in tree]
            rows.append([*(int(head) for head, _ in tree), *relations])
        scores: list[float] = inputs.score(rows, self.n_threads)
        return scores

    _part_names = ("head", "word")

    def _places_of(self, inputs: Any, i: int, part: Any) -> list[tuple[int, int, int]]:
        head, word = part
        n = len(inputs.source.upos[i])
        if not (0 <= head <= n and 1 <= word <= n) or head == word:
            raise ValueError(f"the sentence has no arc from {head} to {word}")
        return [(word, head, -1)]  # with any relation

    _parts = "arcs"

    def _pool(self, X: Any, format: str | None = None) -> Pool:
        from ..doubts import Pool

        corpus = read_words(X, format)
        return Pool(
            len(corpus),
            lambda numbers: self._inputs(corpus.subset(numbers)),
            lambda n: int(corpus.core.line_number(n, 0)),
        )

    def _seen(self, inputs: Any, i: int, output: Any, sure: list[float]) -> Seen:
        from ..doubts import Seen

        tree, words = self._fitted().arcs(output), list(inputs.source.words[i])

        def arc(head: int, relation: str) -> str:
            return f"{relation} of {words[head - 1]!r}" if head else f"{relation}, the root"

        def others(m: int, marginals: Any) -> Any:
            return ((arc(*one), p) for one, p in marginals[m].items() if one != tuple(tree[m]))

        labels = [f"{head}:{relation}" for head, relation in tree]
        return Seen(words, labels, sure, lambda m: f"{words[m]!r} is {arc(*tree[m])}", others)

    def _parts_of(self, inputs: Any, i: int, output: Any) -> list[tuple[int, int, str]]:
        return self._gold_parts(self._fitted().arcs(output))

    def _gold_parts(self, tree: Any) -> list[tuple[int, int, str]]:
        return [(word, *arc) for word, arc in enumerate(tree, 1)]

    def _set_confidence(self, tree: DependencyTree, confidence: list[float]) -> None:
        tree.confidence = confidence

    def _sentence(self, X: Any, number: int, gold: bool) -> tuple[Any, Any]:
        corpus = not_empty(read_words(X))
        one = list(corpus[number])
        wanted = gold_tree(corpus, number) if gold else None
        if gold and wanted is None:
            raise ValueError(f"sentence {number + 1} has no tree of its own to draw: no heads")
        return one, wanted

    def _label(
        self,
        source: str | os.PathLike[str],
        output: IO[bytes],
        format: str | None,
        gold_tags: bool | None,
        confidence: bool,
        progress: Callable[[int], None] | None,
    ) -> int:
        model, reads_tags = self._fitted(), self._reads_tags(gold_tags)
        tags = [] if reads_tags else [k for tagger in model.taggers for k in tagger.core.names]
        labels = [*model.labels, *tags]
        check_labels(
            source, "CoNLL-U", labels, lambda label: cell_fault(label, False), TREES_INSTEAD
        )
        threads = self.n_threads
        read = pieces(source, piece_size(source, threads, slow=True))
        first = next(read, (b"", 0))
        chosen = settled_format(source, first[0], format)
        whole = itertools.chain([first], read)
        native = FORMATS[chosen].native
        labeller = model.labeller(chosen if native else "columns", reads_tags, confidence)
        if not native:
            return label_words(
                labeller, FORMATS[chosen](), source, output, threads, progress, whole
            )
        return label_pieces(None, labeller, source, output, chosen, threads, progress, whole)

    # -- what was learned -----------------------------------------------------------------------

    def _heaviest(self, n: int) -> dict[str, list[tuple[str, float]]]:
        found = self._fitted().training.get("features", {})
        if not found:
            raise CapabilityError(
                "training was interrupted before the features got names. What works: explain, and "
                "inspect --input"
            )
        labels = [*found, *(k for k in self._names_of_features() if k not in found)]
        return {k: [(name, w) for name, w in found.get(k, ())][:n] for k in labels}

    def _comparison(self, inputs: Any) -> Any:
        from .decisions import comparison

        return comparison(self._fitted(), inputs)

    def _typed(self, text: str) -> list[Any]:
        """Return words with the tags that stand behind them: The|DET|DT|Definite=Def."""
        return [_cells(i, token) for i, token in enumerate(text.split(), 1)]

    def _own_facts(self) -> list[tuple[str, str]]:
        from .inspection import parser_facts

        return parser_facts(self._fitted())

    def _report(self) -> Report:
        report = super()._report()
        report.heading = "Strongest features, relation by relation"
        report.legend, report.parts = _LEGEND, "arcs"
        return report

    def _names_of_features(self) -> list[str]:
        return [*self.classes_, "arc"]

    def _to_show(self, X: Any, most: int) -> tuple[NativeInputs, list[Any], list[str], int]:
        corpus = not_empty(read_words(X))
        part = corpus.subset(range(min(len(corpus), most)))
        gold = [gold_tree(part, i) for i in range(len(part))]
        return self._inputs(part), gold, [""] * len(part), len(corpus)

    def _said(
        self, inputs: Any, i: int, decision: dict[str, Any], gold: Any
    ) -> tuple[str, str, str | None, str]:
        m, words = decision["position"], ["ROOT", *inputs.source.words[i]]

        def told(arc: tuple[int, str] | None) -> str:
            if arc is None:
                return ""
            head, relation = arc
            return f"{relation} ← {head} {words[head]}" if head else f"{relation} ← ROOT"

        label, rival = told(decision["label"]), told(decision["runner_up"])
        return f"{m + 1} {words[m + 1]}", label, gold and told(gold[m]), rival

    def _drawn(self, inputs: Any, i: int, output: Any, gold: Any, page: bool) -> dict[str, Any]:
        return {"picture": output.draw(gold)} if page else {}

    # -- judging --------------------------------------------------------------------------------

    def evaluate(
        self,
        X: Any,
        y: Any = None,
        *,
        format: str | None = None,
        gold_tags: bool | None = None,
        intervals: bool = False,
        against: DependencyParser | None = None,
    ) -> dict[str, Any]:
        """Compare predicted with gold trees; all words count, relations with their subtypes.

        Parameters
        ----------
        X, y : as :meth:`fit` takes them
        gold_tags : bool, optional
            As for :meth:`predict`.
        intervals : bool
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
        return self._compared(X, y, format, gold_tags).as_dict(intervals, against)

    def report(
        self,
        X: Any,
        y: Any = None,
        *,
        format: str | None = None,
        gold_tags: bool | None = None,
        intervals: bool = False,
        confusions: int = 0,
        against: DependencyParser | None = None,
    ) -> str:
        """Return a table of scores, overall and by relation.

        Parameters
        ----------
        confusions : int
            The number of most frequent confusions of relations to list.
        """
        return self._compared(X, y, format, gold_tags).text(intervals, confusions, against)

    def _compared(self, X: Any, y: Any, format: str | None, gold_tags: bool | None) -> Comparison:
        from .scores import Comparison

        corpus = not_empty(read_treebank(X if y is None else with_trees(X, y), format))
        return Comparison(self, corpus, gold_tags)


def _cells(i: int, token: str) -> Any:
    """Return a word, or the cells of a line with the tags that stand behind it."""
    word, *tags = token.split("|", 3)
    if not tags or not word:
        return token
    if len(tags) == 1:
        return (word, tags[0])
    upos, xpos, feats = (*tags, "_")[:3]
    return (str(i), word, "_", upos, xpos, feats, "_", "_", "_", "_")


def _read_part(source: Any, format: str | None, gold_tags: bool) -> Corpus:
    corpus = not_empty(read_treebank(source, format))
    if gold_tags:
        check_tags(corpus)
    check_trees(corpus)  # bad ones are refused before the taggers take their time
    return corpus
