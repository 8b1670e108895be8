"""The Messages lab: exact messages on trees, loopy messages on graphs with cycles."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from ... import traces
from ...structures import Graph, Tree
from ..enumeration import MOST_OUTPUTS, Enumeration
from ..formulas import added, braces, number, plural
from ..requests import Array, Refused, Request
from .sequence import literal

MOST_NODES, MOST_LABELS, MOST_EDGES, MOST_SWEEPS = 12, 4, 24, 40


class Network:
    """Nodes, edges, and scores of labels and of pairs of labels."""

    def __init__(self, request: Request) -> None:
        self.nodes = request.words("nodes", MOST_NODES)
        self.labels = request.words("labels", MOST_LABELS)
        N, K = len(self.nodes), len(self.labels)
        self.edges = _edges(request, N)
        self.given = request.scores("label", (N, K))
        self.table = request.scores("edge", (K, K))
        if not np.isfinite(self.table).all() or not np.isfinite(self.given).all():
            raise Refused("scores are finite here: messages are added")
        self.gold = request.labels("gold", N, K)
        self.augmented = request.flag("augmented") and self.gold is not None
        self.cost = np.zeros((N, K))
        if self.gold is not None:
            self.cost = 1.0 - np.eye(K)[self.gold]
        self.root = request.whole("root", 0, 0, N - 1)
        self.parents = self._parents()

    @property
    def label(self) -> Array:
        """The label scores to be searched, with costs added if they are switched on."""
        return self.given + self.cost if self.augmented else self.given

    @property
    def graph(self) -> Graph:
        """The structure."""
        return Graph(np.array(self.edges, dtype=np.int64).reshape(-1, 2))

    def _parents(self) -> list[int] | None:
        """Return each node's parent, seen from the root; None if the graph is not a tree."""
        if len(self.edges) != len(self.nodes) - 1:
            return None
        parents = {self.root: -1}
        waiting = [self.root]
        while waiting:
            v = waiting.pop()
            for edge in self.edges:
                if v in edge:
                    (u,) = set(edge) - {v}
                    if u not in parents:
                        parents[u] = v
                        waiting.append(u)
        return (
            [parents[v] for v in range(len(self.nodes))]
            if len(parents) == len(self.nodes)
            else None
        )

    def downward(self) -> Array:
        """Return the scores of pairs by child: [parent's label, child's label]."""
        assert self.parents is not None
        tables = []
        for v, p in enumerate(self.parents):
            if p >= 0:
                tables.append(self.table if [p, v] in self.edges else self.table.T)
        return np.array(tables).reshape(-1, *self.table.shape)

    def described(self, y: Any) -> dict[str, Any]:
        """Return an output with its score and cost."""
        labels = [int(k) for k in y]
        value = float(self.given[np.arange(len(labels)), labels].sum())
        value += sum(float(self.table[labels[u], labels[v]]) for u, v in self.edges)
        cost = float(self.cost[np.arange(len(labels)), labels].sum())
        named = [self.labels[k] for k in labels]
        return {"labels": labels, "named": named, "score": value, "cost": cost}


def _edges(request: Request, n: int) -> list[list[int]]:
    pairs = request.values.get("edges")
    if not isinstance(pairs, list) or len(pairs) > MOST_EDGES:
        raise Refused(f"edges must be a list of at most {MOST_EDGES} pairs of nodes")
    edges: list[list[int]] = []
    for edge in pairs:
        two = isinstance(edge, list) and len(edge) == 2
        if not two or not all(isinstance(v, int) and not isinstance(v, bool) for v in edge):
            raise Refused("an edge is a pair of the numbers of two nodes")
        if not all(0 <= v < n for v in edge) or edge[0] == edge[1]:
            raise Refused(f"an edge is between two of the {n} nodes")
        if edge in edges or edge[::-1] in edges:
            raise Refused("two nodes have one edge at most")
        edges.append(list(edge))
    return edges


