"""Batches of scores with their lengths or masks; types and shapes are checked here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import torch

from ..structures.base import Structure
from .kinds import IGNORE, Kind, Tensors, kind_type
from .kinds.chain import ChainKind
from .operators import check_values, is_mapped


def is_padded(
    structure: Structure, scores: Mapping[str, Any], lengths: Any = None, mask: Any = None
) -> bool:
    """Return whether scores are padded tensors of a structure that has a kind.

    ValueError if they are not, but lengths or a mask are given.
    """
    if not isinstance(scores, Mapping):
        raise ValueError(f"scores must be tensors by block, got {type(scores).__name__}")
    padded = kind_type(structure) is not None and not any(
        isinstance(block, (list, tuple)) for block in scores.values()
    )
    if not padded and (lengths is not None or mask is not None):
        raise ValueError(
            f"lengths and mask are for padded tensors; {type(structure).__name__} has one tensor "
            "for each example here: cut each to its length"
        )
    return padded


class Batch:
    """A batch of padded scores for the operators.

    A mask with holes drops positions of a chain: the remaining ones are moved together for the
    computation, and results are moved back.

    Parameters
    ----------
    structure, scores, lengths, mask
        As of :func:`~structlearn.torch.infer`.
    by_position : tuple of str
        Shared blocks of transitions to be repeated for each position.
    """

    def __init__(
        self,
        structure: Structure,
        scores: Mapping[str, Any],
        lengths: torch.Tensor | None = None,
        mask: torch.Tensor | None = None,
        by_position: tuple[str, ...] = (),
    ) -> None:
        kind = kind_type(structure)
        assert kind is not None
        blocks = {name: block for name, block in scores.items() if block is not None}
        self.kind = _known(structure, kind, blocks)
        self.names = self.kind.names
        main = blocks[kind.main]
        if by_position:
            for name in by_position:
                blocks[name] = _repeated(structure, main, name, blocks[name])
            self.kind = _known(structure, kind, blocks)
        self.size = main.shape[0]
        longest = self.kind.longest(main)
        self.order: torch.Tensor | None = None
        self.mask = mask
        if lengths is not None and mask is not None:
            raise ValueError("give lengths or mask, not both")
        for name, x in (("lengths", lengths), ("mask", mask)):
            if x is not None and not isinstance(x, torch.Tensor):
                raise ValueError(f"{name} must be a tensor, got {type(x).__name__}")
        if mask is not None:
            if tuple(mask.shape) != (self.size, longest) or mask.dtype != torch.bool:
                raise ValueError(
                    f"mask is {mask.dtype} of shape {tuple(mask.shape)}, expected torch.bool of "
                    f"shape {(self.size, longest)}"
                )
            _check_device("mask", mask, kind.main, main)
            if issubclass(kind, ChainKind) and not _by_position(structure, scores):
                lengths = mask.sum(dim=1)
                self.order = torch.argsort((~mask).to(torch.uint8), dim=1, stable=True)
                blocks = {**blocks, kind.main: self.take(main)}
            else:
                lengths = _prefix_lengths(mask)
        elif lengths is None:
            lengths = torch.full((self.size,), longest, dtype=torch.int64, device=main.device)
        elif (
            tuple(lengths.shape) != (self.size,)
            or lengths.is_floating_point()
            or lengths.dtype == torch.bool
        ):
            raise ValueError(
                f"lengths is {lengths.dtype} of shape {tuple(lengths.shape)}, expected whole "
                f"numbers of shape {(self.size,)}"
            )
        _check_device("lengths", lengths, kind.main, main)
        self.lengths = lengths.long()
        self.blocks = {name: blocks[name] for name in self.names}
        self.scores: Tensors = list(self.blocks.values())
        narrow = (torch.float16, torch.bfloat16)
        self.dtype = torch.float32 if main.dtype in narrow else main.dtype

    def take(self, x: torch.Tensor) -> torch.Tensor:
        """Return the positions in reading order, without the holes."""
        if self.order is None:
            return x
        order = self.order if x.dim() == 2 else self.order[:, :, None].expand_as(x)
        return x.gather(1, order)

    def put_back(self, x: torch.Tensor, fill: float) -> torch.Tensor:
        """Undo :meth:`take`; positions where the mask is False get ``fill``."""
        if self.order is None:
            return x
        order = self.order.view(*self.order.shape, *[1] * (x.dim() - 2)).expand_as(x)
        return torch.full_like(x, fill).scatter(1, order, x)

    def gold(self, y: Any) -> Tensors:
        """Return gold outputs as padded tensors."""
        if isinstance(y, np.ndarray) and y.dtype.kind in "iu":
            y = torch.from_numpy(y)
        if self.order is not None and isinstance(y, torch.Tensor):
            if tuple(y.shape) != tuple(self.order.shape):
                raise ValueError(
                    f"y has shape {tuple(y.shape)}, expected {tuple(self.order.shape)}"
                )
            y = self.take(y)
        if isinstance(y, list):  # outputs are cut to the lengths, so these must be valid
            check_values(self.kind, self.scores, self.lengths)
        return self.kind.read(y, self.blocks, self.lengths)

    def parts(self, parts: Tensors) -> dict[str, torch.Tensor]:
        """Return gradients by block.

        A part over several positions is stored at the first of them.
        """
        blocks = dict(zip(self.names, parts, strict=True))
        if self.order is None:
            return blocks
        for name in self.names:
            p = blocks[name]
            if name == self.kind.main:
                blocks[name] = self.put_back(p, 0.0)
            elif p.dim() == len(self.kind.structure.blocks(1)[name].outcomes) + 2:
                sites = p.shape[1]
                order = self.order[:, :sites].clamp(max=sites - 1)
                order = order.view(*order.shape, *[1] * (p.dim() - 2)).expand_as(p)
                blocks[name] = torch.zeros_like(p).scatter_add(1, order, p)
        return blocks

    def outputs(self, y: Tensors) -> Any:
        """Return the output as one tensor, or as a tuple of several."""
        back = [self.put_back(t, IGNORE) for t in y]
        return back[0] if len(back) == 1 else tuple(back)


def _by_position(structure: Structure, scores: Mapping[str, Any]) -> bool:
    """Return whether a chain's transitions have the axes of batch and position."""
    return any(
        name.startswith("transition")
        and block is not None
        and block.dim() == len(structure.blocks(1)[name].outcomes) + 2
        for name, block in scores.items()
    )


