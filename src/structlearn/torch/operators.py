"""The operators that PyTorch sees: ``infer``, its curvature, ``loss`` and ``argmax``.

Each takes the blocks of scores as a list, the lengths, and the number of a kind
(:func:`~structlearn.torch.kinds.kind_number`). On the CPU the core computes; on CUDA kernels do, or
the core where there is none. Shapes of results are known without computing, so that
``torch.compile`` and CUDA graphs go through.

``infer`` gives value and gradient at once, and its gradients are outputs that can be differentiated
themselves: second derivatives are those of ``infer`` along a line, by differences in float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import torch

from .kinds import Kind, Tensors, lengths_to_mask, numbered_kind, say_once
from .kinds.chain import ChainKind

__all__ = ["argmax", "check_values", "infer", "loss"]

_LIBRARY = torch.library.Library("structlearn", "DEF")
_LIBRARY.define("infer(Tensor[] scores, Tensor lengths, int kind, float temperature) -> Tensor[]")
_LIBRARY.define(
    "curvature(Tensor[] scores, Tensor lengths, int kind, float temperature, Tensor[] directions)"
    " -> Tensor[]"
)
_LIBRARY.define(
    "loss(Tensor[] scores, Tensor lengths, Tensor[] y, Tensor? table, Tensor? cost, "
    "Tensor? constant, int kind, float margin, float temperature) -> Tensor[]"
)
_LIBRARY.define("argmax(Tensor[] scores, Tensor lengths, int kind) -> Tensor[]")


def part_type(scores: Tensors) -> torch.dtype:
    """Return the type of gradients: float64 where the scores are, else float32."""
    return torch.float64 if scores[0].dtype == torch.float64 else torch.float32


def _one_type(scores: Tensors) -> Tensors:
    """Return the blocks in one type, the widest among them."""
    widest = scores[0].dtype
    for block in scores[1:]:
        widest = torch.promote_types(widest, block.dtype)
    return [block.detach().to(widest) for block in scores]


def _name(kind: Kind, query: str) -> str:
    return f"{query} of {kind.structure!r} with {', '.join(kind.names)}"


def _values(
    kind: Kind, scores: Tensors, lengths: torch.Tensor, temperature: float
) -> tuple[torch.Tensor, Tensors]:
    """Return values and gradients where the scores are, whoever computes them."""
    device = scores[0].device
    if device.type == "cuda" and kind.has_kernel(scores, temperature):
        with torch.cuda.device(device):
            return kind.infer_kernel(scores, lengths, temperature)
    if device.type == "cuda":
        say_once(_name(kind, "infer"))
    value, parts = kind.infer_core(scores, lengths, temperature)
    dtype = part_type(scores)
    return value.to(device), [p.to(device, dtype) for p in parts]


def check_values(kind: Kind, scores: Tensors, lengths: torch.Tensor) -> None:
    """Raise ValueError where a length is out of range: for values that are at hand."""
    longest = kind.longest(scores[0])
    bad = ((lengths < 1) | (lengths > longest)).nonzero()
    if len(bad):
        b = int(bad[0])
        raise ValueError(f"lengths must be within 1..{longest}: example {b} has {int(lengths[b])}")


def _look(kind: Kind, scores: Tensors, lengths: torch.Tensor, y: Tensors | None = None) -> None:
    """Check values: on the CPU always; on CUDA, where it means to wait, in anomaly mode."""
    if scores[0].device.type != "cpu" and not torch.is_anomaly_enabled():
        return
    check_values(kind, scores, lengths)
    if scores[0].device.type != "cpu":
        for name, block in zip(kind.names, scores, strict=True):
            if bool(torch.isnan(block).any() | torch.isposinf(block).any()):
                raise ValueError(f"{name} contains NaN or +inf; scores are finite, or -inf")
    if y is not None:
        inside = lengths_to_mask(lengths, kind.longest(scores[0]))
        kind.check_labels(y, dict(zip(kind.names, scores, strict=True)), inside)


def _infer(scores: Tensors, lengths: torch.Tensor, kind: int, temperature: float) -> Tensors:
    which, scores = numbered_kind(kind), _one_type(scores)
    _look(which, scores, lengths)
    value, parts = _values(which, scores, lengths, temperature)
    return [value, *parts]


def _curvature(
    scores: Tensors, lengths: torch.Tensor, kind: int, temperature: float, directions: Tensors
) -> Tensors:
    """Return the derivative of the gradients along directions, an example's each.

    By a central difference of fourth order in float64. The step changes no output's score by more
    than a hundredth of the temperature, which leaves ten digits.
    """
    batch = scores[0].shape[0]
    shared = numbered_kind(kind)
    dtype = part_type(_one_type(scores))
    if temperature == 0:
        return [torch.zeros_like(v, dtype=dtype) for v in directions]
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
        span = span + line.abs().flatten(1).amax(dim=1) * (lengths + 1)
    step = torch.where(span > 0, 0.01 * temperature / span.clamp(min=1e-300), 1.0)
    moved = []
    for block, line in zip(blocks, lines, strict=True):
        h = step.view(-1, *[1] * (line.dim() - 1))
        moved.append(torch.cat([block + s * h * line for s in (1.0, -1.0, 2.0, -2.0)]))
    _, parts = _values(each, moved, lengths.repeat(4), temperature)
    found = []
    for p in parts:
        ahead, behind, far, back = p.double().view(4, batch, *p.shape[1:]).unbind(0)
        h = step.view(-1, *[1] * (p.dim() - 1))
        found.append(((8 * (ahead - behind) - (far - back)) / (12 * h)).to(dtype))
    return found


def _per_example(kind: Kind) -> Kind:
    """Return the kind that takes every block with the axis of the batch."""
    return type(kind)(kind.structure, kind.names, (False,) * len(kind.names))


def _loss(
    scores: Tensors,
    lengths: torch.Tensor,
    y: Tensors,
    table: torch.Tensor | None,
    cost: torch.Tensor | None,
    constant: torch.Tensor | None,
    kind: int,
    margin: float,
    temperature: float,
) -> Tensors:
    """Return infer(θ + γc) + γc₀ − infer(θ within y), and its gradient, block by block."""
    which = numbered_kind(kind)
    scores = _one_type(scores)
    _look(which, scores, lengths, y)
    device, batch = scores[0].device, scores[0].shape[0]
    fused = isinstance(which, ChainKind) and cost is None and temperature > 0
    if fused and device.type == "cuda" and which.has_kernel(scores, temperature):
        assert isinstance(which, ChainKind)
        with torch.cuda.device(device):
            value, parts = which.loss_kernel(scores, lengths, y[0], table, margin, temperature)
        return [value, *parts]
    main = scores[0]
    wide = torch.promote_types(main.dtype, torch.float32)
    raised = main.to(wide)
    if margin:
        if cost is None:
            cost, constant = which.costs(y, table, scores, lengths)
        raised = raised + (margin * cost).to(wide)
    if device.type == "cpu" and isinstance(which, ChainKind) and _all_known(y[0], lengths):
        value, parts = _complete_chain(which, scores, raised, lengths, y[0], temperature)
    else:
        clamped = torch.where(which.allowed(y, scores, lengths), main.to(wide), float("-inf"))
        others = [
            block if is_shared else torch.cat([block, block])
            for block, is_shared in zip(scores[1:], which.shared[1:], strict=True)
        ]
        both, grads = _values(
            which, [torch.cat([raised, clamped]), *others], lengths.repeat(2), temperature
        )
        value = both[:batch] - both[batch:]
        parts = [p[:batch] - p[batch:] for p in grads]
    if margin and constant is not None:
        value = value + margin * constant
    return [value, *parts]


def _all_known(y: torch.Tensor, lengths: torch.Tensor) -> bool:
    inside = torch.arange(y.shape[1]) < lengths[:, None]
    return not bool(((y < 0) & inside).any())


def _complete_chain(
    kind: ChainKind,
    scores: Tensors,
    raised: torch.Tensor,
    lengths: torch.Tensor,
    y: torch.Tensor,
    temperature: float,
) -> tuple[torch.Tensor, Tensors]:
    """Return the loss on the CPU where every label is known: one inference is enough."""
    value, parts = _values(kind, [raised, *scores[1:]], lengths, temperature)
    # In NumPy, which takes less time for little things.
    gold = np.zeros(len(value))
    places = kind.places(y.numpy(), scores, lengths.numpy())
    for block, counts, where in zip(scores, parts, places, strict=True):
        place = where[1:] if block.dim() < counts.dim() else where
        gold += np.bincount(where[0], weights=block.numpy()[place], minlength=len(gold))
        flat = counts.numpy().reshape(-1)
        index = np.ravel_multi_index(where, counts.shape)
        if len(place) == len(where):  # every position has a place of its own
            flat[index] -= 1.0
        else:
            flat -= np.bincount(index, minlength=len(flat))
    value = value - torch.from_numpy(gold)
    if not bool(torch.isfinite(value).all()):
        b = int(torch.isfinite(value).logical_not().nonzero()[0])
        raise ValueError(f"example {b}: the gold output is forbidden: a part of it scores -inf")
    return value, parts


def _argmax(scores: Tensors, lengths: torch.Tensor, kind: int) -> Tensors:
    which = numbered_kind(kind)
    scores = _one_type(scores)
    _look(which, scores, lengths)
    device = scores[0].device
    if device.type == "cuda" and which.has_argmax_kernel(scores):
        with torch.cuda.device(device):
            value, y = which.argmax_kernel(scores, lengths)
    else:
        if device.type == "cuda":
            say_once(_name(which, "argmax"))
        value, y = which.argmax_core(scores, lengths)
    return [value.to(device), *(t.to(device) for t in y)]


# -- what PyTorch has to know of them ----------------------------------------------------------


def _like_parts(scores: Tensors, kind: int) -> Tensors:
    dtype = part_type(_one_type(scores))
    return [
        scores[0].new_empty(shape, dtype=dtype) for shape in numbered_kind(kind).part_shapes(scores)
    ]


def _fake_values(scores: Tensors, kind: int) -> Tensors:
    value = scores[0].new_empty(scores[0].shape[0], dtype=torch.float64)
    return [value, *_like_parts(scores, kind)]


def _scale(
    scores: Tensors, kind: Kind, grad: torch.Tensor | None, parts: Tensors
) -> list[torch.Tensor | None]:
    """Return the gradients of the blocks: an example's parts times what its value is worth."""
    if grad is None:
        return [None] * len(scores)
    found: list[torch.Tensor | None] = []
    weights = grad.to(parts[0].dtype)
    for block, shared, p in zip(scores, kind.shared, parts, strict=True):
        if shared:
            scaled = (weights @ p.flatten(1)).view(block.shape)
        else:
            scaled = weights.view(-1, *[1] * (p.dim() - 1)) * p
        found.append(scaled.to(block.dtype))
    return found


