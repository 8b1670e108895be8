"""What a learner hands to a tagger: weights by feature and label, whatever learned them."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

__all__ = ["LearnedWeights", "Masks"]


@dataclass
class Masks:
    """Hard constraints on labels: 0, or −∞ where something is forbidden; empty: nothing is."""

    start: array[float] = field(default_factory=lambda: array("d"))
    end: array[float] = field(default_factory=lambda: array("d"))
    transition: array[float] = field(default_factory=lambda: array("d"))

    @classmethod
    def of(cls, labels: Sequence[str], forbidden: Any) -> Masks:
        """Return the masks of a dictionary of forbidden starts, ends and transitions."""
        n = len(labels)
        index = {label: i for i, label in enumerate(labels)}
        masks = cls(
            array("d", bytes(8 * n)), array("d", bytes(8 * n)), array("d", bytes(8 * n * n))
        )
        never = float("-inf")
        for label in forbidden["start"]:
            masks.start[index[label]] = never
        for label in forbidden["end"]:
            masks.end[index[label]] = never
        for a, b in forbidden["transition"]:
            masks.transition[index[a] * n + index[b]] = never
        return masks


@dataclass
class LearnedWeights:
    """Weights in plain arrays (buffers of float64 and uint32).

    Attributes
    ----------
    row_ptr, column, state : buffers
        Feature f has the weights ``state[row_ptr[f]:row_ptr[f+1]]`` for the labels
        ``column[…]``.
    start, end : buffers
        One weight a label, or empty.
    transitions : list of buffers
        Orders 1, 2, …: K², K³, … weights.
    pair_row_ptr, pair_column, pair : buffers
        The same as state for features of label pairs, K² outcomes.
    """

    row_ptr: Any
    column: Any
    state: Any
    start: Any
    end: Any
    transitions: list[Any]
    pair_row_ptr: Any = b""
    pair_column: Any = b""
    pair: Any = b""

    def plus(self, other: LearnedWeights) -> LearnedWeights:
        """Return the sum of the weights of two runs over one vocabulary."""
        return self._changed(other, lambda a, b: a + b)

    def divided(self, count: int) -> LearnedWeights:
        """Return the weights divided by a number."""
        return self if count == 1 else self._changed(self, lambda a, _: a / count)

    def _changed(self, other: LearnedWeights, change: Callable[[Any, Any], Any]) -> LearnedWeights:
        import numpy as np

        def numbers(values: Any) -> Any:
            return np.frombuffer(memoryview(values).cast("B"), dtype=np.float64)

        def changed(a: Any, b: Any) -> Any:
            return change(numbers(a), numbers(b)) if len(a) else a

        return replace(
            self,
            state=changed(self.state, other.state),
            start=changed(self.start, other.start),
            end=changed(self.end, other.end),
            transitions=list(map(changed, self.transitions, other.transitions)),
            pair=changed(self.pair, other.pair),
        )

    def with_masks(self, masks: Masks) -> LearnedWeights:
        """Return the weights with −∞ where a constraint forbids."""

        def masked(weights: Any, mask: array[float]) -> array[float]:
            values = array("d", bytes(weights))
            if not mask:
                return values
            if not values:
                return array("d", mask)
            return array("d", [w + m for w, m in zip(values, mask, strict=True)])

        return replace(
            self,
            start=masked(self.start, masks.start),
            end=masked(self.end, masks.end),
            transitions=[masked(self.transitions[0], masks.transition), *self.transitions[1:]],
        )
