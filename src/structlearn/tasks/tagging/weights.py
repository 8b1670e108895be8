"""The weights of taggers: which ones exist, and what models are made of them."""

from __future__ import annotations

from array import array
from functools import cached_property

from ... import _core
from ...io.weight_tables import packed_table

TYPE_CHECKING = False  # importing NumPy costs more than many a training
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ...array_types import Array
    from ...scoring.layout import SeenOutcomes, WeightLayout
    from ...structures.chains.chain import Chain
    from .inventory import Inventory

    Vector = Array

#: With more labels than this features with one weight are pruned up to so many times as large ones.
_MANY_LABELS, _LONE = 256, 4.0


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
    constraints : list of str
        What outputs keep to.
    written : list of str
        How the labels are written, as constraints have them.
    """

    def __init__(
        self,
        inventory: Inventory,
        order: int,
        forbid: Mapping[str, Any],
        observed: SeenOutcomes | None = None,
        pairs: SeenOutcomes | None = None,
        constraints: Sequence[str] = (),
        written: Sequence[str] = (),
    ) -> None:
        self.inventory, self.order, self.forbid = inventory, order, forbid
        self.observed, self.pairs = observed, pairs
        self.constraints, self.written = constraints, written

    def __getstate__(self) -> dict[str, Any]:
        made = ("layout", "rows", "structure")
        return {name: value for name, value in vars(self).items() if name not in made}

    @property
    def labels(self) -> list[str]:
        """The labels, by their numbers."""
        return list(self.inventory.vocabulary.labels)

    @cached_property
    def structure(self) -> Chain:
        """The chain, under constraints where there are any."""
        from .lawful import chain_under

        return chain_under(self.order, self.constraints, self.written)

    @cached_property
    def rows(self) -> tuple[Any, Any, Any]:
        """The labels that each feature has weights for: row pointers, labels, which are real.

        Rows that are nearly full are stored full; if there are none, nothing tells which are real.
        """
        if self.observed is not None:
            row_ptr, column, real = self.observed.filled()
            return row_ptr, column, b"" if real is None else real
        vocabulary = self.inventory.vocabulary
        seen = vocabulary.row_ptr(), vocabulary.column()
        return _core.filled_rows(*seen, len(self.labels)) or (*seen, b"")

    @property
    def is_plain(self) -> bool:
        """Whether there are weights of features, of pairs of labels, and of the ends: no others."""
        return self.order == 1 and self.pairs is None

    @cached_property
    def layout(self) -> WeightLayout:
        """Where each weight is."""
        import numpy as np

        from ...scoring.layout import SeenOutcomes
        from .label_layout import label_layout

        chain = self.structure
        row_ptr, column, real = self.rows
        rows = np.frombuffer(row_ptr, np.uint32), np.frombuffer(column, np.uint32)
        known = np.frombuffer(real, np.uint8) if len(real) else None
        seen = {"label": SeenOutcomes(*rows, len(self.labels), known)}
        if self.pairs is not None:
            seen["transition"] = self.pairs
        names = {"transition": str(chain.pair_block)}
        forbid = {names.get(name, name): entries for name, entries in self.forbid.items()}
        return label_layout(chain, self.labels, seen, forbid)

    def model_arrays(self, w: Any, prune: float) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the arrays of a model with these weights, and which features they kept, by table.

        Parameters
        ----------
        prune : float
            Leave out weights up to this size.
        """
        if self.is_plain:
            return self._plain_arrays(memoryview(w).cast("B").cast("d"), prune)
        import numpy as np

        arrays: dict[str, Any] = {}
        kept: dict[str, Any] = {}
        layout, n = self.layout, len(self.labels)
        tables: dict[str, list[Any]] = {
            "state": [self.inventory.keys, *_pruned(*layout.rows("label", w), n, prune), n, prune]
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

    def _plain_arrays(
        self, w: memoryview[float], prune: float
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the arrays of a model without making any of NumPy's."""
        row_ptr, column, _ = self.rows
        n = len(self.labels)
        state, start, end = len(w) - n * n - 2 * n, len(w) - n * n - n, len(w) - n * n
        arrays: dict[str, Any] = {
            "start": self.table("start", w[state:start]),
            "end": self.table("end", w[start:end]),
            "transition1": self.table("transition", w[end:]),
        }
        rows = _pruned(row_ptr, column, w[:state], n, prune)
        packed, kept = packed_table("state", self.inventory.keys, *rows, n, prune)
        return {**arrays, **packed}, {"state": kept}

    def mask(self, name: str) -> Any:
        """Return 0, or −∞ for labels, or their pairs, that are forbidden; nothing if none is."""
        size = len(self.labels) ** (2 if name == "transition" else 1)
        return self.table(name, bytes(8 * size)) if name in self.forbid else b""

    def table(self, name: str, weights: Any) -> array[float]:
        """Return weights of labels or their pairs, −∞ for what is forbidden."""
        table = array("d", bytes(weights))
        number = {label: k for k, label in enumerate(self.labels)}
        for entry in self.forbid.get(name, ()):
            if name == "transition":
                table[number[entry[0]] * len(number) + number[entry[1]]] = float("-inf")
            else:
                table[number[entry]] = float("-inf")
        return table

    def of_model(self, model: Any) -> Vector:
        """Return the weights of an earlier model, whose features come first in the vocabulary.

        Labels that it does not have begin at zero: alone, and beside others.
        """
        import numpy as np

        w = np.zeros(self.layout.n_weights)
        _, row_ptr, column, values = (np.asarray(x) for x in model.unpacked())
        label = self.layout.blocks["label"]
        assert label is not None
        number = {name: k for k, name in enumerate(self.labels)}
        ours = np.array([number[name] for name in model.labels], dtype=np.int64)
        rows = np.repeat(np.arange(len(row_ptr) - 1, dtype=np.int64), np.diff(row_ptr))
        put_weights(label, w, rows, ours[column], values)
        for name, block in self.layout.present().items():
            if name != "label":
                stored = f"transition{self.order}" if name == "transition" else name
                put_scores(block, w, model.arrays[stored], ours, len(number))
        return w


def put_weights(block: Any, w: Vector, features: Any, labels: Any, values: Any) -> None:
    """Set the weights of some pairs of a feature and a label, which the block has."""
    import numpy as np

    w[np.searchsorted(block._positions(), features * block.n_columns + labels)] = values


def put_scores(block: Any, w: Vector, scores: Any, labels: Any, n_labels: int) -> None:
    """Set the scores of an earlier model's labels, by their numbers here, and of their windows."""
    import numpy as np

    table = np.frombuffer(bytes(scores))
    if not len(table):
        return
    axes = len(block.outcomes)
    whole = np.zeros((n_labels,) * axes)
    known = np.where(np.isfinite(table), table, 0.0)
    whole[np.ix_(*[labels] * axes)] = known.reshape((len(labels),) * axes)
    w[block.offset : block.offset + block.size] = whole.ravel()


def _pruned(
    row_ptr: Any, column: Any, weights: Any, n_labels: int, prune: float
) -> tuple[Any, Any, Any]:
    """Return rows of weights; of many labels, without small ones that are alone with a feature.

    Most features of hundreds of labels were seen with one, and a feature takes the room of three
    weights in a file (``docs/internals/label_sets.md``).
    """
    if not prune or n_labels <= _MANY_LABELS:
        return row_ptr, column, weights
    import numpy as np

    size = np.array(weights, dtype=np.float64)
    begin = np.frombuffer(row_ptr, np.uint32)
    stays = np.abs(size) > prune
    so_far = np.concatenate(([0], np.cumsum(stays)))
    alone = so_far[begin[1:]] - so_far[begin[:-1]] == 1
    size[np.repeat(alone, np.diff(begin)) & (np.abs(size) <= _LONE * prune)] = 0.0
    return row_ptr, column, size
