"""The kind of constituent trees without a grammar: labelled spans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import torch

from ...structures import Constituency
from ...structures.base import Structure
from .base import IGNORE, UNUSED, Kind, Tensors, less_mean


class ConstituentKind(Kind):
    """Span (B, n, n + 1, R), ``span[b, i, j, r]`` for label r over the words i..j − 1.

    Outputs are (B, n, n + 1): the label of each span of the binary tree, 0 for no label, −1 for no
    span in the tree, −100 for padding.
    """

    word = "constituents"
    main = "span"
    structure: Constituency

    @classmethod
    def rank(cls, structure: Structure, name: str, rank: int) -> bool:
        if rank != 4:
            raise ValueError(f"span has {rank} axes, expected 4: (batch, words, words + 1, labels)")
        return False

    @classmethod
    def check(cls, structure: Structure, scores: dict[str, torch.Tensor]) -> None:
        shape = tuple(scores["span"].shape)
        if shape[2] != shape[1] + 1 or shape[3] < 1:
            raise ValueError(
                f"span has shape {shape}, expected ({shape[0]}, {shape[1]}, {shape[1] + 1}, labels)"
            )

    def places(self, lengths: torch.Tensor) -> torch.Tensor:
        return lengths * (lengths + 1)

    def cut(self, name: str, block: Any, n: int) -> Any:
        return block[:n, : n + 1]

    # -- on the device --------------------------------------------------------------------------

    def has_kernel(self, scores: Tensors, temperature: float) -> bool:
        return True

    def has_argmax_kernel(self, scores: Tensors) -> bool:
        return True

    def infer_kernel(
        self, scores: Tensors, lengths: torch.Tensor, temperature: float
    ) -> tuple[torch.Tensor, Tensors]:
        from ..kernels.span_labels import span_infer

        value, grad = span_infer(scores[0], lengths, temperature)
        return value, [grad]

    def loss_kernel(
        self,
        raised: torch.Tensor,
        scores: Tensors,
        lengths: torch.Tensor,
        y: Tensors,
        temperature: float,
    ) -> tuple[torch.Tensor, Tensors]:
        from ..kernels.span_labels import span_loss

        value, grad = span_loss(raised, scores[0], y[0], lengths, temperature)
        return value, [grad]

    def argmax_kernel(self, scores: Tensors, lengths: torch.Tensor) -> tuple[torch.Tensor, Tensors]:
        value, (p,) = self.infer_kernel(scores, lengths, 0.0)
        chart = torch.where(p.sum(dim=3) > 0, p.argmax(dim=3), UNUSED)
        return value, [torch.where(self._inside(lengths, p.shape[1]), chart, IGNORE)]

    def _inside(self, lengths: torch.Tensor, N: int) -> torch.Tensor:
        """Return a mask (B, N, N + 1) of the spans within the sentences."""
        i = torch.arange(N, device=lengths.device)[:, None]
        j = torch.arange(N + 1, device=lengths.device)
        return (i < j) & (j <= lengths[:, None, None])

    # -- outputs --------------------------------------------------------------------------------

    def output_shapes(self, scores: Tensors) -> list[tuple[int, ...]]:
        return [tuple(scores[0].shape[:3])]

    def pack(self, outputs: Sequence[Any], scores: Tensors, lengths: torch.Tensor) -> Tensors:
        chart = np.full(scores[0].shape[:3], IGNORE, dtype=np.int64)
        for b, (spans, n) in enumerate(zip(outputs, lengths.tolist(), strict=True)):
            if not n and not len(spans):
                continue
            end = max((end for _, end, _ in spans), default=0)
            if end > n:
                raise ValueError(
                    f"example {b}: y has a tree over {end} words, the sentence has {n}"
                )
            if any(k is not None and k < 0 for _, _, k in spans):
                raise ValueError(f"example {b}: y has a label below 0; unknown is None")
            # The spans of the tree, including those without a label.
            named = [(i, j, 1) for i, j, _ in spans]
            counts = self.structure.encode(named, span=np.zeros((n, n + 1, 2)))["span"]
            labels = np.where(counts.any(axis=2), 0, UNUSED)
            for i, j, k in spans:
                labels[i, j] = IGNORE if k is None else k
            upper = np.arange(n)[:, None] < np.arange(n + 1)
            chart[b, :n, : n + 1] = np.where(upper, labels, IGNORE)
        return [torch.from_numpy(chart)]

    def unpack(self, y: Tensors, lengths: torch.Tensor) -> list[Any]:
        outputs = []
        for chart, n in zip(y[0].cpu().numpy(), lengths.tolist(), strict=True):
            spans = [
                (i, j, int(chart[i, j]))
                for i in range(n)
                for j in range(n, i, -1)
                if chart[i, j] > 0
            ]
            outputs.append(spans)
        return outputs

    def check_labels(self, y: Tensors, scores: dict[str, torch.Tensor], inside: Any) -> None:
        R = scores["span"].shape[3]
        wrong = (y[0] >= R) | ((y[0] < UNUSED) & (y[0] != IGNORE))
        if bool((wrong & self._inside(inside.sum(dim=1), y[0].shape[1])).any()):
            raise ValueError(f"y has labels beyond 0..{R - 1}; −1 means no span, {IGNORE} unknown")

    def conflict(self, y: Tensors, example: int, n: int) -> str:
        return "a part of it scores -inf, or its spans are not those of one binary tree"

    def allowed(self, y: Tensors, scores: Tensors, lengths: torch.Tensor) -> torch.Tensor:
        labels = torch.arange(scores[0].shape[3], device=y[0].device)
        return (y[0] == IGNORE)[..., None] | (y[0][..., None] == labels)

    def _shifted(self, name: str, block: torch.Tensor, p: torch.Tensor) -> torch.Tensor:
        return less_mean(block, p, (1, 2, 3))

    def costs(
        self, y: Tensors, table: torch.Tensor | None, scores: Tensors, lengths: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        R = scores[0].shape[3]
        gold = y[0].clamp(0, R - 1)  # where the tree has no span: label 0
        if table is None:
            cost = (gold[..., None] != torch.arange(R, device=gold.device)).to(torch.float64)
        else:
            cost = table.to(torch.float64)[gold]
        return torch.where((y[0] != IGNORE)[..., None], cost, 0.0), None
