"""Projective dependency trees: Eisner's chart, inside and outside, one program per sentence.

Over the nodes 0..n, 0 the root, with sums in the sense of ε log Σ exp(·/ε):

    S(i, j)  = Σ_k R(i, k) + L(k + 1, j)              i ≤ k < j
    →(i, j)  = arc[i, j] + S(i, j),                   ←(i, j) = arc[j, i] + S(i, j), i > 0
    R(i, j)  = Σ_k →(i, k) + R(k, j)                  i < k ≤ j
    L(i, j)  = Σ_k L(i, k) + ←(k, j)                  i ≤ k < j

and R(0, n) the sum over all trees. A single root allows only k = 0 in S(0, j). The outside pass
hands probabilities from wide spans to narrow ones; for the best tree they are those of the best
split, 0 or 1. Charts are stored by row and by column, so that a sum reads neighbours.
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


@triton.jit
def _keep(row_ptr, column_ptr, i, j, N, x, mask):
    tl.store(row_ptr + i * N + j, x, mask=mask)
    tl.store(column_ptr + j * N + i, x, mask=mask)


@triton.jit
def _sum_splits(left_ptr, right_ptr, mask_to, last, ROWS: tl.constexpr, SPLITS: tl.constexpr,
                MAX: tl.constexpr, ACC: tl.constexpr):  # fmt: skip
    """The sum of left[row, s] + right[row, s] over s < mask_to[row], and the best s."""
    m = tl.full((ROWS,), float("-inf"), tl.float64)
    s = tl.zeros((ROWS,), ACC)
    split = tl.zeros((ROWS,), tl.int32)
    splits = tl.arange(0, SPLITS)
    for begin in range(0, last, SPLITS):
        at = begin + splits[None, :]
        mask = at < mask_to[:, None]
        x = tl.load(left_ptr[:, None] + at, mask=mask, other=float("-inf"))
        x += tl.load(right_ptr[:, None] + at, mask=mask, other=float("-inf"))
        if MAX:
            best, where = tl.max(x, axis=1, return_indices=True, return_indices_tie_break_left=True)
            split = tl.where(best > m, where.to(tl.int32) + begin, split)
            m = tl.maximum(m, best)
        else:
            m, s = log_add(m, s, x, ACC)
    if not MAX:
        m += tl.log2(s).to(tl.float64)
    return m, split


@triton.jit(do_not_specialize=["N", "chart"])
def _inside(
    arc_ptr, length_ptr, chart_ptr, split_ptr, value_ptr, N, chart, scale_high, scale_low,
    SINGLE: tl.constexpr, MAX: tl.constexpr, ROWS: tl.constexpr, SPLITS: tl.constexpr,
    ACC: tl.constexpr,
):  # fmt: skip
    b = tl.program_id(0).to(tl.int64)
    n, bad = length_of(length_ptr, b, N - 1)
    tl.store(value_ptr + b, bad)
    scale = number(scale_high, scale_low, tl.float64)
    arc_ptr += b * N * N
    right_ptr = chart_ptr + b * N * N  # R, by row and by column, and so on
    left_ptr = right_ptr + 2 * chart
    out_ptr = right_ptr + 4 * chart  # →
    in_ptr = right_ptr + 6 * chart  # ←
    both_ptr = right_ptr + 8 * chart  # S
    split_ptr += b * N * N
    rows = tl.arange(0, ROWS)
    for first in range(0, n + 1, ROWS):
        i = first + rows
        zero = tl.zeros((ROWS,), tl.float64)
        _keep(right_ptr, right_ptr + chart, i, i, N, zero, i <= n)
        _keep(left_ptr, left_ptr + chart, i, i, N, zero, i <= n)
    tl.debug_barrier()
    for width in range(1, n + 1):
        for first in range(0, n - width + 1, ROWS):
            i = first + rows
            j = i + width
            inside = j <= n
            to = tl.where(inside, width, 0)
            if SINGLE:
                to = tl.where(i == 0, tl.minimum(to, 1), to)
            x, split = _sum_splits(
                right_ptr + i * N + i, left_ptr + chart + j * N + i + 1, to, width,
                ROWS, SPLITS, MAX, ACC,
            )  # fmt: skip
            forth = tl.load(arc_ptr + i * N + j, mask=inside, other=float("-inf"))
            back = tl.load(arc_ptr + j * N + i, mask=inside & (i > 0), other=float("-inf"))
            _keep(both_ptr, both_ptr + chart, i, j, N, x, inside)
            _keep(out_ptr, out_ptr + chart, i, j, N, x + forth.to(tl.float64) * scale, inside)
            _keep(in_ptr, in_ptr + chart, i, j, N, x + back.to(tl.float64) * scale, inside)
            if MAX:
                _keep(split_ptr, split_ptr + chart, i, j, N, (i + split).to(tl.int16), inside)
        tl.debug_barrier()
        for first in range(0, n - width + 1, ROWS):
            i = first + rows
            j = i + width
            inside = j <= n
            to = tl.where(inside, width, 0)
            x, split = _sum_splits(
                out_ptr + i * N + i + 1, right_ptr + chart + j * N + i + 1, to, width,
                ROWS, SPLITS, MAX, ACC,
            )  # fmt: skip
            _keep(right_ptr, right_ptr + chart, i, j, N, x, inside)
            if MAX:
                at_ptr = split_ptr + 2 * chart
                _keep(at_ptr, at_ptr + chart, i, j, N, (i + 1 + split).to(tl.int16), inside)
            if width == n:
                value = tl.max(tl.where(i == 0, x, float("-inf")), axis=0)
                tl.store(value_ptr + b, value / scale + bad)
            x, split = _sum_splits(
                left_ptr + i * N + i, in_ptr + chart + j * N + i, to, width,
                ROWS, SPLITS, MAX, ACC,
            )  # fmt: skip
            _keep(left_ptr, left_ptr + chart, i, j, N, x, inside)
            if MAX:
                at_ptr = split_ptr + 4 * chart
                _keep(at_ptr, at_ptr + chart, i, j, N, (i + split).to(tl.int16), inside)
        tl.debug_barrier()


@triton.jit
def _gather(own, mass_ptr, other_ptr, total_ptr, split_ptr, target, stride, mask,
            MAX: tl.constexpr, ACC: tl.constexpr):  # fmt: skip
    """Σ mass · 2^(own + other − total) along the columns: this item's share of wider items."""
    mass = tl.load(mass_ptr, mask=mask, other=0.0)
    if MAX:
        split = tl.load(split_ptr, mask=mask, other=-1).to(tl.int32)
        return tl.sum(tl.where(split == target[:, None], mass, 0.0), axis=1)
    other = tl.load(other_ptr, mask=mask, other=float("-inf"))
    total = tl.load(total_ptr, mask=mask, other=0.0)
    return tl.sum(mass * share(own[:, None] + other, total, ACC), axis=1)


