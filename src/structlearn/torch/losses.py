"""The one loss of margin γ and temperature ε, on batches of tensors."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

import torch

from ..losses import StructuredLoss
from ..losses.costs import LabelCost, as_cost
from ..structures.base import Structure
from ..structures.checks import check_temperature
from . import operators
from .batches import Batch, is_padded
from .kinds import filled_rows, named_rows, say_once


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
        as gold. Values beyond the lengths are not read.
    margin : float, default=0
        γ: the share of its cost by which a wrong output must be beaten.
    temperature : float, default=1
        ε: 0 considers only the worst output, larger values all of them.
    cost : "hamming", "hamming-mean", "zero-one", (K, K) table, Cost or dict of tensors
        The cost of a wrong output, for γ > 0, as in :mod:`structlearn.losses`. A (K, K) tensor is a
        table δ(gold, predicted); a dict has a tensor of the main block's shape. Costs other than
        Hamming's and tables are computed by the library, on the CPU.
    """
    check_temperature(temperature)
    if not 0 <= margin < math.inf:
        raise ValueError(f"margin must be a finite number >= 0, got {margin!r}")
    temperature, margin = float(temperature), float(margin)
    if isinstance(cost, str):
        as_cost(cost)  # refuses unknown names
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
    """Return a table δ, or c for the main block and c₀."""
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
    """Return a cost of the library as c and c₀, computed example by example."""
    rule = StructuredLoss(cost).cost
    main = batch.scores[0]
    reader = f"the cost {type(rule).__name__}"
    if main.device.type == "cuda":
        say_once(reader)
    lengths, rows, outputs = _readable(batch, gold, reader)
    labelled = _with_labels(structure, batch)
    parts = np.zeros(main.shape)
    constants = np.zeros(batch.size)
    with operators.no_transforms():
        scores = operators.plain(batch.scores, reader)
        examples = batch.kind.examples(scores, *operators.plain([batch.lengths], reader))
    for i, b in enumerate(rows):
        example = {k: v[i] if isinstance(v, list) else v for k, v in examples.items()}
        costs, constants[b] = rule.parts(labelled, outputs[b], **example)
        extra = [name for name in costs if name != batch.kind.main and costs[name].any()]
        if extra:
            raise ValueError(f"the cost has parts of {extra[0]!r}; here it may have those of "
                             f"{batch.kind.main!r} alone")  # fmt: skip
        batch.kind.cut(batch.kind.main, parts[b], lengths[b])[...] = costs[batch.kind.main]
    to = main.device
    return None, torch.from_numpy(parts).to(to), torch.from_numpy(constants).to(to)


def _readable(
    batch: Batch, gold: list[torch.Tensor], reader: str
) -> tuple[list[int], list[int], list[Any]]:
    """Return the lengths, the rows that have positions, and the gold outputs of all rows."""
    with operators.no_transforms():
        lengths, *y = operators.plain([batch.lengths, *gold], reader)
        return lengths.tolist(), filled_rows(lengths), batch.kind.unpack(y, lengths)


def _with_labels(structure: Structure, batch: Batch) -> Structure:
    """Return the structure; for dependencies, one that declares whether arcs have labels."""
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
    """Return the loss computed by the library, for costs that are not sums over parts."""
    from .general import loss_lists

    lengths, rows, outputs = _readable(batch, gold, f"the cost {cost!r}")
    # Over all rows, so that empty ones have a gradient too: 0.
    value = batch.scores[0][:, :0].flatten(1).sum(dim=1)
    if not rows:
        return value
    lists = {
        name: block if shared else [batch.kind.cut(name, block[b], lengths[b]) for b in rows]
        for name, shared, block in zip(batch.names, batch.kind.shared, batch.scores, strict=True)
    }
    loss = StructuredLoss(cost, margin=margin, temperature=temperature)
    with named_rows(rows):
        losses = loss_lists(_with_labels(structure, batch), lists, [outputs[b] for b in rows], loss)
    return value.index_copy(0, torch.tensor(rows, device=value.device), losses.to(value))
