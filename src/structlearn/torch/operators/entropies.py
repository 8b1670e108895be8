"""The operator ``entropy``: values alone. The gradient is a second derivative of ``infer``."""

from __future__ import annotations

import torch

from ..kinds import Kind, Tensors, named_kind, on_gpu, say_once
from .compute import check_values, one_type, values
from .transforms import no_vmap

__all__ = ["entropy"]

_LIBRARY = torch.library.Library("structlearn", "FRAGMENT")
_LIBRARY.define("entropy(Tensor[] scores, Tensor lengths, str kind, float temperature) -> Tensor")


#: Scores of this multiple of the temperature cost a difference too many digits.
_LARGE = 1e5


def _entropy(scores: Tensors, lengths: torch.Tensor, kind: str, temperature: float) -> torch.Tensor:
    """Return the entropy of each example in nats, in float64."""
    which, scores = named_kind(kind), [block.double() for block in one_type(scores)]
    if not on_gpu(scores[0]) or not which.has_kernel(scores, temperature):
        if on_gpu(scores[0]):
            say_once(f"entropy of {which.structure!r}")
        return _by_core(which, scores, lengths, temperature)
    given = scores
    _, parts = values(which, scores, lengths, temperature)
    # The same distribution from scores whose sums are small where it matters: few digits cancel.
    near = which.centred(scores, parts)
    scores = [x if shared else c for x, c, shared in zip(scores, near, which.shared, strict=True)]
    value, parts = values(which, scores, lengths, temperature)
    size = value.abs()
    for block, first, p, shared in zip(scores, given, parts, which.shared, strict=True):
        if not p.numel():
            continue
        mean = torch.where(torch.isfinite(block), block * p, 0.0).flatten(1)
        value, size = value - mean.sum(dim=1), torch.maximum(size, mean.abs().amax(dim=1))
        # Sums are measured against the largest scores.
        size = torch.maximum(size, first.amax() if shared else first.flatten(1).amax(dim=1))
    found = (value / temperature).clamp(min=0.0)
    # The core finds what the difference has lost.
    large = (torch.isfinite(size) & (size > _LARGE * temperature)).nonzero()[:, 0]
    if len(large):
        few = [x if shared else x[large] for x, shared in zip(given, which.shared, strict=True)]
        found[large] = _by_core(which, few, lengths[large], temperature)
    return found


def _by_core(
    which: Kind, scores: Tensors, lengths: torch.Tensor, temperature: float
) -> torch.Tensor:
    """Return the entropies as the core finds them."""
    check_values(which, scores, lengths)
    found = which.structure.entropy(
        temperature=temperature, n_jobs=which.threads(), **which.examples(scores, lengths)
    )
    return torch.tensor(found, dtype=torch.float64).to(scores[0].device)


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
