"""Labels on graphs: every method against enumeration."""

import pickle

import numpy as np
import pytest

from structlearn.exceptions import CapabilityError, InexactInferenceWarning
from structlearn.structures import Graph, Grid, Tree
from structlearn.structures.graphs.elimination import Elimination, find_order
from structlearn.testing import check_structure
from tests.structures.graphs.pair_references import (
    as_graph,
    best_by_enumeration,
    random_graph,
    random_potts_grid,
    total,
)


def test_every_query_against_enumeration():
    def draw(rng):
        scores = random_graph(rng, most_nodes=5, labels=2)
        if rng.random() < 0.5:
            scores["edge"] = rng.normal(size=(2, 2))
        return scores

    assert not check_structure(Graph(), draw, n_samples=400).missing


@pytest.mark.parametrize("method", ["auto", "elimination", "ilp"])
def test_exact_methods_are_exact(method):
    rng = np.random.default_rng(0)
    for _ in range(15 if method == "ilp" else 60):
        scores = random_graph(rng)
        best, _ = best_by_enumeration(Graph(), scores)
        found = Graph().solve(method=method, **scores)
        assert found.exact
        assert found.value == pytest.approx(best, abs=1e-7)
        assert total(scores, found.output) == pytest.approx(found.value)


@pytest.mark.parametrize("method", ["expansion", "swap", "max-product", "trws", "lp", "qpbo"])
def test_bounds_bound(method):
    rng = np.random.default_rng(1)
    exact = 0
    for _ in range(40):
        scores = random_graph(rng, labels=2 if method == "qpbo" else None)
        best, _ = best_by_enumeration(Graph(), scores)
        found = Graph(method=method).solve(**scores)
        assert found.value <= best + 1e-9
        assert found.bound >= best - 1e-7
        assert total(scores, found.output) == pytest.approx(found.value)
        exact += found.exact
    assert exact >= 15


def test_a_cut_equals_the_integer_program():
    rng = np.random.default_rng(2)
    for _ in range(10):
        scores = as_graph(random_potts_grid(rng, most=4))
        values = [Graph().solve(method=m, **scores).value for m in ("cut", "ilp", "lp")]
        np.testing.assert_allclose(values, values[0], atol=1e-7)


def test_the_linear_program_is_no_tighter_than_the_integer_one():
    scores = {  # an odd cycle that wants all labels to differ
        "label": np.zeros((3, 2)),
        "edge": -np.eye(2),
        "edges": np.array([[0, 1], [1, 2], [2, 0]]),
    }
    assert Graph().solve(method="ilp", **scores).value == pytest.approx(-1.0)
    assert Graph().solve(method="lp", **scores).bound == pytest.approx(0.0)
    labels, bound = Graph().partial_labels(**scores)
    assert labels.tolist() == [-1, -1, -1]
    assert bound == pytest.approx(0.0)


def test_partial_labels_belong_to_a_best_output():
    rng = np.random.default_rng(3)
    known = 0
    for _ in range(60):
        scores = random_graph(rng, labels=2)
        best, _ = best_by_enumeration(Graph(), scores)
        labels, bound = Graph().partial_labels(**scores)
        assert bound >= best - 1e-9
        label = scores["label"].copy()
        for v in np.flatnonzero(labels >= 0):
            label[v, 1 - labels[v]] = -np.inf
        assert Graph().solve(**{**scores, "label": label}).value == pytest.approx(best)
        known += (labels >= 0).sum()
    assert known > 60


