"""NLTK's chart decoding: the most probable tree under the smallest ambiguous grammar, one symbol
that covers a word or two neighbours of itself. It has the splits of any CKY and no labels to choose
from, so it asks less of NLTK than labelled spans do of us."""

from __future__ import annotations

from typing import Any

from nltk import PCFG
from nltk.parse import ViterbiParser

__all__ = ["make_parser", "parse"]


def make_parser() -> Any:
    """Return the parser for sentences of the word w."""
    return ViterbiParser(PCFG.fromstring("X -> X X [0.5] | 'w' [0.5]"))


def parse(parser: Any, n: int) -> Any:
    """Return the best tree of n words."""
    return next(iter(parser.parse(["w"] * n)))
