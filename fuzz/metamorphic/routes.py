"""Relations on routes to an answer: one by one, in a batch, on threads."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from fuzz.metamorphic.answers import Refusal, ask, demand_same
from fuzz.metamorphic.queries import QUERIES, draw_query
from fuzz.metamorphic.relation import relation
from fuzz.metamorphic.subjects import ESTIMATORS, PIPELINES, TASKS, Subject
from structlearn.estimators.preparation import kind_of_structure
from structlearn.structures import Chain, SemiMarkov

__all__: list[str] = []

Rng = np.random.Generator
ALL = {**TASKS, **PIPELINES, **ESTIMATORS}


def _query(subject: Subject, rng: Rng, without: tuple[str, ...] = ()) -> str:
    return draw_query(rng, (name for name in subject.queries if name not in without))


def _joined(parts: list[Any]) -> Any:
    """Return answers to single inputs in the form of a batch's."""
    refused = [part for part in parts if isinstance(part, Refusal)]
    return refused[0] if refused else [answer for part in parts for answer in part]


@relation("one by one = batch", ALL, not_claimed={"sample": "draws depend on the place in a batch"})
def one_by_one(subject: Subject, rng: Rng) -> None:
    """Query several inputs at once, and each alone."""
    model, X = subject.fitted(rng), subject.inputs(rng, int(rng.integers(1, 6)))
    name = _query(subject, rng, without=("sample",))
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    alone = [ask(lambda i=i: QUERIES[name](model, X[i : i + 1])) for i in range(n)]
    demand_same(name, ask(lambda: QUERIES[name](model, X)), _joined(alone))


def _is_sequence(subject: Subject) -> bool:
    """Return whether the inputs of an estimator are sequences, which may be empty."""
    if "kbest" not in subject.queries:
        return False
    structure = subject.drawn(0).estimator.get_params().get("structure", "chain")
    kind: Any = kind_of_structure(structure)
    kind = getattr(kind, "structure", kind)
    return issubclass(kind if isinstance(kind, type) else type(kind), (Chain, SemiMarkov))


def _without_positions(x: Any) -> Any:
    """Return an empty input of the same kind; for text, an empty list of words."""
    if isinstance(x, dict):
        return {name: block[:0] for name, block in x.items()}
    return x[:0] if hasattr(x, "shape") else []


@relation(
    "empty inputs put in",
    {
        **{k: v for k, v in {**TASKS, **PIPELINES}.items() if k != "images"},
        **{k: v for k, v in ESTIMATORS.items() if _is_sequence(v)},
    },
)
def with_empty_inputs(subject: Subject, rng: Rng) -> None:
    """Empty sentences among others change no other answer, and have answers themselves."""
    model, X = subject.fitted(rng), subject.inputs(rng, int(rng.integers(1, 4)))
    name = _query(subject, rng, without=("sample",))
    mixed = [(x, True) for x in X]
    for place in rng.integers(len(X) + 1, size=int(rng.integers(1, 3))).tolist():
        mixed.insert(place, (_without_positions(X[0]), False))
    answers = ask(lambda: QUERIES[name](model, [x for x, _ in mixed]))
    if not isinstance(answers, Refusal):
        demand_same(f"{name}: number of answers", len(answers), len(mixed))
        answers = [a for a, (_, filled) in zip(answers, mixed, strict=True) if filled]
    demand_same(name, ask(lambda: QUERIES[name](model, X)), answers)


@relation("one thread = several", ALL)
def on_threads(subject: Subject, rng: Rng) -> None:
    """The number of threads changes no bit."""
    if "n_jobs" not in subject.fitted(rng).get_params():
        return
    model = subject.fitted(rng)
    X, name = subject.inputs(rng, int(rng.integers(2, 9))), _query(subject, rng)
    threaded = copy.copy(model).set_params(n_jobs=int(rng.integers(2, 5)))
    demand_same(name, ask(lambda: QUERIES[name](model, X)), ask(lambda: QUERIES[name](threaded, X)))