def _prefix_lengths(mask: torch.Tensor) -> torch.Tensor:
    """Return the number of positions in each row of a mask; −1 for rows with holes."""
    holes = (mask[:, 1:] & ~mask[:, :-1]).any(dim=1)
    readable = mask.device.type == "cpu" and not torch.compiler.is_compiling()
    if readable and not is_mapped(mask) and bool(holes.any()):
        raise ValueError(
            f"mask has holes: row {int(holes.nonzero()[0])} must be True up to the length and "
            "False beyond it; only chains without transitions by position can leave positions out"
        )
    return torch.where(holes, -1, mask.sum(dim=1))


def _repeated(
    structure: Structure, main: torch.Tensor, name: str, block: torch.Tensor
) -> torch.Tensor:
    """Return shared transitions, repeated for each position."""
    rank = len(structure.blocks(1)[name].outcomes)
    if block.dim() == rank + 2:
        return block
    sites = max(main.shape[1] - rank + 1, 0)
    if block.dim() == rank:
        return block.expand(main.shape[0], sites, *block.shape)
    return block[:, None].expand(-1, sites, *block.shape[1:])


#: Kinds of blocks that have passed their checks.
_KNOWN: dict[Any, Kind] = {}


def _known(structure: Structure, kind: type[Kind], scores: dict[str, torch.Tensor]) -> Kind:
    """Return the kind with its blocks' names, the main one first; checked once."""
    if torch.compiler.is_compiling():
        return _checked(structure, kind, scores)
    try:
        key = (
            kind.key(structure),
            *((name, x.shape, x.dtype, x.device) for name, x in scores.items()),
        )
    except AttributeError:  # not a tensor
        return _checked(structure, kind, scores)
    checked = _KNOWN.get(key)
    if checked is None:
        checked = _checked(structure, kind, scores)
        if len(_KNOWN) >= 4096:
            _KNOWN.clear()
        _KNOWN[key] = checked
    return checked


def _checked(structure: Structure, kind: type[Kind], scores: dict[str, torch.Tensor]) -> Kind:
    """Return the kind; ValueError if blocks are unknown or do not fit together."""
    allowed = list(structure.blocks(1))
    unknown = [name for name in scores if name not in allowed]
    if unknown:
        raise ValueError(
            f"{type(structure).__name__} has no score block {unknown[0]!r}; "
            f"its blocks are {allowed}"
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
    if main.device.type == "meta":
        raise ValueError(f"{kind.main} is on the meta device, where nothing can be computed")
    if 0 in main.shape[2:]:
        raise ValueError(
            f"{kind.main} has shape {tuple(main.shape)}: only its batch and its length may be 0"
        )
    names = (kind.main, *(name for name in allowed if name in scores and name != kind.main))
    shared = tuple(kind.rank(structure, name, scores[name].dim()) for name in names)
    return kind(structure, names, shared)


def _check_device(name: str, x: torch.Tensor, main: str, other: torch.Tensor) -> None:
    if x.device != other.device:
        raise ValueError(f"{name} is on {x.device}, {main} on {other.device}")