def _infer_setup(ctx: Any, inputs: Any, output: Any) -> None:
    scores, lengths, kind, temperature = inputs
    ctx.set_materialize_grads(False)  # no curvature where only the value counts
    ctx.save_for_backward(lengths, *scores, *output[1:])
    ctx.kind, ctx.temperature, ctx.blocks = kind, temperature, len(scores)


def _infer_backward(ctx: Any, grads: Any) -> Any:
    lengths, *saved = ctx.saved_tensors
    scores, parts = list(saved[: ctx.blocks]), list(saved[ctx.blocks :])
    kind = numbered_kind(ctx.kind)
    found = _scale(scores, kind, grads[0], parts)
    if any(g is not None for g in grads[1:]):
        lines = [
            torch.zeros_like(p) if g is None else g for g, p in zip(grads[1:], parts, strict=True)
        ]
        bends = torch.ops.structlearn.curvature(scores, lengths, ctx.kind, ctx.temperature, lines)
        for i, (block, shared, bend) in enumerate(zip(scores, kind.shared, bends, strict=True)):
            bend = (bend.sum(dim=0) if shared else bend).to(block.dtype)
            old = found[i]
            found[i] = bend if old is None else old + bend
    return found, None, None, None


def _loss_setup(ctx: Any, inputs: Any, output: Any) -> None:
    scores, kind = inputs[0], inputs[6]
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(*scores, *output[1:])
    ctx.kind, ctx.blocks, ctx.outputs = kind, len(scores), len(inputs[2])


