"""Non-projective dependency trees: words eliminated one by one, and put back for the gradient.

Without a word v, a word m whose head was v has v's head instead: with weights w[m, h] and
q[h] = w[v, h] / Σ w[v, ·], the trees of the others have the weights w[m, h] + w[m, v] q[h], and the
sum over all trees is the product of the words' sums (Gaussian elimination of the Laplacian, in the
order of Grassmann, Taksar & Heyman 1985). Nothing is subtracted, and logarithms are stored, so no
digits are lost when heads in cycles have nearly all of the weight.

A single root is exact: the root's arcs carry a symbolic weight t, and every number keeps its
leading power of t. The root has two columns, for weights without t and with t; the second one
counts for words that have no other head.

The gradient hands probabilities back: the probability of m → h without v is divided between m's own
arc and the detour over v.
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
)

#: Bytes of graphs stored for the gradient; larger batches are processed in pieces.
_MOST_BYTES = 1 << 28

#: Words processed at a time, and the number of warps.
_ROWS, _WARPS = 16, 8


@triton.jit
def _row(graph_ptr, v, c, C, ACC: tl.constexpr):
    """Logarithms of v's sum and of its shares, and whether only the root's arc is left."""
    x = tl.load(graph_ptr + v * C + c, mask=c < v + 2, other=float("-inf"))
    usual = tl.where(c == 1, float("-inf"), x)
    m = tl.max(usual, axis=0)
    once = m == float("-inf")
    safe = tl.where(once, 0.0, m)
    total = tl.log2(tl.sum(tl.exp2((usual - safe).to(ACC)), axis=0)).to(tl.float64) + m
    total = tl.where(once, tl.max(tl.where(c == 1, x, float("-inf")), axis=0), total)
    logs = tl.where(once, tl.where(c == 0, 0.0, float("-inf")), x - tl.where(once, 0.0, total))
    return total, logs, once


@triton.jit(do_not_specialize=["first", "N"])
def _eliminate(
    arc_ptr, length_ptr, graph_ptr, mass_ptr, value_ptr, grad_ptr, first, N, scale_high, scale_low,
    SINGLE: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, ACC: tl.constexpr,
):  # fmt: skip
    """Graph s, of the first s words, lies at s · W · C; its columns are root, root, words."""
    g = tl.program_id(0).to(tl.int64)
    b = first + g
    W = N - 1
    C = N + 1
    n, bad = length_of(length_ptr, b, W)
    scale = number(scale_high, scale_low, tl.float64)
    arc_ptr += b * N * N
    grad_ptr += b * N * N
    graph_ptr += g * N * W * C
    mass_ptr += g * W * C
    slab = W * C
    c = tl.arange(0, COLUMNS)
    r = tl.arange(0, ROWS)
    # Column 0 or 1 is the root's, h + 2 that of the word h.
    head = tl.where(c < 2, 0, c - 1)
    mine = 1 if SINGLE else 0
    real = (c >= 2) | (c == mine)
    for begin in range(0, n, ROWS):
        m = begin + r[:, None]
        mask = (m < n) & (c[None, :] < n + 2) & real[None, :] & (c[None, :] != m + 2)
        x = tl.load(arc_ptr + head[None, :] * N + m + 1, mask=mask, other=float("-inf"))
        x = x.to(tl.float64) * scale
        tl.store(graph_ptr + n * slab + m * C + c[None, :], x, mask=(m < n) & (c[None, :] < C))
    tl.debug_barrier()
    value = tl.full((), 0.0, tl.float64)
    order = tl.full((), 0, tl.int32)
    for back in range(0, n):
        v = n - 1 - back
        old_ptr = graph_ptr + (v + 1) * slab
        total, logs, once = _row(old_ptr, v, c, C, ACC)
        value += total
        order += once.to(tl.int32)
        for begin in range(0, v, ROWS):
            m = begin + r[:, None]
            mask = (m < v) & (c[None, :] < v + 2)
            x = tl.load(old_ptr + m * C + c[None, :], mask=mask, other=float("-inf"))
            over = tl.load(old_ptr + m * C + v + 2, mask=m < v, other=float("-inf"))
            over = tl.where(c[None, :] == m + 2, float("-inf"), over + logs[None, :])
            top = tl.maximum(x, over)
            low = tl.minimum(x, over)
            gap = tl.where(low == float("-inf"), float("-inf"), low - top).to(ACC)
            x = top + tl.log2(1.0 + tl.exp2(gap)).to(tl.float64)
            tl.store(graph_ptr + v * slab + m * C + c[None, :], x, mask=mask)
        tl.debug_barrier()
    legal = (value > float("-inf")) & ((order == mine) | (n == 0))
    value = tl.where(legal, value, float("-inf"))
    tl.store(value_ptr + b, value / scale + bad)
    # Put the words back.
    for v in range(0, n):
        old_ptr = graph_ptr + (v + 1) * slab
        _, logs, once = _row(old_ptr, v, c, C, ACC)
        shared = tl.zeros((COLUMNS,), ACC)
        for begin in range(0, v, ROWS):
            m = begin + r[:, None]
            mask = (m < v) & (c[None, :] < v + 2)
            at = m * C + c[None, :]
            x = tl.load(old_ptr + at, mask=mask, other=float("-inf"))
            new = tl.load(graph_ptr + v * slab + at, mask=mask, other=0.0)
            over = tl.load(old_ptr + m * C + v + 2, mask=m < v, other=float("-inf"))
            mass = tl.load(mass_ptr + at, mask=mask, other=0.0)
            over = tl.where(c[None, :] == m + 2, float("-inf"), over + logs[None, :])
            step = mass * share(over, new, ACC)
            tl.store(mass_ptr + at, mass * share(x, new, ACC), mask=mask)
            tl.store(mass_ptr + m * C + v + 2, tl.sum(step, axis=1)[:, None], mask=m < v)
            shared += tl.sum(step, axis=0)
        rest = 1.0 - tl.sum(shared, axis=0)
        shares = tl.where(logs > float("-inf"), tl.exp2(logs.to(ACC)), 0.0)
        shares = tl.where(c == 1, 0.0, shares)
        mass = shared + shares * rest
        alone = tl.where(c == 1, 1.0, 0.0).to(ACC)
        mass = tl.where(once, alone, tl.maximum(mass, 0.0))
        tl.store(mass_ptr + v * C + c, mass, mask=c < v + 3)  # 0 for itself
        tl.debug_barrier()
    for begin in range(0, n, ROWS):
        m = begin + r[:, None]
        mask = (m < n) & (c[None, :] < n + 2) & real[None, :] & (c[None, :] != m + 2)
        p = tl.load(mass_ptr + m * C + c[None, :], mask=mask, other=0.0)
        p = tl.where(legal, p, 0.0)
        tl.store(grad_ptr + head[None, :] * N + m + 1, p, mask=mask)


def crossing_trees(
    arc: torch.Tensor, lengths: torch.Tensor, temperature: float, single_root: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return ε log Σ exp(score/ε) of each sentence, and its gradient: the arcs' probabilities.

    Parameters
    ----------
    arc : (B, N, N)
        ``arc[b, h, m]`` scores h → m; N is one more than the words of the longest sentence.
    lengths : (B,) int
        Numbers of words.
    temperature : float
        Above 0.
    """
    batch, N, _ = arc.shape
    dtype, acc = accumulator_dtype(arc), accumulator(arc)
    arc = arc.contiguous()
    value = torch.zeros(batch, dtype=torch.float64, device=arc.device)
    grad = torch.zeros((batch, N, N), dtype=dtype, device=arc.device)
    if N < 2:
        return value, grad
    graph = (N, N - 1, N + 1)
    piece = max(1, min(batch, _MOST_BYTES // (8 * graph[0] * graph[1] * graph[2])))
    graphs = arc.new_empty((piece, *graph), dtype=torch.float64)
    mass = arc.new_empty((piece, *graph[1:]), dtype=dtype)
    for first in range(0, batch, piece):
        launch(
            _eliminate, (min(piece, batch - first),),
            arc, lengths, graphs, mass, value, grad, first, N, *halves(LOG2E / temperature),
            SINGLE=single_root, ROWS=_ROWS, COLUMNS=block_of(N + 1), ACC=acc,
            options={"num_warps": _WARPS},
        )  # fmt: skip
    return value, grad
