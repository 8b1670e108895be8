"""What the features of arcs look at, with the values that they have there: "distance = 3"."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

from ...text.corpus import Corpus
from .tags import Tags, tag_names

#: What the names of features of relations begin with.
RELATION = "relation: "

_OFFSETS = {"": 0, "before": -1, "after": 1, "2 before": -2, "2 after": 2}
_COUNTED = (
    ("verb", ("VERB", "AUX")),
    ("punctuation mark", ("PUNCT",)),
    ("conjunction", ("CCONJ",)),
)
#: The preposition or conjunction that introduces a word: its tags, and those that it may pass.
_MARKERS = ("ADP", "SCONJ", "PART", "CCONJ")
_PASSED = ("ADJ", "ADV", "AUX", "DET", "INTJ", "NOUN", "NUM", "PRON", "PROPN", "SYM", "X")
_REACH = 8


def arc_names(corpus: Corpus, tags: Tags) -> list[ArcNames]:
    """Return what names the features of each sentence; of CoNLL-U, with the tags that are read."""
    columns = [
        corpus.column("form"),
        corpus.column("lemma"),
        *(tag_names(corpus, tags, c) for c in range(3)),
    ]
    return [ArcNames(*cells) for cells in zip(*columns, strict=True)]


class ArcNames:
    """The words of a sentence, and what features say of the arcs between them."""

    def __init__(
        self,
        forms: Sequence[str],
        lemmas: Sequence[str],
        upos: Sequence[str],
        xpos: Sequence[str],
        feats: Sequence[str],
    ) -> None:
        lower = [_digits(form).lower() for form in forms]
        self._upos = list(upos)
        self._columns: dict[str, list[str]] = {
            "form": [repr(form) for form in lower],
            "spelling": [repr(_digits(form)) for form in forms],
            "lemma": [repr(lemma) for lemma in lemmas],
            "upos": self._upos,
            "tag": [a if b in ("_", a) else f"{a}/{b}" for a, b in zip(upos, xpos, strict=True)],
            "feats": [a if b == "_" else f"{a} {b}" for a, b in zip(upos, feats, strict=True)],
            "prefix": [f"{form[:3]}-" for form in lower],
            "suffix": [f"-{form[-3:]}" for form in lower],
            "shape": [_shape(form) for form in forms],
            "marker": [self._marker(i, lower) for i in range(len(forms))],
        }
        self._arc: dict[str, Callable[[int, int, bool], str]] = {
            "between": self._counts,
            "distance": _distance,
            "direction": lambda head, word, _: f"head {'before' if head < word else 'after'} it",
            "a upos between": self._tags_between,
            "all tags between": self._tags_between,
            "place": self._place,
        }

    def named(self, template: str, head: int, word: int) -> str:
        """Return what a feature looks at, with the value that it has for an arc.

        Parameters
        ----------
        template : str
            As the core names it: "head tag, word form".
        head, word : int
            From 1; 0 is the root.
        """
        kind, parts = "", template
        if template.startswith(RELATION):
            kind, parts = RELATION, template.removeprefix(RELATION)
        return kind + ", ".join(self._part(p, head, word, bool(kind)) for p in parts.split(", "))

    def _part(self, part: str, head: int, word: int, relation: bool) -> str:
        if part in self._arc:
            return f"{part} = {self._arc[part](head, word, relation)}"
        *place, column = part.split(" ")
        cells, where = self._columns.get(column), " ".join(place[:-1])
        if cells is None or not place or place[-1] not in ("head", "word"):
            return part
        if where not in _OFFSETS:
            return part
        at = (head if place[-1] == "head" else word) + _OFFSETS[where]
        if at < 1 or at > len(cells):
            return f"{part} = {'ROOT' if at == 0 else '(none)'}"
        return f"{part} = {cells[at - 1]}"

    def _between(self, head: int, word: int) -> list[str]:
        return self._upos[min(head, word) : max(head, word) - 1]

    def _counts(self, head: int, word: int, relation: bool) -> str:
        found = []
        for name, tags in _COUNTED:
            n = sum(tag in tags for tag in self._between(head, word))
            if n:
                found.append(f"1 {name}" if n == 1 else f"2 or more {name}s")
        return " and ".join(found) or "no verb, punctuation mark or conjunction"

    def _tags_between(self, head: int, word: int, relation: bool) -> str:
        return " ".join(sorted(set(self._between(head, word)))) or "(none)"

    def _place(self, head: int, word: int, relation: bool) -> str:
        left, rest = min(head, word), len(self._upos) - max(head, word)
        return f"{_most(left, 3)} from the start, {_most(rest, 3)} from the end"

    def _marker(self, i: int, lower: Sequence[str]) -> str:
        for j in range(i - 1, max(-1, i - _REACH - 1), -1):
            if self._upos[j] in _MARKERS:
                return repr(lower[j])
            if self._upos[j] not in _PASSED:
                break
        return "(none)"


def _most(n: int, most: int) -> str:
    return f"{most} or more" if n >= most else str(n)


def _distance(head: int, word: int, relation: bool) -> str:
    far = abs(head - word)
    if not relation:
        return _most(far, 20)
    shown = (
        str(far) if far <= 4 else "5 to 7" if far <= 7 else "8 to 12" if far <= 12 else "over 12"
    )
    return f"{shown}, head {'before' if head < word else 'after'} it"


def _digits(form: str) -> str:
    return "".join("0" if unicodedata.category(c) == "Nd" else c for c in form)


def _shape(form: str) -> str:
    kinds: dict[str, Any] = {"Lu": "X", "Lt": "X", "Ll": "x", "Nd": "d", "Lm": "c", "Lo": "c"}
    return "".join(k for k, _ in groupby(kinds.get(unicodedata.category(c), c) for c in form))
