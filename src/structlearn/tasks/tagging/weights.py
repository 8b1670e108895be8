"""The weights of taggers: which ones exist, and what models are made of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...estimators.forbidding import put_masks
from ...io.weight_tables import packed_table
from ...scoring.layout import SeenOutcomes, WeightBlock, WeightLayout
from ...structures.base import Structure
from ...structures.chains.chain import Chain
from .inventory import Inventory

__all__ = ["TokenWeights", "label_layout", "seen_labels"]

Vector = npt.NDArray[np.float64]


def label_layout(
    structure: Structure,
    labels: list[str],
    seen: Mapping[str, SeenOutcomes],
    forbid: Mapping[str, Any],
) -> WeightLayout:
    """Return the layout of the weights of a tagger.

    Parameters
    ----------
    seen : mapping of str to SeenOutcomes
        Of the blocks that have features; the others have one weight for each outcome.
    forbid : mapping of str to list
        What is forbidden, as in the estimators. Gold labels must respect it; the caller checks
        that, because only the caller can name the line of the file.
    """
    blocks: dict[str, WeightBlock | None] = {}
    specs = structure.blocks(len(labels))
    for name, spec in specs.items():
        if name not in seen:
            blocks[name] = WeightBlock(spec.outcomes, 1, shared=True)
            continue
        row_ptr, column, real = seen[name].filled()
        n_features = len(row_ptr) - 1
        blocks[name] = WeightBlock(
            spec.outcomes, n_features, shared=False, row_ptr=row_ptr, column=column, real=real
        )
    inner = {name: spec.inner for name, spec in specs.items()}
    put_masks(forbid, blocks, inner, np.array(labels, dtype=object))
    return WeightLayout(blocks)


def seen_labels(vocabulary: _core.Vocabulary) -> SeenOutcomes:
    """Return the labels that each feature of a frozen vocabulary has."""
    buffers = vocabulary.row_ptr(), vocabulary.column()
    row_ptr, column = (np.frombuffer(buffer, np.uint32) for buffer in buffers)
    return SeenOutcomes(row_ptr, column, len(vocabulary.labels))


class TokenWeights:
    """Which weights a tagger of tokens has: those of a chain over its labels. Can be sent.

    Parameters
    ----------
    inventory : Inventory
        Frozen: knows the features, and which labels each was seen with.
    order : int
        Of the chain.
    forbid : mapping of str to list
        What the scheme of the labels forbids.
    observed : SeenOutcomes, optional
        The labels that each feature has weights for; by default those it was seen with.
    pairs : SeenOutcomes, optional
        The label pairs that features of pairs were seen with.
    """

    def __init__(
        self,
        inventory: Inventory,
        order: int,
        forbid: Mapping[str, Any],
        observed: SeenOutcomes | None = None,
        pairs: SeenOutcomes | None = None,
    ) -> None:
        self.inventory, self.order, self.forbid = inventory, order, forbid
        self.observed, self.pairs = observed, pairs

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "layout"}

    @property
    def labels(self) -> list[str]:
        """The labels, by their numbers."""
        return list(self.inventory.vocabulary.labels)

    @property
    def structure(self) -> Chain:
        """The chain."""
        return Chain(order=self.order)

    @cached_property
    def layout(self) -> WeightLayout:
        """Where each weight is."""
        chain, vocabulary = self.structure, self.inventory.vocabulary
        seen = {"label": self.observed or seen_labels(vocabulary)}
        if self.pairs is not None:
            seen["transition"] = self.pairs
        names = {"transition": str(chain.pair_block)}
        forbid = {names.get(name, name): entries for name, entries in self.forbid.items()}
        return label_layout(chain, self.labels, seen, forbid)

    def model_arrays(self, w: Vector, prune: float) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the arrays of a model with these weights, and which features they kept, by table.

        Parameters
        ----------
        prune : float
            Leave out weights up to this size.
        """
        arrays: dict[str, Any] = {}
        kept: dict[str, Any] = {}
        layout, n = self.layout, len(self.labels)
        tables: dict[str, list[Any]] = {
            "state": [self.inventory.keys, *layout.rows("label", w), n, prune]
        }
        names = ["start", "end", *(f"transition{m}" for m in range(1, self.order + 1))]
        for name in names:
            block = "transition" if name == f"transition{self.order}" else name
            if block != "transition" or self.pairs is None:
                arrays[name] = layout.table(block, w)
                continue
            # Label pairs have features: the table is the last of them, which every pair has.
            row_ptr, column, values = layout.rows(block, w)
            last = int(row_ptr[-2])
            table = np.zeros(n**2)
            table[column[last:]] = values[last:]
            mask = layout.blocks[block].mask  # type: ignore[union-attr]
            arrays[name] = table if mask is None else table + mask.ravel()
            rows = map(np.ascontiguousarray, (row_ptr[:-1], column[:last], values[:last]))
            tables["pair"] = [self.inventory.vocabulary.pair_keys(), *rows, n**2, prune]
        for table_name, given in tables.items():
            packed, kept[table_name] = packed_table(table_name, *given)
            arrays.update(packed)
        return arrays, kept

    def of_model(self, model: Any) -> Vector:
        """Return the weights of an earlier model, whose features come first in the vocabulary."""
        w = np.zeros(self.layout.n_weights)
        _, row_ptr, column, values = (np.asarray(x) for x in model.unpacked())
        label = self.layout.blocks["label"]
        assert label is not None
        rows = np.repeat(np.arange(len(row_ptr) - 1, dtype=np.int64), np.diff(row_ptr))
        w[np.searchsorted(label._positions(), rows * len(self.labels) + column)] = values
        for name, block in self.layout.present().items():
            if name != "label":
                stored = f"transition{self.order}" if name == "transition" else name
                table = np.frombuffer(bytes(model.arrays[stored]))
                if len(table):
                    w[block.offset : block.offset + block.size] = np.where(
                        np.isfinite(table), table, 0.0
                    )
        return w
