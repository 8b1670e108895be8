"""What the kernels share: types, sizes, and sums that −∞ does not break."""

from __future__ import annotations

import struct
from typing import Any

import torch
import triton
import triton.language as tl

__all__ = [
    "LOG2E",
    "accumulator",
    "accumulator_dtype",
    "block_of",
    "finite_max",
    "halves",
    "number",
    "warps_of",
]

LOG2E = 1.4426950408889634


def accumulator(x: torch.Tensor) -> Any:
    """Return the type to compute in, as Triton names it: float64 stays, all else is float32."""
    return tl.float64 if x.dtype == torch.float64 else tl.float32


def accumulator_dtype(x: torch.Tensor) -> torch.dtype:
    """Return the same as PyTorch names it."""
    return torch.float64 if x.dtype == torch.float64 else torch.float32


def block_of(n: int, least: int = 16) -> int:
    """Return the power of two that holds n numbers."""
    return max(least, triton.next_power_of_2(n))


def warps_of(elements: int, per_thread: int = 64) -> int:
    """Return how many warps hold a tile with so many numbers a thread."""
    return min(16, max(1, triton.next_power_of_2(elements // (32 * per_thread))))


def halves(x: float) -> tuple[float, float]:
    """Return two numbers that float32 holds, and whose sum is x to the precision of float64.

    Numbers are handed to kernels as float32.
    """
    high = struct.unpack("f", struct.pack("f", x))[0]
    return high, x - high


@triton.jit
def number(high, low, ACC: tl.constexpr):
    """The number of which these are the halves."""
    return tl.full((), high, ACC) + tl.full((), low, ACC)


@triton.jit
def finite_max(x, axis: tl.constexpr):
    """The largest number along an axis, 0 where there is none above −∞."""
    m = tl.max(x, axis=axis)
    return tl.where(m == float("-inf"), 0.0, m)
