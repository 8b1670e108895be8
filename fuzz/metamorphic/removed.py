"""Relations on removed parts: forbidden parts and absent parts give the same answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fuzz.metamorphic.answers import Refusal
from fuzz.metamorphic.instances import STRUCTURES, Instance, attempt
from fuzz.metamorphic.label_symmetries import label_axes, relabelled, take_labels
from fuzz.metamorphic.relation import relation
from fuzz.metamorphic.twins import Twin, demand_twin
from structlearn.structures import Constituency, Graph, Lattice, SemiMarkov, SpanningTree

Rng = np.random.Generator
Change = Callable[[Instance, Rng], "Twin | None"]


class Changed(NamedTuple):
    """A structure with other ways to write its problem."""

    draw: Callable[[Rng], Instance]
    changes: tuple[Change, ...]


def _without_label(it: Instance, rng: Rng) -> Twin | None:
    """A label that is forbidden everywhere, and one that does not exist."""
    main = it.structure.label_block
    if label_axes(it.structure, main, it.scores[main]) == 0:
        return _labelled_arcs(it)
    n = it.scores[main].shape[-1]
    first = int(isinstance(it.structure, Constituency))  # 0 means "no label"
    if n <= first + 1:
        return None
    gone = int(rng.integers(first, n))
    remaining = np.delete(np.arange(n), gone)
    block = it.scores[main].copy()
    block[..., gone] = -np.inf
    original = Instance(it.structure, {**it.scores, main: block})

    def back(p: dict[str, Any]) -> dict[str, Any]:
        restored = {}
        for name, part in p.items():
            axes = label_axes(it.structure, name, it.scores[name])
            restored[name] = np.zeros((*part.shape[: part.ndim - axes], *[n] * axes))
            restored[name][(..., *np.ix_(*[remaining] * axes))] = part
        return restored

    return Twin(it.structure, take_labels(it.structure, it.scores, remaining),
                lambda y: relabelled(y, remaining), back, original=original)  # fmt: skip


def _labelled_arcs(it: Instance) -> Twin:
    """Arcs without labels, and with two of which one is forbidden."""
    arc = it.scores["arc"]
    return Twin(
        it.structure,
        {**it.scores, "arc": np.stack([np.full_like(arc, -np.inf), arc], axis=2)},
        lambda y: y[0],
        lambda p: {**p, "arc": p["arc"][..., 1]},
    )


def _shorter_segments(it: Instance, rng: Rng) -> Twin | None:
    """Segments of forbidden lengths, and a structure that has none of them."""
    block = it.scores["segment"].copy()
    width = block.shape[1]
    if width == 1:
        return None
    most = int(rng.integers(1, width))
    block[:, most:] = -np.inf
    rest = [(0, 0), (0, width - most), (0, 0)]
    return Twin(
        SemiMarkov(most),
        {**it.scores, "segment": block[:, :most]},
        parts=lambda p: {**p, "segment": np.pad(p["segment"], rest)},
        original=Instance(it.structure, {**it.scores, "segment": block}),
    )


def _fewer_partners(it: Instance, rng: Rng) -> Twin | None:
    """A partner that nobody may have, and one that is not there."""
    n, m = it.scores["pair"].shape
    if n == m:
        return None
    gone = int(rng.integers(m))
    remaining = np.delete(np.arange(m), gone)
    pair = it.scores["pair"].copy()
    pair[:, gone] = -np.inf
    return Twin(it.structure, {"pair": pair[:, remaining]}, lambda y: remaining[y],
                original=Instance(it.structure, {"pair": pair}))  # fmt: skip


def _fewer_edges(it: Instance, rng: Rng) -> Twin | None:
    """Edges that are forbidden, and a list without them."""
    if isinstance(it.structure, SpanningTree):
        return _listed_edges(it)
    table, n = it.structure.table, len(it.structure.table)
    remaining = np.flatnonzero(rng.random(n) < 0.8)
    if not len(remaining):
        return None
    structure = attempt(lambda: Lattice(table[remaining], target=it.structure.target))
    if isinstance(structure, Refusal):  # no path is left
        return None
    edge = np.full(n, -np.inf)
    edge[remaining] = it.scores["edge"][remaining]

    def back(p: dict[str, Any]) -> dict[str, Any]:
        restored = np.zeros(n)
        restored[remaining] = p["edge"]
        return {"edge": restored}

    return Twin(structure, {"edge": edge[remaining]}, lambda y: remaining[y], back,
                original=Instance(it.structure, {"edge": edge}))  # fmt: skip


def _listed_edges(it: Instance) -> Twin | None:
    """A matrix of edges, some of them forbidden, and the list of the others."""
    edge = it.scores["edge"]
    above = np.triu(np.ones(edge.shape), 1) > 0
    ends = np.argwhere(above & np.isfinite(edge))
    if len(np.unique(ends)) < len(edge):
        return None

    def back(p: dict[str, Any]) -> dict[str, Any]:
        restored = np.zeros(edge.shape)
        restored[tuple(ends.T)] = p["edge"]
        return {"edge": restored}

    return Twin(SpanningTree(ends), {"edge": edge[tuple(ends.T)]}, parts=back)


def _as_rest(it: Instance, rng: Rng) -> Twin | None:
    """An edge whose table is zero, and a graph without it."""
    ends, table = it.structure._ends, it.scores.get("edge")
    if not len(ends) or table is None or table.ndim != 3:
        return None
    gone = int(rng.integers(len(ends)))
    remaining = np.delete(np.arange(len(ends)), gone)
    zeroed = table.copy()
    zeroed[gone] = 0.0
    return Twin(
        Graph(ends[remaining]),
        {**it.scores, "edge": table[remaining]},
        parts=lambda p: {"label": p["label"]},
        original=Instance(it.structure, {**it.scores, "edge": zeroed}),
    )


REMOVED: dict[str, tuple[Change, ...]] = {
    **dict.fromkeys(
        ("classes", "chains of order 0", "chains of order 1", "chains of order 2",
         "chains of order 3", "trees", "spans", "projective arcs", "arcs", "grids", "enumeration"),
        (_without_label,),
    ),
    "segments": (_without_label, _shorter_segments),
    "matchings": (_fewer_partners,),
    "lattices": (_fewer_edges,),
    "spanning trees": (_fewer_edges,),
    "graphs": (_without_label, _as_rest),
}  # fmt: skip


@relation(
    "forbidden = removed",
    {name: Changed(STRUCTURES[name], changes) for name, changes in REMOVED.items()},
    claim="to rounding; outputs up to ties",
    not_claimed={
        "grammars": "a symbol that words and rules share cannot be removed alone",
        "programs": "-inf is a bound of a column, and a column less another program",
        "constraints": "they name labels",
    },
)
def removed(subject: Changed, rng: Rng) -> None:
    """A part with score -inf, and a problem without it."""
    demand_change(subject, rng)


def demand_change(subject: Changed, rng: Rng) -> None:
    """Query an instance and the same problem written differently."""
    it = subject.draw(rng)
    change = subject.changes[int(rng.integers(len(subject.changes)))]
    if (twin := change(it, rng)) is not None:
        demand_twin(rng, it, twin)
