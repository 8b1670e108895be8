"""Relations on rows of convex fits: order, weights and copies, within proven gaps."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from fuzz.metamorphic.answers import Different, demand_same, plain
from fuzz.metamorphic.examples import EXAMPLES, Examples, labels_of, weights_of
from fuzz.metamorphic.relation import relation
from structlearn import CRF, StructuredModel, StructuredSVM

Rng = np.random.Generator
Subject = Callable[[Rng], Examples]
Options = dict[str, Any]

CLAIM = "within the proven gaps"
#: Gaps of smooth objectives, and of the hinge, whose solvers converge slowly.
TIGHT, LOOSE = 1e-11, 1e-4
MOST_ROUNDS = 2000


def draw_objective(rng: Rng, it: Examples) -> tuple[Callable[..., Any], Options]:
    """Draw a convex learner: its class, and the options of its objective and solver."""
    options: Options = {"structure": it.structure, "C": float(rng.choice((0.1, 1.0, 3.0)))}
    options |= {"max_iter": MOST_ROUNDS, "random_state": 0}
    kind = rng.random()
    if kind < 0.5:
        options |= {"solver": "lbfgs", "tol": TIGHT}
        if rng.random() < 0.2 and it.structure != "arcs":
            options["temperature"] = 0.5
        return CRF, options
    if kind < 0.65:
        options |= {"solver": "lbfgs", "tol": TIGHT, "margin": 1.0, "temperature": 1.0}
        return StructuredModel, options
    solver = str(rng.choice(("frank-wolfe", "n-slack", "one-slack")))
    return StructuredSVM, {**options, "solver": solver, "tol": LOOSE}


def demand_optimum(question: str, one: Any, other: Any) -> None:
    """Raise `Different` unless two models may both be near the optimum of one objective.

    Both objectives are within their gaps of the optimum; and because ½‖w‖² makes the objective
    strongly convex, ½‖w − w*‖² is at most the gap.
    """
    a, b, size = one.objective_, other.objective_, 1e-12 * max(abs(one.objective_), 1.0)
    gaps = one.duality_gap_, other.duality_gap_
    if not -gaps[1] - size <= a - b <= gaps[0] + size:
        raise Different(f"{question}: objectives {a!r} and {b!r}, gaps {gaps}")
    apart = 0.0
    weights, others = weights_of(one), weights_of(other)
    demand_same(f"{question}: blocks", sorted(weights), sorted(others))
    for name, block in weights.items():
        if block.shape != others[name].shape:
            raise Different(f"{question}: shapes of {name} {block.shape}, {others[name].shape}")
        apart += float(((block - others[name]) ** 2).sum())
    most = sum(math.sqrt(2 * (gap + size)) for gap in gaps)
    if not math.sqrt(apart) <= most:
        raise Different(f"{question}: weights {math.sqrt(apart):.3g} apart, gaps allow {most:.3g}")


def _counts(rng: Rng, it: Examples) -> Any:
    """Draw the number of copies of each example, 1 to 3."""
    return rng.integers(1, 4, size=len(it))


@relation("rows in another order", EXAMPLES, claim=CLAIM, cost="fit")
def reordered(subject: Subject, rng: Rng) -> None:
    """The order of the examples does not change the optimum."""
    it = subject(rng)
    make, options = draw_objective(rng, it)
    turned = it.rows(rng.permutation(len(it)))
    demand_optimum("other order", it.fit(make(**options)), turned.fit(make(**options)))


@relation("whole weights = copies", EXAMPLES, claim=CLAIM, cost="fit")
def copies(subject: Subject, rng: Rng) -> None:
    """A weight of 3 counts as three copies."""
    it = subject(rng)
    make, options = draw_objective(rng, it)
    counts = _counts(rng, it)
    weighted = it.fit(make(**options), sample_weight=counts.astype(float))
    several = it.rows(np.repeat(np.arange(len(it)), counts))
    demand_optimum("copies", weighted, several.fit(make(**options)))


@relation("weight 0 = removed", EXAMPLES, cost="fit")
def removed(subject: Subject, rng: Rng) -> None:
    """An example of weight 0 counts as absent, and so do its labels and features."""
    it = subject(rng)
    make, options = draw_objective(rng, it)
    demand_absence(rng, it, lambda: make(**options))


def demand_absence(rng: Rng, it: Examples, make: Callable[[], Any]) -> None:
    """Fit with weights, some of them 0, and without the examples of weight 0."""
    weights = rng.choice((0.0, 1.0, 1.0, 2.0), size=len(it))
    weights[int(rng.integers(len(it)))] = 1.0
    present = np.flatnonzero(weights)
    weighted = it.fit(make(), sample_weight=weights)
    other = it.rows(present).fit(make(), sample_weight=weights[present])
    demand_same("classes", plain(weighted.classes_), plain(other.classes_))
    demand_same("features", plain(weighted.feature_names_), plain(other.feature_names_))
    demand_same("weights", plain(weights_of(weighted)), plain(weights_of(other)))


@relation("weights scaled = C scaled", EXAMPLES, claim=CLAIM, cost="fit")
def scaled(subject: Subject, rng: Rng) -> None:
    """Weights a times as large, and C a times as large."""
    it = subject(rng)
    make, options = draw_objective(rng, it)
    a, weights = float(rng.choice((0.25, 2.0, 3.0))), rng.uniform(0.1, 2.0, size=len(it))
    weighted = it.fit(make(**options), sample_weight=a * weights)
    other = it.fit(make(**{**options, "C": a * options["C"]}), sample_weight=weights)
    demand_optimum("C", weighted, other)


@relation(
    "class weights = sample weights",
    {name: draw for name, draw in EXAMPLES.items() if name not in ("arcs", "segments")},
    claim="bit for bit; balanced ones within the proven gaps",
    cost="fit",
)
def classes(subject: Subject, rng: Rng) -> None:
    """A class weight is the mean over an example's labels: it multiplies the example's weight."""
    it = subject(rng)
    make, options = draw_objective(rng, it)
    weights = rng.uniform(0.2, 2.0, size=len(it)) if rng.random() < 0.5 else np.ones(len(it))
    totals: dict[Any, float] = {}
    for weight, y in zip(weights.tolist(), it.y, strict=True):
        for k in labels_of(y):
            totals[k] = totals.get(k, 0.0) + weight
    balanced = rng.random() < 0.3
    table = (
        {k: sum(totals.values()) / (len(totals) * total) for k, total in totals.items()}
        if balanced
        else {k: float(rng.choice((0.5, 1.0, 3.0))) for k in sorted(totals) if rng.random() < 0.8}
    )
    class_weight = "balanced" if balanced else table
    by_class = it.fit(make(**options, class_weight=class_weight), sample_weight=weights)
    means = [float(np.mean([table.get(k, 1.0) for k in labels_of(y)])) for y in it.y]
    by_row = it.fit(make(**options), sample_weight=weights * means)
    if balanced:
        demand_optimum("balanced", by_class, by_row)
    else:
        demand_same("weights", plain(weights_of(by_class)), plain(weights_of(by_row)))
