"""The features of a dependency parser that weigh most, by name.

Features are hashed, and a model holds no names. They are found again in sentences: the arcs of
some trees are taken apart into their features, which are named by what they look at and by what
stands there. So the names are of features that the sentences have.
"""

from __future__ import annotations

from typing import Any

from ...text.corpus import Corpus
from ...text.dependency_treebank import gold_tree
from .model import ParserModel
from .tags import column_tags, predicted_tags, tag_names

__all__ = ["ARCS", "heaviest_features"]

#: What features of arcs without a relation are listed under.
ARCS = "arc"
#: Sentences that are looked at after training, features kept a relation, named an arc.
_SENTENCES = 300
_KEPT = 20
_NAMED = 6
_RELATION = "relation: "


def heaviest_features(
    model: ParserModel, corpus: Corpus, sentences: int = _SENTENCES, kept: int = _KEPT
) -> dict[str, list[list[Any]]]:
    """Return, by relation and for arcs as such, [name, weight] of what speaks most for them.

    Parameters
    ----------
    corpus : Corpus
        Of CoNLL-U, with its trees; those without are parsed first.
    sentences : int
        How many of them are looked at, spread evenly.
    kept : int
        Features kept for each relation.
    """
    count = min(len(corpus), sentences)
    part = corpus.subset(i * len(corpus) // count for i in range(count))
    tags = predicted_tags(model.taggers, part) if model.taggers else column_tags()
    index = {name: k for k, name in enumerate(model.labels)}
    found: dict[str, dict[str, float]] = {}
    columns = [
        part.column("form"),
        part.column("lemma"),
        *(tag_names(part, tags, c) for c in range(3)),
    ]
    parsed: list[Any] = []
    for s, cells in enumerate(zip(*columns, strict=True)):
        words = _Words(*cells)
        tree = gold_tree(part, s)
        if tree is None or any(label not in index for _, label in tree):
            parsed = parsed or model.parse_corpus(part, tags)[0]
            tree = parsed[s]
        heads = [head for head, _ in tree]
        labels = [index[label] for _, label in tree]
        reasons = model.core.reasons(part._core, tags, model.lemmas, s, heads, labels)
        for m, (head, label) in enumerate(tree, 1):
            _take(found, reasons[m - 1], words, head, m, label)
    return {
        group: [
            [name, round(weight, 6)]
            for name, weight in sorted(rows.items(), key=lambda r: (-r[1], r[0]))[:kept]
        ]
        for group, rows in sorted(found.items(), key=lambda g: (g[0] != ARCS, g[0]))
    }


def _take(
    found: dict[str, dict[str, float]],
    reasons: list[tuple[str, float]],
    words: _Words,
    head: int,
    word: int,
    label: str,
) -> None:
    """Note the heaviest features of an arc and of its relation."""
    kinds: tuple[list[tuple[str, float]], list[tuple[str, float]]] = ([], [])
    for name, weight in reasons:
        if weight:
            kinds[name.startswith(_RELATION)].append((name, weight))
    for kind, group in zip(kinds, (ARCS, label), strict=True):
        for name, weight in sorted(kind, key=lambda r: -r[1])[:_NAMED]:
            rows = found.setdefault(group, {})
            full = words.named(name.removeprefix(_RELATION), head, word)
            if group == ARCS:
                full += ", head before it" if head < word else ", head after it"
            rows[full] = max(weight, rows.get(full, weight))


class _Words:
    """The words of a sentence, and what features say of them."""

    def __init__(
        self,
        forms: list[str],
        lemmas: list[str],
        upos: list[str],
        xpos: list[str],
        feats: list[str],
    ) -> None:
        tags = [a if b in ("_", a) else f"{a}/{b}" for a, b in zip(upos, xpos, strict=True)]
        self.columns = {
            "form": [form.lower() for form in forms],
            "lemma": lemmas,
            "upos": upos,
            "tag": tags,
            "feats": feats,
        }

    def named(self, template: str, head: int, word: int) -> str:
        """Return what a template looks at, with the value that it has there, if that is known."""
        return ", ".join(self._part(part, head, word) for part in template.split(", "))

    def _part(self, part: str, head: int, word: int) -> str:
        *place, column = part.split(" ")
        cells = self.columns.get(column)
        if cells is None or not place or place[-1] not in ("head", "word"):
            return part
        at = head if place[-1] == "head" else word
        offset = {"": 0, "before": -1, "after": 1, "2 before": -2, "2 after": 2}
        where = " ".join(place[:-1])
        if where not in offset:
            return part
        at += offset[where]
        if at < 1 or at > len(cells):
            return f"{part} {'ROOT' if at == 0 else '(none)'}"
        return (
            f"{part} {cells[at - 1]!r}"
            if column in ("form", "lemma")
            else f"{part} {cells[at - 1]}"
        )
