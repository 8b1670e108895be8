"""Parsers of constituents: from a treebank to a model to trees."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Sequence

from ...fitting.learner_registry import LEARNERS
from ...fitting.parameters import Choice, Switch, Whole, parameter
from ...fitting.task_parameters import refuse_unused
from ...printing import joined_lines
from ...text.answers import TREES_INSTEAD, as_json, check_labels
from ...text.bracket_treebank import (
    Sentence,
    has_trees,
    placed_trees,
    read_sentences,
    with_trees,
)
from ...text.trees import Tree, bracket_fault
from ..tree_parser import TreeParser
from .model import ConstituencyModel, spans_of

TYPE_CHECKING = False  # importing typing costs more than parsing a sentence
if TYPE_CHECKING:
    from typing import IO, Any

    from ...drawing.report import Report
    from ...models.inputs import NativeInputs
    from ..doubts import Pool, Seen

_LEGEND = (
    "Gold above the words, predicted below. Nodes that only the gold tree has are <span "
    'class="green">green</span>, those that only the predicted one has <span class="red">red'
    "</span>. Where both are the same there is one tree."
)

#: Sentences that are parsed before they are written.
_CHUNK = 64


class ConstituencyParser(TreeParser):
    """Parses sentences into constituents; learns from bracketed trees (the Penn format).

    A tree is scored by features of its spans — words, tags and shapes at their borders, inside and
    outside, lengths, split points — with their labels, and by which label stands under which
    (Hall, Durrett & Klein 2014, "Less grammar, more features"). Unary chains are one label while
    parsing (S over VP is S+VP) and several in the result. The tags come from our own
    :class:`Tagger`, which in training tags only sentences that it has not learned from.

    Treebanks are files of bracketed trees, or lists of :class:`~structlearn.text.Tree` or of
    bracketed strings. Sentences to parse are files of trees, of which the words are read, or plain
    text with a sentence on each line; in a list, words or pairs (word, tag), strings, or trees.
    Marginals are P(a node with this label covers this span), by (begin, end, label), from sums over
    all trees by inside–outside. A sentence that the grammar of ``learner="pcfg"`` does not derive
    has a flat tree of probability 0, no marginals, and the entropy 0. Files are written with one
    tree on each line.

    Parameters
    ----------
    learner : {"adagrad", "perceptron", "passive-aggressive", "arow", "svm", "crf", "pcfg"}
        "adagrad" (the default) takes steps along the structured hinge (loss-augmented CKY), each
        weight with a step of its own, and keeps their average; with ``margin=0, temperature=1``
        along the log loss (inside–outside), whose probabilities are the best calibrated and which
        takes several times longer. The others are the estimators of the same name:
        :class:`~structlearn.StructuredPerceptron`, :class:`~structlearn.PassiveAggressive`,
        :class:`~structlearn.AROW`, and the convex objectives of
        :class:`~structlearn.StructuredSVM` and ``CRF``, solved up to a proven
        gap, for treebanks of some hundred sentences. "pcfg" is the generative baseline, a grammar
        counted with Markovisation. A labelled span that only one of two trees has costs 1.
        Presets: adagrad eta0 0.1, delta 0, C infinite (no regulariser), 4 passes.
    min_count : int, default=2
        Leave out features that gold trees have fewer times.
    gold_tags : bool, default=False
        Learn, and parse, with the tags of the trees; without a tagger.
    folds : int, default=5
        Of jack-knifing.
    max_words : int, default=100
        Longer sentences are not learned from.
    functions, traces : bool, default=False
        Keep functional tags (NP-SBJ), and empty elements.
    vertical, horizontal : int, default=2
        Markovisation of the grammar (pcfg): 2 annotates the category above, and remembers two
        sisters.
    {learning}

    Attributes
    ----------
    model_ : ConstituencyModel
        What was learned.
    history_ : list of dict
        A record of each pass.

    Examples
    --------
    >>> from structlearn.datasets import make_treebank
    >>> from structlearn.tasks import ConstituencyParser
    >>> trees = [s.brackets for s in make_treebank(120, random_state=0)]
    >>> parser = ConstituencyParser(max_iter=3).fit(trees[:100])
    >>> parser.evaluate(trees[100:])["f1"] > 0.8
    True
    """

    learner: str = parameter(
        default="adagrad",
        kw_only=False,
        check=Choice(*LEARNERS, "pcfg"),
        help="learning algorithm; svm and crf are convex and slow on large treebanks, pcfg counts "
        "rules",
    )
    min_count: int = parameter(
        default=2, check=Whole(1), help="drop features seen fewer times in gold trees"
    )
    max_words: int = parameter(
        default=100, check=Whole(1), help="skip training sentences of more words"
    )
    functions: bool = parameter(
        default=False, check=Switch(), help="keep function tags, as in NP-SBJ", stored=False
    )
    traces: bool = parameter(default=False, check=Switch(), help="keep empty elements")
    vertical: int = parameter(
        default=2, check=Whole(1), help="pcfg: order of vertical Markovisation", metavar="V"
    )
    horizontal: int = parameter(
        default=2, check=Whole(0), help="pcfg: order of horizontal Markovisation", metavar="H"
    )

    _measure = "f1"
    _joined = staticmethod(with_trees)

    def _check(self) -> None:
        super()._check()
        if self.learner == "pcfg":
            refuse_unused(self, "min_count", "folds", "max_words", used=("class_weight",))

    # -- learning -------------------------------------------------------------------------------

    @property
    def _kept(self) -> dict[str, bool]:
        return {"functions": self.functions, "traces": self.traces}

    def _treebank(self, X: Any, y: Any, format: str | None, name: str = "") -> list[Tree]:
        placed = placed_trees(X if y is None else with_trees(X, y), format, **self._kept)
        return [tree for tree, _ in placed]

    def _gold_trees(self, treebank: list[Tree]) -> list[Tree]:
        return treebank

    def _read_parts(self, X: Any, format: str | None) -> Any:
        from .fitting import SplitTrees

        return SplitTrees.read(X, format, **self._kept)

    def _learn(self, treebank: Any, dev: list[Tree] | None) -> tuple[Any, Any]:
        from .fitting import TreeFitting

        model, learned = TreeFitting(self, treebank, dev).run()
        model.training.update(self._kept)
        return model, learned

    # -- the model ------------------------------------------------------------------------------

    _model_kind = ConstituencyModel
    _title = "Constituency parser"
    _tells_shares = False  # trees are compared as a whole

    # -- parsing --------------------------------------------------------------------------------

    def _inputs(self, X: Any, *, gold_tags: bool | None = None) -> NativeInputs:
        """Return words with the tags that parsing reads, of sentences or of trees."""
        model: ConstituencyModel = self._fitted()
        return model.inputs(self._tag(read_sentences(X, traces=self.traces), gold_tags))

    def _named(self, inputs: Any, i: int, output: Any) -> Tree:
        tree: Tree = self._fitted().tree(inputs, i, output)
        return tree

    def _named_parts(self, inputs: Any, i: int, parts: Any) -> dict[tuple[int, int, str], float]:
        names = self._fitted().names
        shown = ((begin, end, names[k], p) for begin, end, k, p in parts if p > 0)
        ranked = sorted(shown, key=lambda part: (part[0], -part[1], part[2]))
        return {(begin, end, name): p for begin, end, name, p in ranked}

    def _no_output(self) -> Tree:
        return Tree("")

    def _no_parts(self) -> dict[Any, float]:
        return {}

    def _is_empty(self, output: Tree) -> bool:
        return not output.words

    def _scores_of(self, inputs: Any, outputs: list[Tree], temperature: float) -> list[float]:
        rows = [self._fitted().output(tree) for tree in outputs]
        scores: list[float] = inputs.score(rows, self.n_threads)
        return scores

    _part_names = ("start", "end", "label")

    def _places_of(self, inputs: Any, i: int, part: Any) -> list[tuple[int, int, int]]:
        model = self._fitted()
        begin, end, label = part
        if label not in model.names or not 0 <= begin < end <= len(inputs.source[i][0]):
            raise ValueError(f"the model has no span {part!r}")
        return [(begin, end, model.names.index(label))]

    _parts = "constituents"

    def _pool(self, X: Any, format: str | None = None) -> Pool:
        from ..doubts import Pool

        sentences = read_sentences(X, traces=self.traces, format=format)

        def inputs(numbers: Sequence[int]) -> NativeInputs:
            found: NativeInputs = self._fitted().inputs(
                self._tag([sentences[n] for n in numbers], None)
            )
            return found

        return Pool(len(sentences), inputs, lambda _: 0)

    def _seen(self, inputs: Any, i: int, output: Any, sure: list[float]) -> Seen:
        from ..doubts import Seen

        words, spans = list(inputs.source[i][0]), self._parts_of(inputs, i, output)

        def said(k: int) -> str:
            begin, end, name = spans[k]
            return f"{' '.join(words[begin:end])!r} is {name}"

        return Seen(words, [f"{a}-{b}:{name}" for a, b, name in spans], sure, said)

    def _parts_of(self, inputs: Any, i: int, output: Any) -> list[tuple[int, int, str]]:
        chains = self._fitted().chains
        return [
            (begin, end, name)
            for begin, end, k in spans_of(output)
            for name in dict.fromkeys(chains[k])
            if name
        ]

    def _gold_parts(self, tree: Tree) -> list[tuple[int, int, str]]:
        return [span for span in tree.spans() if span[2]]

    def _tag(
        self, sentences: list[Sentence], gold_tags: bool | None
    ) -> list[tuple[list[str], list[str]]]:
        """Return words with the tags that parsing reads, lengths checked."""
        model: ConstituencyModel = self._fitted()
        for sentence in sentences:
            model.check_length(sentence)
        if not self._reads_tags(gold_tags):
            bare = [sentence.words for sentence in sentences]
            return list(zip(bare, model.tag(bare, self.n_threads), strict=True))
        for sentence in sentences:
            if len(sentence.tags) != len(sentence.words):
                raise sentence.place.error(
                    "has no tags, and tags are to be read: give trees or pairs (word, tag), or "
                    "take a parser that was trained without gold_tags (--gold-tags)"
                )
        return [(sentence.words, sentence.tags) for sentence in sentences]

    def _sentence(self, X: Any, number: int, gold: bool) -> tuple[Any, Any]:
        if gold:
            trees = self._treebank(X, None, None)
            wanted = _pick(trees, number)
            return wanted, wanted
        one = _pick(read_sentences(X, traces=self.traces), number)
        return (list(zip(one.words, one.tags, strict=True)) if one.tags else one.words), None

    def _label(
        self,
        source: str | os.PathLike[str],
        output: IO[bytes],
        format: str | None,
        gold_tags: bool | None,
        confidence: bool,
        progress: Callable[[int], None] | None,
    ) -> int:
        sentences = read_sentences(source, traces=self.traces, format=format)
        model: ConstituencyModel = self._fitted()
        check_labels(source, "a bracketed tree", model.written_labels, bracket_fault, TREES_INSTEAD)
        n_words = 0
        if progress is not None and hasattr(progress, "share"):
            progress.share(0.0)
        for at in range(0, len(sentences), _CHUNK):
            inputs = model.inputs(self._tag(sentences[at : at + _CHUNK], gold_tags))
            outputs = inputs.solve(self.n_threads).outputs
            sure = self._confidences(inputs, outputs) if confidence else []
            for i, y in enumerate(outputs):
                line = _bracketed(model.tree(inputs, i, y), model.root)
                if confidence:
                    line = _with_confidence(line, self._parts_of(inputs, i, y), sure[i])
                output.write(f"{line}\n".encode())
            n_words += sum(len(words) for words, _ in inputs.source)
            if progress is not None:
                progress(n_words)
                if hasattr(progress, "share"):
                    progress.share(min(1.0, (at + _CHUNK) / len(sentences)))
        return n_words

    # -- what was learned -----------------------------------------------------------------------

    def _heaviest(self, n: int) -> dict[str, list[tuple[str, float]]]:
        """Return what stands under each label: children, or the rules of a counted grammar."""
        from .inspection import heaviest_below

        return heaviest_below(self._fitted(), n)

    def _pairs(self) -> list[tuple[str, str, float]]:
        """Return (label, what stands under it, weight), or the probabilities of rules."""
        from .inspection import pairs

        return pairs(self._fitted())

    def _rivals(self, inputs: Any, outputs: list[Any]) -> list[list[tuple[None, float, Any]]]:
        """Return the second best trees: trees are compared as a whole."""
        return [
            [(None, ranked[0][0] - score, rival) for score, rival in ranked[1:]]
            for ranked in inputs.kbest(2, self.n_threads)
        ]

    def _comparison(self, inputs: Any) -> Any:
        from .decisions import comparison

        return comparison(self._fitted(), inputs)

    def _own_facts(self) -> list[tuple[str, str]]:
        from .inspection import tree_facts

        return tree_facts(self._fitted())

    def _report(self) -> Report:
        report = super()._report()
        report.heading = "What is under what, label by label"
        if self._fitted().grammar is not None:
            report.heading = "Most probable rules, category by category"
        report.legend, report.parts = _LEGEND, "brackets and tags"
        return report

    def _names_of_features(self) -> list[str]:
        model: ConstituencyModel = self._fitted()
        return ["+".join(chain) for chain in model.chains if chain]

    def _to_show(self, X: Any, most: int) -> tuple[NativeInputs, list[Any], list[str], int]:
        sentences = read_sentences(X, traces=self.traces)
        part = sentences[:most]
        gold: list[Any] = [None] * len(part)
        if has_trees(X):
            gold = self._treebank(X, None, None)[: len(part)]
        inputs = self._fitted().inputs(self._tag(part, None))
        return inputs, gold, [""] * len(part), len(sentences)

    def _said(
        self, inputs: Any, i: int, decision: dict[str, Any], gold: Any
    ) -> tuple[str, str, str | None, str]:
        return "the whole tree", "", None, str(decision["runner_up"])

    def _drawn(self, inputs: Any, i: int, output: Any, gold: Any, page: bool) -> dict[str, Any]:
        lines, counts = [str(output)], None
        if gold not in (None, output):
            lines.append(f"WRONG, gold {gold}")
        if gold is not None:
            mine, right = (Counter([*t.spans(), *enumerate(t.tags)]) for t in (output, gold))
            counts = ((mine - right) + (right - mine)).total(), (mine | right).total()
        picture = output.draw(None if gold == output else gold) if page else None
        return {"lines": lines, "counts": counts, "picture": picture}

    # -- judging --------------------------------------------------------------------------------

    def evaluate(
        self, X: Any, y: Any = None, *, format: str | None = None, gold_tags: bool | None = None
    ) -> dict[str, Any]:
        """Compare predicted with gold trees, brackets counted as evalb does.

        Returns
        -------
        dict
            f1, precision, recall and exact_match of labelled brackets
            (:mod:`structlearn.metrics.brackets`), the same of sentences of up to 40 words (f1_40,
            ...; None where there are no such sentences), by_label, tag_accuracy, sentences, tokens,
            sentences_per_second, tokens_per_second (tagging included).
        """
        return self._evaluate(X, y, format, gold_tags)[0]

    def _evaluate(
        self, X: Any, y: Any, format: str | None, gold_tags: bool | None
    ) -> tuple[dict[str, Any], Any]:
        from .scores import evaluate_trees

        model: ConstituencyModel = self._fitted()
        placed = placed_trees(X if y is None else with_trees(X, y), format, **self._kept)
        for tree, place in placed:
            model.check_length(Sentence(tree.words, [], place))
        gold = [tree for tree, _ in placed]
        return evaluate_trees(model, gold, self._reads_tags(gold_tags), self.n_threads)

    def report(
        self, X: Any, y: Any = None, *, format: str | None = None, gold_tags: bool | None = None
    ) -> str:
        """Return the scores, and a table by label, as text."""
        from ...metrics.scores import score_rows

        found, by_label = self._evaluate(X, y, format, gold_tags)
        shorter = "no sentence has up to 40 words"
        if found["f1_40"] is not None:
            shorter = f"up to 40 words F1 {100 * found['f1_40']:.2f}"
        head = (
            f"labelled F1 {100 * found['f1']:.2f}, precision {100 * found['precision']:.2f}, "
            f"recall {100 * found['recall']:.2f}, exact match {100 * found['exact_match']:.2f}; "
            f"{shorter}; tags {100 * found['tag_accuracy']:.2f}; "
            f"{found['sentences_per_second']:.0f} sentences per second"
        )
        return joined_lines([head, "", *score_rows("label", "gold", by_label)])


def _bracketed(tree: Tree, root: str) -> str:
    """Return a tree on a line, in brackets with a node around all of it."""
    if not tree.label:  # nothing covers the sentence
        tree = Tree(root, tree.children)
    return str(tree) if tree.label == root else f"({root} {tree})"


def _with_confidence(tree: str, spans: list[tuple[int, int, str]], confidence: list[float]) -> str:
    """Return a tree as JSON, with the confidence in each of its labelled spans."""
    names = ("start", "end", "label", "confidence")
    parts = zip(spans, confidence, strict=True)
    rows = [dict(zip(names, (*span, as_json(p)), strict=True)) for span, p in parts]
    return json.dumps({"tree": tree, "spans": rows}, ensure_ascii=False)


def _pick(sentences: list[Any], number: int) -> Any:
    """Return one of the sentences; an error where the number is out of range."""
    if not sentences:
        raise ValueError("there are no sentences")
    if not -len(sentences) <= number < len(sentences):
        raise IndexError(f"sentence {number} does not exist: there are {len(sentences)} sentences")
    return sentences[number]
