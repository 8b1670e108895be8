"""Labelled segmentations: sweeps in both directions side by side, then the parts.

A sweep goes over the n + 1 boundaries. At each boundary it has, for each label, the sum over all
prefixes that end there in a segment of that label (``near``), and, after a transition, the sum over
all prefixes that a segment of that label can follow (``far``). From there it adds to the boundaries
that segments reach, in a ring buffer with one row for each segment length. The other direction is
the same with segments read from their ends and transitions transposed.

Logarithms are base 2 and float64; exponentials of differences have the precision of the scores, at
least float32.
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
    halves,
    launch,
    length_of,
    number,
    share,
    warps_of,
)


@triton.jit
def _logs(ptr, where, mask, scale):
    return tl.load(ptr + where, mask=mask, other=float("-inf")).to(tl.float64) * scale


@triton.jit
def _segments_from(segment_ptr, x, n, backward, rows, k, M, K, ROWS: tl.constexpr):
    """The segments that start at boundary x, by the row they reach: lengths d, and scores."""
    p = tl.where(backward == 1, n - x, x)
    d = (rows - x - 1 + ROWS) & (ROWS - 1)
    d = tl.where(x + 1 + d <= n, d, M)[:, None]
    begin = tl.where(backward == 1, p - d - 1, p)
    mask = (d < M) & (k < K)[None, :]
    where = (begin * M + d) * K + k[None, :]
    return d, tl.load(segment_ptr + where, mask=mask, other=float("-inf"))


@triton.jit(do_not_specialize=["batch", "L"])
def _sweep(
    segment_ptr, transition_ptr, start_ptr, end_ptr, length_ptr, near_ptr, far_ptr, value_ptr,
    long_ptr, before_ptr, y_ptr,
    batch, L, M, K, stride_table, scale_high, scale_low,
    MAX: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr, ACC: tl.constexpr,
):  # fmt: skip
    b = tl.program_id(0).to(tl.int64)
    backward = tl.program_id(1)
    n, bad = length_of(length_ptr, b % batch, L)
    scale = number(scale_high, scale_low, tl.float64)
    k = tl.arange(0, BLOCK)
    inside = k < K
    rows = tl.arange(0, ROWS)
    segment_ptr += b * L * M * K
    row = tl.where(backward == 1, 1, K)
    table = _logs(
        transition_ptr + (b % batch) * stride_table,
        k[:, None] * row + k[None, :] * (K + 1 - row),
        inside[:, None] & inside[None, :],
        scale,
    )
    if backward == 1:
        far = _logs(end_ptr, k, inside, scale)
        last = _logs(start_ptr, k, inside, scale)
    else:
        far = _logs(start_ptr, k, inside, scale)
        last = _logs(end_ptr, k, inside, scale)
    place = (backward * tl.num_programs(0) + b) * (L + 1)
    near_ptr += place * K
    far_ptr += place * K
    long_ptr += b * (L + 1) * K
    before_ptr += b * (L + 1) * K
    ring = tl.full((ROWS, BLOCK), float("-inf"), tl.float64)
    long = tl.zeros((ROWS, BLOCK), tl.int32)
    near = tl.full((BLOCK,), float("-inf"), tl.float64)
    d, segment = _segments_from(segment_ptr, 0, n, backward, rows, k, M, K, ROWS)
    for x in range(0, n + 1):
        p = tl.where(backward == 1, n - x, x)
        # Prefetched one step ahead.
        next_d, next_segment = _segments_from(segment_ptr, x + 1, n, backward, rows, k, M, K, ROWS)
        here = rows[:, None] == (x & (ROWS - 1))
        if x > 0:
            near = tl.max(tl.where(here, ring, float("-inf")), axis=0)
            x2 = near[:, None] + table
            if MAX:
                length = tl.max(tl.where(here, long, 0), axis=0)
                tl.store(long_ptr + p * K + k, length.to(tl.int16), mask=inside)
                far, label = tl.max(
                    x2, axis=0, return_indices=True, return_indices_tie_break_left=True
                )
                tl.store(before_ptr + p * K + k, label.to(tl.uint8), mask=inside)
            else:
                m = tl.max(x2, axis=0)
                m = tl.where(m == float("-inf"), 0.0, m)
                far = tl.log2(tl.sum(tl.exp2((x2 - m[None, :]).to(ACC)), axis=0)).to(tl.float64) + m
            ring = tl.where(here, float("-inf"), ring)
        if not MAX:
            tl.store(near_ptr + p * K + k, near, mask=inside)
            tl.store(far_ptr + p * K + k, far, mask=inside)
        new = far[None, :] + segment.to(tl.float64) * scale
        if MAX:
            long = tl.where(new >= ring, d, long)  # ties go to the shortest, which comes last
            ring = tl.maximum(ring, new)
        else:
            m = tl.maximum(ring, new)
            low = tl.minimum(ring, new)
            gap = tl.where(low == float("-inf"), float("-inf"), low - m).to(ACC)
            ring = m + tl.log2(1.0 + tl.exp2(gap)).to(tl.float64)
        d = next_d
        segment = next_segment
    final = near + last
    if MAX:
        best, label = tl.max(final, axis=0, return_indices=True, return_indices_tie_break_left=True)
        tl.store(value_ptr + b, tl.where(n == 0, 0.0, best / scale) + bad)
        y_ptr += b * L
        tl.debug_barrier()
        e = n
        label = tl.minimum(label.to(tl.int32), K - 1)  # NaN may win at a column without a label
        while e > 0:
            size = tl.load(long_ptr + e * K + label).to(tl.int32) + 1
            e -= tl.maximum(size, 1)
            tl.store(y_ptr + e, label.to(tl.int64), mask=e >= 0)
            label = tl.load(before_ptr + e * K + label, mask=e > 0, other=0).to(tl.int32)
            label = tl.minimum(label, K - 1)
    elif backward == 0:
        m = tl.max(final, axis=0)
        safe = tl.where(m == float("-inf"), 0.0, m)
        value = tl.log2(tl.sum(tl.exp2((final - safe).to(ACC)), axis=0)).to(tl.float64) + m
        tl.store(value_ptr + b, tl.where(n == 0, 0.0, value) + bad)


@triton.jit(do_not_specialize=["batch", "L"])
def _combine(
    segment_ptr, transition_ptr, start_ptr, end_ptr, length_ptr, near_ptr, far_ptr, total_ptr,
    value_ptr, segment_grad_ptr, transition_grad_ptr, start_grad_ptr, end_grad_ptr,
    batch, L, M, K, stride_table, scale_high, scale_low,
    TIMES: tl.constexpr, TILE: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr,
    ACC: tl.constexpr,
):  # fmt: skip
    """Probabilities of the segments from one position; in the last program, of all other parts.

    With TIMES = 2 those of the clamped sequences, the second half, are subtracted.
    """
    b = tl.program_id(0).to(tl.int64)
    t = tl.program_id(1)
    n, _ = length_of(length_ptr, b, L)
    scale = number(scale_high, scale_low, tl.float64)
    k = tl.arange(0, BLOCK)
    inside = k < K
    if t < L:
        d = tl.arange(0, ROWS)[:, None]
        stored = (d < M) & inside[None, :]
        legal = stored & (t + d + 1 <= n)
        place = (t * M + d) * K + k[None, :]
        grad = tl.zeros((ROWS, BLOCK), ACC)
        for clamp in tl.static_range(TIMES):
            row = clamp * batch + b
            ahead = row * (L + 1) * K
            behind = ahead + TIMES * batch * (L + 1) * K
            x = _logs(segment_ptr, row * L * M * K + place, legal, scale)
            x += _logs(far_ptr, ahead + t * K + k[None, :], legal, 1.0)
            x += _logs(far_ptr, behind + (t + d + 1) * K + k[None, :], legal, 1.0)
            grad += (1 - 2 * clamp) * share(x, tl.load(total_ptr + row), ACC)
        tl.store(segment_grad_ptr + b * L * M * K + place, grad, mask=stored)
    else:
        square = inside[:, None] & inside[None, :]
        pair = k[:, None] * K + k[None, :]
        table = _logs(transition_ptr + b * stride_table, pair, square, scale)
        begin = _logs(start_ptr, k, inside, scale)
        finish = _logs(end_ptr, k, inside, scale)
        pairs = tl.zeros((BLOCK, BLOCK), ACC)
        first = tl.zeros((BLOCK,), ACC)
        last = tl.zeros((BLOCK,), ACC)
        value = tl.full((), 0.0, tl.float64)
        for clamp in tl.static_range(TIMES):
            row = clamp * batch + b
            sign = 1 - 2 * clamp
            ahead = row * (L + 1) * K
            behind = ahead + TIMES * batch * (L + 1) * K
            total = tl.load(total_ptr + row)
            value += sign * total
            for here in range(1, n, TILE):
                p = here + tl.arange(0, TILE)[:, None]
                fits = (p < n) & inside[None, :]
                ends = _logs(near_ptr, ahead + p * K + k[None, :], fits, 1.0)
                begins = _logs(near_ptr, behind + p * K + k[None, :], fits, 1.0)
                both = ends[:, :, None] + table[None, :, :] + begins[:, None, :]
                pairs += sign * tl.sum(share(both, total, ACC), axis=0)
            after = _logs(near_ptr, behind + k, inside, 1.0)
            first += sign * share(begin + after, total, ACC)
            before = _logs(near_ptr, ahead + n * K + k, inside, 1.0)
            last += sign * share(before + finish, total, ACC)
        tl.store(value_ptr + b, value / scale)
        tl.store(transition_grad_ptr + b * K * K + pair, pairs, mask=square)
        tl.store(start_grad_ptr + b * K + k, first, mask=inside)
        tl.store(end_grad_ptr + b * K + k, last, mask=inside)


def _run(
    segment: torch.Tensor,
    transition: torch.Tensor,
    start: torch.Tensor,
    end: torch.Tensor,
    lengths: torch.Tensor,
    temperature: float,
    times: int,
) -> tuple[torch.Tensor, ...]:
    rows, L, M, K = segment.shape
    batch = rows // times
    dtype, acc = accumulator_dtype(segment), accumulator(segment)
    segment, transition = segment.contiguous(), transition.contiguous()
    start, end = start.contiguous(), end.contiguous()
    new = segment.new_empty
    near, far = (new((2, rows, L + 1, K), dtype=torch.float64) for _ in range(2))
    total = new(rows, dtype=torch.float64)
    value = new(batch, dtype=torch.float64 if times == 1 else dtype)
    shapes = ((batch, L, M, K), (batch, K, K), (batch, K), (batch, K))
    grads = [new(shape, dtype=dtype) for shape in shapes]
    longest, block = block_of(M), block_of(K)
    sizes = (batch, L, M, K, K * K if transition.dim() == 3 else 0, *halves(LOG2E / temperature))
    options = {"num_warps": warps_of(max(longest * block, block * block), 32)}
    launch(
        _sweep, (rows, 2),
        segment, transition, start, end, lengths, near, far, total, lengths, lengths, lengths,
        *sizes, MAX=False, ROWS=longest, BLOCK=block, ACC=acc, options=options,
    )  # fmt: skip
    launch(
        _combine, (batch, L + 1),
        segment, transition, start, end, lengths, near, far, total, value, *grads, *sizes,
        TIMES=times, TILE=max(1, 2048 // (block * block)), ROWS=longest, BLOCK=block, ACC=acc,
        options=options,
    )  # fmt: skip
    return (value, *grads)


def segment_infer(
    segment: torch.Tensor,
    transition: torch.Tensor,
    start: torch.Tensor,
    end: torch.Tensor,
    lengths: torch.Tensor,
    temperature: float,
) -> tuple[torch.Tensor, ...]:
    """Return ε log Σ exp(score/ε) of each sequence, and its gradient by block.

    Parameters
    ----------
    segment : (B, L, M, K)
        ``segment[b, t, d, k]`` scores the segment of length d + 1 and label k that starts at t.
    transition : (K, K) or (B, K, K)
    start, end : (K,)
    lengths : (B,) int
    temperature : float
        Above 0.

    Returns
    -------
    value : (B,)
    segment, transition, start, end : (B, L, M, K), (B, K, K), (B, K), (B, K)
    """
    return _run(segment, transition, start, end, lengths, temperature, 1)


def segment_loss(
    segment: torch.Tensor,
    transition: torch.Tensor,
    start: torch.Tensor,
    end: torch.Tensor,
    lengths: torch.Tensor,
    temperature: float,
) -> tuple[torch.Tensor, ...]:
    """Return the values of the first half of the sequences minus the second, and the gradient.

    Arguments as for :func:`segment_infer`, with segment (2B, L, M, K): all outputs, then those that
    gold outputs allow (:func:`~structlearn.torch.kernels.clamps.clamped_segments`).
    """
    return _run(segment, transition, start, end, lengths, temperature, 2)


def segment_argmax(
    segment: torch.Tensor,
    transition: torch.Tensor,
    start: torch.Tensor,
    end: torch.Tensor,
    lengths: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the scores of the best segmentations, and the segmentations.

    They have the label at the start of a segment, −1 inside it, −100 beyond the length.
    """
    batch, L, M, K = segment.shape
    segment, transition = segment.contiguous(), transition.contiguous()
    inside = torch.arange(L, device=segment.device)[None, :] < lengths[:, None]
    y = torch.where(inside, -1, -100)
    value = segment.new_empty(batch, dtype=torch.float64)
    long = torch.empty((batch, L + 1, K), dtype=torch.int16, device=segment.device)
    before = torch.empty((batch, L + 1, K), dtype=torch.uint8, device=segment.device)
    rows, block = block_of(M), block_of(K)
    launch(
        _sweep, (batch, 1),
        segment, transition, start.contiguous(), end.contiguous(), lengths, value, value, value,
        long, before, y, batch, L, M, K, K * K if transition.dim() == 3 else 0, 1.0, 0.0,
        MAX=True, ROWS=rows, BLOCK=block, ACC=accumulator(segment),
        options={"num_warps": warps_of(max(rows * block, block * block), 32)},
    )  # fmt: skip
    return value, y
