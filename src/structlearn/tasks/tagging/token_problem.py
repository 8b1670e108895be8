"""The problem of a tagger of tokens, which makes arrays of them only if they are asked for."""

from __future__ import annotations

import threading
from array import array
from functools import cached_property

from ... import _core
from ...problem.inexact import Inexact
from ...problem.problem import Problem
from .integer_state import IntegerState, fits_integers

TYPE_CHECKING = False  # importing NumPy costs more than many a training
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    import numpy as np
    import numpy.typing as npt

    from ...array_types import Array
    from ...features.rows import Examples
    from ...problem.gold import GoldOutputs
    from ...problem.online_state import OnlineState
    from .problem import TokenArrays
    from .weights import TokenWeights

    Vector = Array

#: Of the perceptron in whole numbers, which has 16 bits for a label.
_MOST_LABELS = 4096
#: Options of online learners with which a step is not a whole number.
_NOT_UNIT = ("margin", "temperature", "beam", "least")
#: One run lays out the sentences, and those beside it wait.
_READING = threading.RLock()


class TokenProblem(Problem):
    """Tokens with their labels, a chain a sentence.

    The perceptron of first-order chains learns from the tokens as the core has read them. For all
    else there are arrays (:class:`~structlearn.tasks.tagging.problem.TokenArrays`).

    Parameters
    ----------
    weights : TokenWeights
        Those that there are.
    tokens : _core.TokenRows
        The tokens in terms of the features.
    class_weight, sample_weight
        As in the estimators.
    again : callable, optional
        Reads the tokens once more. So they are given up once the perceptron has laid them out for
        its own use.
    """

    name = "a tagger"

    def __init__(
        self,
        weights: TokenWeights,
        tokens: _core.TokenRows,
        class_weight: Any = None,
        sample_weight: Vector | None = None,
        again: Callable[[], _core.TokenRows] | None = None,
    ) -> None:
        self.weights, self._again = weights, again
        self._tokens: _core.TokenRows | None = tokens
        # What is asked of them when they are not there any more.
        self._n_sentences, self._has_unknown = tokens.n_sentences, tokens.has_unknown
        self._has_values = tokens.has_values
        self.order, self.n_labels = weights.order, len(weights.labels)
        self._weights_given = class_weight, sample_weight
        self._batch: _core.IntegerBatch | None = None
        if class_weight is not None:
            sample_weight = self.whole.sample_weight
        super().__init__(None, sample_weight=sample_weight)

    @property
    def tokens(self) -> _core.TokenRows:
        """The tokens in terms of the features."""
        if self._tokens is None:
            assert self._again is not None
            self._tokens = self._again()
        return self._tokens

    # -- in arrays ------------------------------------------------------------------------------

    @cached_property
    def arrays(self) -> dict[str, Any]:
        """The tokens as arrays."""
        return self.tokens.arrays()

    @property
    def whole(self) -> TokenArrays:
        """The same problem in arrays."""
        from .problem import TokenArrays

        with _READING:
            if "_whole" not in vars(self):
                self._whole = TokenArrays(self.weights, self.arrays, *self._weights_given)
        return self._whole

    @property
    def native(self) -> Any:
        """What the loops of the core take."""
        return self.whole.native

    @property
    def n_examples(self) -> int:
        """Number of sentences."""
        return self._n_sentences

    @property
    def n_weights(self) -> int:
        """Number of weights."""
        return self.whole.n_weights

    @property
    def total_weight(self) -> float:
        """The sum of the weights of all sentences."""
        return float(self.n_examples) if self.sample_weight is None else super().total_weight

    @property
    def has_unknown(self) -> bool:
        """Whether any token has an unknown label."""
        return self._has_unknown

    @property
    def gold(self) -> GoldOutputs | None:
        """The gold labels."""
        return self.whole.gold

    @property
    def gold_numbers(self) -> npt.NDArray[np.int32]:
        """The number of the label of each token, −1 where it is unknown."""
        numbers: npt.NDArray[np.int32] = self.arrays["label"]
        return numbers

    @property
    def examples(self) -> Examples:
        """The features."""
        return self.whole.examples

    @property
    def has_beam(self) -> bool:
        """Whether inference can be replaced by a beam search."""
        return self.whole.has_beam

    @property
    def inexact(self) -> Inexact:
        """How often inference was not exact so far."""
        return self.whole.inexact if "_whole" in vars(self) else Inexact()

    def relaxed(self) -> Problem | None:
        """Return the problem without automata, where their product is large."""
        return self.whole.relaxed() if self.weights.constraints else None

    def certified(self, tolerance: float) -> Problem:
        """Return the same problem with its sums certified up to this share of them."""
        return self.whole.certified(tolerance)

    def completed(self, w: Vector, temperature: float, **options: Any) -> Problem:
        """Return the same problem with unknown labels filled in by the weights w."""
        return self.whole.completed(w, temperature, **options)

    def specification(self) -> dict[str, Any]:
        """Return what the objective depends on, as plain data."""
        return self.whole.specification()

    def random_weights(self, rng: np.random.Generator) -> Vector:
        """Return standard normal weights, 0 for those that stand for nothing."""
        return self.whole.random_weights(rng)

    # -- the perceptron in whole numbers ----------------------------------------------------------

    @property
    def suits_integers(self) -> bool:
        """Whether all steps of the perceptron are whole numbers."""
        return (
            self.weights.is_plain
            and not self._has_values
            and self.sample_weight is None
            and not self.has_unknown
            and not self.weights.constraints
            and self.n_labels <= _MOST_LABELS
        )

    def pass_order(self, orders: Any, shuffle: bool) -> Any:
        """Return the order of the sentences in one pass of an online learner."""
        n = self.n_examples
        return orders.permutation(n) if shuffle else array("q", range(n))

    def online_state(self, options: dict[str, Any], start: OnlineState | None = None) -> Any:
        """Return whole numbers for the perceptron, which give the same bits in less time."""
        unit = options["step"] == "unit" and not any(options[k] for k in _NOT_UNIT)
        if not unit or not self.suits_integers or not fits_integers(start):
            return super().online_state(options, start)
        masks = map(self.weights.mask, ("start", "end", "transition"))
        native = _core.IntegerPerceptron(self.n_labels, *self.weights.rows, *masks)
        return IntegerState(native, average=bool(options["average"]), start=start)

    def online_pass(
        self, options: dict[str, Any], state: Any, order: Any
    ) -> tuple[Any, dict[str, float]]:
        """Make a pass over the sentences, in whole numbers where the state has them."""
        if not isinstance(state, IntegerState):
            import numpy as np

            return super().online_pass(options, state, np.asarray(order, dtype=np.int64))
        with _READING:
            if self._batch is None:
                # Laid out for the one way they are used, once for all runs.
                # Nobody else reads the tokens: they go while they are laid out.
                last = self._again is not None and "arrays" not in vars(self)
                self._batch = state.native.read(self.tokens, last)
                if self._again is not None:
                    self._tokens = None
        return state, state.make_pass(self._batch, order)
