"""The gradients of the operators."""

from __future__ import annotations

from typing import Any

import torch

from ..kinds import Tensors, named_kind, on_gpu
from .compute import loss

_SECOND = (
    "the structured loss has first derivatives only: take second ones by torch.func.hessian, or "
    "those of log_partition"
)
THIRD = "structures have first and second derivatives, no third ones"


def scale(
    weights: torch.Tensor, parts: Tensors, shared: tuple[bool, ...], types: list[torch.dtype]
) -> Tensors:
    """Return the gradients of the blocks: each example's parts times its weight."""
    gradients = []
    weights = weights.to(parts[0].dtype)
    for is_shared, p, dtype in zip(shared, parts, types, strict=True):
        if is_shared:
            scaled = (weights @ p.flatten(1)).view(p.shape[1:])
        else:
            scaled = weights.view(-1, *[1] * (p.dim() - 1)) * p
        gradients.append(scaled.to(dtype))
    return gradients


def _gradients(
    scores: Tensors, kind: str, grad: torch.Tensor | None, parts: Tensors
) -> list[torch.Tensor | None]:
    if grad is None:
        return [None] * len(scores)
    types = [block.dtype for block in scores]
    return [*scale(grad, parts, named_kind(kind).shared, types)]


def infer_setup(ctx: Any, inputs: Any, output: Any) -> None:
    scores, lengths, kind, temperature = inputs
    ctx.set_materialize_grads(False)  # no curvature if only the value is used
    ctx.save_for_backward(lengths, *scores, *output[1:])
    ctx.kind, ctx.temperature, ctx.blocks = kind, temperature, len(scores)


def infer_backward(ctx: Any, grads: Any) -> Any:
    lengths, *saved = ctx.saved_tensors
    scores, parts = list(saved[: ctx.blocks]), list(saved[ctx.blocks :])
    kind = named_kind(ctx.kind)
    gradients = _gradients(scores, ctx.kind, grads[0], parts)
    if any(g is not None for g in grads[1:]):
        lines = [
            torch.zeros_like(p) if g is None else g for g, p in zip(grads[1:], parts, strict=True)
        ]
        bends = torch.ops.structlearn.curvature(scores, lengths, ctx.kind, ctx.temperature, lines)
        for i, (block, shared, bend) in enumerate(zip(scores, kind.shared, bends, strict=True)):
            bend = (bend.sum(dim=0) if shared else bend).to(block.dtype)
            old = gradients[i]
            gradients[i] = bend if old is None else old + bend
    return gradients, None, None, None


def loss_setup(ctx: Any, inputs: Any, output: Any) -> None:
    scores, kind = inputs[0], inputs[6]
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(*scores, *output[1:])
    ctx.kind, ctx.blocks, ctx.outputs = kind, len(scores), len(inputs[2])


def loss_backward(ctx: Any, grads: Any) -> Any:
    if any(g is not None for g in grads[1:]):
        raise RuntimeError(_SECOND)
    saved = list(ctx.saved_tensors)
    gradients = _gradients(saved[: ctx.blocks], ctx.kind, grads[0], saved[ctx.blocks :])
    return gradients, None, [None] * ctx.outputs, None, None, None, None, None, None


def curvature_setup(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.set_materialize_grads(False)


def curvature_backward(ctx: Any, grads: Any) -> Any:
    raise RuntimeError(THIRD)


class EagerLoss(torch.autograd.Function):
    """The operator ``loss`` without PyTorch's operator dispatch, which is slow."""

    @staticmethod
    def forward(ctx: Any, dtype: torch.dtype, rest: tuple[Any, ...], *scores: torch.Tensor) -> Any:
        value, *parts = loss([*scores], *rest)
        ctx.save_for_backward(*parts)
        ctx.shared = named_kind(rest[5]).shared
        ctx.types = [block.dtype for block in scores]
        return value.to(dtype)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        parts = [*ctx.saved_tensors]
        mapped = torch._C._functorch.is_functorch_wrapped_tensor(grad)
        fused = ctx.shared == (False, True, True, True) and len(grad) and not mapped
        if fused and on_gpu(grad):
            from ..kernels.weights import weighted_parts

            gradients = weighted_parts(grad, parts, ctx.types)
        else:
            with torch.no_grad():
                gradients = scale(grad, parts, ctx.shared, ctx.types)
        if torch.is_grad_enabled():
            gradients = _OnlyOnce.apply(torch.zeros((), requires_grad=True), *gradients)
        return None, None, *gradients


class _OnlyOnce(torch.autograd.Function):
    """Gradients that cannot be differentiated again: trying to is an error."""

    generate_vmap_rule = True

    @staticmethod
    def forward(some: torch.Tensor, *grads: torch.Tensor) -> Any:
        return tuple(g.view_as(g) for g in grads)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *_: Any) -> Any:
        raise RuntimeError(_SECOND)
