"""Batches as padded tensors: what :mod:`structlearn.torch` answers, compared with enumeration.

On the CPU the core computes, and for some examples the kernels do, in Triton's interpreter; on CUDA
the kernels do. Tensors are padded with numbers that must not count.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
import numpy.typing as npt

import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # before the kernels are imported

from fuzz.comparison import Campaign
from fuzz.enumeration import Array, Batch, Rows
from structlearn.torch import argmax, entropy, infer, kbest, structured_loss
from structlearn.torch.batches import Batch as Padded
from structlearn.torch.kinds import kind_type
from structlearn.torch.operators import compute, entropies, gradients

#: One example in this number goes through the core as a tensor; this share of the batches
#: goes through the kernels in the interpreter, which is slow: a few of their examples.
TENSORS, INTERPRETED = 5, 0.02
#: Scores beyond this multiple of the temperature are rounded by more than expected counts of the
#: kernels can stand: sums and best outputs are compared, counts are not.
ENORMOUS = 1e12

#: Which axes of a block grow with the length, the batch's being the first.
_LONG = {"label": (1,), "segment": (1,), "arc": (1, 2), "sibling": (1, 2, 3), "span": (1, 2)}
#: By how much a value may be off, as a share of the scores' size and of the temperature; the same
#: of an expected count.
_CLOSE = {
    torch.float64: (1e-12, 1e-11, 1e-13, 1e-9),
    torch.float32: (2e-6, 2e-5, 1e-6, 5e-5),
}


def has_tensors(structure: Any) -> bool:
    """Tell whether padded tensors can be cut for a structure."""
    return kind_type(structure) is not None


def compare_by_core(
    campaign: Campaign, batch: Batch, rng: np.random.Generator, temperature: float
) -> None:
    """Compare some examples of a batch as tensors on the CPU, where the core computes."""
    chosen = batch.legal[::TENSORS]
    if len(chosen):
        found = TensorComparison(campaign, batch, chosen, rng)
        found.compare(temperature)
        found.ranked(3)


def compare_by_kernels(
    campaign: Campaign,
    batch: Batch,
    rng: np.random.Generator,
    temperature: float,
    device: str = "cpu",
) -> None:
    """Compare a batch as the kernels answer it: a few examples where they are interpreted."""
    interpreted = device == "cpu"
    if interpreted and (importlib.util.find_spec("triton") is None or rng.random() > INTERPRETED):
        return
    enormous = batch.sizes[batch.legal] > ENORMOUS * temperature
    groups = {
        "all": (batch.legal[~enormous], 3),
        "sums": (batch.legal[enormous], 1),
        "illegal": (np.flatnonzero(~np.isfinite(batch.best)), 1),
    }
    with _kernels_on_the_cpu() if interpreted else nullcontext():
        for name, (chosen, few) in groups.items():
            chosen = chosen[:few] if interpreted else chosen
            if not len(chosen):
                continue
            found = TensorComparison(campaign, batch, chosen, rng, device=device, label="kernels")
            if found.kind.has_kernel(list(found.scores.values()), temperature):
                found.compare(temperature, counts=name != "sums")


@contextmanager
def _kernels_on_the_cpu() -> Iterator[None]:
    """Have the kernels compute, in Triton's interpreter."""
    modules = (compute, entropies, gradients)
    before = [module.on_gpu for module in modules]
    try:
        for module in modules:
            module.on_gpu = lambda x: True
        yield
    finally:
        for module, own in zip(modules, before, strict=True):
            module.on_gpu = own


