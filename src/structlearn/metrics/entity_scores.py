"""seqeval's scores: precision, recall and F1 of entities, with its names and results.

:func:`chunk_report` returns the same counts as an object, by conlleval's rules.
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, Literal, NamedTuple

from .entities import EntityScheme, detected_scheme, get_entities, scheme_of, strict_entities
from .pairs import Sentences, read_pairs
from .scores import Scores

Average = Literal["micro", "macro", "weighted"] | None
ZeroDivision = Literal["warn"] | float
Scheme = EntityScheme | str | None
Pairs = list[tuple[list[Any], list[Any]]]

_AVERAGES = ("micro", "macro", "weighted")


class _Row(NamedTuple):
    """A line of a report, or arrays with one number for each type."""

    precision: Any
    recall: Any
    f: Any
    support: Any


def precision_score(
    y_true: Sentences,
    y_pred: Sentences,
    *,
    average: Average = "micro",
    suffix: bool = False,
    mode: Literal["strict"] | None = None,
    zero_division: ZeroDivision = "warn",
    scheme: Scheme = None,
) -> Any:
    """Return the share of the predicted entities that are right; see :func:`f1_score`.

    Examples
    --------
    >>> precision_score([["B-PER", "O", "B-LOC"]], [["B-PER", "B-PER", "B-LOC"]])
    0.6666666666666666
    """
    counts = _counted(read_pairs(y_true, y_pred), suffix, _scheme_of(mode, scheme))
    return _scored(counts, average, zero_division, ("precision",)).precision


def recall_score(
    y_true: Sentences,
    y_pred: Sentences,
    *,
    average: Average = "micro",
    suffix: bool = False,
    mode: Literal["strict"] | None = None,
    zero_division: ZeroDivision = "warn",
    scheme: Scheme = None,
) -> Any:
    """Return the share of the gold entities that were found; see :func:`f1_score`.

    Examples
    --------
    >>> recall_score([["B-PER", "O", "B-LOC"]], [["B-PER", "O", "O"]])
    0.5
    """
    counts = _counted(read_pairs(y_true, y_pred), suffix, _scheme_of(mode, scheme))
    return _scored(counts, average, zero_division, ("recall",)).recall


def f1_score(
    y_true: Sentences,
    y_pred: Sentences,
    *,
    average: Average = "micro",
    suffix: bool = False,
    mode: Literal["strict"] | None = None,
    zero_division: ZeroDivision = "warn",
    scheme: Scheme = None,
) -> Any:
    """Return the F1 of entities.

    Parameters
    ----------
    y_true, y_pred : lists of lists of str
        Gold and predicted labels of the same sentences.
    average : {"micro", "macro", "weighted"} or None, default="micro"
        The score of all entities together, the mean over types, the mean weighted by the number of
        gold entities; None: an array with the score of each type, the types sorted.
    suffix : bool, default=False
        Whether tags are at the end of labels: "PER-B".
    mode : {"strict"} or None, default=None
        None reads labels as conlleval does, see :func:`get_entities`; "strict" counts only entities
        that the scheme allows, and needs ``scheme``.
    zero_division : {"warn", 0, 1}, default="warn"
        The score if there is no predicted or no gold entity; "warn" is 0 with a warning.
    scheme : {IOB1, IOB2, IOE1, IOE2, IOBES, BILOU} or its name, optional
        The scheme of strict reading. All are in this module.

    Returns
    -------
    float or array

    References
    ----------
    H. Nakayama (2018), seqeval, version 1.2.2, whose results these are.

    Examples
    --------
    >>> gold, predicted = [["B-PER", "I-PER", "O"]], [["I-PER", "I-PER", "O"]]
    >>> f1_score(gold, predicted)
    1.0
    >>> f1_score(gold, predicted, mode="strict", scheme="IOB2", zero_division=0)
    0.0
    """
    counts = _counted(read_pairs(y_true, y_pred), suffix, _scheme_of(mode, scheme))
    return _scored(counts, average, zero_division, ("f",)).f


def precision_recall_fscore_support(
    y_true: Sentences,
    y_pred: Sentences,
    *,
    average: Average = None,
    beta: float = 1.0,
    zero_division: ZeroDivision = "warn",
    suffix: bool = False,
    scheme: Scheme = None,
) -> tuple[Any, Any, Any, Any]:
    """Return precision, recall, F-measure and number of gold entities; see :func:`f1_score`.

    Parameters
    ----------
    beta : float, default=1.0
        The weight of recall relative to precision.
    scheme : optional
        Read strictly by it; by default leniently.

    Examples
    --------
    >>> precision_recall_fscore_support([["B-PER", "O"]], [["B-PER", "B-PER"]], average="micro")
    (0.5, 1.0, 0.6666666666666666, 1)
    """
    if beta < 0:
        raise ValueError(f"beta must not be negative, got {beta}")
    resolved = None if scheme is None else scheme_of(scheme)
    counts = _counted(read_pairs(y_true, y_pred), suffix, resolved)
    row = _scored(counts, average, zero_division, _Row._fields[:3], beta)
    return tuple(row)


def accuracy_score(y_true: Any, y_pred: Any) -> float:
    """Return the share of labels that are right; 0.0 without labels.

    Examples
    --------
    >>> accuracy_score([["B-PER", "I-PER", "O"]], [["B-PER", "O", "O"]])
    0.6666666666666666
    """
    pairs = list(_label_pairs(y_true, y_pred))
    return sum(a == b for a, b in pairs) / len(pairs) if pairs else 0.0


def performance_measure(y_true: Any, y_pred: Any) -> dict[str, int]:
    """Return counts of labels: TP, FP, FN and TN, where O is negative.

    A wrong label other than O is an FP; an FN is an O in place of an entity label.

    Examples
    --------
    >>> performance_measure([["B-PER", "I-PER", "O"]], [["B-PER", "O", "O"]])
    {'TP': 1, 'FP': 0, 'FN': 1, 'TN': 1}
    """
    pairs = list(_label_pairs(y_true, y_pred))
    return {
        "TP": sum(a == b != "O" for a, b in pairs),
        "FP": sum(a != b != "O" for a, b in pairs),
        "FN": sum(a != b == "O" for a, b in pairs),
        "TN": sum(a == b == "O" for a, b in pairs),
    }


def classification_report(
    y_true: Sentences,
    y_pred: Sentences,
    digits: int = 2,
    suffix: bool = False,
    output_dict: bool = False,
    mode: Literal["strict"] | None = None,
    *,
    zero_division: ZeroDivision = "warn",
    scheme: Scheme = None,
) -> str | dict[str, dict[str, float]]:
    """Return a table of the scores of each entity type and their averages.

    Parameters
    ----------
    y_true, y_pred : lists of lists of str
        Gold and predicted labels of the same sentences.
    digits : int, default=2
        Decimals in the text.
    output_dict : bool, default=False
        Return a dictionary for JSON instead of a text.
    suffix, mode, zero_division, scheme
        See :func:`f1_score`; strict reading without ``scheme`` uses that of the gold labels, if it
        is IOB2, IOE2, IOBES or BILOU.

    Examples
    --------
    >>> gold = [["B-MISC", "I-MISC", "O"], ["B-PER", "I-PER", "O"]]
    >>> print(classification_report(gold, [["B-MISC", "O", "O"], ["B-PER", "I-PER", "O"]]))
                  precision    recall  f1-score   support
    <BLANKLINE>
            MISC       0.00      0.00      0.00         1
             PER       1.00      1.00      1.00         1
    <BLANKLINE>
       micro avg       0.50      0.50      0.50         2
       macro avg       0.50      0.50      0.50         2
    weighted avg       0.50      0.50      0.50         2
    <BLANKLINE>
    """
    pairs = read_pairs(y_true, y_pred)
    if mode == "strict" and scheme is None:
        scheme = detected_scheme([truth for truth, _ in pairs], suffix)
    counts = _counted(pairs, suffix, _scheme_of(mode, scheme))
    every = _Row._fields[:3]
    rows = {kind: _row(scores, 1.0, zero_division) for kind, scores in counts.items()}
    _warn_of_zeros(list(counts.values()), zero_division, every)
    averages = {f"{k} avg": _averaged(counts, k, zero_division, every, 1.0) for k in _AVERAGES}
    if output_dict:
        heads = ("precision", "recall", "f1-score", "support")
        return {k: dict(zip(heads, row, strict=True)) for k, row in {**rows, **averages}.items()}
    width = max(digits, *map(len, [*rows, *averages]))
    lines = [f"{'':>{width}}  {'precision':>9} {'recall':>9} {'f1-score':>9} {'support':>9}"]
    for part in (rows, averages):
        lines.append("")
        for name, (*ratios, support) in part.items():
            columns = " ".join(f"{x:>9.{digits}f}" for x in ratios)
            lines.append(f"{name:>{width}}  {columns} {support:>9}")
    return "\n".join(lines) + "\n"


def _label_pairs(y_true: Any, y_pred: Any) -> Iterator[tuple[Any, Any]]:
    """Return pairs of labels of several sentences, or of one."""
    if any(isinstance(label, str) for label in y_true):
        y_true, y_pred = [y_true], [y_pred]
    return chain.from_iterable(zip(*pair, strict=True) for pair in read_pairs(y_true, y_pred))


def _scheme_of(mode: str | None, scheme: Scheme) -> EntityScheme | None:
    """Return the scheme of strict reading, or None for lenient reading."""
    if mode not in (None, "strict"):
        raise ValueError(f"mode must be 'strict' or None, got {mode!r}")
    if mode is None:
        return None
    if scheme is None:
        warnings.warn(
            "mode='strict' without scheme reads labels leniently, as with seqeval: give scheme=",
            stacklevel=3,
        )
        return None
    return scheme_of(scheme)


def _counted(pairs: Pairs, suffix: bool, scheme: EntityScheme | None) -> dict[str, Scores]:
    """Return the counts of each type that occurs, sorted."""
    gold, predicted = (_entities([pair[k] for pair in pairs], suffix, scheme) for k in range(2))
    right, proposed, expected = (
        Counter(kind for _, (kind, _, _) in spans) for spans in (gold & predicted, predicted, gold)
    )
    return {
        k: Scores(right[k], proposed[k], expected[k])
        for k in sorted(proposed.keys() | expected.keys())
    }


def _entities(rows: list[list[Any]], suffix: bool, scheme: EntityScheme | None) -> set[Any]:
    if scheme is None:
        return {(0, span) for span in get_entities(rows, suffix)}
    return {(i, s) for i, row in enumerate(rows) for s in strict_entities(row, scheme, suffix)}


def _scored(
    counts: dict[str, Scores],
    average: Average,
    zero_division: ZeroDivision,
    requested: tuple[str, ...],
    beta: float = 1.0,
) -> _Row:
    """Return a row: an average, or arrays with the scores of all types."""
    if average not in (None, *_AVERAGES):
        raise ValueError(f"average must be one of {(None, *_AVERAGES)}, got {average!r}")
    if average is not None:
        return _averaged(counts, average, zero_division, requested, beta)
    import numpy as np

    _warn_of_zeros(list(counts.values()), zero_division, requested)
    rows = [_row(scores, beta, zero_division) for scores in counts.values()]
    return _Row(*(np.array([row[k] for row in rows], dtype=t) for k, t in enumerate("dddq")))


def _averaged(
    counts: dict[str, Scores],
    average: str,
    zero_division: ZeroDivision,
    requested: tuple[str, ...],
    beta: float,
) -> _Row:
    every = list(counts.values())
    total = sum(every, Scores(0, 0, 0))
    if average == "micro":
        every = [total]
    _warn_of_zeros(every, zero_division, requested)
    if not every or (average == "weighted" and total.gold == 0):
        zero = _zero(zero_division)
        nothing = zero if total.predicted == 0 else 0.0
        return _Row(nothing, zero, nothing, 0)
    weights = [scores.gold if average == "weighted" else 1 for scores in every]
    rows = [_row(scores, beta, zero_division) for scores in every]
    precision, recall, f = (
        sum(w * row[k] for w, row in zip(weights, rows, strict=True)) / sum(weights)
        for k in range(3)
    )
    return _Row(precision, recall, f, total.gold)


def _row(one: Scores, beta: float, zero_division: ZeroDivision) -> _Row:
    precision = one.precision if one.predicted else _zero(zero_division)
    recall = one.recall if one.gold else _zero(zero_division)
    below = beta**2 * precision + recall
    f = (1 + beta**2) * precision * recall / below if below else 0.0
    return _Row(precision, recall, recall if math.isinf(beta) else f, one.gold)


def _zero(zero_division: ZeroDivision) -> float:
    if zero_division not in ("warn", 0, 1):
        raise ValueError(f"zero_division must be 'warn', 0 or 1, got {zero_division!r}")
    return 1.0 if zero_division == 1 else 0.0


def _warn_of_zeros(
    every: list[Scores], zero_division: ZeroDivision, requested: tuple[str, ...]
) -> None:
    """Warn of scores that are 0 because the denominator is 0."""
    if zero_division != "warn":
        return
    missing: dict[str, tuple[str, Callable[[Scores], int]]] = {
        "precision": ("no entity was predicted", lambda scores: scores.predicted),
        "recall": ("there is no gold entity", lambda scores: scores.gold),
        "f": ("there is neither", lambda scores: scores.predicted + scores.gold),
    }
    for name in requested if requested == ("f",) else requested[:2]:
        why, count = missing[name]
        if any(count(scores) == 0 for scores in every):
            warnings.warn(
                f"{'F1' if name == 'f' else name} is 0 where {why}: zero_division says what it "
                "should be",
                _undefined_metric(),
                stacklevel=4,
            )


def _undefined_metric() -> type[Warning]:
    """Return scikit-learn's class of this warning, if it is installed."""
    try:
        from sklearn.exceptions import UndefinedMetricWarning
    except ModuleNotFoundError:
        return UserWarning
    category: type[Warning] = UndefinedMetricWarning
    return category
