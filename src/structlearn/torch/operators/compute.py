"""The computations behind the operators, by kernels or by the core."""

from __future__ import annotations

import torch

from ...exceptions import InfeasibleError
from ..kinds import (
    IGNORE,
    Kind,
    Tensors,
    lengths_to_mask,
    named_kind,
    on_gpu,
    say_once,
)
from ..kinds.chain import ChainKind


def part_type(scores: Tensors) -> torch.dtype:
    """Return the type of gradients: float64 for float64 scores, else float32."""
    return torch.float64 if scores[0].dtype == torch.float64 else torch.float32


def one_type(scores: Tensors) -> Tensors:
    """Return the blocks in a common type, the widest among them."""
    widest = scores[0].dtype
    for block in scores[1:]:
        if block.dtype != widest:
            widest = torch.promote_types(widest, block.dtype)
    return [block if block.dtype == widest else block.to(widest) for block in scores]


def _name(kind: Kind, query: str) -> str:
    return f"{query} of {kind.structure!r} with {', '.join(kind.names)}"


def values(
    kind: Kind, scores: Tensors, lengths: torch.Tensor, temperature: float
) -> tuple[torch.Tensor, Tensors]:
    """Return values and gradients on the device of the scores, by a kernel or by the core."""
    if _no_positions(kind, scores):
        return _nothing(kind, scores, lengths)
    if on_gpu(scores[0]):
        if kind.has_kernel(scores, temperature):
            return kind.infer_kernel(scores, lengths, temperature)
        say_once(_name(kind, "infer"))
    device, dtype = scores[0].device, part_type(scores)
    value, parts = kind.infer_core(scores, lengths, temperature)
    return value.to(device), [p.to(device, dtype) for p in parts]


def _no_positions(kind: Kind, scores: Tensors) -> bool:
    """Return whether a batch has no examples or no positions, by its shape."""
    return scores[0].shape[0] == 0 or kind.longest(scores[0]) == 0


def _nothing(kind: Kind, scores: Tensors, lengths: torch.Tensor) -> tuple[torch.Tensor, Tensors]:
    """Return values and gradients of examples without positions; NaN for other lengths."""
    value = torch.where(lengths == 0, 0.0, torch.nan).double()
    dtype = part_type(scores)
    return value, [scores[0].new_zeros(s, dtype=dtype) for s in kind.part_shapes(scores)]


def check_values(kind: Kind, scores: Tensors, lengths: torch.Tensor) -> None:
    """Raise ValueError if a length is out of range; reads the values."""
    if not len(lengths):
        return
    longest = kind.longest(scores[0])
    low, high = torch.aminmax(lengths)
    if low < 0 or high > longest:
        b = int(((lengths < 0) | (lengths > longest)).nonzero()[0])
        raise ValueError(f"lengths must be within 0..{longest}: example {b} has {int(lengths[b])}")


def look(kind: Kind, scores: Tensors, lengths: torch.Tensor, y: Tensors | None = None) -> None:
    """Check values: always on the CPU; on CUDA, which has to wait, only in anomaly mode."""
    if on_gpu(scores[0]) and not torch.is_anomaly_enabled():
        return
    if y is None:
        check_values(kind, scores, lengths)
    else:
        look_at_gold(kind, scores[0], lengths, y)
    if on_gpu(scores[0]):
        for name, block in zip(kind.names, scores, strict=True):
            if bool(torch.isnan(block).any() | torch.isposinf(block).any()):
                raise ValueError(f"{name} contains NaN or +inf; scores are finite, or -inf")


def look_at_gold(kind: Kind, main: torch.Tensor, lengths: torch.Tensor, y: Tensors) -> None:
    """Check gold outputs when :func:`look` does; only the main block's shape is used."""
    if on_gpu(main) and not torch.is_anomaly_enabled():
        return
    check_values(kind, [main], lengths)
    kind.check_labels(y, {kind.main: main}, lengths_to_mask(lengths, kind.longest(main)))


