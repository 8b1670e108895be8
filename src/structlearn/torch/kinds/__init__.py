"""Structures with a padded form, by type and by name.

PyTorch operators take tensors, numbers and strings. A structure with the blocks of a call is passed
as a string that describes it completely: an exported program recreates the same structure in
another process, and ``torch.compile`` before anything is computed.
"""

from __future__ import annotations

from ...structures import (
    Arborescence,
    Chain,
    Constituency,
    ConstrainedChain,
    ConstrainedSemiMarkov,
    SemiMarkov,
)
from ...structures.base import Structure
from .accepted import AcceptedChainKind, AcceptedSegmentKind
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
from .rows import filled_rows, named_rows
from .segments import SegmentKind

__all__ = [
    "IGNORE",
    "UNUSED",
    "Kind",
    "Tensors",
    "filled_rows",
    "kind_type",
    "lengths_to_mask",
    "named_kind",
    "named_rows",
    "on_gpu",
    "say_once",
]

_TYPES: dict[type, type[Kind]] = {
    Chain: ChainKind,
    SemiMarkov: SegmentKind,
    ConstrainedChain: AcceptedChainKind,
    ConstrainedSemiMarkov: AcceptedSegmentKind,
    Arborescence: DependencyKind,
    Constituency: ConstituentKind,
}

_WORDS = {kind.word: (structure, kind) for structure, kind in _TYPES.items()}
_KINDS: dict[str, Kind] = {}


def kind_type(structure: Structure) -> type[Kind] | None:
    """Return the kind of a structure; None if it takes only lists of examples."""
    if getattr(structure, "grammar", None) is not None:
        return None
    return _TYPES.get(type(structure))


def named_kind(name: str) -> Kind:
    """Return the kind with this :attr:`Kind.name`."""
    named = _KINDS.get(name)
    if named is None:
        first, *blocks = name.split()
        word, *options = first.split(":")
        structure, kind = _WORDS[word]
        names = tuple(block.rstrip("*") for block in blocks)
        shared = tuple(block.endswith("*") for block in blocks)
        # Threads may build equal kinds at once; all of them use the first.
        named = _KINDS.setdefault(name, kind(kind.of_options(structure, options), names, shared))
    return named
