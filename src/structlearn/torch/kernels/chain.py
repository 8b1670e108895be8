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
product, and into the transitions' gradient, by matrix products over blocks of positions: nothing
of size batch × length × labels² exists. What is normalised here is right however large the scores,
since shifts have no part in it.
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
            row = tl.load(cost_ptr + y * K + k, mask=valid & (y >= 0) & (y < K), other=0.0).to(ACC)
            u += tl.where(clamp, tl.where(wrong, float("-inf"), 0.0), margin * row)
    return u * scale


@triton.jit
def _fetch(label_ptr, y_ptr, t, k, valid, K, COST: tl.constexpr):
    """The label scores of position t as they are in memory, and its gold label.

    A label that is out of range is K, which none equals: the loss is then infinite.
    """
    u = tl.load(label_ptr + t * K + k, mask=valid, other=float("-inf"))
    if COST > 0:
        y = tl.load(y_ptr + t + k * 0, mask=valid, other=-1)
        y = tl.minimum(tl.maximum(y, -1), K).to(tl.int32)
    else:
        y = k
    return u, y


@triton.jit
def _exponentials(ptr, mask, scale, ACC: tl.constexpr):
    """The transitions' exponentials, the largest 1, and the logarithm that was taken off."""
    table = tl.load(ptr, mask=mask, other=float("-inf")).to(ACC) * scale
    top = tl.max(tl.max(table, axis=1), axis=0)
    top = tl.where((top > float("-inf")) & (top < float("inf")), top, 0.0)
    return tl.exp2(table - top), top


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
    label_ptr, y_ptr, cost_ptr, sweep_ptr, table, table_ptr, first, at, step, n, clamp,
    K, top, scale, margin,
    CAREFUL: tl.constexpr, COST: tl.constexpr, BLOCK: tl.constexpr, ACC: tl.constexpr,
):  # fmt: skip
    """Sweep over all positions: the last vector, the sum of shifts, and where sums were small."""
    k = tl.arange(0, BLOCK)
    inside = k < K
    row = tl.where(step < 0, 1, K)
    offset = k[:, None] * row + k[None, :] * (K + 1 - row)
    both = inside[:, None] & inside[None, :]
    lost = k * 0
    u, y = _fetch(label_ptr, y_ptr, at, k, inside & (n > 0), K, COST)
    a = first + _prepare(u, y, cost_ptr, k, inside, clamp, K, scale, margin, COST, ACC)
    shift = finite_max(a, 0)
    a -= shift
    total = shift.to(tl.float64)
    tl.store(sweep_ptr + at * K + k, a, mask=inside & (n > 0))
    # The scores of two positions are fetched while the two before them are worked on.
    u0, y0 = _fetch(label_ptr, y_ptr, at + step, k, inside & (n > 1), K, COST)
    u1, y1 = _fetch(label_ptr, y_ptr, at + 2 * step, k, inside & (n > 2), K, COST)
    for t in range(1, n - 1, 2):
        next0, gold0 = _fetch(label_ptr, y_ptr, at + 3 * step, k, inside & (t + 2 < n),
                              K, COST)  # fmt: skip
        next1, gold1 = _fetch(label_ptr, y_ptr, at + 4 * step, k, inside & (t + 3 < n),
                              K, COST)  # fmt: skip
        u = _prepare(u0, y0, cost_ptr, k, inside, clamp, K, scale, margin, COST, ACC)
        a, shift, lost = _step(a, u, lost, table, table_ptr, offset, both, top, scale, CAREFUL, ACC)
        total += (shift + top).to(tl.float64)
        tl.store(sweep_ptr + (at + step) * K + k, a, mask=inside)
        u = _prepare(u1, y1, cost_ptr, k, inside, clamp, K, scale, margin, COST, ACC)
        a, shift, lost = _step(a, u, lost, table, table_ptr, offset, both, top, scale, CAREFUL, ACC)
        total += (shift + top).to(tl.float64)
        tl.store(sweep_ptr + (at + 2 * step) * K + k, a, mask=inside)
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
    return a, total, lost


