"""A trained parser of constituents as data: what it is made of, how it is stored and asked."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence

from ... import _core
from ...io.container import Tensor, check_dtype, checked_arrays
from ...meter import portions
from ...models.storage import StoredModel, put_inside, stored_temperature, taken_out
from ...text.trees import Tree, tree_from_spans
from ..tagging.tagger import Tagger

TYPE_CHECKING = False  # importing typing costs more than parsing a sentence
if TYPE_CHECKING:
    from typing import Any

    from ...text.bracket_treebank import Sentence
    from .pcfg import TreebankGrammar
    from .sums import SpanSums

__all__ = ["NAMELESS", "ConstituencyModel", "nameless_label"]

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


class ConstituencyModel(StoredModel):
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
        self.core: Any = None
        if grammar is None:
            if not labels or labels[0] != () or len(set(labels)) != len(labels):
                raise ValueError("the labels are not the empty one and others, each once")
            if any(not chain for chain in labels[1:]):
                raise ValueError("a label without a name")
            self.core = self._parser(arrays["weights"])

    def _parser(self, weights: Any) -> Any:
        rest = (self.arrays["known"], self.arrays["keys"])
        nameless = nameless_label(self.labels)
        return _core.TreeParser(len(self.labels), self.tags, *rest, weights, nameless)

    @property
    def table(self) -> array[float]:
        """Weights of (place of a child, its symbol, label above it), then of the root's symbol.

        Symbols are the labels, the tags and any other tag; places first, in the middle, last.
        """
        symbols = len(self.labels) + len(self.tags) + 1
        size = 4 * symbols * (3 * len(self.labels) + 1)
        return array("f", bytes(memoryview(self.arrays["weights"]).cast("B")[-size:]))

    @property
    def temperature(self) -> float | None:
        """Of calibrated probabilities; None: not calibrated. Those of counted rules are."""
        return 1.0 if self.grammar is not None else stored_temperature(self.training)

    @property
    def has_temperature(self) -> bool:
        """Whether a temperature changes its probabilities."""
        return self.grammar is None

    def tempered(self, temperature: float) -> Any:
        """Return the native parser with scores divided by a temperature."""
        if temperature == 1.0:
            return self.core
        known, core = getattr(self, "_tempered", (None, None))
        if known != temperature:
            import numpy as np

            weights = np.frombuffer(memoryview(self.arrays["weights"]).cast("B"), np.float32)
            core = self._parser((weights / temperature).astype(np.float32).tobytes())
            self._tempered = (temperature, core)
        return core

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
        chains = self.labels if self.grammar is None else [tuple(self.grammar.categories)]
        categories = {label for chain in chains for label in chain} - {""}
        tags = [] if self.tagger is None else self.tagger.classes_
        return [*sorted(categories), *tags]

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

    def parse(self, tagged: Sequence[tuple[list[str], list[str]]], threads: int = 1) -> list[Tree]:
        """Return the best trees of words with their tags, which are not too long."""
        trees: list[Tree] = []
        for some in portions(len(tagged), _PORTION * threads, "sentences"):
            part = list(tagged[some.start : some.stop])
            if self.grammar is not None:
                trees += [self.grammar.parse(words, tags) for words, tags in part]
                continue
            found = self.core.parse(part, threads)
            trees += [self.tree(*given, spans) for given, spans in zip(part, found, strict=True)]
        return trees

    def tree(self, words: list[str], tags: list[str], spans: Any) -> Tree:
        """Return the tree of spans with the numbers of their labels."""
        return tree_from_spans(words, tags, [(i, j, self.labels[x]) for i, j, x in spans])

    def sums(self, tagged: Sequence[tuple[list[str], list[str]]]) -> Iterator[SpanSums]:
        """Return sums over the trees of each sentence."""
        from .sums import SpanSums

        return (SpanSums(self, words, tags) for words, tags in tagged)

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
        stored_temperature(d["training"])
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
