"""PyTorch operators: ``infer``, its curvature, ``loss`` and ``argmax``.

Each takes the blocks of scores as a list, the lengths, and the name of a kind
(:func:`~structlearn.torch.kinds.named_kind`). The core computes on the CPU, kernels on CUDA, or the
core if there is no kernel. Shapes of results are known without computing, so that ``torch.compile``
and CUDA graphs work.

``infer`` returns value and gradient at once, and its gradients can be differentiated again: second
derivatives are finite differences of ``infer`` along a line, in float64.
"""

from __future__ import annotations

from typing import Any

import torch

from ..kinds import Tensors, named_kind
from . import compute, gradients, transforms
from .compute import check_values, one_type, part_type
from .curvature import curvature
from .folding import argmax_vmap, curvature_vmap
from .transforms import is_mapped, no_transforms, plain, refuse_transforms

__all__ = [
    "argmax",
    "check_values",
    "entropy",
    "infer",
    "is_mapped",
    "loss",
    "no_transforms",
    "plain",
    "refuse_transforms",
    "value",
]

_LIBRARY = torch.library.Library("structlearn", "DEF")
_LIBRARY.define("infer(Tensor[] scores, Tensor lengths, str kind, float temperature) -> Tensor[]")
_LIBRARY.define(
    "curvature(Tensor[] scores, Tensor lengths, str kind, float temperature, Tensor[] directions)"
    " -> Tensor[]"
)
_LIBRARY.define(
    "loss(Tensor[] scores, Tensor lengths, Tensor[] y, Tensor? table, Tensor? cost, "
    "Tensor? constant, str kind, float margin, float temperature) -> Tensor[]"
)
_LIBRARY.define("argmax(Tensor[] scores, Tensor lengths, str kind) -> Tensor[]")


def _like_parts(scores: Tensors, kind: str) -> Tensors:
    dtype = part_type(one_type(scores))
    return [
        scores[0].new_empty(shape, dtype=dtype) for shape in named_kind(kind).part_shapes(scores)
    ]


def _fake_values(scores: Tensors, kind: str) -> Tensors:
    value = scores[0].new_empty(scores[0].shape[0], dtype=torch.float64)
    return [value, *_like_parts(scores, kind)]


def _fake_losses(scores: Tensors, kind: str) -> Tensors:
    parts = _like_parts(scores, kind)
    return [parts[0].new_empty(scores[0].shape[0]), *parts]


def _register() -> None:
    implementations = {
        "infer": compute.infer,
        "curvature": curvature,
        "loss": compute.loss,
        "argmax": compute.argmax,
    }
    for name, function in implementations.items():
        for device in ("CPU", "CUDA"):
            _LIBRARY.impl(name, function, device)
    # The others are mapped by the functions of ``transforms``.
    torch.library.register_vmap("structlearn::argmax", argmax_vmap, lib=_LIBRARY)
    torch.library.register_vmap("structlearn::curvature", curvature_vmap, lib=_LIBRARY)
    fakes: dict[str, Any] = {
        "infer": lambda scores, lengths, kind, temperature: _fake_values(scores, kind),
        "curvature": lambda scores, lengths, kind, *rest: _like_parts(scores, kind),
        "loss": lambda scores, lengths, y, t, c, c0, kind, *rest: _fake_losses(scores, kind),
        "argmax": _fake_argmax,
    }
    for name, fake in fakes.items():
        torch.library.register_fake(f"structlearn::{name}", fake, lib=_LIBRARY)
    for name, backward, setup in (
        ("infer", gradients.infer_backward, gradients.infer_setup),
        ("curvature", gradients.curvature_backward, gradients.curvature_setup),
        ("loss", gradients.loss_backward, gradients.loss_setup),
    ):
        torch.library.register_autograd(
            f"structlearn::{name}", backward, setup_context=setup, lib=_LIBRARY
        )


def _fake_argmax(scores: Tensors, lengths: torch.Tensor, kind: str) -> Tensors:
    value = scores[0].new_empty(scores[0].shape[0], dtype=torch.float64)
    shapes = named_kind(kind).output_shapes(scores)
    return [value, *(scores[0].new_empty(shape, dtype=torch.int64) for shape in shapes)]


_register()

argmax = torch.ops.structlearn.argmax


def value(scores: Tensors, lengths: torch.Tensor, kind: str, temperature: float) -> torch.Tensor:
    """Return the value of each example, in float64."""
    if transforms.transformed():
        return transforms.value(scores, lengths, kind, temperature)
    outputs: Tensors = torch.ops.structlearn.infer(scores, lengths, kind, temperature)
    return outputs[0]


def entropy(scores: Tensors, lengths: torch.Tensor, kind: str, temperature: float) -> torch.Tensor:
    """Return the entropy of each example in nats, in float64."""
    if transforms.transformed():
        return transforms.entropy(scores, lengths, kind, temperature)
    entropies: torch.Tensor = torch.ops.structlearn.entropy(scores, lengths, kind, temperature)
    return entropies


def infer(scores: Tensors, lengths: torch.Tensor, kind: str, temperature: float) -> Tensors:
    """Return the value of each example, in float64, and its gradient by block."""
    if transforms.transformed():
        return transforms.infer(scores, lengths, kind, temperature)
    outputs: Tensors = torch.ops.structlearn.infer(scores, lengths, kind, temperature)
    return outputs


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
    dtype: torch.dtype,
) -> torch.Tensor:
    """Return the loss of each example."""
    rest = (lengths, y, table, cost, constant, kind, margin, temperature)
    if transforms.transformed():
        return transforms.loss(scores, *rest).to(dtype)
    plain = all(type(t) in (torch.Tensor, torch.nn.Parameter) for t in scores)
    if plain and not torch.compiler.is_compiling():
        losses: torch.Tensor = gradients.EagerLoss.apply(dtype, rest, *scores)
        return losses
    value: torch.Tensor = torch.ops.structlearn.loss(scores, *rest)[0]
    return value.to(dtype)
