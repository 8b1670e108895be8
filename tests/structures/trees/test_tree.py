"""Labels on trees: against enumeration, chains and the integer program; topologies."""

import itertools
import pickle

import numpy as np
import pytest

from structlearn.exceptions import InfeasibleError
from structlearn.structures import Chain, Tree
from structlearn.testing import check_structure


def random_parents(rng, n_nodes):
    """A random tree whose nodes are numbered in any order."""
    order = rng.permutation(n_nodes)
    parents = np.full(n_nodes, -1)
    for i in range(1, n_nodes):
        parents[order[i]] = order[rng.integers(i)]
    return parents


def random_scores(rng, n_nodes, n_labels, edge="shared"):
    scores = {"label": rng.normal(size=(n_nodes, n_labels))}
    if edge == "shared":
        scores["edge"] = rng.normal(size=(n_labels, n_labels))
    elif edge == "each":
        scores["edge"] = rng.normal(size=(n_nodes - 1, n_labels, n_labels))
    return scores


@pytest.mark.parametrize("edge", ["shared", "each", "none"])
def test_every_query_against_enumeration(edge):
    def made(rng):
        n_nodes, n_labels = int(rng.integers(1, 6)), int(rng.integers(1, 4))
        parents = random_parents(rng, n_nodes)
        return {**random_scores(rng, n_nodes, n_labels, edge), "parents": parents}

    report = check_structure(Tree(), made, n_inputs=4, n_samples=400)
    assert report.missing == {}
    assert report.checked["marginals"] > 0


def test_every_query_with_the_tree_of_the_structure():
    tree = Tree([2, 2, -1, 0])
    report = check_structure(tree, lambda rng: random_scores(rng, 4, 3), n_inputs=2, n_samples=0)
    assert report.missing == {}


@pytest.mark.parametrize("n_labels", [1, 2, 7, 8, 9, 20])
def test_a_chain_is_a_tree(n_labels):
    """More labels than a vector has lanes, and more nodes than can be enumerated."""
    rng = np.random.default_rng(n_labels)
    length = 30
    label = rng.normal(size=(length, n_labels)) * 3
    table = rng.normal(size=(length - 1, n_labels, n_labels)) * 3
    table[rng.random(table.shape) < 0.1] = -np.inf
    table[:, 0, 0] = 0.0
    tree, chain = Tree(np.arange(-1, length - 1)), Chain()
    np.testing.assert_array_equal(
        tree.argmax(label=label, edge=table), chain.argmax(label=label, transition=table)
    )
    for temperature in (0.1, 1.0, 20.0):
        value, p = tree.infer(label=label, edge=table, temperature=temperature)
        other, q = chain.infer(label=label, transition=table, temperature=temperature)
        assert value == pytest.approx(other)
        np.testing.assert_allclose(p["label"], q["label"], atol=1e-9)
        np.testing.assert_allclose(p["edge"], q["transition"], atol=1e-9)
    found = tree.kbest(12, label=label, edge=table)
    others = chain.kbest(12, label=label, transition=table)
    np.testing.assert_allclose([v for v, _ in found], [v for v, _ in others])
    assert tree.count(label=label, edge=table) == chain.count(label=label, transition=table)


@pytest.mark.parametrize("scale", [1.0, 1e3, 1e5])
def test_large_scores_and_another_root(scale):
    """The same tree from another root: tables transposed, every answer the same."""
    rng = np.random.default_rng(7)
    n_nodes, n_labels = 12, 5
    down = np.array([-1, 0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 5])
    label = rng.normal(size=(n_nodes, n_labels)) * scale
    tables = {v: rng.normal(size=(n_labels, n_labels)) * scale for v in range(1, n_nodes)}
    up, above, node = down.copy(), -1, 11
    other = dict(tables)
    while node != -1:  # turn the edges on the way from node 11 to the root
        parent = down[node]
        up[node] = above
        if parent != -1:
            other[parent] = tables[node].T
        above, node = node, parent
    first = np.array([tables[v] for v in range(1, n_nodes)])
    second = np.array([other[v] for v in range(n_nodes) if up[v] >= 0])
    a = Tree(down).marginals(label=label, edge=first)
    b = Tree(up).marginals(label=label, edge=second)
    np.testing.assert_allclose(a["label"], b["label"], atol=1e-8)
    np.testing.assert_allclose(a["label"].sum(axis=1), 1.0)
    assert Tree(down).log_partition(label=label, edge=first) == pytest.approx(
        Tree(up).log_partition(label=label, edge=second)
    )


