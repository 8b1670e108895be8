"""Labelling schemes: which sequences of labels are legal."""

from __future__ import annotations

from collections.abc import Sequence


def is_legal(labels: Sequence[str], scheme: str) -> bool:
    """Return whether labels conform to a scheme, read from left to right.

    "bio": a chunk is B-X and any number of I-X. "iobes": S-X, or B-X, any number of I-X, E-X.
    "beginnings": B-X and any number of I- of any type. Any scheme has O between chunks.
    """
    inside: str | None = None  # the type of a chunk that may continue
    for label in labels:
        tag, _, kind = label.partition("-")
        if tag in ("I", "E"):
            if inside is None or (scheme != "beginnings" and inside != kind):
                return False
        elif inside is not None and scheme == "iobes":
            return False  # the chunk has not ended
        inside = kind if tag in ("B", "I") else None
    return inside is None or scheme != "iobes"
