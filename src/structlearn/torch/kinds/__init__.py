"""The structures that tensors can be cut for, by type; and those that calls have used, by number.

Operators of PyTorch take tensors and numbers. A structure with the blocks that a call gives is a
number to them.
"""

from __future__ import annotations

from typing import Any

from ...structures import Arborescence, Chain, Constituency, SemiMarkov
from ...structures.base import Structure
from .base import (
    IGNORE,
    UNUSED,
    Kind,
    Tensors,
    lengths_to_mask,
    on_gpu,
    say_once,
)
from .chain import ChainKind
from .constituents import ConstituentKind
from .dependencies import DependencyKind
from .segments import SegmentKind

__all__ = [
    "IGNORE",
    "UNUSED",
    "Kind",
    "Tensors",
    "kind_number",
    "kind_type",
    "lengths_to_mask",
    "numbered_kind",
    "on_gpu",
    "say_once",
]

_TYPES: dict[type, type[Kind]] = {
    Chain: ChainKind,
    SemiMarkov: SegmentKind,
    Arborescence: DependencyKind,
    Constituency: ConstituentKind,
}

_NUMBERS: dict[Any, int] = {}
_KINDS: list[Kind] = []


def kind_type(structure: Structure) -> type[Kind] | None:
    """Return how padded tensors are read for a structure; None: only lists of examples are."""
    if getattr(structure, "grammar", None) is not None:
        return None
    return _TYPES.get(type(structure))


def kind_number(structure: Structure, names: tuple[str, ...], shared: tuple[bool, ...]) -> int:
    """Return the number of a structure with these blocks."""
    found = kind_type(structure)
    assert found is not None
    key = (found.key(structure), names, shared)
    if key not in _NUMBERS:
        _KINDS.append(found(structure, names, shared))
        _NUMBERS[key] = len(_KINDS) - 1
    return _NUMBERS[key]


def numbered_kind(number: int) -> Kind:
    """Return the structure of a number."""
    return _KINDS[number]
