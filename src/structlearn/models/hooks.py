"""Hooks of a model: its scored inputs, and the names of outputs and of their parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .decisions import decisions
from .temperature import certainty_fact

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

    from .calibration import Calibration
    from .inputs import Judged


class Hooks:
    """The hooks of a :class:`~structlearn.models.model.Model`, and what follows from them."""

    n_jobs: int | None

    #: The least probability that ``predict_marginals`` shows by default.
    _least_shown = 0.0
    #: Whether ``explain`` tells the probabilities of parts.
    _tells_shares = False

    @property
    def n_threads(self) -> int:
        """Threads that ``n_jobs`` stands for; None is one, −1 all cores."""
        if self.n_jobs is None or (type(self.n_jobs) is int and self.n_jobs == 1):
            return 1  # of short sentences the rest would be felt
        from ..threads import n_threads

        return n_threads(self.n_jobs)

    def _fitted(self) -> Any:
        """Return what was learned; raise NotFittedError if nothing was."""
        raise AssertionError

    @property
    def _summed(self) -> str:
        """Which outputs probabilities are sums over, if these are not all."""
        return ""

    @property
    def _certainty(self) -> str:
        """How far probabilities can be trusted."""
        fact = certainty_fact(self._loss_temperature, self.calibration_)
        return f"{fact}; sums over {self._summed}" if self._summed else fact

    #: (X, **reading) -> the scored inputs that X stands for. This is the hook of a model.
    _inputs: Callable[..., Any]

    def _ask(self, X: Any, answer: Any, empty: Any, reading: dict[str, Any]) -> list[Any]:
        """Return the answers for all inputs; ``empty()`` for those that have no parts."""
        self._fitted()
        given, gaps = self._without_empty(X)
        nothing = self._is_nothing(given)
        answers: list[Any] = [] if nothing else answer(self._inputs(given, **reading))
        for i in gaps:
            answers.insert(i, empty())
        return answers

    def _without_empty(self, X: Any) -> tuple[Any, list[int]]:
        """Return X without inputs that have no parts, and the places of these."""
        return X, []

    def _is_nothing(self, X: Any) -> bool:
        """Tell whether X has no inputs, and is not to be read."""
        return False

    def _best(self, inputs: Any) -> Any:
        """Return the best outputs of all inputs as users see them."""
        return self._all_named(inputs, inputs.solve(self.n_threads).outputs)

    def _marginals(self, inputs: Any, temperature: float, least: float) -> list[Any]:
        """Return the probabilities of the parts of all inputs as users see them."""
        found = inputs.marginals(temperature, least, self.n_threads)
        return [self._named_parts(inputs, i, parts) for i, parts in enumerate(found)]

    def _named(self, inputs: Any, i: int, output: Any) -> Any:
        """Return an output of the structure as users see it."""
        raise AssertionError

    def _all_named(self, inputs: Any, outputs: list[Any]) -> Any:
        """Return the outputs of all inputs as users see them."""
        return [self._named(inputs, i, y) for i, y in enumerate(outputs)]

    def _scores_of(self, inputs: Any, outputs: list[Any], temperature: float) -> list[float]:
        """Return the score of a user's output of each input.

        Where several outputs of the structure are written alike, T · log Σ exp(score / T) over
        them, at the temperature T.
        """
        raise AssertionError

    def _best_scores(self, inputs: Any, temperature: float) -> list[float]:
        """Return the score of the best output of each input, as :meth:`_scores_of` does."""
        return self._scores_of(inputs, self._best(inputs), temperature)

    def _named_parts(self, inputs: Any, i: int, parts: Any) -> Any:
        """Return the probabilities of parts as users see them."""
        raise AssertionError

    def _checked_places(self, inputs: Any, i: int, part: Any) -> list[tuple[int, int, int]]:
        """Return the places of a part that a user forbids; refuse what is no part."""
        names = self._part_names
        if names and not (isinstance(part, (tuple, list)) and len(part) == len(names)):
            raise ValueError(f"a part is ({', '.join(names)}), got {part!r}")
        return self._places_of(inputs, i, part)

    #: What a part is that ``forbidden`` names.
    _part_names: tuple[str, ...] = ()

    def _places_of(self, inputs: Any, i: int, part: Any) -> list[tuple[int, int, int]]:
        """Return (begin, end, label) of what a part of a user's stands for."""
        from ..exceptions import CapabilityError

        raise CapabilityError(f"parts of a {type(self).__name__} cannot be forbidden")

    def _no_output(self) -> Any:
        """Return the output of an input without parts."""
        return []

    def _no_parts(self) -> Any:
        """Return the marginals of an input without parts."""
        return []

    def _is_empty(self, output: Any) -> bool:
        """Tell whether an output is that of an input without parts."""
        return len(output) == 0

    #: What a dev set said of the probabilities; None: none was asked.
    calibration_: Calibration | None

    @property
    def _loss_temperature(self) -> float | None:
        """The ε of the loss that was minimised; None: it had none."""
        raise AssertionError

    def _keep_calibration(self, calibration: Calibration | None) -> None:
        """Keep what a dev set said; None: it said nothing."""
        raise AssertionError

    def _certainties(
        self, inputs: Any, outputs: list[Any], temperature: float
    ) -> list[list[float]]:
        """Return the probability of each part of these outputs."""
        rows: list[list[float]] = inputs.certainties(outputs, temperature, self.n_threads)
        return rows

    def _judged(self, X: Any, y: Any, reading: dict[str, Any]) -> Judged:
        """Return inputs, their best outputs, and whether each part is right; None: not known."""
        self._fitted()
        inputs, gold = self._with_gold(X, y, **reading)
        outputs = inputs.solve(self.n_threads).outputs
        return inputs, outputs, self._right(inputs, outputs, gold)

    #: (X, y, **reading) -> the inputs that X stands for, and their gold outputs.
    _with_gold: Callable[..., tuple[Any, Any]]

    def _right(self, inputs: Any, outputs: list[Any], gold: Any) -> list[list[bool | None]]:
        """Return whether each part of these outputs is right; None: that is not known."""
        raise AssertionError

    def _heaviest(self, n: int) -> dict[Any, list[tuple[str, float]]]:
        """Return (name, weight) of the n heaviest features by label."""
        raise AssertionError

    def _pairs(self) -> Iterable[tuple[Any, Any, float]]:
        """Return (before, after, weight) of pairs of labels."""
        from ..exceptions import CapabilityError

        raise CapabilityError(
            f"{type(self).__name__} has no transitions between labels. What works: top_features, "
            "explain"
        )

    def _phrases(self) -> Callable[[str], str]:
        """Return what puts names of features in words; here they are words already."""
        return str

    def _decisions(self, inputs: Any) -> list[list[dict[str, Any]]]:
        """Return what ``explain`` gives, for all inputs."""
        return decisions(self, inputs)

    def _rivals(self, inputs: Any, outputs: list[Any]) -> list[list[tuple[Any, float, Any]]]:
        """Return (part, margin, output) of the best outputs without each part of the best one."""
        rivals: list[list[tuple[Any, float, Any]]] = inputs.rivals(outputs, self.n_threads)
        return rivals

    def _comparison(self, inputs: Any) -> Callable[[int, Any], Callable[[Any, Any], Any]]:
        """Return what compares best outputs with others.

        From the number of an input and its best output to a function from a part and the output
        without it, or None, to a dictionary with position, label and runner-up, as ``explain``
        tells them, and a list of the (name, value) of which the margin is made.
        """
        raise AssertionError
