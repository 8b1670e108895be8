"""Doubled batches: the scores, then the same with −∞ for parts that gold outputs exclude.

The kernel that sums over all outputs then also sums over the compatible ones, in the same launch.
"""

from __future__ import annotations

import triton
import triton.language as tl

import torch

from .common import block_of, launch, length_of

#: Labels of unknown positions, and of positions inside a segment.
_UNKNOWN, _INSIDE = tl.constexpr(-100), tl.constexpr(-1)


@triton.jit(do_not_specialize=["batch", "L"])
def _segments(
    raised_ptr, segment_ptr, y_ptr, length_ptr, both_ptr, batch, L, M, K,
    ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """The segments that start at one position."""
    b = tl.program_id(0).to(tl.int64)
    t = tl.program_id(1)
    n, _ = length_of(length_ptr, b, L)
    d = tl.arange(0, ROWS)
    k = tl.arange(0, BLOCK)
    y_ptr += b * L + t
    gold = tl.load(y_ptr)
    # The label at the end of each segment, and the known starts before it.
    after = tl.load(y_ptr + 1 + d, mask=(t + 1 + d < n) & (d < M), other=_UNKNOWN)
    starts = (after >= 0).to(tl.int32)
    fits = (tl.cumsum(starts, axis=0) - starts == 0) & (after != _INSIDE) & (t + 1 + d <= n)
    allowed = fits[:, None] & ((gold == _UNKNOWN) | (k == gold))[None, :]
    where = ((b * L + t) * M + d[:, None]) * K + k[None, :]
    mask = (d < M)[:, None] & (k < K)[None, :]
    raised = tl.load(raised_ptr + where, mask=mask)
    x = tl.load(segment_ptr + where, mask=mask)
    tl.store(both_ptr + where, raised, mask=mask)
    x = tl.where(allowed, x, float("-inf"))
    tl.store(both_ptr + batch * L * M * K + where, x, mask=mask)


def clamped_segments(
    raised: torch.Tensor, segment: torch.Tensor, y: torch.Tensor, lengths: torch.Tensor
) -> torch.Tensor:
    """Return (2B, L, M, K): ``raised``, then ``segment`` as far as y (B, L) allows it."""
    batch, L, M, K = segment.shape
    both = raised.new_empty((2 * batch, L, M, K))
    launch(
        _segments, (batch, L),
        raised.contiguous(), segment.contiguous(), y.contiguous(), lengths, both, batch, L, M, K,
        ROWS=block_of(M), BLOCK=block_of(K), options={"num_warps": 1},
    )  # fmt: skip
    return both


@triton.jit(do_not_specialize=["batch", "N"])
def _arcs(
    raised_ptr, arc_ptr, y_ptr, length_ptr, both_ptr, lengths_ptr, batch, N,
    BLOCK: tl.constexpr,
):  # fmt: skip
    """The arcs from one node."""
    b = tl.program_id(0).to(tl.int64)
    h = tl.program_id(1)
    m = tl.arange(0, BLOCK)
    gold = tl.load(y_ptr + b * (N - 1) + m - 1, mask=(m > 0) & (m < N), other=_UNKNOWN)
    where = (b * N + h) * N + m
    raised = tl.load(raised_ptr + where, mask=m < N)
    x = tl.load(arc_ptr + where, mask=m < N)
    tl.store(both_ptr + where, raised, mask=m < N)
    x = tl.where((gold == _UNKNOWN) | (gold == h), x, float("-inf"))
    tl.store(both_ptr + batch * N * N + where, x, mask=m < N)
    length = tl.load(length_ptr + b)
    tl.store(lengths_ptr + b, length, mask=h == 0)
    tl.store(lengths_ptr + batch + b, length, mask=h == 0)


def clamped_arcs(
    raised: torch.Tensor, arc: torch.Tensor, y: torch.Tensor, lengths: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (2B, N, N): ``raised``, then ``arc`` as far as the heads y allow it; lengths twice."""
    batch, N, _ = arc.shape
    both = raised.new_empty((2 * batch, N, N))
    twice = lengths.new_empty(2 * batch)
    launch(
        _arcs, (batch, N),
        raised.contiguous(), arc.contiguous(), y.contiguous(), lengths, both, twice, batch, N,
        BLOCK=block_of(N), options={"num_warps": 1},
    )  # fmt: skip
    return both, twice
