"""The kind of dependency trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import torch

from ...structures import Arborescence
from ...structures.base import Structure
from .base import IGNORE, Kind, Tensors, fill_row, lengths_to_mask, less_mean


class DependencyKind(Kind):
    """Arc (B, N, N), or (B, N, N, R) with labels; N is one more than the words.

    Outputs are the heads (B, N − 1) of words 1..N − 1; with labels, a second tensor of that shape.
    Lengths are numbers of words.
    """

    word = "dependencies"
    main = "arc"
    structure: Arborescence

    @classmethod
    def key(cls, structure: Structure) -> str:
        assert isinstance(structure, Arborescence)
        return f"{cls.word}:{int(structure.projective)}:{int(structure.single_root)}"

    @classmethod
    def rank(cls, structure: Structure, name: str, rank: int) -> bool:
        if name == "arc" and rank not in (3, 4):
            raise ValueError(
                f"arc has {rank} axes, expected 3 or 4: (batch, words + 1, words + 1[, labels])"
            )
        if name == "sibling" and rank != 4:
            raise ValueError(f"sibling has {rank} axes, expected 4")
        return False

    @classmethod
    def check(cls, structure: Structure, scores: dict[str, torch.Tensor]) -> None:
        B, N = scores["arc"].shape[:2]
        for name, block in scores.items():
            axes = 2 if name == "arc" else 3
            if tuple(block.shape[: axes + 1]) != (B, *(N,) * axes):
                raise ValueError(f"{name} has shape {tuple(block.shape)}, expected ({B}, {N}, {N})")

    def longest(self, main: torch.Tensor) -> int:
        return main.shape[1] - 1

    def cut(self, name: str, block: Any, n: int) -> Any:
        m = n + 1
        return block[:m, :m] if name == "arc" else block[:m, :m, :m]

    # -- on the device --------------------------------------------------------------------------

    def has_kernel(self, scores: Tensors, temperature: float) -> bool:
        return len(scores) == 1 and (self.structure.projective or temperature > 0)

    def has_argmax_kernel(self, scores: Tensors) -> bool:
        return self.has_kernel(scores, 0.0)

    def infer_kernel(
        self, scores: Tensors, lengths: torch.Tensor, temperature: float
    ) -> tuple[torch.Tensor, Tensors]:
        from ..kernels.arborescence import crossing_trees
        from ..kernels.eisner import projective_trees

        (arc,) = scores
        trees = projective_trees if self.structure.projective else crossing_trees
        if arc.dim() == 3:
            value, p = trees(arc, lengths, temperature, self.structure.single_root)
            return value, [p]
        best = _log_sum(arc, temperature)
        value, p = trees(best, lengths, temperature, self.structure.single_root)
        return value, [p[..., None] * _softmax(arc, best, temperature)]

    def loss_kernel(
        self,
        raised: torch.Tensor,
        scores: Tensors,
        lengths: torch.Tensor,
        y: Tensors,
        temperature: float,
    ) -> tuple[torch.Tensor, Tensors]:
        if raised.dim() == 4:
            return super().loss_kernel(raised, scores, lengths, y, temperature)
        from ..kernels.clamps import clamped_arcs

        both, twice = clamped_arcs(raised, scores[0], y[0], lengths)
        value, (p,) = self.infer_kernel([both], twice, temperature)
        batch = len(raised)
        return value[:batch] - value[batch:], [p[:batch] - p[batch:]]

    def argmax_kernel(self, scores: Tensors, lengths: torch.Tensor) -> tuple[torch.Tensor, Tensors]:
        value, (p,) = self.infer_kernel(scores, lengths, 0.0)
        word = torch.arange(1, p.shape[1], device=p.device)
        inside = word <= lengths[:, None]
        arcs = p if p.dim() == 3 else p.sum(dim=3)
        heads = arcs.argmax(dim=1)[:, 1:]
        outputs = [torch.where(inside, heads, IGNORE)]
        if p.dim() == 4:
            labels = p.sum(dim=1).argmax(dim=2)[:, 1:]
            outputs.append(torch.where(inside, labels, IGNORE))
        return value, outputs

    # -- outputs --------------------------------------------------------------------------------

    def output_shapes(self, scores: Tensors) -> list[tuple[int, ...]]:
        B, N = scores[0].shape[:2]
        return [(B, N - 1)] * (scores[0].dim() - 2)

    def nothing(self, scores: Tensors) -> Any:
        return [] if scores[0].dim() == 3 else ([], [])

    def pack(self, outputs: Sequence[Any], scores: Tensors, lengths: torch.Tensor) -> Tensors:
        shapes = self.output_shapes(scores)
        tensors = [np.full(shape, IGNORE, dtype=np.int64) for shape in shapes]
        for b, (y, n) in enumerate(zip(outputs, lengths.tolist(), strict=True)):
            rows = (y,) if len(shapes) == 1 else y
            if len(rows) != len(shapes):
                raise ValueError("y must be (heads, labels) for each example of labelled arcs")
            for tensor, row in zip(tensors, rows, strict=True):
                fill_row(tensor[b], row, n, b, "words")
        return [torch.from_numpy(tensor) for tensor in tensors]

    def unpack(self, y: Tensors, lengths: torch.Tensor) -> list[Any]:
        rows = [tensor.cpu().numpy() for tensor in y]
        outputs: list[Any] = []
        for b, n in enumerate(lengths.tolist()):
            heads = rows[0][b, :n]
            if len(rows) == 1:
                outputs.append(heads)
            else:
                outputs.append((heads, [None if k < 0 else int(k) for k in rows[1][b, :n]]))
        return outputs

    def check_labels(self, y: Tensors, scores: dict[str, torch.Tensor], inside: Any) -> None:
        longest = inside.sum(dim=1, keepdim=True)
        below = [(row < 0) & (row != IGNORE) for row in y]
        if bool((((y[0] > longest) | below[0]) & inside).any()):
            raise ValueError(
                f"y has heads beyond the words of their sentence; unknown ones are {IGNORE}"
            )
        if len(y) == 2:
            R = scores["arc"].shape[3]
            if bool((((y[1] >= R) | below[1]) & inside).any()):
                raise ValueError(f"y has labels beyond 0..{R - 1}; unknown ones are {IGNORE}")

    def conflict(self, y: Tensors, example: int, n: int) -> str:
        heads = [0, *y[0][example, :n].tolist()]
        for word in range(1, n + 1):
            at = heads[word]
            for _ in range(n):
                if at == word:
                    return f"its heads form a cycle through word {word}"
                at = heads[at] if at > 0 else at
        arcs = [(min(h, m), max(h, m)) for m, h in enumerate(heads) if m and h >= 0]
        roots = [m for m, h in enumerate(heads) if m and h == 0]
        if self.structure.single_root and len(roots) > 1:
            return f"words {roots[0]} and {roots[1]} both have the root as their head"
        if self.structure.single_root and not roots and IGNORE not in heads:
            return "no word has the root as its head"
        if self.structure.projective:
            for a, b in arcs:
                if any(a < c < b < d for c, d in arcs):
                    return f"its arcs cross: one is between {a} and {b}"
        return super().conflict(y, example, n)

    def _right_heads(self, y: Tensors, N: int) -> torch.Tensor:
        """Return a mask (B, N, N) of the gold arcs."""
        nodes = torch.arange(N, device=y[0].device)
        right = y[0][:, None, :] == nodes[:, None]
        return torch.nn.functional.pad(right, (1, 0))

    def allowed(self, y: Tensors, scores: Tensors, lengths: torch.Tensor) -> torch.Tensor:
        N = scores[0].shape[1]
        unknown = torch.nn.functional.pad(y[0] == IGNORE, (1, 0))[:, None, :]
        heads = self._right_heads(y, N) | unknown
        if len(y) == 1:
            return heads
        labels = torch.arange(scores[0].shape[3], device=y[1].device)
        fits = (y[1][:, :, None] == IGNORE) | (y[1][:, :, None] == labels)
        return heads[..., None] & torch.nn.functional.pad(fits, (0, 0, 1, 0))[:, None]

    def _shifted(self, name: str, block: torch.Tensor, p: torch.Tensor) -> torch.Tensor:
        if name != "arc":
            return block
        return less_mean(block, p, (1,) if block.dim() == 3 else (1, 3))

    def costs(
        self, y: Tensors, table: torch.Tensor | None, scores: Tensors, lengths: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        N = scores[0].shape[1]
        right = self._right_heads(y, N)
        labelled = (y[0] >= 0) & lengths_to_mask(lengths, N - 1)
        if len(y) == 1:
            # Without labels, a head is right or wrong.
            return -right.to(torch.float64), labelled.to(torch.float64).sum(dim=1)
        R = scores[0].shape[3]
        delta = 1.0 - torch.eye(R, dtype=torch.float64, device=right.device)
        if table is not None:
            delta = table.to(torch.float64)
        most = delta.amax(dim=1) if table is not None else torch.ones_like(delta[0])
        gold = y[1].clamp(0, R - 1)
        named = y[1] >= 0
        missed = torch.where(named, most[gold], most.max())
        cost = torch.where(named[..., None], delta[gold], delta.amin(dim=0)) - missed[..., None]
        cost = torch.nn.functional.pad(cost, (0, 0, 1, 0))[:, None]
        constant = torch.where(labelled, missed, 0.0).sum(dim=1)
        return torch.where(right[..., None], cost, 0.0), constant


def _log_sum(x: torch.Tensor, temperature: float) -> torch.Tensor:
    """Return ε log Σ exp(x/ε) over the last axis, at least in float32; the maximum for ε = 0."""
    x = x if x.dtype == torch.float64 else x.float()
    if x.shape[-1] == 0:
        return x.new_full(x.shape[:-1], float("-inf"))
    if temperature == 0:
        return x.amax(dim=-1)
    return torch.logsumexp(x / temperature, dim=-1) * temperature


def _softmax(x: torch.Tensor, total: torch.Tensor, temperature: float) -> torch.Tensor:
    """Return the gradient of :func:`_log_sum`; 0 if all scores are −∞ or NaN.

    At ε = 0 it is 1 for the first maximum.
    """
    if temperature == 0:
        first = x.to(total.dtype).argmax(dim=-1, keepdim=True)
        places = torch.arange(x.shape[-1], device=x.device)
        return (places == first).to(total.dtype)
    # Relative to the maximum, which is exact; the sum has a rounding error proportional to the
    # scores.
    x = x.to(total.dtype)
    if x.shape[-1] == 0:
        return x
    lag = (x - x.amax(dim=-1, keepdim=True)) / temperature
    return torch.softmax(lag, dim=-1).nan_to_num(nan=0.0)
