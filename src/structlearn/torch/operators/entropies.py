"""The operator ``entropy``: values alone. The gradient is a second derivative of ``infer``."""

from __future__ import annotations

import torch

from ..kinds import Tensors, named_kind, on_gpu, say_once
from .compute import check_values, one_type, values
from .transforms import no_vmap

__all__ = ["entropy"]

_LIBRARY = torch.library.Library("structlearn", "FRAGMENT")
_LIBRARY.define("entropy(Tensor[] scores, Tensor lengths, str kind, float temperature) -> Tensor")


def _entropy(scores: Tensors, lengths: torch.Tensor, kind: str, temperature: float) -> torch.Tensor:
    """Return the entropy of each example in nats, in float64."""
    which, scores = named_kind(kind), [block.double() for block in one_type(scores)]
    if not on_gpu(scores[0]) or not which.has_kernel(scores, temperature):
        if on_gpu(scores[0]):
            say_once(f"entropy of {which.structure!r}")
        check_values(which, scores, lengths)
        found = which.structure.entropy(
            temperature=temperature, n_jobs=which.threads(), **which.examples(scores, lengths)
        )
        return torch.tensor(found, dtype=torch.float64).to(scores[0].device)
    _, parts = values(which, scores, lengths, temperature)
    # The same distribution from scores whose sums are small where it matters: few digits cancel.
    near = which.centred(scores, parts)
    scores = [x if shared else c for x, c, shared in zip(scores, near, which.shared, strict=True)]
    value, parts = values(which, scores, lengths, temperature)
    for block, p in zip(scores, parts, strict=True):
        value = value - torch.where(torch.isfinite(block), block * p, 0.0).flatten(1).sum(dim=1)
    return (value / temperature).clamp(min=0.0)


for _device in ("CPU", "CUDA"):
    _LIBRARY.impl("entropy", _entropy, _device)
torch.library.register_fake(
    "structlearn::entropy",
    lambda scores, lengths, kind, temperature: scores[0].new_empty(
        scores[0].shape[0], dtype=torch.float64
    ),
    lib=_LIBRARY,
)

torch.library.register_vmap("structlearn::entropy", no_vmap, lib=_LIBRARY)

entropy = torch.ops.structlearn.entropy
