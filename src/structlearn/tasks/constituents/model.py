"""A trained parser of constituents as data: what it is made of, how it is stored and asked."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence

from ... import _core
from ...io.container import Tensor, check_dtype, checked_arrays
from ...meter import portions
from ...models.inputs import NativeInputs
from ...models.storage import StoredModel, put_inside, taken_out
from ...models.temperature import Tempered
from ...text.trees import Tree, tree_from_spans
from ..tagging.tagger import Tagger

TYPE_CHECKING = False  # importing typing costs more than parsing a sentence
if TYPE_CHECKING:
    from typing import Any

    from ...text.bracket_treebank import Sentence
    from .pcfg import TreebankGrammar

#: Words of a sentence, and bytes of a grammar's chart.
_MOST_WORDS = 1000
_MOST_BYTES = 2 << 30
#: Sentences that a thread parses before it is shown how many are done.
_PORTION = 32
#: Array of the model -> what its items are.
_DTYPES = {"known": "U64", "keys": "U64", "weights": "F32"}


#: The label of a node without a name, which covers a sentence that nothing else does.
NAMELESS = ("",)


def nameless_label(labels: Sequence[tuple[str, ...]]) -> int:
    """Return the number of the label of nodes without a name; 0: there is none.

    Single words do not have it: without any label they are the same tree.
    """
    return labels.index(NAMELESS) if NAMELESS in labels else 0


def spans_of(output: Any) -> Iterator[tuple[int, int, int]]:
    """Return (begin, end, number of the label) of the spans of an output, outer before inner."""
    return zip(output[::3], output[1::3], output[2::3], strict=True)


class ConstituencyModel(Tempered, StoredModel):
    """All that parsing needs.

    Attributes
    ----------
    labels : list of tuple of str
        Joined labels of unary chains, from the top down; the first is the empty one: no label.
    tags : list of str
        The tags of the training text.
    arrays : dict of str to buffer
        Keys of the known words, keys of the features, the weights: a row of labels for each
        feature, then :attr:`table`. Empty where a grammar was counted instead.
    tagger : Tagger or None
        Predicts the tags; None: they come with the input.
    root : str
        Name of the node that is written around a tree.
    training : dict
        How it was trained.
    grammar : TreebankGrammar or None
        The counted rules of the generative baseline.
    names : list of str
        The different labels of nodes.
    chains : list of tuple of str
        The names of nodes that the core's numbers stand for: of :attr:`labels`, or each category of
        the grammar.
    """

    task = "constituency"
    called = "a parser of constituents"

    def __init__(
        self,
        labels: list[tuple[str, ...]],
        tags: list[str],
        arrays: dict[str, Any],
        tagger: Tagger | None,
        root: str = "",
        training: dict[str, Any] | None = None,
        grammar: TreebankGrammar | None = None,
    ) -> None:
        self.labels = labels
        self.tags = tags
        self.arrays = arrays
        self.tagger = tagger
        self.root = root
        self.training = training or {}
        self.grammar = grammar
        _ = self.temperature  # refuses a record that makes no sense
        self.core: Any
        self.chains: list[tuple[str, ...]]
        if grammar is not None:
            self.core, self.names = grammar.core, grammar.names
            self.chains = [(name,) for name in self.names]
        else:
            if not labels or labels[0] != () or len(set(labels)) != len(labels):
                raise ValueError("the labels are not the empty one and others, each once")
            if any(not chain for chain in labels[1:]):
                raise ValueError("a label without a name")
            self.chains, self.names = labels, sorted({k for chain in labels for k in chain} - {""})
            number = {name: k for k, name in enumerate(self.names)}
            named = [[number[k] for k in dict.fromkeys(chain) if k] for chain in labels]
            weights = (arrays["known"], arrays["keys"], arrays["weights"])
            self.core = _core.TreeParser(named, tags, *weights, nameless_label(labels))

    @property
    def table(self) -> array[float]:
        """Weights of (place of a child, its symbol, label above it), then of the root's symbol.

        Symbols are the labels, the tags and any other tag; places first, in the middle, last.
        """
        symbols = len(self.labels) + len(self.tags) + 1
        size = 4 * symbols * (3 * len(self.labels) + 1)
        return array("f", bytes(memoryview(self.arrays["weights"]).cast("B")[-size:]))

    # -- parsing --------------------------------------------------------------------------------

    @property
    def longest(self) -> int:
        """Words of the longest sentence whose chart is held to fit the memory."""
        if self.grammar is None:
            return _MOST_WORDS
        return min(_MOST_WORDS, int((_MOST_BYTES / 16 / len(self.grammar.symbols)) ** 0.5))

    def check_length(self, sentence: Sentence) -> None:
        """Refuse a sentence whose chart would take gigabytes."""
        if len(sentence.words) > self.longest:
            raise sentence.place.error(
                f"has {len(sentence.words)} words; at most {self.longest} can be parsed: split it"
            )

    @property
    def written_labels(self) -> list[str]:
        """The categories of trees, and the tags that are predicted."""
        return [*self.names, *([] if self.tagger is None else self.tagger.classes_)]

    @property
    def has_taggers(self) -> bool:
        """Whether it predicts tags."""
        return self.tagger is not None

    def tag(self, sentences: Sequence[list[str]], threads: int) -> list[list[str]]:
        """Return the predicted tags of the words."""
        if not sentences:
            return []
        assert self.tagger is not None
        self.tagger.n_jobs = threads
        found: list[list[str]] = self.tagger.predict([[(w,) for w in s] for s in sentences])
        return found

    def inputs(self, tagged: Sequence[tuple[list[str], list[str]]]) -> NativeInputs:
        """Return words with their tags, to be asked about. Outputs are rows of spans."""
        return NativeInputs(self.core.inputs(tagged), tagged)

    def parse(
        self, tagged: Sequence[tuple[list[str], list[str]]], threads: int = 1
    ) -> list[tuple[float, Tree]]:
        """Return the best trees of words with their tags, which are not too long, with scores."""
        best: list[tuple[float, Tree]] = []
        for some in portions(len(tagged), _PORTION * threads, "sentences"):
            inputs = self.inputs(tagged[some.start : some.stop])
            solved = inputs.solve(threads)
            trees = (self.tree(inputs, i, y) for i, y in enumerate(solved.outputs))
            best += zip(solved.values, trees, strict=True)
        return best

    def tree(self, inputs: NativeInputs, i: int, output: Any) -> Tree:
        """Return the tree of an output."""
        spans = [(begin, end, self.chains[k]) for begin, end, k in spans_of(output)]
        words, tags = inputs.source[i]
        return tree_from_spans(words, tags, spans)

    def output(self, tree: Tree) -> list[int]:
        """Return the output that is this tree; one that no sentence has if it is none of ours."""
        nodes: list[tuple[int, int, tuple[str, ...]]] = tree.collapsed()
        if self.grammar is not None:
            nodes = [(i, j, (name,)) for i, j, chain in nodes for name in chain if name]
        number = {chain: k for k, chain in enumerate(self.chains)}
        row = []
        for begin, end, chain in nodes:
            if end - begin > 1 or chain != NAMELESS:
                row += [begin, end, number.get(chain, len(number))]
        return row

    # -- files ----------------------------------------------------------------------------------

    def _content(self, precision: str = "float32") -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return what a model file holds."""
        tensors = {name: Tensor(_DTYPES[name], data) for name, data in self.arrays.items()}
        description: dict[str, Any] = {
            "task": self.task,
            "labels": [list(chain) for chain in self.labels],
            "tags": self.tags,
            "root": self.root,
            "training": self.training,
        }
        if self.tagger is not None:
            content = self.tagger.model_._content(precision)
            description["tagger"] = put_inside(tensors, "tagger", content)
        if self.grammar is not None:
            description["grammar"] = self.grammar.to_json()
            tensors["rules"] = Tensor("F64", self.grammar.scores.tobytes())
        return description, tensors

    @classmethod
    def _build(
        cls, name: str, d: dict[str, Any], tensors: dict[str, Tensor], given: dict[str, Any]
    ) -> ConstituencyModel:
        tagger = grammar = None
        if "tagger" in d:
            tagger = taken_out(tensors, "tagger", name, d["tagger"], Tagger)
        arrays: dict[str, Any] = {}
        if "grammar" in d:
            from .pcfg import TreebankGrammar

            check_dtype("rules", tensors["rules"], "F64")
            scores = array("d", bytes(tensors["rules"].data))
            grammar = TreebankGrammar(**d["grammar"], scores=scores)
        else:
            arrays = checked_arrays(tensors, _DTYPES)
        return cls(
            labels=[tuple(map(str, chain)) for chain in d["labels"]],
            tags=list(map(str, d["tags"])),
            arrays=arrays,
            tagger=tagger,
            root=str(d["root"]),
            training=dict(d["training"]),
            grammar=grammar,
        )
