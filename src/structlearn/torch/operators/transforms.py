"""The operators under :mod:`torch.func` and in forward mode, which plain operators do not support.

A value is differentiated through its gradient, and the gradient through the curvature, each as its
own function, so that transforms nest. ``vmap`` folds the mapped axis into the batch axis.
"""

from __future__ import annotations

from typing import Any

from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack as no_transforms
from torch.autograd import forward_ad

import torch

from ..kinds import Tensors, named_kind
from . import compute
from .curvature import curvature
from .entropies import entropy_value, slope_lines
from .folding import Fold, each_copy
from .gradients import THIRD, scale

__all__ = [
    "entropy",
    "infer",
    "is_mapped",
    "loss",
    "no_transforms",
    "plain",
    "refuse_transforms",
    "transformed",
    "value",
]


def transformed() -> bool:
    """Return whether a transform of :mod:`torch.func`, or forward mode, is active.

    NotImplementedError while compiling: operators would have zero tangents.
    """
    active: bool = torch._C._are_functorch_transforms_active() or forward_ad._current_level >= 0
    if active and torch.compiler.is_compiling():
        raise NotImplementedError("structlearn's operators under torch.func cannot be compiled")
    return active


def is_mapped(x: torch.Tensor) -> bool:
    """Return whether ``vmap`` is mapping a tensor, so that its numbers cannot be read."""
    while torch._C._functorch.is_functorch_wrapped_tensor(x):
        if torch._C._functorch.is_batchedtensor(x):
            return True
        x = torch._C._functorch.get_unwrapped(x)
    return False


def plain(tensors: Tensors, reader: str) -> Tensors:
    """Return tensors whose numbers can be read; NotImplementedError under ``vmap``.

    Read them within :func:`no_transforms`: otherwise their results are abstract too.

    Parameters
    ----------
    reader : str
        The reader's name, for the message.
    """
    if any(map(is_mapped, tensors)):
        raise NotImplementedError(
            f"{reader} cannot be mapped by torch.func.vmap: fold the mapped axis into the first one"
        )
    readable = []
    for x in tensors:
        while torch._C._functorch.is_functorch_wrapped_tensor(x):
            x = torch._C._functorch.get_unwrapped(x)
        readable.append(x)
    return readable


def refuse_transforms(query: str, scores: Tensors) -> None:
    """Raise NotImplementedError if a query that reads numbers gets abstract tensors.

    Parameters
    ----------
    query : str
        Its name, for the message.
    scores : list of tensors
    """
    if any(torch._C._functorch.is_functorch_wrapped_tensor(block) for block in scores):
        raise NotImplementedError(
            f"{query} cannot be transformed by torch.func: it has no derivatives; for "
            "vmap, fold the mapped axis into the first one"
        )


def value(scores: Tensors, lengths: torch.Tensor, kind: str, temperature: float) -> torch.Tensor:
    """Return the value of each example."""
    values: torch.Tensor = _Value.apply(lengths, kind, temperature, *scores)
    return values


def infer(scores: Tensors, lengths: torch.Tensor, kind: str, temperature: float) -> Tensors:
    """Return the value of each example, and its gradient by block."""
    rest = (lengths, kind, temperature)
    return [_Value.apply(*rest, *scores), *_Parts.apply(*rest, *scores)]


def entropy(scores: Tensors, lengths: torch.Tensor, kind: str, temperature: float) -> torch.Tensor:
    """Return the entropy of each example in nats."""
    entropies: torch.Tensor = _Entropy.apply(lengths, kind, temperature, *scores)
    return entropies


def loss(
    scores: Tensors,
    lengths: torch.Tensor,
    y: Tensors,
    table: torch.Tensor | None,
    cost: torch.Tensor | None,
    constant: torch.Tensor | None,
    kind: str,
    margin: float,
    temperature: float,
) -> torch.Tensor:
    """Return infer(θ + γc) + γc₀ − infer(θ within y)."""
    which, scores = named_kind(kind), compute.one_type(scores)
    y = list(_Checked.apply(lengths, kind, tuple(scores[0].shape[1:]), *y))
    raised, constant = compute.raised(which, scores, lengths, y, table, cost, constant, margin)
    within = which.clamped(scores, lengths, y)
    losses = value([raised, *scores[1:]], lengths, kind, temperature)
    losses = losses - value([within, *scores[1:]], lengths, kind, temperature)
    return losses if constant is None else losses + margin * constant


class _Value(torch.autograd.Function):
    """Values."""

    @staticmethod
    def forward(
        lengths: torch.Tensor, kind: str, temperature: float, *scores: torch.Tensor
    ) -> torch.Tensor:
        return compute.infer([*scores], lengths, kind, temperature)[0]

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        _keep(ctx, inputs)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        rest, scores = _kept(ctx)
        return _weighted(ctx, scores, _Parts.apply(*rest, *scores), grad)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        rest, scores = _kept(ctx)
        return _along(ctx, scores, _Parts.apply(*rest, *scores), tangents)

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        rest, scores, fold = _fold(info, in_dims, args)
        return fold.back(_Value.apply(*rest, *scores)), 0