def infer(scores: Tensors, lengths: torch.Tensor, kind: str, temperature: float) -> Tensors:
    """Return the value of each example, and its gradient by block."""
    which, scores = named_kind(kind), one_type(scores)
    look(which, scores, lengths)
    value, parts = values(which, scores, lengths, temperature)
    return [value, *parts]


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
) -> Tensors:
    """Return infer(θ + γc) + γc₀ − infer(θ within y), and its gradient, block by block.

    All in the type of the gradients.
    """
    which, scores = named_kind(kind), one_type(scores)
    look(which, scores, lengths, y)
    if _no_positions(which, scores):
        value, parts = _nothing(which, scores, lengths)
        return [value.to(parts[0].dtype), *parts]
    main = scores[0]
    kernel = on_gpu(main) and which.has_kernel(scores, temperature)
    chain = which if isinstance(which, ChainKind) else None
    if chain and kernel and cost is None and temperature > 0:
        value, parts = chain.fused_loss(scores, lengths, y[0], table, margin, temperature)
        return [value, *parts]
    worse, constant = raised(which, scores, lengths, y, table, cost, constant, margin)
    if kernel:
        value, parts = which.loss_kernel(worse, scores, lengths, y, temperature)
    else:
        outcome = None
        if chain and not on_gpu(main):
            outcome = chain.core_loss(worse, scores, lengths, y[0], temperature)
        value, parts = outcome or _less_gold(which, worse, scores, lengths, y, temperature)
    if constant is not None:
        value = value + margin * constant
    return [value.to(parts[0].dtype), *parts]


def raised(
    kind: Kind,
    scores: Tensors,
    lengths: torch.Tensor,
    y: Tensors,
    table: torch.Tensor | None,
    cost: torch.Tensor | None,
    constant: torch.Tensor | None,
    margin: float,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Return θ + γc of the main block, and c₀ if there is one."""
    main = scores[0]
    if not margin:
        return main, None
    if cost is None:
        cost, constant = kind.costs(y, table, scores, lengths)
    wide = torch.promote_types(main.dtype, torch.float32)
    return main.to(wide) + (margin * cost).to(wide), constant


def _less_gold(
    kind: Kind,
    raised: torch.Tensor,
    scores: Tensors,
    lengths: torch.Tensor,
    y: Tensors,
    temperature: float,
) -> tuple[torch.Tensor, Tensors]:
    """Return infer over all outputs, with ``raised`` as main block, minus infer within y."""
    value, parts = values(kind, [raised, *scores[1:]], lengths, temperature)
    try:
        gold, counts = values(
            kind, [kind.clamped(scores, lengths, y), *scores[1:]], lengths, temperature
        )
    except InfeasibleError as error:
        example = str(error).partition(":")[0]
        b = int(example.rpartition(" ")[2])
        raise InfeasibleError(
            f"{example}: the gold output is forbidden: {kind.conflict(y, b, int(lengths[b]))}"
        ) from error
    return value - gold, [p - q for p, q in zip(parts, counts, strict=True)]


def argmax(scores: Tensors, lengths: torch.Tensor, kind: str) -> Tensors:
    """Return the value of each example's best output, and the outputs."""
    which, scores = named_kind(kind), one_type(scores)
    look(which, scores, lengths)
    if _no_positions(which, scores):
        value, _ = _nothing(which, scores, lengths)
        shapes = which.output_shapes(scores)
        return [value, *(lengths.new_full(shape, IGNORE) for shape in shapes)]
    if on_gpu(scores[0]):
        if which.has_argmax_kernel(scores):
            value, y = which.argmax_kernel(scores, lengths)
            return [value, *y]
        say_once(_name(which, "argmax"))
    device = scores[0].device
    value, y = which.argmax_core(scores, lengths)
    return [value.to(device), *(t.to(device) for t in y)]
