"""Taggers of other tools: labels, templates, and weights of string features."""

from __future__ import annotations

from array import array
from collections import namedtuple
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from ..text.templates import Template


class FeatureWeights:
    """Weights of features without the zeros; features may have no weights left.

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
        """Add the weights of a feature: increasing outcomes, each with its weight."""
        for outcome, weight in weights:
            if weight:
                self.outcome.append(outcome)
                self.weight.append(weight)
        if len(self.weight) > self.row_ptr[-1]:
            self.features.append(feature)
            self.row_ptr.append(len(self.weight))

    def sorted_by(self, keys: Sequence[int]) -> Iterator[tuple[bytes, range]]:
        """Yield the features with the range of their weights, sorted by the given keys."""
        for f in sorted(range(len(keys)), key=keys.__getitem__):
            yield self.features[f], range(self.row_ptr[f], self.row_ptr[f + 1])


class ForeignTagger(
    namedtuple("ForeignTagger", "tool labels templates n_columns state pair transition")
):
    """The content of another tool's model file.

    Attributes
    ----------
    tool : str
        The program that wrote it.
    labels : list of str
        In the order of the file, which decides ties.
    templates : list of Template
    n_columns : int
        Columns of the training file that its templates can see, except that of the labels.
    state, pair : FeatureWeights
        Of features with labels, and with pairs of labels: previous label · n_labels + label.
    transition : array of float
        The weight of each pair of labels, for any input.
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
    """The bytes of a file, read from the front; errors name the place.

    Parameters
    ----------
    name : str
        The file's name.
    kind : str
        The expected kind of file.
    data : bytes
        Its whole content.
    """

    def __init__(self, name: str, kind: str, data: bytes) -> None:
        self.name, self.kind, self.data = name, kind, data
        self.at = 0

    def refuse(self, problem: str, at: int | None = None) -> NoReturn:
        """Raise ValueError with the file, the place and the problem."""
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
        """Return bytes as text; refuse anything but UTF-8."""
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            self.refuse(f"{what} is not UTF-8 text")

    def number(self, raw: bytes, what: str) -> int:
        """Return a whole number written in digits."""
        if not raw.isdigit() or len(raw) > 18:
            self.refuse(f"{what} must be a whole number, not {raw[:20]!r}")
        return int(raw)
