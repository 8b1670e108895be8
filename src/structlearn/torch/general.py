"""Structures without a padded form: each block is a list of tensors, one for each example.

The core, or the author's Python code, computes on the CPU, whatever the device.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

import torch

from ..losses import StructuredLoss
from ..structures.base import Structure
from ..structures.batches import ask_each, seeded
from .kinds import say_once
from .operators import refuse_transforms


class _Examples:
    """Blocks as one flat list of tensors, and back."""

    def __init__(self, structure: Structure, scores: Mapping[str, Any]) -> None:
        self.structure = structure
        self.topology = {name: scores[name] for name in structure.topology if name in scores}
        blocks: dict[str, list[torch.Tensor] | torch.Tensor] = {}
        declared = structure.blocks(1)
        for name, block in scores.items():
            if name in self.topology or block is None:
                continue
            if name not in declared:
                raise ValueError(
                    f"{type(structure).__name__} has no score block {name!r}; its blocks are "
                    f"{list(declared)}"
                )
            if isinstance(block, torch.Tensor) and not declared[name].shared:
                block = list(block.unbind(0))
            blocks[name] = list(block) if isinstance(block, (list, tuple)) else block
        sizes = {name: len(b) for name, b in blocks.items() if isinstance(b, list)}
        if len(set(sizes.values())) != 1:
            raise ValueError(f"blocks need one tensor for each example, got numbers {sizes}")
        self.size = next(iter(sizes.values()))
        #: For each block, whether all examples share one tensor.
        self.shared = {name: not isinstance(b, list) for name, b in blocks.items()}
        self.tensors = [t for b in blocks.values() for t in (b if isinstance(b, list) else [b])]
        for t in self.tensors:
            if not isinstance(t, torch.Tensor) or not t.is_floating_point():
                raise ValueError("scores must be tensors of floating point numbers")
            if t.device != self.tensors[0].device:
                raise ValueError(f"scores are on {self.tensors[0].device} and on {t.device}")
        # An empty batch may have no tensor to take the type and device from.
        tensors = [b for b in scores.values() if isinstance(b, torch.Tensor)]
        like = [*self.tensors, *tensors, torch.empty(0)][0]
        self.dtype, self.device = like.dtype, like.device
        if like.device.type == "cuda":
            say_once(f"infer of {structure!r}")

    def by_block(self, tensors: Sequence[torch.Tensor]) -> dict[str, list[torch.Tensor]]:
        """Return the flat list of tensors as blocks, one tensor for each example."""
        rest = iter(tensors)
        return {
            name: [next(rest)] * self.size if shared else [next(rest) for _ in range(self.size)]
            for name, shared in self.shared.items()
        }

    def arrays(self, tensors: Sequence[torch.Tensor]) -> list[dict[str, Any]]:
        """Return the scores of each example as NumPy arrays."""
        examples: list[dict[str, Any]] = [{} for _ in range(self.size)]
        for name, block in self.by_block(tensors).items():
            for tensor, example in zip(block, examples, strict=True):
                example[name] = tensor.detach().to("cpu", torch.float64).numpy()
        for name, topology in self.topology.items():
            for i, example in enumerate(examples):
                value = topology[i] if isinstance(topology, (list, tuple)) else topology
                example[name] = np.asarray(
                    value.cpu() if isinstance(value, torch.Tensor) else value
                )
        return examples

    def numbers(self, query: str) -> list[dict[str, Any]]:
        """Return the scores as arrays, for a query that is not differentiable."""
        refuse_transforms(query, self.tensors)
        return self.arrays(self.tensors)

    def gather(self, answers: list[tuple[float, dict[str, Any]]]) -> list[torch.Tensor]:
        """Return the values, and each example's gradients, block by block."""
        value = torch.tensor([v for v, _ in answers], dtype=self.dtype, device=self.device)
        parts = [
            torch.as_tensor(answers[i][1][name]).to(self.device, self.dtype)
            for name in self.shared
            for i in range(self.size)
        ]
        return [value, *parts]


_SECOND = (
    "scores given as lists have first derivatives only: marginals and entropies have no "
    "gradient; those of padded tensors have"
)


class _Values(torch.autograd.Function):
    """Values and gradients computed example by example by a function of NumPy arrays."""

    @staticmethod
    def forward(examples: _Examples, query: Any, *tensors: torch.Tensor) -> Any:
        return tuple(examples.gather(query(examples.arrays(tensors))))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.examples, _, *tensors = inputs
        ctx.save_for_backward(*output[1:], *tensors)
        ctx.save_for_forward(*output[1:], *tensors)
        ctx.mark_non_differentiable(*output[1:])

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor, *_: Any) -> Any:
        grads: list[torch.Tensor] = []
        parts = iter(_fixed_parts(ctx))
        for shared in ctx.examples.shared.values():
            each = [g * next(parts) for g in grad.unbind(0)]
            grads += [torch.stack(each).sum(dim=0)] if shared else each
        return (None, None, *grads)

    @staticmethod
    def jvp(ctx: Any, _examples: Any, _query: Any, *tangents: Any) -> Any:
        parts = _fixed_parts(ctx)
        lines = [line for block in ctx.examples.by_block(tangents).values() for line in block]
        size = ctx.examples.size
        slopes = [(p * v).sum() for p, v in zip(parts, lines, strict=True)]
        total = torch.stack(slopes).view(-1, size).sum(dim=0)
        return (total, *[None] * len(parts))

    @staticmethod
    def vmap(info: Any, in_dims: Any, examples: _Examples, query: Any, *tensors: Any) -> Any:
        return _one_by_one(_Values, info, in_dims[2:], (examples, query), tensors)


