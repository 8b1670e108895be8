"""Scores of words against gold ones."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from .cut_text import Cut

    Span = tuple[int, int]


def _f1(right: int, spans: int, gold: int) -> tuple[float, float, float]:
    precision = right / spans if spans else 0.0
    recall = right / gold if gold else 0.0
    return precision, recall, 2 * right / (spans + gold) if spans + gold else 0.0


def word_f1(gold: list[Cut], spans: Sequence[Sequence[Span]]) -> float:
    """Return the F1 of words: those with both ends right."""
    right = sum(
        len(set(cut.spans()) & set(places)) for cut, places in zip(gold, spans, strict=True)
    )
    return _f1(right, sum(map(len, spans)), sum(len(cut.spans()) for cut in gold))[2]


def evaluation(task: Any, gold: list[Cut], intervals: bool = False) -> dict[str, Any]:
    """Return all scores of a model of words."""
    texts = [cut.text for cut in gold]
    begin = time.perf_counter()
    spans = task.places(texts)
    seconds = time.perf_counter() - begin
    model = task._fitted()
    vocabulary = set(model.training.get("known", ()))
    rows, unseen_right, unseen_found, unseen_gold, whole = [], 0, 0, 0, 0
    boundaries = wrong = 0
    for cut, places in zip(gold, spans, strict=True):
        true, got = set(cut.spans()), set(places)
        both = true & got
        rows.append((len(both), len(got), len(true)))
        whole += true == got
        new = {(a, b) for a, b in true if cut.text[a:b] not in vocabulary}
        unseen_right += len(new & got)
        unseen_gold += len(new)
        unseen_found += sum(cut.text[a:b] not in vocabulary for a, b in got)
        starts, ours = {a for a, _ in true}, {a for a, _ in got}
        boundaries += len(cut.text)
        wrong += len(starts ^ ours)
    totals = [sum(row[k] for row in rows) for k in range(3)]
    precision, recall, f1 = _f1(*totals)
    scores: dict[str, Any] = {
        "precision": precision,
        "recall": recall,
        "f1": f1,
        "unseen_words": unseen_gold,
        "boundary_accuracy": 1 - wrong / boundaries if boundaries else 0.0,
        "sentence_accuracy": whole / len(gold) if gold else 0.0,
        "words": totals[2],
        "sentences": len(gold),
        "characters_per_second": sum(map(len, texts)) / max(seconds, 1e-9),
    }
    if unseen_gold:
        scores["unseen_recall"] = unseen_right / unseen_gold
        scores["unseen_f1"] = _f1(unseen_right, unseen_found, unseen_gold)[2]
    if model.has_tags and all(cut.tags is not None for cut in gold):
        scores["tag_f1"] = _tag_f1(task, gold, spans, totals)
    if intervals:
        scores["f1_interval"] = _interval(rows)
    return scores


def _tag_f1(task: Any, gold: list[Cut], spans: Any, totals: list[int]) -> float:
    rows = task.predict_tags([cut.text for cut in gold])
    right = 0
    for cut, places, row in zip(gold, spans, rows, strict=True):
        true = dict(zip(cut.spans(), cut.tags or (), strict=True))
        right += sum(true.get(place) == tag for place, (_, tag) in zip(places, row, strict=True))
    return _f1(right, totals[1], totals[2])[2]


def _interval(rows: list[tuple[int, int, int]]) -> tuple[float, float]:
    """Return the 95 % interval of F1 by the bootstrap over sentences."""
    import random

    rng, values = random.Random(0), []
    for _ in range(1000):
        drawn = rng.choices(rows, k=len(rows))
        values.append(_f1(*(sum(row[k] for row in drawn) for k in range(3)))[2])
    values.sort()
    return values[25], values[974]


def report(scores: dict[str, Any]) -> str:
    """Return the scores as a table."""
    names = {
        "precision": "precision of words",
        "recall": "recall of words",
        "f1": "F1 of words",
        "unseen_recall": "recall of words not seen in training",
        "unseen_f1": "F1 of words not seen in training",
        "tag_f1": "F1 of words with their tags",
        "boundary_accuracy": "accuracy of boundaries",
        "sentence_accuracy": "sentences that are right as a whole",
    }
    rows = [f"{text:<40}{scores[name]:8.4f}" for name, text in names.items() if name in scores]
    if "f1_interval" in scores:
        low, high = scores["f1_interval"]
        rows.append(f"{'F1 of words, 95 % interval':<40}{low:8.4f} to {high:.4f}")
    counts = f"{scores['words']:,} words, {scores['unseen_words']:,} of them not seen in training"
    return "\n".join([*rows, f"{counts}; {scores['sentences']:,} sentences"])
