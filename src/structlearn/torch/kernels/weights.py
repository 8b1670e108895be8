"""The gradient of a weighted sum of values: each example's parts times its weight.

Blocks shared by all examples get the sum over them, in the order of the examples.
"""

from __future__ import annotations

import triton
import triton.language as tl

import torch

from .common import launch

#: Numbers scaled by one program; columns and rows added up at a time.
_SIZE, _COLUMNS, _ROWS = 2048, 32, 32


@triton.jit
def _add(weight_ptr, stride, part_ptr, out_ptr, column, size, batch,
         COLUMNS: tl.constexpr, ROWS: tl.constexpr):  # fmt: skip
    c = column * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    total = tl.zeros((ROWS, COLUMNS), part_ptr.dtype.element_ty)
    for begin in range(0, batch, ROWS):
        b = begin + tl.arange(0, ROWS)[:, None]
        weight = tl.load(weight_ptr + b * stride, mask=b < batch, other=0.0)
        mask = (b < batch) & (c < size)
        part = tl.load(part_ptr + b.to(tl.int64) * size + c, mask=mask, other=0.0)
        total += weight.to(part.dtype) * part
    c = column * COLUMNS + tl.arange(0, COLUMNS)
    tl.store(out_ptr + c, tl.sum(total, axis=0), mask=c < size)


@triton.jit(do_not_specialize=["stride", "batch", "size"])
def _weigh(
    weight_ptr, main_ptr, a_ptr, b_ptr, c_ptr, main_out_ptr, a_out_ptr, b_out_ptr, c_out_ptr,
    stride, batch, size, a_size, b_size, c_size,
    SIZE: tl.constexpr, COLUMNS: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    program = tl.program_id(0)
    a = tl.cdiv(a_size, COLUMNS)
    b = a + tl.cdiv(b_size, COLUMNS)
    c = b + tl.cdiv(c_size, COLUMNS)
    if program < a:
        _add(weight_ptr, stride, a_ptr, a_out_ptr, program, a_size, batch, COLUMNS, ROWS)
    elif program < b:
        _add(weight_ptr, stride, b_ptr, b_out_ptr, program - a, b_size, batch, COLUMNS, ROWS)
    elif program < c:
        _add(weight_ptr, stride, c_ptr, c_out_ptr, program - b, c_size, batch, COLUMNS, ROWS)
    else:
        pieces = tl.cdiv(size, SIZE)
        example = (program - c) // pieces
        at = ((program - c) % pieces) * SIZE + tl.arange(0, SIZE)
        weight = tl.load(weight_ptr + example * stride)
        where = example.to(tl.int64) * size + at
        part = tl.load(main_ptr + where, mask=at < size)
        tl.store(main_out_ptr + where, weight.to(part.dtype) * part, mask=at < size)


def weighted_parts(
    weights: torch.Tensor, parts: list[torch.Tensor], types: list[torch.dtype]
) -> list[torch.Tensor]:
    """Return weights · parts of the main block, and Σ weight · part of the three shared blocks.

    Parameters
    ----------
    weights : (B,)
    parts : list of (B, ...)
        Four blocks, contiguous, the main one first.
    types : list of dtype
        Of the results.
    """
    main, *shared = parts
    batch = main.shape[0]
    size, *sizes = (p.numel() // batch for p in parts)
    results = [torch.empty_like(main, dtype=types[0])]
    results += [
        main.new_empty(p.shape[1:], dtype=dtype) for p, dtype in zip(shared, types[1:], strict=True)
    ]
    programs = sum(-(-n // _COLUMNS) for n in sizes) + batch * -(-size // _SIZE)
    launch(
        _weigh, (programs,),
        weights, *parts, *results, weights.stride(0), batch, size, *sizes,
        SIZE=_SIZE, COLUMNS=_COLUMNS, ROWS=_ROWS, options={"num_warps": 4},
    )  # fmt: skip
    return results
