"""Outputs of structures as sequences of labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..structures.base import Structure
from ..structures.chains.chain import Chain
from ..structures.chains.constrained import ConstrainedChain, ConstrainedSemiMarkov
from ..structures.chains.semimarkov import SemiMarkov
from .alphabet import Alphabet
from .automaton import Automaton
from .events import Sequences

_IN_A_ROW = (Chain, SemiMarkov, ConstrainedChain, ConstrainedSemiMarkov)


def alphabet_of(structure: Structure, classes: Sequence[Any]) -> Alphabet:
    """Return the labels of a structure, as constraints name them."""
    return Alphabet(classes, segments=isinstance(structure, SemiMarkov))


def sequences_of(structure: Structure, alphabet: Alphabet, length: int | None) -> Sequences | None:
    """Return how a structure's outputs are read as sequences; None if they are not sequences.

    Parameters
    ----------
    length : int, optional
        The number of positions of an input.
    """
    if type(structure) not in _IN_A_ROW:  # a subclass may read its labels differently
        return None
    windows = {name: len(block.outcomes) for name, block in structure.blocks(1).items()}
    return Sequences(alphabet, None if alphabet.segments else length, windows)


def symbols_of(structure: Structure, y: Any) -> list[int]:
    """Return an output of a chain or a segmentation as the symbols that automata read."""
    if isinstance(structure, SemiMarkov):
        return [int(k) for _, _, k in y]
    return [int(k) for k in y]


def product_of(structure: Structure, automata: Sequence[Automaton]) -> Structure:
    """Return the chain or segmentation restricted to outputs that all automata accept."""
    if isinstance(structure, SemiMarkov):
        return ConstrainedSemiMarkov(automata, structure.max_length)
    assert isinstance(structure, Chain)
    return ConstrainedChain(automata, structure.order)


def free_of(structure: ConstrainedChain | ConstrainedSemiMarkov) -> Structure:
    """Return the chain or segmentation without its automata."""
    return structure.free()