def test_messages_on_trees_are_exact():
    rng = np.random.default_rng(4)
    for _ in range(10):
        n = int(rng.integers(2, 7))
        parents = np.array([-1, *(rng.integers(v) for v in range(1, n))])
        label, edge = rng.normal(size=(n, 3)), rng.normal(size=(n - 1, 3, 3))
        tree = Tree(parents)
        edges = np.stack((parents[1:], np.arange(1, n)), axis=1)
        graph = {"label": label, "edge": edge, "edges": edges}
        for method in ("max-product", "trws"):
            found = Graph().solve(method=method, **graph)
            assert found.value == pytest.approx(tree.solve(label=label, edge=edge).value)
            assert found.exact
        model = Graph()._model(Graph()._read(graph))
        got = model.native.messages(0.8, False, 0.0, 100, 1e-12, True)
        p = tree.marginals(label=label, edge=edge, temperature=0.8)
        np.testing.assert_allclose(got[2].reshape(n, 3), p["label"], atol=1e-9)
        np.testing.assert_allclose(got[3].reshape(n - 1, 3, 3), p["edge"], atol=1e-9)
        assert Graph().log_partition(temperature=0.8, **graph) == pytest.approx(
            tree.log_partition(label=label, edge=edge, temperature=0.8)
        )


def test_loopy_sums_come_close():
    from structlearn.structures.graphs.pair_sums import loopy_sums

    rng = np.random.default_rng(5)
    for damping in (0.0, 0.5):
        scores = as_graph(random_potts_grid(rng, labels=3))
        scores["edge"] = scores["edge"] * 0.2
        model = Graph()._model(Graph()._read(scores))
        value, node, pair, entropy = loopy_sums(model, 1.0, damping)
        exact, p = Graph().infer(**scores)
        assert value == pytest.approx(exact, abs=0.05)
        assert entropy == pytest.approx(Graph().entropy(**scores), abs=0.05)
        np.testing.assert_allclose(node, p["label"], atol=0.05)
        np.testing.assert_allclose(pair, p["edge"], atol=0.05)


def test_a_wide_graph_is_solved_with_a_bound():
    rng = np.random.default_rng(6)
    n = 40
    edges = np.array([(a, b) for a in range(n) for b in range(a) if rng.random() < 0.5])
    scores = {"label": rng.normal(size=(n, 3)), "edge": 0.1 * np.eye(3), "edges": edges}
    found = Graph().solve(**scores)
    assert found.value <= found.bound < np.inf
    assert not Graph().sums_are_exact(**scores)
    with pytest.warns(InexactInferenceWarning):
        Graph().marginals(**scores)
    for query in ("kbest", "sample"):
        with pytest.raises(CapabilityError):
            getattr(Graph(), query)(3, **{**scores, "edge": rng.normal(size=(3, 3))})
    with pytest.raises(CapabilityError, match="small treewidth"):
        Graph().argmax(method="elimination", **scores)
    assert Graph().count(**scores) == 3**n


def test_a_time_limit_leaves_a_bound():
    rng = np.random.default_rng(11)
    n = 30
    edges = np.array([(a, b) for a in range(n) for b in range(a)])
    scores = {"label": np.zeros((n, 2)), "edge": rng.normal(size=(len(edges), 2, 2))}
    for method, limit in (("ilp", 0.5), ("ilp", 0.0), ("lp", 0.0)):
        found = Graph(edges).solve(method=method, time_limit=limit, **scores)
        assert found.value == pytest.approx(Graph(edges).score(found.output, **scores))
        assert found.value <= found.bound < np.inf
        assert not found.exact
    assert "time for a program is out" in found.method
    for limit in (-1, np.nan):
        with pytest.raises(ValueError, match="seconds >= 0"):
            Graph(edges).solve(method="ilp", time_limit=limit, **scores)
    with pytest.raises(TypeError, match="number of seconds"):
        Graph(edges).solve(method="ilp", time_limit="1", **scores)


def test_orders_of_elimination():
    path = np.array([(i, i + 1) for i in range(50)])
    order = find_order(51, path, 1)
    assert sorted(order) == list(range(51))
    assert Elimination(51, path, order).width == 1
    cycle = np.array([*path.tolist(), (50, 0)])
    assert find_order(51, cycle, 1) is None
    assert Elimination(51, cycle, find_order(51, cycle, 2)).width == 2


