"""Precision, recall and F1 from three counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True)
class Scores:
    """Counts of correct, predicted and gold items, and the ratios derived from them.

    With c correct, p predicted and g gold items::

        precision = c / p        recall = c / g        F1 = 2 c / (p + g)

    F1 is the harmonic mean of the two (van Rijsbergen 1979, with β = 1). A ratio whose denominator
    is 0 is 0.0: finding nothing is not a success.

    Parameters
    ----------
    correct, predicted, gold : int
    """

    correct: int
    predicted: int
    gold: int

    @property
    def precision(self) -> float:
        """Share of the predicted items that are right."""
        return self.correct / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """Share of the gold items that were found."""
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        total = self.predicted + self.gold
        return 2 * self.correct / total if total else 0.0

    @property
    def support(self) -> int:
        """Number of gold items."""
        return self.gold

    def __add__(self, other: Self) -> Self:
        sums = {name: n + getattr(other, name) for name, n in vars(self).items()}
        return type(self)(**sums)

    def as_dict(self) -> dict[str, Any]:
        """Return ratios and counts, for JSON."""
        return {
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "correct": self.correct,
            "predicted": self.predicted,
            "gold": self.gold,
        }


class Averages(NamedTuple):
    """Unweighted means of precision, recall and F1 over labels or types."""

    precision: float
    recall: float
    f1: float

    @classmethod
    def of(cls, scores: list[Scores]) -> Averages:
        """Return the means; 0.0 each if there is nothing to average."""
        n = len(scores) or 1
        return cls(
            sum(s.precision for s in scores) / n,
            sum(s.recall for s in scores) / n,
            sum(s.f1 for s in scores) / n,
        )

    def as_dict(self) -> dict[str, float]:
        """Return the three means, for JSON."""
        return self._asdict()


def score_rows(label: str, items: str, by_label: Mapping[str, Scores]) -> list[str]:
    """Return lines of a table in percent; ``label`` and ``items`` head its outer columns.

    Labels that were predicted but are not in the gold standard have no scores: a last line lists
    them.
    """
    lines = [f"{label:<20}{'precision':>10}{'recall':>10}{'F1':>10}{items:>10}"]
    for name, s in by_label.items():
        if not s.gold:
            continue
        ratios = "".join(f"{100 * x:>10.2f}" for x in (s.precision, s.recall, s.f1))
        lines.append(f"{name:<20}{ratios}{s.gold:>10}")
    strays = ", ".join(f"{name} {s.predicted}" for name, s in by_label.items() if not s.gold)
    return [*lines, f"predicted, but not in the gold data: {strays}"] if strays else lines
