"""A probabilistic context-free grammar of a treebank: the generative baseline."""

from __future__ import annotations

from array import array
from collections.abc import Iterator

from ... import _core

TYPE_CHECKING = False  # importing typing costs more than parsing a sentence
if TYPE_CHECKING:
    from typing import Any


class TreebankGrammar:
    """Symbols, rules and their log probabilities.

    :class:`~structlearn.text.tree_rules.RuleCounts` makes what it is given.

    Parameters
    ----------
    symbols : list of str
        Tags first, then categories and rests of rows of children.
    n_tags : int
        How many of them are tags.
    categories : list of str
        Of each symbol: what it is called in a tree; empty for rests.
    binary, unary : lists of symbol numbers
        The rules.
    scores : sequence of float
        Log probabilities of the binary rules, the unary rules, and of the roots by symbol.

    Attributes
    ----------
    names : list of str
        The different categories, by which the core numbers nodes.
    """

    def __init__(
        self,
        symbols: list[str],
        n_tags: int,
        categories: list[str],
        binary: list[Any],
        unary: list[Any],
        scores: Any,
    ) -> None:
        symbols, categories = list(map(str, symbols)), list(map(str, categories))
        if len(categories) != len(symbols) or not 0 < n_tags <= len(symbols):
            raise ValueError("the symbols of the grammar do not fit together")
        self.symbols = symbols
        self.n_tags = n_tags
        self.categories = categories
        self.binary, self.unary = binary, unary
        self.scores = array("d", scores)
        self.names = sorted({*categories} - {""})
        number = {name: k for k, name in enumerate(self.names)}
        name_of = [number.get(category, -1) for category in categories]
        self.core = _core.CountedGrammar(symbols[:n_tags], name_of, binary, unary, self.scores)

    def rules(
        self, words: list[str], tags: list[str], spans: list[Any]
    ) -> Iterator[tuple[str, float]]:
        """Yield the rules that derive a tree, repeats included, with their log probabilities."""
        for rule in self.core.rules(words, tags, spans):
            yield self._rule(rule), self.scores[rule]

    def _rule(self, number: int) -> str:
        """Return a rule as it is written: NP → DET NOUN."""
        rules = [*self.binary, *self.unary]
        if number >= len(rules):
            return f"{self._name(number - len(rules))} on top"
        parent, *children = map(self._name, rules[number])
        return f"{parent} → {' '.join(children)}"

    def _name(self, symbol: int) -> str:
        return self.symbols[symbol].replace("(", "")

    # -- files ----------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """Return what a model file says of it, but for the probabilities."""
        return {
            "symbols": self.symbols,
            "n_tags": self.n_tags,
            "categories": self.categories,
            "binary": self.binary,
            "unary": self.unary,
        }
