"""seqeval's scores: precision, recall and F1 of entities, by its names and with its results.

:func:`chunk_report` has the same counts as an object, by conlleval's rules.
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
        None reads labels as conlleval does, :func:`get_entities`; "strict" counts entities that are
        as the scheme demands, and needs ``scheme``.
    zero_division : {"warn", 0, 1}, default="warn"
        The score where nothing was predicted or nothing was to be found; "warn" is 0 with a
        warning.
    scheme : {IOB1, IOB2, IOE1, IOE2, IOBES, BILOU} or its name, optional
        Of strict reading. All are in this module.

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
        How many times as much recall counts as precision.
    scheme : optional
        Read strictly by it; by default leniently.

    Examples
    --------
    >>> precision_recall_fscore_support([["B-PER", "O"]], [["B-PER", "B-PER"]], average="micro")
    (0.5, 1.0, 0.6666666666666666, 1)
    """
    if beta < 0:
        raise ValueError(f"beta must not be negative, got {beta}")
    given = None if scheme is None else scheme_of(scheme)
    counts = _counted(read_pairs(y_true, y_pred), suffix, given)
    found = _scored(counts, average, zero_division, _Row._fields[:3], beta)
    return tuple(found)


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

    A wrong label other than O is an FP; an FN is an O where there is an entity.

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
    """Return the scores of each type of entity and their averages, as a text.

    Parameters
    ----------
    y_true, y_pred : lists of lists of str
        Gold and predicted labels of the same sentences.
    digits : int, default=2
        Decimals in the text.
    output_dict : bool, default=False
        Return a dictionary, which JSON takes, in the place of a text.
    suffix, mode, zero_division, scheme
        See :func:`f1_score`; strict reading without ``scheme`` takes the one that the gold labels
        are in, if that is IOB2, IOE2, IOBES or BILOU.

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
    rows = {kind: _row(one, 1.0, zero_division) for kind, one in counts.items()}
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
            shown = " ".join(f"{x:>9.{digits}f}" for x in ratios)
            lines.append(f"{name:>{width}}  {shown} {support:>9}")
    return "\n".join(lines) + "\n"


def _label_pairs(y_true: Any, y_pred: Any) -> Iterator[tuple[Any, Any]]:
    """Return pairs of labels of sentences, or of one sentence."""
    if any(isinstance(label, str) for label in y_true):
        y_true, y_pred = [y_true], [y_pred]
    return chain.from_iterable(zip(*pair, strict=True) for pair in read_pairs(y_true, y_pred))


def _scheme_of(mode: str | None, scheme: Scheme) -> EntityScheme | None:
    """Return the scheme of strict reading; None: labels are read leniently."""
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
    """Return the counts of each type that there is, sorted."""
    gold, predicted = (_entities([pair[k] for pair in pairs], suffix, scheme) for k in range(2))
    right, found, given = (
        Counter(kind for _, (kind, _, _) in spans) for spans in (gold & predicted, predicted, gold)
    )
    return {k: Scores(right[k], found[k], given[k]) for k in sorted(found.keys() | given.keys())}


def _entities(rows: list[list[Any]], suffix: bool, scheme: EntityScheme | None) -> set[Any]:
    if scheme is None:
        return {(0, span) for span in get_entities(rows, suffix)}
    return {(i, s) for i, row in enumerate(rows) for s in strict_entities(row, scheme, suffix)}


def _scored(
    counts: dict[str, Scores],
    average: Average,
    zero_division: ZeroDivision,
    asked: tuple[str, ...],
    beta: float = 1.0,
) -> _Row:
    """Return a row: of an average, or of arrays with the scores of all types."""
    if average not in (None, *_AVERAGES):
        raise ValueError(f"average must be one of {(None, *_AVERAGES)}, got {average!r}")
    if average is not None:
        return _averaged(counts, average, zero_division, asked, beta)
    import numpy as np

    _warn_of_zeros(list(counts.values()), zero_division, asked)
    rows = [_row(one, beta, zero_division) for one in counts.values()]
    return _Row(*(np.array([row[k] for row in rows], dtype=t) for k, t in enumerate("dddq")))


def _averaged(
    counts: dict[str, Scores],
    average: str,
    zero_division: ZeroDivision,
    asked: tuple[str, ...],
    beta: float,
) -> _Row:
    every = list(counts.values())
    total = sum(every, Scores(0, 0, 0))
    if average == "micro":
        every = [total]
    _warn_of_zeros(every, zero_division, asked)
    if not every or (average == "weighted" and total.gold == 0):
        zero = _zero(zero_division)
        nothing = zero if total.predicted == 0 else 0.0
        return _Row(nothing, zero, nothing, 0)
    weights = [one.gold if average == "weighted" else 1 for one in every]
    rows = [_row(one, beta, zero_division) for one in every]
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
    every: list[Scores], zero_division: ZeroDivision, asked: tuple[str, ...]
) -> None:
    """Say which scores are 0 because there is nothing to divide by."""
    if zero_division != "warn":
        return
    missing: dict[str, tuple[str, Callable[[Scores], int]]] = {
        "precision": ("no entity was predicted", lambda one: one.predicted),
        "recall": ("there is no gold entity", lambda one: one.gold),
        "f": ("there is neither", lambda one: one.predicted + one.gold),
    }
    for name in asked if asked == ("f",) else asked[:2]:
        why, count = missing[name]
        if any(count(one) == 0 for one in every):
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
    found: type[Warning] = UndefinedMetricWarning
    return found
