"""The kind of chains."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import torch

from ... import _core
from ...structures import Chain
from ...structures.base import Structure
from ...threads import n_threads
from .base import IGNORE, Tensors, fill_row, less_mean
from .label_pairs import LabelPairKind

#: The axes of one example's block, by order and block; a table, since it is looked up so often.
_RANKS: dict[tuple[int, str], int] = {}


class ChainKind(LabelPairKind):
    """Label (B, L, K), transition (K, K), start and end (K,).

    Start and end may have a batch axis; transitions those of batch and position.
    """

    word = "chain"
    main = "label"
    structure: Chain

    @classmethod
    def key(cls, structure: Structure) -> str:
        assert isinstance(structure, Chain)
        return f"{cls.word}:{structure.order}"

    @classmethod
    def rank(cls, structure: Structure, name: str, rank: int) -> bool:
        axes = cls._rank(structure, name)
        most = axes + (2 if name.startswith("transition") else 1)
        if name == "label" and rank != 3:
            raise ValueError(f"label has {rank} axes, expected 3: (batch, length, labels)")
        if not axes <= rank <= most:
            raise ValueError(
                f"{name} has {rank} axes, expected {axes}, shared by all examples, or up to {most}"
            )
        return rank == axes

    @classmethod
    def _rank(cls, structure: Structure, name: str) -> int:
        assert isinstance(structure, Chain)
        key = (structure.order, name)
        if key not in _RANKS:
            _RANKS[key] = 2 if name == "label" else len(structure.blocks(1)[name].outcomes)
        return _RANKS[key]

    @classmethod
    def check(cls, structure: Structure, scores: dict[str, torch.Tensor]) -> None:
        B, L, K = scores["label"].shape
        for name, block in scores.items():
            if name == "label":
                continue
            axes = cls._rank(structure, name)
            wanted: tuple[int, ...] = (K,) * axes
            if block.dim() == axes + 1:
                wanted = (B, *wanted)
            elif block.dim() == axes + 2:
                wanted = (B, max(L - axes + 1, 0), *wanted)
            if tuple(block.shape) != wanted:
                raise ValueError(
                    f"{name} has shape {tuple(block.shape)}, expected {wanted}: label, of shape "
                    f"{(B, L, K)}, has {K} labels"
                )

    def cut(self, name: str, block: Any, n: int) -> Any:
        if name == "label":
            return block[:n]
        axes = self._rank(self.structure, name)
        return block[: max(n - axes + 1, 0)] if block.ndim > axes else block

    # -- on the device --------------------------------------------------------------------------

    def has_kernel(self, scores: Tensors, temperature: float) -> bool:
        return self.structure.order == 1 and super().has_kernel(scores, temperature)

    def infer_kernel(
        self, scores: Tensors, lengths: torch.Tensor, temperature: float
    ) -> tuple[torch.Tensor, Tensors]:
        from ..kernels.chain import chain_infer

        if temperature == 0:
            value, (y,) = self.argmax_kernel(scores, lengths)
            dtype = torch.float64 if scores[0].dtype == torch.float64 else torch.float32
            return value, self.encode(y, scores, dtype)
        value, *parts = chain_infer(*self._all_blocks(scores), lengths, temperature)
        return value, self._by_name(parts)

    def argmax_kernel(self, scores: Tensors, lengths: torch.Tensor) -> tuple[torch.Tensor, Tensors]:
        from ..kernels.viterbi import chain_argmax

        value, y = chain_argmax(*self._all_blocks(scores), lengths)
        return value, [y]

    def fused_loss(
        self,
        scores: Tensors,
        lengths: torch.Tensor,
        y: torch.Tensor,
        table: torch.Tensor | None,
        margin: float,
        temperature: float,
    ) -> tuple[torch.Tensor, Tensors]:
        """Return the loss and its gradients by block in a single pass, for ε > 0."""
        from ..kernels.chain import chain_loss

        value, *parts = chain_loss(
            *self._all_blocks(scores), lengths, y, temperature, margin, table
        )
        return value, self._by_name(parts)

    # -- through the core -----------------------------------------------------------------------

    def core_loss(
        self,
        raised: torch.Tensor,
        scores: Tensors,
        lengths: torch.Tensor,
        y: torch.Tensor,
        temperature: float,
    ) -> tuple[torch.Tensor, Tensors] | None:
        """Return loss and gradients on the CPU by one call of the core, which checks the values.

        None if that is impossible: at ε = 0, with unknown labels, or blocks that are not shared.
        """
        if temperature == 0 or self.structure.order != 1 or not all(self.shared[1:]):
            return None
        B, L, K = raised.shape
        dtype = torch.float64 if raised.dtype == torch.float64 else torch.float32
        value = torch.empty(B, dtype=torch.float64)
        grads = [
            torch.empty(shape, dtype=dtype) for shape in ((B, L, K), (B, K * K), (B, K), (B, K))
        ]
        label, transition, start, end = (
            block.to(dtype).contiguous().numpy() for block in self._all_blocks(scores)
        )
        supported = _core.chain_losses(
            label, raised.to(dtype).contiguous().numpy(), transition.reshape(-1), start, end,
            lengths.numpy(), y.contiguous().numpy(), temperature, n_threads(self.threads()),
            value.numpy(), *(g.numpy() for g in grads),
        )  # fmt: skip
        grads[1] = grads[1].view(B, K, K)
        return (value, self._by_name(grads)) if supported else None

    # -- outputs --------------------------------------------------------------------------------

    def output_shapes(self, scores: Tensors) -> list[tuple[int, ...]]:
        return [tuple(scores[0].shape[:2])]

    def pack(self, outputs: Sequence[Any], scores: Tensors, lengths: torch.Tensor) -> Tensors:
        y = np.full(scores[0].shape[:2], IGNORE, dtype=np.int64)
        for b, (labels, n) in enumerate(zip(outputs, lengths.tolist(), strict=True)):
            fill_row(y[b], labels, n, b)
        return [torch.from_numpy(y)]

    def unpack(self, y: Tensors, lengths: torch.Tensor) -> list[Any]:
        rows = y[0].cpu().numpy()
        return [
            [None if k < 0 else int(k) for k in row[:n]]
            for row, n in zip(rows, lengths.tolist(), strict=True)
        ]

    def check_labels(self, y: Tensors, scores: dict[str, torch.Tensor], inside: Any) -> None:
        K = scores["label"].shape[2]
        if bool((((y[0] >= K) | ((y[0] < 0) & (y[0] != IGNORE))) & inside).any()):
            raise ValueError(f"y has labels beyond 0..{K - 1}; unknown ones are {IGNORE}")

    def allowed(self, y: Tensors, scores: Tensors, lengths: torch.Tensor) -> torch.Tensor:
        labels = torch.arange(scores[0].shape[2], device=y[0].device)
        return (y[0][:, :, None] == IGNORE) | (y[0][:, :, None] == labels)

    def costs(
        self, y: Tensors, table: torch.Tensor | None, scores: Tensors, lengths: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        return position_costs(y[0], table, scores[0].shape[2]), None

    def _shifted(self, name: str, block: torch.Tensor, p: torch.Tensor) -> torch.Tensor:
        axes = 1 if name == "label" else self._rank(self.structure, name)
        return less_mean(block, p, tuple(range(-axes, 0)))

    def encode(self, y: torch.Tensor, scores: Tensors, dtype: torch.dtype) -> Tensors:
        """Return the counts of the outputs' parts by block; labels below 0 are not counted."""
        K = scores[0].shape[2]
        labels = torch.arange(K, device=y.device)
        label = (y[:, :, None] == labels).to(dtype)
        counts = {"label": label}
        last = label.sum(dim=(1, 2)).clamp(min=1).long() - 1
        for name, block in zip(self.names, scores, strict=True):
            if name == "start":
                counts[name] = label[:, 0].clone()
            elif name == "end":
                counts[name] = label.gather(1, last[:, None, None].expand(-1, 1, K))[:, 0]
            elif name != "label" and block.dim() <= 3:
                counts[name] = label[:, :-1].transpose(1, 2) @ label[:, 1:]
            elif name != "label":
                counts[name] = label[:, :-1, :, None] * label[:, 1:, None, :]
        return [counts[name] for name in self.names]


def position_costs(y: torch.Tensor, table: torch.Tensor | None, K: int) -> torch.Tensor:
    """Return the cost of each label at each position (B, L, K); 0 if the gold one is unknown."""
    labelled = (y >= 0)[:, :, None]
    if table is None:
        return (labelled & (y[:, :, None] != torch.arange(K, device=y.device))).to(torch.float64)
    return torch.where(labelled, table.to(torch.float64)[y.clamp(0, K - 1)], 0.0)
