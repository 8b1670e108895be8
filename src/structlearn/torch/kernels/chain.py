"""Chains of order one: forward and backward sweeps side by side, then what they say of the parts.

A sweep carries one vector of logarithms (base 2, in units of the temperature), shifted so that its
largest entry is 0; the shifts are added up in float64. In direction 0 it holds, for each label of
position t, the sum over all beginnings that end in that label; in direction 1 the sum over all
ends that begin with it. Both include the label's own score, so that one loop serves both: the
second reads the positions from the last to the first and the transitions transposed.

A step multiplies the vector of exponentials by the table of exponentials, which stays in
registers. Where a sum comes out so small that products may have been lost (transitions of −∞ or
thousands apart), the step is done again with logarithms: the largest term of each column first.

The second kernel turns the two vectors of a position into label marginals, by normalising their
product, and into the transitions' gradient, by a matrix product over blocks of positions: nothing
of size batch × length × labels² exists.
"""

from __future__ import annotations

import triton
import triton.language as tl

import torch

from .common import (
    LOG2E,
    accumulator,
    accumulator_dtype,
    block_of,
    finite_max,
    halves,
    length_of,
    number,
    warps_of,
)

__all__ = ["MOST_LABELS", "chain_infer", "chain_loss"]

MOST_LABELS = 256

#: Sums below this may have lost terms; those above it have not, to float32's precision.
_SMALL = tl.constexpr(1e-28)


@triton.jit
def _prepare(u, y, cost_ptr, k, valid, clamp, K, scale, margin,
             COST: tl.constexpr, ACC: tl.constexpr):  # fmt: skip
    """Label scores as they count: with the margin's cost, or clamped to the gold label."""
    u = u.to(ACC)
    if COST > 0:
        wrong = (y >= 0) & (k != y)
        if COST == 1:
            u += tl.where(wrong, tl.where(clamp, float("-inf"), margin), 0.0)
        else:
            row = tl.load(cost_ptr + y * K + k, mask=valid & (y >= 0), other=0.0).to(ACC)
            u += tl.where(clamp, tl.where(wrong, float("-inf"), 0.0), margin * row)
    return u * scale


@triton.jit
def _fetch(label_ptr, y_ptr, t, k, valid, stride_t, stride_k, COST: tl.constexpr):
    """The label scores of position t, and its gold label, as they are in memory."""
    u = tl.load(label_ptr + t * stride_t + k * stride_k, mask=valid, other=float("-inf"))
    if COST > 0:
        y = tl.load(y_ptr + t + k * 0, mask=valid, other=-1).to(tl.int32)
    else:
        y = k
    return u, y


@triton.jit
def _step(a, u, lost, table, table_ptr, offset, valid, top, scale,
          CAREFUL: tl.constexpr, ACC: tl.constexpr):  # fmt: skip
    """One step of a sweep: shifted logarithms in, shifted logarithms and the shift out."""
    sums = tl.sum(tl.exp2(a)[:, None] * table, axis=0)
    small = (sums < _SMALL) & (u > float("-inf"))
    logs = tl.log2(sums)
    if CAREFUL:
        if tl.max(small.to(tl.int32), axis=0) > 0:
            raw = tl.load(table_ptr + offset, mask=valid, other=float("-inf")).to(ACC)
            x = a[:, None] + (raw * scale - top)
            m = finite_max(x, 0)
            logs = tl.log2(tl.sum(tl.exp2(x - m[None, :]), axis=0)) + m
    else:
        lost = lost | small.to(tl.int32)
    new = logs + u
    shift = finite_max(new, 0)
    return new - shift, shift, lost


