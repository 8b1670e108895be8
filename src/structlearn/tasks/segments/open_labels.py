"""Sentences whose labels are known in part: the segments that they may have.

A token may have one of a set of labels (``B-PER|B-ORG``), or any (unknown). A segmentation fits if
its labels, written in the file's scheme, are in the sets of all tokens. This is decided segment by
segment, so the segments that fit are a list, and every tiling of the sentence by them counts.

In IOB1 a label alone does not say if a chunk begins: I- begins one only after a token that is known
to be in no chunk of its type. Otherwise it goes on, as in IOB2.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate

from ...metrics.boundaries import split_label
from ...metrics.segments import OUTSIDE

#: The labels that a token may have; None: any.
Choice = frozenset[str] | None
#: (start, end, types); None: any.
OpenSegment = tuple[int, int, frozenset[str] | None]
_ALIASES = {"L": "E", "U": "S"}


@lru_cache(maxsize=4096)
def choice(cell: str, sets: str, unknown: str) -> Choice:
    """Return the labels that a cell of a file stands for; None: any.

    Parameters
    ----------
    sets : str
        What separates the labels of a set; "": there are no sets.
    unknown : str
        The label that means unknown.
    """
    parts = cell.split(sets) if sets else [cell]
    return None if unknown in parts else frozenset(parts)


def is_open(choices: Sequence[Choice]) -> bool:
    """Tell whether any token has more than one label that it may have."""
    return any(one is None or len(one) > 1 for one in choices)


def fitting_segments(
    choices: Sequence[Choice], max_length: int, ends_marked: bool
) -> list[OpenSegment]:
    """Return the segments that a sentence may have; those of unknown tokens alone have any type.

    Parameters
    ----------
    choices : sequence
        The labels that each token may have.
    ends_marked : bool
        The scheme is IOBES or BILOU: the last label of a chunk says so.
    """
    single, first, inner, last = ([_types(one, tags) for one in choices] for tags in
                                  (("S", "B", "I", "E") if ends_marked else "BBII"))  # fmt: skip
    if not ends_marked:
        for t, one in enumerate(choices):
            known = _may_begin(choices, t)
            if one is not None and known:
                single[t] = first[t] = first[t] | known  # type: ignore[operator]
                inner[t] = last[t] = inner[t] - known  # type: ignore[operator]
    found: list[OpenSegment] = []
    for start, one in enumerate(choices):
        types = single[start]
        if types is not None and one is not None and OUTSIDE in one:
            types = types | {OUTSIDE}
        if types is None or types:
            found.append((start, start + 1, types))
        going = first[start]
        for end in range(start + 2, min(len(choices), start + max_length) + 1):
            whole = _both(going, last[end - 1])
            if whole is None or whole:
                found.append((start, end, whole))
            going = _both(going, inner[end - 1])
            if going is not None and not going:
                break
    return found


def needed_length(segments: Sequence[OpenSegment], n_tokens: int) -> int | None:
    """Return how long the longest segment has to be at least, if these cover a sentence.

    None: they do not cover it, each token once.
    """
    longest = {0: 0}  # the least one of the segments up to a token
    for start, end, _ in sorted(segments, key=lambda one: one[:2]):
        if start in longest:
            needed = max(longest[start], end - start)
            longest[end] = min(needed, longest.get(end, needed))
    return longest.get(n_tokens)


def of_known_tokens(
    segments: Sequence[OpenSegment], choices: Sequence[Choice]
) -> list[OpenSegment]:
    """Return the segments without an unknown token: those that a feature may be learned from."""
    unknown = list(accumulate((one is None for one in choices), initial=0))
    return [one for one in segments if unknown[one[1]] == unknown[one[0]]]


def _types(one: Choice, tag: str) -> frozenset[str] | None:
    """Return the types of the labels of a token that have a tag."""
    if one is None:
        return None
    split = (split_label(label) for label in one)
    return frozenset(kind for found, kind in split if _ALIASES.get(found, found) == tag)


def _may_begin(choices: Sequence[Choice], t: int) -> frozenset[str]:
    """Return the types of I- labels of a token that begin a chunk, as IOB1 writes it."""
    inside = _types(choices[t], "I") or frozenset()
    if t == 0:
        return inside
    before = choices[t - 1]
    if before is None:
        return frozenset()
    return inside - {kind for tag, kind in map(split_label, before) if tag != OUTSIDE}


def _both(a: frozenset[str] | None, b: frozenset[str] | None) -> frozenset[str] | None:
    if a is None or b is None:
        return b if a is None else a
    return a & b