@triton.jit(do_not_specialize=["N", "chart"])
def _outside(
    length_ptr, chart_ptr, split_ptr, mass_ptr, grad_ptr, N, chart,
    SINGLE: tl.constexpr, MAX: tl.constexpr, ROWS: tl.constexpr, SPLITS: tl.constexpr,
    ACC: tl.constexpr,
):  # fmt: skip
    b = tl.program_id(0).to(tl.int64)
    n, _ = length_of(length_ptr, b, N - 1)
    right_ptr = chart_ptr + b * N * N
    left_ptr = right_ptr + 2 * chart
    out_ptr = right_ptr + 4 * chart
    in_ptr = right_ptr + 6 * chart
    both_ptr = right_ptr + 8 * chart
    split_ptr += b * N * N
    right_split = split_ptr + 2 * chart
    left_split = split_ptr + 4 * chart
    mass_ptr += b * N * N
    right_mass = mass_ptr
    left_mass = mass_ptr + 2 * chart
    both_mass = mass_ptr + 4 * chart
    grad_ptr += b * N * N
    rows = tl.arange(0, ROWS)
    splits = tl.arange(0, SPLITS)[None, :]
    for narrower in range(0, n):
        width = n - narrower
        for first in range(0, n - width + 1, ROWS):
            i = first + rows
            j = i + width
            inside = j <= n
            right = tl.load(right_ptr + i * N + j, mask=inside, other=float("-inf"))
            left = tl.load(left_ptr + i * N + j, mask=inside, other=float("-inf"))
            of_right = tl.where((width == n) & (i == 0) & (right > float("-inf")), 1.0, 0.0).to(ACC)
            of_left = tl.zeros((ROWS,), ACC)
            for begin in range(width + 1, n + 1, SPLITS):
                s = j[:, None] - begin - splits  # spans (s, j)
                mask = inside[:, None] & (s >= 0)
                at = j[:, None] * N + s
                of_right += _gather(
                    right, right_mass + chart + at, out_ptr + chart + i[:, None] * N + s,
                    right_ptr + chart + at, right_split + chart + at, i, N, mask, MAX, ACC,
                )  # fmt: skip
                if SINGLE:
                    mask = mask & ((s > 0) | (i[:, None] == 1))
                of_left += _gather(
                    left, both_mass + chart + at, right_ptr + chart + (i[:, None] - 1) * N + s,
                    both_ptr + chart + at, split_ptr + chart + at, i - 1, N, mask, MAX, ACC,
                )  # fmt: skip
                e = i[:, None] + begin + splits  # spans (i, e)
                mask = inside[:, None] & (e <= n)
                at = i[:, None] * N + e
                of_left += _gather(
                    left, left_mass + at, in_ptr + j[:, None] * N + e,
                    left_ptr + at, left_split + at, j, N, mask, MAX, ACC,
                )  # fmt: skip
                if SINGLE:
                    mask = mask & (i[:, None] > 0)
                of_right += _gather(
                    right, both_mass + at, left_ptr + (j[:, None] + 1) * N + e,
                    both_ptr + at, split_ptr + at, j, N, mask, MAX, ACC,
                )  # fmt: skip
            _keep(right_mass, right_mass + chart, i, j, N, of_right, inside)
            _keep(left_mass, left_mass + chart, i, j, N, of_left, inside)
        tl.debug_barrier()
        for first in range(0, n - width + 1, ROWS):
            i = first + rows
            j = i + width
            inside = j <= n
            forth = tl.load(out_ptr + i * N + j, mask=inside, other=float("-inf"))
            back = tl.load(in_ptr + i * N + j, mask=inside, other=float("-inf"))
            of_forth = tl.zeros((ROWS,), ACC)
            of_back = tl.zeros((ROWS,), ACC)
            for begin in range(width, n + 1, SPLITS):
                e = i[:, None] + begin + splits
                mask = inside[:, None] & (e <= n)
                at = i[:, None] * N + e
                of_forth += _gather(
                    forth, right_mass + at, right_ptr + j[:, None] * N + e,
                    right_ptr + at, right_split + at, j, N, mask, MAX, ACC,
                )  # fmt: skip
                s = j[:, None] - begin - splits
                mask = inside[:, None] & (s >= 0)
                at = j[:, None] * N + s
                of_back += _gather(
                    back, left_mass + chart + at, left_ptr + chart + i[:, None] * N + s,
                    left_ptr + chart + at, left_split + chart + at, i, N, mask, MAX, ACC,
                )  # fmt: skip
            tl.store(grad_ptr + i * N + j, of_forth, mask=inside)
            tl.store(grad_ptr + j * N + i, of_back, mask=inside & (i > 0))
            _keep(both_mass, both_mass + chart, i, j, N, of_forth + of_back, inside)
        tl.debug_barrier()


