"""Advice for missing packages: importing one that structlearn-core lacks says how to install it.

``structlearn-core`` has no dependencies and labels text with models that were trained elsewhere;
``structlearn`` requires it and the packages listed here, and has the modules that learn.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

#: Import names of the packages that the distribution structlearn requires, and their PyPI names.
REQUIRED = {
    "highspy": "HiGHS (highspy)",
    "joblib": "joblib",
    "numpy": "NumPy",
    "rich": "rich",
    "scipy": "SciPy",
    "sklearn": "scikit-learn",
    "threadpoolctl": "threadpoolctl",
}
#: Our own packages in that distribution: text models do not need them.
BROUGHT = (
    "datasets",
    "distributed",
    "features",
    "labelling",
    "learners",
    "losses",
    "problem",
    "scoring",
    "structures",
    "tasks.images",
    "testing",
    "torch",
    "traces",
    "workbench",
)


class MissingPackages:
    """The last of Python's finders, asked only for modules that no other finds."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Raise ModuleNotFoundError with advice if the module comes with structlearn.

        structlearn's modules may be in another folder than structlearn-core's, for instance the
        user's and not the system's: they are found there.
        """
        home, _, brought = name.partition(".")
        if home == "structlearn" and brought in BROUGHT:
            from importlib.machinery import PathFinder

            package = name.rpartition(".")[0].replace(".", "/")
            if spec := PathFinder.find_spec(name, [f"{folder}/{package}" for folder in sys.path]):
                return spec
        elif name not in REQUIRED or _importer().partition(".")[0] != "structlearn":
            return None
        raise ModuleNotFoundError(
            f"this needs {REQUIRED.get(name, name)}, which is not installed: "
            "pip install structlearn (structlearn-core alone only loads models and labels text)",
            name=name,
        )


def _importer() -> str:
    """Return the name of the module whose import statement is running."""
    frame = sys._getframe(2)
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("importlib"):
        frame = frame.f_back
    name: str = frame.f_globals.get("__name__", "")
    return name