def _loss_backward(ctx: Any, grads: Any) -> Any:
    if any(g is not None for g in grads[1:]):
        raise RuntimeError(
            "the structured loss has first derivatives only; second ones exist for infer, "
            "marginals, log_partition and entropy"
        )
    saved = list(ctx.saved_tensors)
    scores, parts = saved[: ctx.blocks], saved[ctx.blocks :]
    found = _scale(scores, numbered_kind(ctx.kind), grads[0], parts)
    return found, None, [None] * ctx.outputs, None, None, None, None, None, None


def _curvature_setup(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.set_materialize_grads(False)


def _curvature_backward(ctx: Any, grads: Any) -> Any:
    raise RuntimeError("structures have first and second derivatives, no third ones")


def _no_vmap(*_: Any) -> Any:
    raise NotImplementedError(
        "the operators of structlearn work on a batch already and cannot be vmapped: "
        "fold the mapped axis into the first one"
    )


def _register() -> None:
    implementations = {
        "infer": _infer,
        "curvature": _curvature,
        "loss": _loss,
        "argmax": _argmax,
    }
    for name, function in implementations.items():
        for device in ("CPU", "CUDA"):
            _LIBRARY.impl(name, function, device)
        torch.library.register_vmap(f"structlearn::{name}", _no_vmap, lib=_LIBRARY)
    fakes: dict[str, Any] = {
        "infer": lambda scores, lengths, kind, temperature: _fake_values(scores, kind),
        "curvature": lambda scores, lengths, kind, *rest: _like_parts(scores, kind),
        "loss": lambda scores, lengths, y, t, c, c0, kind, *rest: _fake_values(scores, kind),
        "argmax": _fake_argmax,
    }
    for name, fake in fakes.items():
        torch.library.register_fake(f"structlearn::{name}", fake, lib=_LIBRARY)
    for name, backward, setup in (
        ("infer", _infer_backward, _infer_setup),
        ("curvature", _curvature_backward, _curvature_setup),
        ("loss", _loss_backward, _loss_setup),
    ):
        torch.library.register_autograd(
            f"structlearn::{name}", backward, setup_context=setup, lib=_LIBRARY
        )


def _fake_argmax(scores: Tensors, lengths: torch.Tensor, kind: int) -> Tensors:
    value = scores[0].new_empty(scores[0].shape[0], dtype=torch.float64)
    shapes = numbered_kind(kind).output_shapes(scores)
    return [value, *(scores[0].new_empty(shape, dtype=torch.int64) for shape in shapes)]


_register()

infer = torch.ops.structlearn.infer
argmax = torch.ops.structlearn.argmax


class _Loss(torch.autograd.Function):
    """The operator ``loss`` without PyTorch's way through operators, which takes its time."""

    @staticmethod
    def forward(*inputs: Any) -> Any:
        given: Any = inputs[:8]
        return tuple(_loss(list(inputs[8:]), *given))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        _loss_setup(ctx, (inputs[8:], None, (), None, None, None, inputs[5]), output)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return (*(None,) * 8, *_loss_backward(ctx, grads)[0])

    @staticmethod
    def vmap(*_: Any) -> Any:
        _no_vmap()


def loss(
    scores: Tensors,
    lengths: torch.Tensor,
    y: Tensors,
    table: torch.Tensor | None,
    cost: torch.Tensor | None,
    constant: torch.Tensor | None,
    kind: int,
    margin: float,
    temperature: float,
) -> Any:
    """Return the loss of each example, and its gradient by block."""
    plain = all(type(t) in (torch.Tensor, torch.nn.Parameter) for t in scores)
    if torch.compiler.is_compiling() or not plain:
        return torch.ops.structlearn.loss(
            scores, lengths, y, table, cost, constant, kind, margin, temperature
        )
    return _Loss.apply(lengths, y, table, cost, constant, kind, margin, temperature, *scores)
