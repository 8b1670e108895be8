"""Relations on graphs: all search methods, roof duality and loopy sums, against enumeration."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fuzz.metamorphic.answers import Different, Refusal, demand_same
from fuzz.metamorphic.instances import attempt, magnitude
from fuzz.metamorphic.relation import relation
from fuzz.metamorphic.twins import TEMPERATURES, demand_close
from structlearn.exceptions import NotSubmodularError
from structlearn.structures import Graph, Grid

__all__: list[str] = []

Rng = np.random.Generator
Parts = dict[str, Any]

#: Sizes of scores. Programs have tolerances of their own, relative to scores of ordinary size.
SIZES = (1.0, 1.0, 30.0, 1e3)
EXACT = ("elimination", "cut", "ilp")
METHODS = ("auto", *EXACT, "expansion", "swap", "max-product", "trws", "qpbo", "lp")


class Model(NamedTuple):
    """Labels on a graph, with all labellings and their scores.

    Attributes
    ----------
    labellings : (outputs, nodes)
    values : (outputs,)
    size : float
        The magnitudes of one labelling's scores, added up.
    """

    structure: Any
    scores: Parts
    labellings: Any
    values: Any
    size: float

    @property
    def slack(self) -> float:
        return 1e-9 * self.size

    def value(self, y: Any) -> float:
        """Return the score of a labelling by enumeration."""
        at = np.flatnonzero((self.labellings == np.ravel(y)).all(axis=1))
        return float(self.values[at[0]])


@functools.cache
def _labellings(n: int, k: int) -> Any:
    return np.indices((k,) * n).reshape(n, -1).T


def _model(rng: Rng, shape: tuple[int, int] | None, pairs: str, cliques: bool = False) -> Model:
    """Draw scores and add them up for every labelling; ``shape`` is that of a grid."""
    n = int(rng.integers(1, 7)) if shape is None else shape[0] * shape[1]
    k = 2 if "two" in pairs else int(rng.integers(1, 4 if n <= 6 else 3))
    scale, tied = float(rng.choice(SIZES)), rng.random() < 0.3

    def draw(*sizes: int) -> Any:
        x = rng.normal(size=sizes)
        return scale * (np.round(x) if tied else x)

    if shape is None:
        ends = [(a, b) if rng.random() < 0.5 else (b, a)
                for a in range(n) for b in range(a) if rng.random() < 0.6]  # fmt: skip
        if "forest" in pairs:
            ends = [(int(rng.integers(b)), b) for b in range(1, n) if rng.random() < 0.9]
        edges = np.array(ends, dtype=int).reshape(-1, 2)
    else:
        nodes = np.arange(n).reshape(shape)
        right = np.column_stack([nodes[:, :-1].ravel(), nodes[:, 1:].ravel()])
        down = np.column_stack([nodes[:-1].ravel(), nodes[1:].ravel()])
        edges = np.concatenate([right, down])
    label = draw(n, k)
    label[rng.random(label.shape) < float(rng.choice((0.0, 0.0, 0.1)))] = -np.inf
    label[np.isneginf(label).all(axis=1)] = 0.0
    y = _labellings(n, k)
    values = label[np.arange(n), y].sum(axis=1)
    scores: Parts = {"label": label}
    tables = draw(len(edges), k, k)
    strength = np.abs(draw(len(edges)))
    if "potts" in pairs:
        scores["potts"] = strength
        tables = -strength[:, np.newaxis, np.newaxis] * (1 - np.eye(k))
    else:
        if "submodular" in pairs:
            wrong = tables[:, 0, 0] + tables[:, 1, 1] < tables[:, 0, 1] + tables[:, 1, 0]
            tables[wrong] = tables[wrong][:, ::-1]
        scores["edge"] = tables
    for (a, b), table in zip(edges, tables, strict=True):
        values = values + table[y[:, a], y[:, b]]
    structure: Any = Graph(edges)
    if cliques:
        tolerance = float(rng.choice((0.0, 0.0, 0.3, 0.5)))
        structure = Graph(edges, tolerance=tolerance)
        groups = [rng.choice(n, size=int(rng.integers(1, n + 1)), replace=False).tolist()
                  for _ in range(int(rng.integers(1, 4)))]  # fmt: skip
        reward = np.abs(draw(len(groups), k))
        scores |= {"clique": reward, "cliques": groups}
        for group, row in zip(groups, reward, strict=True):
            for c in range(k):
                others = (y[:, group] != c).sum(axis=1)
                share = np.maximum(0.0, 1 - others / max(1.0, tolerance * len(group)))
                values = values + row[c] * share
    if shape is not None:
        structure = Grid()
        cut = shape[0] * (shape[1] - 1)
        strengths = scores.pop("potts" if "potts" in pairs else "edge")
        names = ("potts_right", "potts_down") if "potts" in pairs else ("right", "down")
        sites = (shape[0], shape[1] - 1), (shape[0] - 1, shape[1])
        scores = {"label": label.reshape(*shape, k)}
        for name, part, site in zip(names, (strengths[:cut], strengths[cut:]), sites, strict=True):
            scores[name] = part.reshape(*site, *part.shape[1:])
    size = (
        sum(magnitude(a) * len(a) for a in (label, tables)) + magnitude(scores.get("clique", 0)) * 3
    )
    return Model(structure, scores, y, values, max(size, 1e-300))


def _drawing(pairs: str, grid: bool = False, cliques: bool = False) -> Callable[[Rng], Model]:
    def draw(rng: Rng) -> Model:
        shape = (int(rng.integers(1, 4)), int(rng.integers(1, 4))) if grid else None
        return _model(rng, shape, pairs, cliques)

    return draw


MODELS: dict[str, Callable[[Rng], Model]] = {
    "graph": _drawing("any"),
    "graph, two labels": _drawing("two"),
    "graph, two labels, submodular": _drawing("two, submodular"),
    "graph, potts": _drawing("potts"),
    "forest": _drawing("forest"),
    "graph with cliques": _drawing("potts", cliques=True),
    "grid": _drawing("any", grid=True),
    "grid, two labels": _drawing("two", grid=True),
    "grid, two labels, submodular": _drawing("two, submodular", grid=True),
    "grid, potts": _drawing("potts", grid=True),
}


@relation(
    "every method of a graph",
    MODELS,
    claim="exact ones to 1e-9 of the scores, others by their bounds",
)
def methods(subject: Callable[[Rng], Model], rng: Rng) -> None:
    """Values are those of the labels, bounds are bounds, and exact methods agree."""
    it = subject(rng)
    method = METHODS[int(rng.integers(len(METHODS)))]
    try:
        solution = attempt(lambda: it.structure.solve(method=method, **it.scores))
    except NotSubmodularError:
        return
    if isinstance(solution, Refusal):
        if np.isfinite(it.values).any():
            demand_same(method, "CapabilityError", str(solution))
        return
    best = float(it.values.max())
    demand_close(
        f"{method}: value of its labels", it.value(solution.output), solution.value, it.slack
    )
    counts = it.structure.encode(solution.output, **it.scores)
    parts = sum(float((it.scores[k][n != 0] * n[n != 0]).sum()) for k, n in counts.items())
    demand_close(f"{method}: parts of its labels", parts, solution.value, it.slack)
    if solution.bound is not None and not solution.bound >= best - it.slack:
        raise Different(f"{method}: bound {solution.bound!r}, best {best!r}")
    if solution.exact or method in EXACT:
        demand_close(f"{method}: best value", best, solution.value, it.slack)


@relation(
    "roof duality keeps a best labelling",
    {name: MODELS[name] for name in MODELS if "two" in name},
    claim="to 1e-9 of the scores",
)
def persistent(subject: Callable[[Rng], Model], rng: Rng) -> None:
    """Some best labelling contains all labels fixed by roof duality."""
    it = subject(rng)
    answer = attempt(lambda: it.structure.partial_labels(**it.scores))
    if isinstance(answer, Refusal) or not np.isfinite(it.values).any():
        return
    labels, bound = np.ravel(answer[0]), answer[1]
    agree = ((it.labellings == labels) | (labels < 0)).all(axis=1)
    best = float(it.values.max())
    demand_close("best with these labels", best, float(it.values[agree].max()), it.slack)
    if not bound >= best - it.slack:
        raise Different(f"bound {bound!r}, best {best!r}")


@relation(
    "loopy sums of a forest",
    {"forest": MODELS["forest"]},
    claim="to 1e-6, where messages stop",
)
def loopy(subject: Callable[[Rng], Model], rng: Rng) -> None:
    """Without cycles, messages give the sums of elimination."""
    it = subject(rng)
    temperature = float(rng.choice(TEMPERATURES)) * max(1.0, magnitude(it.scores["label"]) / 10)
    value, p = it.structure.infer(temperature=temperature, **it.scores)
    other, q = it.structure.loopy_infer(temperature=temperature, **it.scores)
    top = it.values.max()
    right = top + temperature * np.log(np.exp((it.values - top) / temperature).sum())
    demand_close("elimination", float(right), value, it.slack + 1e-12 * temperature)
    demand_close("value", value, other, 1e-6 * max(it.size, temperature))
    for name in p:
        apart = float(np.abs(p[name] - q[name]).max(initial=0.0))
        demand_close(f"expected counts of {name}", apart, 0.0, 1e-6)
