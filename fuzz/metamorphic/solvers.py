"""Several ways to one optimum: solvers, threads, warm starts, examples that say nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fuzz.metamorphic.answers import Different, demand_same, plain
from fuzz.metamorphic.examples import EXAMPLES, Examples, labels_of, weights_of
from fuzz.metamorphic.relation import relation
from fuzz.metamorphic.rows import CLAIM, MOST_ROUNDS, demand_optimum, draw_objective
from structlearn import CRF, StructuredModel, StructuredSVM
from structlearn.losses import StructuredLoss

__all__: list[str] = []

Rng = np.random.Generator
Subject = Callable[[Rng], Examples]
Options = dict[str, Any]

SMOOTH = ("auto", "lbfgs", "sag", "dual", "projected")
HINGE = ("auto", "frank-wolfe", "n-slack", "one-slack", "annealing", "sgd")
COSTS = ("hamming", "hamming-mean", "zero-one")


@relation("solvers of one objective", EXAMPLES, claim=CLAIM, cost="fit")
def solvers(subject: Subject, rng: Rng) -> None:
    """Two solvers come to the same optimum, each within its gap."""
    it = subject(rng)
    options: Options = {"structure": it.structure, "C": float(rng.choice((0.1, 1.0, 3.0)))}
    options |= {"max_iter": MOST_ROUNDS, "random_state": int(rng.integers(100))}
    weights = rng.uniform(0.0, 2.0, size=len(it))
    weights[0] = 1.0
    if rng.random() < 0.5:
        margin = float(rng.choice((0.0, 0.0, 1.0)))
        options |= {"tol": 1e-7, "margin": margin, "temperature": float(rng.choice((0.5, 1.0)))}
        make: Any = StructuredModel if margin else CRF
        names = SMOOTH
    else:
        options |= {"tol": 1e-3, "cost": str(rng.choice(COSTS))}
        make, names = StructuredSVM, HINGE
        if options["cost"] == "zero-one":  # annealing refuses it
            names = tuple(name for name in HINGE if name != "annealing")
    first, second = rng.choice(names, size=2, replace=False).tolist()
    fits = [it.fit(make(**options, solver=name), sample_weight=weights) for name in (first, second)]
    demand_optimum(f"{first}, {second}", *fits)


def _numbered(y: Any, names: list[Any]) -> Any:
    """Return an output with the numbers of its labels, as structures take it."""
    if isinstance(y, np.ndarray):  # a tree without labels
        return y
    if isinstance(y, list):
        return [(*k[:2], names.index(k[2])) if isinstance(k, tuple) else names.index(k) for k in y]
    return names.index(y)


@relation("objective = losses added up", EXAMPLES, claim="to 1e-9", cost="fit")
def objective(subject: Subject, rng: Rng) -> None:
    """The objective of a fit is ½‖w‖² + C Σ weight · loss, by the loss of the structures."""
    it = subject(rng)
    margin, temperature = float(rng.choice((0.0, 0.7))), float(rng.choice((0.0, 0.5, 1.0)))
    temperature = temperature if margin else temperature or 1.0
    n = len({k for y in it.y for k in labels_of(y)})
    cost: Any = str(rng.choice((*COSTS, *(("table",) if n else ()))))
    if cost == "table":
        cost = rng.uniform(size=(n, n)) * (1 - np.eye(n))
    C, weights = float(rng.choice((0.1, 1.0))), rng.uniform(0.2, 2.0, size=len(it))
    options: Options = {"margin": margin, "temperature": temperature, "cost": cost, "C": C}
    model = it.fit(StructuredModel(it.structure, **options, max_iter=5), sample_weight=weights)
    loss = StructuredLoss(cost, margin=margin, temperature=temperature)
    total = 0.5 * sum(float((block**2).sum()) for block in weights_of(model).values())
    scores = list(model._inputs(it.X).scores())
    for weight, y, blocks in zip(weights.tolist(), it.y, scores, strict=True):
        gold = _numbered(y, model.classes_.tolist())
        total += C * weight * loss(model.structure_, gold, **blocks)[0]
    demand_same("objective", total, model.objective_, 1e-9)


@relation("threads of a training", EXAMPLES, cost="fit")
def threads(subject: Subject, rng: Rng) -> None:
    """The number of threads changes no bit of the weights, whatever the solver."""
    it = subject(rng)
    smooth = rng.random() < 0.5
    solver = str(rng.choice((*SMOOTH, "sgd") if smooth else HINGE))
    make: Any = CRF if smooth else StructuredSVM
    options: Options = {"structure": it.structure, "solver": solver, "max_iter": 6, "tol": 1e-9,
                        "random_state": int(rng.integers(100))}  # fmt: skip
    first = it.fit(make(**options))
    other = it.fit(make(**options, n_jobs=int(rng.integers(2, 5))))
    demand_same(f"{solver}: weights", plain(weights_of(first)), plain(weights_of(other)))
    for name in ("objective_", "duality_gap_", "n_iter_"):
        demand_same(f"{solver}: {name}", plain(getattr(first, name)), plain(getattr(other, name)))


@relation("warm start = cold start", EXAMPLES, claim=CLAIM, cost="fit")
def warm(subject: Subject, rng: Rng) -> None:
    """Where a fit begins does not change where it ends: other weights, other C, other rows."""
    it = subject(rng)
    make, options = draw_objective(rng, it)
    if make is CRF:
        options["solver"] = str(rng.choice(("auto", "lbfgs", "sag", "dual")))
        options["tol"] = 1e-7
    model = it.fit(make(**options, warm_start=True), sample_weight=rng.uniform(0.5, 2, len(it)))
    options["C"] *= float(rng.choice((1.0, 1.0, 0.5, 2.0)))
    model.set_params(C=options["C"])
    weights = rng.uniform(0.5, 2.0, size=len(it))
    if rng.random() < 0.3:
        it.fit(model, sample_weight=weights)
    warmed = it.fit(model, sample_weight=weights)
    demand_optimum("warm start", it.fit(make(**options), sample_weight=weights), warmed)


def _with_unknown(it: Examples, rng: Rng) -> Examples:
    """Return the examples with others of which nothing is known."""
    X, y = list(it.X), list(it.y)
    for _ in range(int(rng.integers(1, 3))):
        i, place = int(rng.integers(len(X))), int(rng.integers(len(X) + 1))
        X.insert(place, X[i])
        output = y[i]
        y.insert(place, None if isinstance(output, str) else [None] * len(output))
    return Examples(it.structure, np.array(X) if isinstance(it.X, np.ndarray) else X, y, it.named)


#: Examples of labelled places, all of which may be unknown.
PLACED = {name: EXAMPLES[name] for name in ("sequences", "names", "trees", "order 2", "order 0")}


@relation(
    "examples without a known label",
    PLACED,
    claim="objective and weights to 1e-5: nothing is proven with unknown labels",
    cost="fit",
    not_claimed={"γ > 0": "a cost of unknown labels is none, but the margin's sums differ"},
)
def unknown(subject: Subject, rng: Rng) -> None:
    """An example of which nothing is known has no loss, whatever the weights."""
    it = subject(rng)
    options: Options = {"structure": it.structure, "solver": "lbfgs", "tol": 1e-11,
                        "C": float(rng.choice((0.1, 1.0))), "max_iter": 500,
                        "all_possible_states": True}  # fmt: skip
    first, other = it.fit(CRF(**options)), _with_unknown(it, rng).fit(CRF(**options))
    demand_same("objective", first.objective_, other.objective_, 1e-6)
    for name, block in weights_of(first).items():
        apart = float(np.abs(block - weights_of(other)[name]).max(initial=0.0))
        if not apart <= 1e-5 * max(1.0, first.objective_):
            raise Different(f"weights of {name}: {apart:.2g} apart")
