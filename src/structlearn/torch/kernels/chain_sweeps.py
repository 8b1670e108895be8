"""Sweeps of chains; see :mod:`~structlearn.torch.kernels.chain`."""

from __future__ import annotations

import triton
import triton.language as tl

from .common import finite_max, length_of, number

#: Sums below this may have lost terms; larger ones are accurate to float32's precision.
SMALL = tl.constexpr(1e-28)

#: An unknown label.
_UNKNOWN = tl.constexpr(-100)

#: States of a sweep.
_DONE, _AGAIN, KNOWN = tl.constexpr(0), tl.constexpr(1), tl.constexpr(2)


@triton.jit
def prepare(u, y, cost_ptr, k, valid, clamp, K, scale, margin,
             COST: tl.constexpr, ACC: tl.constexpr):  # fmt: skip
    """Label scores with the margin's cost added, or clamped to the gold label."""
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
def fetch(label_ptr, y_ptr, t, k, valid, K, COST: tl.constexpr):
    """The raw label scores of position t, and its gold label.

    A label out of range becomes K, which matches no label: the loss is then infinite.
    """
    u = tl.load(label_ptr + t * K + k, mask=valid, other=float("-inf"))
    if COST > 0:
        y = tl.load(y_ptr + t + k * 0, mask=valid, other=_UNKNOWN)
        y = tl.where(y == _UNKNOWN, -1, tl.where((y >= 0) & (y < K), y, K)).to(tl.int32)
    else:
        y = k
    return u, y


@triton.jit
def exponentials(ptr, mask, scale, ACC: tl.constexpr):
    """Exponentials of the transitions, scaled to a maximum of 1, and the logarithm subtracted."""
    table = tl.load(ptr, mask=mask, other=float("-inf")).to(ACC) * scale
    top = tl.max(tl.max(table, axis=1), axis=0)
    top = tl.where((top > float("-inf")) & (top < float("inf")), top, 0.0)
    # Product and difference are rounded together, so the largest score minus itself may be above
    # 0: for scores of 1e12 in float32 by thousands, whose exponential is infinite.
    return tl.exp2(tl.minimum(table - top, 0.0)), top


@triton.jit
def _step(a, u, lost, table, table_ptr, offset, valid, top, scale,
          CAREFUL: tl.constexpr, ACC: tl.constexpr):  # fmt: skip
    """One step of a sweep, from shifted logarithms to shifted logarithms and the shift."""
    sums = tl.sum(tl.exp2(a)[:, None] * table, axis=0)
    small = (sums < SMALL) & (u > float("-inf"))
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
    """Sweep over all positions; return the last vector, the sum of shifts, and small sums."""
    k = tl.arange(0, BLOCK)
    inside = k < K
    offset = k[:, None] * K + k[None, :]
    both = inside[:, None] & inside[None, :]
    lost = k * 0
    u0, y0 = fetch(label_ptr, y_ptr, at, k, inside & (n > 0), K, COST)
    a = first + prepare(u0, y0, cost_ptr, k, inside, clamp, K, scale, margin, COST, ACC)
    shift = finite_max(a, 0)
    a -= shift
    total = shift.to(tl.float64)
    tl.store(sweep_ptr + at * K + k, a, mask=inside & (n > 0))
    # Prefetch two positions ahead.
    u0, y0 = fetch(label_ptr, y_ptr, at + step, k, inside & (n > 1), K, COST)
    u1, y1 = fetch(label_ptr, y_ptr, at + 2 * step, k, inside & (n > 2), K, COST)
    for t in range(1, n - 1, 2):
        next0, gold0 = fetch(label_ptr, y_ptr, at + 3 * step, k, inside & (t + 2 < n),
                              K, COST)  # fmt: skip
        next1, gold1 = fetch(label_ptr, y_ptr, at + 4 * step, k, inside & (t + 3 < n),
                              K, COST)  # fmt: skip
        u = prepare(u0, y0, cost_ptr, k, inside, clamp, K, scale, margin, COST, ACC)
        a, shift, lost = _step(a, u, lost, table, table_ptr, offset, both, top, scale, CAREFUL, ACC)
        total += (shift + top).to(tl.float64)
        tl.store(sweep_ptr + (at + step) * K + k, a, mask=inside)
        u = prepare(u1, y1, cost_ptr, k, inside, clamp, K, scale, margin, COST, ACC)
        a, shift, lost = _step(a, u, lost, table, table_ptr, offset, both, top, scale, CAREFUL, ACC)
        total += (shift + top).to(tl.float64)
        tl.store(sweep_ptr + (at + 2 * step) * K + k, a, mask=inside)
        at += 2 * step
        u0 = next0
        u1 = next1
        y0 = gold0
        y1 = gold1
    if (n > 1) & (n % 2 == 0):
        u = prepare(u0, y0, cost_ptr, k, inside, clamp, K, scale, margin, COST, ACC)
        a, shift, lost = _step(a, u, lost, table, table_ptr, offset, both, top, scale, CAREFUL, ACC)
        total += (shift + top).to(tl.float64)
        tl.store(sweep_ptr + (at + step) * K + k, a, mask=inside)
    return a, total, lost


