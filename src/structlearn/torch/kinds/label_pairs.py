"""Common parts of chains and segmentations: transitions, start and end."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from .base import Kind, Tensors

#: The most labels that the kernels have room for.
MOST_LABELS = 256


class LabelPairKind(Kind):
    """A kind with a main block (B, ..., K), transition (K, K), start and end (K,)."""

    cuts_leave_rows = True

    def has_kernel(self, scores: Tensors, temperature: float) -> bool:
        return scores[0].shape[-1] <= MOST_LABELS and all(
            block.dim() <= (3 if name == "transition" else 1)
            for name, block in zip(self.names[1:], scores[1:], strict=True)
        )

    def has_argmax_kernel(self, scores: Tensors) -> bool:
        return self.has_kernel(scores, 0.0)

    def _all_blocks(
        self, scores: Tensors
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return the main block, transition, start and end; zeros for those the call omits."""
        blocks = dict(zip(self.names, scores, strict=True))
        K = scores[0].shape[-1]
        for name, shape in (("transition", (K, K)), ("start", (K,)), ("end", (K,))):
            if name not in blocks:
                blocks[name] = scores[0].new_zeros(shape)
        return blocks[self.main], blocks["transition"], blocks["start"], blocks["end"]

    def _by_name(self, parts: Sequence[torch.Tensor]) -> Tensors:
        """Return the gradients of the blocks in the call."""
        blocks = dict(zip((self.main, "transition", "start", "end"), parts, strict=True))
        return [blocks[name] for name in self.names]
