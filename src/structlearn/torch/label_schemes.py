"""Transitions that a scheme of chunk labels forbids."""

from __future__ import annotations

from collections.abc import Sequence

import torch

#: For each scheme, the tags that begin a chunk, continue it, end it, and are a whole chunk.
_SCHEMES = {
    "iob": ("B", "I", "", ""),
    "iobes": ("B", "I", "E", "S"),
    "bilou": ("B", "I", "L", "U"),
}


def forbidden_transitions(
    labels: Sequence[str], scheme: str = "iob"
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return masks of what a scheme forbids: between labels, at the start, at the end.

    Parameters
    ----------
    labels : sequence of str
        ``"O"``, ``"B-PER"``, ``"I-PER"``, …, in the order of their numbers.
    scheme : {"iob", "iobes", "bilou"}
        "iob" is IOB2: every chunk begins with B.

    Returns
    -------
    between : (K, K) tensor of bool
        ``between[i, j]``: label j may not follow label i.
    start, end : (K,) tensors of bool

    Examples
    --------
    >>> between, start, end = forbidden_transitions(["O", "B-X", "I-X"])
    >>> between.tolist()
    [[False, False, True], [False, False, False], [False, False, False]]
    >>> start.tolist()
    [False, False, True]
    """
    if scheme not in _SCHEMES:
        raise ValueError(f"scheme must be one of {sorted(_SCHEMES)}, got {scheme!r}")
    begin, inside, last, single = _SCHEMES[scheme]
    tags = [label.partition("-")[0] for label in labels]
    kinds = [label.partition("-")[2] for label in labels]
    allowed = {"O", begin, inside, last, single} - {""}
    for label, tag in zip(labels, tags, strict=True):
        if tag not in allowed:
            raise ValueError(
                f"{label!r} is not a label of the scheme {scheme!r}: {sorted(allowed)}"
            )
    # Within a chunk, a label must be followed by one that continues it.
    opens = [tag in (begin, inside) for tag in tags]
    continues = [tag in {inside, last} - {""} for tag in tags]
    must_close = scheme != "iob"
    between = [
        [
            (continues[j] and not (opens[i] and kinds[i] == kinds[j]))
            or (must_close and opens[i] and not continues[j])
            for j in range(len(labels))
        ]
        for i in range(len(labels))
    ]
    ends = [must_close and o for o in opens]
    return torch.tensor(between), torch.tensor(continues), torch.tensor(ends)
