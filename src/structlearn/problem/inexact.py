"""Counts of inexact inference."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Inexact:
    """The number of inference calls that did not return a best output.

    Attributes
    ----------
    under : int
        The output scores no more than the best one, and may score less (greedy or local search).
    over : int
        The result scores at least as much as every output but is not one itself (a relaxation).
    """

    under: int = 0
    over: int = 0
