"""Models that label tokens: one input in one call, and how outputs are named."""

from __future__ import annotations

from .model import Model

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

    from .inputs import NativeInputs


class OneCall(Model):
    """A model that labels one plain input in one call of the core.

    A subclass gives ``_single``.
    """

    def _single(self, x: Any) -> list[str] | None:
        """Return the labels of an input; None if it is not plain, or there is an error in it."""
        raise AssertionError

    def predict(self, X: Any, **reading: Any) -> Any:
        """Return the labels of each input."""
        if type(X) is list and len(X) == 1 and not reading:
            labels = self._single(X[0])
            if labels is not None:
                return [labels]
        return super().predict(X, **reading)

    def predict_single(self, x: Any, **reading: Any) -> Any:
        """Return the labels of one input, ``predict([x])[0]``, in one call of the core."""
        labels = None if reading else self._single(x)
        return super().predict([x], **reading)[0] if labels is None else labels


class TokenLabels(OneCall):
    """A model of the core whose output is a label for each token.

    A subclass gives ``_single``, ``_single_marginals``, ``_shown`` and ``_length``.
    """

    def _single_marginals(self, x: Any, temperature: float, least: float) -> Any:
        """Return the probabilities of all labels of an input; None as for ``_single``."""
        raise AssertionError

    def predict_marginals(
        self,
        X: Any,
        *,
        least: float | None = None,
        temperature: float | None = None,
        **reading: Any,
    ) -> list[list[dict[str, float]]]:
        """Return the probability of each label at each token of each input.

        Parameters
        ----------
        least : float, optional
            Smaller probabilities are 0.
        temperature : float, optional
            Of the distribution P(output) ∝ exp(score / temperature). By default that of the model
            (:attr:`temperature_`), with a warning if it has none.
        """
        if type(X) is list and len(X) == 1 and not reading:
            temperature = self._at(temperature)
            bound = self._least_shown if least is None else float(least)
            found = self._single_marginals(X[0], temperature, bound)
            if found is not None:
                return [found]
        return super().predict_marginals(X, least=least, temperature=temperature, **reading)

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

    def _right(self, inputs: Any, outputs: list[Any], gold: Any) -> list[list[bool | None]]:
        shown = self._shown
        return [
            [None if k is None else shown[j] == k for j, k in zip(found, labels, strict=True)]
            for found, labels in zip(outputs, gold, strict=True)
        ]

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
