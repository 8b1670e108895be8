"""The environment of measurements: one thread, one core, the machine. Import before NumPy."""

from __future__ import annotations

import os
import platform
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

__all__ = ["PACKAGES", "affinity", "compile_library", "describe", "one_thread", "pin"]

#: Packages whose versions a result names, if they are installed.
PACKAGES = (
    "structlearn", "numpy", "scipy", "scikit-learn", "hmmlearn", "libwapiti", "python-crfsuite",
)  # fmt: skip

_POOLS = ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMEXPR", "VECLIB_MAXIMUM")


def one_thread() -> None:
    """Keep libraries from starting their own threads; too late once NumPy is imported."""
    for pool in _POOLS:
        os.environ[f"{pool}_NUM_THREADS"] = "1"


def compile_library() -> None:
    """Compile the library's modules, as pip does on installation.

    If Python may not write bytecode (PYTHONDONTWRITEBYTECODE), every process would compile them.
    """
    import compileall

    import structlearn

    compileall.compile_dir(Path(structlearn.__file__).parent, quiet=1)


def affinity() -> list[int]:
    """Return the cores that this process may use; empty if the system does not say."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def pin(cores: list[int]) -> bool:
    """Pin this process and its children to some cores; False if that is impossible."""
    if not (hasattr(os, "sched_setaffinity") and cores):
        return False
    os.sched_setaffinity(0, set(cores))
    return True


def describe(cores: list[int]) -> dict[str, Any]:
    """Return a description of the machine and its software."""
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
    """Return the sizes of the first core's caches, if Linux reports them."""
    sizes = {}
    for index in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        try:
            level, kind, size = (
                (index / name).read_text().strip() for name in ("level", "type", "size")
            )
        except OSError:
            continue
        if kind != "Instruction":
            sizes[f"L{level}"] = size
    return sizes


def _memory() -> float | None:
    if sys.platform == "win32" or "SC_PHYS_PAGES" not in os.sysconf_names:
        return None
    return round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30, 1)
