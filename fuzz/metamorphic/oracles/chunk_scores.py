"""Chunks and their scores, by the rules of conlleval in one sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

Chunk = tuple[int, int, str]


def chunks(labels: Sequence[str]) -> list[Chunk]:
    """Return (begin, end, type) of the chunks of a sentence.

    A token outside has the label O. Any other token continues the chunk of the token before it,
    unless its own tag begins chunks (B, S, U), the token before is outside or ended its chunk (E,
    L, S, U), or the two types differ.
    """
    spans: list[Chunk] = []
    before, old = "O", ""
    for t, label in enumerate(labels):
        tag, _, kind = label.partition("-")
        if tag != "O":
            goes_on = tag not in "BSU" and before not in "OELSU" and kind == old
            begin = spans.pop()[0] if goes_on else t
            spans.append((begin, t + 1, kind))
        before, old = tag, kind
    return spans


def chunk_scores(
    gold: Iterable[Sequence[str]], predicted: Iterable[Sequence[str]]
) -> dict[str, tuple[int, int, int]]:
    """Return the numbers of correct, predicted and gold chunks by type."""
    right, proposed, wanted = Counter[str](), Counter[str](), Counter[str]()
    for truth, guess in zip(gold, predicted, strict=True):
        a, b = chunks(truth), chunks(guess)
        wanted.update(kind for _, _, kind in a)
        proposed.update(kind for _, _, kind in b)
        right.update(chunk[2] for chunk in b if chunk in a)
    return {k: (right[k], proposed[k], wanted[k]) for k in sorted(wanted | proposed)}


def written_in(spans: Iterable[Chunk], length: int, scheme: str) -> list[str]:
    """Return the labels of a sentence with these chunks: "iob1", "bio", "iobes" or "bilou"."""
    labels = ["O"] * length
    last, single = {"iobes": "ES", "bilou": "LU"}.get(scheme, "IB")
    for begin, end, kind in sorted(spans):
        tags = ["B", *["I"] * (end - begin - 2), last] if end - begin > 1 else [single]
        if scheme == "iob1":
            before = labels[begin - 1] if begin else "O"
            tags = ["B" if before == f"I-{kind}" or before == f"B-{kind}" else "I"]
            tags += ["I"] * (end - begin - 1)
        labels[begin:end] = [f"{tag}-{kind}" for tag in tags]
    return labels