@triton.jit
def _walk(
    label_ptr, y_ptr, cost_ptr, sweep_ptr, shift_ptr, table, table_ptr, first, at, step, n, clamp,
    K, stride_t, stride_k, top, scale, margin,
    CAREFUL: tl.constexpr, COST: tl.constexpr, BLOCK: tl.constexpr, ACC: tl.constexpr,
):  # fmt: skip
    """Sweep over all positions: the last vector, the sum of shifts, and where sums were small."""
    k = tl.arange(0, BLOCK)
    inside = k < K
    row = tl.where(step < 0, 1, K)
    offset = k[:, None] * row + k[None, :] * (K + 1 - row)
    both = inside[:, None] & inside[None, :]
    lost = k * 0
    u, y = _fetch(label_ptr, y_ptr, at, k, inside & (n > 0), stride_t, stride_k, COST)
    a = first + _prepare(u, y, cost_ptr, k, inside, clamp, K, scale, margin, COST, ACC)
    shift = finite_max(a, 0)
    a -= shift
    total = shift.to(tl.float64)
    tl.store(sweep_ptr + at * K + k, a, mask=inside & (n > 0))
    tl.store(shift_ptr + at, shift, mask=n > 0)
    # The scores of two positions are fetched while the two before them are worked on.
    u0, y0 = _fetch(label_ptr, y_ptr, at + step, k, inside & (n > 1), stride_t, stride_k, COST)
    u1, y1 = _fetch(label_ptr, y_ptr, at + 2 * step, k, inside & (n > 2), stride_t, stride_k, COST)
    for t in range(1, n - 1, 2):
        next0, gold0 = _fetch(label_ptr, y_ptr, at + 3 * step, k, inside & (t + 2 < n),
                              stride_t, stride_k, COST)  # fmt: skip
        next1, gold1 = _fetch(label_ptr, y_ptr, at + 4 * step, k, inside & (t + 3 < n),
                              stride_t, stride_k, COST)  # fmt: skip
        u = _prepare(u0, y0, cost_ptr, k, inside, clamp, K, scale, margin, COST, ACC)
        a, shift, lost = _step(a, u, lost, table, table_ptr, offset, both, top, scale, CAREFUL, ACC)
        total += (shift + top).to(tl.float64)
        tl.store(sweep_ptr + (at + step) * K + k, a, mask=inside)
        tl.store(shift_ptr + at + step, shift)
        u = _prepare(u1, y1, cost_ptr, k, inside, clamp, K, scale, margin, COST, ACC)
        a, shift, lost = _step(a, u, lost, table, table_ptr, offset, both, top, scale, CAREFUL, ACC)
        total += (shift + top).to(tl.float64)
        tl.store(sweep_ptr + (at + 2 * step) * K + k, a, mask=inside)
        tl.store(shift_ptr + at + 2 * step, shift)
        at += 2 * step
        u0 = next0
        u1 = next1
        y0 = gold0
        y1 = gold1
    if (n > 1) & (n % 2 == 0):
        u = _prepare(u0, y0, cost_ptr, k, inside, clamp, K, scale, margin, COST, ACC)
        a, shift, lost = _step(a, u, lost, table, table_ptr, offset, both, top, scale, CAREFUL, ACC)
        total += (shift + top).to(tl.float64)
        tl.store(sweep_ptr + (at + step) * K + k, a, mask=inside)
        tl.store(shift_ptr + at + step, shift)
    return a, total, lost


