"""All benchmarks; importing this package fills the registry."""

from ..registry import REGISTRY
from . import (
    argmax,
    crf_solvers,
    grids,
    growth,
    marginals,
    parity,
    programs,
    segments,
    svm_solvers,
    tagging,
    training,
    trees,
)

__all__ = [
    "REGISTRY",
    "argmax",
    "crf_solvers",
    "grids",
    "growth",
    "marginals",
    "parity",
    "programs",
    "segments",
    "svm_solvers",
    "tagging",
    "training",
    "trees",
]
