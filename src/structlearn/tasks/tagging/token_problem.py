"""The problem of a tagger of tokens, which makes arrays of them only if they are asked for."""

from __future__ import annotations

import threading
from array import array
from functools import cached_property

from ... import _core
from ...io.weight_tables import packed_table
from ...problem.inexact import Inexact
from ...problem.problem import Problem
from .integer_state import IntegerState, fits_integers

TYPE_CHECKING = False  # importing NumPy costs more than many a training
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    import numpy as np
    import numpy.typing as npt

    from ...features.rows import Examples
    from ...problem.gold import GoldOutputs
    from ...problem.online_state import OnlineState
    from .problem import TokenArrays

    Vector = npt.NDArray[np.float64]

__all__ = ["TokenProblem"]

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
    vocabulary : _core.Vocabulary
        Frozen: knows the features, and which labels each was seen with.
    tokens : _core.TokenRows
        The tokens in its terms.
    order : int
        Of the chain.
    forbid : mapping of str to list
        First labels, last ones and pairs that cannot be, as
        :func:`~structlearn.metrics.legal_transitions` has them.
    class_weight, sample_weight
        As in the estimators.
    pairs : tuple of arrays, optional
        Which weights features of label pairs have, as
        :func:`~structlearn.tasks.tagging.problem.seen_pairs` gives them; by default those of the
        pairs that are in the rows.
    observed : (row pointers, labels), optional
        The labels that each feature has weights for; by default those that the vocabulary has.
    """

    name = "a tagger"

    def __init__(
        self,
        vocabulary: _core.Vocabulary,
        tokens: _core.TokenRows,
        order: int,
        forbid: Mapping[str, Any],
        class_weight: Any = None,
        sample_weight: Vector | None = None,
        pairs: Any = None,
        observed: tuple[Any, Any] | None = None,
    ) -> None:
        self.vocabulary, self.tokens, self.order = vocabulary, tokens, order
        self.labels: list[str] = list(vocabulary.labels)
        self.n_labels = len(self.labels)
        self._forbid, self._pairs, self._observed = forbid, pairs, observed
        self._weights_given = class_weight, sample_weight
        self._batch: _core.IntegerBatch | None = None
        if class_weight is not None:
            sample_weight = self.whole.sample_weight
        super().__init__(None, sample_weight=sample_weight)

    @cached_property
    def rows_of_labels(self) -> tuple[Any, Any, Any]:
        """The labels that each feature has weights for: row pointers, labels, which are real."""
        rows, columns = self._observed or (self.vocabulary.row_ptr(), self.vocabulary.column())
        return _core.filled_rows(rows, columns, self.n_labels) or (rows, columns, b"")

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
                self._whole = TokenArrays(
                    self.labels,
                    self.arrays,
                    self.order,
                    self._forbid,
                    self.vocabulary.size,
                    self.vocabulary.pair_size,
                    self.rows_of_labels,
                    *self._weights_given,
                    self._pairs,
                )
        return self._whole

    @property
    def native(self) -> Any:
        """What the loops of the core take."""
        return self.whole.native

    @property
    def n_examples(self) -> int:
        """Number of sentences."""
        return self.tokens.n_sentences

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
        return self.tokens.has_unknown

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

    def completed(self, w: Vector, temperature: float, **options: Any) -> Problem:
        """Return the same problem with unknown labels filled in by the weights w."""
        return self.whole.completed(w, temperature, **options)

    def specification(self) -> dict[str, Any]:
        """Return what the objective depends on, as plain data."""
        return self.whole.specification()

    def random_weights(self, rng: np.random.Generator) -> Vector:
        """Return standard normal weights, 0 for those that stand for nothing."""
        return self.whole.random_weights(rng)

    def rows(self, name: str, w: Vector) -> tuple[Any, Any, Vector]:
        """Return row pointers, columns and weights of a block that has features."""
        return self.whole.rows(name, w)

    # -- the perceptron in whole numbers ----------------------------------------------------------

    @property
    def is_plain(self) -> bool:
        """Whether there is nothing but features of labels, and pairs of labels."""
        return self.order == 1 and not self.vocabulary.pair_size

    @property
    def suits_integers(self) -> bool:
        """Whether all steps of the perceptron are whole numbers."""
        return (
            self.is_plain
            and not self.tokens.has_values
            and self.sample_weight is None
            and not self.tokens.has_unknown
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
        masks = map(self._mask, ("start", "end", "transition"))
        native = _core.IntegerPerceptron(self.n_labels, *self.rows_of_labels, *masks)
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
                self._batch = state.native.read(self.tokens)
        return state, state.make_pass(self._batch, order)

    # -- models -----------------------------------------------------------------------------------

    def model_arrays(
        self, keys: Any, pair_keys: Any, w: Any, prune: float
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the arrays of a model with these weights, and which features they kept, by table.

        Parameters
        ----------
        keys, pair_keys : buffers
            Of the features, and of those of label pairs.
        prune : float
            Leave out weights up to this size.
        """
        if not self.is_plain:
            return self.whole.model_arrays(keys, pair_keys, w, prune)
        n = self.n_labels
        row_ptr, column, _ = self.rows_of_labels
        weights = memoryview(w).cast("B").cast("d")
        end = len(weights)
        at = end - n * n - 2 * n
        arrays: dict[str, Any] = {
            "start": self._table("start", weights[at : at + n]),
            "end": self._table("end", weights[at + n : at + 2 * n]),
            "transition1": self._table("transition", weights[at + 2 * n :]),
        }
        packed, kept = packed_table("state", keys, row_ptr, column, weights[:at], n, prune)
        return {**arrays, **packed}, {"state": kept}

    def weights_of(self, model: Any) -> Vector:
        """Return the weights of an earlier model, whose features come first in the vocabulary."""
        return self.whole.weights_of(model)

    def _forbidden(self, name: str) -> list[int]:
        """Return the places of a table that hold what is forbidden."""
        number = {label: k for k, label in enumerate(self.labels)}
        entries = self._forbid.get(name, ())
        if name != "transition":
            return [number[label] for label in entries]
        return [number[a] * self.n_labels + number[b] for a, b in entries]

    def _mask(self, name: str) -> Any:
        """Return 0 or, for what is forbidden, −∞; nothing if nothing is."""
        size = self.n_labels ** (2 if name == "transition" else 1)
        return self._table(name, bytes(8 * size)) if name in self._forbid else b""

    def _table(self, name: str, weights: Any) -> array[float]:
        """Return the weights of a table, −∞ for what is forbidden."""
        table = array("d", bytes(weights))
        for place in self._forbidden(name):
            table[place] = float("-inf")
        return table
