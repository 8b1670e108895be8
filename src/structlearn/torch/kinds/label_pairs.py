"""What chains and segmentations share: transitions, start and end beside the main block."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from .base import Kind, Tensors

#: As many as the kernels have room for.
MOST_LABELS = 256


class LabelPairKind(Kind):
    """A main block (B, ..., K), transition (K, K), start and end (K,), as the kernels take them."""

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
        """Return the main block, transition, start and end, zero where they are not given."""
        given = dict(zip(self.names, scores, strict=True))
        K = scores[0].shape[-1]
        for name, shape in (("transition", (K, K)), ("start", (K,)), ("end", (K,))):
            if name not in given:
                given[name] = scores[0].new_zeros(shape)
        return given[self.main], given["transition"], given["start"], given["end"]

    def _by_name(self, parts: Sequence[torch.Tensor]) -> Tensors:
        """Return the gradients of the blocks that were given."""
        found = dict(zip((self.main, "transition", "start", "end"), parts, strict=True))
        return [found[name] for name in self.names]
