"""Trees in brackets, as the Penn Treebank has them."""

from __future__ import annotations

import re

from ...exceptions import LineError
from ..trees import Tree, scan_brackets
from .format import Format


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
