"""A trained lattice of words as data: what it is made of, and how it is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ... import _core
from ...io.container import Tensor, checked_arrays
from ...models.storage import StoredModel, put_inside, taken_out
from ...models.temperature import Tempered
from .model import WordModel

if TYPE_CHECKING:
    from typing import Any

#: The arrays of the rules that make lattices, and of the weights, with their types.
_ARRAYS = {
    "words": "U8",
    "first": "U32",
    "tag": "U8",
    "status": "U8",
    "kind": "U16",
    "own": "U16",
    "characters": "U32",
    "weights": "I16",
}


class LatticeModel(Tempered, StoredModel):
    """All that cutting texts by lattices needs.

    Attributes
    ----------
    places : WordModel
        What speaks for a word beginning at a place.
    arrays : dict of str to buffer
        Words of the dictionary, their entries, the weights of words and of pairs of words.
    unknown : list of list of int
        The tags that unknown words may have, by what they are made of.
    tags : list of str
        By number; the first is none.
    unit : float
        What a weight of 1 is worth.
    training : dict
        How it came about.
    """

    task = "word lattice"
    called = "a model of words with a lattice"
    precision = "int16"

    def __init__(
        self,
        places: WordModel,
        arrays: dict[str, Any],
        unknown: list[list[int]],
        tags: list[str],
        unit: float,
        training: dict[str, Any],
    ) -> None:
        self.places, self.arrays, self.unknown = places, arrays, unknown
        self.tags, self.unit, self.training = tags, unit, training
        if not tags or not all(isinstance(tag, str) for tag in tags):
            raise ValueError("tags that are no names")
        _ = self.loss_temperature, self.calibration  # refuse a record that makes no sense
        self.core = _core.LatticeModel(
            places.core, arrays, unknown, len(tags), places.whole, float(unit)
        )

    @property
    def blanks(self) -> bool:
        """Whether words may have blanks in them."""
        return self.places.blanks

    @property
    def has_tags(self) -> bool:
        """Whether it knows tags of words."""
        return len(self.tags) > 1

    @property
    def n_weights(self) -> int:
        """How many weights there are."""
        return self.places.n_weights + len(bytes(self.arrays["weights"])) // 2

    @property
    def n_words(self) -> int:
        """How many words the dictionary has."""
        return len(bytes(self.arrays["first"])) // 4 - 1

    def cutter(self, words: Any = None) -> Any:
        """Return what cuts texts, with words of a user's."""
        return _core.LatticeCutter(self.core, words)

    def user_words(self, words: dict[str, float]) -> Any:
        """Return words of a user's for the core."""
        return self.places.user_words(words)

    def _content(self, precision: str = "int16") -> tuple[dict[str, Any], dict[str, Tensor]]:
        tensors: dict[str, Tensor] = {}
        places = put_inside(tensors, "places", self.places._content(precision))
        for name, kind in _ARRAYS.items():
            tensors[name] = Tensor(kind, self.arrays[name])
        description = {
            "task": self.task,
            "places": places,
            "unknown": self.unknown,
            "tags": self.tags,
            "unit": self.unit,
            "training": self.training,
        }
        return description, tensors

    @classmethod
    def _build(
        cls, name: str, d: dict[str, Any], tensors: dict[str, Tensor], given: dict[str, Any]
    ) -> LatticeModel:
        places = taken_out(tensors, "places", name, d["places"], WordModel)
        arrays = checked_arrays(tensors, _ARRAYS)
        unknown = [[int(tag) for tag in row] for row in d["unknown"]]
        return cls(places, arrays, unknown, list(d["tags"]), float(d["unit"]), dict(d["training"]))
