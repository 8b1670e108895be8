"""The sum of the problems of shards."""

from __future__ import annotations

from ..fitting.split_problem import SplitProblem
from .crew import CrewParts, Held

__all__ = ["ShardedProblem"]


def ShardedProblem(held: Held, n_tokens: list[int] | None = None) -> SplitProblem:
    return SplitProblem(CrewParts(held), None if n_tokens is None else sum(n_tokens))
