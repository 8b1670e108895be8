"""The operator ``entropy``, whose gradient is a second derivative of ``infer``."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch

from ..kinds import Kind, Tensors, named_kind, on_gpu, say_once
from .compute import check_values, one_type, values
from .gradients import scale

_LIBRARY = torch.library.Library("structlearn", "FRAGMENT")
_LIBRARY.define("entropy(Tensor[] scores, Tensor lengths, str kind, float temperature) -> Tensor")


#: Scores beyond this multiple of the temperature cost the difference too many digits.
_LARGE = 1e5


def entropy_value(
    scores: Tensors, lengths: torch.Tensor, kind: str, temperature: float
) -> torch.Tensor:
    """Return the entropy of each example in nats, in float64."""
    which, scores = named_kind(kind), [block.double() for block in one_type(scores)]
    if not on_gpu(scores[0]) or not which.has_kernel(scores, temperature):
        if on_gpu(scores[0]):
            say_once(f"entropy of {which.structure!r}")
        return _by_core(which, scores, lengths, temperature)
    original = scores
    _, parts = values(which, scores, lengths, temperature)
    # Scores with the same distribution whose sums are small where it matters: few digits cancel.
    near = which.centred(scores, parts)
    scores = [x if shared else c for x, c, shared in zip(scores, near, which.shared, strict=True)]
    value, parts = values(which, scores, lengths, temperature)
    size = value.abs()
    for block, first, p, shared in zip(scores, original, parts, which.shared, strict=True):
        if not p.numel():
            continue
        # A penalty whose probability is 0 costs nothing. A tiny probability is the rounding error
        # of large sums, so its product with the penalty is meaningless.
        used = torch.where((p > 0) & torch.isfinite(block), block, 0.0)
        value = value - (used * p).flatten(1).sum(dim=1)
        size = torch.maximum(size, used.abs().flatten(1).amax(dim=1))
        # Sums relative to the largest scores.
        size = torch.maximum(size, first.amax() if shared else first.flatten(1).amax(dim=1))
    entropies = (value / temperature).clamp(min=0.0)
    # Let the core compute the examples whose difference has lost digits.
    large = (torch.isfinite(size) & (size > _LARGE * temperature)).nonzero()[:, 0]
    if len(large):
        few = [x if shared else x[large] for x, shared in zip(original, which.shared, strict=True)]
        entropies[large] = _by_core(which, few, lengths[large], temperature)
    return entropies


def _by_core(
    which: Kind, scores: Tensors, lengths: torch.Tensor, temperature: float
) -> torch.Tensor:
    """Return the entropies computed by the core."""
    check_values(which, scores, lengths)
    query = partial(which.structure.entropy, temperature=temperature)
    entropies = [0.0 if h is None else h for h in which.ask(query, scores, lengths)]
    return torch.tensor(entropies, dtype=torch.float64).to(scores[0].device)


def slope_lines(kind: Kind, scores: Tensors, parts: Tensors, temperature: float) -> Tensors:
    """Return the directions along which the curvature is each example's gradient of the entropy.

    H = (F(θ) − ⟨θ, p⟩)/ε and p is the gradient of F, so the gradient of H is that of −⟨θ, p⟩/ε with
    θ held fixed, up to a constant added to all outputs; negligible probabilities are left out.
    """
    lines = kind.centred(scores, parts)
    return [
        torch.where(p > 1e-20, line, 0.0) / -temperature
        for line, p in zip(lines, parts, strict=True)
    ]


def _setup(ctx: Any, inputs: Any, output: Any) -> None:
    scores, lengths, ctx.kind, ctx.temperature = inputs
    ctx.save_for_backward(lengths, *scores)


def _backward(ctx: Any, grad: torch.Tensor) -> Any:
    lengths, *scores = ctx.saved_tensors
    kind = named_kind(ctx.kind)
    rest = (lengths, ctx.kind, ctx.temperature)
    _, *parts = torch.ops.structlearn.infer(scores, *rest)
    lines = slope_lines(kind, scores, parts, ctx.temperature)
    slopes = torch.ops.structlearn.curvature(scores, *rest, lines)
    types = [block.dtype for block in scores]
    return scale(grad, slopes, kind.shared, types), None, None, None


for _device in ("CPU", "CUDA"):
    _LIBRARY.impl("entropy", entropy_value, _device)
torch.library.register_fake(
    "structlearn::entropy",
    lambda scores, lengths, kind, temperature: scores[0].new_empty(
        scores[0].shape[0], dtype=torch.float64
    ),
    lib=_LIBRARY,
)
torch.library.register_autograd(
    "structlearn::entropy", _backward, setup_context=_setup, lib=_LIBRARY
)
