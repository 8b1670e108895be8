"""Relations on padded batches: padding, order, masks and empty rows change no other answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import torch
from fuzz.metamorphic.padded import BATCHES, IGNORE, LONG, QUERIES, Batch, ask, demand_tensors
from fuzz.metamorphic.relation import relation

__all__: list[str] = []

Rng = np.random.Generator
Subject = Callable[[Rng], Batch]
Tensor = torch.Tensor


def _query(rng: Rng) -> str:
    return QUERIES[int(rng.integers(len(QUERIES)))]


def _grown(block: Tensor, shape: tuple[int, ...], fill: Any) -> Tensor:
    """Return a larger tensor with this one in its corner and other values elsewhere."""
    padded = fill(shape).to(block.dtype)
    padded[tuple(slice(0, n) for n in block.shape)] = block
    return padded


def _longer(batch: Batch, rng: Rng, more: int) -> Batch:
    """Return the batch with ``more`` positions of anything at the end."""

    def junk(shape: tuple[int, ...]) -> Tensor:
        values = rng.normal(size=shape) * float(rng.choice((1.0, 1e9)))
        values[rng.random(shape) < 0.1] = -np.inf
        return torch.from_numpy(values)

    scores = {}
    for name, block in batch.scores.items():
        axes = (1,) if name.startswith("transition") else LONG.get(name, ())
        grown = tuple(n + more * (axis in axes) for axis, n in enumerate(block.shape))
        scores[name] = block if name in batch.shared else _grown(block, grown, junk)
    y = []
    for t in batch.y:
        shape = (t.shape[0], *(n + more for n in t.shape[1:]))
        y.append(_grown(t, shape, lambda shape: torch.full(shape, IGNORE)))
    return replace(batch, scores=scores, y=tuple(y))


@relation("padding of tensors", BATCHES)
def padding(subject: Subject, rng: Rng) -> None:
    """Positions beyond the lengths change nothing, get no gradient and no output."""
    batch, query = subject(rng), _query(rng)
    long = _longer(batch, rng, int(rng.integers(1, 4)))
    answer, other = ask(batch, query), ask(long, query)
    cut = {}
    for name, a in answer.items():
        b = other[name]
        inside = tuple(slice(0, n) for n in a.shape)
        cut[name] = b[inside]
        if a.shape != b.shape:
            outside = b.clone()
            outside[inside] = IGNORE if name.startswith("output") else 0
            nothing = torch.full_like(b, IGNORE if name.startswith("output") else 0)
            demand_tensors(f"{query} beyond the length", {name: nothing}, {name: outside})
    demand_tensors(query, answer, cut)


@relation(
    "rows of a batch of tensors",
    BATCHES,
    not_claimed={"gradients of shared parameters": "sums over the batch, in its order"},
)
def rows(subject: Subject, rng: Rng) -> None:
    """Rows in another order, repeated, and one at a time."""
    batch, query = subject(rng), _query(rng)
    size = len(batch.lengths)
    rows = torch.from_numpy(rng.integers(size, size=int(rng.integers(1, 7))))
    whole, other = ask(batch, query), ask(batch.rows(rows), query)
    alone = [ask(batch.rows(torch.tensor([b])), query) for b in rows.tolist()]
    for name, a in whole.items():
        if name.startswith("shared"):
            continue
        demand_tensors(f"{query}, other rows", {name: a[rows]}, {name: other[name]})
        joined = torch.cat([answer[name] for answer in alone])
        demand_tensors(f"{query}, one by one", {name: a[rows]}, {name: joined})
    shared = {name: a for name, a in other.items() if name.startswith("shared")}
    sums = {name: torch.stack([answer[name] for answer in alone]).sum(dim=0) for name in shared}
    close = 1e-12 * len(rows) * batch.main.shape[1]
    demand_tensors(f"{query}, summed", sums, shared, close)


@relation("mask = lengths", BATCHES)
def masks(subject: Subject, rng: Rng) -> None:
    """A mask that is True up to the length; for chains, one with holes and the rest moved up."""
    batch, query = subject(rng), _query(rng)
    longest = batch.main.shape[1] - (batch.structure.label_block == "arc")
    mask = torch.arange(longest) < batch.lengths[:, None]
    answer = ask(batch, query)
    if "label" not in batch.scores or "transition" not in batch.shared:
        demand_tensors(query, answer, ask(batch, query, mask=mask))
        return
    extra = int(rng.integers(0, 3))
    holes = torch.stack([torch.from_numpy(rng.permutation(longest + extra)) < n
                         for n in batch.lengths.tolist()])  # fmt: skip
    label = torch.from_numpy(rng.normal(size=(*holes.shape, batch.main.shape[2])))
    label[holes] = batch.main[mask]
    y = torch.full(holes.shape, IGNORE)
    y[holes] = batch.y[0][mask]
    spread = replace(batch, scores={**batch.scores, "label": label}, y=(y,))
    other = ask(spread, query, mask=holes)
    for name, a in answer.items():
        b = other[name]
        if name in ("label", "parts of label", "output 0"):
            if query == "kbest":
                a, b = a.transpose(0, 1), b.transpose(0, 1)
                a, b = (torch.stack([t[m] for t in x]) for x, m in ((a, mask), (b, holes)))
            else:
                a, b = a[mask], b[holes]
        demand_tensors(f"{query} with holes", {name: a}, {name: b})


@relation("empty rows of tensors", BATCHES, claim="bit for bit; of an empty row, 0 and no output")
def with_empty_rows(subject: Subject, rng: Rng) -> None:
    """Rows of length 0 among others change no other answer, and have answers themselves."""
    batch, query = subject(rng), _query(rng)
    size = len(batch.lengths)
    if rng.random() < 0.1:
        for name, b in ask(batch.rows(torch.tensor([], dtype=torch.int64)), query).items():
            if not name.startswith("shared"):
                demand_tensors(f"{query} of no rows", {name: b[:0]}, {name: b})
        return
    place = int(rng.integers(size + 1))
    order = torch.tensor([*range(place), 0, *range(place, size)])
    if rng.random() < 0.2:  # only empty ones
        order, place = torch.tensor([0]), 0
    mixed = batch.rows(order)
    lengths = mixed.lengths.clone()
    lengths[place] = 0
    y = tuple(t.clone() for t in mixed.y)
    for t in y:
        t[place] = IGNORE
    mixed = replace(mixed, lengths=lengths, y=y)
    others = [i for i in range(len(order)) if i != place]
    answer, other = ask(batch.rows(order[others]), query) if others else {}, ask(mixed, query)
    for name, a in answer.items():
        if not name.startswith("shared"):
            demand_tensors(query, {name: a}, {name: other[name][others]})
    for name, b in other.items():
        if name.startswith("shared") or query == "kbest":
            continue
        nothing = torch.full_like(b[place], IGNORE if name.startswith("output") else 0)
        demand_tensors(f"{query} of an empty row", {name: nothing}, {name: b[place]})
