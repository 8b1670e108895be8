"""Labels of chunks: which are, and how those of one scheme are written in another."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["are_chunk_labels", "written"]


def are_chunk_labels(labels: Sequence[str]) -> bool:
    """Whether labels are those of chunks: O, B-X, I-X and the like."""
    if not any("-" in label for label in labels):
        return False
    return all(label == "O" or (label[:1] in "BIESLU" and label[1:2] == "-") for label in labels)


def written(label: str, scheme: str | None) -> str:
    """Return how a label of the model is written: those of IOBES as IOB2."""
    if scheme != "iobes" or label[:1] not in ("S", "E") or label[1:2] not in ("-", ""):
        return label
    return ("B" if label[0] == "S" else "I") + label[1:]
