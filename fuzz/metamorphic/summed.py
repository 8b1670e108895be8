"""Subjects that have probabilities of outputs, and questions about them."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzz.metamorphic.distributions import at_temperature
from fuzz.metamorphic.few_labels import FEW_LABELS
from fuzz.metamorphic.subjects import ESTIMATORS, TEXT_TASKS, Subject
from structlearn.structures import Constituency
from structlearn.tasks import DependencyParser, Pipeline

Rng = np.random.Generator

#: The tolerance of sums of doubles in another order; probabilities are at most 1.
ROUNDING = 1e-9

#: Subjects for which relations are not claimed, with the reasons.
NO_SUMS = {
    "estimator, matching": "sums over matchings are #P-hard",
    "estimator, program": "a program has no sums",
    "estimator, constraints": "constraints make a program of the chain, which has no sums",
    "estimator, weighted bytes": "constraints make a program of the chain, which has no sums",
}
NOT_EXACT = {
    "estimator, grid": "loopy message passing is not exact",
    "estimator, grid pseudo": "loopy message passing is not exact",
}
PAIRS = {
    "parsers of order 2 over all trees": "they have no sums, and those of pipelines sum and rank "
    "projective trees alone: best trees and sums live in different sets"
}
COUNTS = {
    "constituency, pcfg, nodes of one category above each other": "marginals of counted rules are "
    "expected numbers of nodes, at most 1; of chains of one category they are too high"
}
WORDLESS = {
    "estimator, constituency, trees whose last word has no span": "the last span tells an output's "
    "number of words: predict_proba and score refuse such trees"
}


def with_query(
    subjects: dict[str, Subject], query: str, without: dict[str, str]
) -> dict[str, Subject]:
    """Return the subjects with a query, some of them left out."""
    return {k: s for k, s in subjects.items() if query in s.queries and k not in without}


ALL = {**TEXT_TASKS, **FEW_LABELS, **ESTIMATORS}
SUMMED = with_query(ALL, "marginals", NO_SUMS)
LISTED = with_query(SUMMED, "kbest", NOT_EXACT)


def asked_of(subject: Subject, rng: Rng) -> tuple[Any, Any] | None:
    """Return a model and one input; None if best trees and sums range over different sets."""
    model, X = at_temperature(subject, rng), subject.inputs(rng, 1)
    parser = model.model_ if isinstance(model, DependencyParser) else None
    if isinstance(model, Pipeline):
        parser = model.model_.parts["parser"]
    apart = parser is not None and parser.order == 2 and not parser.projective
    return None if apart else (model, X)


def tells_length(model: Any, X: Any, output: Any) -> bool:
    """Return whether the last span of a constituent output ends with the last word."""
    structure = getattr(model, "structure_", None)
    if not isinstance(structure, Constituency):
        return True
    return max((end for _, end, _ in output), default=0) == len(X[0]["span"])


def probabilities_of(model: Any, X: Any, outputs: list[Any]) -> list[float]:
    """Return the model's P(output | input)."""
    if isinstance(X, list):
        return [float(p) for p in model.predict_proba(X * len(outputs), outputs)]
    return [float(model.predict_proba(X, [y])[0]) for y in outputs]
