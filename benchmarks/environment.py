"""One thread, one core, and the name of the machine. Imported before NumPy."""

from __future__ import annotations

import os
import platform
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

__all__ = ["PACKAGES", "affinity", "compile_library", "describe", "one_thread", "pin"]

#: Packages whose versions a result names, where they are installed.
PACKAGES = (
    "structlearn", "numpy", "scipy", "scikit-learn", "hmmlearn", "libwapiti", "python-crfsuite",
)  # fmt: skip

_POOLS = ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMEXPR", "VECLIB_MAXIMUM")


def one_thread() -> None:
    """Keep libraries from starting threads of their own; too late once NumPy is imported."""
    for pool in _POOLS:
        os.environ[f"{pool}_NUM_THREADS"] = "1"


def compile_library() -> None:
    """Compile the library's modules, as pip does with what it installs.

    Where Python may not write bytecode (PYTHONDONTWRITEBYTECODE) every process would compile them.
    """
    import compileall

    import structlearn

    compileall.compile_dir(Path(structlearn.__file__).parent, quiet=1)


def affinity() -> list[int]:
    """Return the cores that this process may use; empty where the system does not tell."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def pin(cores: list[int]) -> bool:
    """Keep this process, and those it starts, on some cores; False where that is not possible."""
    if not (hasattr(os, "sched_setaffinity") and cores):
        return False
    os.sched_setaffinity(0, set(cores))
    return True


def describe(cores: list[int]) -> dict[str, Any]:
    """Return what a reader must know of the machine and of the software on it."""
    from structlearn import _core

    return {
        "cpu": _cpu_model(),
        "cores": len(cores) or os.cpu_count(),
        "caches": _caches(),
        "memory_gb": _memory(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "packages": {name: _version(name) for name in PACKAGES},
        "kernels": _core.kernels(),
    }


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _cpu_model() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _caches() -> dict[str, str]:
    """Return the sizes of the first core's caches, where Linux tells them."""
    found = {}
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        try:
            level, kind, size = (
                (index / name).read_text().strip() for name in ("level", "type", "size")
            )
        except OSError:
            continue
        if kind != "Instruction":
            found[f"L{level}"] = size
    return found


def _memory() -> float | None:
    if sys.platform == "win32" or "SC_PHYS_PAGES" not in os.sysconf_names:
        return None
    return round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30, 1)
