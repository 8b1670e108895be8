"""How well the segments of a model agree with gold labels."""

from __future__ import annotations

import time
from typing import Any

from ...metrics import (
    bootstrap_interval,
    chunk_report,
    confusion,
    randomization_test,
    sequence_accuracy,
    to_bio,
    token_accuracy,
)
from ...text.corpus import Corpus
from .model import SegmentModel

__all__ = ["evaluate_segments", "report_segments"]


def evaluate_segments(
    model: SegmentModel, corpus: Corpus, gold: list[list[str]], threads: int
) -> tuple[dict[str, Any], list[list[str]]]:
    """Label a corpus and compare; return the scores and the labels."""
    begin = time.perf_counter()
    predicted = model.label_corpus(corpus, threads)
    seconds = time.perf_counter() - begin
    report = chunk_report(gold, predicted)
    written = _in_bio(gold)  # in the scheme of the predictions
    scores = {
        "accuracy": token_accuracy(written, predicted),
        "sentence_accuracy": sequence_accuracy(written, predicted),
        "tokens": corpus.n_tokens,
        "sentences": len(corpus),
        "tokens_per_second": round(corpus.n_tokens / max(seconds, 1e-9)),
        "f1": report.overall.f1,
        "precision": report.overall.precision,
        "recall": report.overall.recall,
        "by_type": {k: v.f1 for k, v in report.by_type.items()},
    }
    return scores, predicted


def _in_bio(gold: list[list[str]]) -> list[list[str]]:
    written = []
    for number, labels in enumerate(gold):
        try:
            written.append(to_bio(labels))
        except ValueError as error:
            raise ValueError(f"sentence {number}, {error}") from None
    return written


def report_segments(
    gold: list[list[str]],
    predicted: list[list[str]],
    confidence: bool,
    confusions: int,
    other: Any,
) -> str:
    """Return a table of scores; see :meth:`SegmentTagger.report`."""
    lines = [chunk_report(gold, predicted).text().rstrip()]
    if confidence:
        lines.append(str(bootstrap_interval(gold, predicted, "chunk_f1", random_state=0)))
    if confusions:
        written = _in_bio(gold)
        lines += ["", confusion(written, predicted).text(confusions).rstrip()]
    if other is not None:
        test = randomization_test(gold, predicted, other, "chunk_f1", random_state=0)
        lines += ["", str(test)]
    return "\n".join(lines)
