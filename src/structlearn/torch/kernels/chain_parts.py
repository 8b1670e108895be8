"""Gradients of chains; see :mod:`~structlearn.torch.kernels.chain`."""

from __future__ import annotations

import triton
import triton.language as tl

from .chain_sweeps import KNOWN, SMALL, exponentials, fetch, prepare
from .common import finite_max, length_of, number


@triton.jit
def _products_at(label_ptr, y_ptr, cost_ptr, sweep_ptr, t, k, valid, clamp, K, L, directions,
                 scale, margin, COST: tl.constexpr, ACC: tl.constexpr):  # fmt: skip
    """Unnormalised logarithms of the label marginals of a block of positions."""
    where = t * K + k
    u, y = fetch(label_ptr, y_ptr, t, k, valid, K, COST)
    u = prepare(u, y, cost_ptr, k, valid, clamp, K, scale, margin, COST, ACC)
    ahead = tl.load(sweep_ptr + where, mask=valid, other=float("-inf"))
    behind = tl.load(sweep_ptr + directions * L * K + where, mask=valid, other=float("-inf"))
    legal = (u > float("-inf")) & (ahead > float("-inf")) & (behind > float("-inf"))
    return tl.where(legal, ahead + behind - tl.where(legal, u, 0.0), float("-inf"))


@triton.jit
def _before(sweep_ptr, t, k, n, K):
    """The forward vectors of the positions before those of a block."""
    mask = (k < K) & (t >= 1) & (t < n)
    return tl.load(sweep_ptr + (t - 1) * K + k, mask=mask, other=float("-inf"))


@triton.jit
def _transitions(p, before, table):
    """A block's expected transitions into some labels, and whether a sum may have lost terms.

    Position t gives p[t, c] to the transitions into c, in proportion to the terms of its sum.
    """
    a = tl.exp2(before)
    sums = tl.dot(a, table, input_precision="tf32x3")
    small = (sums < SMALL) & (p > 0)
    w = p / tl.where(sums > 0, sums, 1.0)
    counts = table * tl.dot(tl.trans(a), w, input_precision="tf32x3")
    return counts, tl.max(tl.max(small.to(tl.int32), axis=1), axis=0)


@triton.jit
def _careful_transitions(p, before, raw, T: tl.constexpr, ACC: tl.constexpr):
    """The same, one position at a time and in logarithms throughout."""
    counts = tl.zeros(raw.shape, ACC)
    rows = tl.arange(0, T)
    for r in range(T):
        here = rows[:, None] == r
        p_r = tl.sum(tl.where(here, p, 0.0), axis=0)
        before_r = tl.max(tl.where(here, before, float("-inf")), axis=0)
        x = before_r[:, None] + raw
        x = tl.exp2(x - finite_max(x, 0)[None, :])
        total = tl.sum(x, axis=0)
        counts += x * (p_r / tl.where(total > 0, total, 1.0))[None, :]
    return counts


@triton.jit(do_not_specialize=["batch", "L", "directions"])
def combine(
    label_ptr, transition_ptr, y_ptr, cost_ptr, length_ptr, sweep_ptr, state_ptr, again_ptr,
    value_ptr, loss_ptr, label_grad_ptr, transition_grad_ptr, start_grad_ptr, end_grad_ptr,
    batch, L, K, tables, scale_high, scale_low, margin_high, margin_low, directions,
    CAREFUL: tl.constexpr, COST: tl.constexpr, BLOCK: tl.constexpr, COLUMNS: tl.constexpr,
    T: tl.constexpr, ACC: tl.constexpr,
):  # fmt: skip
    """The gradient of one sequence with respect to some labels and the transitions into them.

    With COST, the gradient of the clamped sequence is subtracted.
    """
    b = tl.program_id(0).to(tl.int64)
    again_ptr += b * tl.num_programs(1) + tl.program_id(1)
    if CAREFUL and ACC == tl.float32:
        if tl.load(again_ptr) == 0:
            return
    n, _ = length_of(length_ptr, b, L)
    scale = number(scale_high, scale_low, ACC)
    margin = number(margin_high, margin_low, ACC)
    label_ptr += b * L * K
    y_ptr += b * L
    k1 = tl.arange(0, BLOCK)
    c1 = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    square = (k1[:, None] < K) & (c1[None, :] < K)
    where = k1[:, None] * K + c1[None, :]
    table_ptr = transition_ptr + (b % tables) * K * K
    if CAREFUL:
        table = tl.load(table_ptr + where, mask=square, other=float("-inf")).to(ACC) * scale
    else:
        table, _ = exponentials(table_ptr + where, square, scale, ACC)
    acc = tl.zeros((BLOCK, COLUMNS), dtype=ACC)
    again = 0
    k = k1[None, :]
    c = c1[None, :]
    sequences = 1
    if COST > 0:
        if tl.load(state_ptr + batch + b) != KNOWN:
            sequences = 2
    for begin in range(0, L, T):
        t = begin + tl.arange(0, T)[:, None]
        valid = (t < n) & (c < K)
        grad = tl.zeros((T, COLUMNS), dtype=ACC)
        if begin < n:
            for clamp in range(0, sequences):
                at_ptr = sweep_ptr + (clamp * batch + b) * L * K
                x = _products_at(
                    label_ptr, y_ptr, cost_ptr, at_ptr, t, k, (t < n) & (k < K), clamp == 1, K, L,
                    directions, scale, margin, COST, ACC,
                )  # fmt: skip
                m = finite_max(x, 1)
                total = tl.sum(tl.exp2(x - m[:, None]), axis=1)
                if COLUMNS < BLOCK:
                    x = _products_at(
                        label_ptr, y_ptr, cost_ptr, at_ptr, t, c, valid, clamp == 1,
                        K, L, directions, scale, margin, COST, ACC,
                    )  # fmt: skip
                p = tl.exp2(x - m[:, None]) / tl.where(total > 0, total, 1.0)[:, None]
                sign = 1.0 - 2.0 * clamp
                grad += sign * p
                p = tl.where(t >= 1, p, 0.0)
                before = _before(at_ptr, t, k, n, K)
                if CAREFUL:
                    acc += sign * _careful_transitions(p, before, table, T, ACC)
                else:
                    counts, small = _transitions(p, before, table)
                    acc += sign * counts
                    again = again | small
            if COST > 0:
                if sequences == 1:
                    # The gold output is unique: count its parts.
                    y = tl.load(y_ptr + t, mask=t < n, other=-1)
                    grad -= tl.where((c == y) & valid, 1.0, 0.0)
                    to = ((c == y) & valid & (t >= 1)).to(tl.float32)
                    y = tl.load(y_ptr + t - 1, mask=(t >= 1) & (t < n), other=-1)
                    come = (k == y).to(tl.float32)
                    acc -= tl.dot(tl.trans(come), to, input_precision="tf32").to(ACC)
        tl.store(label_grad_ptr + (b * L + t) * K + c, grad, mask=(t < L) & (c < K))
        side = b * K + c + t * 0
        tl.store(start_grad_ptr + side, grad, mask=(t == 0) & (c < K))
        tl.store(end_grad_ptr + side, grad, mask=(t == tl.maximum(n, 1) - 1) & (c < K))
    tl.store(transition_grad_ptr + b * K * K + where, acc, mask=square)
    if not CAREFUL:
        tl.store(again_ptr, again)
    if COST > 0:
        value = tl.load(value_ptr + b) - tl.load(value_ptr + batch + b)
        tl.store(loss_ptr + b, value)
