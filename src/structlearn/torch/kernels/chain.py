"""Chains of order one: forward and backward sweeps side by side, then what they say of the parts.

A sweep carries one vector of logarithms (base 2, in units of the temperature), shifted so that its
largest entry is 0; the shifts are added up in float64. In direction 0 it holds, for each label of
position t, the sum over all beginnings that end in that label; in direction 1 the sum over all
ends that begin with it. Both include the label's own score, so that one loop serves both: the
second reads the positions from the last to the first and the transitions transposed.

A step multiplies the vector of exponentials by the table of exponentials, which stays in
registers. Where a sum comes out so small that products may have been lost (transitions of −∞ or
thousands apart), the sequence is done again with logarithms: the largest term of each column first.
That is a launch of its own, whose programs leave at once where there is nothing to do: it needs
registers that would slow down the usual case.

Gold labels that are all known need no sweep: their score is read off, and their parts are counted.

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
)

__all__ = ["MOST_LABELS", "chain_infer", "chain_loss"]

MOST_LABELS = 256

#: By block of labels: warps of a sweep; columns, positions and warps of the second kernel.
_SHAPES = {
    16: (1, 16, 64, 8),
    32: (1, 32, 32, 4),
    64: (2, 64, 32, 8),
    128: (8, 32, 16, 4),
    256: (16, 32, 16, 8),
}

#: Sums below this may have lost terms; those above it have not, to float32's precision.
_SMALL = tl.constexpr(1e-28)

#: States of a sweep.
_DONE, _AGAIN, _KNOWN = tl.constexpr(0), tl.constexpr(1), tl.constexpr(2)


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
    offset = k[:, None] * K + k[None, :]
    both = inside[:, None] & inside[None, :]
    lost = k * 0
    u0, y0 = _fetch(label_ptr, y_ptr, at, k, inside & (n > 0), K, COST)
    a = first + _prepare(u0, y0, cost_ptr, k, inside, clamp, K, scale, margin, COST, ACC)
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


@triton.jit
def _gold(label_ptr, table_ptr, start_ptr, end_ptr, y_ptr, n, K, T: tl.constexpr):
    """Whether all gold labels are known, and their score: −∞ where one is out of range."""
    known = n > 0
    score = tl.full((), 0.0, tl.float64)
    for begin in range(0, n, T):
        t = begin + tl.arange(0, T)
        y = tl.load(y_ptr + t, mask=t < n, other=0)
        legal = (t < n) & (y >= 0) & (y < K)
        known = known & (tl.min(y, axis=0) >= 0)
        before = tl.load(y_ptr + t - 1, mask=(t > 0) & (t < n), other=-1)
        pair = legal & (before >= 0) & (before < K)
        u = tl.load(label_ptr + t * K + y, mask=legal, other=float("-inf")).to(tl.float64)
        u += tl.load(table_ptr + before * K + y, mask=pair, other=0.0).to(tl.float64)
        u += tl.load(start_ptr + y, mask=legal & (t == 0), other=0.0).to(tl.float64)
        u += tl.load(end_ptr + y, mask=legal & (t == n - 1), other=0.0).to(tl.float64)
        score += tl.sum(tl.where(t < n, u, 0.0), axis=0)
    return known, score


@triton.jit(do_not_specialize=["batch", "L"])
def _sweep(
    label_ptr, transition_ptr, start_ptr, end_ptr, y_ptr, cost_ptr, length_ptr,
    sweep_ptr, state_ptr, value_ptr,
    batch, L, K, tables, scale_high, scale_low, margin_high, margin_low,
    CAREFUL: tl.constexpr, COST: tl.constexpr, BLOCK: tl.constexpr, ACC: tl.constexpr,
):  # fmt: skip
    """Sweep one sequence in one direction. With COST, sequences from `batch` on are clamped.

    Sets the state of a sweep: done, to be done again with CAREFUL, or not needed.
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
    # Two tables, the second transposed: a load must run along the columns, so that each thread gets
    # a column of its own and sums need no shuffles.
    table_ptr = transition_ptr + (backward * tables + b % tables).to(tl.int64) * K * K
    if COST > 0 and not CAREFUL:
        if clamp:
            known, score = _gold(label_ptr, transition_ptr + (b % tables).to(tl.int64) * K * K,
                                 start_ptr, end_ptr, y_ptr, n, K, 64)  # fmt: skip
            if known:
                tl.store(state_ptr, _KNOWN)
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
    table, top = _exponentials(table_ptr + offset, both, scale, ACC)
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
        tl.store(value_ptr + program, value + bad)


