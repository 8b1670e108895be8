"""Relations on scaled, shifted or moved scores, whose effect on answers is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fuzz.metamorphic.instances import STRUCTURES, Instance
from fuzz.metamorphic.relation import relation
from fuzz.metamorphic.twins import Twin, demand_twin
from structlearn.structures import Constituency, Lattice, SemiMarkov, SpanningTree

__all__: list[str] = []

Rng = np.random.Generator
Subject = Callable[[Rng], Instance]
Parts = dict[str, Any]

#: Factors of scores and temperatures.
FACTORS = (0.25, 2.0, 1024.0, 0.1, 3.0, 1e-3, 777.7)


@relation("scores and temperature scaled", STRUCTURES, claim="to rounding; outputs up to ties")
def scaled(subject: Subject, rng: Rng) -> None:
    """Scores and temperature a times as large: so are values, and nothing else changes."""
    it = subject(rng)
    a = float(rng.choice(FACTORS))
    scores = {name: a * block for name, block in it.scores.items()}
    demand_twin(rng, it, Twin(it.structure, scores, factor=a, heat=a))


# -- shifted --------------------------------------------------------------------------------------


def _shift_sites(it: Instance, rng: Rng) -> tuple[Parts, float]:
    """Constants for the sites of which an output has one part each."""
    main = it.structure.label_block
    block = it.scores[main]
    sites = block.shape[:-1] if main in ("label", "word") else block.shape[:1]
    c = rng.normal(size=sites) * _size(rng)
    return {main: block + c.reshape(*sites, *[1] * (block.ndim - len(sites)))}, float(c.sum())


def _shift_words(it: Instance, rng: Rng) -> tuple[Parts, float]:
    """Constants for the words of a dependency tree: each has one head."""
    arc = it.scores["arc"]
    c = rng.normal(size=len(arc)) * _size(rng)
    return {"arc": (arc.swapaxes(0, 1).T + c).T.swapaxes(0, 1)}, float(c[1:].sum())


def _shift_lengths(it: Instance, rng: Rng) -> tuple[Parts, float]:
    """A constant for each position that a segment covers."""
    block = it.scores["segment"]
    c = float(rng.normal() * _size(rng))
    each = c * np.arange(1, block.shape[1] + 1)
    return {"segment": block + each[:, np.newaxis]}, c * len(block)


def _shift_spans(it: Instance, rng: Rng) -> tuple[Parts, float]:
    """A constant for the 2n - 1 spans of a binary tree."""
    if it.structure.grammar is not None:
        return _shift_sites(it, rng)
    c = float(rng.normal() * _size(rng))
    return {"span": it.scores["span"] + c}, c * (2 * len(it.scores["span"]) - 1)


def _shift_edges(it: Instance, rng: Rng) -> tuple[Parts, float]:
    """A constant for the n - 1 edges of a spanning tree; of a lattice, one for each node."""
    edge = it.scores["edge"]
    if isinstance(it.structure, Lattice):
        lift = rng.normal(size=int(it.structure.table.max()) + 1) * _size(rng)
        begin, end = lift[it.structure.table].T
        total = lift[it.structure.target] - lift[it.structure.source]
        return {"edge": edge + end - begin}, float(total)
    c = float(rng.normal() * _size(rng))
    return {"edge": edge + c}, c * (len(edge) - 1)


def _size(rng: Rng) -> float:
    return float(rng.choice((1e-3, 1.0, 100.0)))


def _shifted(it: Instance, rng: Rng) -> tuple[Parts, float]:
    main = it.structure.label_block
    if main == "arc":
        return _shift_words(it, rng)
    if isinstance(it.structure, SemiMarkov):
        return _shift_lengths(it, rng)
    if isinstance(it.structure, Constituency):
        return _shift_spans(it, rng)
    if isinstance(it.structure, (Lattice, SpanningTree)):
        return _shift_edges(it, rng)
    if main == "label" and np.ndim(it.scores["label"]) == 1:  # one class
        c = float(rng.normal() * _size(rng))
        return {"label": it.scores["label"] + c}, c
    return _shift_sites(it, rng)


@relation(
    "a constant added to the scores",
    {name: draw for name, draw in STRUCTURES.items() if name != "programs"},
    claim="to rounding; outputs up to ties",
    not_claimed={"programs": "solutions differ in the number of their parts"},
)
def shifted(subject: Subject, rng: Rng) -> None:
    """A constant added to parts that every output has equally often shifts only the values."""
    it = subject(rng)
    blocks, shift = _shifted(it, rng)
    demand_twin(rng, it, Twin(it.structure, {**it.scores, **blocks}, shift=shift))


# -- moved ----------------------------------------------------------------------------------------


@relation(
    "scores moved between labels and pairs",
    {name: STRUCTURES[name] for name in ("chains of order 1", "trees", "graphs", "grids")},
    claim="to rounding; outputs up to ties",
)
def moved(subject: Subject, rng: Rng) -> None:
    """Scores moved from a label to the pairs with it leave all outputs' scores unchanged."""
    it = subject(rng)
    label = it.scores["label"].copy()
    n = label.shape[-1]
    if label.ndim == 3:
        height, width, _ = label.shape
        name, sites = "right", (height, width - 1)
        first = np.s_[:, : width - 1]
    elif "edge" in it.structure.blocks(n):
        ends = getattr(it.structure, "_ends", None)
        parents = None if ends is not None else it.structure.parents
        nodes = ends[:, 0] if parents is None else parents[parents >= 0]
        name, sites, first = "edge", (len(nodes),), nodes
    else:
        name, sites, first = "transition", (len(label) - 1,), np.s_[:-1]
    table = it.scores.get(name, 0.0) + np.zeros((*sites, n, n))
    gain = rng.normal(size=(*sites, n)) * _size(rng)
    np.subtract.at(label, first, gain)
    scores = {**it.scores, "label": label, name: table + gain[..., np.newaxis]}
    unchanged = [block for block in it.scores if block != name or it.scores[name].ndim > 2]
    demand_twin(rng, it, Twin(it.structure, scores, parts=lambda p: {k: p[k] for k in unchanged}))
