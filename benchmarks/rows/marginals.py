"""Forward–backward on chains with given scores."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from structlearn.structures import Chain

from .. import rivals
from ..data import random_chains
from ..limits import limits
from ..registry import Context, Result, Row, benchmark
from ..timing import interleave

__all__ = ["forward_backward"]


@benchmark
def forward_backward(context: Context) -> Result:
    """Log partition and marginals of a batch: pairs summed (infer), pairs by position."""
    result = Result()
    problem = random_chains(100 if context.quick else 1_000, 25, 45)
    n, length, n_labels = problem.shape
    chain = Chain()
    numpy_chain = rivals.load("numpy_chain", result.skipped)
    hmm = rivals.load("hmmlearn_chain", result.skipped)
    transition = problem.transition
    transposed = np.ascontiguousarray(transition.T)

    calls: dict[str, Any] = {
        "ours": partial(chain.infer, label=problem.label, transition=transition),
        "NumPy, logarithms": lambda: [
            numpy_chain.forward_backward(u, transition, transposed) for u in problem.label
        ],
        "NumPy, batched products": partial(
            numpy_chain.forward_backward_scaled, problem.label, transition
        ),
    }
    if hmm:
        likelihood = [np.exp(u) for u in problem.label]
        fixed = (problem.start, problem.probability)
        calls["hmmlearn native, scaling"] = partial(
            hmm.forward_backward_scaling, likelihood, *fixed
        )
        calls["hmmlearn native, logarithms"] = partial(
            hmm.forward_backward_log, problem.label, *fixed
        )
    reference = [(p["label"], p["transition"]) for _, p in calls["ours"]()]
    for name, call in calls.items():
        if name != "ours":
            _check(name, reference, call())
    timings = interleave(calls, repeats=context.times(5, 3))
    case = f"infer {n} x {length} x {n_labels}"
    for name in list(calls)[1:]:
        result.rows.append(Row.times(case, name, timings["ours"], timings[name]))
    result.details["infer"] = {name: timing.summary() for name, timing in timings.items()}
    # Forward, backward, and the pairs' outer products: K² multiply-adds each per position.
    near = limits(
        min(timings["ours"].cpu),
        operations=n * (length - 1) * 3 * n_labels**2,
        bytes_moved=n * (2 * length * n_labels + n_labels**2) * 8,
    )
    result.details["limits"] = near
    result.notes.append(
        f"infer: {timings['ours'].best / n * 1e6:.3g} us a sequence, "
        f"{near['share_of_limit']:.0%} of the limit"
    )

    few = problem.label[: max(1, n // 4)]
    by_position: dict[str, Any] = {
        "ours": partial(chain.marginals, label=few, transition=transition),
        "NumPy, logarithms": lambda: [
            numpy_chain.pair_marginals(u, transition, transposed) for u in few
        ],
    }
    ours = [(p["label"], p["transition"]) for p in by_position["ours"]()]
    for a, b in zip(ours, by_position["NumPy, logarithms"](), strict=True):
        _compare("NumPy, logarithms", a, b)
    timings = interleave(by_position, repeats=context.times(5, 3))
    case = f"marginals {len(few)} x {length} x {n_labels}"
    name = "NumPy, logarithms"
    result.rows.append(Row.times(case, name, timings["ours"], timings[name]))
    result.details["marginals"] = {k: timing.summary() for k, timing in timings.items()}
    return result


def _check(name: str, reference: list[Any], found: Any) -> None:
    """Raise unless the marginals agree."""
    if isinstance(found, tuple):  # arrays over the whole batch
        rows = zip(found[1], found[2], strict=True)
    else:
        rows = ((nodes, pairs) for _, nodes, pairs in found)
    for ours, theirs in zip(reference, rows, strict=True):
        _compare(name, ours, theirs)


def _compare(name: str, ours: Any, theirs: Any) -> None:
    for a, b in zip(ours, theirs, strict=True):
        if not np.allclose(a, b, rtol=1e-6, atol=1e-9):
            raise AssertionError(f"{name} finds other marginals than structlearn")
