"""Labels on trees, graphs and grids: messages, minimum cuts, branch and bound."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..structures.graphs.graph import Graph
from ..structures.graphs.grid import Grid
from ..structures.hypergraph import Hyperedges
from ..structures.trees.tree import Tree
from .charts import Chart, Name
from .trace import Trace, check_size


def tree_messages(parents: Any, *, temperature: float = 0.0, **scores: Any) -> Trace:
    """Return the trace of message passing on a tree, max (ε = 0) or sum.

    Written by the hyperedge engine of the core; its answer is that of ``Tree(parents).argmax``.

    Returns
    -------
    Trace
        Nodes are ("belief", v, k), the score of label k at v plus the messages of its children, and
        ("message", v, k), the message from v to its parent about the parent's label k.
    """
    structure = Tree(parents)
    theta = dict(structure._one(scores))
    theta = {name: theta[name] for name in structure.blocks(1) if name in theta}
    above = structure.parents
    assert above is not None
    N, K = theta["label"].shape
    edge_of = {int(v): e for e, v in enumerate(np.flatnonzero(above >= 0))}
    order = _children_first(above.tolist())
    names: list[Name] = []
    for v in order:
        names += [("belief", v, k) for k in range(K)]
        names += [("message", v, k) for k in range(K) if above[v] >= 0]
    number = {name: i for i, name in enumerate(names)}
    first = theta["label"].size
    edges = Hyperedges(len(names) + 1)
    for v in order:
        children = [u for u in order if above[u] == v]
        for k in range(K):
            tails = [number["message", u, k] for u in children]
            edges.add(number["belief", v, k], tails, [v * K + k])
        for k in range(K) if above[v] >= 0 else ():
            for j in range(K):
                pair = []
                if "edge" in theta:
                    at = 0 if theta["edge"].ndim == 2 else edge_of[v] * K * K
                    pair = [first + at + k * K + j]
                edges.add(number["message", v, k], [number["belief", v, j]], pair)
    for k in range(K):
        edges.add(len(names), [number["belief", order[-1], k]])

    def read(derivation: Any) -> list[int]:
        label = {head[1]: head[2] for head, _, _ in derivation if head[0] == "belief"}
        return [label[v] for v in range(N)]

    chart = Chart(edges, theta, [*names, ("goal",)], read)
    if temperature:
        return chart.sum("sum-product", temperature, order=order)
    return chart.best("max-product", order=order)


def _children_first(parents: list[int]) -> list[int]:
    root = parents.index(-1)
    children: list[list[int]] = [[] for _ in parents]
    for v, p in enumerate(parents):
        if p >= 0:
            children[p].append(v)
    order, open_nodes = [], [root]
    while open_nodes:
        v = open_nodes.pop()
        order.append(v)
        open_nodes += children[v]
    return order[::-1]


def loopy_messages(
    edges: Any, *, temperature: float = 0.0, damping: float = 0.0, max_rounds: int = 50,
    **scores: Any,
) -> Trace:  # fmt: skip
    """Return the trace of message passing on a graph with cycles, sweep by sweep.

    The core is run with one, two, ... sweeps until nothing changes: its state after r sweeps is
    its answer if it has to stop there. At ε = 0 the answer is
    that of ``Graph(edges, method="max-product").argmax``, for at most ``max_rounds`` sweeps; above,
    the beliefs are the marginals that loopy sums give.

    Returns
    -------
    Trace
        Steps of kind "sweep": ``beliefs`` (N, K) and the labels and score read off them.
    """
    structure = Graph(edges)
    theta = structure._read(scores)
    model = structure._model(theta)
    check_size(model.n_nodes * model.n_labels * max_rounds)
    steps: list[dict[str, Any]] = []
    converged = False
    value = -np.inf
    labels: list[int] = []
    for rounds in range(1, max_rounds + 1):
        outcome = model.native.messages(float(temperature), False, damping, rounds, 1e-6, False)
        y, value, belief, _, converged, done, _ = outcome
        if done < rounds:
            break
        labels = y.tolist()
        beliefs = np.reshape(belief, (model.n_nodes, model.n_labels))
        step = {"kind": "sweep", "beliefs": beliefs.tolist(), "labels": labels}
        steps.append({**step, "value": float(value)})
        if converged:
            break
    about = {"converged": bool(converged), "temperature": float(temperature)}
    return Trace("loopy messages", steps, labels, float(value), about)


def minimum_cut(**scores: Any) -> Trace:
    """Return the trace of the minimum cut that finds the best two labels of a grid.

    Written by the core's own maximum flow, which reports its paths to a watcher; without one,
    the calls are compiled away. Its answer is that of ``Grid(method="cut").argmax``.

    Returns
    -------
    Trace
        ``about`` has the network: ``excess`` by pixel (> 0 from the source, < 0 to the sink) and
        ``edges`` [p, q, capacity, capacity back]. Steps of kind "path": the pixels that a path from
        source to sink goes through and its ``flow``; "trees": for each pixel 0 (free), 1 (reached
        from the source) or 2 (reaches the sink). The last step, "cut", has the saturated edges
        between the two sides; their cost is the flow. Pixels are numbered row by row.
    """
    grid = Grid(method="cut")
    theta = grid._read(scores)
    model = grid._model(theta)
    if model.n_labels != 2:
        raise ValueError(f"one cut finds the best of two labels, not {model.n_labels}")
    labels, events = model.native.watch_cut()
    place: dict[int, int] = {}
    steps: list[dict[str, Any]] = []
    about: dict[str, Any] = {"shape": list(theta["label"].shape[:2])}
    flow = 0.0
    for kind, nodes, values in events:
        check_size(sum(len(s.get("states", ())) for s in steps[-1:]) * len(steps))
        if kind == "nodes":
            place = {int(at): v for v, at in enumerate(nodes)}
            about["excess"] = values.tolist()
        elif kind == "edges":
            pairs, capacity = nodes.reshape(-1, 2).tolist(), values.reshape(-1, 2).tolist()
            about["edges"] = [
                [place[p], place[q], *c] for (p, q), c in zip(pairs, capacity, strict=True)
            ]
        elif kind == "path":
            flow += float(values[0])
            path = [place[int(p)] for p in nodes]
            steps.append({"kind": "path", "path": path, "flow": float(values[0]), "total": flow})
        else:
            states = nodes[list(place)].tolist()
            steps.append({"kind": "trees", "states": states, "total": flow})
    y = labels.tolist()
    crossing = [[p, q] for p, q, _, _ in about["edges"] if y[p] != y[q]]
    steps.append({"kind": "cut", "labels": y, "edges": crossing, "total": flow})
    answer = labels.reshape(theta["label"].shape[:2])
    about["flow"] = flow
    return Trace("minimum cut", steps, answer.tolist(), float(model.native.score(labels)), about)


def branch_and_bound(
    edges: Any, *, most_steps: int = 10_000, start: Any = None, **scores: Any
) -> Trace:
    """Return the trace of branch and bound on a small graph.

    Written by the core's own search, which reports every label it tries to a watcher; without one,
    the calls are compiled away. If ``about["proven"]``, its answer is the best labelling, that of
    ``Graph.argmax``.

    Parameters
    ----------
    start : array of shape (N,), optional
        The labelling to beat; by default the best label of each node by itself.

    Returns
    -------
    Trace
        Steps of kind "try": ``depth``, ``node``, ``label``, the ``score`` so far, a ``bound`` on
        all completions, the ``best`` score known, and whether the branch is ``pruned``; of
        kind "leaf": the ``value`` of a whole labelling, and whether it ``improves``.
    """
    structure = Graph(edges)
    theta = structure._read(scores)
    model = structure._model(theta)
    check_size(most_steps)
    y = np.argmax(model.label, axis=1) if start is None else np.asarray(start)
    labels, proven, events = model.native.watch_branching(
        np.ascontiguousarray(y, dtype=np.int64), most_steps
    )
    steps: list[dict[str, Any]] = []
    about: dict[str, Any] = {"proven": bool(proven)}
    for kind, nodes, values in events:
        if kind == "start":
            about |= {"order": nodes.tolist(), "start": y.tolist(), "start_value": values[0]}
        elif kind == "leaf":
            step = {"kind": kind, "improves": bool(nodes[0]), "value": float(values[0])}
            steps.append(step)
        else:
            depth, node, label = nodes.tolist()
            so_far, bound, best = values.tolist()
            step = {"kind": kind, "depth": depth, "node": node, "label": label}
            step |= {"score": so_far, "bound": bound, "best": best, "pruned": not bound > best}
            steps.append(step)
    return Trace(
        "branch and bound", steps, labels.tolist(), float(model.native.score(labels)), about
    )
