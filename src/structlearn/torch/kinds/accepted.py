"""Chains and segmentations constrained by automata.

The core computes on the CPU. On a GPU the product with the automata is a plain chain, or
segmentation, over (state, label) pairs, which the kernels handle as long as there are few pairs.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

import torch

from ...structures.base import Structure
from ...structures.chains.automata import automata_row, joint_steps, read_row
from .base import IGNORE, Tensors
from .chain import ChainKind
from .label_pairs import MOST_LABELS, LabelPairKind
from .segments import SegmentKind


class _Pairs(NamedTuple):
    """Pairs of a state and the label that led to it, as the labels of a plain structure.

    Attributes
    ----------
    label : (N,) tensor
        The label of each pair.
    apart : (N, N) tensor of bool
        ``apart[i, j]``: pair j may not follow pair i.
    never_first, never_last : (N,) tensors of bool
    """

    label: torch.Tensor
    apart: torch.Tensor
    never_first: torch.Tensor
    never_last: torch.Tensor


def _pairs(automata: Sequence[Any], n_labels: int) -> _Pairs | None:
    """Return the product of the automata; None if it has too many pairs for the kernels."""
    if any(a.next.ndim == 3 for a in automata):
        return None  # they vary with the position
    start = tuple(a.start for a in automata)
    numbers: dict[tuple[tuple[int, ...], int], int] = {}
    leads: dict[tuple[int, ...], list[int]] = {}
    open_ = [start]
    for state in open_:
        after = []
        for target, labels in joint_steps(automata, state, 0, n_labels):
            for k in labels.tolist():
                after.append(numbers.setdefault((target, k), len(numbers)))
            if target not in leads and target not in open_:
                open_.append(target)
        leads[state] = after
        if len(numbers) > MOST_LABELS:
            return None
    n = len(numbers)
    if n == 0:
        return None
    apart = torch.ones(n, n, dtype=torch.bool)
    never_last = torch.ones(n, dtype=torch.bool)
    for (state, _), i in numbers.items():
        apart[i, leads[state]] = False
        if all(a.accepting[s] for a, s in zip(automata, state, strict=True)):
            never_last[i] = False
    never_first = torch.ones(n, dtype=torch.bool)
    never_first[leads[start]] = False
    return _Pairs(torch.tensor([k for _, k in numbers]), apart, never_first, never_last)


@lru_cache(maxsize=64)
def _text_of(structure: Any) -> str:
    """Return the automata and their settings as options of a kind's name."""
    row = zlib.compress(automata_row(structure.automata).astype("<i8").tobytes(), 9)
    text = base64.urlsafe_b64encode(row).decode()
    return f"{structure.max_states}:{structure.tolerance!r}:{text}"