def answer(request: Request) -> dict[str, Any]:
    """Return the content of the lab."""
    network = Network(request)
    mode = request.choice("mode", ("max", "sum"))
    graph, label = network.graph, network.label
    scores: dict[str, Any] = {"label": label, "edge": network.table}
    temperature = 1.0 if mode == "sum" else 0.0
    if network.parents is not None:
        trace = traces.tree_messages(
            network.parents, temperature=temperature, label=label, edge=network.downward()
        )
        steps = _tree_steps(trace, network, temperature)
        sums = Tree(network.parents).marginals(label=label, edge=network.downward())["label"]
    else:
        trace = traces.loopy_messages(
            network.edges, temperature=temperature, max_rounds=MOST_SWEEPS, **scores
        )
        steps = _loopy_steps(trace, network, temperature)
        sums = np.array(trace.steps[-1]["beliefs"])
    best = graph.argmax(**scores)
    second = graph.runner_up(best, **scores)
    response: dict[str, Any] = {
        "algorithm": trace.algorithm,
        "steps": steps,
        "parents": network.parents,
        "value": trace.value,
        "best": network.described(best),
        "found": network.described(trace.answer),
        "runner_up": None if second is None else network.described(second[1]),
        "gold": None if network.gold is None else network.described(network.gold),
        "shown": label,
        "cost": network.cost if network.augmented else None,
        "count": len(network.labels) ** len(network.nodes),
        "marginals": sums if mode == "sum" else None,
        "converged": trace.about.get("converged", True),
        "outputs": None,
        "enumerated": None,
        "python": _python(network, mode),
    }
    if response["count"] <= MOST_OUTPUTS:
        every = Enumeration(label, [(u, v, network.table) for u, v in network.edges])
        response |= {"outputs": every.rows(network.described), "enumerated": every.marginals}
    return response


# -- trees --------------------------------------------------------------------------------------


def _grouped(trace: traces.Trace, kind: str) -> Iterator[tuple[str, int, list[dict[str, Any]]]]:
    """Yield the steps of a kind, grouped by node."""
    steps = [s for s in trace.steps if s["kind"] == kind]
    for (what, v), group in itertools.groupby(steps, key=lambda s: (s["node"][0], s["node"][1:2])):
        yield what, v[0] if v else -1, list(group)


def _tree_steps(trace: traces.Trace, network: Network, temperature: float) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = []
    parents, names, labels = network.parents, network.nodes, network.labels
    assert parents is not None
    function = "log Σ exp" if temperature else "max"
    ahead = "log Σⱼ exp" if temperature else "maxⱼ"
    belief: dict[int, list[float]] = {}
    for what, v, group in _grouped(trace, "fill"):
        values = [s["value"] for s in group]
        if what == "belief":
            belief[v] = values
            children = [u for u, p in enumerate(parents) if p == v]
            if not children:
                continue  # its own scores are shown with the message
            incoming = " + ".join(f"m({names[u]} → {names[v]})" for u in children)
            lines = [f"b({names[v]}, k) = score + {incoming}"]
            for k, s in enumerate(group):
                (option,) = s["options"]
                terms = added([*_own(option, network), *option["tail_values"]])
                lines.append(f"b({names[v]}, {labels[k]}) = {terms} = {number(values[k])}")
            say = f"{names[v]} has heard from {' and '.join(names[u] for u in children)}."
            steps.append(
                {"kind": "belief", "node": v, "values": values, "formula": lines, "say": say}
            )
        elif what == "message":
            p = parents[v]
            lines = [f"m({names[v]} → {names[p]}, k) = {ahead}( b({names[v]}, j) + pair(k, j) )"]
            for k, s in enumerate(group):
                sums = [added([*o["tail_values"], *(x["score"] for x in o["parts"])])
                        for o in s["options"]]  # fmt: skip
                line = f"if {names[p]} is {labels[k]}: {braces(function, sums)}"
                lines.append(f"{line} = {number(values[k])}")
            say = (
                f"{names[v]} tells {names[p]}, for each label of {names[p]}, how well its side of "
            )
            say += "the tree can do."
            best = [labels[o] for o in (s["best"] for s in group)]
            if not temperature:
                pointers = ", ".join(f"{labels[k]} ← {b}" for k, b in enumerate(best))
                lines.append(f"kept for the way back: {pointers}")
            steps.append(
                {"kind": "message", "node": v, "to": p, "values": values, "belief": belief[v],
                 "formula": lines, "say": say}
            )  # fmt: skip
        else:
            lines = [f"{'log Z' if temperature else 'best score'} = "
                     f"{braces(function, [number(x) for x in belief[network.root]])} = "
                     f"{number(values[0])}"]  # fmt: skip
            say = f"The root {names[network.root]} knows the whole tree: {number(values[0])}."
            steps.append(
                {"kind": "end", "node": network.root, "values": belief[network.root],
                 "formula": lines, "say": say}
            )  # fmt: skip
    return steps + (
        _probabilities(trace, network, belief) if temperature else _way_back(trace, network)
    )


def _own(option: dict[str, Any], network: Network) -> list[float]:
    """Return a label's score, and its cost as a separate number."""
    v, k = option["parts"][0]["at"]
    cost = [float(network.cost[v, k])] if network.augmented and network.cost[v, k] else []
    return [float(network.given[v, k]), *cost]


