"""``vmap`` of the operators: the mapped axis is folded into the batch axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from ..kinds import Tensors, named_kind


class Fold:
    """A batch of blocks for each of ``size`` copies, as one batch.

    Parameters
    ----------
    size : int
        Of the mapped axis.
    kind : str
    scores : sequence of tensors
    dims : sequence of int or None
        Where each block has the mapped axis; None: the copies share it.

    Attributes
    ----------
    scores : list of tensors
    kind : str
        A block that the examples share but the copies do not becomes each example's own.
    """

    def __init__(
        self, size: int, kind: str, scores: Sequence[torch.Tensor], dims: Sequence[int | None]
    ) -> None:
        which = named_kind(kind)
        self.size = size
        main = scores[0] if dims[0] is None else scores[0].movedim(dims[0], 0)[0]
        self.batch = main.shape[0]
        self.scores: Tensors = []
        shared = []
        for block, dim, is_shared in zip(scores, dims, which.shared, strict=True):
            shared.append(is_shared and dim is None)
            if is_shared and dim is not None:
                block = block.movedim(dim, 0)[:, None]
                block = block.expand(size, self.batch, *block.shape[2:]).flatten(0, 1)
            elif not is_shared:
                block = self.each(block, dim)
            self.scores.append(block)
        self.kind = type(which)(which.structure, which.names, tuple(shared)).name

    def each(self, x: torch.Tensor, dim: int | None) -> torch.Tensor:
        """Return a tensor over examples, with the copies one after another."""
        return each_copy(self.size, x, dim)

    def back(self, x: torch.Tensor) -> torch.Tensor:
        """Return a result with the mapped axis first."""
        return x.unflatten(0, (self.size, self.batch))


def each_copy(size: int, x: torch.Tensor, dim: int | None) -> torch.Tensor:
    """Return a tensor's rows for each of several copies, one copy after another."""
    x = x.expand(size, *x.shape) if dim is None else x.movedim(dim, 0)
    return x.flatten(0, 1)


def argmax_vmap(
    info: Any, in_dims: Any, scores: Tensors, lengths: torch.Tensor, kind: str
) -> tuple[Tensors, list[int]]:
    """Map the operator ``argmax``."""
    fold = Fold(info.batch_size, kind, scores, _dims(in_dims[0], scores))
    outputs = torch.ops.structlearn.argmax(fold.scores, fold.each(lengths, in_dims[1]), fold.kind)
    return [fold.back(t) for t in outputs], [0] * len(outputs)


def curvature_vmap(
    info: Any,
    in_dims: Any,
    scores: Tensors,
    lengths: torch.Tensor,
    kind: str,
    temperature: float,
    directions: Tensors,
) -> tuple[Tensors, list[int]]:
    """Map the operator ``curvature``, as needed for gradients of several outputs at once."""
    fold = Fold(info.batch_size, kind, scores, _dims(in_dims[0], scores))
    lines = [*map(fold.each, directions, _dims(in_dims[4], directions))]
    bends = torch.ops.structlearn.curvature(
        fold.scores, fold.each(lengths, in_dims[1]), fold.kind, temperature, lines
    )
    return [fold.back(b) for b in bends], [0] * len(bends)


def _dims(dims: Any, tensors: Tensors) -> list[int | None]:
    """Return the mapped axis of each tensor of a list."""
    return [None] * len(tensors) if dims is None else [*dims]