@triton.jit
def _sweep(
    label_ptr, transition_ptr, start_ptr, end_ptr, y_ptr, cost_ptr, length_ptr, top_ptr,
    sweep_ptr, shift_ptr, value_ptr,
    batch, L, K, stride_b, stride_t, stride_k, stride_table, scale_high, scale_low,
    margin_high, margin_low,
    COST: tl.constexpr, BLOCK: tl.constexpr, ACC: tl.constexpr,
):  # fmt: skip
    """Sweep one sequence in one direction. With COST, sequences from `batch` on are clamped."""
    program = tl.program_id(0)
    backward = tl.program_id(1)
    b = program % batch
    clamp = program >= batch
    n, bad = length_of(length_ptr, b, L)
    k = tl.arange(0, BLOCK)
    inside = k < K
    scale = number(scale_high, scale_low, ACC)
    margin = number(margin_high, margin_low, ACC)
    top = tl.load(top_ptr).to(ACC) * scale
    label_ptr += b.to(tl.int64) * stride_b
    y_ptr += b.to(tl.int64) * L
    table_ptr = transition_ptr + b.to(tl.int64) * stride_table
    step = tl.where(backward == 1, -1, 1)
    at = tl.where(backward == 1, n - 1, 0)
    row = tl.where(backward == 1, 1, K)
    offset = k[:, None] * row + k[None, :] * (K + 1 - row)
    both = inside[:, None] & inside[None, :]
    table = tl.load(table_ptr + offset, mask=both, other=float("-inf")).to(ACC)
    table = tl.exp2(table * scale - top)
    place = (backward * tl.num_programs(0) + program).to(tl.int64) * L
    sweep_ptr += place * K
    shift_ptr += place
    if backward == 1:
        first = tl.load(end_ptr + k, mask=inside, other=float("-inf")).to(ACC) * scale
    else:
        first = tl.load(start_ptr + k, mask=inside, other=float("-inf")).to(ACC) * scale
    a, total, lost = _walk(
        label_ptr, y_ptr, cost_ptr, sweep_ptr, shift_ptr, table, table_ptr, first, at, step, n,
        clamp, K, stride_t, stride_k, top, scale, margin, False, COST, BLOCK, ACC,
    )  # fmt: skip
    if tl.max(lost, axis=0) > 0:
        a, total, lost = _walk(
            label_ptr, y_ptr, cost_ptr, sweep_ptr, shift_ptr, table, table_ptr, first, at, step, n,
            clamp, K, stride_t, stride_k, top, scale, margin, True, COST, BLOCK, ACC,
        )  # fmt: skip
    if backward == 0:
        a += tl.load(end_ptr + k, mask=inside, other=float("-inf")).to(ACC) * scale
        m = tl.max(a, axis=0)
        rest = tl.log2(tl.sum(tl.exp2(a - tl.where(m == float("-inf"), 0.0, m)), axis=0))
        value = (total + (rest + m).to(tl.float64)) / scale.to(tl.float64)
        tl.store(value_ptr + program, value + bad)


@triton.jit
def _marginals_at(label_ptr, y_ptr, cost_ptr, sweep_ptr, shift_ptr, t, k, valid, clamp, K, L,
                  directions, stride_t, stride_k, scale, margin,
                  COST: tl.constexpr, ACC: tl.constexpr):  # fmt: skip
    """For a block of positions: label marginals, and log2 of the sums that the labels' scores
    were added to."""
    where = t * K + k
    u, y = _fetch(label_ptr, y_ptr, t, k, valid, stride_t, stride_k, COST)
    u = _prepare(u, y, cost_ptr, k, valid, clamp, K, scale, margin, COST, ACC)
    ahead = tl.load(sweep_ptr + where, mask=valid, other=float("-inf"))
    behind = tl.load(sweep_ptr + directions * L * K + where, mask=valid, other=float("-inf"))
    legal = (u > float("-inf")) & (ahead > float("-inf")) & (behind > float("-inf"))
    safe = tl.where(legal, u, 0.0)
    x = tl.where(legal, ahead + behind - safe, float("-inf"))
    m = finite_max(x, 1)
    p = tl.exp2(x - m[:, None])
    total = tl.sum(p, axis=1)
    p = p / tl.where(total > 0, total, 1.0)[:, None]
    shift = tl.load(shift_ptr + t, mask=valid, other=0.0)
    logs = tl.where(legal, ahead + shift - safe, 0.0)
    return p, logs


