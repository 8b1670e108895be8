"""A trained pipeline as data: the models of its stages in one file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from ...io.container import Tensor, write_container
from ...io.packed_weights import check_precision
from ...models.storage import StoredModel, put_inside, taken_out
from ..dependencies.model import ParserModel
from ..segments.model import SegmentModel
from ..tagging.model import TaggerModel
from ..words.lattice_model import LatticeModel
from ..words.model import WordModel

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

#: The stages in their order.
STAGES = ("tokeniser", "words", "splitter", "tags", "lemmas", "parser", "entities")
_TAGGERS = ("upos", "xpos", "feats")
#: Name of a model in files -> its class.
_PARTS: dict[str, type[StoredModel]] = {
    "tokeniser": TaggerModel,
    "words": WordModel,
    "splitter": TaggerModel,
    **dict.fromkeys(_TAGGERS, TaggerModel),
    "lemmas": TaggerModel,
    "parser": ParserModel,
}
#: What cuts sentences into words: by the task of its model.
_CUTTERS: dict[str, type[StoredModel]] = {"words": WordModel, "word lattice": LatticeModel}
#: Stages that give tokens labels: by the task of their model.
_LABELLERS: dict[str, type[StoredModel]] = {"tagger": TaggerModel, "segments": SegmentModel}


class PipelineModel(StoredModel):
    """The models of the stages.

    Attributes
    ----------
    parts : dict of str to TaggerModel or ParserModel
        By name: tokeniser, words, splitter, upos, xpos, feats, lemmas, parser; those that exist.
        Under any other name, such as entities, a TaggerModel or SegmentModel that gives tokens
        labels.
    combinations : list of (str, str, str)
        Of the three tags, that words may have; the most frequent first.
    training : dict
        How they were trained.
    lexicon : list of (str, str, str)
        Forms, tags and lemmas that the lemmatiser looks up.
    """

    task = "pipeline"
    called = "a pipeline"
    precision: str | None = "float16"

    def __init__(
        self,
        parts: Mapping[str, Any],
        combinations: list[tuple[str, str, str]],
        training: dict[str, Any] | None = None,
        lexicon: Sequence[tuple[str, str, str]] = (),
    ) -> None:
        self.parts = dict(parts)
        self.lexicon = list(lexicon)
        self.combinations = combinations
        self.training = training or {}
        for name in self.labellers:
            if not name.isidentifier() or name in STAGES[:-1]:
                raise ValueError(f"a pipeline has no stage {name!r}")
        tagged = sum(name in self.parts for name in _TAGGERS)
        if tagged not in (0, len(_TAGGERS)):
            raise ValueError(f"{tagged} taggers; a pipeline has three of them, or none")
        for name in _TAGGERS if tagged else ():
            number = _TAGGERS.index(name)
            missing = {row[number] for row in combinations} - set(self.parts[name].shown)
            if missing:
                raise ValueError(f"the tagger of {name} does not know {sorted(missing)[0]!r}")
        if tagged and not combinations:
            raise ValueError("there are no combinations of tags")

    @property
    def stages(self) -> tuple[str, ...]:
        """The stages that it has, in their order."""
        fixed = (s for s in STAGES[:-1] if (s if s != "tags" else "upos") in self.parts)
        return (*fixed, *self.labellers)

    @property
    def fixed(self) -> tuple[str, ...]:
        """The names of models that are not of a stage that gives labels."""
        return tuple(_PARTS)

    @property
    def labellers(self) -> tuple[str, ...]:
        """The names of the stages that give tokens labels: entities, and those that were added."""
        return tuple(name for name in self.parts if name not in _PARTS)

    def save(self, path: str | os.PathLike[str], precision: str | None = None) -> None:
        """Write the model file.

        Parameters
        ----------
        precision : {"float32", "float16", "int8"}, optional
            Of the weights of all stages; by default that of the pipeline, and of stages that give
            labels their own.
        """
        write_container(path, *self._content(precision))

    def _content(
        self, precision: str | None = "float32"
    ) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return what a file holds; None: each part in the precision that suits it."""
        if precision is not None:
            check_precision(precision)
        tensors: dict[str, Tensor] = {}
        description = {
            "task": self.task,
            "parts": {
                name: put_inside(tensors, name, self._part_content(name, precision))
                for name in self.parts
            },
            "combinations": [list(row) for row in self.combinations],
            "lexicon": [list(row) for row in self.lexicon],
            "training": self.training,
        }
        return description, tensors

    def __reduce__(self) -> Any:
        made, arguments, state = super().__reduce__()
        own = {name: self.parts[name].precision for name in self.labellers}
        return made, arguments, {**state, "labellers": own}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.precision = state["precision"]
        for name, precision in state["labellers"].items():
            self.parts[name].precision = precision

    def _part_content(self, name: str, precision: str | None) -> Any:
        part = self.parts[name]
        if part.precision is None or name == "words":  # its kind has no choice
            return part._content()
        own = part.precision if name in self.labellers else self.precision
        return part._content(precision or own)

    @classmethod
    def _build(
        cls, name: str, d: dict[str, Any], tensors: dict[str, Tensor], given: dict[str, Any]
    ) -> PipelineModel:
        parts = {
            part: taken_out(tensors, part, name, described, _kind(part, described["task"]))
            for part, described in d["parts"].items()
        }
        rows, listed = _triples(d["combinations"]), _triples(d["lexicon"])
        model = cls(parts, rows, dict(d["training"]), listed)
        for part, stage in parts.items():  # the same of all but labellers
            if part != "words" and (part in _PARTS or len(parts) == 1):
                model.precision = stage.precision
        return model


def _kind(part: str, task: str) -> type[StoredModel]:
    """Return the class of a part, by its name and its task."""
    if part == "words":
        return _CUTTERS[task]
    return _PARTS.get(part) or _LABELLERS[task]


def _triples(rows: Any) -> list[tuple[str, str, str]]:
    if any(len(row) != 3 for row in rows):
        raise ValueError("rows of other than three columns")
    return [(str(a), str(b), str(c)) for a, b, c in rows]
