"""One small example of every structure that has sums, its scores drawn at a scale and an offset."""

import numpy as np

from structlearn.structures import (
    Arborescence,
    Chain,
    Constituency,
    Exhaustive,
    Grammar,
    Graph,
    Grid,
    Lattice,
    Multiclass,
    SemiMarkov,
    SpanningTree,
    Tree,
)

PARENTS = np.array([1, -1, 1, 0])
EDGES = np.array([(0, 1), (1, 2), (2, 0), (2, 3)])
PATHS = [(0, 1), (0, 1), (1, 2), (0, 2), (1, 3), (2, 3), (2, 3)]
GRAMMAR = Grammar(2, [(0, 0, 1), (1, 1, 0), (0, 0, 0)], [(0, 1), (1, 0)])

#: Name to structure and the shapes of its scores; those that take an offset come first.
ZOO = {
    "multiclass": (Multiclass(), {"label": (4,)}),
    "chain": (Chain(), {"label": (5, 3), "transition": (3, 3), "start": (3,), "end": (3,)}),
    "chain by position": (Chain(), {"label": (4, 3), "transition": (3, 3, 3)}),
    "chain without transitions": (Chain(), {"label": (4, 3)}),
    "chain of order 2": (
        Chain(2),
        {"label": (5, 2), "transition1": (2, 2), "transition": (2, 2, 2)},
    ),
    "chain shorter than its order": (
        Chain(3),
        {"label": (2, 3), "transition1": (3, 3), "transition": (3,) * 4},
    ),
    "chain of one label": (Chain(), {"label": (4, 1), "transition": (1, 1)}),
    "tree": (Tree(PARENTS), {"label": (4, 3), "edge": (3, 3)}),
    "tree by edge": (Tree(PARENTS), {"label": (4, 2), "edge": (3, 2, 2)}),
    "segments": (SemiMarkov(3), {"segment": (4, 3, 2), "transition": (2, 2), "start": (2,)}),
    "segments by position": (SemiMarkov(2), {"segment": (4, 2, 2), "transition": (3, 2, 2)}),
    "segments without transitions": (SemiMarkov(3), {"segment": (4, 3, 2)}),
    "spans": (Constituency(), {"span": (4, 5, 2)}),
    "grammar": (
        Constituency(GRAMMAR),
        {"word": (3, 2), "span": (3, 4, 2), "binary": (3,), "unary": (2,), "root": (2,)},
    ),
    "grammar without spans": (Constituency(GRAMMAR), {"word": (3, 2), "binary": (3,)}),
    "arborescence": (Arborescence(), {"arc": (5, 5)}),
    "arborescence of many roots": (Arborescence(single_root=False), {"arc": (5, 5)}),
    "arborescence with labels": (Arborescence(), {"arc": (4, 4, 2)}),
    "projective": (Arborescence(projective=True), {"arc": (5, 5)}),
    "siblings": (
        Arborescence(projective=True, single_root=False),
        {"arc": (4, 4), "sibling": (4, 4, 4)},
    ),
    "spanning tree": (SpanningTree(), {"edge": (5, 5)}),
    "lattice": (Lattice(PATHS), {"edge": (7,)}),
    "graph": (Graph(EDGES), {"label": (4, 3), "edge": (3, 3)}),
    "graph by edge": (Graph(EDGES), {"label": (4, 2), "edge": (4, 2, 2)}),
    "graph, Potts": (Graph(EDGES), {"label": (4, 3), "potts": (4,)}),
    "graph, tables and Potts": (Graph(EDGES), {"label": (4, 2), "edge": (2, 2), "potts": ()}),
    "graph without pairs": (Graph(EDGES), {"label": (4, 3)}),
    "grid": (Grid(), {"label": (2, 3, 2), "right": (2, 2), "down": (2, 2)}),
    "grid of strengths": (
        Grid(),
        {"label": (2, 2, 3), "potts_right": (2, 1), "potts_down": (1, 2)},
    ),
    "enumeration": (Exhaustive(Chain()), {"label": (3, 3), "transition": (3, 3)}),
}


def draw_scores(name, rng, scale, offset=0.0, forbidden=0.0):
    """Return scores of one of the structures; the offset is added to the first block."""
    scores = {}
    for block, shape in ZOO[name][1].items():
        a = scale * rng.normal(size=shape)
        if block.startswith("potts"):
            scores[block] = np.abs(a)
            continue
        a[rng.random(shape) < forbidden] = -np.inf
        scores[block] = a + (0.0 if scores else offset)
    return scores
