"""Inputs of a model, as its queries see them."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from itertools import pairwise

from ..exceptions import LineError

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any, Protocol

    from .. import _core

    class Inputs(Protocol):
        """What a model's inputs answer, for all of them at once.

        Outputs are the structure's own; the model names them.
        """

        def __len__(self) -> int: ...
        def solve(self, threads: int) -> Solutions: ...
        def kbest(self, n: int, threads: int) -> list[list[tuple[float, Any]]]: ...
        def marginals(self, temperature: float, least: float, threads: int) -> list[Any]: ...
        def sample(
            self, n: int, temperature: float, seed: int, threads: int
        ) -> list[list[Any]]: ...
        def entropy(self, temperature: float, threads: int) -> list[float]: ...
        def log_partition(self, temperature: float, threads: int) -> list[float]: ...
        def score(self, outputs: list[Any], threads: int) -> list[float]: ...
        def certainties(
            self, outputs: list[Any], temperature: float, threads: int
        ) -> list[list[float]]: ...

    #: Inputs, their best outputs, and of each part whether it is right; None: not known.
    Judged = tuple[Any, list[Any], list[list[bool | None]]]


class Solutions:
    """The best output of each input.

    Attributes
    ----------
    outputs : list
        As the structure has them.
    values : sequence of float
        Their scores; none where the search does not tell them.
    exact : sequence of bool
        Whether each is proven to be a best one; none where the search does not tell.
    """

    def __init__(
        self,
        outputs: list[Any],
        values: Sequence[float] = (),
        exact: Sequence[bool] = (),
    ) -> None:
        self.outputs, self.values, self.exact = outputs, values, exact


class NativeInputs:
    """Inputs of a model of the core. An output is a row of whole numbers.

    Parameters
    ----------
    core : _core.Inputs
    source : object
        What they were read from, for the model that names outputs: a corpus, words with tags.
    path : str
        The file, for messages.
    constraints : object
        What the answers keep to beside the constraints of the model.
    """

    def __init__(
        self, core: _core.Inputs, source: Any, path: str = "", constraints: Any = None
    ) -> None:
        self.core, self.source, self.path = core, source, path
        self.constraints = constraints

    def __len__(self) -> int:
        return len(self.core)

    def _ask(self, query: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return query(*arguments)
        except LineError as error:
            raise error.in_file(self.path or "the corpus") from None

    def solve(self, threads: int = 1) -> Solutions:
        """Return the best outputs."""
        flat, ends, values, exact = self._ask(self.core.solve, threads)
        numbers = array("i", flat)
        places = pairwise((0, *array("q", ends)))
        outputs = [numbers[begin:end] for begin, end in places]
        return Solutions(outputs, array("d", values), list(map(bool, exact)))

    def best_labels(self, names: list[str], threads: int = 1) -> list[list[str]]:
        """Return the names of the best labels of the tokens.

        Parameters
        ----------
        names : list of str
            Of each label.
        """
        labels: list[list[str]] = self._ask(self.core.best_labels, names, threads)
        return labels

    def label_probabilities(
        self, names: list[str], temperature: float, least: float = 0.0, threads: int = 1
    ) -> list[list[dict[str, float]]]:
        """Return for each token the probabilities of all labels, 0 for those below ``least``.

        Parameters
        ----------
        names : list of str
            The names of labels, each once. Labels that are written alike are one.
        """
        found: list[list[dict[str, float]]] = self._ask(
            self.core.label_probabilities, names, temperature, least, threads
        )
        return found

    def kbest(self, n: int, threads: int = 1) -> list[list[tuple[float, list[int]]]]:
        """Return up to n outputs of each input with their scores, best first."""
        ranked: list[list[tuple[float, list[int]]]] = self._ask(self.core.kbest, n, threads)
        return ranked

    def marginals(
        self, temperature: float, least: float = 0.0, threads: int = 1, merged: bool = True
    ) -> list[list[tuple[int, int, int, float]]]:
        """Return (begin, end, label, probability) of the parts of at least this probability.

        Parts that are written alike are one, with the first of their labels, unless not ``merged``.
        """
        likely = []
        for places, p in self._ask(self.core.marginals, temperature, least, threads, merged):
            numbers = array("i", places)
            likely.append(
                list(zip(numbers[::3], numbers[1::3], numbers[2::3], array("d", p), strict=True))
            )
        return likely

    def sample(
        self, n: int, temperature: float, seed: int, threads: int = 1
    ) -> list[list[list[int]]]:
        """Return n outputs of each input, drawn from P(output) ∝ exp(score / temperature)."""
        drawn: list[list[list[int]]] = self._ask(self.core.sample, n, temperature, seed, threads)
        return drawn

    def entropy(self, temperature: float, threads: int = 1) -> list[float]:
        """Return the entropies of these distributions, in nats."""
        nats: list[float] = self._ask(self.core.entropy, temperature, threads)
        return nats

    def log_partition(self, temperature: float, threads: int = 1) -> list[float]:
        """Return temperature · log Σ exp(score / temperature) over the outputs of each input."""
        sums: list[float] = self._ask(self.core.log_partition, temperature, threads)
        return sums

    def score(self, outputs: list[Any], threads: int = 1) -> list[float]:
        """Return the score of an output of each input; −∞ if it is not among those summed over."""
        scores: list[float] = self._ask(self.core.score, _lists(outputs), threads)
        return scores

    def certainties(
        self, outputs: list[Any], temperature: float, threads: int = 1
    ) -> list[list[float]]:
        """Return the probability of each part of an output of each input."""
        given = _lists(outputs)
        probabilities: list[list[float]] = self._ask(
            self.core.certainties, given, temperature, threads
        )
        return probabilities

    def without(self, forbidden: list[list[tuple[int, int, int]]]) -> NativeInputs:
        """Return the same inputs without some parts.

        Parameters
        ----------
        forbidden : list of lists of (begin, end, label)
            Of each input; a label of −1 is any.
        """
        return NativeInputs(self.core.without(forbidden), self.source, self.path)

    def rivals(
        self, outputs: list[Any], threads: int = 1
    ) -> list[list[tuple[int, float, list[int] | None]]]:
        """Return (number, margin, output) of the best outputs without each part of the best one.

        By the margin the score is less than that of the best output; None, with an infinite margin:
        every output has that part.
        """
        return [
            [(part, margin, rival or None) for part, (margin, rival) in enumerate(row)]
            for row in self._ask(self.core.rivals, threads)
        ]


def _lists(outputs: list[Any]) -> list[list[int]]:
    return [output if isinstance(output, list) else list(output) for output in outputs]
