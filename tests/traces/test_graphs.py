import itertools

import numpy as np
import pytest

from structlearn import traces
from structlearn.structures import Graph, Grid, Tree

from .replay import close, replay_fill, replay_follow


def test_messages_on_trees_replay_to_argmax():
    rng = np.random.default_rng(0)
    for _ in range(400):
        N, K = int(rng.integers(1, 7)), int(rng.integers(1, 4))
        order = rng.permutation(N)
        parents = np.full(N, -1)
        for i in range(1, N):
            parents[order[i]] = order[rng.integers(0, i)]
        scores = {"label": rng.normal(size=(N, K))}
        if rng.random() < 0.8:
            shape = (K, K) if rng.random() < 0.5 else (N - 1, K, K)
            scores["edge"] = rng.normal(size=shape)
        trace = traces.tree_messages(parents, **scores)
        replay_fill(trace, scores)
        used = replay_follow(trace)
        best = Tree(parents).argmax(**scores)
        found = {node[1]: node[2] for node, _ in used if node[0] == "belief"}
        assert [found[v] for v in range(N)] == trace.answer == best.tolist()
        summed = traces.tree_messages(parents, temperature=0.5, **scores)
        assert close(summed.value, Tree(parents).log_partition(temperature=0.5, **scores))


def cycle_of(n):
    return [(i, (i + 1) % n) for i in range(n)]


def test_sweeps_end_where_max_product_ends():
    rng = np.random.default_rng(1)
    for _ in range(100):
        n = int(rng.integers(3, 7))
        edges = cycle_of(n)
        scores = {"label": rng.normal(size=(n, 3)), "edge": 0.5 * rng.normal(size=(n, 3, 3))}
        trace = traces.loopy_messages(edges, max_rounds=100, **scores)
        found = Graph(edges, method="max-product").argmax(**scores)
        if trace.about["converged"]:
            assert trace.answer == found.tolist()
        assert close(trace.value, Graph(edges).score(np.array(trace.answer), **scores))


def test_sum_sweeps_end_at_the_loopy_marginals():
    rng = np.random.default_rng(2)
    edges = cycle_of(5)
    scores = {"label": rng.normal(size=(5, 2)), "edge": 0.3 * rng.normal(size=(5, 2, 2))}
    trace = traces.loopy_messages(edges, temperature=1.0, max_rounds=100, **scores)
    assert trace.about["converged"]
    beliefs = np.array(trace.steps[-1]["beliefs"])
    np.testing.assert_allclose(beliefs.sum(axis=1), 1.0)
    exact = Graph(edges).marginals(**scores)["label"]
    np.testing.assert_allclose(beliefs, exact, atol=0.05)  # nearly right on a weak cycle
    changes = [
        np.abs(np.subtract(a["beliefs"], b["beliefs"])).max()
        for a, b in itertools.pairwise(trace.steps)
    ]
    assert changes[-1] < changes[0]


def replay_cut(trace):
    """Push every path through the network; return what is left of it."""
    excess = list(trace.about["excess"])
    left = {}
    for p, q, there, back in trace.about["edges"]:
        left[p, q], left[q, p] = there, back
    total = 0.0
    for step in trace.steps:
        if step["kind"] != "path":
            continue
        path, flow = step["path"], step["flow"]
        assert flow > 0
        excess[path[0]] -= flow
        excess[path[-1]] += flow
        assert excess[path[0]] >= -1e-9
        assert excess[path[-1]] <= 1e-9
        for p, q in itertools.pairwise(path):
            left[p, q] -= flow
            left[q, p] += flow
            assert left[p, q] >= -1e-9
        total += flow
        assert close(step["total"], total)
    return excess, left


def test_paths_of_a_cut_replay_to_argmax():
    rng = np.random.default_rng(3)
    paths = 0
    for _ in range(400):
        height, width = int(rng.integers(1, 5)), int(rng.integers(1, 5))
        label = rng.normal(size=(height, width, 2))
        strength = float(abs(rng.normal()))
        scores = {"label": label, "potts_right": strength, "potts_down": strength}
        trace = traces.minimum_cut(**scores)
        excess, left = replay_cut(trace)
        # No path is left: what the source still reaches does not reach the sink.
        reached = {p for p, x in enumerate(excess) if x > 1e-9}
        waiting = list(reached)
        while waiting:
            p = waiting.pop()
            for (a, b), capacity in left.items():
                if a == p and capacity > 1e-9 and b not in reached:
                    reached.add(b)
                    waiting.append(b)
        assert all(excess[p] >= -1e-9 for p in reached)
        best = Grid(method="cut").argmax(**scores)
        assert trace.answer == best.tolist()
        paths += sum(s["kind"] == "path" for s in trace.steps)
        # The cut costs what flows.
        y = best.ravel()
        cost = sum(-x for p, x in enumerate(trace.about["excess"]) if x < 0 and y[p] == 0)
        cost += sum(x for p, x in enumerate(trace.about["excess"]) if x > 0 and y[p] == 1)
        cost += sum(c for p, q, c, _ in trace.about["edges"] if y[p] != y[q])
        assert close(cost, trace.about["flow"])
    assert paths > 500


def test_trees_of_a_cut_end_at_the_sides():
    rng = np.random.default_rng(4)
    label = rng.normal(size=(5, 5, 2))
    trace = traces.minimum_cut(label=label, potts_right=0.8, potts_down=0.8)
    states = [s for s in trace.steps if s["kind"] == "trees"]
    assert states
    assert all(set(s["states"]) <= {0, 1, 2} for s in states)


def test_branching_replays_to_the_best():
    rng = np.random.default_rng(5)
    pruned = 0
    for _ in range(300):
        n, K = int(rng.integers(2, 6)), int(rng.integers(2, 4))
        edges = [e for e in itertools.combinations(range(n), 2) if rng.random() < 0.7]
        edges = np.array(edges, dtype=np.int64).reshape(-1, 2)
        scores = {"label": rng.normal(size=(n, K)), "edge": rng.normal(size=(len(edges), K, K))}
        trace = traces.branch_and_bound(edges, **scores)
        assert trace.about["proven"]
        graph = Graph(edges)
        ranked = max(
            itertools.product(range(K), repeat=n), key=lambda y: graph.score(np.array(y), **scores)
        )
        assert trace.answer == list(ranked)
        assert close(trace.value, graph.score(np.array(ranked), **scores))
        best = trace.about["start_value"]
        for step in trace.steps:
            if step["kind"] == "leaf":
                assert step["improves"] == (step["value"] > best)
                best = max(best, step["value"])
            else:
                assert step["best"] == best
                assert step["pruned"] == (step["bound"] <= best)
                assert step["pruned"] or step["bound"] > best
                pruned += step["pruned"]
        assert close(best, trace.value)
    assert pruned > 300


def test_graphs_that_cannot_be_traced_are_refused():
    with pytest.raises(ValueError, match="two labels"):
        traces.minimum_cut(label=np.zeros((2, 2, 3)))
    with pytest.raises(ValueError, match="not submodular"):
        traces.minimum_cut(label=np.zeros((1, 2, 2)), right=np.array([[0.0, 1.0], [1.0, 0.0]]))
