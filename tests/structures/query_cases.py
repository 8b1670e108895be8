"""One example of every structure, and every query that a structure can be asked."""

import numpy as np

from structlearn.constraints import Label, at_most, forbid, with_constraints
from structlearn.structures import (
    Arborescence,
    Chain,
    Constituency,
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
    Tree,
)

RNG = np.random.default_rng(0)


def normal(*shape):
    """Scores with few digits: float32 and float64 sums of them order outputs alike."""
    return np.round(RNG.normal(size=shape), 2)


CASES = {
    "multiclass": (Multiclass(), {"label": normal(3)}),
    "chain": (
        Chain(),
        {
            "label": normal(4, 3),
            "transition": normal(3, 3),
            "start": normal(3),
            "end": normal(3),
        },
    ),
    "chain of order 2": (
        Chain(2),
        {"label": normal(4, 2), "transition": normal(2, 2, 2), "transition1": normal(3, 2, 2)},
    ),
    "semi-markov": (
        SemiMarkov(2),
        {"segment": normal(4, 2, 2), "transition": normal(2, 2), "start": normal(2)},
    ),
    "tree": (Tree([-1, 0, 0]), {"label": normal(3, 2), "edge": normal(2, 2)}),
    "tree of the example": (
        Tree(),
        {"label": normal(3, 2), "edge": normal(2, 2, 2), "parents": np.array([-1, 0, 1])},
    ),
    "spans": (Constituency(), {"span": normal(3, 4, 2)}),
    "grammar": (
        Constituency(Grammar(3, [(0, 1, 2), (0, 0, 2)], [(0, 1)])),
        {
            "word": normal(3, 3),
            "binary": normal(2),
            "unary": normal(1),
            "root": normal(3),
            "span": normal(3, 4, 3),
        },
    ),
    "arborescence": (Arborescence(), {"arc": normal(4, 4)}),
    "labelled arborescence": (Arborescence(), {"arc": normal(4, 4, 2)}),
    "projective arborescence": (
        Arborescence(projective=True),
        {"arc": normal(4, 4), "sibling": normal(4, 4, 4)},
    ),
    "spanning tree": (SpanningTree(), {"edge": normal(4, 4)}),
    "matching": (Matching(), {"pair": normal(3, 4)}),
    "grid": (
        Grid(),
        {"label": normal(2, 3, 2), "right": normal(2, 2), "down": normal(1, 3, 2, 2)},
    ),
    "potts grid": (
        Grid(),
        {
            "label": normal(2, 3, 2),
            "potts_right": np.abs(normal(2, 2)),
            "potts_down": np.array(0.5),
        },
    ),
    "graph": (Graph([[0, 1], [1, 2], [2, 0]]), {"label": normal(3, 2), "edge": normal(2, 2)}),
    "graph of the example": (
        Graph(),
        {"label": normal(3, 2), "edge": normal(2, 2, 2), "edges": np.array([[0, 1], [1, 2]])},
    ),
    "program": (Program([[1, 1, 1], [1, 1, 0]], 0, [2, 1]), {"part": normal(3)}),
    "lattice": (Lattice([(0, 1), (0, 2), (1, 2)]), {"edge": normal(3)}),
    "exhaustive": (Exhaustive(Chain()), {"label": normal(3, 2), "transition": normal(2, 2)}),
    "masks": (
        with_constraints(Chain(), [forbid(Label(1, at=0))]),
        {"label": normal(3, 2), "transition": normal(2, 2)},
    ),
    "rows": (
        with_constraints(Chain(), [at_most(1, Label(1))]),
        {"label": normal(3, 2), "transition": normal(2, 2)},
    ),
}

#: query(structure, output, parts, scores)
QUERIES = {
    "argmax": lambda s, y, parts, scores: s.argmax(**scores),
    "solve": lambda s, y, parts, scores: s.solve(**scores),
    "infer": lambda s, y, parts, scores: s.infer(**scores),
    "infer at 0": lambda s, y, parts, scores: s.infer(temperature=0, **scores),
    "log_partition": lambda s, y, parts, scores: s.log_partition(**scores),
    "marginals": lambda s, y, parts, scores: s.marginals(**scores),
    "marginals at 0": lambda s, y, parts, scores: s.marginals(temperature=0, **scores),
    "kbest": lambda s, y, parts, scores: s.kbest(2, **scores),
    "sample": lambda s, y, parts, scores: s.sample(2, random_state=0, **scores),
    "sample at 0": lambda s, y, parts, scores: s.sample(2, temperature=0, **scores),
    "score": lambda s, y, parts, scores: s.score(y, **scores),
    "count": lambda s, y, parts, scores: s.count(**scores),
    "entropy": lambda s, y, parts, scores: s.entropy(**scores),
    "encode": lambda s, y, parts, scores: s.encode(y, **scores),
    "decode": lambda s, y, parts, scores: s.decode(parts),
    "as_program": lambda s, y, parts, scores: s.as_program(**scores).solve().value,
}


def same(a, b, digits=12):
    """Tell whether two answers, of whatever kind, are equal up to rounding."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k], digits) for k in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(same(x, y, digits) for x, y in zip(a, b, strict=True))
    if isinstance(a, str):
        return a == b
    return np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=0, atol=10.0**-digits)
