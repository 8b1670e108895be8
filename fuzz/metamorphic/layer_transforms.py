"""Tensors under torch.func, in forward mode and compiled, against eager autograd."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from torch.autograd import forward_ad

import torch
from fuzz.metamorphic.layer_values import layer_of, size_of
from fuzz.metamorphic.padded import BATCHES, TEMPERATURES, Batch, demand_tensors
from fuzz.metamorphic.relation import relation
from structlearn.torch import entropy, infer, structured_loss

__all__: list[str] = []

Rng = np.random.Generator
Subject = Callable[[Rng], Batch]
Tensor = torch.Tensor


def _function(batch: Batch, query: str, name: str) -> Callable[[Tensor], Tensor]:
    """Return a query as a function of one block, a row for each example."""
    main = batch.structure.label_block
    options: dict[str, Any] = {"lengths": batch.lengths, "temperature": batch.temperature}

    def ask(block: Tensor) -> Tensor:
        scores = {**batch.scores, name: block}
        if query == "loss":
            return structured_loss(batch.structure, scores, batch.gold(), margin=batch.margin,
                                   **options)  # fmt: skip
        if query == "entropy":
            return entropy(batch.structure, scores, **options)
        value, parts = infer(batch.structure, scores, **options)
        return value if query == "value" else parts[main].flatten(1)

    return ask


@relation(
    "transforms = autograd",
    BATCHES,
    claim="to rounding",
)
def transforms(subject: Subject, rng: Rng) -> None:
    """func.grad, jvp, vjp, jacrev, jacfwd and forward mode against reverse mode, block by block."""
    batch = subject(rng)
    batch = replace(batch, temperature=float(rng.choice(TEMPERATURES)))
    query = str(rng.choice(("loss", "value", "entropy", "parts")))
    transform = str(rng.choice(("grad", "jvp", "vjp", "jacrev", "jacfwd", "forward mode")))
    name = str(rng.choice(list(batch.scores)))
    ask, block = _function(batch, query, name), batch.scores[name]
    leaf = block.clone().requires_grad_()
    answer = value = ask(leaf)
    weights = torch.from_numpy(rng.normal(size=answer.shape))
    (wanted,) = torch.autograd.grad((answer * weights).sum(), leaf, retain_graph=True)
    line = torch.from_numpy(rng.normal(size=block.shape))
    slope = (wanted * line).sum()
    if transform == "grad":
        derived = torch.func.grad(lambda x: (ask(x) * weights).sum())(block)
    elif transform == "vjp":
        value, back = torch.func.vjp(ask, block)
        derived = back(weights)[0]
    elif transform in ("jvp", "forward mode"):
        if transform == "jvp":
            value, bends = torch.func.jvp(ask, (block,), (line,))
        else:
            with forward_ad.dual_level():
                value, bends = forward_ad.unpack_dual(ask(forward_ad.make_dual(block, line)))
        wanted, derived = slope, (bends * weights).sum()
    else:
        jacobian = (torch.func.jacrev if transform == "jacrev" else torch.func.jacfwd)(ask)(block)
        derived = torch.tensordot(weights, jacobian, dims=weights.dim())
    curved = query in ("entropy", "parts")
    close = 1e-10 * (1 + size_of(batch)) * batch.main[0].numel() * (100 if curved else 1)
    demand_tensors(f"{transform} of {query}", {"value": answer}, {"value": value}, close)
    demand_tensors(f"{transform} of {query}", {"slope": wanted}, {"slope": derived}, close)


#: Shapes of batches that are compiled: few, because each takes a second.
SHAPES = 2


@functools.cache
def _compiled(name: str, number: int) -> tuple[Batch, Any, Any]:
    """Return a batch with its layer, as it is and compiled."""
    torch._dynamo.config.recompile_limit = 64
    rng = np.random.default_rng([number, 3])
    batch = BATCHES[name](rng)
    while batch.temperature == 0 and batch.margin == 0:
        batch = BATCHES[name](rng)
    layer = layer_of(batch)
    return batch, layer, torch.compile(layer, fullgraph=True, backend="aot_eager", dynamic=False)


@relation(
    "compiled = eager",
    {name: name for name in BATCHES if name != "chain by position"},
    not_claimed={"transforms": "refused where they are compiled"},
)
def compiled(subject: str, rng: Rng) -> None:
    """A compiled layer gives the loss and the gradients of the layer."""
    batch, layer, fast = _compiled(subject, int(rng.integers(SHAPES)))
    main = torch.where(batch.main.isinf(), batch.main,
                       torch.from_numpy(rng.normal(size=batch.main.shape)))  # fmt: skip
    answers = []
    for it in (layer, fast):
        leaf = main.clone().requires_grad_()
        loss = it(leaf, batch.gold(), lengths=batch.lengths)
        leaves = [leaf, *layer.parameters()]
        answers.append({"loss": loss.detach(), **{
            str(i): g for i, g in enumerate(torch.autograd.grad(loss.sum(), leaves))
        }})  # fmt: skip
    demand_tensors("loss and gradients", *answers)
