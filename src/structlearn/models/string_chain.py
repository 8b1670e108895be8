"""A fitted chain over strings and dictionaries, which needs Python and the core alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from .. import _core
from ..io.container import Tensor
from .calibration import Calibration
from .decisions import window_score
from .inputs import NativeInputs
from .label_constraints import ConstraintMemory, token_sequences
from .ranking import heaviest_by_label, label_pairs
from .storage import StoredModel
from .token_labels import TokenLabels

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

#: Array of the model -> what its items are. Those of order 2, 3, ... are like that of order 1.
_DTYPES = {"row_ptr": "U32", "column": "U32"}
_MOST_ORDER = 13


class StringChain(TokenLabels, StoredModel):
    """Labels sequences of tokens that are strings, lists of strings or dictionaries.

    :func:`~structlearn.io.read_crfsuite` returns one, and so does ``to_chain()`` of the estimators,
    such as :class:`~structlearn.estimators.CRF`. It does not learn. It takes what they take: a
    sequence is a list of tokens, a token a string, a list of strings, or a dictionary. In
    ``{"word": "fish", "upper": True, "length": 4.0, "parts": ["a"]}`` the string makes the feature
    ``word:fish``, numbers the features ``upper`` and ``length`` of these values, and the list
    ``parts:a``; dictionaries in dictionaries put their name and a colon in front. Features that the
    model does not know count nothing.

    Parameters
    ----------
    labels : list of str
        In the order of the weights.
    names : _core.NameTable
        The names of the features.
    arrays : dict of str to buffer
        ``row_ptr``, ``column`` and ``weight``: feature f has ``weight[row_ptr[f]:row_ptr[f + 1]]``
        for the labels of these places in ``column``; ``start``, ``end``, ``transition1``, …: the
        scores of label windows; ``mask``: of labels, −∞ where one is forbidden.
    order : int, default=1
        Of the chain.
    separator : str, default=":"
        Stands between a name and its value.
    loss_temperature : float or None, default=1.0
        The ε of the loss that the weights minimise; None: it has none.
    calibration : Calibration, optional
        What a dev set said of the probabilities.

    Attributes
    ----------
    classes_ : list of str
        The labels.
    n_jobs : int or None
        Threads for many sequences; None is one, −1 all cores.

    Examples
    --------
    >>> from structlearn import CRF
    >>> crf = CRF().fit([[{"w": "fish"}, {"w": "sleep"}]], [["N", "V"]])
    >>> crf.to_chain().predict_single([{"w": "fish"}, {"w": "sleep"}])
    ['N', 'V']
    """

    task = "chain"
    called = "a chain over strings"

    def __init__(
        self,
        labels: Sequence[str],
        names: _core.NameTable,
        arrays: Mapping[str, Any],
        *,
        order: int = 1,
        separator: str = ":",
        loss_temperature: float | None = 1.0,
        calibration: Calibration | None = None,
    ) -> None:
        self.labels = list(labels)
        if not all(isinstance(label, str) for label in self.labels):
            raise ValueError("the labels of a chain over strings are strings")
        if len(set(self.labels)) != len(self.labels):
            raise ValueError("a label appears twice")
        if loss_temperature is not None and not 0 < loss_temperature < math.inf:
            raise ValueError(f"a temperature of {loss_temperature!r}")
        self.names = names
        self.arrays = dict(arrays)
        self.order = order
        self.separator = separator
        self.calibration_ = calibration
        self.n_jobs: int | None = 1
        self._temperature = loss_temperature
        self._memory = ConstraintMemory(len(self.labels))
        self.core = _core.StringChain(names, separator, self.labels, order, self.arrays)

    def __repr__(self) -> str:
        return (
            f"StringChain({len(self.labels)} labels, {len(self.names):,} features, "
            f"order {self.order})"
        )

    # -- questions --------------------------------------------------------------------------------

    @property
    def classes_(self) -> list[str]:
        """The labels."""
        return list(self.labels)

    def score(self, X: Any, y: Any) -> float:
        """Return the share of labels that are predicted right; None, an unknown one, is left out.

        A label that the model does not have is never predicted, so it counts as wrong.
        """
        _, _, judged = self._judged(X, y, {})
        known = [right for row in judged for right in row if right is not None]
        if not known:
            raise ValueError("score needs at least one known label in y")
        return sum(known) / len(known)

    # -- hooks ------------------------------------------------------------------------------------

    def _fitted(self) -> StringChain:
        return self

    def _single(self, x: Any) -> list[str]:
        return self.core.predict(x)

    def _single_marginals(self, x: Any, temperature: float, least: float) -> Any:
        return self.core.probabilities(x, self.labels, temperature, least)

    @property
    def _shown(self) -> list[str]:
        return self.labels

    def _length(self, inputs: Any, i: int) -> int:
        return len(inputs.source[i])

    def _inputs(self, X: Any, constraints: Any = None) -> NativeInputs:
        core = self.core.inputs(X)
        automata = self._memory.automata((), constraints, token_sequences(self.labels))
        return NativeInputs(core if automata is None else automata.inputs(core), X, "", constraints)

    def _without_empty(self, X: Any) -> tuple[list[Any], list[int]]:
        sequences = _as_list(X)
        gaps = [i for i, x in enumerate(sequences) if _is_empty(x)]
        return [x for x in sequences if not _is_empty(x)] if gaps else sequences, gaps

    def _is_nothing(self, X: Any) -> bool:
        return not X

    def _scores_of(self, inputs: Any, outputs: list[Any], temperature: float) -> list[float]:
        number = {label: k for k, label in enumerate(self.labels)}
        n = len(number)
        rows = [[None if k is None else number.get(k, n) for k in y] for y in outputs]
        lengths = [self._length(inputs, i) for i in range(len(rows))]
        for i, (row, length) in enumerate(zip(rows, lengths, strict=True)):
            if len(row) != length:
                raise ValueError(f"output {i} has {len(row)} labels for {length} tokens")
        if not any(k is None for row in rows for k in row):
            scores: list[float] = inputs.score(rows, self.n_threads)
            return scores
        others = [
            [(t, t + 1, j) for t, k in enumerate(row) if k is not None for j in range(n) if j != k]
            for row in rows
        ]
        sums: list[float] = inputs.without(others).log_partition(temperature, self.n_threads)
        return sums

    def _best_scores(self, inputs: Any, temperature: float) -> list[float]:
        scores: list[float] = inputs.score(inputs.solve(self.n_threads).outputs, self.n_threads)
        return scores

    @property
    def _loss_temperature(self) -> float | None:
        return self._temperature

    def _keep_calibration(self, calibration: Calibration | None) -> None:
        self.calibration_ = calibration

    def _with_gold(self, X: Any, y: Any, **reading: Any) -> tuple[NativeInputs, list[Any]]:
        pairs = [(x, labels) for x, labels in zip(_as_list(X), y, strict=True) if not _is_empty(x)]
        return self._inputs([x for x, _ in pairs], **reading), [labels for _, labels in pairs]

    # -- what was learned -------------------------------------------------------------------------

    def _scores(self, name: str) -> memoryview[float] | None:
        """Return a table of scores; None: there is none."""
        table = self.arrays.get(name)
        return None if table is None else memoryview(table).cast("B").cast("d")

    def _rows(self) -> tuple[memoryview[int], memoryview[int], memoryview[float]]:
        row_ptr, column = (memoryview(self.arrays[name]).cast("B").cast("I") for name in _DTYPES)
        return row_ptr, column, memoryview(self.arrays["weight"]).cast("B").cast("d")

    def _heaviest(self, n: int) -> dict[Any, list[tuple[str, float]]]:
        ranked = heaviest_by_label(*self._rows(), len(self.labels), n)
        return {
            label: [(self.names[f], w) for f, w in rows]
            for label, rows in zip(self.labels, ranked, strict=True)
        }

    def _pairs(self) -> Any:
        tables = map(self._scores, ("start", "transition1", "end"))
        return label_pairs(self.labels, *tables) or super()._pairs()

    def _comparison(self, inputs: Any) -> Any:
        """Compare the best labels with the best ones that have another label at a token."""

        def compare(i: int, best: Any) -> Any:
            parts = self._parts(inputs.source[i])
            mine = parts(best)

            def against(t: int, rival: Any) -> Any:
                told = {"position": t, "label": self.labels[best[t]]}
                if rival is None:  # no other label is possible here
                    return {**told, "runner_up": None}, []
                theirs = parts(rival)
                differences = {
                    name: mine.get(name, 0.0) - theirs.get(name, 0.0)
                    for name in mine.keys() | theirs.keys()
                }
                return {**told, "runner_up": self.labels[rival[t]]}, differences.items()

            return against

        return compare

    def _parts(self, x: Any) -> Callable[[Sequence[int]], dict[str, float]]:
        """Return a function from labels to what they are scored by: names to scores."""
        tokens = self.core.features_of(x)
        row_ptr, column, weight = self._rows()
        labels, n = self.labels, len(self.labels)
        tables = [self._scores(f"transition{m}") for m in range(1, self.order + 1)]

        def parts(y: Sequence[int]) -> dict[str, float]:
            found: dict[str, float] = {}

            def add(name: str, score: float) -> None:
                found[name] = found.get(name, 0.0) + score

            for features, k in zip(tokens, y, strict=True):
                for f, value in features:
                    for q in range(row_ptr[f], row_ptr[f + 1]):
                        if column[q] == k:
                            add(self.names[f], value * weight[q])
            for name, k in (("start", y[0]), ("end", y[-1])):
                table = self._scores(name)
                if table is not None:
                    add(name, table[k])
            for m, table in enumerate(tables, 1):
                name = "transition" if m == self.order else f"transition{m}"
                for t in range(m, 0 if table is None else len(y)):
                    window = y[t - m : t + 1]
                    shown = " ".join(labels[k] for k in window)
                    add(f"{name} {shown}", window_score(table, window, n))
            return found

        return parts

    # -- files ------------------------------------------------------------------------------------

    def _content(self, precision: str = "float32") -> tuple[dict[str, Any], dict[str, Tensor]]:
        text, ends = self.names.joined()
        tensors = {name: Tensor(_DTYPES.get(name, "F64"), a) for name, a in self.arrays.items()}
        tensors |= {"names.text": Tensor("U8", text), "names.ends": Tensor("U64", ends)}
        calibration = self.calibration_
        description = {
            "task": self.task,
            "labels": self.labels,
            "order": self.order,
            "separator": self.separator,
            "temperature": self._temperature,
            "calibration": None if calibration is None else calibration.as_dict(),
        }
        return description, tensors

    @classmethod
    def _build(
        cls, name: str, d: dict[str, Any], tensors: dict[str, Tensor], given: dict[str, Any]
    ) -> StringChain:
        arrays = _core.chain_arrays(tensors)
        text, ends = arrays.pop("names.text"), arrays.pop("names.ends")
        order = d["order"]
        if type(order) is not int or not 0 <= order <= _MOST_ORDER:
            raise ValueError(f"an order of {order!r}")
        calibration = d["calibration"]
        return cls(
            d["labels"],
            _core.NameTable.from_joined(text, ends),
            arrays,
            order=order,
            separator=str(d["separator"]),
            loss_temperature=d["temperature"],
            calibration=None if calibration is None else Calibration.from_dict(calibration),
        )


def _as_list(X: Any) -> list[Any]:
    """Return X as a list of sequences, or say what is wrong."""
    if isinstance(X, list):
        return X
    if isinstance(X, (str, bytes, Mapping)):
        raise ValueError(
            f"X must be a list of sequences, a list of tokens each; got {type(X).__name__}. Pass "
            "[sequence] if there is only one"
        )
    try:
        return list(X)
    except TypeError:
        raise ValueError(f"X must be a list of sequences, got {type(X).__name__}") from None


def _is_empty(x: Any) -> bool:
    return not isinstance(x, str) and hasattr(x, "__len__") and len(x) == 0
