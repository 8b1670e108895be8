"""The operators under :mod:`torch.func` and in forward mode, which operators alone do not know.

A value is differentiated through its gradient, and this through the curvature, each a function of
its own, so that transforms nest. Only ``vmap`` is refused.
"""

from __future__ import annotations

from typing import Any

from torch.autograd import forward_ad

import torch

from ..kinds import Tensors, named_kind
from . import compute
from .curvature import curvature
from .gradients import THIRD, scale

__all__ = ["infer", "loss", "no_vmap", "refuse_transforms", "transformed"]


def transformed() -> bool:
    """Tell whether a transform of :mod:`torch.func`, or forward mode, is at work.

    NotImplementedError where it is compiled: operators would have tangents of zero.
    """
    found: bool = torch._C._are_functorch_transforms_active() or forward_ad._current_level >= 0
    if found and torch.compiler.is_compiling():
        raise NotImplementedError("structlearn's operators under torch.func cannot be compiled")
    return found


def no_vmap(*_: Any) -> Any:
    """Raise NotImplementedError."""
    raise NotImplementedError(
        "the operators of structlearn work on a batch already and cannot be vmapped: "
        "fold the mapped axis into the first one"
    )


def refuse_transforms(query: str, scores: Tensors) -> None:
    """Raise NotImplementedError where a query that reads numbers gets tensors that stand for some.

    Parameters
    ----------
    query : str
        Its name, for the message.
    scores : list of tensors
    """
    if any(torch._C._functorch.is_functorch_wrapped_tensor(block) for block in scores):
        raise NotImplementedError(
            f"{query} cannot be transformed by torch.func: for vmap, fold the mapped axis into the "
            "first one; derivatives it has none"
        )


def infer(scores: Tensors, lengths: torch.Tensor, kind: str, temperature: float) -> Tensors:
    """Return the value of each example, and its gradient by block."""
    rest = (lengths, kind, temperature)
    return [_Value.apply(*rest, *scores), *_Parts.apply(*rest, *scores)]


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
    rest = (lengths, kind, temperature)
    raised, constant = compute.raised(which, scores, lengths, y, table, cost, constant, margin)
    value: torch.Tensor = _Value.apply(*rest, raised, *scores[1:])
    compute.look(which, scores, lengths, y)
    within = which.clamped(scores, lengths, y)
    value = value - _Value.apply(*rest, within, *scores[1:])
    return value if constant is None else value + margin * constant


class _Value(torch.autograd.Function):
    """Values."""

    vmap = staticmethod(no_vmap)

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
        types = [block.dtype for block in scores]
        shared = named_kind(ctx.kind).shared
        return None, None, None, *scale(grad, _Parts.apply(*rest, *scores), shared, types)

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        rest, scores = _kept(ctx)
        lines = _lines(ctx, scores, tangents[3:])
        parts = _Parts.apply(*rest, *scores)
        # Sums of products in float64, as values are.
        return sum((p * v).double().flatten(1).sum(1) for p, v in zip(parts, lines, strict=True))


class _Parts(torch.autograd.Function):
    """Gradients of values, by block."""

    vmap = staticmethod(no_vmap)

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
        found = [
            (bend.sum(dim=0) if is_shared else bend).to(block.dtype)
            for block, is_shared, bend in zip(scores, shared, bends, strict=True)
        ]
        return None, None, None, *found

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        rest, scores = _kept(ctx)
        lines = _lines(ctx, scores, tangents[3:])
        return _Curvature.apply(*rest, len(scores), *scores, *lines)


class _Curvature(torch.autograd.Function):
    """Gradients' derivatives along a direction."""

    vmap = staticmethod(no_vmap)

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


def _keep(ctx: Any, inputs: Any) -> None:
    lengths, ctx.kind, ctx.temperature, *scores = inputs
    ctx.save_for_backward(lengths, *scores)
    ctx.save_for_forward(lengths, *scores)


def _kept(ctx: Any) -> tuple[tuple[Any, ...], Tensors]:
    lengths, *scores = ctx.saved_tensors
    return (lengths, ctx.kind, ctx.temperature), scores


def _lines(ctx: Any, scores: Tensors, tangents: Any) -> Tensors:
    """Return the directions of each example, shared blocks' too."""
    batch = len(scores[0])
    dtype = compute.part_type(compute.one_type(scores))
    shared = named_kind(ctx.kind).shared
    return [
        (v.expand(batch, *v.shape) if is_shared else v).to(dtype)
        for v, is_shared in zip(tangents, shared, strict=True)
    ]
