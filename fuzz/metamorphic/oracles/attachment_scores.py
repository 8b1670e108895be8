"""Attachment scores of dependency trees, word by word in a plain loop."""

from __future__ import annotations

from collections.abc import Sequence

Tree = Sequence[tuple[int, str]]


def attachment_scores(gold: Sequence[Tree], predicted: Sequence[Tree]) -> dict[str, float]:
    """Return uas, las, label_accuracy, root_accuracy and exact; relations count whole."""
    heads = both = labels = words = roots = whole = 0
    for truth, guess in zip(gold, predicted, strict=True):
        for (h, r), (g, s) in zip(truth, guess, strict=True):
            words += 1
            heads += h == g
            labels += r == s
            both += h == g and r == s
        roots += {m for m, (h, _) in enumerate(truth) if not h} == {
            m for m, (h, _) in enumerate(guess) if not h
        }
        whole += list(truth) == list(guess)
    return {
        "uas": heads / words, "las": both / words, "label_accuracy": labels / words,
        "root_accuracy": roots / len(gold), "exact": whole / len(gold),
    }  # fmt: skip
