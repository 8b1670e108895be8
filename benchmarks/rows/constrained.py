"""Chains under automata: budgets and contiguous labels, against integer programs; a CRF."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from structlearn import CRF
from structlearn.constraints import Label, at_most, contiguous, with_constraints
from structlearn.io import read_crfsuite
from structlearn.structures import Chain

from .. import rivals
from ..registry import Context, Result, Row, benchmark
from ..timing import interleave
from .one_call import in_turn, quantile

__all__ = ["constrained_chain"]

#: By name: words, labels, examples, the number of them solved as programs, constraints, and the
#: time allowed for one example of a batch in ms.
CASES: dict[str, tuple[int, int, int, int, Callable[[], list[Any]], float]] = {
    "budget on one tag": (30, 12, 200, 5, lambda: [at_most(1, Label(0))], 0.05),
    "all labels contiguous": (6, 29, 4000, 5, lambda: [contiguous()], 0.06),
    "three budgets": (200, 45, 20, 1, lambda: [at_most(3, Label(k)) for k in range(3)], 10.0),
}
STREETS = [
    "Main",
    "Oak",
    "Elm",
    "Washington",
    "Lake",
    "Hill",
    "Park",
    "Maple",
    "Spring",
    "North",
    "Church",
    "River",
    "Lincoln",
]
TYPES = ["St", "Ave", "Rd", "Blvd", "Ln", "Dr", "Ct", "Way", "Street"]
CITIES = [
    "Chicago",
    "Springfield",
    "Portland",
    "Austin",
    "Denver",
    "Salem",
    "Dover",
    "Bristol",
    "Georgetown",
]
STATES, UNITS = (
    ["IL", "OR", "TX", "CO", "MA", "DE", "VT", "KY", "NY"],
    ["Apt", "Suite", "Unit", "#", "Floor"],
)


@benchmark
def constrained_chain(context: Context) -> Result:
    """Best outputs of chains under automata, their programs beside them; addresses."""
    result = Result()
    for name, case in CASES.items():
        _random_scores(context, result, name, *case)
    _addresses(context, result)
    _training(context, result)
    return result


def _random_scores(
    context: Context,
    result: Result,
    name: str,
    length: int,
    n_labels: int,
    examples: int,
    programs: int,
    made: Callable[[], list[Any]],
    most: float,
) -> None:
    """Add the row of one case; every example of a program must have the same value."""
    rng = np.random.default_rng(0)
    pair = rng.normal(size=(n_labels, n_labels))
    label = [rng.normal(size=(length, n_labels)) for _ in range(examples)]
    chain = with_constraints(Chain(), made())
    broken = [chain.broken(y, label=label[0]) for y in Chain().argmax(label=label, transition=pair)]

    def automaton() -> list[Any]:
        solutions: list[Any] = chain.solve(label=label, transition=pair)
        return solutions

    def program() -> list[float]:
        each = ({"label": block, "transition": pair} for block in label[:programs])
        return [
            chain.as_program(**blocks).solve(**Chain().program_scores(blocks)).value
            for blocks in each
        ]

    begin = time.perf_counter()
    proven = program()  # run once: some take half a minute
    theirs = (time.perf_counter() - begin) / programs * 1e3
    if not np.allclose([solution.value for solution in automaton()[:programs]], proven, atol=1e-6):
        raise AssertionError("the program finds another value than the automaton")
    timings = interleave({"ours": automaton}, repeats=context.times(9, 1))
    ours = timings["ours"].best / examples * 1e3
    case = f"{name}, {length} words, {n_labels} labels"
    row = Row.amounts(case, "its integer program", ours, theirs, unit="ms", below=most)
    result.rows.append(row)
    result.details[case] = {
        "examples": examples,
        "broken_by_free_search": sum(output is not None for output in broken),
        "most_states": max(solution.states or 0 for solution in automaton()),
        **{key: timing.summary() for key, timing in timings.items()},
    }


def _addresses(context: Context, result: Result) -> None:
    """Add the rows of usaddress' model, none of whose labels may come in two runs."""
    theirs = rivals.load("addresses", result.skipped)
    if not theirs:
        return
    model, draw = read_crfsuite(theirs.MODEL), random.Random(0)
    X = [theirs.features(_address(draw)) for _ in range(400 if context.quick else 4000)]
    rule = "contiguous()"
    calls = {
        "ours": lambda: model.predict(X, constraints=rule),
        "free": lambda: model.predict(X),
    }
    timings = interleave(calls, repeats=context.times(5, 1))
    batch = timings["ours"].best / len(X) * 1e6
    single = in_turn(
        {"ours": lambda x: model.predict_single(x, constraints=rule)}, {"ours": X}, len(X)
    )
    tail = quantile(single["ours"], 0.99) * 1e6
    rows = ("addresses, a batch", batch, 60.0), ("addresses, one call, p99", tail, 120.0)
    for case, value, most in rows:
        result.rows.append(Row.amounts(case, "", value, None, unit="us", below=most))
    labels, free = calls["ours"](), calls["free"]()
    assert not any(map(_repeats, labels))
    changed = [i for i, y in enumerate(free) if y != labels[i]]
    few = [X[i] for i in changed]
    lost = [
        best[0][0] - legal[0][0]
        for best, legal in zip(
            model.predict_kbest(few, 1), model.predict_kbest(few, 1, constraints=rule), strict=True
        )
    ]
    result.details["addresses"] = {
        "addresses": len(X),
        "labels": len(model.labels),
        "repeated_labels_without": sum(map(_repeats, free)),
        "score_given_up": {"median": float(np.median(lost)), "most": max(lost)},
        "one_call_median_us": quantile(single["ours"], 0.5) * 1e6,
        **{key: timing.summary() for key, timing in timings.items()},
    }


def _training(context: Context, result: Result) -> None:
    """Add the row of a CRF on 29 labels, each in one run: 3^29 states, so sums are certified."""
    rng, n_labels = np.random.default_rng(0), 29
    X, y = [], []
    for _ in range(100 if context.quick else 300):
        parts = rng.permutation(n_labels)[: int(rng.integers(3, 6))]
        y.append(np.repeat(parts, rng.integers(1, 3, size=len(parts))))
        X.append(np.eye(n_labels)[y[-1]])
    begin = time.perf_counter()
    model = CRF(constraints="contiguous()", C=20.0, random_state=0).fit(X, y)
    seconds = time.perf_counter() - begin
    last = model.history_[-1]
    relative = last["gap"] / last["objective"]
    case = "a CRF of 29 labels, all contiguous: proven gap, as a share"
    result.rows.append(Row.amounts(case, "", relative, None, unit="", below=model.tol))
    result.details[case] = {"examples": len(X), "seconds": seconds, **last}


def _repeats(labels: list[str]) -> bool:
    return len({*labels}) < sum(1 for _ in itertools.groupby(labels))


def _address(draw: random.Random) -> str:
    """Return a random address: some have two streets, or parts out of order."""
    parts = [str(draw.randint(1, 9999)), draw.choice(STREETS), draw.choice(TYPES)]
    if draw.random() < 0.3:
        parts += ["and"] * (draw.random() < 0.5) + [draw.choice(STREETS), draw.choice(TYPES)]
    if draw.random() < 0.25:
        parts += [draw.choice(UNITS), str(draw.randint(1, 99))]
    parts += [draw.choice(CITIES) + ",", draw.choice(STATES), str(draw.randint(10000, 99999))]
    if draw.random() < 0.05:
        draw.shuffle(parts)
    return " ".join(parts)
