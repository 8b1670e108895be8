"""Precision, recall and F1 of each label."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..printing import joined_lines
from .confusions import confusion
from .pairs import Sentences
from .scores import Averages, Scores


@dataclass(frozen=True)
class LabelReport:
    """Scores by label. ``str()`` of it is :meth:`text`.

    Attributes
    ----------
    accuracy : float
        Share of all tokens that are right, whatever labels the rows show.
    by_label : dict of label to Scores
        In the order of the labels.
    """

    accuracy: float
    by_label: dict[Any, Scores]

    @property
    def micro(self) -> Scores:
        """Scores of the summed counts; over all labels, its F1 is the accuracy."""
        return sum(self.by_label.values(), Scores(0, 0, 0))

    @property
    def macro(self) -> Averages:
        """Unweighted means over the labels: the F1 is the mean of F1s."""
        return Averages.of(list(self.by_label.values()))

    def text(self) -> str:
        """Return the table: one line per label, then the averages."""
        width = max([len("micro"), *(len(str(k)) for k in self.by_label)])
        lines = [f"{'':<{width}}  precision   recall       F1  support"]
        micro, macro = self.micro, self.macro
        rows: list[tuple[Any, Scores | Averages, int]] = [
            *((k, s, s.support) for k, s in self.by_label.items()),
            ("micro", micro, micro.support),
            ("macro", macro, micro.support),
        ]
        lines += [
            f"{k!s:<{width}}  {100 * s.precision:8.2f}%  {100 * s.recall:6.2f}%  "
            f"{100 * s.f1:6.2f}%  {n:>7}"
            for k, s, n in rows
        ]
        lines.append(f"accuracy: {100 * self.accuracy:.2f}%")
        return joined_lines(lines)

    def as_dict(self) -> dict[str, Any]:
        """Return everything, for JSON."""
        return {
            "accuracy": self.accuracy,
            "micro": self.micro.as_dict(),
            "macro": self.macro.as_dict(),
            "by_label": {k: s.as_dict() for k, s in self.by_label.items()},
        }

    def __str__(self) -> str:
        return self.text()


def label_report(
    gold: Sentences, predicted: Sentences, *, labels: Iterable[Any] | None = None
) -> LabelReport:
    """Return precision, recall, F1 and support of each label.

    Tokens with an unknown gold label, None, are left out; a predicted None is wrong, and does not
    count as a prediction of any label.

    Parameters
    ----------
    gold, predicted : iterable of sequences of labels
    labels : iterable, optional
        The labels to report and to average over, in this order; by default all that occur. To
        leave "O" out of the averages, give all the others.

    Returns
    -------
    LabelReport

    Examples
    --------
    >>> report = label_report([["D", "N", "V"], ["N"]], [["D", "N", "N"], ["N"]])
    >>> report.by_label["N"]
    Scores(correct=2, predicted=3, gold=2)
    >>> report.micro.f1, report.accuracy
    (0.75, 0.75)
    """
    table = confusion(gold, predicted)
    expected = {k: sum(row) for k, row in zip(table.labels, table.counts, strict=True)}
    proposed = {k: sum(row[j] for row in table.counts) for j, k in enumerate(table.labels)}
    right = {k: table.counts[j][j] for j, k in enumerate(table.labels)}
    wanted = [k for k in table.labels if k is not None] if labels is None else dict.fromkeys(labels)
    n = sum(expected.values())
    return LabelReport(
        sum(right.values()) / n if n else 0.0,
        {k: Scores(right.get(k, 0), proposed.get(k, 0), expected.get(k, 0)) for k in wanted},
    )
