"""Second derivatives: differences of gradients along a line."""

from __future__ import annotations

import torch

from ..kinds import Kind, Tensors, named_kind
from .compute import one_type, part_type, values


def curvature(
    scores: Tensors, lengths: torch.Tensor, kind: str, temperature: float, directions: Tensors
) -> Tensors:
    """Return the derivative of each example's gradients along a direction.

    A central difference of fourth order in float64. The step of each example changes no output's
    score by more than a hundredth of the temperature, which leaves ten digits of the largest
    numbers; if a direction is much larger in some places than in others, the derivatives from the
    small ones have fewer digits.
    """
    if temperature == 0:
        raise RuntimeError(
            "at temperature 0 marginals are those of one best output: they have no derivative; "
            "give a temperature above 0"
        )
    batch = scores[0].shape[0]
    shared = named_kind(kind)
    dtype = part_type(one_type(scores))
    each = _per_example(shared)
    blocks, lines = [], []
    span = torch.zeros(batch, dtype=torch.float64, device=scores[0].device)
    for _name, is_shared, block, line in zip(
        shared.names, shared.shared, scores, directions, strict=True
    ):
        wide = block.detach().double()
        wide = wide.expand(batch, *wide.shape) if is_shared else wide
        line = torch.where(torch.isinf(wide), 0.0, line.double())
        blocks.append(wide)
        lines.append(line)
        if line.numel():  # sentences of one word have no transitions by position
            span = span + line.abs().flatten(1).amax(dim=1) * (lengths + 1)
    step = torch.where(span > 0, 0.01 * temperature / span.clamp(min=1e-300), 1.0)
    moved = []
    for block, line in zip(blocks, lines, strict=True):
        h = step.view(-1, *[1] * (line.dim() - 1))
        moved.append(torch.cat([block + s * h * line for s in (1.0, -1.0, 2.0, -2.0)]))
    _, parts = values(each, moved, lengths.repeat(4), temperature)
    slopes = []
    for p in parts:
        ahead, behind, far, back = p.double().view(4, batch, *p.shape[1:]).unbind(0)
        h = step.view(-1, *[1] * (p.dim() - 1))
        slopes.append(((8 * (ahead - behind) - (far - back)) / (12 * h)).to(dtype))
    return slopes


def _per_example(kind: Kind) -> Kind:
    """Return the kind whose blocks all have a batch axis."""
    return type(kind)(kind.structure, kind.names, (False,) * len(kind.names))
