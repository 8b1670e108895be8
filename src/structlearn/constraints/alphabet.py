"""The labels that constraints name, and the chunks that the labels form."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from ..metrics.boundaries import boundary, split_label
from ..metrics.schemes import are_chunk_labels

#: The number of labels that a message lists.
_MOST_LISTED = 20


class Alphabet:
    """The symbols 0..K−1 that automata read, and the label of each.

    Several symbols may share a label: a model that learns IOBES writes S-PER and B-PER as B-PER.
    Labels in BIO, IOBES or BILOU form chunks by the rules of conlleval; other labels form a chunk
    for each run of equal ones. The label O is outside of all chunks.

    Parameters
    ----------
    labels : sequence of K labels
        As the user writes them.
    segments : bool
        Whether each symbol is a segment, which is a chunk by itself.
    """

    def __init__(self, labels: Iterable[Any], *, segments: bool = False) -> None:
        self.labels = tuple(labels)
        self.segments = segments
        self._numbers: dict[Any, list[int]] = {}
        self._by_text: dict[str, Any] = {}
        for number, label in enumerate(self.labels):
            self._numbers.setdefault(label, []).append(number)
            self._by_text.setdefault(str(label), label)
        texts = [label for label in self.labels if isinstance(label, str)]
        whole = len(texts) == len(self.labels)
        #: Whether the labels mark chunks: B-PER and the like.
        self.chunked = whole and not segments and are_chunk_labels(texts)

    def __len__(self) -> int:
        return len(self.labels)

    def find(self, label: Any) -> frozenset[int] | None:
        """Return the symbols with a label; None if there are none."""
        try:
            symbols = self._numbers.get(label)
        except TypeError:  # not hashable
            symbols = None
        return None if symbols is None else frozenset(symbols)

    def find_text(self, text: str) -> frozenset[int] | None:
        """Return the symbols whose label prints as this text; None if there are none."""
        return self.find(self._by_text[text]) if text in self._by_text else None

    def starting_with(self, prefix: str) -> frozenset[int]:
        """Return the symbols whose labels start with a prefix."""
        return frozenset(n for n, k in enumerate(self.labels) if str(k).startswith(prefix))

    def numbers(self, label: Any) -> frozenset[int]:
        """Return the symbols with a label; refuse an unknown one."""
        symbols = self.find(label)
        if symbols is None:
            raise ValueError(f"a constraint names the {self.fault(label)}")
        return symbols

    def fault(self, label: Any) -> str:
        """Describe an unknown label, with a suggestion."""
        near = get_close_matches(str(label), list(self._by_text), 1)
        if self.chunked and label in self.types:
            advice = f'; the chunks are Chunk("{label}")'
        elif str(label) in self._by_text and not isinstance(label, str):
            advice = f"; the label {str(label)!r} is a string"
        elif near:
            advice = f"; did you mean {self._by_text[near[0]]!r}?"
        else:
            listed = list(dict.fromkeys(self.labels))
            extra = f" and {len(listed) - _MOST_LISTED} more" if len(listed) > _MOST_LISTED else ""
            names = ", ".join(repr(k) for k in listed[:_MOST_LISTED])
            advice = f"; labels are {names}{extra}"
        return f"label {label!r}, which is unknown{advice}"

    # -- chunks ---------------------------------------------------------------------------------

    @property
    def types(self) -> list[Any]:
        """The types of chunks, in the order of the labels; of plain labels, all labels but O."""
        return list(dict.fromkeys(k for k in map(self.type_of, range(len(self))) if k is not None))

    def type_of(self, symbol: int) -> Any:
        """Return the type of the chunk that a symbol is in; None outside of chunks."""
        label = self.labels[symbol]
        if isinstance(label, str) and label == "O":
            return None
        return split_label(label)[1] if self.chunked else label

    def chunk(self, type: Any) -> frozenset[int]:
        """Return the symbols in chunks of a type; refuse an unknown type."""
        symbols = frozenset(n for n in range(len(self)) if self.type_of(n) == type)
        if not symbols or type is None:
            near = get_close_matches(str(type), list(map(str, self.types)), 1)
            advice = f"; did you mean {near[0]!r}?" if near else f"; there are {self.types}"
            raise ValueError(f"a constraint names chunks of type {type!r}, unknown here{advice}")
        return symbols

    def begins(self, before: int | None, symbol: int) -> bool:
        """Tell whether a chunk begins at a symbol; ``before``: the previous symbol, if any."""
        label = self.labels[symbol]
        if self.type_of(symbol) is None:
            return False
        if self.segments or before is None:
            return True
        if self.chunked:
            return boundary(self.labels[before], label)[1]
        return bool(self.labels[before] != label)

    def traits(self, symbol: int) -> Any:
        """Return what determines a symbol's role in chunks: its tag and its type."""
        label = self.labels[symbol]
        return split_label(label) if self.chunked else label