class _Fixed(torch.autograd.Function):
    """Tensors that depend on the scores but have no derivative; asking for one is an error."""

    @staticmethod
    def forward(compute: Any, *tensors: torch.Tensor) -> Any:
        return tuple(compute(tensors))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *_: Any) -> Any:
        raise RuntimeError(_SECOND)

    @staticmethod
    def jvp(ctx: Any, *_: Any) -> Any:
        raise RuntimeError(_SECOND)

    @staticmethod
    def vmap(info: Any, in_dims: Any, compute: Any, *tensors: torch.Tensor) -> Any:
        return _one_by_one(_Fixed, info, in_dims[1:], (compute,), tensors)


def _one_by_one(function: Any, info: Any, dims: Any, rest: tuple[Any, ...], tensors: Any) -> Any:
    """Map a function over an axis of tensors by a loop."""
    each = [
        function.apply(
            *rest,
            *(t if dim is None else t.select(dim, i) for t, dim in zip(tensors, dims, strict=True)),
        )
        for i in range(info.batch_size)
    ]
    columns = tuple(torch.stack(column) for column in zip(*each, strict=True))
    return columns, (0,) * len(columns)


def _fixed(parts: Sequence[torch.Tensor], tensors: Sequence[torch.Tensor]) -> Any:
    """Return parts without a derivative with respect to the tensors they depend on."""
    count = len(parts)
    return _Fixed.apply(lambda args: [p.view_as(p) for p in args[:count]], *parts, *tensors)


def _fixed_parts(ctx: Any) -> Any:
    count = len(ctx.examples.shared) * ctx.examples.size
    return _fixed(ctx.saved_tensors[:count], ctx.saved_tensors[count:])


def _apply(examples: _Examples, query: Any) -> tuple[torch.Tensor, list[torch.Tensor]]:
    if not examples.size:  # still a function of the shared tensors
        nothing = [t.flatten()[:0] for t in examples.tensors]
        return torch.cat(
            [*nothing, torch.zeros(0, dtype=examples.dtype, device=examples.device)]
        ), []
    value, *parts = _Values.apply(examples, query, *examples.tensors)
    return value, parts


def _infer(
    structure: Structure, scores: Mapping[str, Any], temperature: float
) -> tuple[_Examples, torch.Tensor, list[torch.Tensor]]:
    def query(examples: list[dict[str, Any]]) -> Any:
        return ask_each(partial(structure.infer, temperature=temperature), examples)

    examples = _Examples(structure, scores)
    return (examples, *_apply(examples, query))


def value_lists(
    structure: Structure, scores: Mapping[str, Any], temperature: float
) -> torch.Tensor:
    """Return values (B,)."""
    return _infer(structure, scores, temperature)[1]


def infer_lists(
    structure: Structure, scores: Mapping[str, Any], temperature: float
) -> tuple[torch.Tensor, dict[str, Any]]:
    """Return values (B,) and, by block, a list of gradients. They have no second derivatives."""
    examples, value, parts = _infer(structure, scores, temperature)
    parts = _fixed(parts, examples.tensors) if parts else []
    size = examples.size
    names = enumerate(examples.shared)
    return value, {name: [*parts[i * size : (i + 1) * size]] for i, name in names}


def argmax_lists(structure: Structure, scores: Mapping[str, Any]) -> list[Any]:
    """Return the best output of each example."""
    return ask_each(structure.argmax, _Examples(structure, scores).numbers("argmax"))


def kbest_lists(
    structure: Structure, n: int, scores: Mapping[str, Any]
) -> tuple[torch.Tensor, list[list[Any]]]:
    """Return the scores of the n best outputs (B, n), and the outputs of each example."""
    examples = _Examples(structure, scores)
    rankings = ask_each(partial(structure.kbest, n), examples.numbers("kbest"))
    value = np.full((examples.size, n), -np.inf)
    for row, ranked in zip(value, rankings, strict=True):
        row[: len(ranked)] = [score for score, _ in ranked]
    values = torch.from_numpy(value).to(examples.device, examples.dtype)
    return values, [[y for _, y in ranked] for ranked in rankings]


def sample_lists(
    structure: Structure, n: int, scores: Mapping[str, Any], temperature: float, seed: int
) -> list[Any]:
    """Return n outputs drawn for each example."""
    examples = _Examples(structure, scores).numbers("sample")
    query = partial(structure.sample, n, temperature=temperature)
    return ask_each(query, seeded(examples, seed))


def entropy_lists(
    structure: Structure, scores: Mapping[str, Any], temperature: float
) -> torch.Tensor:
    """Return the entropy of each example: (B,)."""
    examples = _Examples(structure, scores)

    def compute(tensors: Any) -> Any:
        query = partial(structure.entropy, temperature=temperature)
        answers = ask_each(query, examples.arrays(tensors))
        return [torch.tensor(answers, dtype=examples.dtype, device=examples.device)]

    value: torch.Tensor = _Fixed.apply(compute, *examples.tensors)[0]
    return value


def loss_lists(
    structure: Structure, scores: Mapping[str, Any], y: Any, loss: StructuredLoss
) -> torch.Tensor:
    """Return the loss of each example for a list of gold outputs."""

    def query(examples: list[dict[str, Any]]) -> Any:
        def ask(gold: Any, **theta: Any) -> Any:
            return loss(structure, gold, **theta)

        return ask_each(ask, examples, list(y))

    return _apply(_Examples(structure, scores), query)[0]
