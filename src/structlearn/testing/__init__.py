"""Proofs for structures (compared with enumeration) and for scorers (adjoint, differences)."""

from .check import check_structure
from .enumeration import enumerate_outputs
from .scorer import check_scorer

__all__ = ["check_scorer", "check_structure", "enumerate_outputs"]
