"""Segmentations: maximum and log-partition against NumPy, and against the hyperedge engine."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from structlearn.structures import Block, Hyperedges, SemiMarkov, Structure
from structlearn.structures.parts import flatten, n_parts

from .. import rivals
from ..registry import Context, Result, Row, benchmark
from ..timing import interleave

__all__ = ["EdgeSegments", "segmentation"]


class EdgeSegments(Structure):
    """Segmentations in a user's code: a node for each start, and for each end with its label."""

    def blocks(self, n_labels: int) -> dict[str, Block]:
        """Return the segments and a shared transition."""
        return {"segment": Block((n_labels,)), "transition": Block((n_labels, n_labels), True)}

    def edges(self, **scores: Any) -> Hyperedges:
        """Return an edge for each segment, and for each label pair and position."""
        length, width, n_labels = scores["segment"].shape
        first_pair = length * width * n_labels
        labels = range(n_labels)
        program = Hyperedges(2 * length * n_labels + 1)
        for k in labels:
            program.add(k)
        for j in range(1, length + 1):
            for k in labels:
                for d in range(1, min(width, j) + 1):
                    program.add(
                        (2 * j - 1) * n_labels + k,
                        tails=[2 * (j - d) * n_labels + k],
                        parts=[((j - d) * width + d - 1) * n_labels + k],
                    )
            for k in labels if j < length else ():
                for k1 in labels:
                    program.add(
                        2 * j * n_labels + k,
                        tails=[(2 * j - 1) * n_labels + k1],
                        parts=[first_pair + k1 * n_labels + k],
                    )
        for k in labels:
            program.add(2 * length * n_labels, tails=[(2 * length - 1) * n_labels + k])
        return program

    def decode(self, parts: Mapping[str, Any]) -> Any:
        """Return the segments used."""
        return SemiMarkov(np.shape(parts["segment"])[1]).decode(parts)


@benchmark
def segmentation(context: Context) -> Result:
    """1,000 sequences of 50 tokens, segments of up to 8, 9 labels, on one thread."""
    result = Result()
    n, length, width, n_labels = 100 if context.quick else 1_000, 50, 8, 9
    rng = np.random.default_rng(0)
    transition = rng.normal(size=(n_labels, n_labels))
    segments = [rng.normal(size=(length, width, n_labels)) for _ in range(n)]
    structure = SemiMarkov(width)
    numpy_segments = rivals.load("numpy_segments", result.skipped)
    queries = {
        "argmax": (structure.argmax, numpy_segments.viterbi, numpy_segments.viterbi_batch),
        "log_partition": (
            structure.log_partition,
            numpy_segments.log_partition,
            numpy_segments.log_partition_batch,
        ),
    }
    for name, (ours, single, batch) in queries.items():
        calls = {
            "ours": partial(ours, segment=segments, transition=transition),
            "NumPy, one by one": lambda one=single: [one(s, transition) for s in segments],
            "NumPy, batched": partial(batch, segments, transition),
        }
        right = calls["ours"]()
        for rival in ("NumPy, one by one", "NumPy, batched"):
            answer = calls[rival]()
            same = answer == right if name == "argmax" else np.allclose(answer, right, rtol=1e-12)
            if not same:
                raise AssertionError(f"{rival} finds another {name} than structlearn")
        timings = interleave(calls, repeats=context.times(5, 3))
        case = f"{name}, {n} x {length} x {width} x {n_labels}"
        for rival, target in (("NumPy, one by one", 20.0), ("NumPy, batched", None)):
            row = Row.times(case, rival, timings["ours"], timings[rival], at_least=target)
            result.rows.append(row)
        result.details[case] = {rival: timing.summary() for rival, timing in timings.items()}
        result.notes.append(f"{name}: {timings['ours'].best / n * 1e6:.1f} us a sequence")
    _against_hyperedges(context, structure, segments[0], transition, result)
    return result


def _against_hyperedges(
    context: Context, structure: SemiMarkov, segment: Any, transition: Any, result: Result
) -> None:
    """Add the rows of one example: a ratio near 1 would mean that the native path is not taken.

    There are as few edges as steps of the loops, and their time does not include a list of
    segments.
    """
    scores = {"segment": segment, "transition": transition}
    generic, theta = EdgeSegments(), flatten(scores)
    compiled = generic.edges(**scores).compile(n_parts(scores))
    if structure.argmax(**scores) != generic.argmax(**scores):
        raise AssertionError("hyperedges find another segmentation than the loops")
    (value, p), (generic_value, q) = structure.infer(**scores), generic.infer(**scores)
    same = abs(value - generic_value) <= 1e-9 * abs(value)
    if not (same and all(np.allclose(p[name], q[name], atol=1e-10) for name in p)):
        raise AssertionError("hyperedges find other marginals than the loops")
    pairs = {
        "argmax": (partial(structure.argmax, **scores), partial(compiled.best, theta)),
        "infer": (partial(structure.infer, **scores), partial(compiled.infer, theta, 1.0)),
    }
    length, width, n_labels = segment.shape
    for name, (ours, edges) in pairs.items():
        timings = interleave(
            {"ours": ours, "hyperedges": edges},
            repeats=context.times(10, 5),
            number={"ours": 200, "hyperedges": 10},
        )
        case = f"{name}, L = {length}, D = {width}, K = {n_labels}"
        result.rows.append(
            Row.times(
                case,
                "hyperedges, compiled",
                timings["ours"],
                timings["hyperedges"],
                unit="us",
                at_least=2.0,
            )
        )
        result.details[case] = {rival: timing.summary() for rival, timing in timings.items()}
