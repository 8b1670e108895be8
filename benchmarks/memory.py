"""Memory of this process, current and peak."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import sys
from pathlib import Path

__all__ = ["current", "peak", "reset_peak", "tidy"]

_STATUS = Path("/proc/self/status")


def _field(name: str) -> float | None:
    """Return a memory field of the process from Linux, in MB."""
    try:
        for line in _STATUS.read_text().splitlines():
            if line.startswith(name):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return None


def current() -> float | None:
    """Return the resident memory in MB, if Linux reports it."""
    return _field("VmRSS:")


def peak() -> float:
    """Return the peak of the resident memory in MB.

    Linux's own field is preferred: ``ru_maxrss`` of a process started by a larger one begins at
    that one's peak.
    """
    size = _field("VmHWM:")
    if size is not None:
        return size
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used / (2**20 if sys.platform == "darwin" else 2**10)


def tidy() -> None:
    """Return freed memory to the system, so that it does not hide later growth."""
    gc.collect()
    with contextlib.suppress(AttributeError, OSError, TypeError):  # glibc only
        ctypes.CDLL(None).malloc_trim(0)


def reset_peak() -> bool:
    """Reset the peak to the current memory; False if the system does not allow it."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True
