"""The machine's limits, measured on the spot: peak arithmetic and memory bandwidth.

A matrix product runs at the peak of the vector units with one multiply-add per operation; an add or
a maximum is also one operation, so half the product's flops is their peak rate. Summing
a large array runs at the speed of memory.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

__all__ = ["limits", "peaks"]

_best: dict[str, float] = {}


def peaks() -> dict[str, float]:
    """Measure this core's vector operations and bytes per second; return the best so far.

    By processor time, and again for each benchmark: a busy moment must not count as the limit.
    """
    n = 512
    a = np.random.default_rng(0).random((n, n))
    out = np.empty((n, n))
    large = np.ones(1 << 24)
    for _ in range(12):
        begin = time.process_time()
        np.matmul(a, a, out=out)
        middle = time.process_time()
        large.sum()
        end = time.process_time()
        rates = {
            "operations_per_second": n**3 / (middle - begin),
            "bytes_per_second": large.nbytes / (end - middle),
        }
        for name, rate in rates.items():
            _best[name] = max(rate, _best.get(name, 0.0))
    return dict(_best)


def limits(seconds: float, *, operations: float, bytes_moved: float) -> dict[str, Any]:
    """Return how close a time is to the limits of arithmetic and memory.

    Parameters
    ----------
    seconds : float
        The measured time.
    operations : float
        Double-precision adds, maxima and multiply-adds that the algorithm needs.
    bytes_moved : float
        Bytes that must be read from memory, each once.
    """
    peak = peaks()
    arithmetic = operations / peak["operations_per_second"]
    memory = bytes_moved / peak["bytes_per_second"]
    return {
        "seconds": seconds,
        "operations": operations,
        "bytes": bytes_moved,
        "arithmetic_limit_s": arithmetic,
        "memory_limit_s": memory,
        "share_of_limit": max(arithmetic, memory) / seconds,
    }
