"""Viterbi for first-order chains, one program per sequence."""

from __future__ import annotations

import triton
import triton.language as tl

import torch

from .common import (
    accumulator,
    accumulator_dtype,
    block_of,
    finite_max,
    launch,
    length_of,
    warps_of,
)

#: Table entries held by a thread at least; with more labels, a whole column.
_PER_THREAD = 64


@triton.jit
def _best(a, u, table):
    """One step: the best score of each label, and the label before it (ties to the first)."""
    x = a[:, None] + table
    best, before = tl.max(x, axis=0, return_indices=True, return_indices_tie_break_left=True)
    return best + u, before


@triton.jit(do_not_specialize=["L"])
def _viterbi(
    label_ptr, transition_ptr, start_ptr, end_ptr, length_ptr, before_ptr, y_ptr, value_ptr,
    L, K, stride_table,
    BLOCK: tl.constexpr, ACC: tl.constexpr,
):  # fmt: skip
    b = tl.program_id(0).to(tl.int64)
    n, bad = length_of(length_ptr, b, L)
    k = tl.arange(0, BLOCK)
    inside = k < K
    label_ptr += b * L * K
    before_ptr += b * L * K
    y_ptr += b * L
    both = inside[:, None] & inside[None, :]
    table = tl.load(
        transition_ptr + b * stride_table + k[:, None] * K + k[None, :],
        mask=both,
        other=float("-inf"),
    ).to(ACC)
    a = tl.load(start_ptr + k, mask=inside, other=float("-inf")).to(ACC)
    a += tl.load(label_ptr + k, mask=inside & (n > 0), other=float("-inf")).to(ACC)
    total = tl.full((), 0.0, tl.float64)
    u0 = tl.load(label_ptr + K + k, mask=inside & (n > 1), other=float("-inf"))
    u1 = tl.load(label_ptr + 2 * K + k, mask=inside & (n > 2), other=float("-inf"))
    for t in range(1, n - 1, 2):
        next_ptr = label_ptr + (t + 2) * K + k
        next0 = tl.load(next_ptr, mask=inside & (t + 2 < n), other=float("-inf"))
        next1 = tl.load(next_ptr + K, mask=inside & (t + 3 < n), other=float("-inf"))
        a, before = _best(a, u0.to(ACC), table)
        tl.store(before_ptr + t * K + k, before.to(tl.uint8), mask=inside)
        a, before = _best(a, u1.to(ACC), table)
        tl.store(before_ptr + (t + 1) * K + k, before.to(tl.uint8), mask=inside)
        # Shifted towards 0, so that long sequences lose no digits.
        shift = finite_max(a, 0)
        a -= shift
        total += shift.to(tl.float64)
        u0 = next0
        u1 = next1
    if (n > 1) & (n % 2 == 0):
        a, before = _best(a, u0.to(ACC), table)
        tl.store(before_ptr + (n - 1) * K + k, before.to(tl.uint8), mask=inside)
    a += tl.load(end_ptr + k, mask=inside, other=float("-inf")).to(ACC)
    best, y = tl.max(a, axis=0, return_indices=True, return_indices_tie_break_left=True)
    y = tl.minimum(y.to(tl.int32), K - 1)  # NaN may win at a column without a label
    tl.store(value_ptr + b, tl.where(n == 0, 0.0, total + best.to(tl.float64)) + bad)
    tl.debug_barrier()
    tl.store(y_ptr + n - 1, y.to(tl.int64), mask=n > 0)
    for s in range(1, n):
        y = tl.minimum(tl.load(before_ptr + (n - s) * K + y).to(tl.int32), K - 1)
        tl.store(y_ptr + n - s - 1, y.to(tl.int64))


def chain_argmax(
    label: torch.Tensor,
    transition: torch.Tensor,
    start: torch.Tensor,
    end: torch.Tensor,
    lengths: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the best labels, (B, L) with −100 beyond the lengths, and their scores (B,)."""
    batch, L, K = label.shape
    acc = accumulator(label)
    label, transition = label.contiguous(), transition.contiguous()
    y = torch.full((batch, L), -100, dtype=torch.int64, device=label.device)
    value = label.new_empty(batch, dtype=torch.float64)
    before = torch.empty((batch, L, K), dtype=torch.uint8, device=label.device)
    block = block_of(K)
    wide = 2 if accumulator_dtype(label) == torch.float64 else 1
    launch(
        _viterbi, (batch,),
        label, transition, start.contiguous(), end.contiguous(), lengths, before, y, value,
        L, K, K * K if transition.dim() == 3 else 0,
        BLOCK=block, ACC=acc,
        options={"num_warps": warps_of(block * block * wide, max(block, _PER_THREAD))},
    )  # fmt: skip
    return value, y
