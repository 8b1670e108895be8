"""Comparison of :mod:`structlearn.torch` on padded tensors with enumeration.

The core computes on the CPU, and for some examples the kernels in Triton's interpreter; the kernels
compute on CUDA. Tensors are padded with numbers that must not count.
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

#: One in this number of examples is passed to the core as a tensor; a few examples of this share
#: of the batches are passed to the kernels in the interpreter, which is slow.
TENSORS, INTERPRETED = 5, 0.02
#: Beyond this multiple of the temperature, rounding of scores is too coarse for the kernels'
#: expected counts: only sums and best outputs are compared.
ENORMOUS = 1e12

#: The axes of a block that grow with the length; axis 0 is the batch.
_LONG = {"label": (1,), "segment": (1,), "arc": (1, 2), "sibling": (1, 2, 3), "span": (1, 2)}
#: The allowed error of a value, relative to the scores' size and to the temperature; and that of
#: an expected count.
_CLOSE = {
    torch.float64: (1e-12, 1e-11, 1e-13, 1e-9),
    torch.float32: (2e-6, 2e-5, 1e-6, 5e-5),
}


def has_tensors(structure: Any) -> bool:
    """Return whether a structure has a padded form."""
    return kind_type(structure) is not None


def compare_by_core(
    campaign: Campaign, batch: Batch, rng: np.random.Generator, temperature: float
) -> None:
    """Compare some examples of a batch as tensors on the CPU, computed by the core."""
    rows = batch.legal[::TENSORS]
    if len(rows):
        comparison = TensorComparison(campaign, batch, rows, rng)
        comparison.compare(temperature)
        comparison.ranked(3)


def compare_by_kernels(
    campaign: Campaign,
    batch: Batch,
    rng: np.random.Generator,
    temperature: float,
    device: str = "cpu",
) -> None:
    """Compare a batch computed by the kernels; only a few examples in the interpreter."""
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
        for name, (rows, few) in groups.items():
            rows = rows[:few] if interpreted else rows
            if not len(rows):
                continue
            comparison = TensorComparison(
                campaign, batch, rows, rng, device=device, label="kernels"
            )
            if comparison.kind.has_kernel(list(comparison.scores.values()), temperature):
                comparison.compare(temperature, counts=name != "sums")


@contextmanager
def _kernels_on_the_cpu() -> Iterator[None]:
    """Make the kernels compute, in Triton's interpreter."""
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
        The examples. Kernels also take those without a legal output.
    label : str
        The name under which answers are counted.
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
        # All outputs as tensors, and the row of each.
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
        """Return the padding at the end of each axis, including the batch."""
        shape = self.batch.case.shapes[name]
        widths = [(0, 0)] * (len(shape) + 1)
        extra = self.longer - self.length
        for axis in _LONG.get(name, ()):
            widths[axis] = (0, extra)
        if name.startswith("transition") and self._rank(name) > len(self._outcomes(name)):
            sites = max(self.longer - len(self._outcomes(name)) + 1, 0)
            widths[1] = (0, sites - shape[0])
        return widths

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
        """Return a block without its padding, a row for each example; NaN if padding counts."""
        values: Array = block.detach().cpu().double().numpy()
        if name not in self.shared:
            shape = self.batch.case.shapes[name]
            inside = values[(slice(None), *(slice(0, n) for n in shape))].copy()
            axes = tuple(range(1, values.ndim))
            counted = (values != 0).sum(axis=axes) > (inside != 0).sum(axis=axes)
            inside[counted] = np.nan
            values = inside
        return values.reshape(len(values), -1)

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
        """Note the first example with a wrong answer."""
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
        """Compare sums and best outputs, and, if ``counts``, gradients and entropies."""
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
        """Compare sums and their gradients, also without a legal output."""
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
        batch, rows = self.batch, self.chosen
        legal = np.isfinite(batch.values[rows])
        gold = np.where(legal, self.rng.random(legal.shape), -1.0).argmax(axis=1)
        leaves = self._leaves()
        y = tuple(t[torch.from_numpy(gold)].to(self.device) for t in self.packed)
        loss = structured_loss(
            self.structure, leaves, y, lengths=self.lengths, temperature=temperature
        )
        loss.sum().backward()
        got = loss.detach().cpu().double().numpy()
        self._count(2 * len(got))
        right = batch.sums(rows, temperature, self.blur, floor=self.least)
        values = right.values - batch.values[rows, gold]
        query = f"structured_loss({temperature})"
        self._wrong(query, ~(np.abs(got - values) <= 2 * self._slack(temperature)), values, got)
        self._gradient(
            query, leaves, right.least - batch.parts[gold], right.most - batch.parts[gold]
        )

    def _gradient(
        self, query: str, leaves: dict[str, torch.Tensor], least: Array, most: Array
    ) -> None:
        """Compare gradients with their bounds; those of shared blocks with the sums of bounds."""
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
        entropies = entropy(self.structure, leaves, lengths=self.lengths, temperature=temperature)
        entropies.sum().backward()
        got = entropies.detach().cpu().numpy()
        self._count(2 * len(got))
        # The loss of digits is proportional to the scores.
        close = 1e-7 + 1e-10 * self.batch.sizes[self.chosen] / temperature
        query = f"entropy({temperature})"
        sure = close < 0.01
        self._wrong(query, sure & ~(np.abs(got - right.entropies) <= close), right.entropies, got)
        if not sure.all():  # shared blocks add up the uncertainties
            return
        logs = np.where(right.p > 0, np.log(np.maximum(right.p, 1e-300)), 0.0)
        slope = (
            -((right.p * logs) @ self.batch.parts) - right.entropies[:, np.newaxis] * right.means
        )
        slope /= temperature
        most = 10 * (close * (1 + self.batch.sizes[self.chosen]) / min(1.0, temperature**2))
        self._gradient(query, leaves, slope - most[:, np.newaxis], slope + most[:, np.newaxis])

    def ranked(self, n: int) -> None:
        """Compare k-best lists, computed by the core; all examples are legal."""
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
            row_values = np.where(
                np.array(rows) < 0, np.nan, self.batch.values[self.chosen, np.maximum(rows, 0)]
            )
            wrong = there & ~(np.abs(row_values - right[:, k]) <= slack[:, 0])
            self._wrong(f"kbest({n})", wrong, right[:, k], row_values)
