"""Confusion tables of labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..printing import joined_lines
from .pairs import Sentences, read_pairs


@dataclass(frozen=True)
class Confusion:
    """A confusion table. ``str()`` of it is :meth:`text`.

    Attributes
    ----------
    labels : tuple
        K labels, sorted; a predicted None comes last.
    counts : tuple of tuples of int, (K, K)
        ``counts[i][j]``: tokens with gold label i and predicted label j.
    """

    labels: tuple[Any, ...]
    counts: tuple[tuple[int, ...], ...]

    def most_confused(self, n: int | None = None) -> list[tuple[Any, Any, int]]:
        """Return the n most frequent mistakes as (gold label, predicted label, count).

        Most frequent first; ties in the order of the labels. None returns all.
        """
        wrong = [
            (self.labels[i], self.labels[j], count)
            for i, row in enumerate(self.counts)
            for j, count in enumerate(row)
            if i != j and count
        ]
        wrong.sort(key=lambda mistake: -mistake[2])  # stable: ties stay in the labels' order
        return wrong[:n]

    def text(self, n: int | None = 20) -> str:
        """Return the n most frequent mistakes as a table, most confused first.

        The last column is the share of the gold label's tokens with this mistake.
        """
        total = {k: sum(row) for k, row in zip(self.labels, self.counts, strict=True)}
        mistakes = self.most_confused()
        rows = mistakes[:n]
        width = max([len("predicted"), *(len(str(k)) for pair in rows for k in pair[:2])])
        lines = [f"{'gold':<{width}}  {'predicted':<{width}}  {'count':>7}  of gold"]
        lines += [
            f"{a!s:<{width}}  {b!s:<{width}}  {count:>7}  {100 * count / total[a]:6.2f}%"
            for a, b, count in rows
        ]
        wrong, rest = sum(m[2] for m in mistakes), sum(m[2] for m in mistakes[len(rows) :])
        remark = f", {rest} of them not shown" if rest else ""
        lines.append(f"{wrong} of {sum(total.values())} tokens are wrong{remark}")
        return joined_lines(lines)

    def as_dict(self) -> dict[str, Any]:
        """Return labels and counts, for JSON."""
        return {"labels": list(self.labels), "counts": [list(row) for row in self.counts]}

    def __str__(self) -> str:
        return self.text()


def confusion(gold: Sentences, predicted: Sentences) -> Confusion:
    """Count how often each gold label was predicted as each label.

    Tokens with an unknown gold label, None, are left out.

    Parameters
    ----------
    gold, predicted : iterable of sequences of labels

    Returns
    -------
    Confusion

    Examples
    --------
    >>> table = confusion([["D", "N", "V"], ["N"]], [["D", "N", "N"], ["N"]])
    >>> table.labels, table.counts
    (('D', 'N', 'V'), ((1, 0, 0), (0, 2, 0), (0, 1, 0)))
    >>> table.most_confused()
    [('V', 'N', 1)]
    """
    pairs: Counter[tuple[Any, Any]] = Counter()
    for truth, guess in read_pairs(gold, predicted):
        pairs.update(zip(truth, guess, strict=True))
    counts = {pair: n for pair, n in pairs.items() if pair[0] is not None}
    labels = sort_labels({k for pair in counts for k in pair})
    return Confusion(labels, tuple(tuple(counts.get((a, b), 0) for b in labels) for a in labels))


def sort_labels(labels: Iterable[Any]) -> tuple[Any, ...]:
    """Return the labels sorted, None last; by their text if they cannot be compared."""
    distinct = set(labels)
    sortable = distinct - {None}
    try:
        order = sorted(sortable)
    except TypeError:
        order = sorted(sortable, key=str)
    return (*order, None) if None in distinct else tuple(order)
