"""Fitted estimators of every kind, on every kind of input, for the tests of their files."""

from __future__ import annotations

import warnings
from enum import Enum

import numpy as np
from scipy import sparse

from structlearn import (
    AROW,
    CRF,
    HMM,
    AdaGrad,
    MultiLabelClassifier,
    PassiveAggressive,
    StructuredModel,
    StructuredPerceptron,
    StructuredSVM,
)
from structlearn.constraints import Label, Part, at_most, forbid, if_then, require, with_constraints
from structlearn.losses import Hamming, LabelCost, ZeroOne
from structlearn.structures import (
    Arborescence,
    Chain,
    Exhaustive,
    Grammar,
    Graph,
    Grid,
    Lattice,
    Matching,
    Program,
    SemiMarkov,
    Tree,
)
from tests.estimators.estimator_data import points, sentences, sequences
from tests.estimators.segment_data import draw_segments
from tests.estimators.test_constituency_learning import draw_trees

ONLINE = {"random_state": 0, "max_iter": 3}


def dictionaries(n=12):
    X, y = sentences(n)
    made = [[{"w": t[1], "n": 0.5 * i, "up": True} for i, t in enumerate(s)] for s in X]
    return made, y


def many_labels():
    """One feature is seen with four of six labels: its row of weights is stored full."""
    return [[["a"], ["a"], ["b"]], [["a"], ["a"], ["c"]]], [list("NVD"), list("PAR")]


def words(n=20):
    X, y = sentences(n)
    return [[token[1] for token in s] for s in X], y


def as_sparse(X):
    return [sparse.csr_matrix(x) for x in X]


def images(n=3):
    rng = np.random.default_rng(3)
    X, y = [], []
    for _ in range(n):
        truth = np.zeros((4, 5), dtype=int)
        truth[1:3, 1:4] = 1
        grey = truth + rng.normal(size=truth.shape)
        edges = {"potts_right": np.ones((4, 4, 1)), "potts_down": np.ones((3, 5, 1))}
        X.append({"label": np.stack((grey, np.ones_like(grey)), axis=-1), **edges})
        y.append(np.array(["sky", "tree"])[truth])
    return X, y


def graphs(n=8):
    rng = np.random.default_rng(4)
    edges = np.array([[0, 1], [1, 2], [2, 0], [2, 3]])
    X = [
        {"label": rng.normal(size=(4, 3)), "edges": edges, "edge": rng.normal(size=(4, 2))}
        for _ in range(n)
    ]
    return X, [rng.integers(0, 2, 4) for _ in range(n)]


def trees(n=8, parents=None):
    rng = np.random.default_rng(5)
    X, y = [], []
    for _ in range(n):
        x = {"label": rng.normal(size=(4, 3)), "edge": rng.normal(size=(3, 2))}
        X.append(x if parents is not None else {**x, "parents": np.array([-1, 0, 1, 1])})
        y.append([("a", "b", "c")[k] for k in rng.integers(0, 3, 4)])
    y[0] = ["a", "b", "c", "a"]
    return X, y


def arcs(n=6, labelled=False):
    rng = np.random.default_rng(6)
    X, y = [], []
    for _ in range(n):
        X.append({"arc": rng.normal(size=(5, 5, 3))})
        heads = np.array([0, 1, 1, 3])
        y.append((heads, ["x", "y", "x", "y"]) if labelled else heads)
    return X, y


def pairs(n=6):
    rng = np.random.default_rng(7)
    return [{"pair": rng.normal(size=(3, 4, 2))} for _ in range(n)], [[2, 0, 1]] * n


def paths(n=10):
    lattice = Lattice([(0, 1), (0, 1), (1, 2), (1, 2), (0, 2)])
    rng = np.random.default_rng(8)
    X = [{"edge": rng.normal(size=(5, 3))} for _ in range(n)]
    return X, [list(lattice.outputs())[i % 5] for i in range(n)]


def shares(n=8):
    rng = np.random.default_rng(9)
    X = [{"part": rng.normal(size=(3, 2))} for _ in range(n)]
    return X, [np.array([1.0, 0.0, 1.0]) if i % 2 else np.array([0.0, 1.0, 0.0]) for i in range(n)]


def several(n=25, labels=3):
    rng = np.random.default_rng(10)
    X = rng.normal(size=(n, 4))
    return X, (X @ rng.normal(size=(4, labels)) + rng.normal(size=(n, labels)) > 0).astype(int)


def partly(n=12):
    X, y = sequences(n)
    return X, [[None if (i + t) % 4 == 1 else k for t, k in enumerate(row)]
               for i, row in enumerate(y)]  # fmt: skip


def named(values, data=points):
    """The same data with other labels."""

    def made():
        X, y = data()
        names = dict(zip(("D", "N", "V"), values, strict=True))
        if isinstance(y, np.ndarray):
            return X, [names[k] for k in y.tolist()]
        return X, [[names[k] for k in row] for row in y]

    return made


