"""The kind of labelled segmentations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import torch

from ...structures import SemiMarkov
from ...structures.base import Structure
from .base import IGNORE, UNUSED, Tensors, lengths_to_mask, less_mean
from .chain import position_costs
from .label_pairs import LabelPairKind


class SegmentKind(LabelPairKind):
    """Segment (B, L, M, K); transition, start and end as for chains.

    Outputs are (B, L): the label at the start of a segment, −1 inside it, −100 for padding.
    """

    word = "segments"
    main = "segment"
    structure: SemiMarkov

    @classmethod
    def key(cls, structure: Structure) -> str:
        assert isinstance(structure, SemiMarkov)
        return f"{cls.word}:{structure.max_length}"

    @classmethod
    def rank(cls, structure: Structure, name: str, rank: int) -> bool:
        axes = {"segment": 3, "transition": 2}.get(name, 1)
        if name == "segment" and rank != 4:
            raise ValueError(
                f"segment has {rank} axes, expected 4: (batch, length, max_length, labels)"
            )
        if not axes <= rank <= axes + (2 if name == "transition" else 1):
            raise ValueError(f"{name} has {rank} axes, expected {axes}, or more with the batch")
        return rank == axes

    @classmethod
    def check(cls, structure: Structure, scores: dict[str, torch.Tensor]) -> None:
        assert isinstance(structure, SemiMarkov)
        B, L, M, K = scores["segment"].shape
        if structure.max_length != M:
            raise ValueError(
                f"segment has scores for lengths up to {M}, max_length is {structure.max_length}"
            )
        for name, block in scores.items():
            axes = {"segment": 3, "transition": 2}.get(name, 1)
            wanted: tuple[int, ...] = (K,) * axes
            if block.dim() == axes + 1:
                wanted = (B, *wanted)
            elif block.dim() == axes + 2:
                wanted = (B, max(L - 1, 0), *wanted)
            if name != "segment" and tuple(block.shape) != wanted:
                raise ValueError(
                    f"{name} has shape {tuple(block.shape)}, expected {wanted}: segment, of shape "
                    f"{(B, L, M, K)}, has {K} labels"
                )

    def cut(self, name: str, block: Any, n: int) -> Any:
        if name == "segment":
            return block[:n]
        return block[: max(n - 1, 0)] if name == "transition" and block.ndim == 3 else block

    # -- on the device --------------------------------------------------------------------------

    def infer_kernel(
        self, scores: Tensors, lengths: torch.Tensor, temperature: float
    ) -> tuple[torch.Tensor, Tensors]:
        from ..kernels.semimarkov import segment_infer

        if temperature == 0:
            value, (y,) = self.argmax_kernel(scores, lengths)
            dtype = torch.float64 if scores[0].dtype == torch.float64 else torch.float32
            return value, self.encode(y, scores, lengths, dtype)
        value, *parts = segment_infer(*self._all_blocks(scores), lengths, temperature)
        return value, self._by_name(parts)

    def loss_kernel(
        self,
        raised: torch.Tensor,
        scores: Tensors,
        lengths: torch.Tensor,
        y: Tensors,
        temperature: float,
    ) -> tuple[torch.Tensor, Tensors]:
        if temperature == 0:
            return super().loss_kernel(raised, scores, lengths, y, temperature)
        from ..kernels.clamps import clamped_segments
        from ..kernels.semimarkov import segment_loss

        segment, transition, start, end = self._all_blocks(scores)
        both = clamped_segments(raised, segment, y[0], lengths)
        value, *parts = segment_loss(both, transition, start, end, lengths, temperature)
        return value, self._by_name(parts)

    def argmax_kernel(self, scores: Tensors, lengths: torch.Tensor) -> tuple[torch.Tensor, Tensors]:
        from ..kernels.semimarkov import segment_argmax

        value, y = segment_argmax(*self._all_blocks(scores), lengths)
        return value, [y]

    def encode(
        self, y: torch.Tensor, scores: Tensors, lengths: torch.Tensor, dtype: torch.dtype
    ) -> Tensors:
        """Return the counts of outputs' parts by block."""
        _B, L, _M, K = scores[0].shape
        labels = torch.arange(K, device=y.device)
        starts = y[:, :, None] == labels
        segment = self.allowed([y], scores, lengths) & lengths_to_mask(lengths, L)[:, :, None, None]
        # The label of the segment that ends before each position, and of the one that starts there.
        where = torch.where(y >= 0, torch.arange(L, device=y.device), 0).cummax(dim=1).values
        covering = starts.gather(1, where[:, :, None].expand(-1, -1, K)).to(dtype)
        after = covering[:, :-1].transpose(1, 2) @ starts[:, 1:].to(dtype)
        last = (lengths.clamp(1, L) - 1)[:, None, None].expand(-1, 1, K)
        counts = {
            "segment": segment.to(dtype),
            "transition": after,
            "start": starts[:, 0].to(dtype),
            "end": covering.gather(1, last)[:, 0],
        }
        return [counts[name] for name in self.names]

    # -- outputs --------------------------------------------------------------------------------

    def output_shapes(self, scores: Tensors) -> list[tuple[int, ...]]:
        return [tuple(scores[0].shape[:2])]

    def pack(self, outputs: Sequence[Any], scores: Tensors, lengths: torch.Tensor) -> Tensors:
        y = np.full(scores[0].shape[:2], IGNORE, dtype=np.int64)
        for b, (segments, n) in enumerate(zip(outputs, lengths.tolist(), strict=True)):
            at = 0
            for start, end, label in segments:
                if start != at or not start < end <= n:
                    raise ValueError(
                        f"example {b}: y has the segment {(start, end, label)}, expected one that "
                        f"starts at {at} and ends within {n} positions"
                    )
                if label is not None and label < 0:
                    raise ValueError(f"example {b}: y has the label {label}; unknown is None")
                y[b, start:end] = UNUSED
                y[b, start] = IGNORE if label is None else label
                at = end
            if at != n:
                raise ValueError(f"example {b}: y has segments up to {at} of {n} positions")
        return [torch.from_numpy(y)]

    def unpack(self, y: Tensors, lengths: torch.Tensor) -> list[Any]:
        outputs = []
        for row, n in zip(y[0].cpu().tolist(), lengths.tolist(), strict=True):
            starts = [t for t in range(n) if row[t] != UNUSED]
            ends = [*starts, n][1:]
            outputs.append(
                [(a, b, row[a] if row[a] >= 0 else None) for a, b in zip(starts, ends, strict=True)]
            )
        return outputs

    def check_labels(self, y: Tensors, scores: dict[str, torch.Tensor], inside: Any) -> None:
        K = scores["segment"].shape[3]
        below = (y[0] < UNUSED) & (y[0] != IGNORE)
        if bool((((y[0] >= K) | below) & inside).any()):
            raise ValueError(
                f"y has labels beyond 0..{K - 1}; −1 is inside of a segment, {IGNORE} unknown"
            )
        if bool(((y[0][:, :1] == UNUSED) & inside[:, :1]).any()):
            raise ValueError("y begins inside of a segment: position 0 is −1")

    def conflict(self, y: Tensors, example: int, n: int) -> str:
        inside = 0
        for label in y[0][example, :n].tolist():
            inside = inside + 1 if label == UNUSED else 0
            if inside == self.structure.max_length:
                return f"it has a segment longer than max_length, {inside}"
        return super().conflict(y, example, n)

    def allowed(self, y: Tensors, scores: Tensors, lengths: torch.Tensor) -> torch.Tensor:
        _B, L, M, K = scores[0].shape
        row = y[0]
        labels = torch.arange(K, device=row.device)
        start = (row[:, :, None] == labels) | (row == IGNORE)[:, :, None]
        # Known starts before each position: their number within a segment is then a difference.
        before = torch.nn.functional.pad((row >= 0).long().cumsum(1), (1, 0))
        t = torch.arange(L, device=row.device)[:, None]
        end = t + torch.arange(1, M + 1, device=row.device)
        stop = end.clamp(max=L)
        none_within = before[:, stop] - before[:, t + 1] == 0
        inside = torch.nn.functional.pad(row == UNUSED, (0, 1))
        inside = inside & (torch.arange(L + 1, device=row.device) < lengths[:, None])
        fits = none_within & ~inside[:, stop] & (end <= lengths[:, None, None])
        return start[:, :, None, :] & fits[:, :, :, None]

    def _shifted(self, name: str, block: torch.Tensor, p: torch.Tensor) -> torch.Tensor:
        if name == "transition":  # one for each segment
            return block
        if name != "segment":
            return less_mean(block, p, (-1,))
        size = torch.arange(1.0, block.shape[2] + 1, dtype=block.dtype, device=block.device)
        return less_mean(block, p, (1, 2, 3), size[:, None])

    def costs(
        self, y: Tensors, table: torch.Tensor | None, scores: Tensors, lengths: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        _B, L, M, K = scores[0].shape
        row = y[0]
        where = torch.where(row != UNUSED, torch.arange(L, device=row.device), 0).cummax(1).values
        costs = position_costs(row.gather(1, where), table, K)
        total = torch.nn.functional.pad(costs.cumsum(1), (0, 0, 1, 0))
        t = torch.arange(L, device=row.device)[:, None]
        stop = (t + torch.arange(1, M + 1, device=row.device)).clamp(max=L)
        return total[:, stop] - total[:, t], None
