"""The Image lab: two labels on a grid, by a cut, by messages, by branch and bound."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ... import traces
from ...structures import Grid
from ..formulas import added, number, plural
from ..requests import Refused, Request
from .sequence import literal

MOST_SIDE = 16
#: The most pixels for enumeration, for branch and bound, and for exact marginals.
MOST_ENUMERATED, MOST_BRANCHED, MOST_SUMMED = 12, 16, 100


class Painting:
    """A painting: the score of "object" at each pixel, and the strength between neighbours."""

    def __init__(self, request: Request) -> None:
        height = request.whole("height", 6, 1, MOST_SIDE)
        width = request.whole("width", 8, 1, MOST_SIDE)
        self.paint = request.scores("paint", (height, width))
        if not np.isfinite(self.paint).all():
            raise Refused("a pixel has a finite score")
        self.strength = request.number("strength", 1.0, 0.0, 20.0)
        gold = request.labels("gold", height * width, 2)
        self.gold = None if gold is None else np.reshape(gold, (height, width))
        self.augmented = request.flag("augmented") and self.gold is not None
        self.label = np.stack([np.zeros_like(self.paint), self.paint], axis=-1)
        if self.augmented:
            self.label = self.label + (1.0 - np.eye(2)[self.gold])

    @property
    def scores(self) -> dict[str, Any]:
        """The score blocks of a grid."""
        return {
            "label": self.label,
            "potts_right": self.strength,
            "potts_down": self.strength,
        }

    def as_graph(self) -> tuple[Any, dict[str, Any]]:
        """Return the edges and score blocks of the grid as a graph."""
        height, width = self.paint.shape
        node = np.arange(height * width).reshape(height, width)
        across = np.stack((node[:, :-1].ravel(), node[:, 1:].ravel()), axis=1)
        down = np.stack((node[:-1].ravel(), node[1:].ravel()), axis=1)
        table = -self.strength * (1.0 - np.eye(2))
        return np.concatenate((across, down)), {"label": self.label.reshape(-1, 2), "edge": table}

    def described(self, y: Any) -> dict[str, Any]:
        """Return an output with its score and cost."""
        scores = {
            **self.scores,
            "label": np.stack([np.zeros_like(self.paint), self.paint], axis=-1),
        }
        labels = np.asarray(y).reshape(self.paint.shape)
        cost = 0.0 if self.gold is None else float((labels != self.gold).sum())
        named = [plural(int(labels.sum()), "pixel") + " of the object"]
        score = Grid().score(labels, **scores)
        return {"labels": labels, "named": named, "score": score, "cost": cost}


def answer(request: Request) -> dict[str, Any]:
    """Return the content of the lab."""
    painting = Painting(request)
    algorithm = request.choice("algorithm", ("cut", "messages", "branching"))
    mode = request.choice("mode", ("max", "sum"))
    grid, scores = Grid(), painting.scores
    best = grid.argmax(**scores)
    if mode == "sum":
        trace = _messages(painting, 1.0)
        steps = _message_steps(trace, painting, probabilities=True)
    elif algorithm == "messages":
        trace = _messages(painting, 0.0)
        steps = _message_steps(trace, painting, probabilities=False)
    elif algorithm == "branching":
        if painting.paint.size > MOST_BRANCHED:
            raise Refused(
                f"branch and bound is shown for at most {MOST_BRANCHED} pixels, these are "
                f"{painting.paint.size}: choose the small picture, or another algorithm"
            )
        edges, theta = painting.as_graph()
        trace = traces.branch_and_bound(edges, most_steps=1500, **theta)
        steps = _branching_steps(trace, painting)
    else:
        trace = traces.minimum_cut(**scores)
        steps = _cut_steps(trace, painting)
    response = {
        "algorithm": trace.algorithm,
        "steps": steps,
        "best": painting.described(best),
        "found": painting.described(trace.answer),
        "runner_up": _runner_up(painting, best),
        "gold": None if painting.gold is None else painting.described(painting.gold),
        "value": grid.score(best, **scores),
        "count": 2**painting.paint.size if painting.paint.size < 1000 else None,
        "shown": painting.label[..., 1] - painting.label[..., 0],
        "cost": None if not painting.augmented else 1.0,
        "network": trace.about if algorithm == "cut" and mode == "max" else None,
        "python": _python(painting, algorithm, mode),
    }
    return {**response, **_sums(painting, mode)}


def _runner_up(painting: Painting, best: Any) -> dict[str, Any] | None:
    """Return the second best output of a small picture, by one search for each pixel."""
    if painting.paint.size > 64:
        return None
    second = Grid().runner_up(best, **painting.scores)
    return None if second is None else painting.described(second[1])


def _sums(painting: Painting, mode: str) -> dict[str, Any]:
    n = painting.paint.size
    response: dict[str, Any] = {"marginals": None, "enumerated": None, "outputs": None}
    if mode == "sum" and n <= MOST_SUMMED and min(painting.paint.shape) <= 8:
        response["marginals"] = Grid().marginals(**painting.scores)["label"][..., 1]
    if n > MOST_ENUMERATED:
        return response
    shape = painting.paint.shape
    every = np.array(list(itertools.product((0, 1), repeat=n))).reshape(-1, *shape)
    own = np.where(every == 1, painting.label[..., 1], painting.label[..., 0]).sum(axis=(1, 2))
    unequal = (every[:, :, 1:] != every[:, :, :-1]).sum(axis=(1, 2))
    unequal = unequal + (every[:, 1:] != every[:, :-1]).sum(axis=(1, 2))
    value = own - painting.strength * unequal
    weight = np.exp(value - value.max())
    p = weight / weight.sum()
    response["enumerated"] = np.tensordot(p, every, axes=1)
    order = np.argsort(-value, kind="stable")[:20]
    response["outputs"] = [
        {**painting.described(every[i]), "total": float(value[i]), "p": float(p[i])} for i in order
    ]
    return response


def _place(v: int, painting: Painting) -> str:
    row, column = divmod(v, painting.paint.shape[1])
    return f"({row + 1}, {column + 1})"


def _cut_steps(trace: traces.Trace, painting: Painting) -> list[dict[str, Any]]:
    steps = []
    left = {}
    for p, q, there, back in trace.about["edges"]:
        left[p, q], left[q, p] = there, back
    full: list[list[int]] = []
    for step in trace.steps:
        if step["kind"] == "path":
            path = step["path"]
            for p, q in itertools.pairwise(path):
                left[p, q] -= step["flow"]
                left[q, p] += step["flow"]
                if left[p, q] <= 1e-12:
                    full.append([p, q])
            full = [e for e in full if left[e[0], e[1]] <= 1e-12]
            way = " → ".join(["source", *(_place(p, painting) for p in path), "sink"])
            lines = [way, f"flow {number(step['flow'])}, altogether {number(step['total'])}"]
            say = f"{number(step['flow'])} flows along {plural(len(path), 'pixel')}; "
            say += f"altogether {number(step['total'])}."
            steps.append(
                {"kind": "path", "path": path, "full": [*map(list, full)], "states": None,
                 "formula": lines, "say": say}
            )  # fmt: skip
        elif step["kind"] == "trees":
            if steps:
                steps[-1]["states"] = step["states"]
        else:
            y = step["labels"]
            excess = trace.about["excess"]
            own = sum(-x for p, x in enumerate(excess) if x < 0 and y[p] == 0)
            own += sum(x for p, x in enumerate(excess) if x > 0 and y[p] == 1)
            edges = painting.strength * len(step["edges"])
            lines = [
                "no path is left: the full edges separate object from background",
                f"cut = pixels against their own score + edges cut = {number(own)} + "
                f"{len(step['edges'])} · {number(painting.strength)} = {number(own + edges)}",
            ]
            steps.append(
                {"kind": "cut", "path": [], "full": step["edges"], "states": None, "labels": y,
                 "formula": lines,
                 "say": f"The cut costs {number(own + edges)}, which is what flowed."}
            )  # fmt: skip
    return steps


def _messages(painting: Painting, temperature: float) -> traces.Trace:
    edges, theta = painting.as_graph()
    return traces.loopy_messages(edges, temperature=temperature, max_rounds=30, **theta)


def _message_steps(
    trace: traces.Trace, painting: Painting, *, probabilities: bool
) -> list[dict[str, Any]]:
    steps = []
    before: Any = None
    for r, step in enumerate(trace.steps, 1):
        beliefs = np.array(step["beliefs"])
        shade = beliefs[:, 1] if probabilities else 1 / (1 + np.exp(beliefs[:, 0] - beliefs[:, 1]))
        changed = 0 if before is None else int((np.array(step["labels"]) != before).sum())
        before = np.array(step["labels"])
        lines = [f"sweep {r}: every pixel has told its neighbours, forth and back"]
        lines.append(
            f"labels read off score {number(step['value'])}; {plural(changed, 'label')} changed"
        )
        steps.append(
            {"kind": "sweep", "shade": shade.tolist(), "labels": step["labels"],
             "formula": lines, "say": f"Sweep {r}: {plural(changed, 'label')} changed."}
        )  # fmt: skip
    if steps:
        end = "nothing changes any more" if trace.about["converged"] else "not settled yet"
        steps[-1]["formula"].append(end)
    return steps


def _branching_steps(trace: traces.Trace, painting: Painting) -> list[dict[str, Any]]:
    steps = []
    branch: dict[int, int] = {}
    order = trace.about["order"]
    for step in trace.steps:
        if step["kind"] == "leaf":
            what = "the best so far" if step["improves"] else "not better"
            lines = [f"a whole labelling: {number(step['value'])}, {what}"]
            say = f"A whole labelling scores {number(step['value'])}, {what}."
        else:
            depth = step["depth"]
            branch = {v: k for v, k in branch.items() if v in order[:depth]}
            branch[step["node"]] = step["label"]
            name = "object" if step["label"] else "background"
            verdict = "cut off" if step["pruned"] else "go on"
            lines = [
                f"{_place(step['node'], painting)} as {name}: so far {number(step['score'])}",
                f"bound {number(step['bound'])} {'≤' if step['pruned'] else '>'} best known "
                f"{number(step['best'])}: {verdict}",
            ]
            say = f"{_place(step['node'], painting)} as {name}: {verdict}."
        labels = [branch.get(v, -1) for v in range(painting.paint.size)]
        steps.append({"kind": step["kind"], "labels": labels, "formula": lines, "say": say})
    done = {"kind": "done", "labels": trace.answer}
    lines = [f"the best labelling scores {added([trace.value])}"]
    steps.append({**done, "formula": lines, "say": f"The best scores {number(trace.value)}."})
    return steps


def _python(painting: Painting, algorithm: str, mode: str) -> str:
    lines = [
        "import numpy as np",
        "from structlearn import traces",
        "from structlearn.structures import Grid",
        "",
        f'paint = {literal(painting.paint)}  # the score of "object"',
        "label = np.stack([np.zeros_like(paint), paint], axis=-1)",
    ]
    if painting.augmented:
        assert painting.gold is not None
        lines += [
            f"gold = np.array({painting.gold.tolist()!r})",
            "label = label + (1 - np.eye(2)[gold])  # 1 for every wrong pixel",
        ]
    strength = f"{painting.strength:g}"
    lines += [
        f"scores = dict(label=label, potts_right={strength}, potts_down={strength})",
        "print(Grid().argmax(**scores))",
    ]
    if mode == "sum":
        lines.append("print(Grid().marginals(**scores)['label'][..., 1])")
    elif algorithm == "cut":
        lines.append("trace = traces.minimum_cut(**scores)  # the steps")
    return "\n".join(lines) + "\n"
