"""Common parts of the kernels: types, sizes, launches, and sums that are safe with −∞."""

from __future__ import annotations

import struct
from typing import Any

import triton
import triton.language as tl

import torch

LOG2E = 1.4426950408889634


def accumulator(x: torch.Tensor) -> Any:
    """Return Triton's type to compute in: float64 for float64, else float32."""
    return tl.float64 if x.dtype == torch.float64 else tl.float32


def accumulator_dtype(x: torch.Tensor) -> torch.dtype:
    """Return PyTorch's type to compute in."""
    return torch.float64 if x.dtype == torch.float64 else torch.float32


def block_of(n: int, least: int = 16) -> int:
    """Return the smallest power of two that holds n numbers."""
    return max(least, triton.next_power_of_2(n))


def warps_of(elements: int, per_thread: int = 64) -> int:
    """Return the number of warps for a tile, given the elements of each thread."""
    return min(16, max(1, triton.next_power_of_2(elements // (32 * per_thread))))


def halves(x: float) -> tuple[float, float]:
    """Return two float32 numbers whose sum is x to float64 precision.

    Numbers are passed to kernels as float32.
    """
    high = struct.unpack("f", struct.pack("f", x))[0]
    return high, x - high


_POINTERS: dict[int, int] = {}
_COMPILED: dict[Any, Any] = {}


def launch(
    kernel: Any, grid: tuple[int, ...], *args: Any, options: dict[str, int], **constants: Any
) -> None:
    """Launch a kernel, bypassing Triton's inspection of the arguments once it is compiled.

    The inspection takes longer than many of these kernels. The key used here distinguishes more
    than Triton's: types, alignment of addresses to 16 bytes, and numbers. Tensors come first and
    are passed as addresses, so that the driver is not queried for each.
    """
    if 0 in grid:  # CUDA cannot launch an empty grid
        return
    device = args[0].get_device()
    if device >= 0 and device != torch.cuda.current_device():
        with torch.cuda.device(device):
            launch(kernel, grid, *args, options=options, **constants)
        return
    name = id(kernel)
    count = _POINTERS.get(name)
    if count is None:
        count = _POINTERS[name] = sum(n.endswith("_ptr") for n in kernel.arg_names)
    tensors, numbers = args[:count], args[count:]
    addresses = [t.data_ptr() for t in tensors]
    bits = 0
    for address in addresses:
        bits |= address
    key = (
        name, device, *[t.dtype for t in tensors], *numbers, *constants.values(),
        *options.values(), bits % 16 == 0 or tuple(a % 16 == 0 for a in addresses),
    )  # fmt: skip
    cached = _COMPILED.get(key)
    if cached is None:
        compiled = kernel[grid](*args, **constants, **options)
        if compiled is not None:  # under the interpreter
            if len(_COMPILED) >= 4096:
                _COMPILED.clear()
            rest = [constants[n] for n in kernel.arg_names[len(args) :]]
            _COMPILED[key] = (compiled, rest)
        return
    compiled, rest = cached
    x, y, z = (*grid, 1, 1)[:3]
    compiled.run(
        x, y, z, torch._C._cuda_getCurrentRawStream(device),
        compiled.function, compiled.packed_metadata, None, None, None,
        *addresses, *numbers, *rest,
    )  # fmt: skip


@triton.jit
def number(high, low, ACC: tl.constexpr):
    """The number that :func:`halves` split."""
    return tl.full((), high, ACC) + tl.full((), low, ACC)


@triton.jit
def length_of(length_ptr, b, longest):
    """The length of an example clipped to 0..longest, and NaN if it is out of range, else 0.

    An example of length 0 has a single output, with score 0 and no parts.
    """
    length = tl.load(length_ptr + b)
    n = tl.minimum(tl.maximum(length, 0), longest).to(tl.int32)
    bad = (length < 0) | (length > longest)
    return n, tl.where(bad, float("nan"), 0.0).to(tl.float64)


@triton.jit
def finite_max(x, axis: tl.constexpr):
    """The largest number along an axis; 0 if all are −∞."""
    m = tl.max(x, axis=axis)
    return tl.where(m == float("-inf"), 0.0, m)


@triton.jit
def log_add(m, s, x, ACC: tl.constexpr):
    """Add a block of terms 2^x to the sums s · 2^m, row by row.

    Logarithms are float64, so that charts of any size lose no digits; their differences from the
    largest are small enough for ACC.
    """
    top = tl.maximum(m, tl.max(x, axis=1))
    safe = tl.where(top == float("-inf"), 0.0, top)
    s = s * tl.exp2((m - safe).to(ACC)) + tl.sum(tl.exp2((x - safe[:, None]).to(ACC)), axis=1)
    return top, s


@triton.jit
def share(x, total, ACC: tl.constexpr):
    """2^(x − total); 0 if x is −∞."""
    legal = x > float("-inf")
    return tl.where(legal, tl.exp2((x - tl.where(legal, total, 0.0)).to(ACC)), 0.0)
