"""One label out of K: the smallest structure, where the chapter begins (§17.1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .. import _core
from ..array_types import Integers
from .batches import holds_interpreter
from .entropies import centred, entropy_of_choices
from .native import NativeStructure
from .others import differing_labels
from .parts import Block, Parts, part_of
from .programs.rows import RowBuilder


class Multiclass(NativeStructure):
    """One label out of K. Score block: ``label`` (K,); the output is an int.

    argmax is the maximum, log_partition the log-sum-exp and marginals the softmax: O(K) each.

    Examples
    --------
    >>> Multiclass().argmax(label=[0.5, 2.0, 1.0])
    1
    >>> Multiclass().kbest(2, label=[0.5, 2.0, 1.0])
    [(2.0, 1), (1.0, 2)]
    """

    method = "maximum"
    single_site = True
    _label_rank = 1

    def __init__(self) -> None:
        self._core = _core.multiclass()

    def blocks(self, n_labels: int) -> dict[str, Block]:
        """Return the one block: a label."""
        return {"label": Block((n_labels,))}

    def labels_of(self, y: Any) -> list[Any]:
        """Return the one label."""
        return [y]

    def relabel(self, y: Any, labels: Any) -> Any:
        """Return the new label."""
        return labels[0]

    def _read(self, flat: Integers, ptr: Integers) -> list[int]:
        labels: list[int] = flat.tolist()
        return labels

    def _read_samples(self, rows: Integers) -> Integers:
        return rows[:, 0]

    def _positions(self, name: str, theta: Mapping[str, Any]) -> tuple[int, ...]:
        return tuple(theta[name].shape)

    def _encode(self, y: Any, theta: Mapping[str, Any], by_position: bool) -> Parts:
        label = np.zeros(theta["label"].shape)
        label[self._check_label(y, label.size)] = 1.0
        return {"label": label}

    @staticmethod
    def _check_label(y: Any, n_labels: int) -> int:
        if int(y) != y or not 0 <= int(y) < n_labels:
            raise ValueError(f"label {y} is not among the {n_labels} labels 0..{n_labels - 1}")
        return int(y)

    def score(self, y: Any, **scores: Any) -> Any:
        """Return the label's score; a list for a batch."""
        theta = self._one(scores)
        return float(theta["label"][self._check_label(y, theta["label"].size)])

    def decode(self, parts: Any) -> Any:
        """Return the label whose count is one; a list for a list of parts."""
        label = part_of(parts, "label")
        if not (np.isin(label, (0.0, 1.0)).all() and label.sum() == 1):
            raise ValueError("these parts are not an output: exactly one label must have count 1")
        return int(label.argmax())

    def outputs(self, **scores: Any) -> Iterator[int]:
        """Iterate over the labels."""
        return iter(range(len(scores["label"])))

    def _others(
        self, y: Any, theta: Parts, topology: Mapping[str, Any]
    ) -> Iterator[dict[str, Any]]:
        return differing_labels(theta, "label", self.labels_of(y))

    def _local_entropy(
        self, theta: dict[str, Any], topology: Mapping[str, Any], temperature: float
    ) -> float:
        p = self.marginals(temperature=temperature, **centred(theta, {"label": 1}))
        return entropy_of_choices(p["label"][np.newaxis])

    def program_rows(self, theta: Parts, **topology: Any) -> RowBuilder:
        """Return the one row: exactly one label."""
        build = RowBuilder({"label": theta["label"].shape})
        build.add((build.parts["label"], 1), rows=0, equal=1, name="exactly one label")
        return build

    @holds_interpreter
    def count(self, **scores: Any) -> Any:
        """Return the number of labels with a finite score."""
        theta = self._one(scores)
        return int(np.isfinite(theta["label"]).sum())
