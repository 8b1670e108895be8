"""The content of a model file, as dictionaries and as text."""

from __future__ import annotations

import struct
from collections.abc import Iterator

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

_COUNTS = ("num_features", "num_labels", "num_attrs")
_PLACES = ("off_features", "off_labels", "off_attrs", "off_labelrefs", "off_attrrefs")


class ParsedDump:
    """The content of a model.

    Attributes
    ----------
    header : dict of str to str
        Fields of the file's header.
    labels, attributes : dict of str to str
        Names, and their indices.
    transitions : dict
        (label, next label) to weight.
    state_features : dict
        (attribute, label) to weight.
    """

    def __init__(self) -> None:
        self.header: dict[str, str] = {}
        self.labels: dict[str, str] = {}
        self.attributes: dict[str, str] = {}
        self.transitions: dict[tuple[str, str], float] = {}
        self.state_features: dict[tuple[str, str], float] = {}


def parsed(data: bytes, chain: Any) -> ParsedDump:
    """Return the content of a file, from which ``chain`` was read."""
    dump = ParsedDump()
    magic, size, kind, version, *numbers = struct.unpack_from("<4sI4s9I", data)
    dump.header = {
        "magic": magic.decode("latin-1"),
        "size": str(size),
        "type": kind.decode("latin-1"),
        "version": str(version),
        **dict(zip(_COUNTS, map(str, numbers), strict=False)),
        **dict(zip(_PLACES, (f"0x{place:X}" for place in numbers[3:]), strict=True)),
    }
    labels, attributes = chain.labels, chain.names.names()
    dump.labels = {label: str(i) for i, label in enumerate(labels)}
    dump.attributes = {name: str(i) for i, name in enumerate(attributes)}
    row_ptr, column = (memoryview(chain.arrays[name]).cast("B").cast("I")
                       for name in ("row_ptr", "column"))  # fmt: skip
    weight, pairs = (memoryview(chain.arrays[name]).cast("B").cast("d")
                     for name in ("weight", "transition1"))  # fmt: skip
    for i, value in enumerate(pairs):
        if value:
            dump.transitions[labels[i // len(labels)], labels[i % len(labels)]] = value
    for a, name in enumerate(attributes):
        for j in range(row_ptr[a], row_ptr[a + 1]):
            dump.state_features[name, labels[column[j]]] = weight[j]
    return dump


def dumped(content: ParsedDump) -> Iterator[str]:
    """Yield the lines of ``crfsuite dump``."""
    parts = {
        "FILEHEADER": (f"{name}: {value}" for name, value in content.header.items()),
        "LABELS": (f"{number:>5}: {name}" for name, number in content.labels.items()),
        "ATTRIBUTES": (f"{number:>5}: {name}" for name, number in content.attributes.items()),
        "TRANSITIONS": (f"(1) {a} --> {b}: {w:f}" for (a, b), w in content.transitions.items()),
        "STATE_FEATURES": (
            f"(0) {a} --> {b}: {w:f}" for (a, b), w in content.state_features.items()
        ),
    }
    for title, lines in parts.items():
        yield f"{title} = {{\n"
        for line in lines:
            yield f"  {line}\n"
        yield "}\n\n"
