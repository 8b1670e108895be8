"""Spanning trees of a list of edges: Kruskal's algorithm, and every query beside it."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import minimum_spanning_tree

from structlearn import StructuredPerceptron
from structlearn.exceptions import InfeasibleError
from structlearn.structures import SpanningTree
from structlearn.testing import check_structure


def random_edges(rng, n, extra):
    """A tree at random and some other edges, each once, in any order and direction."""
    tree = {(int(rng.integers(v)), v) for v in range(1, n)}
    others = [(i, j) for i in range(n) for j in range(i + 1, n) if (i, j) not in tree]
    some = rng.permutation(len(others))[:extra]
    edges = np.array([*tree, *(others[k] for k in some)])
    edges = rng.permutation(edges)
    return np.where(rng.random(len(edges))[:, None] < 0.5, edges, edges[:, ::-1])


def as_matrix(edges, score):
    n = edges.max() + 1
    matrix = np.full((n, n), -np.inf)
    matrix[tuple(np.sort(edges, axis=1).T)] = score
    return matrix


@pytest.mark.parametrize("n", [2, 5, 40, 400])
def test_kruskal_against_scipy_and_prim(n):
    rng = np.random.default_rng(n)
    for _ in range(5):
        edges = random_edges(rng, n, 3 * n)
        score = rng.normal(size=len(edges))
        found = SpanningTree(edges).solve(edge=score)
        # SciPy looks for the least sum of weights that are not 0.
        weight = score.max() + 1.0 - score
        tree = minimum_spanning_tree(coo_matrix((weight, tuple(edges.T)), shape=(n, n))).tocoo()
        ends = np.sort(np.stack((tree.row, tree.col), axis=1), axis=1)
        wanted = sorted(map(tuple, ends.tolist()))
        assert list(map(tuple, found.output.tolist())) == wanted
        assert (found.method, found.exact) == ("kruskal", True)
        dense = SpanningTree().solve(edge=as_matrix(edges, score))
        assert dense.method == "prim"
        np.testing.assert_array_equal(found.output, dense.output)
        assert found.value == pytest.approx(dense.value, rel=1e-12)


def test_every_query_against_enumeration():
    edges = np.array([[3, 0], [0, 1], [1, 2], [4, 3], [2, 3], [1, 3]])
    for structure, given in ((SpanningTree(edges), {}), (SpanningTree(), {"edges": edges})):

        def make(rng, given=given):
            return {"edge": rng.normal(size=len(edges)), **given}

        if not given:  # counts alone do not say which edges they are of
            check_structure(structure, make, n_inputs=3, n_samples=400, max_kbest=30)
        rng = np.random.default_rng(0)
        for _ in range(3):
            scores = make(rng)
            outputs = list(structure.outputs(**scores))
            values = np.array([structure.score(y, **scores) for y in outputs])
            assert structure.count(**scores) == len(outputs) == 8
            np.testing.assert_array_equal(structure.argmax(**scores), outputs[int(values.argmax())])
            total = np.logaddexp.reduce(values)
            assert structure.log_partition(**scores) == pytest.approx(total)
            p = np.exp(values - total)
            expected = sum(
                share * structure.encode(y, **scores)["edge"]
                for share, y in zip(p, outputs, strict=True)
            )
            np.testing.assert_allclose(structure.marginals(**scores)["edge"], expected, atol=1e-12)
            assert structure.entropy(**scores) == pytest.approx(-(p * np.log(p)).sum())
            ranked = structure.kbest(5, **scores)
            np.testing.assert_allclose([v for v, _ in ranked], np.sort(values)[::-1][:5])
            best = structure.as_program(**scores).solve()
            assert best.value == pytest.approx(values.max())


def test_of_equal_edges_the_first_in_the_list_is_taken():
    edges = [[0, 1], [1, 2], [2, 0]]
    assert SpanningTree(edges).argmax(edge=np.zeros(3)).tolist() == [[0, 1], [1, 2]]
    turned = SpanningTree(edges[::-1])
    assert turned.argmax(edge=np.zeros(3)).tolist() == [[0, 2], [1, 2]]


def test_batches_with_edges_of_their_own():
    rng = np.random.default_rng(1)
    edges = [random_edges(rng, n, 4) for n in (3, 5, 8)]
    score = [rng.normal(size=len(e)) for e in edges]
    for jobs in (1, 2):
        found = SpanningTree().argmax(edge=score, edges=edges, n_jobs=jobs)
        for y, e, s in zip(found, edges, score, strict=True):
            np.testing.assert_array_equal(y, SpanningTree(e).argmax(edge=s))
    entropies = SpanningTree().entropy(edge=score, edges=edges, n_jobs=2)
    singly = [SpanningTree(e).entropy(edge=s) for e, s in zip(edges, score, strict=True)]
    assert entropies == pytest.approx(singly, rel=1e-9)


@pytest.mark.parametrize(
    ("edges", "score", "message"),
    [
        ([[0, 1], [1, 0]], [1.0, 2.0], "given twice"),
        ([[0, 0]], [1.0], "two different nodes"),
        ([[0, -1]], [1.0], "two different nodes"),
        ([[0, 2**40]], [1.0], "two different nodes"),
        ([[0, 1]], [1.0, 2.0], r"shape \(1,\)"),
        ([[0, 1, 2]], [1.0], "two nodes of each edge"),
        (np.empty((0, 2), int), [], "at least one"),
        ([[0, 1]], [np.nan], "NaN"),
    ],
)
def test_bad_edges_are_refused(edges, score, message):
    with pytest.raises(ValueError, match=message):
        SpanningTree().argmax(edge=np.array(score), edges=np.array(edges))


def test_edges_that_connect_nothing():
    for structure in (SpanningTree([[0, 1], [2, 3], [3, 4], [2, 4]]), SpanningTree([[0, 2**30]])):
        with pytest.raises(InfeasibleError):
            structure.argmax(edge=np.zeros(len(structure._ends)))
    ring = SpanningTree([[0, 1], [1, 2], [2, 0]])
    with pytest.raises(InfeasibleError):
        ring.argmax(edge=np.array([1.0, -np.inf, -np.inf]))
    with pytest.raises(ValueError, match="not among the edges"):
        SpanningTree([[0, 1], [1, 2]]).score([[0, 1], [0, 2]], edge=np.zeros(2))


def test_learning_from_a_list_of_edges(tmp_path):
    rng = np.random.default_rng(2)
    edges = random_edges(rng, 6, 5)
    structure, weights = SpanningTree(edges), np.array([2.0, -1.0, 0.5])
    X = [{"edge": rng.normal(size=(len(edges), 3))} for _ in range(40)]
    y = [structure.argmax(edge=x["edge"] @ weights) for x in X]
    model = StructuredPerceptron(structure, max_iter=30, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.95
    model.save(tmp_path / "trees.model")
    again = StructuredPerceptron.load(tmp_path / "trees.model")
    for a, b in zip(again.predict(X), model.predict(X), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("unit", [1e17, 1e20, 1e150])
@pytest.mark.parametrize("temperature", [0.3, 5.0])
def test_ties_of_enormous_scores_are_shared_by_all_best_trees(unit, temperature):
    """Sums in fractions are the judge: those of doubles round by more than the temperature."""
    rng = np.random.default_rng(9)
    for n in [2, 3, 4, 5] * 5:
        edge = np.round(rng.normal(size=(n, n))) * unit
        small = rng.random((n, n)) < 0.3
        edge[small] = np.round(rng.normal(size=(n, n)))[small]
        edge[rng.random((n, n)) < 0.1] = -np.inf
        trees = [
            y for y in SpanningTree().outputs(edge=edge) if np.isfinite(edge[tuple(y.T)]).all()
        ]
        if not trees:
            continue
        scores = [sum(map(Fraction, edge[tuple(y.T)])) for y in trees]
        best = max(scores)
        weights = np.exp([float(score - best) / temperature for score in scores])
        expected = np.zeros((n, n))
        for y, weight in zip(trees, weights / weights.sum(), strict=True):
            expected[tuple(y.T)] += weight
        value, p = SpanningTree().infer(edge=edge, temperature=temperature)
        assert value == pytest.approx(float(best), rel=1e-12, abs=100)
        np.testing.assert_allclose(p["edge"], expected, atol=1e-12)
        ends = np.column_stack(np.triu_indices(n, 1))
        listed = SpanningTree(ends).infer(edge=edge[tuple(ends.T)], temperature=temperature)
        np.testing.assert_allclose(listed[1]["edge"], expected[tuple(ends.T)], atol=1e-12)