@triton.jit(do_not_specialize=["batch", "L"])
def _sweep(
    label_ptr, transition_ptr, start_ptr, end_ptr, y_ptr, cost_ptr, length_ptr,
    sweep_ptr, value_ptr,
    batch, L, K, stride_table, scale_high, scale_low,
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
    label_ptr += b.to(tl.int64) * L * K
    y_ptr += b.to(tl.int64) * L
    table_ptr = transition_ptr + b.to(tl.int64) * stride_table
    step = tl.where(backward == 1, -1, 1)
    at = tl.where(backward == 1, n - 1, 0)
    row = tl.where(backward == 1, 1, K)
    offset = k[:, None] * row + k[None, :] * (K + 1 - row)
    both = inside[:, None] & inside[None, :]
    table, top = _exponentials(table_ptr + offset, both, scale, ACC)
    place = (backward * tl.num_programs(0) + program).to(tl.int64) * L
    sweep_ptr += place * K
    if backward == 1:
        first = tl.load(end_ptr + k, mask=inside, other=float("-inf")).to(ACC) * scale
    else:
        first = tl.load(start_ptr + k, mask=inside, other=float("-inf")).to(ACC) * scale
    a, total, lost = _walk(
        label_ptr, y_ptr, cost_ptr, sweep_ptr, table, table_ptr, first, at, step, n,
        clamp, K, top, scale, margin, False, COST, BLOCK, ACC,
    )  # fmt: skip
    if tl.max(lost, axis=0) > 0:
        a, total, lost = _walk(
            label_ptr, y_ptr, cost_ptr, sweep_ptr, table, table_ptr, first, at, step, n,
            clamp, K, top, scale, margin, True, COST, BLOCK, ACC,
        )  # fmt: skip
    if backward == 0:
        a += tl.load(end_ptr + k, mask=inside, other=float("-inf")).to(ACC) * scale
        m = tl.max(a, axis=0)
        rest = tl.log2(tl.sum(tl.exp2(a - tl.where(m == float("-inf"), 0.0, m)), axis=0))
        value = (total + (rest + m).to(tl.float64)) / scale.to(tl.float64)
        tl.store(value_ptr + program, value + bad)


@triton.jit
def _marginals_at(label_ptr, y_ptr, cost_ptr, sweep_ptr, t, k, valid, clamp, K, L, directions,
                  scale, margin, COST: tl.constexpr, ACC: tl.constexpr):  # fmt: skip
    """The label marginals of a block of positions."""
    where = t * K + k
    u, y = _fetch(label_ptr, y_ptr, t, k, valid, K, COST)
    u = _prepare(u, y, cost_ptr, k, valid, clamp, K, scale, margin, COST, ACC)
    ahead = tl.load(sweep_ptr + where, mask=valid, other=float("-inf"))
    behind = tl.load(sweep_ptr + directions * L * K + where, mask=valid, other=float("-inf"))
    legal = (u > float("-inf")) & (ahead > float("-inf")) & (behind > float("-inf"))
    x = tl.where(legal, ahead + behind - tl.where(legal, u, 0.0), float("-inf"))
    p = tl.exp2(x - finite_max(x, 1)[:, None])
    total = tl.sum(p, axis=1)
    return p / tl.where(total > 0, total, 1.0)[:, None]


@triton.jit
def _transitions(p, sweep_ptr, table_ptr, t, k, table, n, K, scale, acc,
                 T: tl.constexpr, ACC: tl.constexpr, DOT: tl.constexpr):  # fmt: skip
    """Add a block's expected transitions.

    Position t gives p[t, k] to the transitions into k, in proportion to the terms of its sum.
    """
    p = tl.where(t >= 1, p, 0.0)
    before = tl.load(
        sweep_ptr + (t - 1) * K + k, mask=(k < K) & (t >= 1) & (t < n), other=float("-inf")
    )
    exact = not DOT
    if DOT:
        a = tl.exp2(before)
        sums = tl.dot(a, table, input_precision="ieee")
        small = (sums < _SMALL) & (p > 0)
        exact = tl.max(tl.max(small.to(tl.int32), axis=1), axis=0) > 0
    if exact:
        # One position at a time, with logarithms throughout.
        rows = tl.arange(0, T)
        k1 = tl.arange(0, table.shape[1])
        raw = tl.load(
            table_ptr + k1[:, None] * K + k1[None, :],
            mask=(k1[:, None] < K) & (k1[None, :] < K),
            other=float("-inf"),
        ).to(ACC)
        raw = raw * scale
        for r in range(T):
            here = rows[:, None] == r
            p_r = tl.sum(tl.where(here, p, 0.0), axis=0)
            before_r = tl.max(tl.where(here, before, float("-inf")), axis=0)
            x = before_r[:, None] + raw
            x = tl.exp2(x - finite_max(x, 0)[None, :])
            total = tl.sum(x, axis=0)
            acc += x * (p_r / tl.where(total > 0, total, 1.0))[None, :]
    elif DOT:
        w = p / tl.where(sums > 0, sums, 1.0)
        acc += table * tl.dot(tl.trans(a), w, input_precision="ieee")
    return acc


@triton.jit(do_not_specialize=["batch", "L", "directions"])
def _combine(
    label_ptr, transition_ptr, y_ptr, cost_ptr, length_ptr, sweep_ptr,
    value_ptr, loss_ptr, label_grad_ptr, transition_grad_ptr, start_grad_ptr, end_grad_ptr,
    batch, L, K, stride_table, scale_high, scale_low,
    margin_high, margin_low, directions,
    COST: tl.constexpr, BLOCK: tl.constexpr, T: tl.constexpr, ACC: tl.constexpr,
    DOT: tl.constexpr,
):  # fmt: skip
    """The gradient of one sequence: marginals, with COST less those of the clamped one."""
    b = tl.program_id(0)
    n, _ = length_of(length_ptr, b, L)
    scale = number(scale_high, scale_low, ACC)
    margin = number(margin_high, margin_low, ACC)
    label_ptr += b.to(tl.int64) * L * K
    y_ptr += b.to(tl.int64) * L
    table_ptr = transition_ptr + b.to(tl.int64) * stride_table
    k1 = tl.arange(0, BLOCK)
    square = (k1[:, None] < K) & (k1[None, :] < K)
    where = k1[:, None] * K + k1[None, :]
    table, _ = _exponentials(table_ptr + where, square, scale, ACC)
    acc = tl.zeros((BLOCK, BLOCK), dtype=ACC)
    k = k1[None, :]
    place = b.to(tl.int64) * L
    for begin in range(0, L, T):
        t = begin + tl.arange(0, T)[:, None]
        valid = (t < n) & (k < K)
        p = _marginals_at(
            label_ptr, y_ptr, cost_ptr, sweep_ptr + place * K, t, k, valid,
            False, K, L, directions, scale, margin, COST, ACC,
        )  # fmt: skip
        if begin < n:
            acc = _transitions(p, sweep_ptr + place * K, table_ptr, t, k, table, n, K, scale,
                               acc, T, ACC, DOT)  # fmt: skip
        if COST > 0:
            other = place + batch.to(tl.int64) * L
            q = _marginals_at(
                label_ptr, y_ptr, cost_ptr, sweep_ptr + other * K, t, k, valid,
                True, K, L, directions, scale, margin, COST, ACC,
            )  # fmt: skip
            if begin < n:
                acc = -acc
                acc = _transitions(q, sweep_ptr + other * K, table_ptr, t, k, table, n, K,
                                   scale, acc, T, ACC, DOT)  # fmt: skip
                acc = -acc
            p -= q
        tl.store(label_grad_ptr + (place + t) * K + k, p, mask=(t < L) & (k < K))
        side = b.to(tl.int64) * K + k + t * 0
        tl.store(start_grad_ptr + side, p, mask=(t == 0) & (k < K))
        tl.store(end_grad_ptr + side, p, mask=(t == tl.maximum(n, 1) - 1) & (k < K))
    tl.store(transition_grad_ptr + b.to(tl.int64) * K * K + where, acc, mask=square)
    if COST > 0:
        value = tl.load(value_ptr + b) - tl.load(value_ptr + batch + b)
        tl.store(loss_ptr + b, value)


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
) -> tuple[torch.Tensor, ...]:
    batch, L, K = label.shape
    dtype, acc = accumulator_dtype(label), accumulator(label)
    label, transition = label.contiguous(), transition.contiguous()
    start, end = start.contiguous(), end.contiguous()
    mode = 0 if y is None else 1 if cost is None else 2
    rows = batch if y is None else 2 * batch
    y_or_any = lengths if y is None else y.contiguous()
    cost_or_any = transition if cost is None else cost.contiguous()
    new = label.new_empty
    value = new(rows, dtype=torch.float64)
    sweeps = new((2, rows, L, K), dtype=dtype)
    block = block_of(K)
    wide = 2 if dtype == torch.float64 else 1
    common = (batch, L, K, K * K if transition.dim() == 3 else 0,
              *halves(LOG2E / temperature), *halves(margin))  # fmt: skip
    _sweep[(rows, 2 if gradient else 1)](
        label, transition, start, end, y_or_any, cost_or_any, lengths, sweeps, value,
        *common, COST=mode, BLOCK=block, ACC=acc, num_warps=warps_of(block * block * wide),
    )  # fmt: skip
    if not gradient:
        return (value if y is None else value[:batch] - value[batch:],)
    loss = value if y is None else new(batch, dtype=torch.float64)
    grads = [new(shape, dtype=dtype) for shape in ((batch, L, K), (batch, K, K))]
    grads += new((2, batch, K), dtype=dtype).unbind(0)
    tile = 64 if block <= 64 else 32 if block <= 128 else 16
    _combine[(batch,)](
        label, transition, y_or_any, cost_or_any, lengths, sweeps, value, loss, *grads,
        *common, rows, COST=mode, BLOCK=block, T=tile, ACC=acc, DOT=dtype == torch.float32,
        num_warps=max(4, warps_of(block * block * wide, 32)),
    )  # fmt: skip
    return (loss, *grads)


def chain_infer(
    label: torch.Tensor,
    transition: torch.Tensor,
    start: torch.Tensor,
    end: torch.Tensor,
    lengths: torch.Tensor,
    temperature: float,
    gradient: bool = True,
) -> tuple[torch.Tensor, ...]:
    """Return ε log Σ exp(score/ε) of each sequence, and its gradient by block.

    Parameters
    ----------
    label : (B, L, K)
    transition : (K, K) or (B, K, K)
    start, end : (K,)
    lengths : (B,) int
    temperature : float
        Above 0.
    gradient : bool
        Whether the gradient is needed; without it the value is all that is returned.

    Returns
    -------
    value : (B,)
    label, transition, start, end : (B, L, K), (B, K, K), (B, K), (B, K)
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
) -> tuple[torch.Tensor, ...]:
    """Return the loss of each sequence for the gold labels y (B, L), and its gradient.

    Labels below 0 are unknown; one that is out of range makes the loss infinite. ``cost`` is a
    (K, K) table δ(gold, predicted); None: Hamming.
    """
    return _run(label, transition, start, end, lengths, temperature, y, margin, cost, gradient)