class _AcceptedKind(LabelPairKind):
    """Base of constrained chains and segmentations."""

    @classmethod
    def key(cls, structure: Structure) -> str:
        return f"{super().key(structure)}:{_text_of(structure)}"

    @classmethod
    def of_options(cls, structure: type[Any], options: Sequence[str]) -> Structure:
        size, max_states, tolerance, text = options
        row = np.frombuffer(zlib.decompress(base64.urlsafe_b64decode(text)), "<i8")
        room = {"max_states": int(max_states), "tolerance": float(tolerance)}
        product: Structure = structure(read_row(row.astype(np.int64)), int(size), **room)
        return product

    @cached_property
    def _known(self) -> dict[Any, _Pairs | None]:
        return {}

    def pairs(self, main: torch.Tensor) -> _Pairs | None:
        """Return the product for the number of labels in these scores, on their device."""
        size = main.shape[-1]
        if size not in self._known:
            self._known[size] = _pairs(self.structure.automata, size)  # type: ignore[attr-defined]
        if (size, main.device) not in self._known:
            product = self._known[size]
            moved = product and _Pairs(*(tensor.to(main.device) for tensor in product))
            self._known[size, main.device] = moved
        return self._known[size, main.device]

    def has_kernel(self, scores: Tensors, temperature: float) -> bool:
        return super().has_kernel(scores, temperature) and self.pairs(scores[0]) is not None

    def _all_blocks(
        self, scores: Tensors
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        main, transition, start, end = super()._all_blocks(scores)
        product = self.pairs(main)
        assert product is not None
        k, low = product.label, float("-inf")
        return (
            main.index_select(-1, k),
            transition.index_select(-2, k).index_select(-1, k).masked_fill(product.apart, low),
            start.index_select(-1, k).masked_fill(product.never_first, low),
            end.index_select(-1, k).masked_fill(product.never_last, low),
        )

    def _folded(self, parts: Sequence[torch.Tensor], main: torch.Tensor) -> Tensors:
        """Return the gradients of the call's blocks, from those of the product."""
        product = self.pairs(main)
        assert product is not None

        def sums(part: torch.Tensor, axis: int) -> torch.Tensor:
            shape = list(part.shape)
            shape[axis] = main.shape[-1]
            return part.new_zeros(shape).index_add(axis, product.label, part)

        ofmain, transition, start, end = parts
        every = sums(ofmain, -1), sums(sums(transition, -1), -2), sums(start, -1), sums(end, -1)
        return self._by_name(every)

    def _labels(self, y: torch.Tensor, main: torch.Tensor) -> torch.Tensor:
        """Replace pairs by their labels; negative numbers stay."""
        product = self.pairs(main)
        assert product is not None
        return torch.where(y >= 0, product.label[y.clamp(min=0)], y)

    def conflict(self, y: Tensors, example: int, n: int) -> str:
        (output,) = self.unpack([y[0][example : example + 1]], torch.tensor([n]))
        structure: Any = self.structure
        if IGNORE not in y[0][example, :n] and not structure.accepts(output):
            return "it breaks a constraint"
        return super().conflict(y, example, n)


class AcceptedChainKind(_AcceptedKind, ChainKind):
    """Chains under automata."""

    word = "accepted-chain"

    def infer_kernel(
        self, scores: Tensors, lengths: torch.Tensor, temperature: float
    ) -> tuple[torch.Tensor, Tensors]:
        if temperature == 0:
            return super().infer_kernel(scores, lengths, temperature)
        from ..kernels.chain import chain_infer

        value, *parts = chain_infer(*self._all_blocks(scores), lengths, temperature)
        return value, self._folded(parts, scores[0])

    def argmax_kernel(self, scores: Tensors, lengths: torch.Tensor) -> tuple[torch.Tensor, Tensors]:
        value, (y,) = super().argmax_kernel(scores, lengths)
        return value, [self._labels(y, scores[0])]

    def fused_loss(
        self,
        scores: Tensors,
        lengths: torch.Tensor,
        y: torch.Tensor,
        table: torch.Tensor | None,
        margin: float,
        temperature: float,
    ) -> tuple[torch.Tensor, Tensors]:
        worse = scores[0]
        if margin:
            costs, _ = self.costs([y], table, scores, lengths)
            wide = torch.promote_types(worse.dtype, torch.float32)
            worse = worse.to(wide) + (margin * costs).to(wide)
        return self.loss_kernel(worse, scores, lengths, [y], temperature)

    def core_loss(
        self,
        raised: torch.Tensor,
        scores: Tensors,
        lengths: torch.Tensor,
        y: torch.Tensor,
        temperature: float,
    ) -> tuple[torch.Tensor, Tensors] | None:
        return None  # the core's fused call does not support automata


class AcceptedSegmentKind(_AcceptedKind, SegmentKind):
    """Segmentations under automata."""

    word = "accepted-segments"

    def infer_kernel(
        self, scores: Tensors, lengths: torch.Tensor, temperature: float
    ) -> tuple[torch.Tensor, Tensors]:
        if temperature == 0:
            return super().infer_kernel(scores, lengths, temperature)
        from ..kernels.semimarkov import segment_infer

        value, *parts = segment_infer(*self._all_blocks(scores), lengths, temperature)
        return value, self._folded(parts, scores[0])

    def loss_kernel(
        self,
        raised: torch.Tensor,
        scores: Tensors,
        lengths: torch.Tensor,
        y: Tensors,
        temperature: float,
    ) -> tuple[torch.Tensor, Tensors]:
        # The general form: the fused kernel would need the states that the gold labels lead to.
        return LabelPairKind.loss_kernel(self, raised, scores, lengths, y, temperature)

    def argmax_kernel(self, scores: Tensors, lengths: torch.Tensor) -> tuple[torch.Tensor, Tensors]:
        value, (y,) = super().argmax_kernel(scores, lengths)
        return value, [self._labels(y, scores[0])]
