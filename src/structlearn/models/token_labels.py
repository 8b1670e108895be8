"""Models that label tokens one by one: how their outputs are named."""

from __future__ import annotations

from .model import Model

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

    from .inputs import NativeInputs

__all__ = ["TokenLabels"]


class TokenLabels(Model):
    """A model of the core whose output is a label for each token.

    A subclass gives ``_shown`` and ``_length``.
    """

    _part_names = ("position", "label")

    @property
    def classes_(self) -> list[str]:
        """The labels as they are written."""
        raise AssertionError

    @property
    def _shown(self) -> list[str]:
        """Return how each label is written, by its number; several may be written alike."""
        raise AssertionError

    def _length(self, inputs: Any, i: int) -> int:
        """Return the number of tokens of an input."""
        raise AssertionError

    def _named(self, inputs: Any, i: int, output: Any) -> list[str]:
        shown = self._shown
        return [shown[k] for k in output]

    def _best(self, inputs: NativeInputs) -> list[list[str]]:
        return inputs.best_labels(self._shown, self.n_threads)

    def _marginals(
        self, inputs: NativeInputs, temperature: float, least: float
    ) -> list[list[dict[str, float]]]:
        return inputs.label_probabilities(self.classes_, temperature, least, self.n_threads)

    def _places_of(self, inputs: Any, i: int, part: Any) -> list[tuple[int, int, int]]:
        position, label = part
        numbers = [k for k, name in enumerate(self._shown) if name == label]
        if not numbers or not 0 <= position < self._length(inputs, i):
            raise ValueError(f"the model has no label {label!r} at position {position}")
        return [(position, position + 1, k) for k in numbers]
