"""Arguments of calls: blocks of scores, lengths or masks, checked as far as shapes tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from ..structures.base import Structure
from .kinds import IGNORE, Kind, Tensors, kind_number, kind_type, numbered_kind
from .kinds.chain import ChainKind

__all__ = ["Batch", "is_padded"]


def is_padded(structure: Structure, scores: Mapping[str, Any]) -> bool:
    """Tell whether scores are padded tensors of a structure that can be cut out of them."""
    return kind_type(structure) is not None and not any(
        isinstance(block, (list, tuple)) for block in scores.values()
    )


class Batch:
    """A batch of padded scores, as the operators take it.

    A mask with holes leaves positions of a chain out: what is left moves together, and results move
    back to where they belong.
    """

    def __init__(
        self,
        structure: Structure,
        scores: Mapping[str, Any],
        lengths: torch.Tensor | None = None,
        mask: torch.Tensor | None = None,
    ) -> None:
        if not isinstance(scores, Mapping):
            raise ValueError(f"scores must be tensors by block, got {type(scores).__name__}")
        found = kind_type(structure)
        assert found is not None
        given = {name: block for name, block in scores.items() if block is not None}
        self.names, self.number = _known(structure, found, given)
        self.kind: Kind = numbered_kind(self.number)
        main = given[found.main]
        self.size = main.shape[0]
        longest = self.kind.longest(main)
        self.order: torch.Tensor | None = None
        self.mask = mask
        if lengths is not None and mask is not None:
            raise ValueError("give lengths or mask, not both")
        if mask is not None:
            if tuple(mask.shape) != (self.size, longest) or mask.dtype != torch.bool:
                raise ValueError(
                    f"mask is {mask.dtype} of shape {tuple(mask.shape)}, expected torch.bool of "
                    f"shape {(self.size, longest)}"
                )
            _check_device("mask", mask, found.main, main)
            lengths = mask.sum(dim=1)
            if found is ChainKind:
                self.order = torch.argsort((~mask).to(torch.uint8), dim=1, stable=True)
                given = {**given, found.main: self._take(main)}
        elif lengths is None:
            lengths = torch.full((self.size,), longest, dtype=torch.int64, device=main.device)
        elif tuple(lengths.shape) != (self.size,) or lengths.is_floating_point():
            raise ValueError(
                f"lengths is {lengths.dtype} of shape {tuple(lengths.shape)}, expected whole "
                f"numbers of shape {(self.size,)}"
            )
        _check_device("lengths", lengths, found.main, main)
        self.lengths = lengths.long()
        self.blocks = {name: given[name] for name in self.names}
        self.scores: Tensors = list(self.blocks.values())
        narrow = (torch.float16, torch.bfloat16)
        self.dtype = torch.float32 if main.dtype in narrow else main.dtype

    def _take(self, x: torch.Tensor) -> torch.Tensor:
        """Return positions in the order in which they are read."""
        if self.order is None:
            return x
        order = self.order if x.dim() == 2 else self.order[:, :, None].expand_as(x)
        return x.gather(1, order)

    def put_back(self, x: torch.Tensor, fill: float) -> torch.Tensor:
        """Return what belongs to positions where they were, ``fill`` where the mask is False."""
        if self.order is None:
            return x
        order = self.order
        if x.dim() == 3:
            order = order[:, :, None].expand_as(x)
        return torch.full_like(x, fill).scatter(1, order, x)

    def gold(self, y: Any) -> Tensors:
        """Return gold outputs as padded tensors."""
        if self.order is not None and isinstance(y, torch.Tensor):
            if tuple(y.shape) != tuple(self.order.shape):
                raise ValueError(
                    f"y has shape {tuple(y.shape)}, expected {tuple(self.order.shape)}"
                )
            y = self._take(y)
        return self.kind.read(y, self.blocks, self.lengths)

    def parts(self, parts: Tensors) -> dict[str, torch.Tensor]:
        """Return gradients by block."""
        found = dict(zip(self.names, parts, strict=True))
        found[self.kind.main] = self.put_back(found[self.kind.main], 0.0)
        return found

    def outputs(self, y: Tensors) -> Any:
        """Return a tensor, or a tuple of several."""
        back = [self.put_back(t, IGNORE) for t in y]
        return back[0] if len(back) == 1 else tuple(back)


#: What has been found in order: names and number of the kind.
_KNOWN: dict[Any, tuple[tuple[str, ...], int]] = {}


def _known(
    structure: Structure, kind: type[Kind], scores: dict[str, torch.Tensor]
) -> tuple[tuple[str, ...], int]:
    """Return the blocks' names, the main one first, and the number of the kind; checked once."""
    if torch.compiler.is_compiling():
        return _checked(structure, kind, scores)
    try:
        key = (
            kind.key(structure),
            *((name, x.shape, x.dtype, x.device) for name, x in scores.items()),
        )
    except AttributeError:  # not a tensor
        return _checked(structure, kind, scores)
    found = _KNOWN.get(key)
    if found is None:
        found = _checked(structure, kind, scores)
        if len(_KNOWN) >= 4096:
            _KNOWN.clear()
        _KNOWN[key] = found
    return found


def _checked(
    structure: Structure, kind: type[Kind], scores: dict[str, torch.Tensor]
) -> tuple[tuple[str, ...], int]:
    """Return names and number; ValueError where blocks are unknown or do not fit together."""
    known = list(structure.blocks(1))
    unknown = [name for name in scores if name not in known]
    if unknown:
        raise ValueError(
            f"{unknown[0]!r} is no score block of {type(structure).__name__}; it has {known}"
        )
    main = scores.get(kind.main)
    if main is None:
        raise ValueError(f"{type(structure).__name__} needs {kind.main} scores")
    for name, block in scores.items():
        if not isinstance(block, torch.Tensor):
            raise ValueError(f"{name} must be a tensor, got {type(block).__name__}")
        if not block.is_floating_point():
            raise ValueError(f"{name} must hold floating point numbers, got {block.dtype}")
        _check_device(name, block, kind.main, main)
        kind.rank(structure, name, block.dim())
    kind.check(structure, scores)
    if 0 in main.shape:
        raise ValueError(f"{kind.main} is empty: its shape is {tuple(main.shape)}")
    names = (kind.main, *(name for name in known if name in scores and name != kind.main))
    shared = tuple(kind.rank(structure, name, scores[name].dim()) for name in names)
    return names, kind_number(structure, names, shared)


def _check_device(name: str, x: torch.Tensor, main: str, other: torch.Tensor) -> None:
    if x.device != other.device:
        raise ValueError(f"{name} is on {x.device}, {main} on {other.device}")
