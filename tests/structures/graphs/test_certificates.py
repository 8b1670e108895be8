"""What searches of labellings claim, with enumeration in whole numbers as the judge.

Scores of every size, with offsets, near ties and soft prohibitions. No tolerance of the library is
used here: differences between labellings are exact, whatever all of them have in common.
"""

from fractions import Fraction

import numpy as np
import pytest

from structlearn.exceptions import CapabilityError, InfeasibleError, NotSubmodularError
from structlearn.structures import Graph, Grid

EPS = Fraction(2) ** -52
UNIT = 2**300  # every score times this is a whole number
#: (unit of the scores, offset of labels, offset of pairs)
SIZES = [
    (1.0, 0.0, 0.0),
    (1e-12, 0.0, 0.0),
    (1e-9, 0.0, 0.0),
    (1e9, 0.0, 0.0),
    (1.0, 1e8, 0.0),
    (1.0, 0.0, 1e8),
    (1e-4, -1e4, -1e4),
]
FAST = ("auto", "elimination", "cut", "expansion", "swap", "max-product", "trws", "qpbo")


def random_scores(rng, unit=1.0, label_offset=0.0, pair_offset=0.0):
    """Return a structure with scores, and the same as (label, edge, edges) of a graph."""
    n_labels = int(rng.integers(2, 4))
    height, width = ((1, 4), (2, 2), (2, 3), (3, 2))[int(rng.integers(4))]
    node = np.arange(height * width).reshape(height, width)
    across = np.stack((node[:, :-1].ravel(), node[:, 1:].ravel()), axis=1)
    edges = np.concatenate((across, np.stack((node[:-1].ravel(), node[1:].ravel()), axis=1)))
    grid = rng.random() < 0.5
    if not grid:  # some edges more make cycles that no sweep over the nodes sees at once
        more = [rng.choice(height * width, 2, replace=False) for _ in range(3)]
        edges = np.concatenate((edges, more))
    label = rng.normal(size=(height * width, n_labels))
    edge = rng.normal(size=(len(edges), n_labels, n_labels))
    kind = int(rng.integers(4))
    if kind == 1:
        edge = -np.abs(edge[:, :1, :1]) * (1 - np.eye(n_labels))
    elif kind == 2:  # near ties
        label = np.round(label) + 1e-10 * rng.normal(size=label.shape)
        edge = np.round(edge) + 1e-10 * rng.normal(size=edge.shape)
    elif kind == 3:  # numbers that stand for -inf
        label[rng.random(label.shape) < 0.15] = -1e9
        edge[rng.random(edge.shape) < 0.15] = -1e12
    if rng.random() < 0.2:
        label[rng.random(label.shape) < 0.1] = -np.inf
        edge[rng.random(edge.shape) < 0.1] = -np.inf
    label, edge = label * unit + label_offset, edge * unit + pair_offset
    if not grid:
        return Graph(), {"label": label, "edge": edge, "edges": edges}, (label, edge, edges)
    pair = (n_labels, n_labels)
    scores = {
        "label": label.reshape(height, width, n_labels),
        "right": edge[: len(across)].reshape(height, width - 1, *pair),
        "down": edge[len(across) :].reshape(height - 1, width, *pair),
    }
    return Grid(), scores, (label, edge, edges)


