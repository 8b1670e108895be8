"""Structures that padded tensors cannot be cut for: a list of tensors for each block.

The core, or the Python of a structure's author, computes on the CPU, whatever the device.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

import torch

from ..losses import StructuredLoss
from ..structures.base import Structure
from ..structures.batches import ask_each, seeded
from .kinds import say_once

__all__ = [
    "argmax_lists",
    "entropy_lists",
    "infer_lists",
    "kbest_lists",
    "loss_lists",
    "sample_lists",
]


class _Examples:
    """Blocks as one flat list of tensors, and back."""

    def __init__(self, structure: Structure, scores: Mapping[str, Any]) -> None:
        self.structure = structure
        self.topology = {name: scores[name] for name in structure.topology if name in scores}
        self.blocks: dict[str, list[torch.Tensor] | torch.Tensor] = {}
        known = structure.blocks(1)
        for name, block in scores.items():
            if name in self.topology or block is None:
                continue
            if name not in known:
                raise ValueError(
                    f"{name!r} is no score block of {type(structure).__name__}; it has "
                    f"{list(known)}"
                )
            if isinstance(block, torch.Tensor) and not known[name].shared:
                block = list(block.unbind(0))
            self.blocks[name] = list(block) if isinstance(block, (list, tuple)) else block
        sizes = {name: len(b) for name, b in self.blocks.items() if isinstance(b, list)}
        if len(set(sizes.values())) != 1 or 0 in sizes.values():
            raise ValueError(f"blocks need one tensor for each example, got numbers {sizes}")
        self.size = next(iter(sizes.values()))
        self.tensors = [
            t for b in self.blocks.values() for t in (b if isinstance(b, list) else [b])
        ]
        for t in self.tensors:
            if not isinstance(t, torch.Tensor) or not t.is_floating_point():
                raise ValueError("scores must be tensors of floating point numbers")
            if t.device != self.tensors[0].device:
                raise ValueError(f"scores are on {self.tensors[0].device} and on {t.device}")
        if self.tensors[0].device.type == "cuda":
            say_once(f"infer of {structure!r}")

    def arrays(self) -> list[dict[str, Any]]:
        """Return the scores of each example as NumPy arrays."""
        found: list[dict[str, Any]] = [{} for _ in range(self.size)]
        for name, block in self.blocks.items():
            for i, one in enumerate(found):
                tensor = block[i] if isinstance(block, list) else block
                one[name] = tensor.detach().to("cpu", torch.float64).numpy()
        for name, topology in self.topology.items():
            for i, one in enumerate(found):
                given = topology[i] if isinstance(topology, (list, tuple)) else topology
                one[name] = np.asarray(given.cpu() if isinstance(given, torch.Tensor) else given)
        return found

    def gather(self, answers: list[tuple[float, dict[str, Any]]]) -> list[torch.Tensor]:
        """Return the values, and each example's gradients in the order of the tensors."""
        like = self.tensors[0]
        value = torch.tensor([v for v, _ in answers], dtype=like.dtype, device=like.device)
        parts = [
            torch.as_tensor(answers[i][1][name]).to(like.device, like.dtype)
            for name in self.blocks
            for i in range(self.size)
        ]
        return [value, *parts]


_SECOND = (
    "scores given as lists have first derivatives only: marginals and entropies have no "
    "gradient; those of padded tensors have"
)


class _Values(torch.autograd.Function):
    """Values and gradients that a function of NumPy arrays gives, example by example."""

    @staticmethod
    def forward(ctx: Any, examples: _Examples, query: Any, *tensors: torch.Tensor) -> Any:
        value, *parts = examples.gather(query(examples.arrays()))
        ctx.examples = examples
        ctx.save_for_backward(*parts)
        ctx.set_materialize_grads(False)
        return (value, *parts)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor | None, *more: torch.Tensor | None) -> Any:
        if grad is None or any(g is not None for g in more):
            raise RuntimeError(_SECOND)
        found: list[torch.Tensor] = []
        # Outputs of this function: what differentiates the products comes here again.
        parts = iter(ctx.saved_tensors)
        for block in ctx.examples.blocks.values():
            each = [g * next(parts) for g in grad]
            found += each if isinstance(block, list) else [torch.stack(each).sum(dim=0)]
        return (None, None, *found)


class _NoGradient(torch.autograd.Function):
    """What depends on scores and has no derivative here, and says so where one is asked for."""

    @staticmethod
    def forward(ctx: Any, value: torch.Tensor, *tensors: torch.Tensor) -> torch.Tensor:
        return value.view_as(value)

    @staticmethod
    def backward(ctx: Any, *_: Any) -> Any:
        raise RuntimeError(_SECOND)


def _apply(examples: _Examples, query: Any) -> tuple[torch.Tensor, dict[str, Any]]:
    value, *parts = _Values.apply(examples, query, *examples.tensors)
    size = examples.size
    return value, {name: parts[i * size : (i + 1) * size] for i, name in enumerate(examples.blocks)}


def infer_lists(
    structure: Structure, scores: Mapping[str, Any], temperature: float
) -> tuple[torch.Tensor, dict[str, Any]]:
    """Return values (B,) and, by block, a list of gradients. They have no second derivatives."""

    def query(examples: list[dict[str, Any]]) -> Any:
        return ask_each(partial(structure.infer, temperature=temperature), examples)

    return _apply(_Examples(structure, scores), query)


def argmax_lists(structure: Structure, scores: Mapping[str, Any]) -> list[Any]:
    """Return the best output of each example."""
    return ask_each(structure.argmax, _Examples(structure, scores).arrays())


def kbest_lists(
    structure: Structure, n: int, scores: Mapping[str, Any]
) -> tuple[torch.Tensor, list[list[Any]]]:
    """Return the scores of the n best outputs, (B, n), and a list of these for each example."""
    examples = _Examples(structure, scores)
    found = ask_each(partial(structure.kbest, n), examples.arrays())
    value = np.full((examples.size, n), -np.inf)
    for row, ranked in zip(value, found, strict=True):
        row[: len(ranked)] = [score for score, _ in ranked]
    like = examples.tensors[0]
    return torch.from_numpy(value).to(like), [[y for _, y in ranked] for ranked in found]


def sample_lists(
    structure: Structure, n: int, scores: Mapping[str, Any], temperature: float, seed: int
) -> list[Any]:
    """Return n outputs drawn for each example."""
    examples = _Examples(structure, scores).arrays()
    query = partial(structure.sample, n, temperature=temperature)
    return ask_each(query, seeded(examples, seed))


def entropy_lists(
    structure: Structure, scores: Mapping[str, Any], temperature: float
) -> torch.Tensor:
    """Return the entropy of each example: (B,)."""
    examples = _Examples(structure, scores)
    found = ask_each(partial(structure.entropy, temperature=temperature), examples.arrays())
    value: torch.Tensor = _NoGradient.apply(
        examples.tensors[0].new_tensor(found), *examples.tensors
    )
    return value


def loss_lists(
    structure: Structure, scores: Mapping[str, Any], y: Any, loss: StructuredLoss
) -> torch.Tensor:
    """Return the loss of each example for a list of gold outputs."""

    def query(examples: list[dict[str, Any]]) -> Any:
        def one(gold: Any, **theta: Any) -> Any:
            return loss(structure, gold, **theta)

        return ask_each(one, examples, list(y))

    return _apply(_Examples(structure, scores), query)[0]
