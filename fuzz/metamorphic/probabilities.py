"""Relations on probabilities: sums of marginals, order and probabilities of k-best lists."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np

from fuzz.metamorphic.answers import Different, demand_same, plain
from fuzz.metamorphic.distributions import marginals, sites, temperature, tiny
from fuzz.metamorphic.relation import relation
from fuzz.metamorphic.subjects import PIPELINES, Subject
from fuzz.metamorphic.summed import (
    ALL,
    LISTED,
    NO_SUMS,
    NOT_EXACT,
    PAIRS,
    ROUNDING,
    SUMMED,
    WORDLESS,
    asked_of,
    probabilities_of,
    tells_length,
    with_query,
)

__all__: list[str] = []

Rng = np.random.Generator


@relation("marginals: sums", SUMMED, claim="to 1e-9", not_claimed={**NO_SUMS, **PAIRS})
def marginals_sum_to_one(subject: Subject, rng: Rng) -> None:
    """A position has one label, a word one head, a token one segment."""
    if (question := asked_of(subject, rng)) is None:
        return
    p = marginals(*question)
    for key, value in p.items():
        if not -ROUNDING <= value <= 1 + ROUNDING:
            raise Different(f"outside [0, 1]: the probability of {key} is {value}")
    for name, group, number in sites(*question, p):
        total = math.fsum(p[key] for key in group)
        demand_same(f"the sum at {name}", float(number), total, ROUNDING)


@relation(
    "k-best: order",
    {**with_query(ALL, "kbest", {}), **PIPELINES},
    claim="to 1e-9",
    not_claimed={**PAIRS, "estimator, beam": "`predict` searches with a beam"},
)
def kbest_in_order(subject: Subject, rng: Rng) -> None:
    """Best first, none twice; a longer list begins with a shorter one; `predict` gives the first.

    Outputs with the same score may have any order, and scores may differ in the last bit: they are
    summed along different paths.
    """
    if (question := asked_of(subject, rng)) is None:
        return
    model, X = question
    if rng.random() < 0.5:
        X = tiny(model, X, rng)
    n, longer = sorted(int(k) for k in rng.integers(1, 9, size=2))
    ranked = model.predict_kbest(X, n=n)[0]
    scores, outputs = [float(s) for s, _ in ranked], [repr(plain(y)) for _, y in ranked]
    if any(b - a > ROUNDING * max(1.0, abs(a)) for a, b in itertools.pairwise(scores)):
        raise Different(f"not sorted: {scores}")
    if len(set(outputs)) < len(outputs):
        raise Different(f"the same output twice: {Counter(outputs).most_common(1)[0]}"[:300])
    longer_scores = [float(s) for s, _ in model.predict_kbest(X, n=longer)[0]]
    demand_same("scores of a longer list", scores, longer_scores[:n], ROUNDING)
    best = repr(plain(model.predict(X)[0]))
    tied = len(scores) < 2 or math.isclose(scores[0], scores[1], rel_tol=1e-9, abs_tol=1e-9)
    if not tied and not getattr(model, "beam", None):  # a beam is not exact
        demand_same("predict, and the first of k-best", best, outputs[0])


@relation(
    "k-best: probabilities",
    with_query(LISTED, "proba", {}),
    claim="to 1e-9",
    not_claimed={**NO_SUMS, **NOT_EXACT, **PAIRS, **WORDLESS},
)
def kbest_probabilities(subject: Subject, rng: Rng) -> None:
    """Differences of scores over the temperature equal those of log probabilities."""
    if (question := asked_of(subject, rng)) is None:
        return
    model, X = question
    ranked = [pair for pair in model.predict_kbest(X, n=4)[0] if tells_length(model, X, pair[1])]
    if not ranked or ranked[0][0] == -math.inf:
        return  # the grammar derives no tree
    p = probabilities_of(model, X, [y for _, y in ranked])
    for (score, _), q in zip(ranked, p, strict=True):
        ratio = math.exp((score - ranked[0][0]) / temperature(model))
        demand_same("ratio of probabilities", ratio, q / p[0], 1e-9)