def test_batches_and_graphs_given_beforehand():
    rng = np.random.default_rng(7)
    edges = [[0, 1], [1, 2]]
    labels = [rng.normal(size=(3, 2)) for _ in range(3)]
    table = rng.normal(size=(2, 2))
    fixed = pickle.loads(pickle.dumps(Graph(edges)))
    alone = [fixed.argmax(label=one, edge=table).tolist() for one in labels]
    assert [y.tolist() for y in fixed.argmax(label=labels, edge=table)] == alone
    assert [y.tolist() for y in Graph().argmax(label=labels, edge=table, edges=edges)] == alone
    assert repr(fixed) == "Graph(<2 edges>, method='auto', damping=0.0)"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"edges": None}, "edges are missing"),
        ({"edges": [[0, 3]]}, r"edge 0 is \[0, 3\], but there are 3 nodes"),
        ({"edges": [[0, 1], [-1, 0]]}, r"edge 1 is \[-1, 0\]"),
        ({"edges": [[0, 1], [1, 1]]}, "edge 1 goes from node 1 to itself"),
        ({"edges": [[0.5, 1.0]]}, "whole numbers"),
        ({"edges": [0, 1]}, r"shape \(E, 2\)"),
        ({"edge": np.zeros((3, 2, 2))}, r"edge has shape \(3, 2, 2\)"),
        ({"label": np.zeros(3)}, r"label must have shape \(N, K\)"),
        ({"edge": np.full((2, 2), np.nan)}, "edge contains NaN"),
        ({"edge": np.full((2, 2), np.inf)}, r"edge contains NaN or \+inf"),
    ],
)
def test_bad_graphs(change, message):
    given = {"label": np.zeros((3, 2)), "edge": np.zeros((2, 2)), "edges": [[0, 1], [1, 2]]}
    with pytest.raises(ValueError, match=message):
        Graph().argmax(**{**given, **change})


def test_a_grid_is_a_graph():
    rng = np.random.default_rng(8)
    scores = random_potts_grid(rng, labels=2, most=6)
    assert Grid().solve(**scores).value == pytest.approx(Graph().solve(**as_graph(scores)).value)


def random_cliques(rng, labels):
    """Return a graph with two groups of nodes that like to agree."""
    scores = random_graph(rng, most_nodes=5, labels=labels)
    n = len(scores["label"])
    groups = [rng.permutation(n)[: rng.integers(1, n + 1)].tolist() for _ in range(2)]
    return {**scores, "clique": 2 * rng.random((2, labels)), "cliques": groups}


def best_with_cliques(scores):
    every = Graph().outputs(label=scores["label"])
    return max(
        total(scores, y)
        + sum(
            reward[y[group[0]]]
            for group, reward in zip(scores["cliques"], scores["clique"], strict=True)
            if len(set(y[group])) == 1
        )
        for y in every
    )


@pytest.mark.parametrize("labels", [2, 3])
def test_cliques_in_every_method_that_takes_them(labels):
    rng = np.random.default_rng(9)
    hits = 0
    for _ in range(25):
        scores = random_cliques(rng, labels)
        scores["edge"] = np.broadcast_to(rng.random() * np.eye(labels), scores["edge"].shape).copy()
        best = best_with_cliques(scores)
        for method in ("auto", "expansion", "swap"):
            found = Graph().solve(method=method, **scores)
            assert found.value <= best + 1e-9 <= found.bound + 2e-9
            assert Graph().score(found.output, **scores) == pytest.approx(found.value)
            parts = Graph().encode(found.output, **scores)
            assert sum((parts[n] * scores[n]).sum() for n in parts) == pytest.approx(found.value)
        hits += Graph().solve(method="expansion", **scores).value >= best - 1e-9
        if labels == 2:
            exact = Graph().solve(method="cut", **scores)
            assert exact.exact
            assert exact.value == pytest.approx(best)
    assert hits >= 22


