"""Subjects of relations between tensors: padded batches of every structure with a layer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import torch
from fuzz.metamorphic.answers import Different
from structlearn.structures import Arborescence, Chain, Constituency, SemiMarkov, Structure
from structlearn.torch import argmax, entropy, infer, kbest, structured_loss

Rng = np.random.Generator
Tensor = torch.Tensor

#: The axes of a block that grow with the length; axis 0 is the batch.
LONG = {"label": (1,), "segment": (1,), "arc": (1, 2), "span": (1, 2)}
TEMPERATURES = (0.5, 1.0, 3.0)
#: The values of padding and absent parts in outputs.
IGNORE = -100
QUERIES = ("loss", "gradient", "infer", "argmax", "kbest", "entropy")


@dataclass(frozen=True)
class Batch:
    """Padded scores of several examples, with a gold output of each.

    Attributes
    ----------
    scores : dict of tensors
        float64. ``shared`` blocks have no axis of the batch.
    y : tuple of tensors
        In the form of `argmax`.
    options : dict
        Margin and temperature of losses.
    """

    structure: Structure
    scores: dict[str, Tensor]
    lengths: Tensor
    y: tuple[Tensor, ...]
    shared: tuple[str, ...]
    margin: float = 0.0
    temperature: float = 1.0

    @property
    def main(self) -> Tensor:
        """The block that has positions."""
        return self.scores[self.structure.label_block]

    def rows(self, chosen: Any) -> Batch:
        """Return some examples of the batch."""
        scores = {k: v if k in self.shared else v[chosen] for k, v in self.scores.items()}
        y = tuple(t[chosen] for t in self.y)
        return replace(self, scores=scores, lengths=self.lengths[chosen], y=y)

    def gold(self) -> Any:
        """Return the gold outputs in the form for losses."""
        return self.y if len(self.y) > 1 else self.y[0]

    def example(self, b: int) -> dict[str, Any]:
        """Return the scores of one example in the form for the library's structures."""
        blocks = {}
        n = int(self.lengths[b])
        for name, block in self.scores.items():
            if name in self.shared:
                blocks[name] = block.numpy()
                continue
            extra = {"arc": (1, 1), "span": (0, 1)}.get(name, (0,))
            cuts = tuple(slice(0, n + padding) for padding in extra)
            if name.startswith("transition"):
                cuts = (slice(0, max(n - 1, 0)),)
            blocks[name] = np.ascontiguousarray(block[b].numpy()[cuts])
        return blocks


def _drawn(kind: str) -> Callable[[Rng], Batch]:
    def draw(rng: Rng) -> Batch:
        B, L, K = (int(rng.integers(1, top)) for top in (5, 8, 7))
        scale = float(rng.choice((1.0, 1.0, 10.0)))
        share = float(rng.choice((0.0, 0.0, 0.2)))

        def table(*shape: int, open_: Any = None) -> Tensor:
            a = rng.normal(size=shape) * scale
            if share and open_ is not None:
                closed = rng.random(shape) < share
                closed[open_] = False  # one output is legal
                a[closed] = -np.inf
            return torch.from_numpy(a)

        shared: tuple[str, ...] = ()
        if kind in ("chain", "segments", "chain by position"):
            M = int(rng.integers(1, 5))
            structure: Structure = SemiMarkov(M) if kind == "segments" else Chain()
            scores = {"segment": table(B, L, M, K, open_=np.s_[..., 0, 0])} if (
                kind == "segments"
            ) else {"label": table(B, L, K, open_=np.s_[..., 0])}  # fmt: skip
            scores["transition"] = (
                table(B, L - 1, K, K, open_=np.s_[..., 0, :])
                if kind == "chain by position"
                else table(K, K, open_=np.s_[0])
            )
            scores |= {"start": table(K, open_=0), "end": table(K, open_=0)}
            shared = ("start", "end", *(("transition",) if kind != "chain by position" else ()))
        elif kind == "constituents":
            structure = Constituency()
            scores = {"span": table(B, L, L + 1, K, open_=np.s_[..., 0])}
        else:
            structure = Arborescence("projective" in kind, bool(rng.integers(2)),
                                     "labelled" in kind)  # fmt: skip
            shape = (B, L + 1, L + 1) + ((K,) if "labelled" in kind else ())
            scores = {"arc": table(*shape, open_=np.s_[:, np.arange(L), np.arange(1, L + 1)])}
        lengths = torch.from_numpy(rng.integers(1, L + 1, size=B))
        other = {k: torch.where(v.isinf(), v, torch.from_numpy(rng.normal(size=v.shape)))
                 for k, v in scores.items()}  # fmt: skip
        y = argmax(structure, other, lengths=lengths)
        margin = float(rng.choice((0.0, 1.0, 0.6)))
        temperature = float(rng.choice((0.0, *TEMPERATURES)))
        return Batch(structure, scores, lengths, y if isinstance(y, tuple) else (y,), shared,
                     margin, temperature)  # fmt: skip

    return draw


#: Name -> a function that draws a batch.
BATCHES = {
    name: _drawn(name)
    for name in ("chain", "chain by position", "segments", "projective arcs", "arcs",
                 "labelled arcs", "projective labelled arcs", "constituents")
}  # fmt: skip


def ask(batch: Batch, query: str, **where: Any) -> dict[str, Any]:
    """Return named tensors: the answer to a query; ``where`` instead of the lengths.

    Results for the whole batch, the gradients of shared blocks, are named "shared …".
    """
    extent = where or {"lengths": batch.lengths}
    heat = batch.temperature or 1.0
    structure, scores = batch.structure, batch.scores
    if query in ("loss", "gradient"):
        leaves = {k: v.clone().requires_grad_() for k, v in scores.items()}
        loss = structured_loss(structure, leaves, batch.gold(), margin=batch.margin,
                               temperature=batch.temperature, **extent)  # fmt: skip
        if query == "loss":
            return {"loss": loss.detach()}
        slopes = torch.autograd.grad(loss.sum(), list(leaves.values()))
        names = [f"shared {k}" if k in batch.shared else k for k in leaves]
        return dict(zip(names, slopes, strict=True))
    if query == "infer":
        value, parts = infer(structure, scores, temperature=batch.temperature, **extent)
        return {"value": value, **{f"parts of {k}": v for k, v in parts.items()}}
    if query == "argmax":
        y = argmax(structure, scores, **extent)
        return {f"output {i}": t for i, t in enumerate(y if isinstance(y, tuple) else (y,))}
    if query == "kbest":
        value, y = kbest(structure, 3, scores, **extent)
        tensors = y if isinstance(y, tuple) else (y,)
        return {"value": value, **{f"output {i}": t for i, t in enumerate(tensors)}}
    return {"entropy": entropy(structure, scores, temperature=heat, **extent)}


def demand_tensors(
    query: str, one: dict[str, Any], other: dict[str, Any], slack: float = 0.0
) -> None:
    """Raise `Different` unless all tensors are equal, bit for bit or within a slack."""
    for name, a in one.items():
        b = other[name]
        if a.shape != b.shape:
            raise Different(f"{query}, {name}: shapes {tuple(a.shape)} and {tuple(b.shape)}")
        apart = torch.where(a == b, 0.0, (a.double() - b.double()).abs())
        if not bool((apart <= slack).all()):
            at = int(torch.nan_to_num(apart, nan=torch.inf).argmax())
            raise Different(
                f"{query}, {name}: {a.flatten()[at].item()!r}, and {b.flatten()[at].item()!r}"
            )
