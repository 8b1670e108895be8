"""Facts about this installation that a report of a bug needs: ``structlearn --version``."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from .. import __version__, _core

#: What learning needs, then what options need.
PACKAGES = ("numpy", "scipy", "scikit-learn", "highspy", "rich")
OPTIONAL = ("gurobipy", "matplotlib", "torch", "ray", "starlette", "uvicorn", "spacy", "pyarrow")


def build_facts() -> list[str]:
    """Return lines: the version, the compiled core, the Python, packages with their versions."""
    versions = {name: _version(name) for name in (*PACKAGES, *OPTIONAL)}
    lines = [
        __version__,
        f"core: {_core.compiler()}, {_core.kernels()} instructions, sums in double precision",
        f"Python {platform.python_version()} ({platform.python_implementation()}), "
        f"{platform.system()} {platform.machine()}",
    ]
    present = [f"{name} {number}" for name, number in versions.items() if number]
    lines.append("packages: " + (", ".join(present) or "none"))
    if missing := [name for name in PACKAGES if not versions[name]]:
        lines.append(f"not installed, learning needs them: {', '.join(missing)}")
    return lines


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