class Enumeration:
    """Every labelling with its score as a Fraction, or None where it is forbidden."""

    def __init__(self, label, edge, edges):
        n_nodes, n_labels = label.shape
        every = np.stack([axis.ravel() for axis in np.indices((n_labels,) * n_nodes)], axis=1)
        legal = np.ones(len(every), dtype=bool)
        total = np.zeros(len(every), dtype=object)
        factors = [(label[v], (every[:, v],)) for v in range(n_nodes)]
        factors += [(edge[e], (every[:, p], every[:, q])) for e, (p, q) in enumerate(edges)]
        for table, at in factors:
            finite = np.isfinite(table)
            whole = np.zeros(table.shape, dtype=object)
            for i in zip(*np.nonzero(finite), strict=True):
                whole[i] = int(Fraction(table[i]) * UNIT)
            legal &= finite[at]
            total = total + whole[at]
        self.scores = {
            tuple(y): Fraction(s, UNIT)
            for y, s, kept in zip(every.tolist(), total.tolist(), legal, strict=True)
            if kept
        }
        self.best = max(self.scores.values(), default=None)
        #: What no float sum can be more precise than.
        self.rounding = (
            16
            * EPS
            * sum(
                Fraction(np.abs(table[np.isfinite(table)]).max(initial=0.0)) for table, _ in factors
            )
        )
        if self.best is None:
            return
        # What matters of the scores' differences: none is more than the best leaves to be gained.
        tops = [Fraction(table[np.isfinite(table)].max(initial=-np.inf)) for table, _ in factors]
        left = sum(tops) - self.best
        spread = sum(
            min(left, top - Fraction(table[np.isfinite(table)].min()))
            for top, (table, _) in zip(tops, factors, strict=True)
        )
        #: Differences that count: far below all that near ties differ by.
        self.small = Fraction(1, 10**12) * spread


def check(found, truth):
    """Check all that a solution claims."""
    score = truth.scores[tuple(np.ravel(found.output).tolist())]
    assert abs(Fraction(found.value) - score) <= truth.rounding
    assert found.bound >= found.value
    assert Fraction(found.bound) >= truth.best - truth.rounding - truth.small
    if found.exact:
        assert found.bound == found.value
        assert score >= truth.best - truth.small


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("methods", "n"), [(FAST, 60), (("lp", "ilp"), 12)])
def test_no_claim_is_false_whatever_the_size_of_the_scores(size, methods, n):
    proven = dict.fromkeys(methods, 0)
    for seed in range(n):
        structure, scores, graph = random_scores(np.random.default_rng(seed), *size)
        truth = Enumeration(*graph)
        for method in methods:
            try:
                found = structure.solve(method=method, **scores)
            except (CapabilityError, NotSubmodularError):
                assert method in ("cut", "qpbo")  # two labels, submodular
                continue
            except InfeasibleError:
                assert truth.best is None
                continue
            check(found, truth)
            proven[method] += found.exact
    # A search that proves nothing is never wrong; these prove as much at every size.
    assert all(count >= n // 4 for method, count in proven.items() if method != "cut")


@pytest.mark.parametrize("scale", [2.0**-40, 2.0**-30, 2.0**30])
def test_another_unit_changes_no_digit(scale):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        structure, scores, graph = random_scores(rng)
        if Enumeration(*graph).best is None:
            continue
        larger = {n: a if n == "edges" else a * scale for n, a in scores.items()}
        for method in ("auto", "expansion", "swap", "max-product", "trws"):
            one = structure.solve(method=method, **scores)
            other = structure.solve(method=method, **larger)
            np.testing.assert_array_equal(other.output, one.output)
            assert (other.exact, other.method) == (one.exact, one.method)
            assert (other.value, other.bound) == (one.value * scale, one.bound * scale)


@pytest.mark.parametrize("size", SIZES)
def test_partial_labels_are_those_of_a_best_output_and_the_bound_holds(size):
    for seed in range(60):
        structure, scores, graph = random_scores(np.random.default_rng(seed), *size)
        truth = Enumeration(*graph)
        if graph[0].shape[1] != 2 or truth.best is None:
            continue
        labels, bound = structure.partial_labels(**scores)
        assert Fraction(bound) >= truth.best - truth.rounding - truth.small
        known = np.ravel(labels)
        agreeing = [
            score
            for y, score in truth.scores.items()
            if all(k in (-1, mine) for k, mine in zip(known, y, strict=True))
        ]
        assert max(agreeing) >= truth.best - truth.small


def test_the_scores_in_a_message_are_those_that_were_given():
    table = np.array([[0.0, 1e8], [1e8, 0.0]])
    with pytest.raises(NotSubmodularError, match=r"100000000\.0"):
        Graph([[0, 1]]).solve(method="cut", label=np.zeros((2, 2)), edge=table)
