"""Entropies that are small beside the scores, against exact arithmetic."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest

from structlearn.constraints import Label, forbid, with_constraints
from structlearn.exceptions import InfeasibleError
from structlearn.structures import (
    Arborescence,
    Chain,
    Constituency,
    Graph,
    Lattice,
    SpanningTree,
    Tree,
)
from tests.structures.exact_enumeration import Exact
from tests.structures.structure_zoo import ZOO, draw_scores


def exact_entropy(structure, temperature, scores):
    return Exact(structure, structure.outputs(**scores), temperature, **scores).entropy()


def rounding_of(scores, temperature):
    """Return the relative error of weights that the rounding of the scores themselves causes."""
    largest = max(float(np.abs(a[np.isfinite(a)]).max(initial=0.0)) for a in scores.values())
    return 20 * 2.0**-53 * largest / temperature


@pytest.mark.parametrize("offset", [0.0, -1e3, 1e6])
@pytest.mark.parametrize(("scale", "temperature"), [(1, 1.0), (1, 0.05), (5, 0.1), (30, 0.1)])
@pytest.mark.parametrize("name", ZOO)
def test_entropy_equals_exact_enumeration(name, scale, temperature, offset):
    structure = ZOO[name][0]
    for seed in range(3):
        rng = np.random.default_rng(seed)
        scores = draw_scores(name, rng, scale, offset, forbidden=0.1 * (seed == 2))
        try:
            structure.argmax(**scores)
        except InfeasibleError:
            continue
        right = exact_entropy(structure, temperature, scores)
        found = structure.entropy(temperature=temperature, **scores)
        slack = 1e-9 + rounding_of(scores, temperature)
        assert found == pytest.approx(right, rel=slack, abs=1e-280), seed


def test_a_constant_added_to_all_scores_changes_nothing():
    span = np.random.default_rng(0).normal(size=(4, 5, 2)).round(3)
    plain = Constituency().entropy(span=span, temperature=0.05)
    assert plain == pytest.approx(exact_entropy(Constituency(), 0.05, {"span": span}), rel=1e-9)
    moved = Constituency().entropy(span=span + 1e6, temperature=0.05)
    assert moved == pytest.approx(plain, abs=1e-7)
    right = math.log1p(math.exp(-10)) + 10 / (1 + math.exp(10))
    two = Lattice([(0, 1), (0, 1)]).entropy(edge=[1e6, 1e6 - 1], temperature=0.1)
    assert two == pytest.approx(right, rel=1e-9, abs=0)


def long_chain_entropy(label, transition, temperature):
    """Return H = log Z − E[score]/ε with a hundred digits, by one pass forward."""
    eps, n_labels = Decimal(temperature), label.shape[1]
    # A row's offset changes nothing, and is taken out exactly.
    exact = [[Decimal(float(x)) for x in row] for row in label]
    u = [[(x - max(row)) / eps for x in row] for row in exact]
    t = [[Decimal(float(x)) / eps for x in row] for row in transition]
    steps = [[(t[a][b].exp(), t[a][b]) for b in range(n_labels)] for a in range(n_labels)]
    z = [x.exp() for x in u[0]]
    s = [w * x for w, x in zip(z, u[0], strict=True)]  # weight times score
    for row in u[1:]:
        new_z, new_s = [], []
        for b, x in enumerate(row):
            here = x.exp()
            terms = [(z[a] * steps[a][b][0] * here, a) for a in range(n_labels)]
            new_z.append(sum(w for w, _ in terms))
            new_s.append(
                sum(s[a] * steps[a][b][0] * here + w * (steps[a][b][1] + x) for w, a in terms)
            )
        z, s = new_z, new_s
    return float(sum(z).ln() - sum(s) / sum(z))


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize(("scale", "temperature"), [(30, 0.1), (30, 0.02), (2, 0.05), (1, 1.0)])
def test_long_chains_at_low_temperatures(scale, temperature, offset):
    rng = np.random.default_rng(3)
    label = scale * rng.normal(size=(100, 3)) + offset
    transition = scale * rng.normal(size=(3, 3))
    with localcontext() as context:
        context.prec = 110
        right = long_chain_entropy(label, transition, temperature)
    scores = {"label": label, "transition": transition}
    slack = 1e-9 + rounding_of(scores, temperature)
    found = Chain().entropy(temperature=temperature, **scores)
    assert found == pytest.approx(right, rel=slack, abs=0)
    pairs = np.stack([np.arange(99), np.arange(1, 100)], axis=1)
    for structure in (Tree(np.arange(-1, 99)), Graph(pairs)):
        other = structure.entropy(temperature=temperature, label=label, edge=transition)
        assert other == pytest.approx(right, rel=slack, abs=0)


def matrix_tree_entropy(arc, temperature, *, single_root):
    """Return H of a distribution over trees: the determinant in numbers a + b·δ, δ² = 0.

    A weight w is w + w·log w·δ, so that the determinant is Z + Σ_y w(y) log w(y) δ.
    """
    n, eps = len(arc) - 1, Decimal(temperature)
    # A word's offset changes nothing, and is taken out exactly.
    exact = [[Decimal(float(x)) for x in row] for row in arc]
    score = [[(x - exact[0][m]) / eps for m, x in enumerate(row)] for row in exact]
    zero = (Decimal(0), Decimal(0))
    matrix = [[zero] * n for _ in range(n)]

    def weight(x):
        w = x.exp()
        return w, w * x

    def add(i, j, w, sign):
        a, b = matrix[i][j]
        matrix[i][j] = (a + sign * w[0], b + sign * w[1])

    for m in range(n):
        for h in range(n + 1):
            if h == m + 1:
                continue
            w = weight(score[h][m + 1])
            if h > 0:
                add(m, m, w, 1)
                add(h - 1, m, w, -1)
            elif not single_root:
                add(m, m, w, 1)
    for m in range(n) if single_root else ():
        matrix[0][m] = weight(score[0][m + 1])
    z, s = Decimal(1), Decimal(0)
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(matrix[r][i][0]))
        if pivot != i:
            matrix[i], matrix[pivot] = matrix[pivot], matrix[i]
            z, s = -z, -s
        a, b = matrix[i][i]
        z, s = z * a, z * b + s * a
        for r in range(i + 1, n):
            f = matrix[r][i][0] / a
            g = (matrix[r][i][1] - f * b) / a
            matrix[r] = [
                (x - f * c, y - f * d - g * c)
                for (x, y), (c, d) in zip(matrix[r], matrix[i], strict=True)
            ]
    return float(z.ln() - s / z)


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize(("scale", "temperature"), [(1.5, 0.05), (1, 1.0)])
def test_larger_non_projective_trees(scale, temperature, offset):
    for seed, single_root in ((0, False), (1, True), (2, True)):
        arc = scale * np.random.default_rng(seed).normal(size=(7, 7)) + offset
        with localcontext() as context:
            # Weights differ by this many digits, and entropies may be that small again.
            context.prec = 100 + int(10 * 6 * scale / temperature / 2.3)
            right = matrix_tree_entropy(arc, temperature, single_root=single_root)
        found = Arborescence(single_root=single_root).entropy(arc=arc, temperature=temperature)
        slack = 1e-9 + rounding_of({"arc": arc}, temperature)
        assert found == pytest.approx(right, rel=slack, abs=0)


def test_entropy_of_one_output_is_exactly_0():
    assert Chain().entropy(label=[[7.3], [1e6]], transition=[[0.1]], temperature=0.01) == 0
    assert SpanningTree().entropy(edge=np.full((2, 2), 1e6), temperature=0.01) == 0
    assert SpanningTree().entropy(edge=np.zeros((1, 1))) == 0
    assert Lattice([(0, 1), (1, 2)]).entropy(edge=[1e6, 0.3], temperature=0.01) == 0
    assert Graph([(0, 1)]).entropy(label=[[3.3], [1e6]], temperature=0.01) == 0
    assert Arborescence().entropy(arc=np.full((2, 2), 1e6), temperature=0.01) == 0


def test_entropy_under_masks():
    label = 30 * np.random.default_rng(0).normal(size=(4, 3)) + 1e6
    chain = with_constraints(Chain(), [forbid(Label(1, at=2))])
    masked = label.copy()
    masked[2, 1] = -np.inf
    right = exact_entropy(Chain(), 0.5, {"label": masked})
    assert chain.entropy(label=label, temperature=0.5) == pytest.approx(right, rel=1e-7)


def test_entropy_where_nothing_is_legal():
    nothing = np.full((2, 2), -np.inf)
    for structure, scores in (
        (Chain(), {"label": nothing}),
        (Tree([-1, 0]), {"label": nothing}),
        (Graph([(0, 1)]), {"label": nothing}),
        (Lattice([(0, 1)]), {"edge": [-np.inf]}),
        (Arborescence(), {"arc": np.full((3, 3), -np.inf)}),
        (Constituency(), {"span": np.full((2, 3, 2), -np.inf)}),
    ):
        with pytest.raises(InfeasibleError):
            structure.entropy(**scores)
