"""Entities in labels, as seqeval reads them: leniently, or strictly by a scheme.

Lenient reading is conlleval's (:mod:`.boundaries` has it with BILOU and brackets); strict reading
takes only entities that a scheme allows.

References
----------
H. Nakayama (2018), seqeval: a Python framework for sequence labeling evaluation, version 1.2.2.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

Span = tuple[str, int, int]
Label = tuple[str, str]

_TAGS = "IOBESUL"
_OUTSIDE: Label = ("O", "_")


class EntityScheme(NamedTuple):
    """A labelling scheme, for strict reading.

    Attributes
    ----------
    name : str
    tags : str
        The tags that it knows.
    begins, goes_on, ends : frozenset of str
        The neighbours between which an entity begins, continues or ends: tag, next tag, and "=" if
        their types are equal, "!" if not.
    """

    name: str
    tags: str
    begins: frozenset[str]
    goes_on: frozenset[str]
    ends: frozenset[str]

    def __repr__(self) -> str:
        return self.name


def _scheme(name: str, tags: str, begins: str, goes_on: str, ends: str) -> EntityScheme:
    """Make a scheme from rules such as "BI=": "*" is any tag; without a sign, any types."""

    def rules(written: str) -> frozenset[str]:
        return frozenset(
            before + after + relation
            for rule in written.split()
            for before in (_TAGS if rule[0] == "*" else rule[0])
            for after in (_TAGS if rule[1] == "*" else rule[1])
            for relation in (rule[2:] or "=!")
        )

    return EntityScheme(name, tags, rules(begins), rules(goes_on), rules(ends))


IOB1 = _scheme("IOB1", "IOB", "OI II! BI IB= BB=", "BI= II=", "II! IO IB BO BI! BB=")
IOB2 = _scheme("IOB2", "IOB", "*B", "BI= II=", "II! IO IB BO BI! BB")
IOE1 = _scheme("IOE1", "IOE", "OI II! EI EE=", "II= IE=", "II! IO IE! EI= EE=")
IOE2 = _scheme("IOE2", "IOE", "OI OE EI EE II! IE!", "II= IE=", "E*")
IOBES = _scheme("IOBES", "IOBES", "*B *S", "BI= BE= II= IE=", "S* E*")
BILOU = _scheme("BILOU", "IOBLU", "*B *U", "BI= BL= II= IL=", "U* L*")

_SCHEMES = {scheme.name: scheme for scheme in (IOB1, IOB2, IOE1, IOE2, IOBES, BILOU)}


def scheme_of(scheme: EntityScheme | str) -> EntityScheme:
    """Return a scheme by its name, or the scheme itself."""
    resolved = scheme if isinstance(scheme, EntityScheme) else _SCHEMES.get(str(scheme).upper())
    if resolved is None:
        raise ValueError(f"scheme must be one of {', '.join(_SCHEMES)}, got {scheme!r}")
    return resolved


def detected_scheme(sentences: Sequence[Sequence[Any]], suffix: bool = False) -> EntityScheme:
    """Return the scheme of labels, recognised by their tags: IOB2, IOE2, IOBES or BILOU."""
    tags = {_strict_label(k, suffix, t)[0] for row in sentences for t, k in enumerate(row)}
    for scheme, needed in ((IOB2, "B"), (IOE2, "E"), (IOBES, "S"), (IOBES, "BE"), (BILOU, "U"),
                           (BILOU, "BL")):  # fmt: skip
        if tags <= set(scheme.tags) and tags >= set(needed):
            return scheme
    raise ValueError(
        f"the tags {', '.join(sorted(tags)) or '(none)'} of the gold labels are not those of one "
        f"scheme: give scheme=, one of {', '.join(_SCHEMES)}"
    )


def get_entities(seq: Sequence[Any], suffix: bool = False) -> list[Span]:
    """Return the entities of labels as (type, first, last), read leniently.

    An I- that follows no entity of its type begins one. A list of sequences counts as one, with an
    O after each. :func:`chunks` reads one sentence, and also BILOU and brackets.

    Parameters
    ----------
    seq : list of str, or list of lists of str
        In IOB1, IOB2, IOE1, IOE2 or IOBES.
    suffix : bool, default=False
        Whether the tag is at the end: "PER-B".

    Examples
    --------
    >>> get_entities(["B-PER", "I-PER", "O", "B-LOC"])
    [('PER', 0, 1), ('LOC', 3, 3)]
    """
    if any(isinstance(row, (list, tuple)) for row in seq):
        seq = [label for row in seq for label in (*row, "O")]
    labels = [_lenient_label(label, suffix, t) for t, label in enumerate(seq)]
    strange = [k for k, (tag, _) in zip(seq, labels, strict=True) if tag not in "BIESO"]
    if strange:
        warnings.warn(
            f"{strange[0]!r} is not a label of IOB, IOE or IOBES, and entities with it are "
            "guesses; BILOU is read by mode='strict' and by chunk_report",
            stacklevel=2,
        )
    entities: list[Span] = []
    begin, (before, old) = 0, ("O", "")
    for t, (tag, kind) in enumerate([*labels, _OUTSIDE]):
        new = kind != old
        if before in "ES" or (before in "BI" and tag in "BSO") or (new and before not in "O."):
            entities.append((old, begin, t - 1))
        if tag in "BS" or (tag in "EI" and before in "ESO") or (new and tag not in "O."):
            begin = t
        before, old = tag, kind
    return entities


def strict_entities(
    labels: Sequence[Any], scheme: EntityScheme, suffix: bool = False
) -> list[Span]:
    """Return the entities of one sentence that a scheme allows: (type, first, last)."""
    tokens = [_strict_label(label, suffix, t) for t, label in enumerate(labels)]
    for t, (tag, _) in enumerate(tokens):
        if tag not in scheme.tags:
            raise ValueError(
                f"position {t}: {labels[t]!r} is not a label of {scheme}, whose tags are "
                f"{', '.join(scheme.tags)}"
            )
    tokens.append(_OUTSIDE)
    entities: list[Span] = []
    before, t = _OUTSIDE, 0
    while t < len(labels):
        begin, t = t, t + 1
        if _between(before, tokens[begin]) in scheme.begins:
            while _between(tokens[t - 1], tokens[t]) in scheme.goes_on:
                t += 1
            if _between(tokens[t - 1], tokens[t]) in scheme.ends:
                entities.append((tokens[begin][1], begin, t - 1))
        before = tokens[t - 1]
    return entities


def _between(before: Label, after: Label) -> str:
    return before[0] + after[0] + ("=" if before[1] == after[1] else "!")


def _lenient_label(label: Any, suffix: bool, t: int) -> Label:
    _check_label(label, t)
    if suffix:
        return label[-1], label[:-1].rsplit("-", maxsplit=1)[0] or "_"
    return label[0], label[1:].split("-", maxsplit=1)[-1] or "_"


def _strict_label(label: Any, suffix: bool, t: int) -> Label:
    _check_label(label, t)
    tag, kind = (label[-1], label[:-1]) if suffix else (label[0], label[1:])
    if tag not in _TAGS:
        raise ValueError(
            f"position {t}: {label!r} is not a label of a scheme, whose tags are "
            f"{', '.join(_TAGS)}{'; suffix=True reads them at the end' * (not suffix)}"
        )
    return tag, kind.strip("-") or "_"


def _check_label(label: Any, t: int) -> None:
    if not isinstance(label, str) or not label:
        raise ValueError(f"position {t}: a label is a string such as 'B-PER' or 'O', got {label!r}")
