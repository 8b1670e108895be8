"""How often inference was not exact."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Inexact:
    """How many calls of inference did not find a best output.

    Attributes
    ----------
    under : int
        The output scores no more than the best one, and may score less (greedy or local search).
    over : int
        What was found scores at least as much as every output without being one (a relaxation).
    """

    under: int = 0
    over: int = 0
