"""Agreement of predicted and gold classes of pixels: overlap by class, and accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..printing import joined_lines

Integers = npt.NDArray[np.int64]


class Overlap:
    """Counts of pixels by gold and predicted class, and the scores derived from them.

    IoU of a class is |gold ∩ predicted| / |gold ∪ predicted| over all images together; the mean is
    over the classes in gold or prediction. Void pixels do not count.

    Parameters
    ----------
    counts : (K, K) array of int
        Rows are gold.
    """

    def __init__(self, counts: Integers) -> None:
        self.counts = counts
        both = np.diag(counts).astype(np.float64)
        union = counts.sum(axis=0) + counts.sum(axis=1) - both
        #: IoU of each class; NaN if neither gold nor prediction has it.
        self.iou = np.divide(both, union, out=np.full(len(both), np.nan), where=union > 0)
        self.pixels = int(counts.sum())
        self.accuracy = float(both.sum() / self.pixels) if self.pixels else 0.0
        present = self.iou[union > 0]
        self.mean_iou = float(present.mean()) if len(present) else 0.0

    def as_dict(self, names: Sequence[str]) -> dict[str, Any]:
        """Return accuracy, iou and iou_by_class (None where a class is absent)."""
        by_class = {
            name: None if np.isnan(v) else float(v)
            for name, v in zip(self._named(names), self.iou, strict=True)
        }
        return {"accuracy": self.accuracy, "iou": self.mean_iou, "iou_by_class": by_class}

    def _named(self, names: Sequence[str]) -> Sequence[str]:
        """Return the names of the rows: gold may have a class that training lacked."""
        return [*names, "not in training"] if len(self.counts) > len(names) else names

    def table(self, names: Sequence[str], **others: Overlap) -> str:
        """Return a table with a row for each class: IoU here and in others, and gold pixels."""
        names = self._named(names)
        width = max(len(name) for name in (*names, "class"))
        columns = {"IoU": self, **others}
        lines = [f"{'class':{width}} {' '.join(f'{c:>7}' for c in columns)}     pixels"]
        for k, name in enumerate(names):
            cells = [
                f"{100 * overlap.iou[k]:7.2f}" if np.isfinite(overlap.iou[k]) else "      –"
                for overlap in columns.values()
            ]
            lines.append(f"{name:{width}} {' '.join(cells)} {self.counts[k].sum():10,}")
        return joined_lines(lines)

    def confusions(self, names: Sequence[str], most: int) -> str:
        """Return the most frequent confusions, one on each line."""
        names = self._named(names)
        wrong = self.counts.copy()
        np.fill_diagonal(wrong, 0)
        order = np.argsort(-wrong, axis=None, kind="stable")[:most]
        lines = []
        for at in order.tolist():
            gold, guess = divmod(at, len(names))
            if wrong[gold, guess]:
                lines.append(f"{wrong[gold, guess]:9,}  {names[gold]} taken for {names[guess]}")
        return joined_lines(lines)


def compare(gold: Sequence[Integers], found: Sequence[Integers], n_classes: int) -> Overlap:
    """Return the overlap of gold classes and predicted ones, over all images.

    Gold pixels may be −1 (void) or ``n_classes`` (a class that is never predicted: they are wrong,
    and their class counts in the mean).
    """
    n_classes += any((truth == n_classes).any() for truth in gold)
    counts = np.zeros((n_classes, n_classes), dtype=np.int64)
    for truth, guess in zip(gold, found, strict=True):
        labelled = truth >= 0
        keys = truth[labelled] * n_classes + guess[labelled]
        counts += np.bincount(keys, minlength=n_classes**2).reshape(n_classes, n_classes)
    return Overlap(counts)
