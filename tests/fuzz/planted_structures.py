"""Planted bugs in structures, losses and graph search."""

import numpy as np

from .planting import Bug, after, given

NATIVE = "structlearn.structures.native:NativeStructure."
PAIRS = "structlearn.structures.graphs.pairwise:PairwiseStructure."
CHAIN = ("chains of order 1",)


def _turned(scores, names=("transition", "edge", "right"), ndim=(2, 3)):
    """Transpose the tables of label pairs."""
    return {
        k: np.swapaxes(v, -1, -2) if k in names and np.ndim(v) in ndim else v
        for k, v in scores.items()
    }


def _turned_scores(*ndim):
    return lambda right: lambda self, *a, **s: right(self, *a, **_turned(s, ndim=ndim))


def _relative(ranked):
    return [(value - ranked[0][0], y) for value, y in ranked]


def _turned_parts(found):
    return found[0], _turned(found[1])


def _unweighted(parts):
    """Halve the expected counts of shared transitions."""
    value, p = parts
    return value, {k: v / 2 if k == "transition" and v.ndim == 2 else v for k, v in p.items()}


def _mixed_up(found):
    outputs, values = found
    return outputs[1:] + outputs[:1], values


STRUCTURES = (
    Bug("scores and temperature scaled", NATIVE + "log_partition", given(temperature=1.0),
        60, CHAIN),
    Bug("a constant added to the scores", NATIVE + "kbest", after(_relative), 40, CHAIN),
    Bug("scores moved between labels and pairs", NATIVE + "log_partition", _turned_scores(3),
        120, CHAIN),
    Bug("one example = a batch of structures", NATIVE + "_argmax_batch", after(_mixed_up),
        60, CHAIN),
    Bug("any layout of memory", "structlearn.structures.native:as_scores",
        lambda right: lambda name, a: right(name, np.ravel(a, "K").reshape(np.shape(a))),
        60, CHAIN),
    Bug("the k best = the first of more", NATIVE + "kbest",
        lambda right: lambda self, n, **s: right(self, n + 1, **s)[n < 4:][:n], 40, CHAIN),
    Bug("value = score of the output", "structlearn.structures.chains.chain:Chain.score",
        given(end=None), 40, CHAIN),
    Bug("sums between the maximum and ε log N", NATIVE + "log_partition", given(temperature=1.0),
        40, CHAIN),
    Bug("gradient = differences of values", NATIVE + "infer", after(_turned_parts), 40, CHAIN),
    Bug("probabilities of all outputs", NATIVE + "infer",
        after(lambda found: (found[0], {k: 0.99 * v for k, v in found[1].items()})), 40, CHAIN),
    Bug("a structure = its program", NATIVE + "as_program", given(transition=None), 40, CHAIN),
    Bug("labels and places renamed", NATIVE + "marginals",
        after(lambda p: {**p, "label": p["label"][..., ::-1]}), 80, CHAIN),
    Bug("left out = zeros", NATIVE + "log_partition",
        lambda right: lambda self, **s: right(self, **{"end": s.get("start"), **s}), 200, CHAIN),
    Bug("one table for all = one for each", NATIVE + "infer", after(_unweighted), 80, CHAIN),
    Bug("forbidden = removed", "structlearn.structures.chains.chain:Chain.count",
        lambda right: lambda self, **s: right(self, **{k: 0 * np.maximum(v, 0) for k, v in
                                                       s.items()}), 80, CHAIN),
    Bug("one structure as another", NATIVE + "marginals", _turned_scores(2, 3), 100, ("trees",)),
    Bug("costs scaled = margin scaled", "structlearn.losses.loss:StructuredLoss.__call__",
        lambda right: lambda self, *a, **s: right(
            type(self)(self.cost, margin=min(1.0, self.margin), temperature=self.temperature),
            *a, **s), 20, CHAIN),
    Bug("loss = all outputs added up", "structlearn.losses.costs:LabelCost.label_table",
        after(np.transpose), 30, CHAIN),
    Bug("losses in order", "structlearn.losses.loss:StructuredLoss.__call__",
        lambda right: lambda self, structure, y, **s: (
            right(self, structure, y, **s)[0] - 0.1 * self.margin, {}), 20, CHAIN),
    Bug("unknown labels = all that agree", "structlearn.losses.loss:rule_out",
        lambda right: lambda structure, y, theta: right(
            structure, [min(k) if isinstance(k, (set, frozenset)) else k for k in y], theta),
        40, CHAIN),
    Bug("every method of a graph", PAIRS + "solve",
        after(lambda s: type(s)(s.output, s.value, True, s.value, s.method)), 120),
    Bug("roof duality keeps a best labelling", PAIRS + "partial_labels",
        after(lambda found: (np.where(found[0] < 0, 0, found[0]), found[1])), 60),
    Bug("loopy sums of a forest", PAIRS + "loopy_infer", given(temperature=1.0), 40),
)  # fmt: skip
