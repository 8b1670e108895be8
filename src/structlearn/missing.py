"""Packages that structlearn-core goes without: importing one of them says how to get it.

``structlearn-core`` has no dependencies and labels text with models that were trained elsewhere;
``structlearn`` requires it and the packages listed here.
"""

from __future__ import annotations

import sys

__all__ = ["MissingPackages"]

#: Packages that the distribution structlearn requires, as they are imported, and their names.
REQUIRED = {
    "highspy": "HiGHS (highspy)",
    "joblib": "joblib",
    "numpy": "NumPy",
    "rich": "rich",
    "scipy": "SciPy",
    "sklearn": "scikit-learn",
    "threadpoolctl": "threadpoolctl",
}


class MissingPackages:
    """The last of Python's finders: it is asked for what no other has found, and finds nothing."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Raise ModuleNotFoundError with advice if a module of ours imports a required package."""
        if name in REQUIRED and _importer().partition(".")[0] == "structlearn":
            raise ModuleNotFoundError(
                f"this needs {REQUIRED[name]}, which is not installed: pip install structlearn "
                "(structlearn-core alone only loads models and labels text)",
                name=name,
            )


def _importer() -> str:
    """Return the name of the module whose import statement is running."""
    frame = sys._getframe(2)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("importlib"):
        frame = frame.f_back
    name: str = frame.f_globals.get("__name__", "")
    return name
