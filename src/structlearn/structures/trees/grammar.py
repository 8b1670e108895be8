"""Context-free grammars with binary and unary rules, and the closure of the unary ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import _core
from ...array_types import Integers


class Grammar:
    """A context-free grammar whose rules have one or two symbols on the right.

    Symbols are numbered 0..n_symbols − 1; a word is covered by any symbol that its scores allow.
    Above the symbol from a word or a binary rule, a span may have a *chain* of unary rules without
    repeated symbols: with cycles a sentence would have infinitely many trees. All chains of up to
    ``max_chain`` rules are computed once: the closure of the unary rules.

    Parameters
    ----------
    n_symbols : int
        Number of symbols.
    binary : array-like of shape (B, 3)
        Rules parent → left right, all distinct. Each call passes their scores in this order.
    unary : array-like of shape (U, 2), optional
        Rules parent → child, parent ≠ child.
    max_chain : int, default=4
        The longest chain of unary rules.

    Attributes
    ----------
    chains : list of tuple of int
        The chains, each as the numbers of its unary rules from the bottom up.
    """

    def __init__(self, n_symbols: int, binary: Any, unary: Any = (), *, max_chain: int = 4) -> None:
        if not isinstance(n_symbols, (int, np.integer)) or n_symbols < 1:
            raise ValueError(f"n_symbols must be a whole number >= 1, got {n_symbols!r}")
        if not isinstance(max_chain, (int, np.integer)) or max_chain < 0:
            raise ValueError(f"max_chain must be a whole number >= 0, got {max_chain!r}")
        self.n_symbols = int(n_symbols)
        self.max_chain = int(max_chain)
        self.binary = _rules("binary", binary, 3, self.n_symbols)
        self.unary = _rules("unary", unary, 2, self.n_symbols)
        chains = _core.unary_chains(self.n_symbols, self.unary.tolist(), self.max_chain)
        self.chains: list[tuple[int, ...]] = list(map(tuple, chains))
        self.binary_index = {tuple(r): k for k, r in enumerate(self.binary.tolist())}
        self.unary_index = {tuple(r): k for k, r in enumerate(self.unary.tolist())}

    def specification(self) -> dict[str, Any]:
        """Return the arguments of the core."""
        return {
            "symbols": self.n_symbols,
            "binary": self.binary.astype(np.uint32),
            "unary": self.unary.astype(np.uint32),
            "max_chain": self.max_chain,
        }

    def __getstate__(self) -> dict[str, Any]:
        return {
            "n_symbols": self.n_symbols,
            "binary": self.binary,
            "unary": self.unary,
            "max_chain": self.max_chain,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def __repr__(self) -> str:
        return (
            f"Grammar({self.n_symbols} symbols, {len(self.binary)} binary and {len(self.unary)} "
            "unary rules)"
        )


def _rules(name: str, given: Any, width: int, n_symbols: int) -> Integers:
    rules = np.asarray(given)
    if rules.size == 0:
        return np.zeros((0, width), dtype=np.int64)
    if rules.ndim != 2 or rules.shape[1] != width or rules.dtype.kind not in "iu":
        raise ValueError(f"{name} rules are rows of {width} symbols, got shape {rules.shape}")
    if rules.min() < 0 or rules.max() >= n_symbols:
        raise ValueError(f"{name} rules contain symbols outside of 0..{n_symbols - 1}")
    rules = rules.astype(np.int64)
    if len(np.unique(rules, axis=0)) < len(rules):
        raise ValueError(f"{name} rules must be distinct")
    return rules
