"""Constituent trees: inside and outside over a chart of spans, one program for each sentence.

A span of the words i..j − 1 has two numbers: ``labelled``, the sum over its labels, and ``any``,
which includes "no label". With

    body(i, j)   = Σ_k child(i, k) + follow(k, j),  0 for a word,
    child(i, j)  = body + labelled (any, for a word),   follow(i, j) = body + any,

in the sense of ε log Σ exp(·/ε), follow(0, n) is the sum over all trees. The outside pass hands
probabilities from wide spans to narrow ones, so nothing can overflow; for the best tree they are
those of the best split: 0 or 1.

Spans of the same width are processed together, each against a block of splits. Sums set the
largest term aside, so that nothing is lost however far apart the scores are.
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
    log_add,
    number,
    share,
)

#: Spans and splits processed at a time, and the number of warps.
_ROWS, _SPLITS, _WARPS = 32, 16, 8


@triton.jit(do_not_specialize=["N"])
def _inside(
    labelled_ptr, any_ptr, length_ptr, child_ptr, follow_ptr, body_ptr, split_ptr, value_ptr,
    N, scale_high, scale_low,
    MAX: tl.constexpr, ROWS: tl.constexpr, SPLITS: tl.constexpr, ACC: tl.constexpr,
):  # fmt: skip
    """Fill the chart. `child` is stored by row, i · M + k; `follow` by column, j · M + k."""
    b = tl.program_id(0).to(tl.int64)
    M = N + 1
    n, bad = length_of(length_ptr, b, N)
    tl.store(value_ptr + b, bad)
    scale = number(scale_high, scale_low, tl.float64)
    labelled_ptr += b * N * M
    any_ptr += b * N * M
    child_ptr += b * M * M
    follow_ptr += b * M * M
    body_ptr += b * M * M
    split_ptr += b * M * M
    rows = tl.arange(0, ROWS)
    splits = tl.arange(0, SPLITS)
    for width in range(1, n + 1):
        for first in range(0, n - width + 1, ROWS):
            i = first + rows
            j = i + width
            inside = j <= n
            m = tl.full((ROWS,), float("-inf"), tl.float64)
            s = tl.zeros((ROWS,), ACC)
            split = tl.zeros((ROWS,), tl.int32)
            for begin in range(1, width, SPLITS):
                k = i[:, None] + begin + splits[None, :]
                mask = inside[:, None] & (k < j[:, None])
                left = tl.load(child_ptr + i[:, None] * M + k, mask=mask, other=float("-inf"))
                right = tl.load(follow_ptr + j[:, None] * M + k, mask=mask, other=float("-inf"))
                x = left + right
                if MAX:
                    best, where = tl.max(
                        x, axis=1, return_indices=True, return_indices_tie_break_left=True
                    )
                    split = tl.where(best > m, where.to(tl.int32) + begin, split)
                    m = tl.maximum(m, best)
                else:
                    m, s = log_add(m, s, x, ACC)
            if MAX:
                body = tl.where(width == 1, 0.0, m)
                tl.store(split_ptr + i * M + j, (i + split).to(tl.int16), mask=inside)
            else:
                body = tl.where(width == 1, 0.0, m + tl.log2(s).to(tl.float64))
            at = i * M + j
            labels = (
                tl.load(labelled_ptr + at, mask=inside, other=float("-inf")).to(tl.float64) * scale
            )
            every = tl.load(any_ptr + at, mask=inside, other=float("-inf")).to(tl.float64) * scale
            tl.store(body_ptr + at, body, mask=inside)
            tl.store(child_ptr + at, body + tl.where(width == 1, every, labels), mask=inside)
            tl.store(follow_ptr + j * M + i, body + every, mask=inside)
            if width == n:
                value = tl.max(tl.where(rows == 0, body + every, float("-inf")), axis=0)
                tl.store(value_ptr + b, value / scale + bad)
        tl.debug_barrier()


@triton.jit(do_not_specialize=["N"])
def _outside(
    length_ptr, child_ptr, follow_ptr, body_ptr, split_ptr, mass_ptr, column_ptr,
    as_child_ptr, as_follow_ptr, N,
    MAX: tl.constexpr, ROWS: tl.constexpr, SPLITS: tl.constexpr, ACC: tl.constexpr,
):  # fmt: skip
    """Distribute the probability of each span, as a child and as the rest of a row of children.

    `mass` is that of a span in either place, stored by row and, in `column`, by column.
    """
    b = tl.program_id(0).to(tl.int64)
    M = N + 1
    n, _ = length_of(length_ptr, b, N)
    child_ptr += b * M * M
    follow_ptr += b * M * M
    body_ptr += b * M * M
    split_ptr += b * M * M
    mass_ptr += b * M * M
    column_ptr += b * M * M
    as_child_ptr += b * N * M
    as_follow_ptr += b * N * M
    rows = tl.arange(0, ROWS)
    splits = tl.arange(0, SPLITS)
    for back in range(0, n):
        width = n - back
        for first in range(0, n - width + 1, ROWS):
            i = first + rows
            j = i + width
            inside = j <= n
            child = tl.load(child_ptr + i * M + j, mask=inside, other=float("-inf"))
            follow = tl.load(follow_ptr + j * M + i, mask=inside, other=float("-inf"))
            as_child = tl.zeros((ROWS,), ACC)
            as_follow = tl.where((width == n) & (i == 0) & (follow > float("-inf")), 1.0, 0.0)
            as_follow = as_follow.to(ACC)
            # As a child of the spans (i, e), e > j, and as the rest of the spans (s, j), s < i.
            for begin in range(width + 1, n + 1, SPLITS):
                e = i[:, None] + begin + splits[None, :]
                mask = inside[:, None] & (e <= n)
                at = i[:, None] * M + e
                mass = tl.load(mass_ptr + at, mask=mask, other=0.0)
                if MAX:
                    split = tl.load(split_ptr + at, mask=mask, other=-1).to(tl.int32)
                    as_child += tl.sum(tl.where(split == j[:, None], mass, 0.0), axis=1)
                else:
                    body = tl.load(body_ptr + at, mask=mask, other=0.0)
                    other = tl.load(follow_ptr + e * M + j[:, None], mask=mask, other=float("-inf"))
                    as_child += tl.sum(mass * share(child[:, None] + other, body, ACC), axis=1)
                s = j[:, None] - begin - splits[None, :]
                mask = inside[:, None] & (s >= 0)
                mass = tl.load(column_ptr + j[:, None] * M + s, mask=mask, other=0.0)
                at = s * M + j[:, None]
                if MAX:
                    split = tl.load(split_ptr + at, mask=mask, other=-1).to(tl.int32)
                    as_follow += tl.sum(tl.where(split == i[:, None], mass, 0.0), axis=1)
                else:
                    body = tl.load(body_ptr + at, mask=mask, other=0.0)
                    other = tl.load(child_ptr + s * M + i[:, None], mask=mask, other=float("-inf"))
                    as_follow += tl.sum(mass * share(follow[:, None] + other, body, ACC), axis=1)
            total = as_child + as_follow
            tl.store(mass_ptr + i * M + j, total, mask=inside)
            tl.store(column_ptr + j * M + i, total, mask=inside)
            # A word may go without a label in either place.
            tl.store(as_child_ptr + i * M + j, tl.where(width == 1, 0.0, as_child), mask=inside)
            tl.store(as_follow_ptr + i * M + j, tl.where(width == 1, total, as_follow), mask=inside)
        tl.debug_barrier()


def span_trees(
    labelled: torch.Tensor,
    any_label: torch.Tensor,
    lengths: torch.Tensor,
    temperature: float,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the value of each sentence, and its gradient by ``labelled`` and ``any``.

    Parameters
    ----------
    labelled, any_label : (B, N, N + 1)
    lengths : (B,) int
    temperature : float
        0: the value of the best tree, and its spans.
    """
    batch, N, M = labelled.shape
    dtype, acc = accumulator_dtype(labelled), accumulator(labelled)
    best = temperature == 0
    scale = 1.0 if best else LOG2E / temperature
    child, follow, body = labelled.new_empty((3, batch, M, M), dtype=torch.float64).unbind(0)
    mass, column = labelled.new_empty((2, batch, M, M), dtype=dtype).unbind(0)
    split = torch.empty((batch, M, M) if best else 1, dtype=torch.int16, device=labelled.device)
    value = torch.zeros(batch, dtype=torch.float64, device=labelled.device)
    grads = torch.zeros((2, batch, N, M), dtype=dtype, device=labelled.device)
    rows = min(_ROWS, block_of(N))
    common = {"MAX": best, "ROWS": rows, "SPLITS": _SPLITS, "ACC": acc}
    options = {"num_warps": _WARPS}
    launch(
        _inside, (batch,),
        labelled.contiguous(), any_label.contiguous(), lengths, child, follow, body, split, value,
        N, *halves(scale), options=options, **common,
    )  # fmt: skip
    launch(
        _outside, (batch,),
        lengths, child, follow, body, split, mass, column, grads[0], grads[1], N,
        options=options, **common,
    )  # fmt: skip
    return value, grads[0], grads[1]
