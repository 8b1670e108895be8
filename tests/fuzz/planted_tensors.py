"""Planted bugs in tensors: padding, batches, masks, values, gradients, transforms."""

import math

from .planting import Bug, after

COMPUTE = "structlearn.torch.operators.compute:"
CHAIN = ("chain",)


def _values(change):
    """Make a bug in `values`: ``change`` maps (value, parts, lengths) to (value, parts)."""

    def wrong(right):
        def values(kind, scores, lengths, temperature):
            return change(*right(kind, scores, lengths, temperature), lengths)

        return values

    return wrong


def _at_one(right):
    return lambda kind, scores, lengths, temperature: right(
        kind, scores, lengths, math.ceil(temperature) and 1.0
    )


def _narrow(right):
    return lambda scores: [x.half().to(x.dtype) if x.element_size() == 4 else x for x in scores]


TENSORS = (
    Bug("padding of tensors", "structlearn.torch.functions:Batch",
        lambda right: lambda structure, scores, lengths=None, *rest: right(
            structure, scores, None, *rest), 10, CHAIN),
    Bug("rows of a batch of tensors", COMPUTE + "values",
        _values(lambda value, parts, lengths: (value.flip(0), parts)), 40, CHAIN),
    Bug("mask = lengths", "structlearn.torch.batches:Batch.take",
        lambda right: lambda self, x: x, 10, CHAIN),
    Bug("empty rows of tensors", COMPUTE + "values",
        _values(lambda value, parts, lengths: (value + (lengths == 0), parts)), 40, CHAIN),
    Bug("tensors = structures", COMPUTE + "values", _at_one, 20, CHAIN),
    Bug("losses of tensors = losses of structures", "structlearn.torch.losses:_costs",
        lambda right: lambda structure, batch, gold, cost: right(
            structure, batch, gold, "hamming" if isinstance(cost, str) else cost), 40, CHAIN),
    Bug("temperature of tensors scaled", COMPUTE + "values", _at_one, 20, CHAIN),
    Bug("losses of tensors in order", COMPUTE + "raised",
        lambda right: lambda *args: right(*args[:-1], -args[-1]), 5, CHAIN),
    Bug("gradient of tensors = differences", COMPUTE + "values",
        _values(lambda value, parts, lengths: (value, [1.01 * p for p in parts])), 20, CHAIN),
    Bug("float32 = float64", COMPUTE + "one_type", _narrow, 20, CHAIN),
    Bug("a layer = its functions", "structlearn.torch.layers.base:CRFLayer._warm",
        lambda right: lambda self, temperature: 1.0, 60, CHAIN),
    Bug("transforms = autograd", "structlearn.torch.operators.transforms:value",
        after(lambda value: 1.01 * value), 20, CHAIN),
    Bug("compiled = eager", "structlearn.torch.operators.gradients:loss",
        after(lambda found: [1.01 * found[0], *found[1:]]), 3, CHAIN),
)  # fmt: skip
