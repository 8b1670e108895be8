"""The one loss of margin γ and temperature ε, on batches of tensors."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch

from ..losses import StructuredLoss
from ..losses.costs import LabelCost, as_cost
from ..structures.base import Structure
from ..structures.checks import check_temperature
from . import operators
from .batches import Batch, is_padded
from .kinds import say_once

__all__ = ["structured_loss"]


def structured_loss(
    structure: Structure,
    scores: Mapping[str, Any],
    y: Any,
    *,
    lengths: torch.Tensor | None = None,
    mask: torch.Tensor | None = None,
    margin: float = 0.0,
    temperature: float = 1.0,
    cost: Any = "hamming",
) -> torch.Tensor:
    """Return L = infer(θ + γc, ε) + γc₀ − infer(θ within y, ε) of each example: (B,).

    γ = 0, ε = 1 is the CRF's log loss; γ = 1, ε = 0 the structured hinge; γ = 0, ε = 0 the
    perceptron's; γ = 1, ε = 1 softmax-margin.

    Parameters
    ----------
    structure, scores, lengths, mask
        As of :func:`~structlearn.torch.infer`.
    y : tensor, tuple of tensors or list
        Gold outputs as :func:`~structlearn.torch.argmax` gives them, or a list of the library's
        own. −100 is unknown (None in a list): every output that agrees with the known part counts
        as gold. What lies beyond the lengths is not read.
    margin : float, default=0
        γ: by how much of its cost a wrong output must be beaten.
    temperature : float, default=1
        ε: 0 looks at the worst output, above it at all of them.
    cost : "hamming", "hamming-mean", "zero-one", (K, K) table, Cost or dict of tensors
        What a wrong output costs, where γ > 0: as in :mod:`structlearn.losses`. A tensor (K, K) is
        a table δ(gold, predicted); a dict has a tensor for the main block, in its shape. Other
        costs than Hamming's and tables are worked out by the library, on the CPU.
    """
    check_temperature(temperature)
    if not 0 <= margin < math.inf:
        raise ValueError(f"margin must be a finite number >= 0, got {margin!r}")
    temperature, margin = float(temperature), float(margin)
    if isinstance(cost, str):
        as_cost(cost)  # an error where there is none of this name
    zero_one = margin > 0 and isinstance(cost, str) and cost == "zero-one"
    if not is_padded(structure, scores, lengths, mask):
        from .general import loss_lists

        return loss_lists(
            structure, scores, y, StructuredLoss(cost, margin=margin, temperature=temperature)
        )
    batch = Batch(structure, scores, lengths, mask)
    gold = batch.gold(y)
    if zero_one:
        return _by_library(structure, batch, gold, cost, margin, temperature)
    table = parts = constant = None
    if margin > 0:
        table, parts, constant = _costs(structure, batch, gold, cost)
    return operators.loss(
        batch.scores, batch.lengths, gold, table, parts, constant, batch.kind.name, margin,
        temperature, batch.dtype,
    )  # fmt: skip


def _costs(
    structure: Structure, batch: Batch, gold: list[torch.Tensor], cost: Any
) -> tuple[torch.Tensor | None, torch.Tensor | None, torch.Tensor | None]:
    """Return a table δ, or c of the main block and c₀."""
    main = batch.scores[0]
    if isinstance(cost, str) and cost == "hamming":
        return None, None, None
    if isinstance(cost, str) and cost == "hamming-mean":
        parts, constant = batch.kind.costs(gold, None, batch.scores, batch.lengths)
        share = 1.0 / batch.kind.places(batch.lengths).clamp(min=1).double()
        parts = parts * share.view(-1, *[1] * (parts.dim() - 1))
        return None, parts, None if constant is None else constant * share
    if isinstance(cost, torch.Tensor):
        K = main.shape[-1]
        if tuple(cost.shape) != (K, K):
            raise ValueError(f"cost has shape {tuple(cost.shape)}, expected {(K, K)}")
        if cost.device.type == "cpu" and not torch.compiler.is_compiling():
            LabelCost(cost.detach().double().numpy())  # which checks its values
        return cost.detach().to(main.device), None, None
    if isinstance(cost, Mapping):
        extra = [name for name in cost if name != batch.kind.main]
        if extra:
            raise ValueError(
                f"the cost has parts of {extra[0]!r}, expected those of {batch.kind.main!r} alone"
            )
        parts = cost.get(batch.kind.main)
        if parts is None or tuple(parts.shape) != tuple(main.shape):
            raise ValueError(
                f"cost must have a tensor for {batch.kind.main} in its shape {tuple(main.shape)}"
            )
        return None, batch.take(parts.detach().to(main.device)), None
    return _library_costs(structure, batch, gold, cost)


def _library_costs(
    structure: Structure, batch: Batch, gold: list[torch.Tensor], cost: Any
) -> tuple[torch.Tensor | None, torch.Tensor | None, torch.Tensor | None]:
    """Return what a cost of the library says, example by example."""
    rule = StructuredLoss(cost).cost
    main = batch.scores[0]
    if main.device.type == "cuda":
        say_once(f"the cost {type(rule).__name__}")
    outputs = batch.kind.unpack(gold, batch.lengths)
    examples = batch.kind.examples(batch.scores, batch.lengths)
    labelled = _with_labels(structure, batch)
    parts = torch.zeros(main.shape, dtype=torch.float64)
    constants = []
    for b, (y, n) in enumerate(zip(outputs, batch.lengths.tolist(), strict=True)):
        one = {k: v[b] if isinstance(v, list) else v for k, v in examples.items()}
        found, constant = rule.parts(labelled, y, **one)
        extra = [name for name in found if name != batch.kind.main and found[name].any()]
        if extra:
            raise ValueError(f"the cost has parts of {extra[0]!r}; here it may have those of "
                             f"{batch.kind.main!r} alone")  # fmt: skip
        batch.kind.cut(batch.kind.main, parts[b].numpy(), n)[...] = found[batch.kind.main]
        constants.append(constant)
    constants_ = torch.tensor(constants, dtype=torch.float64)
    return None, parts.to(main.device), constants_.to(main.device)


def _with_labels(structure: Structure, batch: Batch) -> Structure:
    """Return the structure; for dependencies one that knows whether arcs have labels."""
    if batch.kind.main != "arc":
        return structure
    options = (structure.projective, structure.single_root)  # type: ignore[attr-defined]
    return type(structure)(*options, batch.scores[0].dim() == 4)  # type: ignore[call-arg]


def _by_library(
    structure: Structure,
    batch: Batch,
    gold: list[torch.Tensor],
    cost: Any,
    margin: float,
    temperature: float,
) -> torch.Tensor:
    """Return the loss as the library computes it: for costs that are no sum over parts."""
    from .general import loss_lists

    outputs = batch.kind.unpack(gold, batch.lengths)
    lists = {
        name: block
        if shared
        else [batch.kind.cut(name, block[b], n) for b, n in enumerate(batch.lengths.tolist())]
        for name, shared, block in zip(batch.names, batch.kind.shared, batch.scores, strict=True)
    }
    loss = StructuredLoss(cost, margin=margin, temperature=temperature)
    return loss_lists(_with_labels(structure, batch), lists, outputs, loss)