@triton.jit
def _transitions(p, logs, sweep_ptr, table_ptr, t, k, i, table, n, K, top, scale, acc,
                 T: tl.constexpr, ACC: tl.constexpr, DOT: tl.constexpr):  # fmt: skip
    """Add a block's expected transitions, divided by the table's exponentials, or by themselves.

    Position t gives p[t, k] to the transitions into k, in proportion to the terms of its sum.
    """
    before = tl.load(
        sweep_ptr + (t - 1) * K + k,
        mask=(k < K) & (t >= 1) & (t < n),
        other=float("-inf"),
    )
    exact = (tl.min(tl.where(p > 0, logs, 0.0)) < -93.0) | (not DOT)
    if exact:
        # One position at a time, with logarithms throughout.
        rows = tl.arange(0, T)
        k1 = tl.arange(0, table.shape[1])
        i1 = tl.arange(0, table.shape[0])
        raw = tl.load(
            table_ptr + i1[:, None] * K + k1[None, :],
            mask=(i1[:, None] < K) & (k1[None, :] < K),
            other=float("-inf"),
        ).to(ACC)
        raw = raw * scale - top
        for r in range(T):
            here = rows[:, None] == r
            p_r = tl.sum(tl.where(here, p, 0.0), axis=0)
            log_r = tl.sum(tl.where(here, logs, 0.0), axis=0)
            before_r = tl.max(tl.where(here, before, float("-inf")), axis=0)
            x = before_r[:, None] + raw - log_r[None, :]
            acc += tl.where(p_r[None, :] > 0, p_r[None, :] * tl.exp2(x), 0.0)
    else:
        w = p * tl.exp2(tl.where(p > 0, -logs, 0.0))
        acc += table * tl.dot(tl.trans(tl.exp2(before)), w, input_precision="ieee")
    return acc


@triton.jit
def _combine(
    label_ptr, transition_ptr, y_ptr, cost_ptr, length_ptr, top_ptr, sweep_ptr, shift_ptr,
    value_ptr, label_grad_ptr, transition_grad_ptr,
    batch, L, K, stride_b, stride_t, stride_k, stride_table, scale_high, scale_low,
    margin_high, margin_low, directions,
    COST: tl.constexpr, BLOCK: tl.constexpr, T: tl.constexpr, ACC: tl.constexpr,
    DOT: tl.constexpr,
):  # fmt: skip
    """The gradient of one sequence: marginals, with COST less those of the clamped one."""
    b = tl.program_id(0)
    n, _ = length_of(length_ptr, b, L)
    scale = number(scale_high, scale_low, ACC)
    margin = number(margin_high, margin_low, ACC)
    top = tl.load(top_ptr).to(ACC) * scale
    label_ptr += b.to(tl.int64) * stride_b
    y_ptr += b.to(tl.int64) * L
    table_ptr = transition_ptr + b.to(tl.int64) * stride_table
    k1 = tl.arange(0, BLOCK)
    square = (k1[:, None] < K) & (k1[None, :] < K)
    where = k1[:, None] * K + k1[None, :]
    table = tl.load(table_ptr + where, mask=square, other=float("-inf")).to(ACC)
    table = tl.exp2(table * scale - top)
    acc = tl.zeros((BLOCK, BLOCK), dtype=ACC)
    k = k1[None, :]
    place = b.to(tl.int64) * L
    for begin in range(0, L, T):
        t = begin + tl.arange(0, T)[:, None]
        valid = (t < n) & (k < K)
        p, logs = _marginals_at(
            label_ptr, y_ptr, cost_ptr, sweep_ptr + place * K, shift_ptr + place, t, k, valid,
            False, K, L, directions, stride_t, stride_k, scale, margin, COST, ACC,
        )  # fmt: skip
        if begin < n:
            acc = _transitions(p, logs, sweep_ptr + place * K, table_ptr, t, k, k1, table, n, K,
                               top, scale, acc, T, ACC, DOT)  # fmt: skip
        if COST > 0:
            other = place + batch.to(tl.int64) * L
            q, logs = _marginals_at(
                label_ptr, y_ptr, cost_ptr, sweep_ptr + other * K, shift_ptr + other, t, k, valid,
                True, K, L, directions, stride_t, stride_k, scale, margin, COST, ACC,
            )  # fmt: skip
            if begin < n:
                acc = -acc
                acc = _transitions(q, logs, sweep_ptr + other * K, table_ptr, t, k, k1, table, n,
                                   K, top, scale, acc, T, ACC, DOT)  # fmt: skip
                acc = -acc
            p -= q
        tl.store(label_grad_ptr + (place + t) * K + k, p, mask=(t < L) & (k < K))
    tl.store(transition_grad_ptr + b.to(tl.int64) * K * K + where, acc, mask=square)


