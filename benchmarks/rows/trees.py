"""Dependency trees with given scores: the best tree, the sums, and their growth."""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from structlearn.plotting import growth_slope
from structlearn.structures import Arborescence

from .. import rivals
from ..registry import Context, Result, Row, benchmark
from ..timing import Timing, interleave

__all__ = ["arborescence_argmax", "arborescence_growth"]

Array = npt.NDArray[np.float64]


def random_scores(n: int, rng: np.random.Generator) -> Array:
    """Return normal scores: many cycles, inside each other."""
    return rng.normal(size=(n + 1, n + 1))


def parser_scores(n: int, rng: np.random.Generator) -> Array:
    """Return scores like a parser's: a tree ahead of near neighbours and noise."""
    place = np.arange(n + 1)
    arc = rng.normal(size=(n + 1, n + 1)) - 0.15 * np.abs(place[:, None] - place)
    heads = [0]
    for m in range(1, n + 1):  # each word below a near one, words before it linked to the root
        heads.append(0 if m == 1 else int(max(1, m - rng.geometric(0.4))))
    arc[heads[1:], place[1:]] += 4.0
    return arc


KINDS = {"random": random_scores, "parser-like": parser_scores}


def _one_by_one(structure: Arborescence, arcs: list[Array]) -> list[npt.NDArray[np.int64]]:
    return [structure.argmax(arc=arc) for arc in arcs]


@benchmark
def arborescence_argmax(context: Context) -> Result:
    """The best tree of single calls, n words: any number of roots, and exactly one."""
    result = Result()
    ufal = rivals.load("ufal_trees", result.skipped)
    many, one = Arborescence(single_root=False), Arborescence()
    timings: dict[str, dict[str, Timing]] = {}
    worse = 0
    for n in (10, 25, 50, 100) if context.quick else (10, 25, 50, 100, 200, 400):
        for kind, make in KINDS.items():
            rng = np.random.default_rng(n)
            arcs = [make(n, rng) for _ in range(max(4, 1_000 // n))]
            number = max(1, 400 // n)
            calls = {
                "ours": partial(_one_by_one, many, arcs),
                "one root": partial(_one_by_one, one, arcs),
            }
            if ufal:
                theirs = [ufal.prepare(arc) for arc in arcs]
                calls["ufal"] = partial(ufal.argmax, theirs)
                words = np.arange(1, n + 1)
                for arc, heads in zip(arcs, ufal.argmax(theirs), strict=True):
                    score = arc[heads[1:], words].sum()
                    value = many.solve(arc=arc).value
                    if value < score - 1e-9:
                        raise AssertionError(f"a worse tree than ufal's: {value} < {score}")
                    worse += value > score + 1e-9
            timing = interleave(calls, repeats=context.times(7, 3), number=number)
            case = f"{kind}, n = {n}"
            timings[case] = timing
            if ufal:
                target = 5.0 if n >= 50 else 3.0 if n == 25 else None
                row = Row.times(
                    case,
                    "ufal.chu_liu_edmonds",
                    timing["ours"],
                    timing["ufal"],
                    unit="us",
                    at_least=target,
                )
                row.ours, row.theirs = row.ours / len(arcs), (row.theirs or 0.0) / len(arcs)
                result.rows.append(row)
            single = Row.times(
                case + ", one root",
                "ours, any number",
                timing["one root"],
                timing["ours"],
                unit="us",
                at_least=0.5,
            )
            single.ours, single.theirs = single.ours / len(arcs), (single.theirs or 0) / len(arcs)
            result.rows.append(single)
    result.details = {
        "timings": {
            case: {name: t.summary() for name, t in timing.items()}
            for case, timing in timings.items()
        }
    }
    if ufal:
        result.notes.append(f"trees on which ufal's score is below ours: {worse}")
    return result


@benchmark
def arborescence_growth(context: Context) -> Result:
    """The slope of log time against log n, from 50 to 400 words."""
    result = Result()
    sizes = (25, 50, 100) if context.quick else (50, 100, 200, 400)
    single = Arborescence()
    projective = Arborescence(projective=True)
    queries = {
        "Chu-Liu/Edmonds, one root": (single.argmax, 2.6),
        "Eisner, one root": (projective.argmax, 3.4),
        "matrix-tree, marginals": (single.marginals, 3.4),
        "inside-outside, marginals": (projective.marginals, None),
    }
    for name, (query, below) in queries.items():
        seconds = []
        for n in sizes:
            rng = np.random.default_rng(n)
            arcs = [random_scores(n, rng) for _ in range(4)]
            calls = {"ours": lambda q=query, a=arcs: [q(arc=table) for table in a]}
            timing = interleave(calls, repeats=context.times(5, 3), number=max(1, 200 // n))
            seconds.append(min(timing["ours"].cpu) / len(arcs))
        slope, _ = growth_slope(sizes, seconds)
        case = f"{name}, n = {sizes[0]} to {sizes[-1]}"
        result.rows.append(Row.amounts(case, "", slope, None, unit="slope", below=below))
        result.details[name] = dict(zip(map(str, sizes), seconds, strict=True))
    return result
