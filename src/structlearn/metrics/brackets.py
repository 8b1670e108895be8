"""Labelled brackets compared as evalb does: precision, recall, F1, exact match.

Rules of COLLINS.prm: punctuation (gold tags , : `` '' .) is removed before spans are compared;
nodes left without a word and the outermost TOP, S1, ROOT or nameless node do not count; tags of
words are not brackets; ADVP and PRT are the same label. Brackets are compared as a multiset, so of
an NP over an NP both count.

Reference: S. Sekine & M. J. Collins (1997), evalb.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .scores import Scores

Spans = Sequence[tuple[int, int, str]]

#: Tags of words that evalb removes.
PUNCTUATION = frozenset({",", ":", "``", "''", "."})
#: Outermost labels that do not count.
ROOTS = frozenset({"", "TOP", "S1", "ROOT"})
_SAME = {"PRT": "ADVP"}


@dataclass(frozen=True)
class BracketCounts(Scores):
    """Brackets of one sentence, or of many added up.

    Attributes
    ----------
    correct, predicted, gold : int
        Brackets in both trees, in the predicted one, in the gold one.
    exact, sentences : int
        Sentences whose brackets all agree, and all sentences.
    """

    correct: int = 0
    predicted: int = 0
    gold: int = 0
    exact: int = 0
    sentences: int = 0

    @property
    def exact_match(self) -> float:
        """Share of the sentences whose brackets all agree; 0 without sentences."""
        return self.exact / self.sentences if self.sentences else 0.0


def counted_brackets(spans: Spans, tags: Sequence[str]) -> Counter[tuple[int, int, str]]:
    """Return the brackets that evalb counts, over the words it keeps.

    Parameters
    ----------
    spans : sequence of (begin, end, label)
        Nodes above the tags of words; unary chains are several spans of the same extent.
    tags : sequence of str
        The gold tags: they say what is punctuation.
    """
    place = [0]
    for tag in tags:
        place.append(place[-1] + (tag not in PUNCTUATION))
    return Counter(
        (place[begin], place[end], _SAME.get(label, label))
        for begin, end, label in spans
        if place[begin] < place[end] and label not in ROOTS
    )


def bracket_counts(gold: Spans, predicted: Spans, tags: Sequence[str]) -> BracketCounts:
    """Compare two trees over the same words."""
    a, b = counted_brackets(gold, tags), counted_brackets(predicted, tags)
    return BracketCounts(sum((a & b).values()), sum(b.values()), sum(a.values()), int(a == b), 1)


def bracket_scores(
    gold: Iterable[Spans], predicted: Iterable[Spans], tags: Iterable[Sequence[str]]
) -> BracketCounts:
    """Compare many trees.

    Examples
    --------
    >>> gold = [(0, 3, "S"), (0, 1, "NP"), (1, 3, "VP")]
    >>> guess = [(0, 3, "S"), (0, 2, "NP")]
    >>> found = bracket_scores([gold], [guess], [["N", "V", "."]])
    >>> found.correct, found.gold, found.predicted
    (1, 3, 2)
    """
    total = BracketCounts()
    for a, b, t in zip(gold, predicted, tags, strict=True):
        total += bracket_counts(a, b, t)
    return total


def brackets_by_label(
    gold: Iterable[Spans], predicted: Iterable[Spans], tags: Iterable[Sequence[str]]
) -> dict[str, Scores]:
    """Return the scores of each label, the commonest in the gold trees first.

    Examples
    --------
    >>> found = brackets_by_label([[(0, 2, "S"), (0, 1, "NP")]], [[(0, 2, "S")]], [["N", "V"]])
    >>> [(label, s.correct, s.predicted, s.gold) for label, s in found.items()]
    [('NP', 0, 0, 1), ('S', 1, 1, 1)]
    """
    wanted: Counter[str] = Counter()
    proposed: Counter[str] = Counter()
    matched: Counter[str] = Counter()
    for a, b, t in zip(gold, predicted, tags, strict=True):
        ours, other = counted_brackets(a, t), counted_brackets(b, t)
        for counter, brackets in ((wanted, ours), (proposed, other), (matched, ours & other)):
            for (_, _, label), times in brackets.items():
                counter[label] += times
    labels = sorted({*wanted, *proposed}, key=lambda k: (-wanted[k], k))
    return {k: Scores(matched[k], proposed[k], wanted[k]) for k in labels}
