"""Random grids and graphs, and their best labellings by enumeration."""

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

from structlearn.structures import Grid


def random_graph(rng, most_nodes=6, most_labels=3, labels=None):
    """Return the scores of a graph, edges among them; parallel edges may occur."""
    n = int(rng.integers(1, most_nodes + 1))
    k = labels or int(rng.integers(1, most_labels + 1))
    n_edges = int(rng.integers(0, 2 * n)) if n > 1 else 0
    edges = [rng.choice(n, 2, replace=False) for _ in range(n_edges)]
    return {
        "label": rng.normal(size=(n, k)),
        "edge": rng.normal(size=(n_edges, k, k)),
        "edges": np.array(edges, dtype=np.int64).reshape(-1, 2),
    }


def random_potts_grid(rng, labels=2, whole=False, most=3):
    """Return the scores of a grid with Potts terms, whole numbers (ties) where asked."""
    height, width = (int(n) for n in rng.integers(1, most + 1, 2))
    scores = {
        "label": rng.normal(size=(height, width, labels)) * 2,
        "potts_right": 2 * rng.random((height, width - 1)),
        "potts_down": 2 * rng.random((height - 1, width)),
    }
    return {name: np.round(a) for name, a in scores.items()} if whole else scores


def best_by_enumeration(structure, scores):
    """Return the maximum and every labelling that has it."""
    graph = as_graph(scores) if isinstance(structure, Grid) else scores
    n, k = graph["label"].shape
    every = np.stack([axis.ravel() for axis in np.indices((k,) * n)], axis=1)
    values = graph["label"][np.arange(n), every].sum(axis=1)
    for (p, q), table in zip(graph["edges"], graph["edge"], strict=True):
        values = values + table[every[:, p], every[:, q]]
    best = values.max()
    return best, every[values >= best - 1e-9].reshape(-1, *scores["label"].shape[:-1])


def best_by_scipy(scores):
    """Return the maximum of a grid with two labels and whole Potts terms, by another maximum flow.

    With it the labelling that has the first label wherever a best one has it.
    """
    graph = as_graph(scores)
    n = len(graph["label"])
    source, sink = n, n + 1
    gain = (graph["label"][:, 0] - graph["label"][:, 1]).astype(np.int32)
    strength = -graph["edge"][:, 0, 1].astype(np.int32)
    p, q = graph["edges"].T
    start = np.concatenate((p, q, np.full(n, source), np.arange(n)))
    end = np.concatenate((q, p, np.arange(n), np.full(n, sink)))
    capacity = np.concatenate((strength, strength, np.maximum(gain, 0), np.maximum(-gain, 0)))
    network = csr_array((capacity, (start, end)), shape=(n + 2, n + 2))
    found = maximum_flow(network, source, sink)
    left = network - found.flow
    left.eliminate_zeros()
    reached = breadth_first_order(left.T.tocsr(), sink, return_predecessors=False)
    labels = np.isin(np.arange(n), reached).astype(np.int64)
    return graph["label"].max(axis=1).sum() - found.flow_value, labels


def as_graph(scores):
    """Return a grid's scores as those of a graph."""
    model = Grid()._model(Grid()._read(scores))
    return {"label": model.label, "edge": np.array(model.tables), "edges": model.edges}


def total(scores, y):
    """Return the score of a labelling of a graph, term by term."""
    value = sum(scores["label"][v, k] for v, k in enumerate(y))
    for e, (p, q) in enumerate(scores["edges"]):
        value += scores["edge"][e, y[p], y[q]]
    return value