def ending(first):
    """Sequences of N, but for the beginning of the first one."""
    X, _ = sequences(6)
    y = [["N"] * len(x) for x in X]
    y[0][: len(first)] = first
    X[0], y[0] = np.vstack([X[0]] * 2), y[0] + ["N"] * len(y[0])
    return X, y


def both_blocks(n=10):
    X, y = sequences(n)
    rng = np.random.default_rng(11)
    made = [{"label": [[f"f{int(v > 0)}" for v in row] for row in x],
             "transition": rng.normal(size=(len(x) - 1, 2))} for x in X if len(x) > 1]  # fmt: skip
    return made, [row for row in y if len(row) > 1]


class Colour(str, Enum):
    RED, GREEN, BLUE = "red", "green", "blue"


GRAMMAR = Grammar(3, [[0, 1, 2], [0, 0, 2], [1, 1, 2]], [[0, 1]])
RULES = [at_most(1, Label("D")), require(Label("N", at=-1)), if_then(Label("V"), Label("N"))]
TREE = {"nouns": ["N", "D"], "verbs": ["V"]}

#: Name -> (estimator, function that makes X and y).
CASES = {
    # every estimator
    "crf": (CRF(), sequences),
    "svm": (StructuredSVM(random_state=0), sequences),
    "perceptron": (StructuredPerceptron(**ONLINE), sequences),
    "passive-aggressive": (PassiveAggressive(**ONLINE), sequences),
    "adagrad": (AdaGrad(**ONLINE), sequences),
    "arow": (AROW(**ONLINE), sequences),
    "model": (StructuredModel(margin=1.0, temperature=1.0, max_iter=5), sequences),
    "beam": (StructuredPerceptron(Chain(2), beam=2, **ONLINE), sequences),
    # every input
    "sparse": (CRF(), lambda: (as_sparse(sequences()[0]), sequences()[1])),
    "strings": (CRF(), sentences),
    "few names": (CRF(min_count=3), sentences),
    "all states": (CRF(all_possible_states=True), sentences),
    "observed pairs": (StructuredSVM(all_possible_transitions=False, random_state=0), sentences),
    "full rows": (CRF(), many_labels),
    "single strings": (CRF(), words),
    "dictionaries": (StructuredPerceptron(**ONLINE), dictionaries),
    "two blocks": (StructuredPerceptron(**ONLINE), both_blocks),
    "unknown labels": (CRF(), partly),
    "order 2": (CRF(Chain(2)), sequences),
    "order 0": (CRF(Chain(0), boundaries=False), sequences),
    # every structure
    "multiclass": (CRF("multiclass"), points),
    "multiclass sparse": (CRF("multiclass"), lambda: (sparse.csr_matrix(points()[0]), points()[1])),
    "multiclass names": (
        StructuredSVM("multiclass", random_state=0),
        lambda: ([["a", f"b{i % 3}"] for i in range(12)], ["x", "y", "z"] * 4),
    ),
    "semimarkov": (CRF("semimarkov"), draw_segments),
    "semimarkov given": (StructuredPerceptron(SemiMarkov(3), **ONLINE), draw_segments),
    "tree": (CRF("tree"), trees),
    "tree given": (CRF(Tree([-1, 0, 1, 1])), lambda: trees(parents=1)),
    "graph": (StructuredPerceptron("graph", **ONLINE), graphs),
    "graph given": (
        StructuredSVM(Graph([[0, 1], [1, 2], [2, 0], [2, 3]], method="elimination"), max_iter=3,
                      random_state=0),
        lambda: ([{k: v for k, v in x.items() if k != "edges"} for x in graphs()[0]], graphs()[1]),
    ),
    "grid": (StructuredSVM(Grid(damping=0.1), submodular=True, max_iter=3, random_state=0), images),
    "grid pseudo": (CRF("grid", likelihood="pseudo"), images),
    "arborescence": (StructuredPerceptron("arborescence", **ONLINE), arcs),
    "labelled arcs": (
        StructuredPerceptron(Arborescence(projective=True), **ONLINE),
        lambda: arcs(labelled=True),
    ),
    "spanning tree": (
        StructuredPerceptron("spanning-tree", **ONLINE),
        lambda: ([{"edge": x["arc"]} for x in arcs()[0]],
                 [np.array([[0, 1], [1, 2], [2, 3], [3, 4]])] * 6),
    ),
    "matching": (StructuredPerceptron(Matching(), **ONLINE), pairs),
    "constituency": (StructuredPerceptron("constituency", **ONLINE), lambda: draw_trees(6)),
    "lattice": (
        StructuredPerceptron(Lattice([(0, 1), (0, 1), (1, 2), (1, 2), (0, 2)]), **ONLINE), paths),
    "program": (
        StructuredPerceptron(Program([[1, 1, 0], [0, 1, 1]], -np.inf, 1, names=["p", "q"]),
                             **ONLINE), shares),
    "enumerated": (StructuredPerceptron(Exhaustive(Chain()), **ONLINE), lambda: sequences(4)),
    "enumerated outputs": (
        StructuredPerceptron(Exhaustive([[0, 1], [1, 0], [2, 2]]), **ONLINE),
        lambda: ([np.eye(2) + i for i in range(4)],
                 [["a", "b"], ["b", "a"], ["c", "c"], ["a", "b"]]),
    ),
    # what restricts and weighs
    "constraints": (StructuredPerceptron(constraints=RULES, **ONLINE), lambda: ending(("D", "V"))),
    "constrained segments": (
        CRF("semimarkov", constraints="contiguous(); at_most(3, B)", illegal="drop"),
        draw_segments),
    "constrained structure": (
        CRF(with_constraints(Chain(), [forbid(Part("transition", 0, 0)), forbid(Label(2, at=0))])),
        lambda: named(("a", "b", "c"), lambda: ([np.ones((3, 2)), np.eye(3, 2)],
                                                [["D", "N", "V"], ["N", "D", "N"]]))(),
    ),
    "masks": (CRF(forbid={"start": ["V"]}, boundaries=False, margin=0.5, cost="zero-one"),
              lambda: ending(("D", "N", "V"))),
    "segment masks": (StructuredPerceptron("semimarkov", forbid={"segment": [(3, "C")]}, **ONLINE),
                      draw_segments),
    "hierarchy": (CRF(hierarchy=TREE), sequences),
    "hierarchy of points": (StructuredSVM("multiclass", hierarchy=(("D", "N"), "V"),
                                          random_state=0), points),
    "balanced": (CRF(class_weight="balanced"), sequences),
    "weighted": (CRF(class_weight={"D": 2.0, "N": np.float32(0.5)}), sequences),
    "table": (StructuredSVM(cost=np.array([[0, 1, 2], [1, 0, 1], [2, 1, 0.0]]), max_iter=5,
                            random_state=0), sequences),
    "cost object": (StructuredSVM(cost=Hamming(normalize=True, weights={"D": 2.0}), max_iter=5,
                                  random_state=0), sequences),
    "table object": (StructuredSVM(cost=LabelCost([[0, 1, 1], [1, 0, 1], [1, 1, 0]]), max_iter=5,
                                   random_state=0), sequences),
    "zero-one": (StructuredSVM("multiclass", cost=ZeroOne(), max_iter=5, random_state=0), points),
    "cutting planes": (StructuredSVM(solver="one-slack", violation_tol=0.1), sequences),
    "warm": (CRF(solver="dual", warm_start=True), sequences),
    # labels
    "whole numbers": (CRF("multiclass"), named((3, -1, 2**40))),
    "floats": (CRF(), named((0.1, -1.5, 1e300), sequences)),
    "truth values": (CRF(), named((False, True, False), sequences)),
    "huge numbers": (CRF(), named((2**70, -3, 5), sequences)),
    "odd names": (CRF(), named(("", "größe\0x", "\ud800"), sequences)),
    "bytes": (CRF("multiclass"), named((b"", b"\xff\0x", b"V"))),
    "weighted bytes": (
        StructuredPerceptron(class_weight={b"V": 2.0, b"D": 0.5, b"N": 1.0},
                             constraints=[at_most(9, Label(b"D"))], **ONLINE),
        named((b"D", b"N", b"V"), sequences)),
    "short floats": (CRF(), named(tuple(np.array([0.1, 2.0, 3.0], dtype=np.float16)), sequences)),
    "members": (CRF(), named(tuple(Colour), sequences)),
    # the generative baseline
    "hmm": (HMM(), words),
    "hmm order 2": (HMM(order=2, alpha=0.7, rare=2), words),
    "hmm symbols": (HMM(suffix_length=0), words),
    "hmm observation": (HMM(observation="w"), dictionaries),
    "hmm gaussian": (HMM(shrinkage=0.4), sequences),
    "hmm bytes": (HMM(), named((b"D", b"N", b"V"), words)),
    # several labels
    "labels tree": (MultiLabelClassifier(), several),
    "labels full": (MultiLabelClassifier(StructuredSVM(max_iter=5, random_state=0), graph="full"),
                    several),
    "labels none": (MultiLabelClassifier(StructuredPerceptron(**ONLINE), graph="none",
                                         intercept=False), several),
    "labels given": (MultiLabelClassifier(CRF(C=0.5), graph=[[2, 0]]), several),
    "one label": (MultiLabelClassifier(), lambda: several(labels=1)),
    "labels sparse": (MultiLabelClassifier(),
                      lambda: (sparse.csr_matrix(several()[0]), several()[1])),
}  # fmt: skip


def fitted(name):
    """Return the estimator of a case, newly fitted, and its X and y."""
    from sklearn.base import clone

    estimator, data = CASES[name]
    X, y = data()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(estimator).fit(X, y), X, y
