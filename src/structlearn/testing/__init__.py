"""Proofs for structures (compared with enumeration) and for scorers (adjoint, differences)."""

from .check import check_structure
from .enumeration import Enumeration, enumerate_outputs
from .report import Report
from .scorer import check_scorer

__all__ = ["Enumeration", "Report", "check_scorer", "check_structure", "enumerate_outputs"]