def projective_trees(
    arc: torch.Tensor, lengths: torch.Tensor, temperature: float, single_root: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the value of each sentence, and its gradient by arc: the arcs' probabilities.

    Parameters
    ----------
    arc : (B, N, N)
        ``arc[b, h, m]`` scores h → m; N is one more than the words of the longest sentence.
    lengths : (B,) int
        Numbers of words.
    temperature : float
        0: the value of the best tree, and its arcs.
    """
    batch, N, _ = arc.shape
    dtype, acc = accumulator_dtype(arc), accumulator(arc)
    best = temperature == 0
    scale = 1.0 if best else LOG2E / temperature
    charts = arc.new_empty((10, batch, N, N), dtype=torch.float64)
    mass = arc.new_empty((6, batch, N, N), dtype=dtype)
    split = torch.empty((6, batch, N, N) if best else 1, dtype=torch.int16, device=arc.device)
    value = torch.zeros(batch, dtype=torch.float64, device=arc.device)
    grad = torch.zeros((batch, N, N), dtype=dtype, device=arc.device)
    rows = min(_ROWS, block_of(N))
    common = {"SINGLE": single_root, "MAX": best, "ROWS": rows, "SPLITS": _SPLITS, "ACC": acc}
    options = {"num_warps": _WARPS}
    chart = batch * N * N
    launch(
        _inside, (batch,),
        arc.contiguous(), lengths, charts, split, value, N, chart, *halves(scale),
        options=options, **common,
    )  # fmt: skip
    launch(
        _outside, (batch,), lengths, charts, split, mass, grad, N, chart, options=options, **common
    )
    return value, grad
