"""The queries of a structure, on batches of tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from ..structures.base import Structure
from ..structures.checks import check_count, check_temperature
from . import operators
from .batches import Batch, is_padded
from .kinds import IGNORE, Tensors, say_once

__all__ = ["argmax", "entropy", "infer", "kbest", "log_partition", "marginals", "sample"]

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
        How long each example is; default: as long as the tensors. Words, for dependencies.
    mask : (B, L) tensor of bool, optional
        Instead of lengths. In a chain it may have holes: those positions are left out.
    temperature : float
        ε; 0 is the maximum, and its output's parts.

    Returns
    -------
    value : (B,) tensor
    parts : dict of tensors
        The expected count of each part. Of a shared block: summed over the positions of each
        example.
    """
    check_temperature(temperature)
    if not is_padded(structure, scores):
        from .general import infer_lists

        return infer_lists(structure, scores, temperature)
    batch = Batch(structure, scores, lengths, mask)
    value, *parts = operators.infer(batch.scores, batch.lengths, batch.number, float(temperature))
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
    return infer(structure, scores, lengths=lengths, mask=mask, temperature=temperature)[0]


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
        them out where labels are enough.
    """
    check_temperature(temperature)
    wanted = tuple(name for name in scores if scores[name] is not None)
    if blocks is not None:
        unknown = [name for name in blocks if name not in wanted]
        if unknown:
            raise ValueError(f"there are no scores for {unknown[0]!r}; there are {list(wanted)}")
        wanted = blocks
    given = dict(scores)
    if is_padded(structure, scores):
        for name in wanted:
            if name.startswith("transition"):
                given[name] = _by_position(structure, given, name)
    _, parts = infer(structure, given, lengths=lengths, mask=mask, temperature=temperature)
    return {name: parts[name] for name in wanted if name in parts}


def _by_position(structure: Structure, scores: dict[str, Any], name: str) -> torch.Tensor:
    """Return shared transitions once for each position."""
    block: torch.Tensor = scores[name]
    main: torch.Tensor = scores[structure.label_block]
    order = structure.blocks(1)[name].outcomes
    rank = len(order)
    if block.dim() == rank + 2:
        return block
    sites = max(main.shape[1] - rank + 1, 0)
    if block.dim() == rank:
        return block.expand(main.shape[0], sites, *block.shape)
    return block[:, None].expand(-1, sites, *block.shape[1:])


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
    if not is_padded(structure, scores):
        from .general import argmax_lists

        return argmax_lists(structure, scores)
    batch = Batch(structure, scores, lengths, mask)
    _, *y = operators.argmax(
        [block.detach() for block in batch.scores], batch.lengths, batch.number
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
    y : tensor or tuple of tensors
        As :func:`argmax` gives it, with a second axis of n; −100 where there are fewer.
    """
    check_count(n)
    batch = _padded(structure, scores, lengths, mask, "kbest")
    found = structure.kbest(
        n, n_jobs=batch.kind.threads(), **batch.kind.examples(batch.scores, batch.lengths)
    )
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
    batch = _padded(structure, scores, lengths, mask, "sample")
    seed = int(torch.randint(2**62, (), generator=generator))
    found = structure.sample(
        n,
        temperature=temperature,
        random_state=seed,
        n_jobs=batch.kind.threads(),
        **batch.kind.examples(batch.scores, batch.lengths),
    )
    pairs = structure.label_block == "arc" and batch.scores[0].dim() == 4
    rows = [list(zip(*drawn, strict=True)) if pairs else list(drawn) for drawn in found]
    return _stack(batch, rows, n)


def entropy(
    structure: Structure,
    scores: Scores,
    *,
    lengths: torch.Tensor | None = None,
    mask: torch.Tensor | None = None,
    temperature: float = 1.0,
) -> torch.Tensor:
    """Return the entropy of P(y) ∝ exp(score(y)/ε) in nats, of each example; it has a gradient.

    Computed in float64, as H = (value − ⟨θ, p⟩) / ε. Arguments as of :func:`infer`, ε > 0.
    """
    check_temperature(temperature)
    if temperature == 0:
        raise ValueError("the entropy at temperature 0 is 0; give a temperature above it")
    batch = _padded(structure, scores, lengths, mask, None)
    wide = [block.double() for block in batch.scores]
    value, *parts = operators.infer(wide, batch.lengths, batch.number, float(temperature))
    for block, p in zip(wide, parts, strict=True):
        legal = torch.isfinite(block)
        value = value - (torch.where(legal, block, 0.0) * p).flatten(1).sum(dim=1)
    return (value / temperature).to(batch.dtype)


def _padded(
    structure: Structure,
    scores: Scores,
    lengths: torch.Tensor | None,
    mask: torch.Tensor | None,
    query: str | None,
) -> Batch:
    if not is_padded(structure, scores):
        raise ValueError(
            f"this query needs padded tensors, which {type(structure).__name__} cannot be cut out "
            "of; ask the structure itself, with NumPy arrays"
        )
    batch = Batch(structure, scores, lengths, mask)
    if query is not None and batch.scores[0].device.type == "cuda":
        say_once(f"{query} of {structure!r}")
    if batch.scores[0].device.type == "cpu":
        operators.check_values(batch.kind, batch.scores, batch.lengths)
    return batch


def _stack(batch: Batch, rows: list[list[Any]], n: int) -> Any:
    """Return outputs, at most n an example, as tensors with a second axis of n."""
    device = batch.scores[0].device
    found: list[Tensors] = []
    for b, outputs in enumerate(rows):
        one = [block[b : b + 1] for block in batch.scores[:1]]
        packed = [batch.kind.pack([y], one, batch.lengths[b : b + 1]) for y in outputs]
        filler = [torch.full_like(t, IGNORE) for t in packed[0]]
        packed += [filler] * (n - len(packed))
        found.append([torch.cat(column) for column in zip(*packed, strict=True)])
    stacked = [torch.stack(column).to(device) for column in zip(*found, strict=True)]
    if batch.order is not None:
        stacked = [
            torch.stack([batch.put_back(t[:, i], IGNORE) for i in range(n)], dim=1) for t in stacked
        ]
    return stacked[0] if len(stacked) == 1 else tuple(stacked)
