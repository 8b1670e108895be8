"""Labelled constituent trees: sum over each span's labels, then trees, then back to labels.

Only the scores and their gradient have an axis of labels.
"""

from __future__ import annotations

import triton
import triton.language as tl

import torch

from .cky import span_trees
from .common import LOG2E, accumulator, accumulator_dtype, block_of, halves, launch, number

#: Numbers that a program processes at a time.
_SIZE = 2048

#: The label of an unknown span.
_UNKNOWN = tl.constexpr(-100)


@triton.jit
def _cells(length_ptr, batch, N, CELLS: tl.constexpr):
    """Spans of all sentences: their numbers, sentences, and whether they lie within these."""
    cell = tl.program_id(0).to(tl.int64) * CELLS + tl.arange(0, CELLS)
    b = cell // (N * (N + 1))
    i = (cell // (N + 1)) % N
    j = cell % (N + 1)
    n = tl.load(length_ptr + b, mask=b < batch, other=0)
    return cell, b, (b < batch) & (i < j) & (j <= n)


@triton.jit
def _scores(raised_ptr, span_ptr, y_ptr, cell, inside, R, clamp: tl.constexpr,
            BLOCK: tl.constexpr, ACC: tl.constexpr):  # fmt: skip
    """Label scores of spans, or only those that the gold labels allow."""
    r = tl.arange(0, BLOCK)[None, :]
    where = cell[:, None] * R + r
    mask = inside[:, None] & (r < R)
    if clamp:
        gold = tl.load(y_ptr + cell, mask=inside, other=_UNKNOWN)[:, None]
        mask = mask & ((gold == _UNKNOWN) | (gold == r))
        return tl.load(span_ptr + where, mask=mask, other=float("-inf")).to(ACC)
    return tl.load(raised_ptr + where, mask=mask, other=float("-inf")).to(ACC)


@triton.jit
def _log_sum(x, scale, MAX: tl.constexpr):
    m = tl.max(x, axis=1)
    if MAX:
        return m
    safe = tl.where(m == float("-inf"), 0.0, m)
    return tl.log2(tl.sum(tl.exp2((x - safe[:, None]) * scale), axis=1)) / scale + m


@triton.jit(do_not_specialize=["batch", "N"])
def _sums(
    raised_ptr, span_ptr, y_ptr, length_ptr, labelled_ptr, any_ptr, twice_ptr, batch, N, R,
    scale_high, scale_low,
    TIMES: tl.constexpr, MAX: tl.constexpr, CELLS: tl.constexpr, BLOCK: tl.constexpr,
    ACC: tl.constexpr,
):  # fmt: skip
    cell, b, inside = _cells(length_ptr, batch, N, CELLS)
    scale = number(scale_high, scale_low, ACC)
    r = tl.arange(0, BLOCK)[None, :]
    size = batch.to(tl.int64) * N * (N + 1)
    for clamp in tl.static_range(TIMES):
        x = _scores(raised_ptr, span_ptr, y_ptr, cell, inside, R, clamp, BLOCK, ACC)
        at = clamp * size + cell
        labelled = _log_sum(tl.where(r > 0, x, float("-inf")), scale, MAX)
        tl.store(labelled_ptr + at, labelled, mask=cell < size)
        tl.store(any_ptr + at, _log_sum(x, scale, MAX), mask=cell < size)
        first = (cell % (N * (N + 1)) == 0) & (cell < size)
        tl.store(twice_ptr + clamp * batch + b, tl.load(length_ptr + b, mask=first), mask=first)


@triton.jit
def _shares(x, total, mass, scale, MAX: tl.constexpr, BLOCK: tl.constexpr):
    """Each label's share of a span's probability; with MAX, all to the first of the best."""
    if MAX:
        _, best = tl.max(x, axis=1, return_indices=True, return_indices_tie_break_left=True)
        return tl.where(tl.arange(0, BLOCK)[None, :] == best[:, None], mass[:, None], 0.0)
    legal = (x > float("-inf")) & (mass > 0)[:, None]
    share = tl.exp2((x - tl.where(total == float("-inf"), 0.0, total)[:, None]) * scale)
    return tl.where(legal, share * mass[:, None], 0.0)


@triton.jit(do_not_specialize=["batch", "N"])
def _parts(
    raised_ptr, span_ptr, y_ptr, length_ptr, labelled_ptr, any_ptr, child_ptr, follow_ptr,
    grad_ptr, batch, N, R, scale_high, scale_low,
    TIMES: tl.constexpr, MAX: tl.constexpr, CELLS: tl.constexpr, BLOCK: tl.constexpr,
    ACC: tl.constexpr,
):  # fmt: skip
    cell, _, inside = _cells(length_ptr, batch, N, CELLS)
    scale = number(scale_high, scale_low, ACC)
    r = tl.arange(0, BLOCK)[None, :]
    size = batch.to(tl.int64) * N * (N + 1)
    grad = tl.zeros((CELLS, BLOCK), ACC)
    for clamp in tl.static_range(TIMES):
        x = _scores(raised_ptr, span_ptr, y_ptr, cell, inside, R, clamp, BLOCK, ACC)
        at = clamp * size + cell
        labelled = tl.load(labelled_ptr + at, mask=inside, other=0.0)
        every = tl.load(any_ptr + at, mask=inside, other=0.0)
        child = tl.load(child_ptr + at, mask=inside, other=0.0)
        follow = tl.load(follow_ptr + at, mask=inside, other=0.0)
        named = tl.where(r > 0, x, float("-inf"))
        grad += (1 - 2 * clamp) * _shares(x, every, follow, scale, MAX, BLOCK)
        grad += (1 - 2 * clamp) * _shares(named, labelled, child, scale, MAX, BLOCK)
    where = cell[:, None] * R + r
    tl.store(grad_ptr + where, grad, mask=(cell < size)[:, None] & (r < R))


def _run(
    raised: torch.Tensor,
    span: torch.Tensor,
    y: torch.Tensor | None,
    lengths: torch.Tensor,
    temperature: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    batch, N, M, R = span.shape
    dtype, acc = accumulator_dtype(raised), accumulator(raised)
    times = 1 if y is None else 2
    new = raised.new_empty
    labelled, every = (new((times * batch, N, M), dtype=dtype) for _ in range(2))
    twice = lengths.new_empty(times * batch)
    raised, span = raised.contiguous(), span.contiguous()
    gold = lengths if y is None else y.contiguous()
    best = temperature == 0
    block = block_of(R, 2)
    cells = max(1, _SIZE // block)
    grid = (triton.cdiv(batch * N * M, cells),)
    sizes = (batch, N, R, *halves(1.0 if best else LOG2E / temperature))
    common = {"TIMES": times, "MAX": best, "CELLS": cells, "BLOCK": block, "ACC": acc}
    options = {"num_warps": 4}
    launch(
        _sums, grid, raised, span, gold, lengths, labelled, every, twice, *sizes,
        options=options, **common,
    )  # fmt: skip
    value, child, follow = span_trees(labelled, every, twice, temperature)
    grad = new((batch, N, M, R), dtype=dtype)
    launch(
        _parts, grid, raised, span, gold, lengths, labelled, every, child, follow, grad, *sizes,
        options=options, **common,
    )  # fmt: skip
    return value if y is None else value[:batch] - value[batch:], grad


def span_infer(
    span: torch.Tensor, lengths: torch.Tensor, temperature: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the value of each sentence, and its gradient by labelled span.

    Parameters
    ----------
    span : (B, N, N + 1, R)
        ``span[b, i, j, r]`` scores label r over the words i..j − 1; label 0 is "no label".
    lengths : (B,) int
    temperature : float
        0: the value of the best tree, and the labels of its spans.
    """
    return _run(span, span, None, lengths, temperature)


def span_loss(
    raised: torch.Tensor,
    span: torch.Tensor,
    y: torch.Tensor,
    lengths: torch.Tensor,
    temperature: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the value of all trees minus that of the trees y allows, and the gradient.

    ``raised`` scores all trees, ``span`` those compatible with the labels y (B, N, N + 1): −1 for
    no span in the tree, −100 for unknown.
    """
    return _run(raised, span, y, lengths, temperature)
