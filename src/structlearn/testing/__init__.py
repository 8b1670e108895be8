"""Proofs for structures: everything a structure answers, compared with enumeration."""

from .check import check_structure
from .enumeration import Enumeration, enumerate_outputs
from .report import Report

__all__ = ["Enumeration", "Report", "check_structure", "enumerate_outputs"]
