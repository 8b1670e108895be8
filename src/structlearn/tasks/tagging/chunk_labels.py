"""Labels of chunks: which are, and how those of IOBES are written in the scheme of a file."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["are_chunk_labels", "file_scheme", "written"]

#: Scheme of a file -> how the tags S and E of IOBES are written in it.
_TAGS = {"bio": {"S": "B", "E": "I"}, "bilou": {"S": "U", "E": "L"}, "iobes": {}}


def are_chunk_labels(labels: Sequence[str]) -> bool:
    """Whether labels are those of chunks: O, B-X, I-X and the like."""
    if not any("-" in label for label in labels):
        return False
    return all(label == "O" or (label[:1] in "BIESLU" and label[1:2] == "-") for label in labels)


def file_scheme(labels: Sequence[str]) -> str:
    """Return the scheme that chunk labels are in: "iobes", "bilou", or "bio" for IOB1 and IOB2."""
    tags = {label[0] for label in labels if label[1:2] == "-"}
    if tags & {"L", "U"}:
        return "bilou"
    return "iobes" if tags & {"S", "E"} else "bio"


def written(label: str, scheme: str) -> str:
    """Return how a label of IOBES is written in a scheme; IOB1 becomes IOB2."""
    if label[1:2] not in ("-", ""):
        return label
    return _TAGS[scheme].get(label[:1], label[:1]) + label[1:]