@triton.jit
def _products_at(label_ptr, y_ptr, cost_ptr, sweep_ptr, t, k, valid, clamp, K, L, directions,
                 scale, margin, COST: tl.constexpr, ACC: tl.constexpr):  # fmt: skip
    """Logarithms of the label marginals of a block of positions, not normalised."""
    where = t * K + k
    u, y = _fetch(label_ptr, y_ptr, t, k, valid, K, COST)
    u = _prepare(u, y, cost_ptr, k, valid, clamp, K, scale, margin, COST, ACC)
    ahead = tl.load(sweep_ptr + where, mask=valid, other=float("-inf"))
    behind = tl.load(sweep_ptr + directions * L * K + where, mask=valid, other=float("-inf"))
    legal = (u > float("-inf")) & (ahead > float("-inf")) & (behind > float("-inf"))
    return tl.where(legal, ahead + behind - tl.where(legal, u, 0.0), float("-inf"))


@triton.jit
def _before(sweep_ptr, t, k, n, K):
    """The forward vectors of the positions before a block's."""
    mask = (k < K) & (t >= 1) & (t < n)
    return tl.load(sweep_ptr + (t - 1) * K + k, mask=mask, other=float("-inf"))


@triton.jit
def _transitions(p, before, table):
    """A block's expected transitions into some labels, and whether a sum may have lost terms.

    Position t gives p[t, c] to the transitions into c, in proportion to the terms of its sum.
    """
    a = tl.exp2(before)
    sums = tl.dot(a, table, input_precision="tf32x3")
    small = (sums < _SMALL) & (p > 0)
    w = p / tl.where(sums > 0, sums, 1.0)
    counts = table * tl.dot(tl.trans(a), w, input_precision="tf32x3")
    return counts, tl.max(tl.max(small.to(tl.int32), axis=1), axis=0)


@triton.jit
def _careful_transitions(p, before, raw, T: tl.constexpr, ACC: tl.constexpr):
    """The same one position at a time, with logarithms throughout."""
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
def _combine(
    label_ptr, transition_ptr, y_ptr, cost_ptr, length_ptr, sweep_ptr, state_ptr, again_ptr,
    value_ptr, loss_ptr, label_grad_ptr, transition_grad_ptr, start_grad_ptr, end_grad_ptr,
    batch, L, K, tables, scale_high, scale_low, margin_high, margin_low, directions,
    CAREFUL: tl.constexpr, COST: tl.constexpr, BLOCK: tl.constexpr, COLUMNS: tl.constexpr,
    T: tl.constexpr, ACC: tl.constexpr,
):  # fmt: skip
    """The gradient of one sequence by some labels, and by the transitions into them.

    With COST it is less that of the clamped sequence.
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
        table, _ = _exponentials(table_ptr + where, square, scale, ACC)
    acc = tl.zeros((BLOCK, COLUMNS), dtype=ACC)
    again = 0
    k = k1[None, :]
    c = c1[None, :]
    sequences = 1
    if COST > 0:
        if tl.load(state_ptr + batch + b) != _KNOWN:
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
                    # One output is gold: its parts are counted.
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
    warps, columns, tile, combine_warps = _SHAPES[block]
    wide = 2 if dtype == torch.float64 else 1
    common = (batch, L, K, batch if transition.dim() == 3 else 1,
              *halves(LOG2E / temperature), *halves(margin))  # fmt: skip
    both_ways = torch.stack((transition, transition.mT)) if gradient else transition
    states = torch.empty((3, rows, 8), dtype=torch.int32, device=label.device)
    for careful in (False, True):
        _sweep[(rows, 2 if gradient else 1)](
            label, both_ways, start, end, y_or_any, cost_or_any, lengths, sweeps, states, value,
            *common, CAREFUL=careful, COST=mode, BLOCK=block, ACC=acc,
            num_warps=min(16, warps * wide),
        )  # fmt: skip
    if not gradient:
        return (value if y is None else value[:batch] - value[batch:],)
    loss = value if y is None else new(batch, dtype=torch.float64)
    grads = [new(shape, dtype=dtype) for shape in ((batch, L, K), (batch, K, K))]
    grads += new((2, batch, K), dtype=dtype).unbind(0)
    for careful in (True,) if dtype == torch.float64 else (False, True):
        _combine[(batch, triton.cdiv(K, columns))](
            label, transition, y_or_any, cost_or_any, lengths, sweeps, states, states[2], value,
            loss, *grads, *common, rows, CAREFUL=careful, COST=mode, BLOCK=block,
            COLUMNS=columns, T=tile, ACC=acc, num_warps=combine_warps * wide, num_stages=1,
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