@triton.jit
def _gold(label_ptr, table_ptr, start_ptr, end_ptr, y_ptr, n, K, T: tl.constexpr):
    """Whether all gold labels are known, and their score; −∞ if one is out of range."""
    known = n >= 0
    score = tl.full((), 0.0, tl.float64)
    for begin in range(0, n, T):
        t = begin + tl.arange(0, T)
        y = tl.load(y_ptr + t, mask=t < n, other=0)
        legal = (t < n) & (y >= 0) & (y < K)
        known = known & (tl.max((y == _UNKNOWN).to(tl.int32), axis=0) == 0)
        before = tl.load(y_ptr + t - 1, mask=(t > 0) & (t < n), other=-1)
        pair = legal & (before >= 0) & (before < K)
        u = tl.load(label_ptr + t * K + y, mask=legal, other=float("-inf")).to(tl.float64)
        u += tl.load(table_ptr + before * K + y, mask=pair, other=0.0).to(tl.float64)
        u += tl.load(start_ptr + y, mask=legal & (t == 0), other=0.0).to(tl.float64)
        u += tl.load(end_ptr + y, mask=legal & (t == n - 1), other=0.0).to(tl.float64)
        score += tl.sum(tl.where(t < n, u, 0.0), axis=0)
    return known, score


@triton.jit(do_not_specialize=["batch", "L"])
def sweep(
    label_ptr, transition_ptr, start_ptr, end_ptr, y_ptr, cost_ptr, length_ptr,
    sweep_ptr, state_ptr, value_ptr,
    batch, L, K, tables, scale_high, scale_low, margin_high, margin_low,
    CAREFUL: tl.constexpr, COST: tl.constexpr, BLOCK: tl.constexpr, ACC: tl.constexpr,
):  # fmt: skip
    """Sweep one sequence in one direction. With COST, sequences from `batch` on are clamped.

    Sets the state of the sweep: done, to be repeated with CAREFUL, or not needed.
    """
    program = tl.program_id(0)
    backward = tl.program_id(1)
    state_ptr += backward * tl.num_programs(0) + program
    if CAREFUL:
        if tl.load(state_ptr) != _AGAIN:
            return
    b = program % batch
    clamp = program >= batch
    n, bad = length_of(length_ptr, b, L)
    label_ptr += b.to(tl.int64) * L * K
    y_ptr += b.to(tl.int64) * L
    # Two tables, the second transposed: loads must run along the columns, so that each thread gets
    # its own column and sums need no shuffles.
    table_ptr = transition_ptr + (backward * tables + b % tables).to(tl.int64) * K * K
    if COST > 0 and not CAREFUL:
        if clamp:
            known, score = _gold(label_ptr, transition_ptr + (b % tables).to(tl.int64) * K * K,
                                 start_ptr, end_ptr, y_ptr, n, K, 64)  # fmt: skip
            if known:
                tl.store(state_ptr, KNOWN)
                tl.store(value_ptr + program, score + bad)
                return
    k = tl.arange(0, BLOCK)
    inside = k < K
    scale = number(scale_high, scale_low, ACC)
    margin = number(margin_high, margin_low, ACC)
    step = tl.where(backward == 1, -1, 1)
    at = tl.where(backward == 1, n - 1, 0)
    offset = k[:, None] * K + k[None, :]
    both = inside[:, None] & inside[None, :]
    table, top = exponentials(table_ptr + offset, both, scale, ACC)
    sweep_ptr += (backward * tl.num_programs(0) + program).to(tl.int64) * L * K
    if backward == 1:
        first = tl.load(end_ptr + k, mask=inside, other=float("-inf")).to(ACC) * scale
    else:
        first = tl.load(start_ptr + k, mask=inside, other=float("-inf")).to(ACC) * scale
    a, total, lost = _walk(
        label_ptr, y_ptr, cost_ptr, sweep_ptr, table, table_ptr, first, at, step, n,
        clamp, K, top, scale, margin, CAREFUL, COST, BLOCK, ACC,
    )  # fmt: skip
    tl.store(state_ptr, tl.where(tl.max(lost, axis=0) > 0, _AGAIN, _DONE))
    if backward == 0:
        a += tl.load(end_ptr + k, mask=inside, other=float("-inf")).to(ACC) * scale
        m = tl.max(a, axis=0)
        rest = tl.log2(tl.sum(tl.exp2(a - tl.where(m == float("-inf"), 0.0, m)), axis=0))
        value = (total + (rest + m).to(tl.float64)) / scale.to(tl.float64)
        value = tl.where(n == 0, 0.0, value)
        tl.store(value_ptr + program, value + bad)
