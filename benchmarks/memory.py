"""Memory of this process, now and at its peak."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import sys
from pathlib import Path

__all__ = ["current", "peak", "reset_peak", "tidy"]

_STATUS = Path("/proc/self/status")


def _field(name: str) -> float | None:
    """Return a field of Linux's account of the process, in MB."""
    try:
        for line in _STATUS.read_text().splitlines():
            if line.startswith(name):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return None


def current() -> float | None:
    """Return the resident memory in MB, where Linux tells it."""
    return _field("VmRSS:")


def peak() -> float:
    """Return the peak of the resident memory in MB.

    Linux's own field first: ``ru_maxrss`` of a process that was started by a larger one begins at
    the larger one's peak.
    """
    found = _field("VmHWM:")
    if found is not None:
        return found
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used / (2**20 if sys.platform == "darwin" else 2**10)


def tidy() -> None:
    """Give freed memory back to the system, so that it does not hide what is needed next."""
    gc.collect()
    with contextlib.suppress(AttributeError, OSError, TypeError):  # glibc only
        ctypes.CDLL(None).malloc_trim(0)


def reset_peak() -> bool:
    """Let the peak begin at the present; False where the system does not allow it."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True
