"""The constraint that an automaton accepts the labels."""

from __future__ import annotations

from dataclasses import dataclass

from .automaton import Automaton
from .counting import Constraint
from .events import Sequences


@dataclass(frozen=True)
class Accepted(Constraint):
    """An automaton of one's own accepts the labels."""

    by: Automaton

    def automaton(self, sequences: Sequences) -> Automaton:
        """Return the automaton, which must be one of these labels and of this length."""
        labels = len(sequences.alphabet)
        if self.by.n_labels != labels:
            raise ValueError(f"{self.by!r} is a constraint on {labels} labels")
        if self.by.length not in (None, sequences.length):
            raise ValueError(f"{self.by!r} is a constraint on {sequences.length} positions")
        return self.by

    def __str__(self) -> str:
        return f"accepted by {self.by!r}"
