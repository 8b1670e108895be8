"""Queries of a structure on batches of tensors: infer, argmax, kbest, sample and others."""

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

    For ε > 0 both can be differentiated: the value twice, the gradient once.

    Parameters
    ----------
    structure : Structure
        One of :mod:`structlearn.structures`, or your own.
    scores : dict of tensors
        Blocks by name, the batch axis first. Blocks shared by all examples may omit it: a chain's
        ``transition`` (K, K), ``start`` and ``end`` (K,). A structure without a padded form (trees,
        grids, your own) takes a list of tensors for each block, one for each example.
    lengths : (B,) tensor of int, optional
        The length of each example, in words for dependencies; default: the tensors' length. An
        example of length 0 has a single output, with score 0 and no parts.
    mask : (B, L) tensor of bool, optional
        An alternative to lengths. For chains without transitions by position it may have holes:
        those positions are left out. For other structures it is True up to the length.
    temperature : float
        ε; 0 is the maximum, and its output's parts.

    Returns
    -------
    value : (B,) tensor
    parts : dict of tensors
        The expected count of each part; for a shared block, summed over the positions of each
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
    values = operators.value(batch.scores, batch.lengths, batch.kind.name, float(temperature))
    return values.to(batch.dtype)


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
        The blocks to return; default: all. Transitions by position are (B, L − 1, K, K): omit them
        if labels are enough. If a mask leaves positions out, a transition is stored at its first
        label.
    """
    wanted = tuple(name for name in scores if scores[name] is not None)
    if blocks is not None:
        unknown = [name for name in blocks if name not in wanted]
        if unknown:
            raise ValueError(f"there are no scores for {unknown[0]!r}, only for {list(wanted)}")
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
        Constituents: (B, n, n + 1) with the label of each span, −1 for no span. Other structures: a
        list of their outputs.
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
        Scores; −∞ if there are fewer than n outputs.
    y : tensor, tuple of tensors or list
        As returned by :func:`argmax`, with a second axis of size n; −100 if there are fewer. For
        scores given as lists: a list of outputs for each example.
    """
    check_count(n)
    if not is_padded(structure, scores, lengths, mask):
        from .general import kbest_lists

        return kbest_lists(structure, n, scores)
    batch = _padded(structure, scores, lengths, mask, "kbest")
    rankings = batch.kind.ask(partial(structure.kbest, n), batch.scores, batch.lengths)
    only = [(0.0, batch.kind.nothing(batch.scores))]
    rankings = [only if ranked is None else ranked for ranked in rankings]
    device = batch.scores[0].device
    value = torch.full((batch.size, n), float("-inf"), dtype=batch.dtype)
    for b, ranked in enumerate(rankings):
        value[b, : len(ranked)] = torch.tensor([score for score, _ in ranked], dtype=batch.dtype)
    rows = [[y for _, y in ranked] for ranked in rankings]
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
    """Draw n outputs of each example from P(y) ∝ exp(score(y)/ε), in the form of :func:`kbest`.

    Parameters
    ----------
    generator : torch.Generator, optional
        On the CPU; default: PyTorch's own, so that ``torch.manual_seed`` determines the draws.
    """
    check_count(n)
    check_temperature(temperature)
    if not is_padded(structure, scores, lengths, mask):
        from .general import sample_lists

        return sample_lists(structure, n, scores, temperature, _seed(generator))
    batch = _padded(structure, scores, lengths, mask, "sample")
    query = partial(structure.sample, n, temperature=temperature, random_state=_seed(generator))
    samples = batch.kind.ask(query, batch.scores, batch.lengths)
    only = [batch.kind.nothing(batch.scores)] * n
    return _stack(batch, [only if drawn is None else drawn for drawn in samples], n)


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
    """Return the entropy of P(y) ∝ exp(score(y)/ε) of each example in nats; differentiable.

    Computed in float64, and accurate for large scores: on CUDA the core computes the examples
    whose scores exceed 1e5 ε, and the host waits for the device. For such examples the gradient of
    transitions shared by all positions loses digits. Arguments as for :func:`infer`, ε > 0.
    """
    check_temperature(temperature)
    if temperature == 0:
        raise ValueError("the entropy at temperature 0 is 0; give a temperature above it")
    if not is_padded(structure, scores, lengths, mask):
        from .general import entropy_lists

        return entropy_lists(structure, scores, temperature)
    batch = _padded(structure, scores, lengths, mask, None)
    wide = [block.double() for block in batch.scores]
    entropies = operators.entropy(wide, batch.lengths, batch.kind.name, float(temperature))
    return entropies.to(batch.dtype)


def _padded(
    structure: Structure,
    scores: Scores,
    lengths: torch.Tensor | None,
    mask: torch.Tensor | None,
    query: str | None,
) -> Batch:
    batch = Batch(structure, scores, lengths, mask)
    if query is not None:  # not an operator
        operators.refuse_transforms(query, batch.scores)
        if batch.scores[0].device.type == "cuda":
            say_once(f"{query} of {structure!r}")
        else:
            operators.check_values(batch.kind, batch.scores, batch.lengths)
    return batch


def _stack(batch: Batch, rows: list[Any], n: int) -> Any:
    """Return up to n outputs of each example as tensors with a second axis of size n."""
    device = batch.scores[0].device
    outputs = [y for row in rows for y in row]
    # The place of each output in the (B · n) rows.
    places = [b * n + i for b, row in enumerate(rows) for i in range(len(row))]
    owners = torch.tensor([b for b, row in enumerate(rows) for _ in row], dtype=torch.int64)
    example = batch.scores[0].detach()[:1]
    lengths = batch.lengths.cpu()[owners]
    packed = batch.kind.pack(outputs, [example.expand(len(outputs), *example.shape[1:])], lengths)
    stacked = []
    for t in packed:
        full = torch.full((batch.size * n, *t.shape[1:]), IGNORE)
        full[places] = t
        if batch.order is not None:
            order = batch.order.cpu().repeat_interleave(n, dim=0)
            full = torch.full_like(full, IGNORE).scatter(1, order, full)
        stacked.append(full.view(batch.size, n, *t.shape[1:]).to(device))
    return stacked[0] if len(stacked) == 1 else tuple(stacked)
