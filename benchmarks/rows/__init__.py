"""All benchmarks; importing this package fills the registry."""

from ..registry import REGISTRY
from . import argmax, marginals, parity, segments, svm_solvers, tagging, training

__all__ = [
    "REGISTRY",
    "argmax",
    "marginals",
    "parity",
    "segments",
    "svm_solvers",
    "tagging",
    "training",
]
