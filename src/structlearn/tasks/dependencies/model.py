"""A trained dependency parser as data: what it is made of, how it is stored and asked."""

from __future__ import annotations

from array import array

from ... import _core
from ...exceptions import LineError
from ...io.container import Tensor, check_dtype
from ...text.corpus import Corpus
from ..stored_model import StoredModel
from ..tagging.model import TaggerModel

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

__all__ = ["ParserModel"]

#: Array of the model -> what its items are.
_DTYPES = {"weights": "F32", "pruner": "F32", "set_keys": "U64", "set_masks": "U64"}


class ParserModel(StoredModel):
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
        At most so many of dual decomposition a sentence (order 2, not projective).
    most, least : int, float
        What the pruner leaves: so many heads a word, of at least this probability relative to the
        most probable one's.
    lemmas : bool
        Whether lemmas are read.
    arrays : dict of str to buffer
        The weights of the parser and of its pruner, and the sets of relations.
    taggers : list of TaggerModel
        Of UPOS, XPOS and FEATS; empty where the parser learned on gold tags.
    training : dict
        How it came about.
    """

    task = "parser"
    called = "a parser"

    def __init__(
        self,
        labels: list[str],
        order: int,
        projective: bool,
        iterations: int,
        most: int,
        least: float,
        lemmas: bool,
        arrays: dict[str, Any],
        taggers: list[TaggerModel] | None = None,
        training: dict[str, Any] | None = None,
    ) -> None:
        self.labels = labels
        self.order = order
        self.projective = projective
        self.iterations = iterations
        self.most = most
        self.least = least
        self.lemmas = lemmas
        self.arrays = arrays
        self.taggers = taggers or []
        self.training = training or {}
        self.core = _core.ParserModel(
            labels,
            order,
            projective,
            iterations,
            most,
            least,
            arrays["set_keys"],
            arrays["set_masks"],
            arrays["weights"],
            arrays["pruner"],
        )

    # -- files ----------------------------------------------------------------------------------

    def _content(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return what a model file holds."""
        tensors = {name: Tensor(_DTYPES[name], data) for name, data in self.arrays.items()}
        described = []
        for number, tagger in enumerate(self.taggers):
            description, parts = tagger._content("float32")
            described.append(description)
            tensors.update({f"tagger{number}.{name}": part for name, part in parts.items()})
        description = {
            "task": self.task,
            "labels": self.labels,
            "order": self.order,
            "projective": self.projective,
            "iterations": self.iterations,
            "most": self.most,
            "least": self.least,
            "lemmas": self.lemmas,
            "taggers": described,
            "training": self.training,
        }
        return description, tensors

    @classmethod
    def _build(
        cls, name: str, d: dict[str, Any], tensors: dict[str, Tensor], functions: Any
    ) -> ParserModel:
        taggers = []
        for number, described in enumerate(d["taggers"]):
            prefix = f"tagger{number}."
            parts = {k.removeprefix(prefix): t for k, t in tensors.items() if k.startswith(prefix)}
            taggers.append(TaggerModel.from_container(name, dict(described), parts))
        if len(taggers) not in (0, 3):
            raise ValueError(f"{len(taggers)} taggers")
        arrays = {}
        for key, dtype in _DTYPES.items():
            check_dtype(key, tensors[key], dtype)
            arrays[key] = tensors[key].data
        return cls(
            labels=list(map(str, d["labels"])),
            order=int(d["order"]),
            projective=bool(d["projective"]),
            iterations=int(d["iterations"]),
            most=int(d["most"]),
            least=float(d["least"]),
            lemmas=bool(d["lemmas"]),
            arrays=arrays,
            taggers=taggers,
            training=dict(d["training"]),
        )

    # -- parsing --------------------------------------------------------------------------------

    def parse_corpus(
        self, corpus: Corpus, tags: list[Any], threads: int = 1
    ) -> tuple[list[list[tuple[int, str]]], int]:
        """Return the (head, relation) of each word, and how many trees are proven the best."""
        if not len(corpus):
            return [], 0
        try:
            raw_heads, raw_labels, exact = self.core.predict(
                corpus._core, tags, self.lemmas, threads
            )
        except LineError as error:
            raise error.in_file(corpus.path or "the corpus") from None
        heads, numbers = array("i", raw_heads), array("I", raw_labels)
        labels = self.labels
        flat = [(h, labels[k]) for h, k in zip(heads, numbers, strict=True)]
        trees, at = [], 0
        for s in range(len(corpus)):
            n = corpus._core.length(s)
            trees.append(flat[at : at + n])
            at += n
        return trees, exact

    def labeller(self, format: str, gold_tags: bool) -> _core.ParseLabeller:
        """Return what parses text natively."""
        taggers = [] if gold_tags else [t.core for t in self.taggers]
        return _core.ParseLabeller(self.core, taggers, format, self.lemmas)