class TensorComparison:
    """Some examples of a batch as tensors, padded by a few positions.

    Parameters
    ----------
    chosen : array of int
        The examples. Kernels take those without a legal output as well.
    label : str
        What the answers are counted as.
    """

    def __init__(
        self,
        campaign: Campaign,
        batch: Batch,
        chosen: Rows,
        rng: np.random.Generator,
        *,
        device: str = "cpu",
        label: str = "tensors",
    ) -> None:
        dtype = torch.float32 if batch.precision == np.float32 else torch.float64
        self.campaign, self.batch, self.chosen, self.label = campaign, batch, chosen, label
        self.device, self.dtype = torch.device(device), dtype
        self.structure, self.rng = batch.case.structure, rng
        self.size, self.share, self.blur, self.least = _CLOSE[dtype]
        self.legal = np.isfinite(batch.best[chosen])
        shape = batch.case.shapes[self.structure.label_block]
        self.length = shape[0] - (self.structure.label_block == "arc")
        self.longer = self.length + int(rng.integers(0, 3))
        self.shared = {
            name for name in batch.alike if self._rank(name) == len(self._outcomes(name))
        }
        self.scores = {name: self._block(name) for name in batch.case.shapes}
        self.lengths = torch.full((len(chosen),), self.length, device=self.device)
        self.kind = Padded(self.structure, self.scores, self.lengths).kind
        # All outputs as tensors, and where each is.
        main = self.scores[self.structure.label_block]
        fake = torch.zeros((len(batch.outputs), *main.shape[1:]))
        lengths = torch.full((len(batch.outputs),), self.length)
        self.packed = self.kind.pack(batch.outputs, [fake], lengths)
        self.rows = {row.tobytes(): i for i, row in enumerate(self._flat(self.packed))}

    # -- tensors --------------------------------------------------------------------------------

    def _rank(self, name: str) -> int:
        return len(self.batch.case.shapes[name])

    def _outcomes(self, name: str) -> tuple[str, ...]:
        return self.structure.blocks(1)[name].outcomes

    def _padding(self, name: str) -> list[tuple[int, int]]:
        """Return how much is added at the end of each axis, the batch's included."""
        shape = self.batch.case.shapes[name]
        found = [(0, 0)] * (len(shape) + 1)
        extra = self.longer - self.length
        for axis in _LONG.get(name, ()):
            found[axis] = (0, extra)
        if name.startswith("transition") and self._rank(name) > len(self._outcomes(name)):
            sites = max(self.longer - len(self._outcomes(name)) + 1, 0)
            found[1] = (0, sites - shape[0])
        return found

    def _block(self, name: str) -> torch.Tensor:
        block = self.batch.block(name, self.chosen)
        if name in self.shared:
            block = block[0]
        else:
            inside = np.pad(np.ones(block.shape, dtype=bool), self._padding(name))
            full = self.rng.normal(size=inside.shape)
            full[inside] = block.ravel()
            block = full
        return torch.tensor(block, dtype=self.dtype, device=self.device)

    def _leaves(self) -> dict[str, torch.Tensor]:
        return {name: block.clone().requires_grad_() for name, block in self.scores.items()}

    def _cut(self, name: str, block: torch.Tensor) -> Array:
        """Return what belongs to the examples of a block, a row each; NaN where padding counts."""
        found: Array = block.detach().cpu().double().numpy()
        if name not in self.shared:
            shape = self.batch.case.shapes[name]
            inside = found[(slice(None), *(slice(0, n) for n in shape))].copy()
            axes = tuple(range(1, found.ndim))
            counted = (found != 0).sum(axis=axes) > (inside != 0).sum(axis=axes)
            inside[counted] = np.nan
            found = inside
        return found.reshape(len(found), -1)

    def _parts(self, parts: dict[str, torch.Tensor]) -> Array:
        """Return expected counts, a row for each example."""
        return np.concatenate([self._cut(name, parts[name]) for name in self.scores], axis=1)

    @staticmethod
    def _flat(y: Any) -> npt.NDArray[np.int64]:
        tensors = y if isinstance(y, (list, tuple)) else [y]
        return np.concatenate([t.cpu().numpy().reshape(len(t), -1) for t in tensors], axis=1)

    # -- what is compared -----------------------------------------------------------------------

    def _count(self, n: int) -> None:
        self.campaign.compared[self.label] += n

    def _wrong(self, query: str, at: npt.NDArray[np.bool_], expected: Any, got: Any) -> None:
        """Note the first of the examples whose answer is wrong."""
        if not at.any():
            return
        k = int(at.argmax())
        self.campaign.wrong(
            f"{query} as {self.label} of {self.dtype}, {self.length} of {self.longer} positions",
            self.batch,
            int(self.chosen[k]),
            np.asarray(expected)[k].tolist(),
            np.asarray(got)[k].tolist(),
        )

    def _slack(self, temperature: float = 0.0) -> Array:
        return self.batch.slack(self.size)[self.chosen] + self.share * temperature

    def compare(self, temperature: float, counts: bool = True) -> None:
        """Compare sums and best outputs, and unless ``counts`` is false gradients and entropies."""
        try:
            self.summed(temperature, counts)
            if not self.legal.all():
                return
            if self.label != "kernels" or self.kind.has_argmax_kernel(list(self.scores.values())):
                self.decoded()
            if not counts:
                return
            self.lost(temperature)
            if self.dtype == torch.float64:
                self.open(temperature)
        except Exception as error:
            self.campaign.wrong(
                f"tensors as {self.label}", self.batch, int(self.chosen[0]), "answers", repr(error)
            )

    def summed(self, temperature: float, counts: bool) -> None:
        """Compare sums and their gradients, those without a legal output as well."""
        legal, query = self.legal, f"infer({temperature})"
        value, parts = infer(
            self.structure, self.scores, lengths=self.lengths, temperature=temperature
        )
        got, p = value.cpu().double().numpy(), self._parts(parts)
        self._count(2 * len(got))
        right = self.batch.sums(self.chosen, temperature, self.blur, floor=self.least)
        self._wrong(query, legal & ~(np.abs(got - right.values) <= self._slack(temperature)),
                    right.values, got)  # fmt: skip
        self._wrong(query, ~legal & (got != -np.inf), self.batch.best[self.chosen], got)
        self._wrong(query, ~legal & (p != 0).any(axis=1), np.zeros_like(p), p)
        used = (p != 0) & self.batch.forbidden[self.chosen]
        self._wrong(query, used.any(axis=1), right.means, p)
        inside = ((p >= right.least) & (p <= right.most)).all(axis=1)
        if counts:
            self._wrong(query, legal & ~inside, right.means, p)

    def decoded(self) -> None:
        """Compare best outputs."""
        y = argmax(self.structure, self.scores, lengths=self.lengths)
        rows = [self.rows.get(row.tobytes(), -1) for row in self._flat(y)]
        self._count(len(rows))
        values = np.where(
            np.array(rows) < 0, np.nan, self.batch.values[self.chosen, np.maximum(rows, 0)]
        )
        best = self.batch.best[self.chosen]
        self._wrong("argmax", self.legal & ~(values >= best - self._slack()), best, values)

    def lost(self, temperature: float) -> None:
        """Compare the loss of random outputs and its gradient; all examples are legal."""
        batch, chosen = self.batch, self.chosen
        legal = np.isfinite(batch.values[chosen])
        gold = np.where(legal, self.rng.random(legal.shape), -1.0).argmax(axis=1)
        leaves = self._leaves()
        y = tuple(t[torch.from_numpy(gold)].to(self.device) for t in self.packed)
        loss = structured_loss(
            self.structure, leaves, y, lengths=self.lengths, temperature=temperature
        )
        loss.sum().backward()
        got = loss.detach().cpu().double().numpy()
        self._count(2 * len(got))
        right = batch.sums(chosen, temperature, self.blur, floor=self.least)
        values = right.values - batch.values[chosen, gold]
        query = f"structured_loss({temperature})"
        self._wrong(query, ~(np.abs(got - values) <= 2 * self._slack(temperature)), values, got)
        self._gradient(
            query, leaves, right.least - batch.parts[gold], right.most - batch.parts[gold]
        )

    def _gradient(
        self, query: str, leaves: dict[str, torch.Tensor], least: Array, most: Array
    ) -> None:
        """Compare gradients with what they lie between, of shared blocks with the sums of it."""
        for name, leaf in leaves.items():
            assert leaf.grad is not None
            low, high = least[:, self.batch.columns[name]], most[:, self.batch.columns[name]]
            if name in self.shared:
                got = leaf.grad.cpu().double().numpy().reshape(1, -1)
                low, high = low.sum(axis=0, keepdims=True), high.sum(axis=0, keepdims=True)
            else:
                got = self._cut(name, leaf.grad)
            wrong = ~((got >= low) & (got <= high)).all(axis=1)
            self._wrong(f"gradient along {name} of {query}", wrong, (low + high) / 2, got)

    def open(self, temperature: float) -> None:
        """Compare entropies and their gradients; all examples are legal."""
        right = self.batch.sums(self.chosen, temperature)
        leaves = self._leaves()
        found = entropy(self.structure, leaves, lengths=self.lengths, temperature=temperature)
        found.sum().backward()
        got = found.detach().cpu().numpy()
        self._count(2 * len(got))
        # Digits are lost in proportion to the scores.
        close = 1e-7 + 1e-10 * self.batch.sizes[self.chosen] / temperature
        query = f"entropy({temperature})"
        sure = close < 0.01
        self._wrong(query, sure & ~(np.abs(got - right.entropies) <= close), right.entropies, got)
        if not sure.all():  # shared blocks add up what is not sure
            return
        logs = np.where(right.p > 0, np.log(np.maximum(right.p, 1e-300)), 0.0)
        slope = (
            -((right.p * logs) @ self.batch.parts) - right.entropies[:, np.newaxis] * right.means
        )
        slope /= temperature
        most = 10 * (close * (1 + self.batch.sizes[self.chosen]) / min(1.0, temperature**2))
        self._gradient(query, leaves, slope - most[:, np.newaxis], slope + most[:, np.newaxis])

    def ranked(self, n: int) -> None:
        """Compare k-best lists, which the core makes; all examples are legal."""
        got, y = kbest(self.structure, n, self.scores, lengths=self.lengths)
        self._count(len(self.chosen))
        values = got.cpu().double().numpy()
        order = -np.sort(-self.batch.values[self.chosen], axis=1)[:, :n]
        right = np.full(values.shape, -np.inf)
        right[:, : order.shape[1]] = order
        slack = self._slack()[:, np.newaxis]
        close = (np.abs(values - right) <= slack) | (values == right)
        self._wrong(f"kbest({n})", ~close.all(axis=1), right, values)
        tensors = y if isinstance(y, tuple) else (y,)
        for k in range(n):
            rows = [self.rows.get(r.tobytes(), -1) for r in self._flat([t[:, k] for t in tensors])]
            there = np.isfinite(right[:, k])
            found = np.where(
                np.array(rows) < 0, np.nan, self.batch.values[self.chosen, np.maximum(rows, 0)]
            )
            wrong = there & ~(np.abs(found - right[:, k]) <= slack[:, 0])
            self._wrong(f"kbest({n})", wrong, right[:, k], found)