class _Entropy(torch.autograd.Function):
    """Entropies."""

    @staticmethod
    def forward(
        lengths: torch.Tensor, kind: str, temperature: float, *scores: torch.Tensor
    ) -> torch.Tensor:
        return entropy_value([*scores], lengths, kind, temperature)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        _keep(ctx, inputs)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        _, scores = _kept(ctx)
        return _weighted(ctx, scores, _Entropy.slopes(ctx), grad)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        _, scores = _kept(ctx)
        return _along(ctx, scores, _Entropy.slopes(ctx), tangents)

    @staticmethod
    def slopes(ctx: Any) -> Tensors:
        """Return the gradient of each example's entropy, by block."""
        rest, scores = _kept(ctx)
        parts = _Parts.apply(*rest, *scores)
        lines = slope_lines(named_kind(ctx.kind), scores, [*parts], ctx.temperature)
        return [*_Curvature.apply(*rest, len(scores), *scores, *lines)]

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        rest, scores, fold = _fold(info, in_dims, args)
        return fold.back(_Entropy.apply(*rest, *scores)), 0


class _Parts(torch.autograd.Function):
    """Gradients of values, by block."""

    @staticmethod
    def forward(lengths: torch.Tensor, kind: str, temperature: float, *scores: torch.Tensor) -> Any:
        return tuple(compute.infer([*scores], lengths, kind, temperature)[1:])

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        _keep(ctx, inputs)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> Any:
        rest, scores = _kept(ctx)
        bends = _Curvature.apply(*rest, len(scores), *scores, *grads)
        shared = named_kind(ctx.kind).shared
        gradients = [
            (bend.sum(dim=0) if is_shared else bend).to(block.dtype)
            for block, is_shared, bend in zip(scores, shared, bends, strict=True)
        ]
        return None, None, None, *gradients

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        rest, scores = _kept(ctx)
        lines = _lines(ctx, scores, tangents[3:])
        return _Curvature.apply(*rest, len(scores), *scores, *lines)

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        rest, scores, fold = _fold(info, in_dims, args)
        parts = _Parts.apply(*rest, *scores)
        return tuple(map(fold.back, parts)), (0,) * len(parts)


class _Curvature(torch.autograd.Function):
    """Derivatives of gradients along a direction."""

    @staticmethod
    def forward(
        lengths: torch.Tensor, kind: str, temperature: float, blocks: int, *both: torch.Tensor
    ) -> Any:
        scores, lines = both[:blocks], both[blocks:]
        return tuple(curvature([*scores], lengths, kind, temperature, [*lines]))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *_: Any) -> Any:
        raise RuntimeError(THIRD)

    @staticmethod
    def jvp(ctx: Any, *_: Any) -> Any:
        raise RuntimeError(THIRD)

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        lengths, kind, temperature, blocks, *both = args
        own, others = both[:blocks], both[blocks:]
        fold = Fold(info.batch_size, kind, own, in_dims[4 : 4 + blocks])
        bends = _Curvature.apply(
            fold.each(lengths, in_dims[0]), fold.kind, temperature, blocks, *fold.scores,
            *map(fold.each, others, in_dims[4 + blocks :]),
        )  # fmt: skip
        return tuple(map(fold.back, bends)), (0,) * blocks


class _Checked(torch.autograd.Function):
    """Checked gold outputs."""

    @staticmethod
    def forward(lengths: torch.Tensor, kind: str, shape: tuple[int, ...], *y: torch.Tensor) -> Any:
        main = y[0].new_empty((len(lengths), *shape))
        compute.look_at_gold(named_kind(kind), main, lengths, [*y])
        return tuple(t.view_as(t) for t in y)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        lengths, kind, shape, *y = args
        size = info.batch_size
        y = [each_copy(size, t, dim) for t, dim in zip(y, in_dims[3:], strict=True)]
        checked = _Checked.apply(each_copy(size, lengths, in_dims[0]), kind, shape, *y)
        return tuple(t.unflatten(0, (size, -1)) for t in checked), (0,) * len(checked)


def _keep(ctx: Any, inputs: Any) -> None:
    lengths, ctx.kind, ctx.temperature, *scores = inputs
    ctx.save_for_backward(lengths, *scores)
    ctx.save_for_forward(lengths, *scores)


def _kept(ctx: Any) -> tuple[tuple[Any, ...], Tensors]:
    lengths, *scores = ctx.saved_tensors
    return (lengths, ctx.kind, ctx.temperature), scores


def _weighted(ctx: Any, scores: Tensors, slopes: Any, grad: torch.Tensor) -> Any:
    """Return the gradients of the blocks: each example's slopes times its weight."""
    types = [block.dtype for block in scores]
    return None, None, None, *scale(grad, [*slopes], named_kind(ctx.kind).shared, types)


def _along(ctx: Any, scores: Tensors, slopes: Any, tangents: Any) -> Any:
    """Return each example's slopes along a direction, in float64."""
    lines = _lines(ctx, scores, tangents[3:])
    return sum(
        (p * v).double().sum(dim=tuple(range(1, p.dim())))
        for p, v in zip(slopes, lines, strict=True)
    )


def _lines(ctx: Any, scores: Tensors, tangents: Any) -> Tensors:
    """Return the directions of each example, also for shared blocks."""
    batch = len(scores[0])
    dtype = compute.part_type(compute.one_type(scores))
    shared = named_kind(ctx.kind).shared
    return [
        (v.expand(batch, *v.shape) if is_shared else v).to(dtype)
        for v, is_shared in zip(tangents, shared, strict=True)
    ]


def _fold(info: Any, in_dims: Any, args: Any) -> tuple[tuple[Any, ...], Tensors, Fold]:
    """Return the arguments of a function with the mapped axis folded into the batch axis."""
    lengths, kind, temperature, *scores = args
    fold = Fold(info.batch_size, kind, scores, in_dims[3:])
    return (fold.each(lengths, in_dims[0]), fold.kind, temperature), fold.scores, fold
