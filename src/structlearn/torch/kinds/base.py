"""Kinds, the operators' view of a structure: cutting padded tensors into examples, and back."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

import torch

from ...structures.base import Structure
from ...threads import n_threads
from .rows import filled_rows, named_rows

#: An unknown label, or padding.
IGNORE = -100
#: A place where the output has no part: inside a segment, or no span.
UNUSED = -1

Tensors = list[torch.Tensor]

_SAID: set[str] = set()


class Kind:
    """A structure with the names of the score blocks that a call gives it.

    Parameters
    ----------
    structure : Structure
    names : tuple of str
        The blocks, the main one first.
    shared : tuple of bool
        Whether all examples share the block, which then has no batch axis.

    Attributes
    ----------
    name : str
        Structure and blocks, for :func:`~structlearn.torch.kinds.named_kind`: ``chain:1 label
        transition*`` is a chain of order 1 with transitions that all examples share.
    """

    #: The structure's word in :attr:`name`.
    word: str
    #: The block that scores the parts of an output.
    main: str
    #: Whether :meth:`cut` returns whole rows that are contiguous in memory.
    cuts_leave_rows = False

    def __init__(
        self, structure: Structure, names: tuple[str, ...], shared: tuple[bool, ...]
    ) -> None:
        self.structure = structure
        self.names = names
        self.shared = shared
        blocks = [n + "*" if s else n for n, s in zip(names, shared, strict=True)]
        self.name = " ".join([self.key(structure), *blocks])

    @classmethod
    def key(cls, structure: Structure) -> str:
        """Return the structure's part of :attr:`name`: its word, then ``:`` before each option."""
        return cls.word

    @classmethod
    def of_options(cls, structure: type[Structure], options: Sequence[str]) -> Structure:
        """Return the structure whose :meth:`key` has these options."""
        return structure(*map(int, options))

    @classmethod
    def rank(cls, structure: Structure, name: str, rank: int) -> bool:
        """Return whether a block with this rank is shared by all examples.

        Raises ValueError if the block cannot have this rank.
        """
        raise NotImplementedError

    @classmethod
    def check(cls, structure: Structure, scores: dict[str, torch.Tensor]) -> None:
        """Raise ValueError if the shapes do not fit together."""
        raise NotImplementedError

    def longest(self, main: torch.Tensor) -> int:
        """Return the length of an example that fills the main block."""
        return main.shape[1]

    def places(self, lengths: torch.Tensor) -> torch.Tensor:
        """Return the number of labelled places, the denominator of a mean cost."""
        return lengths

    def cut(self, name: str, block: Any, n: int) -> Any:
        """Return a view of the part of a block that belongs to an example of length n."""
        raise NotImplementedError

    # -- through the core -----------------------------------------------------------------------

    def examples(self, scores: Tensors, lengths: torch.Tensor) -> dict[str, Any]:
        """Return the scores as a batch of the library, as NumPy views if the type allows it.

        Only rows with positions are included (:func:`filled_rows`): the library has no empty
        examples.
        """
        n = lengths.tolist()
        blocks: dict[str, Any] = {}
        for name, shared, block in zip(self.names, self.shared, scores, strict=True):
            array = block.detach().to("cpu", torch.float64).numpy()
            if shared:
                blocks[name] = np.ascontiguousarray(array)
            else:
                blocks[name] = [self.cut(name, a, k) for a, k in zip(array, n, strict=True) if k]
        return blocks

    def ask(self, query: Callable[..., Any], scores: Tensors, lengths: torch.Tensor) -> list[Any]:
        """Return the library's answer for each row; None for a row without positions.

        Parameters
        ----------
        query : callable
            Takes a batch from :meth:`examples`, and ``n_jobs``.
        """
        answers: list[Any] = [None] * len(lengths)
        rows = filled_rows(lengths)
        if rows:
            with named_rows(rows):
                results = query(n_jobs=self.threads(), **self.examples(scores, lengths))
            for b, answer in zip(rows, results, strict=True):
                answers[b] = answer
        return answers

    def _columns(self, parts: Tensors, lengths: torch.Tensor) -> dict[str, list[Any]]:
        """Return the place of each filled row's gradient in each block."""
        n = lengths.tolist()
        return {
            name: [
                a if shared else self.cut(name, a, k)
                for a, k in zip(block.numpy(), n, strict=True)
                if k
            ]
            for name, shared, block in zip(self.names, self.shared, parts, strict=True)
        }

    def threads(self) -> int | None:
        """Return the number of threads for the core: PyTorch's."""
        return torch.get_num_threads() if self.structure.runs_on_threads else None

    def part_shapes(self, scores: Tensors) -> list[tuple[int, ...]]:
        """Return the shape of each block's gradient; shared blocks have a batch axis too."""
        batch = scores[0].shape[0]
        return [
            (batch, *block.shape) if shared else tuple(block.shape)
            for block, shared in zip(scores, self.shared, strict=True)
        ]

    def infer_core(
        self, scores: Tensors, lengths: torch.Tensor, temperature: float
    ) -> tuple[torch.Tensor, Tensors]:
        """Return values and gradients by block, in float64 on the CPU."""
        if temperature > 0 and self.cuts_leave_rows:
            return self._infer_in_place(scores, lengths, temperature)
        query = partial(self.structure.infer, temperature=temperature)
        answers = self.ask(query, scores, lengths)
        value = np.zeros(len(answers))
        parts = [torch.zeros(shape, dtype=torch.float64) for shape in self.part_shapes(scores)]
        columns = self._columns(parts, lengths)
        for i, b in enumerate(filled_rows(lengths)):
            value[b], p = answers[b]
            for name, column in columns.items():
                column[i][...] = p[name]
        return torch.from_numpy(value), parts

    def _infer_in_place(
        self, scores: Tensors, lengths: torch.Tensor, temperature: float
    ) -> tuple[torch.Tensor, Tensors]:
        """Return the same, with the gradients written in place by the core."""
        structure: Any = self.structure
        parts = [torch.zeros(shape, dtype=torch.float64) for shape in self.part_shapes(scores)]
        rows, columns = filled_rows(lengths), self._columns(parts, lengths)
        value = np.zeros(len(lengths))
        if rows:
            with named_rows(rows):
                _, theta, size = structure._convert(self.examples(scores, lengths))
                value[rows] = structure._core.infer_batch(
                    theta, columns, size, float(temperature), False, n_threads(self.threads())
                )
        return torch.from_numpy(value), parts

    def argmax_core(self, scores: Tensors, lengths: torch.Tensor) -> tuple[torch.Tensor, Tensors]:
        """Return the values of the best outputs, and the outputs, on the CPU."""
        solutions = self.ask(self.structure.solve, scores, lengths)
        value = torch.tensor(
            [0.0 if s is None else s.value for s in solutions], dtype=torch.float64
        )
        nothing = self.nothing(scores)
        outputs = [nothing if s is None else s.output for s in solutions]
        return value, self.pack(outputs, scores, lengths)

    # -- on the device --------------------------------------------------------------------------

    def has_kernel(self, scores: Tensors, temperature: float) -> bool:
        """Return whether there is a kernel for ``infer``."""
        return False

    def has_argmax_kernel(self, scores: Tensors) -> bool:
        """Return whether there is a kernel for ``argmax``."""
        return False

    def infer_kernel(
        self, scores: Tensors, lengths: torch.Tensor, temperature: float
    ) -> tuple[torch.Tensor, Tensors]:
        """Return values (float64) and gradients by block, on the device."""
        raise NotImplementedError

    def loss_kernel(
        self,
        raised: torch.Tensor,
        scores: Tensors,
        lengths: torch.Tensor,
        y: Tensors,
        temperature: float,
    ) -> tuple[torch.Tensor, Tensors]:
        """Return infer over all outputs, with ``raised`` as main block, minus infer within y."""
        batch = len(raised)
        others = [
            block if is_shared else torch.cat([block, block])
            for block, is_shared in zip(scores[1:], self.shared[1:], strict=True)
        ]
        main = torch.cat([raised, self.clamped(scores, lengths, y).to(raised)])
        both, grads = self.infer_kernel([main, *others], lengths.repeat(2), temperature)
        return both[:batch] - both[batch:], [p[:batch] - p[batch:] for p in grads]

    def argmax_kernel(self, scores: Tensors, lengths: torch.Tensor) -> tuple[torch.Tensor, Tensors]:
        """Return the values of the best outputs, and the outputs, on the device."""
        raise NotImplementedError

    # -- outputs --------------------------------------------------------------------------------

    def output_shapes(self, scores: Tensors) -> list[tuple[int, ...]]:
        """Return the shapes of the tensors that hold a batch of outputs."""
        raise NotImplementedError

    def nothing(self, scores: Tensors) -> Any:
        """Return the output of an example without positions."""
        return []

    def pack(self, outputs: Sequence[Any], scores: Tensors, lengths: torch.Tensor) -> Tensors:
        """Return the library's outputs, one for each example, as padded tensors.

        ValueError if an output does not have the length of its example. Only the shape of the first
        block of scores is used.
        """
        raise NotImplementedError

    def unpack(self, y: Tensors, lengths: torch.Tensor) -> list[Any]:
        """Return padded tensors as the library's outputs."""
        raise NotImplementedError

    def read(self, y: Any, scores: dict[str, torch.Tensor], lengths: torch.Tensor) -> Tensors:
        """Return gold outputs as padded tensors on the device of the scores.

        Takes the tensors themselves, or a list of outputs: arrays, lists or tensors.
        """
        main = scores[self.main]
        blocks = [scores[name] for name in self.names]
        shapes = self.output_shapes(blocks)
        tensors: Sequence[Any]
        if not isinstance(y, (list, tuple)):
            tensors = [y]
        elif y and isinstance(y[0], torch.Tensor) and y[0].dim() == len(shapes[0]):
            tensors = y
        else:
            if len(y) != len(main):
                raise ValueError(f"y has {len(y)} outputs, the batch {len(main)} examples")
            outputs = [
                array.cpu().numpy() if isinstance(array, torch.Tensor) else array for array in y
            ]
            tensors = [t.to(main.device) for t in self.pack(outputs, blocks, lengths)]
        if len(tensors) != len(shapes):
            raise ValueError(f"y must be {len(shapes)} tensors of shape {shapes[0]}, got "
                             f"{len(tensors)}")  # fmt: skip
        for tensor, shape in zip(tensors, shapes, strict=True):
            if not isinstance(tensor, torch.Tensor):
                raise ValueError(
                    f"y must be a tensor or a list of outputs, got {type(tensor).__name__}"
                )
            if tuple(tensor.shape) != shape:
                raise ValueError(f"y has shape {tuple(tensor.shape)}, expected {shape}")
            if tensor.is_floating_point() or tensor.is_complex() or tensor.dtype == torch.bool:
                raise ValueError(f"y must hold whole numbers, got {tensor.dtype}")
            if tensor.device != main.device:
                raise ValueError(f"y is on {tensor.device}, {self.main} on {main.device}")
        return [tensor.long() for tensor in tensors]

    def check_labels(self, y: Tensors, scores: dict[str, torch.Tensor], inside: Any) -> None:
        """Raise ValueError if a gold label is out of range; reads the values."""
        raise NotImplementedError

    def conflict(self, y: Tensors, example: int, n: int) -> str:
        """Return the reason why no output of length n agrees with y."""
        return "a part of it scores -inf"

    def allowed(self, y: Tensors, scores: Tensors, lengths: torch.Tensor) -> torch.Tensor:
        """Return a mask of the parts of the main block that y does not exclude."""
        raise NotImplementedError

    def clamped(self, scores: Tensors, lengths: torch.Tensor, y: Tensors) -> torch.Tensor:
        """Return the main block with −∞ for the parts that y excludes."""
        return torch.where(self.allowed(y, scores, lengths), scores[0], float("-inf"))

    def centred(self, scores: Tensors, parts: Tensors) -> Tensors:
        """Return scores with the same distribution that are near 0 where p is large.

        A block is shifted if every output has the same number of its parts.
        """
        return [
            self._shifted(name, block.expand_as(p), p)
            for name, block, p in zip(self.names, scores, parts, strict=True)
        ]

    def _shifted(self, name: str, block: torch.Tensor, p: torch.Tensor) -> torch.Tensor:
        """Return one block, shifted."""
        return block

    def costs(
        self, y: Tensors, table: torch.Tensor | None, scores: Tensors, lengths: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Return (c of the main block, c₀) of the Hamming cost, or of a table δ(gold, label)."""
        raise NotImplementedError


def on_gpu(x: torch.Tensor) -> bool:
    """Return whether kernels can compute with a tensor."""
    return x.is_cuda


def less_mean(
    block: torch.Tensor,
    p: torch.Tensor,
    axes: tuple[int, ...],
    size: torch.Tensor | float = 1.0,
) -> torch.Tensor:
    """Return a block minus its mean under p over these axes.

    Parts with probability 0, among them those with −∞, do not count.
    """
    used = torch.where(p > 0, block, 0.0) * p
    mean = used.sum(dim=axes, keepdim=True) / (p * size).sum(dim=axes, keepdim=True).clamp(min=1e-9)
    return block - mean * size


def lengths_to_mask(lengths: torch.Tensor, size: int) -> torch.Tensor:
    """Return a mask (B, size) of the positions within the lengths."""
    return torch.arange(size, device=lengths.device)[None, :] < lengths[:, None]


def fill_row(row: Any, labels: Any, n: int, example: int, what: str = "labels") -> None:
    """Write the n labels of an example, unknown ones None, into a row of an array.

    ValueError if their number is wrong, or if they are not whole numbers.
    """
    if len(labels) != n:
        raise ValueError(f"example {example}: y has {len(labels)} {what}, expected {n}")
    if not isinstance(labels, np.ndarray):
        labels = np.array([IGNORE if k is None else k for k in labels] or np.zeros(0, np.int64))
    if labels.dtype.kind not in "iu" or labels.ndim != 1:
        raise ValueError(f"example {example}: y must hold whole numbers, or None")
    row[:n] = labels


def say_once(what: str) -> None:
    """Warn that a query has no kernel and is computed by the core; once for each kind."""
    if what not in _SAID:
        _SAID.add(what)
        warnings.warn(
            f"{what} has no kernel for CUDA: the core computes it, on the CPU",
            UserWarning,
            stacklevel=3,
        )