def _way_back(trace: traces.Trace, network: Network) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = []
    labelling: dict[int, int] = {}
    for step in trace.steps:
        if step["kind"] != "follow" or step["node"][0] != "belief":
            continue
        v, k = step["node"][1:]
        labelling[v] = k
        name, label = network.nodes[v], network.labels[k]
        say = f"{name} is {label}"
        if v != network.root:
            assert network.parents is not None
            p = network.parents[v]
            say += f", the best where {network.nodes[p]} is {network.labels[labelling[p]]}"
        labels = [labelling.get(u, -1) for u in range(len(network.nodes))]
        steps.append(
            {"kind": "back", "node": v, "labels": labels, "formula": [f"y({name}) = {label}"],
             "say": say + "."}
        )  # fmt: skip
    return steps


def _probabilities(
    trace: traces.Trace, network: Network, belief: dict[int, list[float]]
) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = []
    for what, v, group in _grouped(trace, "outside"):
        if what != "belief":
            continue
        group = sorted(group, key=lambda s: s["node"][2])
        name = network.nodes[v]
        lines = [f"P({name} is k) = exp(b({name}, k) + the rest of the tree − log Z)"]
        for s in group:
            k = s["node"][2]
            terms = added([belief[v][k], s["value"], -trace.value])
            lines.append(f"P({network.labels[k]}) = exp({terms}) = {number(s['mass'])}")
        steps.append(
            {"kind": "outside", "node": v, "values": [s["mass"] for s in group], "formula": lines,
             "say": f"The rest of the tree answers {name}: now its probabilities are known."}
        )  # fmt: skip
    return steps


# -- graphs with cycles -------------------------------------------------------------------------


def _loopy_steps(trace: traces.Trace, network: Network, temperature: float) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = []
    before: Any = None
    for r, step in enumerate(trace.steps, 1):
        beliefs = np.array(step["beliefs"])
        lines = [f"sweep {r}: along every edge, forth and back"]
        if not temperature:
            lines[0] += "; a message's largest number is made 0"
        for v, row in enumerate(beliefs):
            if temperature:
                values = ", ".join(
                    f"{name} {number(float(x))}"
                    for name, x in zip(network.labels, row, strict=True)
                )
                lines.append(f"P({network.nodes[v]}) ≈ {values}")
                continue
            terms = [
                f"{name} {added([own, float(x) - own])} = {number(float(x))}"
                for name, own, x in zip(network.labels, network.label[v].tolist(), row, strict=True)
            ]
            lines.append(f"b({network.nodes[v]}) = score + messages: {',  '.join(terms)}")
        change = 0.0 if before is None else float(np.abs(beliefs - before).max())
        before = beliefs
        described = network.described(step["labels"])
        total = described["score"] + (described["cost"] if network.augmented else 0.0)
        lines.append(f"labels read off: {' '.join(described['named'])}, score {number(total)}")
        say = f"Sweep {r}: " + (
            "every node has heard from its neighbours." if r == 1
            else f"beliefs change by at most {number(change)}."
        )  # fmt: skip
        steps.append(
            {"kind": "sweep", "beliefs": beliefs, "labels": step["labels"], "formula": lines,
             "say": say}
        )  # fmt: skip
    settled = trace.about["converged"]
    steps[-1]["formula"].append(
        "nothing changes any more" if settled
        else f"not settled after {plural(len(steps), 'sweep')}: the messages go round in circles"
    )  # fmt: skip
    return steps


def _python(network: Network, mode: str) -> str:
    lines = ["import numpy as np", "from structlearn import traces"]
    tree = network.parents is not None
    lines += [f"from structlearn.structures import {'Tree' if tree else 'Graph'}", ""]
    lines += [f"labels = {network.labels!r}", f"label = {literal(network.given)}"]
    if network.augmented:
        lines += [
            f"gold = {network.gold!r}",
            "label = label + (1 - np.eye(len(labels))[gold])  # Hamming cost",
        ]
    if tree:
        symmetric = bool((network.table == network.table.T).all())
        table = network.table if symmetric else network.downward()
        lines += [
            f"parents = {network.parents!r}  # -1 is the root",
            f"edge = {literal(table)}  # [{'' if symmetric else 'child, '}parent's label, child's]",
            "structure = Tree(parents)",
        ]
    else:
        lines += [
            f"edges = {network.edges!r}",
            f"edge = {literal(network.table)}",
            "structure = Graph(edges)  # exact",
        ]
    ask = (
        "marginals(label=label, edge=edge)['label']"
        if mode == "sum"
        else "argmax(label=label, edge=edge)"
    )
    lines.append(f"print(structure.{ask})")
    if not tree and mode == "max":
        lines.append("print(Graph(edges, method='max-product').argmax(label=label, edge=edge))")
    function = "tree_messages(parents" if tree else "loopy_messages(edges"
    temperature = ", temperature=1" if mode == "sum" else ""
    lines.append(f"trace = traces.{function}{temperature}, label=label, edge=edge)  # the steps")
    return "\n".join(lines) + "\n"