def test_cliques_in_programs():
    rng = np.random.default_rng(10)
    for _ in range(6):
        scores = random_cliques(rng, 2)
        assert Graph().solve(method="ilp", **scores).value == pytest.approx(
            best_with_cliques(scores)
        )
        scores["clique"] -= 1.0  # some lose by agreeing
        assert Graph().solve(method="ilp", **scores).value == pytest.approx(
            best_with_cliques(scores)
        )


def test_bad_cliques():
    given = {"label": np.zeros((3, 2)), "edges": [[0, 1]], "clique": np.ones(2)}
    for cliques, message in (
        (None, "need the cliques"),
        ([[0, 3]], r"clique 0 is \[0, 3\], but there are 3 nodes"),
        ([[0, 1], []], "clique 1 must be a list of nodes"),
        ([[1, 1]], "clique 0 has a node twice"),
    ):
        with pytest.raises(ValueError, match=message):
            Graph().argmax(cliques=cliques, **given)
    with pytest.raises(CapabilityError, match="loses by agreeing"):
        Graph().argmax(cliques=[[0, 1]], **{**given, "clique": -np.ones(2)})
    with pytest.raises(CapabilityError, match="no sums"):
        Graph().marginals(cliques=[[0, 1]], **given)
    with pytest.raises(CapabilityError, match="does not take cliques"):
        Graph().argmax(cliques=[[0, 1]], method="trws", **given)
    both = Graph().argmax(
        label=[np.zeros((3, 2))] * 2, edges=[[0, 1]], clique=np.ones(2), cliques=[[0, 1]]
    )
    assert [y.tolist() for y in both] == [[0, 0, 0]] * 2


# -- Potts terms ---------------------------------------------------------------------------------


def potts_graph(rng, labels=3, table=False):
    scores = random_graph(rng, most_nodes=5, labels=labels)
    n_edges = len(scores["edges"])
    edge = scores.pop("edge")
    scores["potts"] = 2 * rng.random(n_edges if rng.random() < 0.7 else ())
    if table:
        scores["edge"] = edge
    return scores


@pytest.mark.parametrize("table", [False, True])
def test_potts_terms_of_every_query_against_enumeration(table):
    rng = np.random.default_rng(4)
    graph = Graph()
    for _ in range(10):
        scores = potts_graph(rng, 3, table)
        outputs = list(graph.outputs(**scores))
        values = np.array([graph.score(y, **scores) for y in outputs])
        assert values[7 % len(values)] == pytest.approx(_by_hand(scores, outputs[7 % len(values)]))
        for y, value in zip(outputs[:5], values, strict=False):
            counts = graph.encode(y, **scores)
            assert value == pytest.approx(sum((scores[k] * counts[k]).sum() for k in counts))
        top = values.max()
        p = np.exp(values - top)
        value, gradient = graph.infer(**scores)
        assert value == pytest.approx(top + np.log(p.sum()))
        p /= p.sum()
        assert graph.entropy(**scores) == pytest.approx(-(p * np.log(p)).sum())
        for name, found in gradient.items():
            expected = sum(
                q * graph.encode(y, **scores)[name] for q, y in zip(p, outputs, strict=True)
            )
            np.testing.assert_allclose(found, expected, atol=1e-9)
        best = [value for value, _ in graph.kbest(3, **scores)]
        np.testing.assert_allclose(best, np.sort(values)[::-1][:3])
        drawn = graph.sample(4000, random_state=0, **scores)
        share = np.mean([y.tolist() == outputs[p.argmax()].tolist() for y in drawn])
        assert share == pytest.approx(p.max(), abs=0.05)


def _by_hand(scores, y):
    total = sum(row[k] for row, k in zip(scores["label"], y, strict=True))
    for e, (a, b) in enumerate(scores["edges"]):
        if y[a] != y[b]:
            total -= np.broadcast_to(scores["potts"], len(scores["edges"]))[e]
        if "edge" in scores:
            total += scores["edge"][e, y[a], y[b]]
    return total


