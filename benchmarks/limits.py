"""What the machine could do at best, measured on the spot: arithmetic and memory.

A matrix product runs at the peak of the vector units with one multiply-add an operation; an add or
a maximum is one operation as well, so half the product's flops is the peak rate for those. Summing
a large array runs at the speed of memory.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

__all__ = ["limits", "peaks"]

_best: dict[str, float] = {}


def peaks() -> dict[str, float]:
    """Measure this core's vector operations and bytes a second; return the best seen so far.

    Processor time, and once more for each benchmark: a busy moment must not pass for the limit.
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
    """Return how near a time is to what arithmetic and memory allow.

    Parameters
    ----------
    seconds : float
        What was measured.
    operations : float
        Double-precision adds, maxima and multiply-adds that the algorithm cannot do without.
    bytes_moved : float
        Bytes that must come from memory, each once.
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
