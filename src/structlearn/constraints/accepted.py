"""A constraint given as an automaton."""

from __future__ import annotations

from dataclasses import dataclass

from .automaton import Automaton
from .counting import Constraint
from .events import Sequences


@dataclass(frozen=True)
class Accepted(Constraint):
    """A user's own automaton accepts the labels."""

    by: Automaton

    def automaton(self, sequences: Sequences) -> Automaton:
        """Return the automaton after checking its number of labels and its length."""
        labels = len(sequences.alphabet)
        if self.by.n_labels != labels:
            raise ValueError(f"{self.by!r} is a constraint on {labels} labels")
        if self.by.length not in (None, sequences.length):
            raise ValueError(f"{self.by!r} is a constraint on {sequences.length} positions")
        return self.by

    def __str__(self) -> str:
        return f"accepted by {self.by!r}"
