"""Relations on the order of labels: it does not affect optima and counts, except for ties."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.base import clone

from fuzz.metamorphic.answers import Different, ask, demand_same, plain
from fuzz.metamorphic.names import odd_names, renamed_outputs, strings_of
from fuzz.metamorphic.queries import QUERIES
from fuzz.metamorphic.relation import relation
from fuzz.metamorphic.subjects import ESTIMATORS, TASKS, Drawn, Subject

__all__: list[str] = []

Rng = np.random.Generator

NOT_CLAIMED = {
    "online learners": "a tie is broken by the order of the labels, and all later steps follow",
    "constituency": "parts of the names of categories have a meaning",
}


def _other_order(rng: Rng, labels: set[str]) -> dict[str, str]:
    old = sorted(labels)
    return dict(zip(old, odd_names(rng, len(old), (" ",)), strict=True))


def _convex(case: str) -> Subject:
    source = ESTIMATORS[f"estimator, {case}"]

    def draw(rng: Rng) -> Drawn:
        drawn = source.draw(rng)
        options = {"C": float(rng.choice((0.1, 1.0))), "max_iter": 2000}
        options["tol"] = 1e-3 if case == "svm" else 1e-8  # cutting planes converge slowly
        return Drawn(clone(drawn.estimator).set_params(**options), drawn.X, drawn.y)

    return Subject(case, draw, source.inputs, source.queries)


def _size(x: Any) -> float:
    """Return a bound on the norm of the features of an input with any output.

    It covers the features of positions, each a row of numbers or a list of features that are 1,
    pairs of neighbouring labels, and the two ends.
    """
    rows = [1.0] * len(x) if isinstance(x[0], str) else x
    norms = [math.sqrt(len(r)) if isinstance(r, list) else float(np.linalg.norm(r)) for r in rows]
    return sum(norms) + len(rows) + 1


CONVEX = {case: _convex(case) for case in ("crf", "svm", "strings", "order 0", "balanced")}


@relation("classes in another order, convex", CONVEX, claim="to the proven gaps", cost="fit",
          not_claimed=NOT_CLAIMED)  # fmt: skip
def convex_in_any_order(subject: Subject, rng: Rng) -> None:
    """The optimum is unique: objectives agree up to the gaps, probabilities up to their effect.

    Objectives are ½‖w‖² + losses, so that weights are within √(2·gap) of the best ones, scores of
    an output within that times the norm of its features, logarithms of probabilities within twice
    that.
    """
    drawn, X = subject.draw(rng), subject.inputs(rng, 2)
    new = _other_order(rng, strings_of(drawn.y))
    model = drawn.fit()
    other = clone(drawn.estimator).fit(drawn.X, renamed_outputs(drawn.y, new))
    first, second = model.objective_, other.objective_
    gap, other_gap = model.duality_gap_, other.duality_gap_
    if not (first - gap <= second * (1 + 1e-9) and second - other_gap <= first * (1 + 1e-9)):
        raise Different(
            f"objectives: {first} with a gap of {gap}, {second} with one of {other_gap}"
        )
    if subject.name == "svm":
        return
    radius = math.sqrt(2 * max(gap, 0.0)) + math.sqrt(2 * max(other_gap, 0.0)) + 1e-9
    for x, p, q in zip(X, model.predict_marginals(X), other.predict_marginals(X), strict=True):
        slack = math.expm1(min(2 * _size(x) * radius, 1.0))
        p, q = _by_label(p, model.classes_, new), _by_label(q, other.classes_, None)
        for row, renamed in zip(p, q, strict=True):
            for label, share in row.items():
                if abs(share - renamed[label]) > slack:
                    raise Different(f"probabilities: {share} and {renamed[label]}, {slack} apart")


def _by_label(p: Any, classes: Any, new: Any) -> list[dict[str, float]]:
    """Return the probabilities of the labels at each position, by their new names."""
    rows = plain(p["label"] if isinstance(p, dict) else p)
    names = [new[k] if new else k for k in plain(classes)]
    return [dict(zip(names, row, strict=True)) for row in rows]


COUNTED = {
    "tagger, hmm": TASKS["tagger, hmm"],
    **{
        f"estimator, {c}": ESTIMATORS[f"estimator, {c}"]
        for c in ("hmm", "hmm order 2", "hmm symbols")
    },
}


@relation("classes in another order, counted", COUNTED, claim="to 1e-9", cost="fit")
def counted_in_any_order(subject: Subject, rng: Rng) -> None:
    """Counts do not depend on an order; only the rounding of sums over labels does."""
    drawn, X = subject.draw(rng), subject.inputs(rng, 2)
    if drawn.y is None:
        new = _other_order(rng, {label for s in drawn.X for _, label in s})
        renamed = Drawn(drawn.estimator, [[(w, new[k]) for w, k in s] for s in drawn.X])
    else:
        new = _other_order(rng, strings_of(drawn.y))
        renamed = Drawn(drawn.estimator, drawn.X, renamed_outputs(drawn.y, new))
    model, other = drawn.fit(), renamed.fit()
    # Scores of the best outputs: outputs themselves may be tied.
    best, others = (
        [[s for s, _ in row] for row in m.predict_kbest(X, n=4)] for m in (model, other)
    )
    demand_same("scores", plain(best), plain(others), tolerance=1e-9)
    first, second = (ask(lambda m=m: QUERIES["entropy"](m, X)) for m in (model, other))
    demand_same("entropy", first, second, tolerance=1e-9)
