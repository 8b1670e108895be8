"""The chain's own loops against the generic engine for dynamic programs, on the same chain."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from structlearn.structures import Block, Chain, Hyperedges, Structure
from structlearn.structures.parts import Parts, flatten, n_parts

from ..data import random_chains
from ..registry import Context, Result, Row, benchmark
from ..timing import interleave

__all__ = ["EdgeChain", "hyperedge_parity"]


class EdgeChain(Structure):
    """A first-order chain as a user would write it: as the edges of its dynamic program."""

    def blocks(self, n_labels: int) -> dict[str, Block]:
        """Return the blocks of a first-order chain."""
        return {
            "label": Block((n_labels,)),
            "transition": Block((n_labels, n_labels), shared=True),
        }

    def edges(self, **scores: Any) -> Hyperedges:
        """Return an edge for each label pair and position, and a last node after all labels."""
        length, n_labels = scores["label"].shape
        first_pair = length * n_labels
        program = Hyperedges(length * n_labels + 1)
        for k in range(n_labels):
            program.add(k, parts=[k])
        for t in range(1, length):
            for k in range(n_labels):
                node = t * n_labels + k
                for k1 in range(n_labels):
                    program.add(
                        node,
                        tails=[node - k - n_labels + k1],
                        parts=[node, first_pair + k1 * n_labels + k],
                    )
        for k in range(n_labels):
            program.add(length * n_labels, tails=[(length - 1) * n_labels + k])
        return program

    def decode(self, parts: Mapping[str, Any]) -> Any:
        """Return the labels used."""
        return np.asarray(parts["label"]).argmax(axis=1)

    def encode(self, y: Any, **scores: Any) -> Parts:
        """Return the counts of labels and label pairs."""
        return Chain().encode(y, **scores)


@benchmark
def hyperedge_parity(context: Context) -> Result:
    """Native chain loops against hyperedges: equal answers, and a large ratio."""
    result = Result()
    length, n_labels = 25, 45
    problem = random_chains(1, length, n_labels)
    scores = {"label": problem.label[0].copy(), "transition": problem.transition}
    chain, generic = Chain(), EdgeChain()
    theta = flatten(scores)
    compiled = generic.edges(**scores).compile(n_parts(scores))

    if not np.array_equal(chain.argmax(**scores), generic.argmax(**scores)):
        raise AssertionError("hyperedges find another path than the chain's own loop")
    (value, p), (generic_value, q) = chain.infer(**scores), generic.infer(**scores)
    same = abs(value - generic_value) <= 1e-9 * abs(value)
    if not (same and all(np.allclose(p[name], q[name], atol=1e-10) for name in p)):
        raise AssertionError("hyperedges find other marginals than the chain's own loop")

    pairs = {
        "argmax": (partial(chain.argmax, **scores), partial(compiled.best, theta)),
        "infer": (partial(chain.infer, **scores), partial(compiled.infer, theta, 1.0)),
    }
    for name, (ours, edges) in pairs.items():
        number = {"ours": 200, "hyperedges": 5}
        timings = interleave(
            {"ours": ours, "hyperedges": edges}, repeats=context.times(10, 5), number=number
        )
        case = f"{name}, L = {length}, K = {n_labels}"
        result.rows.append(
            Row.times(
                case,
                "hyperedges, compiled",
                timings["ours"],
                timings["hyperedges"],
                unit="us",
                at_least=5.0,
            )
        )
        result.details[case] = {k: timing.summary() for k, timing in timings.items()}
    if Chain().native is None:
        raise AssertionError("the chain has no native twin: learners would take the slow way")
    return result
