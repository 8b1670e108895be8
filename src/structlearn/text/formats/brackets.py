"""Trees in brackets, as the Penn Treebank has them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ...exceptions import LineError
from ..trees import Tree, bracket_fault, scan_brackets
from .format import Format

__all__ = ["Brackets"]


class Brackets(Format):
    """Trees in brackets, (S (NP (N Fish)) (VP (V sleep))), over any number of lines."""

    name = "brackets"
    called = "a bracketed tree"
    extensions = (".mrg",)
    holds = "trees"
    guessed = False
    ends = re.compile(rb"\n(?=\()")

    @classmethod
    def sniff(cls, head: bytes) -> bool:
        return head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"("

    def read(self, text: bytes, line: int) -> list[tuple[Tree, int]]:
        """Return the trees of a piece, each with the line that it begins on."""
        try:
            return [(tree, line + at) for tree, at in scan_brackets(self._decoded(text, line))]
        except LineError as error:
            raise LineError(line + error.line, error.reason) from None

    @staticmethod
    def written(trees: Iterable[Tree]) -> bytes:
        """Return trees as a file has them, one on each line."""
        return "".join(f"{tree}\n" for tree in trees).encode()

    def fault(self, label: str, names: Sequence[str] = ()) -> str:
        """Say why a label cannot be written in a tree; empty: it can."""
        return bracket_fault(label)
