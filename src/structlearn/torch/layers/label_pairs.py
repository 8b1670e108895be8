"""The base of layers over label sequences: transitions, start and end, forbidden pairs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

import torch

from ...constraints.automata import automata_of
from ...constraints.readings import alphabet_of, product_of, sequences_of
from ...constraints.text import read_constraints
from ...structures.base import Structure
from ..label_schemes import forbidden_transitions
from .base import CRFLayer


class LabelPairLayer(CRFLayer):
    """A layer with learned scores for label pairs and for the first and the last label."""

    transition: torch.nn.Parameter
    start: torch.nn.Parameter
    end: torch.nn.Parameter
    no_transition: torch.Tensor
    no_start: torch.Tensor
    no_end: torch.Tensor

    def __init__(
        self,
        structure: Structure,
        n_labels: int,
        *,
        forbid: Any = None,
        labels: Sequence[str] | None = None,
        scheme: str | None = None,
        constraints: Any = None,
        **loss: Any,
    ) -> None:
        super().__init__(structure, **loss)
        if (
            not isinstance(n_labels, (int, np.integer))
            or isinstance(n_labels, bool)
            or n_labels < 1
        ):
            raise ValueError(f"n_labels must be a whole number >= 1, got {n_labels!r}")
        n_labels = int(n_labels)
        if labels is not None and len(labels) != n_labels:
            raise ValueError(f"there are {len(labels)} labels, n_labels is {n_labels}")
        if scheme is not None and labels is None:
            raise ValueError("a scheme needs the labels by name: labels=[...]")
        if constraints is not None:
            self.structure = _under(structure, constraints, labels or range(n_labels))
        self.n_labels = n_labels
        self.transition = torch.nn.Parameter(torch.empty(n_labels, n_labels))
        self.start = torch.nn.Parameter(torch.empty(n_labels))
        self.end = torch.nn.Parameter(torch.empty(n_labels))
        between = torch.zeros(n_labels, n_labels, dtype=torch.bool)
        first = torch.zeros(n_labels, dtype=torch.bool)
        last = torch.zeros(n_labels, dtype=torch.bool)
        if scheme is not None:
            assert labels is not None
            between, first, last = forbidden_transitions(labels, scheme)
        if forbid is not None:
            _forbid(forbid, between, first, last, labels)
        self.constrained = bool(between.any() or first.any() or last.any())
        # Derived from the arguments, so not part of the layer's state.
        self.register_buffer("no_transition", between, persistent=False)
        self.register_buffer("no_start", first, persistent=False)
        self.register_buffer("no_end", last, persistent=False)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters uniformly from −0.1 to 0.1."""
        for parameter in (self.transition, self.start, self.end):
            torch.nn.init.uniform_(parameter, -0.1, 0.1)

    def blocks(self, scores: torch.Tensor) -> dict[str, torch.Tensor]:
        """Return the call's scores and the layer's own, with −∞ for forbidden pairs."""
        if isinstance(scores, torch.Tensor) and scores.dim() and scores.shape[-1] != self.n_labels:
            raise ValueError(
                f"scores of shape {tuple(scores.shape)} are for {scores.shape[-1]} labels, their "
                f"last axis; the layer has n_labels={self.n_labels}"
            )
        own = {"transition": self.transition, "start": self.start, "end": self.end}
        if self.constrained:
            low = float("-inf")
            own = {
                "transition": self.transition.masked_fill(self.no_transition, low),
                "start": self.start.masked_fill(self.no_start, low),
                "end": self.end.masked_fill(self.no_end, low),
            }
        return {self.structure.label_block: scores, **own}

    def extra_repr(self) -> str:
        """Return the number of labels and the loss's parameters."""
        return f"n_labels={self.n_labels}, {super().extra_repr()}"


def _under(structure: Structure, constraints: Any, labels: Sequence[Any]) -> Structure:
    """Return a chain or segmentation with constraints on its labels."""
    sequences = sequences_of(structure, alphabet_of(structure, labels), None)
    assert sequences is not None
    named = automata_of(read_constraints(constraints), sequences)
    return product_of(structure, [constraint.automaton for constraint in named])


def _forbid(
    forbid: Any,
    between: torch.Tensor,
    first: torch.Tensor,
    last: torch.Tensor,
    labels: Sequence[str] | None,
) -> None:
    """Mark the pairs forbidden by a table or a list."""
    K = len(first)
    if isinstance(forbid, np.ndarray) and forbid.dtype == bool:
        forbid = torch.from_numpy(forbid)
    if isinstance(forbid, torch.Tensor):
        if tuple(forbid.shape) != (K, K) or forbid.dtype != torch.bool:
            raise ValueError(
                f"forbid is {forbid.dtype} of shape {tuple(forbid.shape)}, expected torch.bool of "
                f"shape {(K, K)}"
            )
        between |= forbid
        return
    if not isinstance(forbid, Iterable):
        raise ValueError(f"forbid must be a (K, K) tensor or pairs of labels, got {forbid!r}")

    def index(label: Any) -> int:
        if isinstance(label, str) and labels is not None and label in labels:
            return list(labels).index(label)
        if isinstance(label, (int, np.integer)) and 0 <= label < K:
            return int(label)
        raise ValueError(f"forbid has an unknown label {label!r}; there are {K} labels")

    for pair in forbid:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise ValueError(f"forbid must hold pairs (label, next label), got {pair!r}")
        before, after = pair
        if before is None:
            first[index(after)] = True
        elif after is None:
            last[index(before)] = True
        else:
            between[index(before), index(after)] = True
