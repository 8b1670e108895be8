"""Twins: two forms of one problem that must have the same answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fuzz.metamorphic.answers import Different, Refusal, demand_same
from fuzz.metamorphic.instances import Instance, attempt
from structlearn.structures import Matching, Program, Structure
from structlearn.structures.canonical import canonical

Rng = np.random.Generator
Parts = dict[str, Any]

TEMPERATURES = (0.3, 1.0, 5.0)
SUMS = ("log_partition", "infer", "marginals", "entropy", "count")
#: The largest matching to count: counting enumerates all perfect matchings.
MOST_MATCHED = 4


@dataclass(frozen=True)
class Twin:
    """Another structure and its scores, with the way back.

    Attributes
    ----------
    output : callable
        Output of the twin -> the same output of the original.
    parts : callable
        Expected counts of the twin -> those of some blocks of the original, by position or summed
        as those of the original are, or with places that are to be summed; masked where they are
        not the same.
    shift, factor : float
        A value of the twin is ``factor`` times that of the original plus ``shift``.
    heat : float
        The factor of the twin's temperature.
    original : Instance, optional
        The original, if it is not the drawn instance.
    """

    structure: Structure
    scores: dict[str, Any]
    output: Callable[[Any], Any] = lambda y: y
    parts: Callable[[Parts], Parts] = lambda p: p
    shift: float = 0.0
    factor: float = 1.0
    heat: float = 1.0
    original: Instance | None = None


def queries_of(structure: Structure, scores: Parts) -> tuple[str, ...]:
    """Return the queries that a structure answers in reasonable time."""
    queries = ("argmax", "solve", "kbest")
    if isinstance(structure, Matching):
        return (*queries, "count") if len(scores["pair"]) <= MOST_MATCHED else queries
    constrained = type(structure).__name__.startswith("Constrained")
    return queries if constrained or isinstance(structure, Program) else (*queries, *SUMS)


def demand_close(question: str, one: float, other: float, slack: float) -> None:
    """Raise `Different` if two values differ by more than the slack."""
    if not (abs(one - other) <= slack or one == other):
        raise Different(f"{question}: {one!r}, and {other!r}, not within {slack:.2g}")


def demand_twin(rng: Rng, one: Instance, twin: Twin, without: tuple[str, ...] = ()) -> None:
    """Ask an instance and its twin one random query."""
    one = twin.original or one
    other = Instance(twin.structure, twin.scores)
    names = [name for name in queries_of(one.structure, one.scores) if name not in without]
    query = names[int(rng.integers(len(names)))]
    temperature = float(rng.choice(TEMPERATURES))
    n = int(rng.integers(1, 7))
    a, b = _answer(one, query, temperature, n), _answer(other, query, temperature * twin.heat, n)
    if isinstance(a, Refusal) or isinstance(b, Refusal):
        demand_same(query, _plain(a), _plain(b))
        return
    slack = max(one.slack * twin.factor, other.slack) + 1e-12 * abs(twin.shift)
    if query in ("argmax", "solve", "kbest"):
        _best(query, one, twin, a, b, slack)
    elif query == "count":
        demand_same("count", a, b)
    elif query == "log_partition":
        close = slack + 1e-11 * temperature * twin.heat
        demand_close(query, twin.factor * a + twin.shift, b, close)
    else:
        blur = max(one.blur(temperature), other.blur(temperature * twin.heat))
        if blur > 0.01:
            return
        if query == "entropy":
            demand_close(query, a, b, 100 * blur)
            return
        a, b = (p[1] if query == "infer" else p for p in (a, b))
        for name, back in twin.parts(b).items():
            counts = np.asarray(a[name])
            if (extra := np.ndim(back) - counts.ndim) > 0:  # by position, and summed
                back = back.sum(axis=tuple(range(extra)))
            elif extra < 0:
                counts = counts.sum(axis=tuple(range(-extra)))
            apart = np.ma.filled(np.abs(counts - back), 0.0)
            if apart.size and not apart.max() <= blur * max(1.0, float(np.max(np.abs(counts)))):
                at = np.unravel_index(int(apart.argmax()), apart.shape)
                raise Different(
                    f"{query} of {name} at {tuple(map(int, at))}: {counts[at]!r}, and "
                    f"{np.asarray(back)[at]!r}, not within {blur:.2g}"
                )


def _plain(answer: Any) -> Any:
    return str(answer) if isinstance(answer, Refusal) else "an answer"


def _answer(it: Instance, query: str, temperature: float, n: int) -> Any:
    method = getattr(it.structure, query)
    options: Parts = {}
    if query in SUMS and query != "count":
        options["temperature"] = temperature
    arguments = (n,) if query == "kbest" else ()
    return attempt(lambda: method(*arguments, **options, **it.scores))


def _best(query: str, one: Instance, twin: Twin, a: Any, b: Any, slack: float) -> None:
    """Compare best outputs by their scores: any of several tied ones may be returned."""

    def score(y: Any) -> float:
        return float(one.structure.score(y, **one.scores))

    if query == "kbest":
        demand_same("kbest: outputs", len(a), len(b))
        ranked = [canonical(twin.output(y)) for _, y in b]
        demand_same("kbest: outputs without repeats", len(set(ranked)), len(ranked))
        pairs = list(zip(a, b, strict=True))
    elif query == "solve":
        if not (a.exact and b.exact):
            return
        pairs = [((a.value, a.output), (b.value, b.output))]
    else:
        score_b = float(twin.structure.score(b, **twin.scores))
        pairs = [((score(a), a), (score_b, b))]
    for (value, _), (score_b, y) in pairs:
        demand_close(query, twin.factor * value + twin.shift, score_b, slack)
        back = score(twin.output(y))
        demand_close(f"{query}: score of the output", value, back, slack / twin.factor)
