"""Traces of parsers: CKY, Eisner and Chu-Liu/Edmonds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import _core
from ..structures.checks import nothing_legal
from ..structures.trees.arborescence import Arborescence
from ..structures.trees.constituency import Constituency
from ..structures.trees.grammar import Grammar
from .charts import Chart, Name
from .trace import Trace

#: Eisner's items in the order of the chart.
_ITEMS = ("between", "arc right", "arc left", "right", "left")


def cky(grammar: Grammar | None = None, *, temperature: float = 0.0, **scores: Any) -> Trace:
    """Return the trace of CKY, or of inside–outside if the temperature is above 0.

    Written by the hyperedge engine of the core; its answer is that of
    ``Constituency(grammar).argmax``.

    Parameters
    ----------
    grammar : Grammar, optional
        Without one, trees of labelled spans.
    **scores : arrays
        The blocks of :class:`~structlearn.structures.Constituency`.

    Returns
    -------
    Trace
        Nodes are ("word or rule", i, j, symbol), a symbol over the words i..j−1 built by a word or
        a binary rule, and ("symbol", i, j, symbol), with unary rules above it; each option of a
        binary rule is a split. Without a grammar: ("body", i, j), the best split, ("child", i,
        j), a labelled span, and ("follower", i, j), one that may be unlabelled.
    """
    structure = Constituency(grammar)
    theta = structure._scores(scores)
    edges = structure.edges(**theta)
    n = len(theta["word" if grammar is not None else "span"])
    spans = [(i, i + width) for width in range(1, n + 1) for i in range(n - width + 1)]
    names: list[Name] = []
    for i, j in spans:
        if grammar is None:
            names += [("body", i, j), ("child", i, j), ("follower", i, j)]
            continue
        for kind in ("word or rule", "symbol"):
            names += [(kind, i, j, a) for a in range(grammar.n_symbols)]
    if grammar is not None:
        names.append(("goal",))

    def read(derivation: Any) -> Any:
        counts = {name: np.zeros(a.shape) for name, a in theta.items()}
        if grammar is None:
            for _, _, parts in derivation:
                for block, at in parts:
                    counts[block][tuple(at)] += 1
            return [list(span) for span in structure.decode(counts)]
        return _grammar_spans(grammar, derivation)

    chart = Chart(edges, theta, names, read)
    if temperature:
        return chart.sum("inside–outside", temperature, length=n)
    return chart.best("CKY", length=n)


def _grammar_spans(grammar: Grammar, derivation: Any) -> list[list[int]]:
    """Return the labelled spans of a derivation, outer ones first."""
    spans = []
    for head, tails, parts in derivation:
        if head[0] == "word or rule":
            spans.append((head[1], head[2], 0, head[3]))
        elif head[0] == "symbol" and tails[0][3] != head[3]:
            chain = next(
                c for c in grammar.chains if _fits(grammar, c, tails[0][3], head[3], parts)
            )
            above = [int(grammar.unary[rule, 0]) for rule in chain]
            spans += [(head[1], head[2], height + 1, a) for height, a in enumerate(above)]
    spans.sort(key=lambda s: (s[0], -s[1], -s[2]))
    return [[i, j, a] for i, j, _, a in spans]


def _fits(grammar: Grammar, chain: Any, low: int, high: int, parts: Any) -> bool:
    rules = [at[0] for block, at in parts if block == "unary"]
    ends = (int(grammar.unary[chain[0], 1]), int(grammar.unary[chain[-1], 0]))
    return ends == (low, high) and (not rules or rules == list(chain))


def eisner(*, single_root: bool = True, temperature: float = 0.0, **scores: Any) -> Trace:
    """Return the trace of Eisner's algorithm for projective trees, or of its sums.

    Written by the hyperedge engine of the core; its answer is that of
    ``Arborescence(projective=True).argmax``. Arcs may have labels; each label is then a separate
    way to make an arc, and the answer is (heads, labels).

    Returns
    -------
    Trace
        Nodes are the items over words i..j: ("right", i, j), complete with its head at i; ("left",
        i, j), head at j; ("arc right", i, j), the arc i → j just made; ("arc left", i, j), j → i;
        ("between", i, j), two complete items that meet.
    """
    structure = Arborescence(projective=True, single_root=single_root)
    theta = structure._scores(scores)
    edges = structure.edges(**theta)
    assert edges is not None
    labelled = theta["arc"].ndim == 3
    size = len(theta["arc"])
    names: list[Name] = []
    for width in range(size):
        for i in range(size - width):
            names += [(kind, i, i + width) for kind in _ITEMS]

    def read(derivation: Any) -> list[Any]:
        heads, labels = [0] * (size - 1), [0] * (size - 1)
        for _, _, parts in derivation:
            for block, at in parts:
                if block == "arc":
                    heads[at[1] - 1], labels[at[1] - 1] = at[0], at[-1]
        return [heads, labels] if labelled else heads

    chart = Chart(edges, theta, [*names, ("goal",)], read)
    if temperature:
        return chart.sum("inside–outside over Eisner's chart", temperature, length=size - 1)
    return chart.best("Eisner", length=size - 1)


def chu_liu_edmonds(arc: Any, *, single_root: bool = True) -> Trace:
    """Return the trace of Chu-Liu/Edmonds: greedy choice, cycles, contraction, expansion.

    Written by the core's own search, which reports its steps to a watcher; without one, the calls
    are compiled away. Its answer is that of ``Arborescence(single_root=...).argmax``. Arcs
    may have labels, (n + 1, n + 1, R): each arc first takes its best label, the steps are about
    arcs, and the answer is (heads, labels).

    Returns
    -------
    Trace
        Words are 1..n, 0 is the root, contracted cycles are numbered from n + 1. Kinds of steps:
        "choose" (``word``, ``head``, the best scores from a word and from the root), "contract"
        (``cycle``, ``members`` with the scores of their arcs in the cycle, the offer of each other
        node to ``enter``, its best ``head``), "penalty" (subtracted from arcs of the root until
        one is left: ``node`` gets the new ``head``), "expand" (``cycle``, the member that is
        ``entered`` and the ``head`` that enters it).
    """
    scores = np.array(arc, dtype=np.float64)
    labelled = scores.ndim == 3
    if scores.ndim not in (2, 3) or scores.shape[0] != scores.shape[1] or len(scores) < 2:
        raise ValueError(
            f"arc must have shape (n + 1, n + 1) or (n + 1, n + 1, R), n >= 1, got {scores.shape}"
        )
    if labelled and scores.shape[2] == 0:
        raise ValueError("arcs with labels need at least one label")
    scores[np.diag_indices(len(scores))] = -np.inf  # never read
    scores[:, 0] = -np.inf
    table = np.ascontiguousarray(scores.max(axis=2) if labelled else scores)
    if np.isnan(table).any() or np.isposinf(table).any():
        raise ValueError("arc contains NaN or inf; scores are finite, or -inf to forbid an arc")
    value, heads, events = _core.watch_arborescence(table, single_root)
    if value == -math.inf:
        raise nothing_legal()
    steps = [_read_step(kind, nodes.tolist(), values.tolist()) for kind, nodes, values in events]
    about: dict[str, Any] = {"length": len(heads)}
    answer = heads.tolist()
    if labelled:
        about["labels"] = scores.argmax(axis=2)
        answer = [answer, [int(about["labels"][h, m]) for m, h in enumerate(answer, 1)]]
    return Trace("Chu-Liu/Edmonds", steps, answer, float(value), about)


def _read_step(kind: str, nodes: list[int], values: list[float]) -> dict[str, Any]:
    if kind == "choose":
        fields = {
            "word": nodes[0],
            "head": nodes[1],
            "from_word": values[0],
            "from_root": values[1],
        }
        return {"kind": kind, **fields}
    if kind == "penalty":
        return {"kind": kind, "node": nodes[0], "head": nodes[1], "penalty": values[0]}
    if kind == "expand":
        return {"kind": kind, "cycle": nodes[0], "entered": nodes[1], "head": nodes[2]}
    n = nodes.pop()
    from_root = values[1] >= values[0]
    return {
        "kind": kind,
        "cycle": nodes[0],
        "head": 0 if from_root else nodes[1],
        "from_node": values[0],
        "from_root": values[1],
        "members": nodes[2 : 2 + n],
        "inner": values[2 : 2 + n],
        "others": nodes[2 + n :],
        "enter": values[2 + n :],
    }
