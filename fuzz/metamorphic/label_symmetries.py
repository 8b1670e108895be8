"""Symmetries of labels: other orders of labels and symbols, and reversed sequences."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzz.metamorphic.instances import Instance
from fuzz.metamorphic.twins import Twin
from structlearn.structures import Constituency, Grammar

Rng = np.random.Generator


def label_axes(structure: Any, name: str, block: Any) -> int:
    """Return the number of trailing axes of a block that are labels."""
    if name in ("binary", "unary"):  # axes of rules
        return 0
    if name == "arc":
        return int(np.ndim(block) == 3)
    return len(structure.blocks(1)[name].outcomes)


def relabelled(y: Any, names: Any) -> Any:
    """Return an output with labels names[k] instead of k."""
    if isinstance(y, tuple):
        return y[0], names[y[1]]
    if isinstance(y, list):
        return [(i, j, int(names[k])) for i, j, k in y]
    return names[y]


def take_labels(structure: Any, scores: dict[str, Any], order: Any) -> dict[str, Any]:
    """Return blocks with labels in another order; label 0 of a new one is order[0] of the old."""
    moved = {}
    for name, block in scores.items():
        axes = range(-label_axes(structure, name, block), 0)
        for axis in axes:
            block = np.take(block, order, axis=axis)
        moved[name] = block
    return moved


def labels(it: Instance, rng: Rng) -> Twin:
    """Labels in another order; of unlabelled spans, 0 means "no label" and stays."""
    (main,) = [name for name in it.scores if name in ("label", "segment", "span", "arc", "word")][
        :1
    ]
    fixed = isinstance(it.structure, Constituency)
    n = it.scores[main].shape[-1]
    order = np.concatenate([[0], 1 + rng.permutation(n - 1)]) if fixed else rng.permutation(n)
    return Twin(
        it.structure,
        take_labels(it.structure, it.scores, order),
        lambda y: relabelled(y, order),
        lambda p: take_labels(it.structure, p, np.argsort(order)),
    )


def backwards(it: Instance, rng: Rng) -> Twin:
    """A reversed sequence."""
    swapped = {"start": "end", "end": "start"}

    def turned(blocks: dict[str, Any]) -> dict[str, Any]:
        mirrored = {}
        for name, block in blocks.items():
            axes = label_axes(it.structure, name, block)
            if name.startswith("transition"):
                first = np.ndim(block) - axes
                block = np.transpose(
                    block, (*range(first), *range(np.ndim(block) - 1, first - 1, -1))
                )
                block = block[::-1] if first else block
            elif name == "label":
                block = block[::-1]
            elif name == "segment":
                block = _turned_segments(block)
            mirrored[swapped.get(name, name)] = block
        return mirrored

    length = next(len(it.scores[name]) for name in ("label", "segment") if name in it.scores)

    def output(y: Any) -> Any:
        if isinstance(y, list):
            return [(length - j, length - i, k) for i, j, k in reversed(y)]
        return y[::-1]

    return Twin(it.structure, turned(it.scores), output, turned)


def _turned_segments(block: Any) -> Any:
    """Return the scores of segments in the reversed sequence."""
    length, width = block.shape[:2]
    mirrored = np.zeros_like(block)
    for t in range(length):
        for d in range(min(width, length - t)):
            mirrored[length - t - d - 1, d] = block[t, d]
    return mirrored


def mirrored_spans(it: Instance, rng: Rng) -> Twin:
    """A reversed sentence.

    The unlabelled spans of remaining children are on the right of a node: they score alike.
    """
    n = len(it.scores["span"] if "span" in it.scores else it.scores["word"])
    ends = n - np.arange(n + 1)
    structure = it.structure
    if structure.grammar is None:
        span = it.scores["span"].copy()
        span[..., 0] = span[0, n, 0]
        it = Instance(structure, {"span": span})

    def turned(blocks: dict[str, Any]) -> dict[str, Any]:
        mirrored = dict(blocks)
        if "span" in mirrored:
            i, j = np.meshgrid(np.arange(n), np.arange(n + 1), indexing="ij")
            mirrored["span"] = np.zeros_like(mirrored["span"])
            read = i < j
            mirrored["span"][ends[j[read]], ends[i[read]]] = blocks["span"][i[read], j[read]]
        if "word" in mirrored:
            mirrored["word"] = mirrored["word"][::-1]
        return mirrored

    if (grammar := structure.grammar) is not None:
        binary = [(a, c, b) for a, b, c in grammar.binary.tolist()]
        structure = Constituency(Grammar(grammar.n_symbols, binary, grammar.unary))
    return Twin(
        structure,
        turned(it.scores),
        lambda y: _sorted([(n - j, n - i, k) for i, j, k in y]),
        lambda p: turned(p) if structure.grammar else _labelled(turned(p)),
        original=it,
    )


def _labelled(p: dict[str, Any]) -> dict[str, Any]:
    """Mask the expected counts of unlabelled spans: they depend on the side."""
    span = np.ma.masked_array(p["span"], mask=False)
    span[..., 0] = np.ma.masked
    return {"span": span}


def _sorted(spans: list[Any]) -> list[Any]:
    """Return spans in the order of trees: wide ones first; equal spans keep their order."""
    return sorted(spans, key=lambda s: (s[0], -s[1]))


def symbols(it: Instance, rng: Rng) -> Twin:
    """Symbols and rules of a grammar in another order."""
    old = it.structure.grammar
    order = rng.permutation(old.n_symbols)
    new = np.argsort(order)  # the new number of an old symbol
    first, second = rng.permutation(len(old.binary)), rng.permutation(len(old.unary))
    grammar = Grammar(old.n_symbols, new[old.binary][first], new[old.unary][second])
    scores = take_labels(it.structure, it.scores, order)
    rules = {"binary": first, "unary": second}
    scores |= {name: scores[name][places] for name, places in rules.items() if name in scores}

    def back(p: dict[str, Any]) -> dict[str, Any]:
        restored = take_labels(it.structure, p, new)
        for name, places in rules.items():
            if name in p:
                restored[name] = np.zeros_like(p[name])
                restored[name][places] = p[name]
        return restored

    return Twin(Constituency(grammar), scores, lambda y: relabelled(y, order), back)
