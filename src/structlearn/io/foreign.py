"""Taggers of other tools: labels, templates, and weights of features that are strings."""

from __future__ import annotations

from array import array
from collections import namedtuple
from collections.abc import Iterable, Iterator, Sequence

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import NoReturn

    from ..text.templates import Template


class FeatureWeights:
    """Weights of features, those of 0 left out, and features without others too.

    Attributes
    ----------
    features : list of bytes
    row_ptr, outcome, weight : arrays
        Feature f has weights for the outcomes ``outcome[row_ptr[f]:row_ptr[f + 1]]``.
    """

    def __init__(self) -> None:
        self.features: list[bytes] = []
        self.row_ptr = array("I", [0])
        self.outcome = array("I")
        self.weight = array("d")

    def add(self, feature: bytes, weights: Iterable[tuple[int, float]]) -> None:
        """Add the weights of a feature: outcomes, increasing, each with its weight."""
        for outcome, weight in weights:
            if weight:
                self.outcome.append(outcome)
                self.weight.append(weight)
        if len(self.weight) > self.row_ptr[-1]:
            self.features.append(feature)
            self.row_ptr.append(len(self.weight))

    def sorted_by(self, keys: Sequence[int]) -> Iterator[tuple[bytes, range]]:
        """Yield the features with the places of their weights, in the order of some keys."""
        for f in sorted(range(len(keys)), key=keys.__getitem__):
            yield self.features[f], range(self.row_ptr[f], self.row_ptr[f + 1])


class ForeignTagger(
    namedtuple("ForeignTagger", "tool labels templates n_columns state pair transition")
):
    """What a model file of another tool holds.

    Attributes
    ----------
    tool : str
        The program that wrote it.
    labels : list of str
        In the order of the file: of equally good outputs the first one is taken.
    templates : list of Template
    n_columns : int
        Columns of the training file that its templates can see, without that of the labels.
    state, pair : FeatureWeights
        Of features with labels, and with pairs of labels, label before · n_labels + label.
    transition : array of float
        The weight of each label after each other, whatever the input.
    """

    __slots__ = ()
    tool: str
    labels: list[str]
    templates: list[Template]
    n_columns: int
    state: FeatureWeights
    pair: FeatureWeights
    transition: array[float]


class ForeignFile:
    """The bytes of a file, read from the front; what is wrong with them is said with the place.

    Parameters
    ----------
    name : str
        Of the file.
    kind : str
        What it ought to be.
    data : bytes
        All of it.
    """

    def __init__(self, name: str, kind: str, data: bytes) -> None:
        self.name, self.kind, self.data = name, kind, data
        self.at = 0

    def refuse(self, problem: str, at: int | None = None) -> NoReturn:
        """Raise the one error there is: the file, where, and what is wrong."""
        place = self.at if at is None else at
        raise ValueError(f"{self.name} is not a valid {self.kind}: at byte {place}, {problem}")

    def take(self, size: int, what: str) -> bytes:
        """Return the next bytes."""
        if size > len(self.data) - self.at:
            self.refuse(f"{what} takes {size} bytes, but the file ends at byte {len(self.data)}")
        taken = self.data[self.at : self.at + size]
        self.at += size
        return taken

    def line(self, what: str) -> bytes:
        """Return the next line without its end."""
        if self.at >= len(self.data):
            self.refuse(f"{what} is missing: the file ends here")
        end = self.data.find(b"\n", self.at)
        begin, self.at = self.at, len(self.data) if end < 0 else end + 1
        return self.data[begin : len(self.data) if end < 0 else end]

    def text(self, raw: bytes, what: str) -> str:
        """Return bytes as text; they must be UTF-8."""
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            self.refuse(f"{what} is not UTF-8 text")

    def number(self, raw: bytes, what: str) -> int:
        """Return a whole number that is written in digits."""
        if not raw.isdigit() or len(raw) > 18:
            self.refuse(f"{what} must be a whole number, not {raw[:20]!r}")
        return int(raw)
