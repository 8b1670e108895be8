"""Relations on symmetries: labels, places and rules in another order change no answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from fuzz.metamorphic.instances import STRUCTURES, Instance
from fuzz.metamorphic.label_symmetries import backwards, labels, mirrored_spans, symbols
from fuzz.metamorphic.place_symmetries import (
    edges_of_lattice,
    ends_turned,
    nodes,
    pairs,
    pixels,
    words,
)
from fuzz.metamorphic.relation import relation
from fuzz.metamorphic.twins import Twin, demand_twin

__all__: list[str] = []

Rng = np.random.Generator
Symmetry = Callable[[Instance, Rng], Twin]

SYMMETRIES: dict[str, tuple[Symmetry, ...]] = {
    "classes": (labels,),
    "chains of order 0": (labels, backwards),
    "chains of order 1": (labels, backwards),
    "chains of order 2": (labels, backwards),
    "chains of order 3": (labels, backwards),
    "segments": (labels, backwards),
    "trees": (labels, nodes),
    "spans": (labels, mirrored_spans),
    "grammars": (symbols, mirrored_spans),
    "projective arcs": (labels, words),
    "arcs": (labels, words),
    "spanning trees": (nodes,),
    "matchings": (pairs,),
    "lattices": (edges_of_lattice,),
    "graphs": (labels, nodes, ends_turned),
    "grids": (labels, pixels),
    "enumeration": (labels, backwards),
}


class Turned(NamedTuple):
    """A structure with its symmetries."""

    draw: Callable[[Rng], Instance]
    symmetries: tuple[Symmetry, ...]


@relation(
    "labels and places renamed",
    {name: Turned(STRUCTURES[name], turn) for name, turn in SYMMETRIES.items()},
    claim="to rounding; outputs up to ties",
    not_claimed={
        "constraints": "they name labels and places",
        "programs": "a program's columns are what they are",
    },
)
def renamed(subject: Turned, rng: Rng) -> None:
    """Query an instance and its renamed twin."""
    it = subject.draw(rng)
    turn = subject.symmetries[int(rng.integers(len(subject.symmetries)))]
    if turn is labels and "arc" in it.scores and it.scores["arc"].ndim == 2:
        turn = words
    demand_twin(rng, it, turn(it, rng))
