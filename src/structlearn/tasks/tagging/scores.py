"""How well predicted labels agree with gold ones."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from ...exceptions import FileError
from ...metrics import (
    bootstrap_interval,
    chunk_report,
    confusion,
    label_report,
    randomization_test,
    sequence_accuracy,
    token_accuracy,
)
from ...metrics.schemes import are_chunk_labels
from ...metrics.significance import significance
from ...printing import joined_lines


class Comparison:
    """The labels that a tagger predicts for a gold corpus, beside those that it has.

    Parameters
    ----------
    tagger : Tagger or SegmentTagger
    corpus : Corpus
        With gold labels.
    """

    def __init__(self, tagger: Any, corpus: Any) -> None:
        self.tagger, self.corpus = tagger, corpus
        self.gold = tagger._fitted().gold(self.corpus, some=True)
        begin = time.perf_counter()
        self.predicted = tagger.predict(self.corpus)
        self.seconds = time.perf_counter() - begin
        self.columns = tagger._fitted().target_name.split(",")
        self.chunked = len(self.columns) == 1 and are_chunk_labels(tagger._written_labels())
        self.metrics = ("chunk_f1", "token_accuracy") if self.chunked else ("token_accuracy",)
        #: In the scheme of the predictions, which tokens are compared in.
        try:
            self.written = tagger._as_written(self.gold)
        except ValueError as error:
            raise FileError(corpus.path or "the corpus", str(error)) from None

    def _strange_labels(self) -> list[str]:
        """Say that the gold labels are of another kind than the model's: all scores are 0."""
        known = dict.fromkeys(self.tagger._written_labels())
        found = dict.fromkeys(k for labels in self.written for k in labels if k is not None)
        if not known.keys().isdisjoint(found):
            return []
        model = self.tagger._fitted()
        column = f"{model.target_numbers} ({model.target_name})"
        return [
            f"no label in common: the model predicts {_some(known)}, and column {column} has "
            f"{_some(found)}. Evaluate it on a file that has labels of the model there, or "
            "train a model of these labels",
            "",
        ]

    def _other(self, against: Any) -> Any:
        """Return the labels of another tagger, of the same column of the same kind of file."""
        if against is None:
            return None
        mine, theirs = self.tagger._fitted(), against._fitted()
        if (mine.format, mine.targets) != (theirs.format, theirs.targets):
            raise ValueError(
                f"the other model labels column {theirs.target_numbers} of {theirs.format} files, "
                f"this one column {mine.target_numbers} of {mine.format} files"
            )
        return against.predict(self.corpus)

    def as_dict(self, *, intervals: bool, against: Any) -> dict[str, Any]:
        """Return what ``evaluate`` gives."""
        result: dict[str, Any] = {
            "accuracy": token_accuracy(self.written, self.predicted),
            "sentence_accuracy": sequence_accuracy(self.written, self.predicted),
            "tokens": sum(label is not None for row in self.gold for label in row),
            "sentences": len(self.corpus),
            "tokens_per_second": round(self.corpus.n_tokens / max(self.seconds, 1e-9)),
        }
        if len(self.columns) > 1:
            result["by_column"] = self._by_column()
        if self.chunked:
            report = chunk_report(self.gold, self.predicted)
            overall = report.overall
            result.update(f1=overall.f1, precision=overall.precision, recall=overall.recall)
            result["by_type"] = {k: v.f1 for k, v in report.by_type.items()}
        if intervals or against is not None:
            other = self._other(against)
            told = {"intervals": intervals, "other": other}
            result.update(significance(self.written, self.predicted, self.metrics, **told))
        return result

    def _by_column(self) -> dict[str, float]:
        """Return the accuracy of each part of labels that are in several columns."""
        n = len(self.columns) - 1

        def part(rows: list[list[Any]], i: int) -> list[list[Any]]:
            return [[k if k is None else k.split("|", n)[i] for k in row] for row in rows]

        return {
            name: token_accuracy(part(self.gold, i), part(self.predicted, i))
            for i, name in enumerate(self.columns)
        }

    def text(self, *, intervals: bool, confusions: int, against: Any) -> str:
        """Return what ``report`` gives."""
        gold, predicted = self.written, self.predicted
        table = (chunk_report if self.chunked else label_report)(self.gold, predicted)
        lines = [*self._strange_labels(), *table.text().rstrip().split("\n")]
        if len(self.columns) > 1:
            lines += [
                "",
                *(f"accuracy of {k}: {100 * x:.2f}%" for k, x in self._by_column().items()),
            ]
        if intervals:
            lines += [str(bootstrap_interval(gold, predicted, m, random_state=0))
                      for m in self.metrics]  # fmt: skip
        if confusions:
            lines += ["", *confusion(gold, predicted).text(confusions).rstrip().split("\n")]
        if against is not None:
            other = self._other(against)
            lines += ["", *(str(randomization_test(gold, predicted, other, m, random_state=0))
                            for m in self.metrics)]  # fmt: skip
        return joined_lines(lines)


def _some(labels: Iterable[str]) -> str:
    """Return the first few labels."""
    named = list(labels)
    return ", ".join(named[:5]) + (", ..." if len(named) > 5 else "")
