"""The parameters of learning and their defaults, without NumPy."""

from __future__ import annotations

from typing import Any

__all__ = ["Parameters"]


class Parameters:
    """The parameters of a :class:`StructuredModel`, by the same names, as a plain object."""

    structure: Any = "chain"
    cost: Any = "hamming"
    margin: float = 1.0
    temperature: float = 0.0
    C: float = 1.0
    l1: float = 0.0
    solver: Any = "auto"
    step: str = "decaying"
    max_iter: int = 100
    tol: float = 1e-3
    violation_tol: float | None = None
    average: bool = True
    shuffle: bool = True
    min_count: int = 0
    all_possible_states: bool = False
    all_possible_transitions: bool = True
    boundaries: bool = True
    hierarchy: Any = None
    forbid: Any = None
    constraints: Any = None
    time_limit: float | None = None
    class_weight: Any = None
    latent: str = "auto"
    submodular: bool = False
    likelihood: str = "auto"
    callbacks: Any = None
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0
    beam: int | None = None
    update_at: str = "early"
    checkpoint: Any = None
    delta: float = 1.0
    least: float = 0.0
    _rate: float = 1.0

    def __init__(self, **given: Any) -> None:
        for name, value in given.items():
            getattr(type(self), name)  # no other names
            setattr(self, name, value)
