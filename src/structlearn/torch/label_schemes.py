"""Which labels of chunks may follow each other."""

from __future__ import annotations

from collections.abc import Sequence

import torch

#: Scheme: tags that begin a chunk, go on with it, end it, are all of it.
_SCHEMES = {
    "iob": ("B", "I", "", ""),
    "iobes": ("B", "I", "E", "S"),
    "bilou": ("B", "I", "L", "U"),
}


def forbidden_transitions(
    labels: Sequence[str], scheme: str = "iob"
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return what a scheme of chunk labels forbids: between labels, at the start, at the end.

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
    known = {"O", begin, inside, last, single} - {""}
    for label, tag in zip(labels, tags, strict=True):
        if tag not in known:
            raise ValueError(f"{label!r} is no label of the scheme {scheme!r}: {sorted(known)}")
    # Within a chunk a label must be followed by one that goes on with it.
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
