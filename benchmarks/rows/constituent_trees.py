"""Constituent trees: CKY over labelled spans against NumPy and NLTK, and its growth."""

from __future__ import annotations

from functools import partial

import numpy as np

from structlearn.plotting import growth_slope
from structlearn.structures import Constituency

from .. import rivals
from ..registry import Context, Result, Row, benchmark
from ..timing import interleave

__all__ = ["constituency_growth", "constituency_trees"]


@benchmark
def constituency_trees(context: Context) -> Result:
    """500 sentences of 25 words, 30 labels, on one thread; NLTK's time is that of one sentence."""
    result = Result()
    n_sentences, n, n_labels = 100 if context.quick else 500, 25, 30
    rng = np.random.default_rng(0)
    spans = [rng.normal(size=(n, n + 1, n_labels)) for _ in range(n_sentences)]
    structure = Constituency()
    numpy_trees = rivals.load("numpy_trees", result.skipped)
    calls = {
        "ours": partial(structure.argmax, span=spans),
        "NumPy, one by one": lambda: [numpy_trees.cky(s) for s in spans],
        "NumPy, batched": partial(numpy_trees.cky_batch, spans),
    }
    right = calls["ours"]()
    for rival in ("NumPy, one by one", "NumPy, batched"):
        if calls[rival]() != right:
            raise AssertionError(f"{rival} finds other trees than structlearn")
    timings = interleave(calls, repeats=context.times(7, 3))
    case = f"argmax, {n_sentences} x {n} words x {n_labels} labels"
    for rival in ("NumPy, one by one", "NumPy, batched"):
        result.rows.append(Row.times(case, rival, timings["ours"], timings[rival], at_least=10.0))
    result.details[case] = {name: timing.summary() for name, timing in timings.items()}
    result.notes.append(f"{timings['ours'].best / n_sentences * 1e6:.1f} us a sentence")
    nltk_trees = rivals.load("nltk_trees", result.skipped)
    if nltk_trees is not None:
        parser = nltk_trees.make_parser()
        timings = interleave(
            {
                "ours": partial(structure.argmax, span=spans[0]),
                "NLTK": partial(nltk_trees.parse, parser, n),
            },
            repeats=context.times(3, 1),
            number={"ours": 1000, "NLTK": 1},
        )
        case = f"argmax, one sentence of {n} words, {n_labels} labels (NLTK: 1 label)"
        result.rows.append(
            Row.times(
                case, "NLTK ViterbiParser", timings["ours"], timings["NLTK"], unit="us",
                at_least=100.0,
            )
        )  # fmt: skip
        result.details[case] = {name: timing.summary() for name, timing in timings.items()}
    return result


@benchmark
def constituency_growth(context: Context) -> Result:
    """Slope of log(time) against log n for argmax and infer with 2 labels; cubic is 3."""
    result = Result()
    sizes = [25, 50, 100] if context.quick else [50, 100, 200, 400, 800]
    rng = np.random.default_rng(0)
    structure = Constituency()
    for query in (structure.argmax, structure.log_partition):
        seconds = []
        for n in sizes:
            span = rng.normal(size=(n, n + 1, 2))
            timing = interleave(
                {"ours": partial(query, span=span)},
                repeats=context.times(5, 3),
                number=max(1, 200_000 // n**2),
            )["ours"]
            seconds.append(min(timing.cpu))
        slope, _ = growth_slope(sizes, seconds)
        result.rows.append(
            Row.amounts(f"{query.__name__}, {sizes[0]} to {sizes[-1]} words", "", slope, None,
                        unit="slope", below=3.2)
        )  # fmt: skip
        result.details[query.__name__] = {"sizes": sizes, "seconds": seconds}
    return result
