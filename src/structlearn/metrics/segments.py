"""Conversion between labels of tokens and segments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .boundaries import chunks

#: The label of a token outside chunks, which is a segment of its own.
OUTSIDE = "O"


def to_segments(
    labels: Iterable[str], max_length: int | None = None
) -> tuple[list[tuple[int, int, str]], int]:
    """Return the segments (start, end, label) that cover a sentence, and the number of cut ones.

    Parameters
    ----------
    labels : sequence of str
        Labels of chunks, in IOB1, IOB2, IOBES, BILOU or any mixture of them.
    max_length : int, optional
        Longer chunks are cut into pieces, all but the last of this length.

    Examples
    --------
    >>> to_segments(["B-PER", "I-PER", "O", "I-LOC"])
    ([(0, 2, 'PER'), (2, 3, 'O'), (3, 4, 'LOC')], 0)
    >>> to_segments(["B-PER", "I-PER", "I-PER"], max_length=2)
    ([(0, 2, 'PER'), (2, 3, 'PER')], 1)
    """
    row = list(labels)
    segments: list[tuple[int, int, str]] = []
    at = n_cut = 0
    for start, end, kind in chunks(row):
        segments.extend((t, t + 1, OUTSIDE) for t in range(at, start))
        step = max_length or end - start
        n_cut += end - start > step
        segments.extend((t, min(t + step, end), kind) for t in range(start, end, step))
        at = end
    segments.extend((t, t + 1, OUTSIDE) for t in range(at, len(row)))
    return segments, n_cut


def to_labels(segments: Sequence[tuple[int, int, str]]) -> list[str]:
    """Return the labels of the tokens, in IOB2; the reverse of :func:`to_segments`.

    Examples
    --------
    >>> to_labels([(0, 2, "PER"), (2, 3, "O"), (3, 4, "LOC")])
    ['B-PER', 'I-PER', 'O', 'B-LOC']
    """
    labels: list[str] = []
    for start, end, kind in segments:
        if kind == OUTSIDE:
            labels.extend([OUTSIDE] * (end - start))
        else:
            labels.extend([f"B-{kind}", *[f"I-{kind}"] * (end - start - 1)])
    return labels