def test_potts_terms_are_tables():
    rng = np.random.default_rng(5)
    for _ in range(20):
        scores = potts_graph(rng)
        potts = scores.pop("potts")
        n_edges = len(scores["edges"])
        tables = -np.broadcast_to(potts, n_edges)[:, np.newaxis, np.newaxis] * (1 - np.eye(3))
        for method in ("auto", "expansion", "trws", "lp", "ilp"):
            one = Graph().solve(method=method, potts=potts, **scores)
            other = Graph().solve(method=method, edge=tables, **scores)
            assert one.value == pytest.approx(other.value)
        p = Graph().marginals(potts=potts, **scores)["potts"]
        q = Graph().marginals(edge=tables, **scores)["edge"]
        np.testing.assert_allclose(p, -(q * (1 - np.eye(3))).sum(axis=(1, 2)), atol=1e-12)


def test_potts_terms_of_a_grid_are_those_of_its_graph():
    rng = np.random.default_rng(6)
    for _ in range(10):
        grid = random_potts_grid(rng, labels=3)
        edges = as_graph(grid)["edges"]
        n_labels = grid["label"].shape[-1]
        strengths = np.concatenate([grid["potts_right"].ravel(), grid["potts_down"].ravel()])
        found = Graph(edges).solve(label=grid["label"].reshape(-1, n_labels), potts=strengths)
        assert found.value == pytest.approx(Grid().solve(**grid).value)


def test_bad_strengths_are_refused():
    label = np.zeros((3, 3))
    graph = Graph([[0, 1], [1, 2]])
    with pytest.raises(ValueError, match=r"potts has shape \(3,\), expected a number or \(2,\)"):
        graph.argmax(label=label, potts=np.ones(3))
    with pytest.raises(ValueError, match="strengths are finite"):
        graph.argmax(label=label, potts=np.array([1.0, -np.inf]))


# -- small graphs --------------------------------------------------------------------------------


@pytest.mark.parametrize("labels", [2, 3, 4])
def test_small_graphs_are_exact_whatever_their_width(labels):
    """Against the integer program, where elimination's tables would be too large."""
    rng = np.random.default_rng(labels)
    n = {2: 20, 3: 13, 4: 11}[labels]
    edges = np.array([(p, q) for p in range(n) for q in range(p + 1, n)])
    by_branching = 0
    for _ in range(3):
        scores = {"label": 3 * rng.normal(size=(n, labels)), "edges": edges}
        scores["edge"] = rng.normal(size=(len(edges), labels, labels))
        with pytest.raises(CapabilityError, match="treewidth"):
            Graph().argmax(method="elimination", **scores)
        found = Graph().solve(**scores)
        by_branching += found.method == "branch and bound"
        if found.exact:
            best = Graph().as_program(**scores).solve()
            assert found.value == pytest.approx(best.value)
        np.testing.assert_array_equal(found.output, Graph().argmax(**scores))
    assert by_branching >= 2


@pytest.mark.parametrize("tolerance", [0.0, 0.5])
def test_small_graphs_with_cliques_are_exact(tolerance):
    rng = np.random.default_rng(9)
    graph = Graph(tolerance=tolerance)
    for _ in range(40):
        scores = random_graph(rng, most_nodes=6, labels=3)
        n = len(scores["label"])
        scores["label"][rng.random(scores["label"].shape) < 0.1] = -np.inf
        scores["label"][:, 0] = rng.normal(size=n)
        scores["cliques"] = [
            np.sort(rng.choice(n, size=rng.integers(1, n + 1), replace=False)) for _ in range(3)
        ]
        scores["clique"] = 3 * rng.random((3, 3))
        best = max(graph.score(y, **scores) for y in graph.outputs(**scores))
        found = graph.solve(**scores)
        assert found.exact
        assert found.value == pytest.approx(best)
