"""The features of a dependency parser that weigh most, by name.

Features are hashed, and a model holds no names. They are found again in sentences: the arcs of
some trees are taken apart into their features, which are named by what they look at and by what
stands there. So the names are of features that the sentences have.
"""

from __future__ import annotations

from typing import Any

from ...fitting.split_corpus import SplitCorpus
from ...text.corpus import Corpus
from ...text.dependency_treebank import gold_tree
from .model import ParserModel
from .naming import RELATION, ArcNames, arc_names
from .tags import column_tags, predicted_tags

#: What features of arcs without a relation are listed under.
ARCS = "arc"
#: Sentences that are looked at after training, features kept for each relation, named for each
#: arc.
_SENTENCES = 300
_KEPT = 20
_NAMED = 6


def heaviest_features(
    model: ParserModel, corpus: Corpus | SplitCorpus, sentences: int = _SENTENCES, kept: int = _KEPT
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
    parsed: list[Any] = []
    for s, words in enumerate(arc_names(part, tags)):
        tree = gold_tree(part, s)
        if tree is None or any(label not in index for _, label in tree):
            parsed = parsed or model.parse_corpus(part, tags)[0]
            tree = parsed[s]
        heads = [head for head, _ in tree]
        labels = [index[label] for _, label in tree]
        reasons = model.core.reasons(part.core, tags, model.lemmas, s, heads, labels)
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
    words: ArcNames,
    head: int,
    word: int,
    label: str,
) -> None:
    """Note the heaviest features of an arc and of its relation."""
    kinds: tuple[list[tuple[str, float]], list[tuple[str, float]]] = ([], [])
    for name, weight in reasons:
        if weight:
            kinds[name.startswith(RELATION)].append((name, weight))
    for kind, group in zip(kinds, (ARCS, label), strict=True):
        for name, weight in sorted(kind, key=lambda r: -r[1])[:_NAMED]:
            rows = found.setdefault(group, {})
            full = words.named(name, head, word).removeprefix(RELATION)
            if group == ARCS:
                full += ", head before it" if head < word else ", head after it"
            rows[full] = max(weight, rows.get(full, weight))
