"""A trained model of words as data: what it is made of, and how it is stored."""

from __future__ import annotations

import math
from array import array
from functools import cached_property
from typing import TYPE_CHECKING

from ... import _core
from ...io.container import Tensor, checked_arrays
from ...models.storage import StoredModel, put_inside, taken_out
from ...models.temperature import Tempered
from ..tagging.model import TaggerModel

if TYPE_CHECKING:
    from typing import Any

#: Weights of a row, by the number of the table.
WIDTHS = (6, 5, 4, 1)
#: Of a score, in the units of whole numbers: sums of hundreds of weights stay far from the end.
_MOST = 1 << 24


class WordModel(Tempered, StoredModel):
    """All that cutting texts needs.

    Attributes
    ----------
    arrays : dict of str to buffer
        Keys and weights by width; words of the dictionary, and the set of tags of each.
    pairs : list of int
        The scores of neighbouring labels: a word begins, or goes on, after one that begins, or
        goes on.
    unit : float
        What a score of 1 is worth.
    whole : int
        1: runs of Latin letters stay whole, 2: runs of digits, 3: both.
    blanks : bool
        Words may have blanks in them.
    training : dict
        How it came about.
    tagger : TaggerModel or None
        What gives words their tags.
    """

    task = "words"
    called = "a model of words"
    precision = "int16"

    def __init__(
        self,
        arrays: dict[str, Any],
        pairs: list[int],
        unit: float,
        whole: int,
        blanks: bool,
        training: dict[str, Any],
        tagger: TaggerModel | None = None,
    ) -> None:
        self.arrays, self.pairs, self.unit = arrays, pairs, unit
        self.whole, self.blanks, self.training, self.tagger = whole, blanks, training, tagger
        if len(pairs) != 4 or not all(abs(x) <= _MOST for x in pairs) or not 0 <= whole <= 3:
            raise ValueError("scores of pairs of labels that make no sense")
        _ = self.loss_temperature, self.calibration  # refuse a record that makes no sense
        self.core = _core.WordModel(
            [arrays[f"keys{n}"] for n in range(len(WIDTHS))],
            [arrays[f"weights{n}"] for n in range(len(WIDTHS))],
            pairs,
            arrays["words"],
            arrays["tags"],
            unit,
            whole,
            blanks,
        )

    @cached_property
    def n_weights(self) -> int:
        """How many weights there are."""
        return sum(len(bytes(self.arrays[f"weights{n}"])) // 2 for n in range(len(WIDTHS)))

    @property
    def n_words(self) -> int:
        """How many words the dictionary has."""
        tags = array("H", bytes(self.arrays["tags"]))
        return len(tags) - tags.count(0)

    @property
    def has_tags(self) -> bool:
        """Whether it knows tags of words."""
        return self.tagger is not None

    def cutter(self, words: Any = None) -> Any:
        """Return what cuts texts, with words of a user's."""
        return _core.WordCutter(self.core, words)

    def user_words(self, words: dict[str, float]) -> Any:
        """Return words of a user's for the core."""
        weights = [w if w == math.inf else w / self.unit for w in words.values()]
        return _core.UserWords(list(words), weights)

    def _content(self, precision: str = "int16") -> tuple[dict[str, Any], dict[str, Tensor]]:
        if precision not in ("int16", "float32"):
            raise ValueError("models of words have weights of 16 bits: save them without precision")
        tensors = {f"keys{n}": Tensor("U64", self.arrays[f"keys{n}"]) for n in range(len(WIDTHS))}
        for n in range(len(WIDTHS)):
            tensors[f"weights{n}"] = Tensor("I16", self.arrays[f"weights{n}"])
        tensors["words"] = Tensor("U8", self.arrays["words"])
        tensors["tags"] = Tensor("U16", self.arrays["tags"])
        description: dict[str, Any] = {
            "task": self.task,
            "pairs": self.pairs,
            "unit": self.unit,
            "whole": self.whole,
            "blanks": self.blanks,
            "training": self.training,
        }
        if self.tagger is not None:
            inner = self.tagger._content("int8")
            description["tagger"] = put_inside(tensors, "tagger", inner)
        return description, tensors

    @classmethod
    def _build(
        cls, name: str, d: dict[str, Any], tensors: dict[str, Tensor], given: dict[str, Any]
    ) -> WordModel:
        tagger = None
        if "tagger" in d:
            tagger = taken_out(tensors, "tagger", name, d["tagger"], TaggerModel)
        kinds = {f"keys{n}": "U64" for n in range(len(WIDTHS))}
        kinds |= {f"weights{n}": "I16" for n in range(len(WIDTHS))}
        arrays = checked_arrays(tensors, {**kinds, "words": "U8", "tags": "U16"})
        pairs = d["pairs"]
        if not isinstance(pairs, list) or not all(type(x) is int for x in pairs):
            raise ValueError("scores of pairs of labels that are no whole numbers")
        model = cls(
            arrays,
            pairs,
            float(d["unit"]),
            int(d["whole"]),
            bool(d["blanks"]),
            dict(d["training"]),
            tagger,
        )
        return model
