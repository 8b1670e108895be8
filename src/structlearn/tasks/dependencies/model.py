"""A trained dependency parser as data: what it is made of, how it is stored and asked."""

from __future__ import annotations

from ... import _core
from ...io.container import Tensor, checked_arrays
from ...io.packed_weights import check_precision, pack_table, stored_table
from ...meter import portions
from ...models.inputs import NativeInputs
from ...models.storage import StoredModel, put_inside, taken_out
from ...models.temperature import Tempered, temperature_of
from ...text.corpus import Corpus
from ..tagging.model import TaggerModel

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

    from .tags import Tags

#: Tables of weights of the model,
_TABLES = ("weights", "pruner")
#: and its other arrays, with what their items are.
_DTYPES = {"set_keys": "U64", "set_masks": "U64"}
#: Sentences that a thread parses before it is shown how many are done.
_PORTION = 32
#: What is stored beside arrays and names.
_OPTIONS = {
    "order": int, "projective": bool, "iterations": int, "most": int, "least": float,
    "lemmas": bool,
}  # fmt: skip


class ParserModel(Tempered, StoredModel):
    """All that parsing needs.

    Attributes
    ----------
    labels : list of str
        The relations, the most frequent in training first.
    order : int
        1: arcs; 2: siblings and grandparents too.
    projective : bool
        Only trees without crossing arcs.
    iterations : int
        The most rounds of dual decomposition for a sentence (order 2, not projective).
    most, least : int, float
        What the pruner leaves of the heads of a word: at most this many, of at least this
        probability relative to the most probable one's.
    lemmas : bool
        Whether lemmas are read.
    taggers : list of TaggerModel
        Of UPOS, XPOS and FEATS; empty where the parser learned on gold tags.
    training : dict
        How it was trained, and what a dev set says of its probabilities.

    Parameters
    ----------
    arrays : dict of str to buffer
        The weights of the parser and of its pruner, float32 or as files hold them, and the sets
        of relations.
    lent : bool
        The weights, float32, are read where they are and not copied: nobody changes them as long
        as the model is in use.
    """

    task = "parser"
    called = "a parser"
    precision = "float16"

    order: int
    projective: bool
    iterations: int
    most: int
    least: float
    lemmas: bool

    def __init__(
        self,
        labels: list[str],
        arrays: dict[str, Any],
        taggers: list[TaggerModel] | None = None,
        training: dict[str, Any] | None = None,
        *,
        lent: bool = False,
        **options: Any,
    ) -> None:
        self.labels = labels
        self._sets = {name: arrays[name] for name in _DTYPES}
        self.taggers = taggers or []
        self.training = training or {}
        _ = self.temperature  # refuses a record that makes no sense
        for name, kind in _OPTIONS.items():
            setattr(self, name, kind(options[name]))
        self.core = _core.ParserModel(
            labels,
            self.order,
            self.projective,
            self.iterations,
            self.most,
            self.least,
            arrays["set_keys"],
            arrays["set_masks"],
            arrays["weights"],
            arrays["pruner"],
            lent,
        )

    @property
    def arrays(self) -> dict[str, Any]:
        """A copy of the weights of the parser and of its pruner, and the sets of relations."""
        return {"weights": self.core.weights(), "pruner": self.core.pruner(), **self._sets}

    # -- files ----------------------------------------------------------------------------------

    def _content(self, precision: str = "float32") -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return what a model file holds; the taggers have the precision of the parser."""
        check_precision(precision)
        arrays = self.arrays
        tensors = {name: Tensor(dtype, arrays[name]) for name, dtype in _DTYPES.items()}
        for name in _TABLES:
            tensors.update(pack_table(name, arrays[name], precision))
        description = {
            "task": self.task,
            "labels": self.labels,
            "precision": precision,
            **{name: getattr(self, name) for name in _OPTIONS},
            "taggers": [
                put_inside(tensors, f"tagger{number}", tagger._content(precision))
                for number, tagger in enumerate(self.taggers)
            ],
            "training": self.training,
        }
        return description, tensors

    @classmethod
    def _build(
        cls, name: str, d: dict[str, Any], tensors: dict[str, Tensor], given: dict[str, Any]
    ) -> ParserModel:
        taggers = [
            taken_out(tensors, f"tagger{number}", name, described, TaggerModel)
            for number, described in enumerate(d["taggers"])
        ]
        if len(taggers) not in (0, 3):
            raise ValueError(f"{len(taggers)} taggers")
        arrays = checked_arrays(tensors, _DTYPES)
        check_precision(d["precision"])
        for table in _TABLES:
            arrays[table] = stored_table(table, tensors, d["precision"])
        model = cls(
            labels=list(map(str, d["labels"])),
            arrays=arrays,
            taggers=taggers,
            training=dict(d["training"]),
            **{name: d[name] for name in _OPTIONS},
        )
        model.precision = d["precision"]
        return model

    # -- parsing --------------------------------------------------------------------------------

    @property
    def has_taggers(self) -> bool:
        """Whether it predicts tags."""
        return bool(self.taggers)

    def parse_corpus(
        self, corpus: Corpus, tags: Tags, threads: int = 1
    ) -> tuple[list[list[tuple[int, str]]], int]:
        """Return the (head, relation) of each word, and how many trees are proven the best."""
        if not len(corpus):
            return [], 0
        trees: list[list[tuple[int, str]]] = []
        exact = first = 0
        for some in portions(len(corpus), _PORTION * threads, "sentences"):
            part = corpus if len(some) == len(corpus) else corpus.subset(some)
            last = first + part.n_tokens
            found = [tag and (bytes(tag[0])[4 * first : 4 * last], tag[1]) for tag in tags]
            first = last
            solutions = self.inputs(part, found, str(corpus.path or "")).solve(threads)
            trees += map(self.arcs, solutions.outputs)
            exact += sum(solutions.exact)
        return trees, exact

    def inputs(self, corpus: Corpus, tags: Tags, path: str = "") -> NativeInputs:
        """Return the sentences of a corpus, to be asked about.

        An output is a row of the heads of all words, then their relations; a part is a word, from
        1, its head and their relation. Where pairs of arcs are scored and arcs may cross, all that
        is summed over, drawn or listed are projective trees.

        Parameters
        ----------
        tags : list
            Of UPOS, XPOS and FEATS: the number of each token's tag and their names, or None, as in
            the corpus.
        path : str
            The file, for messages; by default that of the corpus.
        """
        from .tags import TaggedCorpus

        core = self.core.inputs(corpus.core, tags, self.lemmas)
        return NativeInputs(core, TaggedCorpus(corpus, tags), path or str(corpus.path or ""))

    def arcs(self, output: Any) -> list[tuple[int, str]]:
        """Return the (head, relation) of each word of an output."""
        n = len(output) // 2
        return list(zip(output[:n], map(self.labels.__getitem__, output[n:]), strict=True))

    def labeller(self, format: str, reads_tags: bool, confidence: bool) -> _core.ParseLabeller:
        """Return what parses text natively, and writes how sure it is of arcs if asked to."""
        taggers = [] if reads_tags else [t.core for t in self.taggers]
        at = temperature_of(self.temperature)
        curve = self.certainty_curve
        return _core.ParseLabeller(self.core, taggers, format, self.lemmas, confidence, at, curve)
