"""The queries of a structure, on batches of tensors."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import torch

from ..structures.base import Structure
from ..structures.checks import check_count, check_temperature
from . import operators
from .batches import Batch, is_padded
from .kinds import IGNORE, say_once

Scores = Mapping[str, Any]


def infer(
    structure: Structure,
    scores: Scores,
    *,
    lengths: torch.Tensor | None = None,
    mask: torch.Tensor | None = None,
    temperature: float = 1.0,
) -> tuple[torch.Tensor, dict[str, Any]]:
    """Return ε log Σ_y exp(score(y)/ε) of each example, and its gradient by block.

    Both can be differentiated, ε > 0: the value twice, the gradient once.

    Parameters
    ----------
    structure : Structure
        Of :mod:`structlearn.structures`, or one of your own.
    scores : dict of tensors
        Blocks by name, with the axis of the batch first. What all examples share may come without
        it: a chain's ``transition`` (K, K), ``start`` and ``end`` (K,). A structure that padded
        tensors cannot be cut for (trees, grids, your own) takes a list for each block, with one
        tensor for each example.
    lengths : (B,) tensor of int, optional
        How long each example is; default: as long as the tensors. Words, for dependencies. An
        example of length 0 has one output, of score 0 and without parts.
    mask : (B, L) tensor of bool, optional
        Instead of lengths. In a chain it may have holes, unless its transitions are given by
        position: those positions are left out. For other structures it is True up to the length.
    temperature : float
        ε; 0 is the maximum, and its output's parts.

    Returns
    -------
    value : (B,) tensor
    parts : dict of tensors
        The expected count of each part. Of a shared block: summed over the positions of each
        example.
    """
    return _infer(structure, scores, lengths, mask, temperature)


def _infer(
    structure: Structure,
    scores: Scores,
    lengths: torch.Tensor | None,
    mask: torch.Tensor | None,
    temperature: float,
    by_position: tuple[str, ...] = (),
) -> tuple[torch.Tensor, dict[str, Any]]:
    check_temperature(temperature)
    if not is_padded(structure, scores, lengths, mask):
        from .general import infer_lists

        return infer_lists(structure, scores, temperature)
    batch = Batch(structure, scores, lengths, mask, by_position)
    value, *parts = operators.infer(
        batch.scores, batch.lengths, batch.kind.name, float(temperature)
    )
    return value.to(batch.dtype), batch.parts(parts)


def log_partition(
    structure: Structure,
    scores: Scores,
    *,
    lengths: torch.Tensor | None = None,
    mask: torch.Tensor | None = None,
    temperature: float = 1.0,
) -> torch.Tensor:
    """Return ε log Σ_y exp(score(y)/ε) of each example: (B,). Arguments as of :func:`infer`."""
    check_temperature(temperature)
    if not is_padded(structure, scores, lengths, mask):
        from .general import value_lists

        return value_lists(structure, scores, temperature)
    batch = Batch(structure, scores, lengths, mask)
    found = operators.value(batch.scores, batch.lengths, batch.kind.name, float(temperature))
    return found.to(batch.dtype)


def marginals(
    structure: Structure,
    scores: Scores,
    *,
    lengths: torch.Tensor | None = None,
    mask: torch.Tensor | None = None,
    temperature: float = 1.0,
    blocks: tuple[str, ...] | None = None,
) -> dict[str, Any]:
    """Return the probability of each part, position by position.

    Parameters
    ----------
    structure, scores, lengths, mask, temperature
        As of :func:`infer`.
    blocks : tuple of str, optional
        Which blocks to give; default: all. Transitions by position are (B, L − 1, K, K): leave
        them out where labels are enough. Where a mask leaves positions out, a transition is where
        its first label is.
    """
    wanted = tuple(name for name in scores if scores[name] is not None)
    if blocks is not None:
        unknown = [name for name in blocks if name not in wanted]
        if unknown:
            raise ValueError(f"there are no scores for {unknown[0]!r}; there are {list(wanted)}")
        wanted = blocks
    pairs = tuple(name for name in wanted if name.startswith("transition"))
    _, parts = _infer(structure, scores, lengths, mask, temperature, pairs)
    return {name: parts[name] for name in wanted if name in parts}


def argmax(
    structure: Structure,
    scores: Scores,
    *,
    lengths: torch.Tensor | None = None,
    mask: torch.Tensor | None = None,
) -> Any:
    """Return the best output of each example. Arguments as of :func:`infer`.

    Returns
    -------
    tensor, tuple of tensors or list
        Chains: labels (B, L), −100 beyond the lengths. Segmentations: (B, L) with the label where
        a segment starts and −1 inside of it. Dependencies: heads (B, words), with labels a pair.
        Constituents: (B, n, n + 1) with the label of each span, −1 where there is none. Other
        structures: a list of their outputs.
    """
    if not is_padded(structure, scores, lengths, mask):
        from .general import argmax_lists

        return argmax_lists(structure, scores)
    batch = Batch(structure, scores, lengths, mask)
    _, *y = operators.argmax(
        [block.detach() for block in batch.scores], batch.lengths, batch.kind.name
    )
    return batch.outputs(y)


def kbest(
    structure: Structure,
    n: int,
    scores: Scores,
    *,
    lengths: torch.Tensor | None = None,
    mask: torch.Tensor | None = None,
) -> tuple[torch.Tensor, Any]:
    """Return the n best outputs of each example, best first, no repeats.

    Returns
    -------
    value : (B, n) tensor
        Scores; −∞ where there are fewer outputs than n.
    y : tensor, tuple of tensors or list
        As :func:`argmax` gives it, with a second axis of n; −100 where there are fewer. Scores
        given as lists: a list of outputs for each example.
    """
    check_count(n)
    if not is_padded(structure, scores, lengths, mask):
        from .general import kbest_lists

        return kbest_lists(structure, n, scores)
    batch = _padded(structure, scores, lengths, mask, "kbest")
    found = batch.kind.ask(partial(structure.kbest, n), batch.scores, batch.lengths)
    only = [(0.0, batch.kind.nothing(batch.scores))]
    found = [only if ranked is None else ranked for ranked in found]
    device = batch.scores[0].device
    value = torch.full((batch.size, n), float("-inf"), dtype=batch.dtype)
    for b, ranked in enumerate(found):
        value[b, : len(ranked)] = torch.tensor([score for score, _ in ranked], dtype=batch.dtype)
    rows = [[y for _, y in ranked] for ranked in found]
    return value.to(device), _stack(batch, rows, n)


def sample(
    structure: Structure,
    n: int,
    scores: Scores,
    *,
    lengths: torch.Tensor | None = None,
    mask: torch.Tensor | None = None,
    temperature: float = 1.0,
    generator: torch.Generator | None = None,
) -> Any:
    """Draw n outputs of each example from P(y) ∝ exp(score(y)/ε), as :func:`kbest` gives them.

    Parameters
    ----------
    generator : torch.Generator, optional
        On the CPU; default: PyTorch's own, so that ``torch.manual_seed`` settles what is drawn.
    """
    check_count(n)
    check_temperature(temperature)
    if not is_padded(structure, scores, lengths, mask):
        from .general import sample_lists

        return sample_lists(structure, n, scores, temperature, _seed(generator))
    batch = _padded(structure, scores, lengths, mask, "sample")
    query = partial(structure.sample, n, temperature=temperature, random_state=_seed(generator))
    found = batch.kind.ask(query, batch.scores, batch.lengths)
    only = [batch.kind.nothing(batch.scores)] * n
    return _stack(batch, [only if drawn is None else drawn for drawn in found], n)


def _seed(generator: torch.Generator | None) -> int:
    return int(torch.randint(2**62, (), generator=generator))


def entropy(
    structure: Structure,
    scores: Scores,
    *,
    lengths: torch.Tensor | None = None,
    mask: torch.Tensor | None = None,
    temperature: float = 1.0,
) -> torch.Tensor:
    """Return the entropy of P(y) ∝ exp(score(y)/ε) in nats, of each example; it has a gradient.

    Computed in float64, and right for large scores: on CUDA the core computes examples in which
    scores are more than 1e5 times ε, so that the host waits for the device. The gradient along
    transitions that all positions share loses digits there. Arguments as of :func:`infer`, ε > 0.
    """
    check_temperature(temperature)
    if temperature == 0:
        raise ValueError("the entropy at temperature 0 is 0; give a temperature above it")
    if not is_padded(structure, scores, lengths, mask):
        from .general import entropy_lists

        return entropy_lists(structure, scores, temperature)
    batch = _padded(structure, scores, lengths, mask, None)
    wide = [block.double() for block in batch.scores]
    found = operators.entropy(wide, batch.lengths, batch.kind.name, float(temperature))
    return found.to(batch.dtype)


def _padded(
    structure: Structure,
    scores: Scores,
    lengths: torch.Tensor | None,
    mask: torch.Tensor | None,
    query: str | None,
) -> Batch:
    batch = Batch(structure, scores, lengths, mask)
    if query is not None:  # it is no operator
        operators.refuse_transforms(query, batch.scores)
        if batch.scores[0].device.type == "cuda":
            say_once(f"{query} of {structure!r}")
        else:
            operators.check_values(batch.kind, batch.scores, batch.lengths)
    return batch


def _stack(batch: Batch, rows: list[Any], n: int) -> Any:
    """Return outputs, at most n of each example, as tensors with a second axis of n."""
    device = batch.scores[0].device
    outputs = [y for found in rows for y in found]
    # The places of the outputs among n of each example.
    places = [b * n + i for b, found in enumerate(rows) for i in range(len(found))]
    owners = torch.tensor([b for b, found in enumerate(rows) for _ in found], dtype=torch.int64)
    one = batch.scores[0].detach()[:1]
    lengths = batch.lengths.cpu()[owners]
    packed = batch.kind.pack(outputs, [one.expand(len(outputs), *one.shape[1:])], lengths)
    stacked = []
    for t in packed:
        full = torch.full((batch.size * n, *t.shape[1:]), IGNORE)
        full[places] = t
        if batch.order is not None:
            order = batch.order.cpu().repeat_interleave(n, dim=0)
            full = torch.full_like(full, IGNORE).scatter(1, order, full)
        stacked.append(full.view(batch.size, n, *t.shape[1:]).to(device))
    return stacked[0] if len(stacked) == 1 else tuple(stacked)