def _table_top(transition: torch.Tensor) -> torch.Tensor:
    """Return the largest finite transition, 0 where all are −∞: one number on the device."""
    top = transition.amax().to(accumulator_dtype(transition))
    return torch.where(torch.isfinite(top), top, torch.zeros_like(top))


def _run(
    label: torch.Tensor,
    transition: torch.Tensor,
    start: torch.Tensor,
    end: torch.Tensor,
    lengths: torch.Tensor,
    temperature: float,
    y: torch.Tensor | None,
    margin: float,
    cost: torch.Tensor | None,
    gradient: bool,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    batch, L, K = label.shape
    dtype, acc = accumulator_dtype(label), accumulator(label)
    transition, start, end = transition.contiguous(), start.contiguous(), end.contiguous()
    mode = 0 if y is None else 1 if cost is None else 2
    rows = batch if y is None else 2 * batch
    y_or_any = lengths if y is None else y.contiguous()
    cost_or_any = transition if cost is None else cost.contiguous()
    top = _table_top(transition)
    per_example = K * K if transition.dim() == 3 else 0
    new = label.new_empty
    value = new(rows, dtype=torch.float64)
    sweeps = new((2, rows, L, K), dtype=dtype)
    shifts = new((2, rows, L), dtype=dtype)
    block = block_of(K)
    wide = 2 if dtype == torch.float64 else 1
    common = (batch, L, K, *label.stride(), per_example, *halves(LOG2E / temperature),
              *halves(margin))  # fmt: skip
    _sweep[(rows, 2 if gradient else 1)](
        label, transition, start, end, y_or_any, cost_or_any, lengths, top, sweeps, shifts, value,
        *common, COST=mode, BLOCK=block, ACC=acc, num_warps=warps_of(block * block * wide),
    )  # fmt: skip
    if not gradient:
        return value, new(0), new(0)
    label_grad = new((batch, L, K), dtype=dtype)
    transition_grad = new((batch, K, K), dtype=dtype)
    tile = 64 if block <= 64 else 32 if block <= 128 else 16
    _combine[(batch,)](
        label, transition, y_or_any, cost_or_any, lengths, top, sweeps, shifts, value, label_grad,
        transition_grad, *common, rows, COST=mode, BLOCK=block, T=tile, ACC=acc,
        DOT=dtype == torch.float32, num_warps=max(4, warps_of(block * block * wide, 32)),
    )  # fmt: skip
    return value, label_grad, transition_grad


def chain_infer(
    label: torch.Tensor,
    transition: torch.Tensor,
    start: torch.Tensor,
    end: torch.Tensor,
    lengths: torch.Tensor,
    temperature: float,
    gradient: bool = True,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return ε log Σ exp(score/ε) of each sequence, and its gradient by label and transition.

    Parameters
    ----------
    label : (B, L, K)
    transition : (K, K) or (B, K, K)
    start, end : (K,)
    lengths : (B,) int
    temperature : float
        Above 0.
    gradient : bool
        Whether the gradient is needed; without it the other two tensors are empty.
    """
    return _run(label, transition, start, end, lengths, temperature, None, 0.0, None, gradient)


def chain_loss(
    label: torch.Tensor,
    transition: torch.Tensor,
    start: torch.Tensor,
    end: torch.Tensor,
    lengths: torch.Tensor,
    y: torch.Tensor,
    temperature: float,
    margin: float = 0.0,
    cost: torch.Tensor | None = None,
    gradient: bool = True,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the loss of each sequence for the gold labels y (B, L), and its gradient.

    Labels below 0 are unknown. ``cost`` is a (K, K) table δ(gold, predicted); None: Hamming.
    """
    value, label_grad, transition_grad = _run(
        label, transition, start, end, lengths, temperature, y, margin, cost, gradient
    )
    batch = label.shape[0]
    return value[:batch] - value[batch:], label_grad, transition_grad
