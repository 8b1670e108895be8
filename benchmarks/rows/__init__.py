"""All benchmarks; importing this package fills the registry."""

from ..registry import REGISTRY
from . import (
    argmax,
    cluster,
    constituent_trees,
    constituents,
    crf_solvers,
    grids,
    growth,
    marginals,
    parity,
    parsing,
    programs,
    running_text,
    segments,
    svm_solvers,
    tagging,
    training,
    trees,
)

__all__ = [
    "REGISTRY",
    "argmax",
    "cluster",
    "constituent_trees",
    "constituents",
    "crf_solvers",
    "grids",
    "growth",
    "marginals",
    "parity",
    "parsing",
    "programs",
    "running_text",
    "segments",
    "svm_solvers",
    "tagging",
    "training",
    "trees",
]
