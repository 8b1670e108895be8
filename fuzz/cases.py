"""Random small instances of every structure: the structure, its shapes, its topology."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from tests.structures.edge_structures import EdgeChain, EdgeSegments

from fuzz.automata import draw_automata
from fuzz.written import Written, draw_names, draw_written
from structlearn.constraints import Label, at_most, exactly, forbid, if_then, with_constraints
from structlearn.constraints.automata import automata_of
from structlearn.constraints.readings import alphabet_of, product_of, sequences_of
from structlearn.constraints.text import read_constraints
from structlearn.estimators.constraints import under
from structlearn.structures import (
    Arborescence,
    Chain,
    Constituency,
    ConstrainedChain,
    ConstrainedSemiMarkov,
    Exhaustive,
    Grammar,
    Graph,
    Grid,
    Lattice,
    Matching,
    Multiclass,
    Program,
    SemiMarkov,
    SpanningTree,
    Structure,
    Tree,
)


@dataclass
class Case:
    """One structure and the shapes of its scores.

    Attributes
    ----------
    mirror : Structure or None
        The same outputs as hyperedges, run by the generic engine.
    programs : bool
        Whether the integer program can be solved for its output.
    symmetric : bool
        Whether scores are symmetric matrices.
    outputs : list or None
        All outputs, if the structure cannot list them.
    slow : bool
        Whether the structure is written in Python, or is an integer program itself.
    certified : Structure or None
        The same, with little room for product automata: its sums come with bounds.
    alone : Structure or None
        The same without a topology in the examples.
    free : Structure or None
        The same without constraints, which lists ``outputs``.
    complete : bool
        Whether no query may be refused.
    batch : int
        The most examples to draw.
    temperatures : tuple of float
        The temperatures of its sums.
    """

    structure: Structure
    shapes: dict[str, tuple[int, ...]]
    topology: dict[str, Any] = field(default_factory=dict)
    mirror: Structure | None = None
    programs: bool = True
    symmetric: bool = False
    outputs: list[Any] | None = None
    slow: bool = False
    certified: Any = None
    alone: Structure | None = None
    free: Structure | None = None
    complete: bool = False
    batch: int = 250
    temperatures: tuple[float, ...] = (0.3, 1.0, 5.0)


class Draw(Protocol):
    """Draws an instance; sizes are up to ``grow`` times those that can be enumerated."""

    def __call__(self, rng: np.random.Generator, grow: int = 1) -> Case: ...


class _ByEdges(Structure):
    """A structure with hyperedges, run by the engine instead of its own loops."""

    def __init__(self, structure: Any) -> None:
        self._structure = structure
        self.label_block = structure.label_block

    def blocks(self, n_labels: int) -> Any:
        return self._structure.blocks(n_labels)

    def encode(self, y: Any, **scores: Any) -> Any:
        return self._structure.encode(y, **scores)

    def decode(self, parts: Any) -> Any:
        return self._structure.decode(parts)

    def edges(self, **scores: Any) -> Any:
        return self._structure.edges(**scores)


def _whole(rng: np.random.Generator, least: int, most: int) -> int:
    return int(rng.integers(least, most + 1))


def _multiclass(rng: np.random.Generator, grow: int = 1) -> Case:
    return Case(Multiclass(), {"label": (_whole(rng, 1, 7 * grow),)})


def _chain(order: int) -> Draw:
    def make(rng: np.random.Generator, grow: int = 1) -> Case:
        n_labels = _whole(rng, 1, (3 if order < 3 else 2) * min(grow, 7 - 2 * order))
        length = _whole(rng, 1, {1: 6, 2: 5}.get(n_labels, 4) * grow)
        shapes: dict[str, tuple[int, ...]] = {"label": (length, n_labels)}
        for name in ("start", "end"):
            if rng.random() < 0.5:
                shapes[name] = (n_labels,)
        for j in range(1, order + 1):
            kind = rng.random()
            window = (n_labels,) * (j + 1)
            if kind < 0.8:
                name = "transition" if j == order else f"transition{j}"
                shapes[name] = window if kind < 0.4 else (max(length - j, 0), *window)
        return Case(Chain(order), shapes, mirror=EdgeChain(order))

    return make


def _segments(rng: np.random.Generator, grow: int = 1) -> Case:
    n_labels, width = _whole(rng, 1, 2 * grow), _whole(rng, 1, 4)
    length = _whole(rng, 1, 4 * grow)
    shapes: dict[str, tuple[int, ...]] = {"segment": (length, width, n_labels)}
    for name in ("start", "end"):
        if rng.random() < 0.5:
            shapes[name] = (n_labels,)
    kind = rng.random()
    if kind < 0.8:
        pair = (n_labels, n_labels)
        shapes["transition"] = pair if kind < 0.4 else (length - 1, *pair)
    return Case(SemiMarkov(width), shapes, mirror=EdgeSegments(width))


def _accepted_chain(rng: np.random.Generator, grow: int = 1) -> Case:
    order = _whole(rng, 0, 3)
    case = _chain(order)(rng, grow)
    return _accepted(case, rng, *case.shapes["label"], ConstrainedChain, order)


def _accepted_segments(rng: np.random.Generator, grow: int = 1) -> Case:
    case = _segments(rng, grow)
    length, width, n_labels = case.shapes["segment"]
    return _accepted(case, rng, length, n_labels, ConstrainedSemiMarkov, width)


def _accepted(
    case: Case,
    rng: np.random.Generator,
    length: int,
    n_labels: int,
    kind: type[ConstrainedChain] | type[ConstrainedSemiMarkov],
    size: int,
) -> Case:
    """Return a chain's or segmentation's case under automata, some of them in the examples."""
    own, brought = (draw_automata(rng, n_labels, length) for _ in range(2))
    case.structure = kind(own, size, max_states=1 << 20)
    most = max((len(a.accepting) for a in (*own, *brought)), default=1)
    case.certified = kind(own, size, max_states=most + 1, tolerance=0.9)
    case.mirror, case.programs, case.batch = None, False, 12
    case.temperatures = (0.05, 0.3, 1.0, 5.0, 10.0)
    if rng.random() < 0.3:
        case.topology = {"automata": brought}
        case.alone = kind([*own, *brought], size, max_states=1 << 20)
    return case


def _written_chain(rng: np.random.Generator, grow: int = 1) -> Case:
    order = _whole(rng, 0, 3)
    case = _chain(order)(rng)
    length, n_labels = case.shapes["label"]
    names = draw_names(rng, n_labels)
    blocks = [name for name in ("start", "end") if name in case.shapes]
    blocks += ["transition"] * (order == 1 and "transition" in case.shapes)
    outputs = case.structure.outputs(label=np.zeros((length, n_labels)))
    read = [(y, [names[k] for k in y]) for y in outputs]
    return _written(case, rng, names, read, lambda: draw_written(rng, names, length, blocks))


def _written_segments(rng: np.random.Generator, grow: int = 1) -> Case:
    case = _segments(rng)
    length, _, n_labels = case.shapes["segment"]
    names = draw_names(rng, n_labels)
    blocks = [name for name in ("start", "transition") if name in case.shapes]
    outputs = case.structure.outputs(segment=np.zeros(case.shapes["segment"]))
    read = [(y, [names[k] for _, _, k in y]) for y in outputs]
    return _written(case, rng, names, read, lambda: draw_written(rng, names, length, blocks, True))


def _written(
    case: Case,
    rng: np.random.Generator,
    names: list[str],
    read: list[tuple[Any, list[str]]],
    draw: Callable[[], list[Written]],
) -> Case:
    """Return a case under constraints in users' notation, mostly satisfiable ones.

    They are applied by :func:`with_constraints`, or as in estimators.
    """
    free = case.free = case.structure
    for _ in range(8):
        rules = draw()
        case.outputs = [y for y, labels in read if all(rule.holds(labels) for rule in rules)]
        if case.outputs:
            break
    texts = [rule.text for rule in rules]
    sequences = sequences_of(free, alphabet_of(free, names), None)
    assert sequences is not None
    automata = [
        constraint.automaton for constraint in automata_of(read_constraints(texts), sequences)
    ]
    case.certified = product_of(free, automata)
    if rng.random() < 0.5:
        # Room only for the largest of them.
        most = max((automaton.n_states for automaton in automata), default=1)
        size = free.order if isinstance(free, Chain) else case.shapes["segment"][1]
        case.certified = type(case.certified)(automata, size, max_states=most + 1, tolerance=0.9)
    if rng.random() < 0.5:
        case.structure = with_constraints(free, texts, classes=names)
    else:
        case.structure = under(free, texts, np.array(names))
        case.programs = False
    case.mirror, case.complete, case.batch = None, True, 25
    case.temperatures = (0.05, 0.3, 1.0, 5.0, 10.0)
    return case


def _tree(rng: np.random.Generator, grow: int = 1) -> Case:
    n, n_labels = _whole(rng, 1, 5 * grow), _whole(rng, 1, 3 * grow)
    order = rng.permutation(n)
    parents = np.full(n, -1)
    for i in range(1, n):
        parents[order[i]] = order[rng.integers(i)]
    shapes: dict[str, tuple[int, ...]] = {"label": (n, n_labels)}
    if rng.random() < 0.8:
        pair = (n_labels, n_labels)
        shapes["edge"] = pair if rng.random() < 0.5 else (n - 1, *pair)
    return Case(Tree(parents), shapes)


def _spans(rng: np.random.Generator, grow: int = 1) -> Case:
    n, n_labels = _whole(rng, 1, 3 + grow), _whole(rng, 1, 2 * grow)
    return Case(Constituency(), {"span": (n, n + 1, n_labels)}, mirror=_ByEdges(Constituency()))


def _grammar(rng: np.random.Generator, grow: int = 1) -> Case:
    n_symbols, n = _whole(rng, 1, 2 + grow), _whole(rng, 1, 3 + grow)
    every = [
        (a, b, c) for a in range(n_symbols) for b in range(n_symbols) for c in range(n_symbols)
    ]
    picked = rng.permutation(len(every))[: _whole(rng, 1, min(4 * grow, len(every)))]
    binary = [every[i] for i in picked]
    pairs = [(a, b) for a in range(n_symbols) for b in range(n_symbols) if a < b]
    unary = [pair for pair in pairs if rng.random() < 0.5]
    shapes: dict[str, tuple[int, ...]] = {"word": (n, n_symbols), "binary": (len(binary),)}
    if unary:
        shapes["unary"] = (len(unary),)
    if rng.random() < 0.5:
        shapes["root"] = (n_symbols,)
    if rng.random() < 0.5:
        shapes["span"] = (n, n + 1, n_symbols)
    structure = Constituency(Grammar(n_symbols, binary, unary))
    # Without spans, the rules of a tree do not determine it.
    labelled = "span" in shapes
    return Case(
        structure, shapes, mirror=_ByEdges(structure) if labelled else None, programs=labelled
    )


def _arcs(projective: bool) -> Draw:
    def make(rng: np.random.Generator, grow: int = 1) -> Case:
        n = _whole(rng, 1, 4 * grow)
        shapes: dict[str, tuple[int, ...]] = {"arc": (n + 1, n + 1)}
        if rng.random() < 0.3 and n < 4 * grow:
            shapes["arc"] = (n + 1, n + 1, _whole(rng, 1, 2 * grow))
        if projective and rng.random() < 0.3:
            shapes["sibling"] = (n + 1, n + 1, n + 1)
        structure = Arborescence(projective=projective, single_root=bool(rng.random() < 0.5))
        return Case(structure, shapes, mirror=_ByEdges(structure) if projective else None)

    return make


def _spanning(rng: np.random.Generator, grow: int = 1) -> Case:
    n = _whole(rng, 1, 5 * grow)
    return Case(SpanningTree(), {"edge": (n, n)}, symmetric=True)


def _matching(rng: np.random.Generator, grow: int = 1) -> Case:
    n = _whole(rng, 1, 4 * grow)
    return Case(Matching(), {"pair": (n, n + _whole(rng, 0, 2 if n < 4 else 1))}, slow=True)


def _lattice(rng: np.random.Generator, grow: int = 1) -> Case:
    n = _whole(rng, 2, 5 * grow)
    edges = [(i, i + 1) for i in range(n - 1)]
    for _ in range(_whole(rng, 0, 6 * grow)):
        i = _whole(rng, 0, n - 2)
        edges.append((i, _whole(rng, i + 1, n - 1)))
    return Case(Lattice(edges), {"edge": (len(edges),)})


def _graph(rng: np.random.Generator, grow: int = 1) -> Case:
    n, n_labels = _whole(rng, 1, 3 + 2 * grow), _whole(rng, 1, 3)
    edges = [(a, b) if rng.random() < 0.5 else (b, a)
             for a in range(n) for b in range(a) if rng.random() < 0.6 / grow]  # fmt: skip
    shapes: dict[str, tuple[int, ...]] = {"label": (n, n_labels)}
    kind = rng.random()
    if kind < 0.4:
        shapes["edge"] = (len(edges), n_labels, n_labels)
    elif kind < 0.6:
        shapes["edge"] = (n_labels, n_labels)
    elif kind < 0.9:
        shapes["potts"] = (len(edges),)
    return Case(Graph(np.array(edges, dtype=int).reshape(-1, 2)), shapes, slow=True)


def _grid(rng: np.random.Generator, grow: int = 1) -> Case:
    height, width = _whole(rng, 1, 3), _whole(rng, 1, 3 * grow)
    n_labels = _whole(rng, 1, 2 if height * width > 6 else 3 if height * width < 5 else 2)
    shapes: dict[str, tuple[int, ...]] = {"label": (height, width, n_labels)}
    pair = (n_labels, n_labels)
    kind = rng.random()
    if kind < 0.3:
        shapes.update(right=pair, down=pair)
    elif kind < 0.6:
        shapes.update(right=(height, width - 1, *pair), down=(height - 1, width, *pair))
    elif kind < 0.9:
        shapes.update(potts_right=(height, width - 1), potts_down=(height - 1, width))
    return Case(Grid(), shapes, slow=True)


def _program(rng: np.random.Generator, grow: int = 1) -> Case:
    n, rows = _whole(rng, 1, 5), _whole(rng, 1, 3)
    table = rng.integers(-1, 2, size=(rows, n)).astype(float)
    upper = rng.integers(0, 3, size=rows).astype(float)
    every = np.array(np.meshgrid(*[[0, 1]] * n)).reshape(n, -1).T
    held = [y.astype(float) for y in every if (table @ y <= upper).all()]
    return Case(Program(table, -np.inf, upper), {"part": (n,)}, outputs=held, slow=True)


def _constrained(rng: np.random.Generator, grow: int = 1) -> Case:
    n_labels, length = _whole(rng, 2, 3), _whole(rng, 1, 4)
    shapes: dict[str, tuple[int, ...]] = {"label": (length, n_labels)}
    if rng.random() < 0.7:
        shapes["transition"] = (n_labels, n_labels)
    rules = [
        forbid(Label(1, at=0)),
        at_most(1, Label(1)),
        exactly(1, Label(0)),
        if_then(Label(1), Label(0)),
    ]
    subset = [rule for rule in rules if rng.random() < 0.4] or rules[:1]
    return Case(with_constraints(Chain(), subset), shapes, slow=True)


def _exhaustive(rng: np.random.Generator, grow: int = 1) -> Case:
    inner = _chain(1)(rng)
    return Case(Exhaustive(Chain()), inner.shapes, slow=True)


#: Name -> a function that draws an instance; ``grow`` above 1: instances too large to enumerate.
CASES: dict[str, Draw] = {
    "classes": _multiclass,
    "chains of order 0": _chain(0),
    "chains of order 1": _chain(1),
    "chains of order 2": _chain(2),
    "chains of order 3": _chain(3),
    "segments": _segments,
    "trees": _tree,
    "spans": _spans,
    "grammars": _grammar,
    "projective arcs": _arcs(True),
    "arcs": _arcs(False),
    "spanning trees": _spanning,
    "matchings": _matching,
    "lattices": _lattice,
    "graphs": _graph,
    "grids": _grid,
    "programs": _program,
    "constraints": _constrained,
    "enumeration": _exhaustive,
    "accepted chains": _accepted_chain,
    "accepted segments": _accepted_segments,
    "written constraints": _written_chain,
    "written constraints on segments": _written_segments,
}
