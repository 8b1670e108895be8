"""The Parse lab for dependencies: Chu-Liu/Edmonds and Eisner."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from ... import traces
from ...structures import Arborescence
from ..formulas import added, braces, equals, number, plural
from ..requests import Array, Refused, Request
from .sequence import literal

MOST_WORDS = 12
#: The most trees that are enumerated to check the search, and the number of them listed.
MOST_TREES, MOST_ROWS = 2_500, 40


class Sentence:
    """Words, arc scores and gold heads."""

    def __init__(self, request: Request) -> None:
        self.words = request.words("words", MOST_WORDS)
        n = len(self.words)
        self.arc = request.scores("arc", (n + 1, n + 1))
        self.gold = request.labels("gold", n, n + 1)
        if self.gold is not None:
            _check_tree(self.gold)
        self.augmented = request.flag("augmented") and self.gold is not None
        self.cost = np.zeros((n + 1, n + 1))
        if self.gold is not None:
            self.cost[:, 1:] = 1.0
            self.cost[self.gold, np.arange(1, n + 1)] = 0.0
        self.projective = request.choice("algorithm", ("edmonds", "eisner")) == "eisner"
        self.structure = Arborescence(projective=self.projective)

    @property
    def scores(self) -> Array:
        """The scores to be searched."""
        return self.arc + self.cost if self.augmented else self.arc

    def node(self, v: int) -> str:
        """Return the name of a node in texts: a word, the root, or a cycle."""
        if v == 0:
            return "root"
        return self.words[v - 1] if v <= len(self.words) else f"C{v - len(self.words)}"

    def described(self, heads: list[int]) -> dict[str, Any]:
        """Return a tree with its score and cost."""
        at = (heads, list(range(1, len(heads) + 1)))
        named = [f"{self.node(h)}→{w}" for h, w in zip(heads, self.words, strict=True)]
        score, cost = float(self.arc[at].sum()), float(self.cost[at].sum())
        return {"heads": heads, "named": named, "score": score, "cost": cost}


def _check_tree(heads: list[int]) -> None:
    for m in range(1, len(heads) + 1):
        seen, v = set(), m
        while v:
            if v in seen:
                raise Refused("the gold heads are not a tree: there is a cycle")
            seen.add(v)
            v = heads[v - 1]


def answer(request: Request) -> dict[str, Any]:
    """Return the content of the lab."""
    sentence = Sentence(request)
    mode = request.choice("mode", ("max", "sum"))
    structure, arc = sentence.structure, sentence.scores
    marginals = structure.marginals(arc=arc)["arc"] if mode == "sum" else None
    if sentence.projective:
        trace = traces.eisner(temperature=float(mode == "sum"), arc=arc)
        steps = _eisner_steps(trace, sentence, mode == "sum")
    elif mode == "sum":
        trace = traces.chu_liu_edmonds(arc)
        steps = _matrix_steps(sentence, marginals)
    else:
        trace = traces.chu_liu_edmonds(arc)
        steps = _edmonds_steps(trace, sentence)
    ranked = structure.kbest(2, arc=arc)
    response: dict[str, Any] = {
        "algorithm": trace.algorithm if mode == "max" or sentence.projective else "matrix–tree",
        "steps": steps,
        "value": trace.value,
        "best": sentence.described(trace.answer),
        "runner_up": sentence.described(ranked[1][1].tolist()) if len(ranked) > 1 else None,
        "gold": None if sentence.gold is None else sentence.described(sentence.gold),
        "shown": arc,
        "cost": sentence.cost if sentence.augmented else None,
        "count": structure.count(arc=arc),
        "marginals": marginals,
        "python": _python(sentence, mode),
    }
    response["log_partition"] = structure.log_partition(arc=arc) if mode == "sum" else None
    return {**response, **_enumerated(sentence, response["count"])}


def _enumerated(sentence: Sentence, count: int) -> dict[str, Any]:
    if count > MOST_TREES or len(sentence.words) > 5:
        return {"outputs": None, "enumerated": None}
    arc = sentence.scores
    trees = _every_tree(len(sentence.words), sentence.projective)
    value = arc[trees, np.arange(1, len(arc))].sum(axis=1)
    weight = np.exp(value - value.max())
    p = weight / weight.sum()
    marginals = np.zeros_like(arc)
    for m in range(1, len(arc)):
        np.add.at(marginals[:, m], trees[:, m - 1], p)
    rows = [
        {**sentence.described(trees[i].tolist()), "total": float(value[i]), "p": float(p[i])}
        for i in np.argsort(-value, kind="stable")[:MOST_ROWS]
        if value[i] > -np.inf
    ]
    return {"outputs": rows, "enumerated": marginals}


@cache
def _every_tree(n: int, projective: bool) -> Any:
    """Return the heads of all trees over n words, at most 5."""
    every = Arborescence(projective=projective).outputs(arc=np.zeros((n + 1, n + 1)))
    return np.array(list(every))


def _edmonds_steps(trace: traces.Trace, sentence: Sentence) -> list[dict[str, Any]]:
    """Return the steps with the arcs chosen so far, by node, and cycles with their members."""
    steps: list[dict[str, Any]] = []
    heads: dict[int, int] = {}
    members: dict[int, list[int]] = {}
    name = sentence.node
    n = len(sentence.words)

    def state() -> dict[str, Any]:
        inside = {v for cycle in members.values() for v in cycle}
        return {
            "arcs": [[h, v] for v, h in heads.items() if v not in inside],
            "inside": [[heads[v], v] for cycle in members.values() for v in cycle],
            "cycles": [[c, _words_of(c, members, n)] for c in members],
        }

    for step in trace.steps:
        kind = step["kind"]
        if kind == "choose":
            m, h = step["word"], step["head"]
            heads[m] = h
            best, root = step["from_word"], step["from_root"]
            lines = [
                f"best head of {name(m)} = max{{ from a word: {number(best)},  "
                f"from the root: {number(root)} }} = {number(max(best, root))}",
            ]
            say = f"{name(m)} takes its best arc, from {name(h)}."
        elif kind == "contract":
            c, cycle = step["cycle"], step["members"]
            members[c] = cycle
            heads[c] = step["head"]
            inner = [f"{name(v)} {number(x)}" for v, x in zip(cycle, step["inner"], strict=True)]
            offers = [
                f"{name(u)}: {number(x)}"
                for u, x in zip(step["others"], step["enter"], strict=True)
            ]
            offers.append(f"root: {number(step['from_root'])}")
            lines = [
                f"cycle {name(c)} = {{ {', '.join(name(v) for v in cycle)} }}, arcs inside: "
                + ", ".join(inner),
                "an arc that enters replaces one inside, so it counts less that one's score:",
                f"offers: {',  '.join(offers)};  best from {name(step['head'])}",
            ]
            words = " and ".join(name(v) for v in cycle)
            say = f"{words} form a cycle. It becomes one node, {name(c)}; its best arc comes from "
            say += f"{name(step['head'])}."
        elif kind == "penalty":
            heads[step["node"]] = step["head"]
            lines = [
                "several words hang from the root, one may: arcs from the root pay "
                f"{number(step['penalty'])},",
                f"then {name(step['node'])} prefers {name(step['head'])}",
            ]
            say = f"Only one word may hang from the root: {name(step['node'])} moves to "
            say += f"{name(step['head'])}."
        else:
            c, entered, h = step["cycle"], step["entered"], step["head"]
            cycle = members.pop(c, [])
            heads.pop(c, None)
            heads[entered] = h
            lines = [f"open {name(c)}: {name(h)} enters at {name(entered)},"]
            remaining = [f"{name(heads[v])}→{name(v)}" for v in cycle if v != entered]
            lines.append(f"the other arcs of the cycle stay: {', '.join(remaining)}")
            say = f"The cycle {name(c)} opens: {name(h)} enters at {name(entered)}."
        steps.append({"kind": kind, "formula": lines, "say": say, **state()})
    arcs = [[h, m] for m, h in enumerate(trace.answer, 1)]
    scores = [float(sentence.scores[h, m]) for h, m in arcs]
    lines = [f"score = {added(scores)} = {number(trace.value)}"]
    say = f"The best tree scores {number(trace.value)}."
    done = {"arcs": arcs, "inside": [], "cycles": []}
    steps.append({"kind": "done", "formula": lines, "say": say, **done})
    return steps


def _words_of(node: int, members: dict[int, list[int]], n: int) -> list[int]:
    if node <= n:
        return [node]
    return [w for v in members.get(node, []) for w in _words_of(v, members, n)]


_READS = {
    "right": "complete, head {i}",
    "left": "complete, head {j}",
    "arc right": "the arc {i} → {j}",
    "arc left": "the arc {j} → {i}",
    "between": "two complete halves meet",
}


def _matrix_steps(sentence: Sentence, marginals: Any) -> list[dict[str, Any]]:
    """Return sums over all trees as one determinant (matrix–tree theorem), one root each.

    Each word's column is divided by its largest entry, which is added back to the logarithm.
    """
    arc, n = sentence.scores, len(sentence.words)
    inner = arc.copy()
    np.fill_diagonal(inner, -np.inf)
    top = inner[:, 1:].max(axis=0)
    weight = np.exp(inner[:, 1:] - top)
    laplacian = np.diag(weight[1:].sum(axis=0)) - weight[1:]
    laplacian[0] = weight[0]
    name = sentence.node
    nothing: dict[str, Any] = {"inside": [], "cycles": [], "arcs": []}
    steps: list[dict[str, Any]] = []
    best = [f"{w}: {number(float(t))}" for w, t in zip(sentence.words, top, strict=True)]
    lines = ["w(h, m) = exp(score(h, m) − best of m);  best: " + ",  ".join(best)]
    for h in range(n + 1):
        row = [number(float(weight[h, m])) if h != m + 1 else "–" for m in range(n)]
        lines.append(f"from {name(h)}: {'  '.join(row)}")
    say = "Every arc gets a weight: exp of its score, less the best of its word."
    steps.append({"kind": "weights", "formula": lines, "say": say, **nothing})
    lines = ["L: off the diagonal −w(h, m), on it the sum of m's weights from words;"]
    lines.append("its first row is replaced by the root's weights, so that one word has the root")
    lines += ["  ".join(number(float(x)) for x in row) for row in laplacian]
    say = "One matrix holds all trees: its determinant is the sum of their weights."
    steps.append({"kind": "matrix", "formula": lines, "say": say, **nothing})
    log_z = sentence.structure.log_partition(arc=arc)
    lines = ["log Z = log det L + the best scores that were taken out"]
    lines.append(
        f"= log {number(float(np.linalg.det(laplacian)), 6)} + {number(float(top.sum()))} = "
        f"{number(log_z)}"
    )
    say = f"The log of the sum over all trees is {number(log_z)}."
    steps.append({"kind": "determinant", "formula": lines, "say": say, **nothing})
    for m in range(1, n + 1):
        order = np.argsort(-marginals[:, m], kind="stable")
        rows = [f"{name(int(h))} {number(float(marginals[h, m]))}" for h in order if h != m]
        lines = [f"P(head of {name(m)}) = ∂ log Z / ∂ score:  {',  '.join(rows)}"]
        likely = [[int(h), m] for h in order if marginals[h, m] >= 0.1]
        say = f"The head of {name(m)} is most likely {name(int(order[0]))}."
        arcs = [*steps[-1]["arcs"], *likely]
        steps.append({"kind": "share", "formula": lines, "say": say, **nothing, "arcs": arcs})
    return steps


def _eisner_steps(trace: traces.Trace, sentence: Sentence, sums: bool) -> list[dict[str, Any]]:
    function = "log Σ exp" if sums else "max"
    steps: list[dict[str, Any]] = []
    filled = {tuple(s["node"]): s for s in trace.steps if s["kind"] == "fill"}
    name = sentence.node

    def arcs_of(node: tuple[Any, ...]) -> list[list[int]]:
        arcs, waiting = [], [node]
        while waiting:
            step = filled[waiting.pop()]
            option = step["options"][step["best"]]
            arcs += [part["at"] for part in option["parts"]]
            waiting += [tuple(t) for t in option["tails"]]
        return arcs

    used, waiting = set(), [("goal",)]
    while waiting:  # items that are not part of any tree with one root are not shown
        at: tuple[Any, ...] = waiting.pop()
        used.add(at)
        tails = {tuple(t) for o in filled[at]["options"] for t in o["tails"]}
        waiting += tails - used
    for step in trace.steps:
        node = tuple(step["node"])
        if step["kind"] != "fill" or step["value"] == float("-inf") or node not in used:
            continue
        if node[0] != "goal" and (node[1] == node[2] or node[0] == "between"):
            continue  # single words score 0; the halves are shown with the arc they make
        options = step["options"]
        if node[0].startswith("arc"):
            options = _unfolded(filled, step)
        terms = []
        for o in options:
            terms.append(added([*o["tail_values"], *(p["score"] for p in o["parts"])]))
        what = "the whole tree"
        if node[0] != "goal":
            what = f"{name(node[1])} … {name(node[2])}: " + _READS[node[0]].format(
                i=name(node[1]), j=name(node[2])
            )
        lines = [what, equals(braces(function, terms), number(step["value"]))]
        span = [0, len(sentence.words)] if node[0] == "goal" else [node[1], node[2]]
        summary = f"Sum of {plural(len(terms), 'way')}" if sums else f"Best of {len(terms)}"
        say = f"{what}. {summary}: {number(step['value'])}."
        steps.append(
            {"kind": node[0], "span": span, "arcs": arcs_of(node), "inside": [], "cycles": [],
             "formula": lines, "say": say}
        )  # fmt: skip
    return steps + (_arc_shares(trace, sentence) if sums else [])


def _arc_shares(trace: traces.Trace, sentence: Sentence) -> list[dict[str, Any]]:
    """Return a step for each arc that the outside pass gives a probability."""
    steps: list[dict[str, Any]] = []
    inside = {tuple(s["node"]): s["value"] for s in trace.steps if s["kind"] == "fill"}
    goal = next(s for s in trace.steps if s["node"] == ["goal"])
    for option in goal["options"]:
        m = next(p["at"][1] for p in option["parts"] if p["at"][0] == 0)
        share = math.exp(option["value"] - trace.value)
        lines = [f"P(root → {sentence.node(m)}) = exp(its way to the whole − log Z)"]
        lines.append(f"= exp({added([option['value'], -trace.value])}) = {number(share)}")
        say = f"{sentence.node(m)} hangs from the root with probability {number(share)}."
        steps.append(
            {"kind": "share", "span": [0, m], "arcs": [[0, m]], "inside": [], "cycles": [],
             "formula": lines, "say": say}
        )  # fmt: skip
    for step in trace.steps:
        kind = step["node"][0]
        if step["kind"] != "outside" or not kind.startswith("arc") or step["mass"] < 5e-4:
            continue
        i, j = step["node"][1:]
        h, m = (i, j) if kind == "arc right" else (j, i)
        arc = f"{sentence.node(h)} → {sentence.node(m)}"
        terms = added([inside[tuple(step["node"])], step["value"], -trace.value])
        lines = [f"P({arc}) = exp(inside + outside − log Z)"]
        lines.append(f"= exp({terms}) = {number(step['mass'])}")
        steps.append(
            {"kind": "share", "span": [i, j], "arcs": [[h, m]], "inside": [], "cycles": [],
             "formula": lines, "say": f"{arc} has probability {number(step['mass'])}."}
        )  # fmt: skip
    return steps


def _unfolded(filled: dict[Any, Any], step: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the splits of an arc: the options of the item between its ends."""
    splits = []
    for option in step["options"]:
        for tail in option["tails"]:
            if tail[0] != "between":
                return list(step["options"])
            for split in filled[tuple(tail)]["options"]:
                splits.append({"tail_values": split["tail_values"], "parts": option["parts"]})
    return splits


def _python(sentence: Sentence, mode: str) -> str:
    lines = [
        "import numpy as np",
        "from structlearn import traces",
        "from structlearn.structures import Arborescence",
        "",
        f"words = {sentence.words!r}",
        f"arc = {literal(sentence.arc)}  # arc[head, word]; 0 is the root",
    ]
    if sentence.augmented:
        lines += [
            f"gold = {sentence.gold!r}",
            "cost = np.ones_like(arc)",
            "cost[gold, np.arange(1, len(arc))] = 0",
            "arc = arc + cost  # 1 for every wrong head",
        ]
    option = "projective=True" if sentence.projective else ""
    lines += [f"trees = Arborescence({option})", "print(trees.argmax(arc=arc))"]
    if mode == "sum":
        lines += ["print(trees.log_partition(arc=arc))", "print(trees.marginals(arc=arc)['arc'])"]
    temperature = "temperature=1, " if mode == "sum" else ""
    if sentence.projective:
        lines.append(f"trace = traces.eisner({temperature}arc=arc)  # the steps")
    elif mode == "max":
        lines.append("trace = traces.chu_liu_edmonds(arc)  # the steps")
    return "\n".join(lines) + "\n"