def test_as_a_program():
    rng = np.random.default_rng(0)
    for edge, forbid in itertools.product(("shared", "each", "none"), (0.0, 0.2)):
        parents = random_parents(rng, 6)
        scores = random_scores(rng, 6, 3, edge)
        for table in scores.values():
            table[rng.random(table.shape) < forbid] = -np.inf
        program = Tree().as_program(parents=parents, **scores)
        try:
            best = Tree(parents).solve(**scores)
        except InfeasibleError:
            with pytest.raises(InfeasibleError):
                program.argmax()
            continue
        assert program.solve().value == pytest.approx(best.value)
        assert program.relax().integral


def test_batches_with_a_tree_each():
    rng = np.random.default_rng(1)
    sizes = [1, 3, 5]
    trees = [random_parents(rng, n) for n in sizes]
    labels = [rng.normal(size=(n, 2)) for n in sizes]
    edge = rng.normal(size=(2, 2))
    each = [
        Tree(parents).argmax(label=label, edge=edge)
        for parents, label in zip(trees, labels, strict=True)
    ]
    found = Tree().argmax(label=labels, edge=edge, parents=trees, n_jobs=2)
    for a, b in zip(found, each, strict=True):
        np.testing.assert_array_equal(a, b)
    lists = Tree().argmax(label=labels, edge=edge, parents=[p.tolist() for p in trees])
    assert all(map(np.array_equal, lists, each))
    values = Tree().log_partition(label=labels, edge=edge, parents=trees)
    assert values[2] == pytest.approx(Tree(trees[2]).log_partition(label=labels[2], edge=edge))
    one_for_all = Tree().argmax(label=[labels[1]] * 2, edge=edge, parents=trees[1])
    assert all(np.array_equal(y, each[1]) for y in one_for_all)


@pytest.mark.parametrize(
    ("parents", "message"),
    [
        ([-1, 2, 1], "cycle: (1 -> 2 -> 1|2 -> 1 -> 2)"),
        ([2, 0, -1, 4, 3], "cycle: (3 -> 4|4 -> 3)"),
        ([-1, -1, 0], "nodes 0 and 1 are both roots"),
        ([1, 0, 0], "no root"),
        ([-1, 1, 0], "node 1 is its own parent"),
        ([-1, 3, 0], "node 1 has the parent 3"),
        ([-1, -2, 0], "node 1 has the parent -2"),
        ([-1.0, 0.5, 0.0], "whole numbers"),
        ([[-1, 0, 0]], "axes"),
        ([], "at least one node"),
        ([-1, 0], "parents has 2 nodes, label has 3"),
    ],
)
def test_bad_trees(parents, message):
    size = 3 if len(parents) == 2 else max(len(parents), 1)
    with pytest.raises(ValueError, match=message):
        Tree(parents).argmax(label=np.zeros((size, 2)))


def test_the_tree_is_missing():
    with pytest.raises(ValueError, match="parents of the nodes are missing"):
        Tree().argmax(label=np.zeros((3, 2)))


def test_bad_trees_in_a_batch_are_named():
    labels = [np.zeros((2, 2)), np.zeros((2, 2))]
    with pytest.raises(ValueError, match="example 1: parents: there is no root"):
        Tree().argmax(label=labels, parents=[[-1, 0], [1, 0]])


def test_bad_edges():
    with pytest.raises(ValueError, match="2 edges in front"):
        Tree([-1, 0, 0]).argmax(label=np.zeros((3, 2)), edge=np.zeros((3, 2, 2)))


def test_pickles():
    tree = pickle.loads(pickle.dumps(Tree([-1, 0])))
    np.testing.assert_array_equal(tree.parents, [-1, 0])
    np.testing.assert_array_equal(tree.argmax(label=[[0.0, 1.0], [1.0, 0.0]]), [1, 0])


def test_counts_beyond_floating_point():
    n = 300
    parents = np.maximum(np.arange(n) - 2, -1)
    parents[1] = 0
    assert Tree(parents).count(label=np.zeros((n, 4))) == 4**n
