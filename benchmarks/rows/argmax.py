"""Best paths of chains with given scores: a large batch, and one short sentence."""

from __future__ import annotations

from functools import partial

import numpy as np

from structlearn.structures import Chain

from .. import rivals
from ..data import ChainProblem, random_chains
from ..limits import limits
from ..registry import Context, Result, Row, benchmark
from ..timing import interleave

__all__ = ["chain_argmax", "single_argmax"]


@benchmark
def chain_argmax(context: Context) -> Result:
    """A batch of 10,000 sequences of 25 tokens, 45 labels, on one thread."""
    result = Result()
    problem = random_chains(1_000 if context.quick else 10_000, 25, 45)
    n, length, n_labels = problem.shape
    chain = Chain()
    calls = {"ours": partial(chain.argmax, label=problem.label, transition=problem.transition)}

    numpy_chain = rivals.load("numpy_chain", result.skipped)
    transposed = np.ascontiguousarray(problem.transition.T)
    scratch = np.empty_like(transposed)
    calls["NumPy, one by one"] = lambda: [
        numpy_chain.viterbi(u, transposed, scratch) for u in problem.label
    ]
    calls["NumPy, batched"] = partial(numpy_chain.viterbi_batch, problem.label, problem.transition)
    hmm = rivals.load("hmmlearn_chain", result.skipped)
    first = [u[:1] for u in problem.label]
    if hmm:
        calls["hmmlearn native"] = partial(
            hmm.viterbi, problem.label, problem.start, problem.probability
        )
        calls["hmmlearn, L = 1"] = partial(hmm.viterbi, first, problem.start, problem.probability)

    for name, call in calls.items():
        if name not in ("ours", "hmmlearn, L = 1"):
            _check_paths(name, calls["ours"](), call())
    timings = interleave(calls, repeats=context.times(5, 3))
    ours = timings["ours"]
    case = f"{n} x {length} x {n_labels}"
    targets = {"NumPy, one by one": 20.0, "hmmlearn native": 3.0}
    for name in ("NumPy, one by one", "NumPy, batched", "hmmlearn native"):
        if name in timings:
            target = targets.get(name)
            result.rows.append(Row.times(case, name, ours, timings[name], at_least=target))
    if hmm:  # the cost of a call before the first transition: the logarithm of the table
        rest = timings["hmmlearn native"].best - timings["hmmlearn, L = 1"].best
        result.rows.append(
            Row.amounts(
                case, "hmmlearn, less its L = 1 call", ours.best * 1e3, rest * 1e3, unit="ms"
            )
        )
    near = limits(
        min(ours.cpu),
        operations=n * (length - 1) * n_labels * (2 * n_labels + 1),
        bytes_moved=n * length * n_labels * 8,
    )
    result.details = {
        "timings": {name: timing.summary() for name, timing in timings.items()},
        "limits": near,
        "us_per_sequence": ours.best / n * 1e6,
    }
    result.notes.append(
        f"{ours.best / n * 1e6:.2f} us a sequence, {near['share_of_limit']:.0%} of the limit "
        f"(arithmetic {near['arithmetic_limit_s'] * 1e3:.3g} ms, "
        f"memory {near['memory_limit_s'] * 1e3:.3g} ms)"
    )
    return result


def _check_paths(name: str, ours: list[np.ndarray], theirs: list[np.ndarray]) -> None:
    if not all(np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True)):
        raise AssertionError(f"{name} finds other paths than structlearn")


@benchmark
def single_argmax(context: Context) -> Result:
    """One call for one 10-word sentence, and for a tiny one: the cost of a call."""
    result = Result()
    numpy_chain = rivals.load("numpy_chain", result.skipped)
    chain = Chain()
    repeats = context.times(40, 10)
    for length, n_labels, below in ((10, 45, 5.0), (10, 12, 5.0), (1, 2, 2.0)):
        problem: ChainProblem = random_chains(1, length, n_labels)
        label, transition = problem.label[0].copy(), problem.transition
        transposed = np.ascontiguousarray(transition.T)
        scratch = np.empty_like(transposed)
        # Arguments are bound here, so that the lambdas look them up as locals.
        calls = {
            "ours": lambda u=label, T=transition, c=chain: c.argmax(label=u, transition=T),
            "NumPy": lambda u=label, T=transposed, s=scratch: numpy_chain.viterbi(u, T, s),
            "an empty call": lambda u=label, T=transition: None,
        }
        _check_paths("NumPy", [calls["ours"]()], [calls["NumPy"]()])
        number = {"ours": 2000, "NumPy": 100, "an empty call": 2000}
        timings = interleave(calls, repeats=repeats, number=number)
        case = f"L = {length}, K = {n_labels}"
        row = Row.times(case, "NumPy", timings["ours"], timings["NumPy"], unit="us")
        row.target, row.met = f"< {below:g} us", row.ours < below
        result.rows.append(row)
        result.details[case] = {name: timing.summary() for name, timing in timings.items()}
    return result
